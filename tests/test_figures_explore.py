"""Figures with controls: the machinery, and what holds for every explorer of the lessons."""

from __future__ import annotations

import base64
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from helpers.show.figures.a2c_gae import gae_explorer, plot_gae_weights
from helpers.show.figures.a2c_policy_gradient import plot_policy_gradient, softmax_explorer
from helpers.show.figures.chain import chain_explorer, plot_chain
from helpers.show.figures.ddpg_critic import plot_q, q_explorer
from helpers.show.figures.ddpg_noise import ou_explorer, plot_ou
from helpers.show.figures.ddpg_target_network import TAUS, plot_tau, tau_explorer
from helpers.show.figures.ddpg_uphill import plot_uphill, uphill_explorer
from helpers.show.figures.ddpgfd_n_step import n_step_explorer, plot_n_step
from helpers.show.figures.ddpgfd_priorities import plot_priorities, priority_explorer
from helpers.show.figures.ddpgfd_sum_tree import PRIORITIES, plot_tree_walk, tree_walk_explorer
from helpers.show.figures.discount import discount_explorer, plot_discount
from helpers.show.figures.explore import LINE, Choice, Scale, Slider, explore, listed
from helpers.show.figures.ppo_clip import clip_explorer, plot_clip
from helpers.show.figures.ppo_ratios import plot_ratios, ratio_explorer
from helpers.show.figures.practice_imaginary_studies import REPORTS, STUDIES
from helpers.show.figures.practice_seeds import plot_seeds, seeds_explorer
from helpers.show.figures.results import plot_results, results_explorer
from helpers.show.figures.sac_gradients import DRAWS, gradients_explorer, plot_gradients
from helpers.show.figures.sac_squash import plot_squash, squash_explorer
from helpers.show.figures.sac_temperature import (
    TEMPERATURES,
    plot_temperature,
    temperature_explorer,
)
from helpers.show.figures.td3_bias import bias_explorer, plot_bias
from helpers.show.figures.td3_climb import climb_explorer, plot_climb
from helpers.show.figures.td3_data_flow import data_flow_explorer, plot_data_flow
from helpers.show.figures.td3_smoothing import plot_smoothing, smoothing_explorer
from helpers.show.plotting import moving, new_figure, to_image, to_png
from tests.figures import RESULTS, apart, fresh, lively
from tests.live import VIEW, without_ipywidgets

pytest_plugins = ("tests.fakes",)
module = sys.modules[explore.__module__]  # the package has the function under its name

ADVANTAGES = np.random.default_rng(0).normal(size=200)
SIXTEEN = tuple(0.5 * (1 + i % 7) for i in range(16))
RATIOS = {
    name: np.exp(np.outer(np.arange(11), reach * ADVANTAGES))
    for name, reach in (("clipped", 0.02), ("not clipped", 0.3))
}


@dataclass(frozen=True)
class Explorer:
    """An explorer and the function behind it.

    `settings` are the ends of all sliders, and what lies between where sentences change. `fixed`
    lists what else the function is given: axes may differ from one of these to another. The limits
    of the panels in `moving` may change with the settings; `unset` are parameters without a slider.
    """

    plot: Callable[..., Figure]
    show: Callable[[], None]
    settings: Mapping[str, Sequence[Any]]
    fixed: Sequence[Callable[[], Mapping[str, Any]]] = (dict,)
    moving: Sequence[int] = ()
    unset: Set[str] = frozenset()
    figures: int = 5  # at least so many settings are tried

    def combinations(self) -> Iterator[dict[str, Any]]:
        """Few settings in which each value of each parameter occurs."""
        rng = np.random.default_rng(0)
        count = max(self.figures, *map(len, self.settings.values()))
        columns = {
            name: [values[i % len(values)] for i in rng.permutation(count)]
            for name, values in self.settings.items()
        }
        for i in range(count):
            yield {name: values[i] for name, values in columns.items()}


S = dict  # what its sliders are set to
TREES = PRIORITIES, (1.0, 2.0, 3.0, 0.0, 5.0, 0.5), (0.0, 2.5), (0.1, 0.2, 0.3), SIXTEEN
EXPLORERS = [
    Explorer(plot_discount, discount_explorer, S(gamma=(0.0, 0.5, 0.9, 0.98, 0.99))),
    Explorer(plot_chain, chain_explorer, S(right=(0.0, 0.5, 1.0), gamma=(0.0, 0.9, 0.99))),
    Explorer(plot_policy_gradient, softmax_explorer,
             S(logits=((0, 0, 0), (1.2, 0, 0), (3.5, 0, 0)), step=(0, 1, 5),
               payoffs=((1, 0, -1), (2, 2, -2), (-5, 0.1, -0.1), (5, 4, 3))),
             moving=(1,), unset={"logits", "payoffs"}),
    Explorer(plot_gae_weights, gae_explorer,
             S(gamma=(0.8, 0.99, 1), lam=(0, 0.5, 0.9, 1), n=(1, 5, 30)), moving=(1,)),
    Explorer(plot_results, lambda: results_explorer(RESULTS, bar=95),
             S(variant=("no target", "no noise")), [lambda: {"results": RESULTS, "bar": 95}],
             figures=2),
    Explorer(plot_uphill, uphill_explorer,
             S(action=(-1, -0.6, -0.24, 0, 0.36, 1), step=(0, 0.04, 0.12, 0.3), steps=(1, 2, 20),
               error=(0, 0.5, 1)), figures=6),
    Explorer(plot_q, lambda: q_explorer(lively()),
             S(angle=(-180, 0, 25, 180), speed=(-8, 0.5, 8), step=(0, 1), zoom=(1, 20, 50),
               shows=("policy", "value")),
             [lambda: {"agent": lively()}, lambda: {"agent": fresh()}],
             moving=(0,)),  # the zoom is there to change it
    Explorer(plot_ou, ou_explorer,
             S(theta=(0.05, 0.15, 1.0), sigma=(0.05, 0.3), seed=(0, 20)),
             figures=6),
    Explorer(plot_tau, tau_explorer, S(tau=TAUS, noise=(0, 0.25))),
    Explorer(plot_bias, bias_explorer,
             S(actions=(1, 2, 10, 50), noise=(0, 0.3, 1, 1.2), spread=(0, 2), shared=(0, 0.9),
               seed=(0, 20)), figures=6),
    Explorer(plot_climb, climb_explorer,
             S(updates=(0, 1, 40, 60), size=(0, 0.05, 0.3), shared=(0, 0.9), seed=(0, 6, 16, 20)),
             figures=6),
    Explorer(plot_smoothing, smoothing_explorer,
             S(target_noise=(0, 0.04, 0.2, 1), noise_clip=(0, 0.1, 0.5, 1), peak=(0, 0.7, 1.5),
               width=(0.02, 0.3)), figures=6),
    Explorer(plot_data_flow, data_flow_explorer, S(step=range(16))),
    Explorer(plot_tree_walk, tree_walk_explorer,
             S(priorities=TREES, prefix_sum=(0, 0.25, 10.75, 13.25, 24, 30), step=(0, 1, None)),
             unset={"priorities"}, figures=6),
    Explorer(plot_priorities, priority_explorer,
             S(alpha=(0, 0.05, 0.6, 1), beta=(0, 0.05, 0.4, 0.95, 1)), figures=6),
    Explorer(plot_n_step, n_step_explorer,
             S(n=(1, 2, 5, 12), sweeps=(0, 1, 4, 12), gamma=(0.5, 0.9, 1), cut=(True, False)),
             figures=6),
    Explorer(plot_seeds, seeds_explorer, S(seeds=(1, 3, 7, 20), report=tuple(REPORTS)),
             [lambda study=study: {"study": study} for study in STUDIES.values()], figures=4),
    Explorer(plot_clip, clip_explorer,
             S(ratio=(0, 0.8, 1, 1.3, 2), advantage=(0.1, 1, 1.5), clip=(0.05, 0.2, 0.5))),
    Explorer(plot_ratios, lambda: ratio_explorer(RATIOS, ADVANTAGES),
             S(epoch=(0, 1, 2, 10), run=tuple(RATIOS)),
             [lambda: {"runs": RATIOS, "advantages": ADVANTAGES}]),
    Explorer(plot_temperature, temperature_explorer,
             S(temperature=TEMPERATURES, second=(0, 0.8, 1, 1.2))),
    Explorer(plot_squash, squash_explorer, S(mean=(-3, 0, 0.5, 3), std=(0.1, 1, 3)),
             figures=6),
    Explorer(plot_gradients, gradients_explorer,
             S(offset=(-10, 0, 10), std=(0.05, 0.4, 1), ripples=(0, 0.05, 0.2), draws=DRAWS),
             moving=(1,), figures=6),
]  # fmt: skip
every_explorer = pytest.mark.parametrize("explorer", EXPLORERS, ids=lambda e: e.plot.__name__)


@pytest.fixture
def views(monkeypatch) -> list:
    """The widgets that were put on the page. Pictures are small and quickly drawn."""
    shown, view = [], module.view

    def remember(widget):
        shown.append(widget)
        return view(widget)

    def draft(fig: Figure) -> Image.Image:
        return to_image(fig, scale=0.5)

    monkeypatch.setattr(module, "view", remember)
    monkeypatch.setattr(module, "to_image", draft)
    return shown


def parts(box) -> tuple[list, ipywidgets.Image, ipywidgets.HTML]:
    *controls, image, problem = box.children
    controls = [each for each in controls if not isinstance(each, ipywidgets.HBox)]
    return controls, image, problem


def ends(widget: ipywidgets.Widget) -> Sequence[Any]:
    """What a control can be set to: everything that there is to choose, or both ends."""
    if isinstance(widget, ipywidgets.Dropdown):
        return [each[1] if isinstance(each, tuple) else each for each in widget.options]
    if isinstance(widget, ipywidgets.SelectionSlider):
        return widget.options[0], widget.options[-1]
    return widget.min, widget.max


# --- Every explorer ---------------------------------------------------------------------------


@every_explorer
def test_it_is_a_bundle_and_moves_to_every_end(explorer, page, views):
    explorer.show()
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert bundle[VIEW]["model_id"] == views[0].model_id
    [[metadata]] = page.metadata
    assert metadata["image/png"]["alt"] == bundle["text/plain"]
    assert len(bundle["text/plain"]) > 40
    assert bundle["text/plain"].endswith(".")
    controls, image, problem = parts(views[0])
    stored, live = (
        Image.open(BytesIO(png)) for png in (base64.b64decode(bundle["image/png"]), image.value)
    )
    assert (stored.width, stored.height) == (live.width, live.height + LINE)
    for widget in controls:
        pictures = {image.value}
        for value in ends(widget):
            widget.value = value
            assert problem.value == ""
            pictures.add(image.value)
        assert len(pictures) > 1
    assert plt.get_fignums() == []


@every_explorer
def test_it_begins_as_its_plain_function(explorer, capsys):
    """Readers without widgets who call the function see what the others see first."""
    assert explorer.show() is None  # without a kernel nothing is shown
    assert capsys.readouterr() == ("", "")
    with listed() as seen:
        explorer.show()
    [(draw, controls)] = seen
    first = draw(**{name: control.default for name, control in controls.items()})
    fixed = {} if explorer.plot is plot_seeds else explorer.fixed[0]()
    assert to_png(first, scale=1) == to_png(explorer.plot(**fixed), scale=1)
    parameters = set(inspect.signature(explorer.plot).parameters)
    assert parameters - set(controls) == explorer.unset | set(fixed)


@pytest.mark.parametrize(
    ("explorer", "fixed"),
    [
        pytest.param(explorer, fixed, id=f"{explorer.plot.__name__}-{i}")
        for explorer in EXPLORERS
        for i, fixed in enumerate(explorer.fixed)
    ],
)
def test_texts_stay_apart_and_axes_stay_while_sliding(explorer, fixed):
    """Neither panels nor limits move, no text leaves the figure or touches another, and a figure
    that was emptied for the next picture shows what a new one does."""
    seen, kept = set(), {}
    for settings in explorer.combinations():
        with moving(kept):
            fig = explorer.plot(**fixed(), **settings)
        anew = explorer.plot(**fixed(), **settings)
        assert to_png(fig, scale=0.5) == to_png(anew, scale=0.5), settings
        places = [*fig.get_size_inches()]
        for i, ax in enumerate(fig.axes):
            places += ax.get_position().bounds
            places += () if i in explorer.moving else (*ax.get_xlim(), *ax.get_ylim())
        seen.add(tuple(np.round(places, 9)))
        apart(fig)
    assert len(seen) == 1


# --- The machinery ----------------------------------------------------------------------------


@pytest.mark.parametrize("show", [discount_explorer, lambda: results_explorer(RESULTS)])
def test_without_ipywidgets_the_picture_remains(show, page, monkeypatch):
    without_ipywidgets(monkeypatch)
    show()
    [[bundle]] = page.outputs
    assert set(bundle) == {"image/png", "text/plain"}


def test_controls_become_the_right_widgets(page, views):
    seen = []

    def draw(**settings):
        seen.append(settings)
        return new_figure(width=3, height=1)[0]

    explore(
        draw,
        whole=Slider(1, 9, 3, label="a whole number"),
        real=Slider(0.0, 1.0, 0.25, 0.05),
        pick=Choice({"first": 10, "second": 20}, default=20),
        listed=Scale((5, 6)),
    )
    assert seen == [{"whole": 3, "real": 0.25, "pick": 20, "listed": 5}]
    assert page.outputs[0][0]["text/plain"] == "A figure without a title."
    [whole, real, pick, listed], _, _ = parts(views[0])
    assert isinstance(whole, ipywidgets.IntSlider)
    assert whole.description == "a whole number"
    assert (real.description, real.readout_format, real.step) == ("real", ".2f", 0.05)
    assert isinstance(listed, ipywidgets.SelectionSlider)
    pick.value = 10
    assert seen[-1] == {"whole": 3, "real": 0.25, "pick": 10, "listed": 5}


def test_buttons_move_a_slider_and_stop_at_its_ends(page, views):
    seen = []

    def draw(x):
        seen.append(x)
        return new_figure(width=3, height=1)[0]

    explore(draw, x=Slider(0, 2, 0, 1, buttons=True))
    back, following = views[0].children[1].children
    for button in (back, following, following, following, back):
        button.click()
    assert seen == [0, 1, 2, 1]


def test_an_error_in_a_drawing_is_shown_and_goes_away(page, views):
    def draw(x):
        if x == 2:
            raise ValueError("x is <two>")
        fig, ax = new_figure(width=3, height=1)
        ax.set_title(f"x = {x}", loc="left")
        return fig

    with pytest.raises(ValueError, match="x is <two>"):
        explore(draw, x=Slider(0, 3, 2))
    explore(draw, x=Slider(0, 3, 0))
    [slider], image, problem = parts(views[0])
    before = image.value
    slider.value = 2
    assert "ValueError: x is &lt;two&gt;" in problem.value
    assert image.value == before
    slider.value = 3
    assert problem.value == ""
    assert "x = 3" in image.tooltip  # what a screen reader says is what is drawn now
