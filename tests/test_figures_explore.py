"""Figures with controls: the machinery, and what holds for every explorer of the lessons."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from helpers.show import figures
from helpers.show.figures.explore import (
    LINE,
    Choice,
    Controls,
    Drawing,
    Scale,
    Slider,
    explore,
    latest,
)
from helpers.show.plotting import new_figure, to_image
from tests.figures import RESULTS, apart, fresh, lively
from tests.live import VIEW

pytest_plugins = ("tests.fakes",)
module = sys.modules[explore.__module__]  # the package has the function under its name

ADVANTAGES = np.random.default_rng(0).normal(size=200)
RATIOS = {
    name: np.exp(np.outer(np.arange(11), reach * ADVANTAGES))
    for name, reach in (("clipped", 0.02), ("not clipped", 0.3))
}
EXPLORERS = {name: show for name, show in vars(figures).items() if name.endswith("_explorer")}
EXPLORERS |= {
    "q_explorer": lambda: figures.q_explorer(lively()),
    "q_explorer of a fresh agent": lambda: figures.q_explorer(fresh()),
    "results_explorer": lambda: figures.results_explorer(RESULTS, bar=95),
    "ratio_explorer": lambda: figures.ratio_explorer(RATIOS, ADVANTAGES),
}
# Panels whose limits may change with the settings.
MOVING = {
    "softmax_explorer": [1], "gae_explorer": [1], "gradients_explorer": [1],
    "q_explorer": [0], "q_explorer of a fresh agent": [0],  # the zoom is there to change it
}  # fmt: skip


def combinations(controls: Controls) -> Iterator[dict[str, Any]]:
    """Few settings in which a slider's ends and what lies between, and every choice, occur."""
    rng, columns = np.random.default_rng(0), {}
    for name, control in controls.items():
        values = control.values()
        if isinstance(control, Slider) and not control.buttons:
            places = np.linspace(0, len(values) - 1, 5).round().astype(int)
            values = [*(values[place] for place in places), control.default]
        columns[name] = values
    count = max(map(len, columns.values()))
    orders = {name: rng.permutation(count) for name in columns}
    for i in range(count):
        yield {name: values[orders[name][i] % len(values)] for name, values in columns.items()}


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


def asked(name: str) -> tuple[Drawing, Controls]:
    """What an explorer draws, and its controls."""
    assert EXPLORERS[name]() is None
    return latest[0]


# --- Every explorer ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EXPLORERS if "fresh" not in name])
def test_it_is_a_bundle_and_moves_to_every_end(name, page, views):
    moves = asked(name)[1]
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
    for widget, control in zip(controls, moves.values(), strict=True):
        pictures, values = {image.value}, control.values()
        for value in (values[0], values[-1]):
            widget.value = value
            assert problem.value == ""
            pictures.add(image.value)
        assert len(pictures) > 1
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", EXPLORERS)
def test_texts_stay_apart_and_axes_stay_while_sliding(name):
    """Neither panels nor limits move, and no text leaves the figure or touches another."""
    (draw, controls), seen = asked(name), {}
    for settings in combinations(controls):
        fig = draw(**settings)
        places = [*fig.get_size_inches()]
        for i, ax in enumerate(fig.axes):
            places += ax.get_position().bounds
            places += () if i in MOVING.get(name, ()) else (*ax.get_xlim(), *ax.get_ylim())
        # Another study has returns of another size.
        seen.setdefault(settings.get("study"), places)
        np.testing.assert_allclose(places, seen[settings.get("study")], atol=1e-9)
        apart(fig)


# --- The machinery ----------------------------------------------------------------------------


def test_controls_become_the_right_widgets(page, views):
    seen = []

    def draw(**settings):
        seen.append(settings)
        return new_figure(width=3, height=1)[0]

    explore(
        draw,
        whole=Slider(1, 9, 3, 1, "a whole number"),
        real=Slider(0.0, 1.0, 0.25, 0.05),
        pick=Choice({"first": 10, "second": 20}, default=20),
        listed=Scale((5, 6), 5),
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
        explore(draw, x=Slider(0, 3, 2, 1))
    explore(draw, x=Slider(0, 3, 0, 1))
    [slider], image, problem = parts(views[0])
    before = image.value
    slider.value = 2
    assert "ValueError: x is &lt;two&gt;" in problem.value
    assert image.value == before
    slider.value = 3
    assert problem.value == ""
    assert "x = 3" in image.tooltip  # what a screen reader says is what is drawn now
