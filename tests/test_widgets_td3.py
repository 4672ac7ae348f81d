"""The figures of lesson 03: numbers behind them, fixed axes, text that stays apart, bundles."""

from __future__ import annotations

import base64
import importlib
import inspect
import itertools
import json
from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from helpers.show.figures import explore as widgets
from helpers.show.figures import td3 as widgets_td3
from helpers.show.figures.td3 import (
    ARROWS,
    BADGES,
    BOXES,
    COUNTS,
    PAIR,
    PEAK,
    STEPS,
    estimates,
    expected_bias,
    plot_bias,
    plot_comparison,
    plot_data_flow,
    plot_overestimation,
    plot_smoothing,
    smoothed,
    three_estimates,
    toy_critic,
    true_values,
)
from helpers.show.plotting import BLUE, GREEN, GREY, VERMILLION, to_png
from helpers.training.statistics import bootstrap_interval, interquartile_mean
from tests.test_widgets_ddpg import VIEW, curve, dot, sentence, texts

pytest_plugins = ("tests.fakes",)

EXPLORERS = {
    plot_bias: widgets_td3.bias_explorer,
    plot_smoothing: widgets_td3.smoothing_explorer,
    plot_data_flow: widgets_td3.data_flow_explorer,
}

# The ends of all sliders, and what lies between where sentences change.
SETTINGS = {
    plot_bias: {
        "actions": (1, 2, 10, 50),
        "noise": (0, 0.3, 1, 1.2),
        "spread": (0, 2),
        "shared": (0, 0.9),
        "seed": (0, 20),
    },
    plot_smoothing: {
        "target_noise": (0, 0.04, 0.2, 1),
        "noise_clip": (0, 0.1, 0.5, 1),
        "peak": (0, 0.7, 1.5),
        "width": (0.02, 0.3),
    },
    plot_data_flow: {"step": (None, *range(1, 16))},
}


def figures(plot, sample: int):
    """Figures at that many of all combinations of settings."""
    names, values = zip(*SETTINGS[plot].items(), strict=True)
    combinations = list(itertools.product(*values))
    if sample < len(combinations):
        rng = np.random.default_rng(0)
        combinations = [combinations[i] for i in rng.choice(len(combinations), sample, False)]
    for combination in combinations:
        yield plot(**dict(zip(names, combination, strict=True)))


def beyond(ax) -> list:
    """Labels of ticks outside the limits: they are not drawn."""
    return [
        text
        for axis, place in ((ax.xaxis, 0), (ax.yaxis, 1))
        for text in axis.get_ticklabels()
        if abs(text.get_position()[place] - np.mean(axis.get_view_interval()))
        > np.ptp(axis.get_view_interval()) / 2
    ]


def apart(fig) -> None:
    """No text leaves the figure or touches another."""
    to_png(fig, scale=1)  # legends and ticks find their places
    renderer, boxes = fig.canvas.get_renderer(), []
    found = [*texts(fig), *(text for legend in fig.legends for text in legend.get_texts())]
    hidden = {text for ax in fig.axes for text in beyond(ax)}
    for text in dict.fromkeys([*found, *fig.texts]):
        if not text.get_text() or text in hidden:
            continue
        box = text.get_window_extent(renderer)
        assert fig.bbox.x0 <= box.x0, (sentence(fig), text)
        assert box.x1 <= fig.bbox.x1 + 1, (sentence(fig), text)
        assert fig.bbox.y0 <= box.y0, (sentence(fig), text)
        assert box.y1 <= fig.bbox.y1, (sentence(fig), text)
        boxes.append((text, box))
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), (sentence(fig), one, other)


# --- All of them ------------------------------------------------------------------------------


@pytest.fixture
def views(monkeypatch) -> list:
    """The widgets that were put on the page."""
    shown, view = [], widgets.view

    def remember(widget):
        shown.append(widget)
        return view(widget)

    monkeypatch.setattr(widgets, "view", remember)
    return shown


@pytest.mark.parametrize("show", EXPLORERS.values())
def test_explorers_are_bundles_and_move_to_every_end(show, page, views):
    show()
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert len(bundle["text/plain"]) > 20
    row, image, problem = views[0].children
    assert base64.b64decode(bundle["image/png"]) == image.value
    for widget in row.children:
        pictures = {image.value}
        for value in (widget.min, widget.max):
            widget.value = value
            assert problem.value == ""
            pictures.add(image.value)
        assert len(pictures) > 1


@pytest.mark.parametrize("show", EXPLORERS.values())
def test_without_a_kernel_nothing_is_shown(show, capsys):
    assert show() is None
    assert capsys.readouterr() == ("", "")


def test_the_default_of_a_slider_is_the_default_of_the_function(monkeypatch):
    """Readers without widgets who call the function see what the others see first."""
    seen = []
    monkeypatch.setattr(widgets_td3, "explore", lambda draw, alt, **controls: seen.append(controls))
    for plot, show in EXPLORERS.items():
        show()
        defaults = {n: p.default for n, p in inspect.signature(plot).parameters.items()}
        assert {n: c.default for n, c in seen[-1].items()} == defaults


@pytest.mark.parametrize("plot", SETTINGS)
def test_axes_stay_where_they_are_while_sliding(plot):
    seen = set()
    for fig in figures(plot, 16):
        limits = [(*ax.get_position().bounds, *ax.get_xlim(), *ax.get_ylim()) for ax in fig.axes]
        seen.add((*fig.get_size_inches(), *np.round(np.ravel(limits), 9)))
    assert len(seen) == 1


@pytest.mark.parametrize("plot", SETTINGS)
def test_no_text_leaves_the_figure_or_touches_another(plot):
    for fig in figures(plot, 24):
        apart(fig)


def test_the_results_explorer_takes_as_many_variants_as_a_lab_has(page, views):
    """The ablations of lesson 03 are browsed with the explorer of the earlier labs."""
    file = Path(__file__).parents[1] / "data" / "results" / "02_break_it.json"
    widgets.results_explorer(json.loads(file.read_text()), bar=-200)
    row, image, problem = views[0].children
    [choice] = row.children
    assert isinstance(choice, ipywidgets.Dropdown)
    assert len(choice.options) >= 10
    before = image.value
    choice.value = choice.options[-1]
    assert (problem.value, image.value != before) == ("", True)


# --- The bias of a maximum --------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        (1, 1.0, 0.0, 0.0),
        (2, 1.0, 2.0, 0.0),
        (10, 1.2, 0.0, 0.5),
        (50, 0.6, 1.5, 0.9),
        (5, 1, 0, 1),
    ],
)
def test_the_bias_is_that_of_a_simulation(settings):
    draws = np.random.default_rng(0).standard_normal((2, 40_000, 50))
    truth, first, second = estimates(*settings, draws)
    assert truth.max() == 0
    for name, values in three_estimates(first, second).items():
        error = 4 * values.std() / 200  # four standard errors
        assert expected_bias(*settings)[name] == pytest.approx(values.mean(), abs=error), name


def test_the_bias_of_two_equal_actions_is_known():
    """The larger of two normal numbers is 1 / sqrt(pi) on average; the lower of two, minus that."""
    known = 1 / np.sqrt(np.pi)
    assert expected_bias(2, 1.0, 0.0, 0.0)["maximum"] == pytest.approx(known)
    assert expected_bias(2, 3.0, 0.0, 0.7)["maximum"] == pytest.approx(3 * known)
    assert expected_bias(1, 1.0, 0.0, 0.0)["clipped"] == pytest.approx(-known)
    assert expected_bias(10, 1.0, 0.0, 0.0)["maximum"] == pytest.approx(1.53875, abs=1e-5)


def test_what_students_should_see_is_so():
    """The maximum's bias grows with actions and noise; double is never too high, clipped is low."""
    by_count = [expected_bias(n, 1.0, 0.0, 0.0) for n in COUNTS]
    assert (np.diff([b["maximum"] for b in by_count]) > 0).all()
    by_noise = [expected_bias(10, noise, 1.0, 0.0) for noise in (0.1, 0.5, 1, 1.5)]
    assert (np.diff([b["maximum"] for b in by_noise]) > 0).all()
    for bias in by_count + by_noise:
        assert bias["double"] < 1e-9
        assert bias["clipped"] < bias["double"]
    # Critics that err together mislead the double estimate as well; the lower one less.
    bias = expected_bias(10, 1.0, 0.0, 0.5)
    assert bias["maximum"] > bias["double"] == pytest.approx(0.5 * bias["maximum"])
    assert bias["double"] > bias["clipped"]
    together = list(expected_bias(10, 1.0, 0.0, 1.0).values())
    np.testing.assert_allclose(together, together[0])


def test_the_numbers_drawn_are_the_exact_ones():
    fig = plot_bias(5, noise=0.8, spread=1.0, shared=0.3)
    bias = expected_bias(5, 0.8, 1.0, 0.3)
    _, middle, right = fig.axes
    for name, colour in widgets_td3.ESTIMATORS.items():
        np.testing.assert_allclose(curve(middle, colour)[:, 1], bias[name])
        np.testing.assert_allclose(dot(right, colour, 6.5), [np.log10(5), bias[name]])
        curve_of_counts = dict(np.round(curve(right, colour), 6))
        at_20 = expected_bias(20, 0.8, 1.0, 0.3)[name]
        assert curve_of_counts[round(np.log10(20), 6)] == pytest.approx(at_20, abs=1e-6)
    maximum, double, clipped = (f"{abs(value):.2f}" for value in bias.values())
    said = f"5 actions: the maximum is {maximum} too high, double {double} too low, clipped "
    assert sentence(fig) == f"{said}{clipped} too low."


def test_the_draw_shows_the_truth_both_critics_and_what_each_estimator_reads():
    left = plot_bias(7, noise=1.0, spread=2.0, seed=5).axes[0]
    normals = np.random.default_rng(5).normal(size=PAIR)
    truth, first, second = estimates(7, 1.0, 2.0, 0.0, normals)
    np.testing.assert_allclose(truth, true_values(7, 2.0))
    bars = np.array(left.collections[0].get_segments())
    np.testing.assert_allclose(bars[:, 0, 1], truth)
    own, other = (line.get_ydata() for line in left.lines if len(line.get_xdata()) == 7)
    np.testing.assert_allclose(own, first[0])
    np.testing.assert_allclose(other, second[0])
    chosen = first[0].argmax()
    assert dot(left, VERMILLION, 12)[1] == first[0].max()
    assert dot(left, GREEN, 12)[1] == second[0, chosen]
    assert dot(left, BLUE, 17.5)[1] == min(first[0, chosen], second[0, chosen])


def test_all_dots_and_means_lie_inside():
    for fig in figures(plot_bias, 40):
        for ax in fig.axes:
            low, high = ax.get_ylim()
            for line in ax.lines:
                assert low <= np.min(line.get_ydata(orig=False))
                assert np.max(line.get_ydata(orig=False)) <= high


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "10 actions: the maximum is 1.54 too high, double unbiased, clipped 0.05 too low."),
        ({"noise": 0.0, "spread": 1.0}, "Without noise all three are right"),
        (
            {"actions": 1},
            "One action, no choice: each critic is unbiased, the lower of the two 0.56",
        ),
        ({"shared": 0.9}, "double 1.38 too high, clipped 1.2"),
    ],
)
def test_the_bias_in_a_sentence(settings, said):
    assert said in sentence(plot_bias(**settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"actions": 0}, "between 1 and 50"),
        ({"actions": 51}, "between 1 and 50"),
        ({"noise": -1}, "negative"),
        ({"spread": -1}, "negative"),
        ({"shared": 1.5}, "between 0 and 1"),
    ],
)
def test_the_bias_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        plot_bias(**settings)


# --- Smoothing --------------------------------------------------------------------------------

GRID = np.linspace(-1, 1, 41)


@pytest.mark.parametrize(
    ("noise", "clip"), [(0.2, 0.5), (0.05, 0.5), (0.3, 0.1), (1.0, 1.0), (1.0, 0.3)]
)
def test_the_quadrature_is_what_the_noise_of_td3_gives(noise, clip):
    rng = np.random.default_rng(0)
    draws = np.clip(noise * rng.standard_normal(100_000), -clip, clip)
    for a in (-1, -0.4, 0.3, 0.5, 0.97):
        q = toy_critic(np.clip(a + draws, -1, 1), 1.2, 0.05)
        exact = smoothed(np.array([a]), noise, clip, 1.2, 0.05)
        assert exact == pytest.approx(q.mean(), abs=4 * q.std() / np.sqrt(len(q)) + 1e-9)


def test_the_quadrature_is_exact_where_the_answer_is_known():
    q = toy_critic(GRID, 1.0, 0.05)
    for noise, clip in ((0, 0.5), (0.2, 0), (0, 0)):
        np.testing.assert_array_equal(smoothed(GRID, noise, clip, 1.0, 0.05), q)
    np.testing.assert_allclose(smoothed(GRID, 1e-4, 0.5, 1.0, 0.05), q, atol=1e-4)
    # Nearly all of very wide noise lies at the cuts.
    ends = [toy_critic(np.clip(GRID + c, -1, 1), 1.0, 0.05) for c in (-0.3, 0.3)]
    np.testing.assert_allclose(
        smoothed(GRID, 1e6, 0.3, 1.0, 0.05), np.mean(ends, axis=0), atol=1e-6
    )
    # Uncut, a Gaussian hill stays Gaussian: width² grows by 2 noise², the area remains.
    wide, middle = np.hypot(0.05, np.sqrt(2) * 0.1), np.array([PEAK - 0.1, PEAK, PEAK + 0.1])
    peak = smoothed(middle, 0.1, 1.0, 1.0, 0.05) - smoothed(middle, 0.1, 1.0, 0.0, 0.05)
    want = 0.05 / wide * np.exp(-(((middle - PEAK) / wide) ** 2))
    np.testing.assert_allclose(peak, want, atol=1e-6)


def test_a_constant_stays_what_it_is(monkeypatch):
    """All probability is accounted for: between the cuts, at the clip and at the bounds."""
    monkeypatch.setattr(widgets_td3, "toy_critic", lambda a, *_: np.full(np.shape(a), 3.0))
    for noise, clip in ((0.02, 1), (0.2, 0.5), (1, 0.1), (3, 1)):
        np.testing.assert_allclose(smoothed(GRID, noise, clip, 1, 0.05), 3, atol=1e-10)


def test_the_curves_and_their_tops_are_those_of_the_critic():
    upper, lower = plot_smoothing(0.2, 0.5, 0.9, 0.06).axes
    a = np.linspace(-1, 1, 401)
    q, smooth = toy_critic(a, 0.9, 0.06), smoothed(a, 0.2, 0.5, 0.9, 0.06)
    np.testing.assert_allclose(curve(upper, GREY)[:, 1], toy_critic(a, 0, 1))
    np.testing.assert_allclose(curve(upper, BLUE)[:, 1], q)
    np.testing.assert_allclose(curve(upper, GREEN)[:, 1], smooth)
    np.testing.assert_allclose(dot(upper, BLUE, 7.5), [a[q.argmax()], q.max()])
    np.testing.assert_allclose(dot(upper, GREEN, 7.5), [a[smooth.argmax()], smooth.max()])
    assert [t.get_text() for t in upper.texts] == [
        "top of the critic's Q: a = +0.50, in truth worth 0.01",
        "top of the smoothed Q: a = −0.35, in truth worth 0.80",
    ]
    assert lower.texts[0].get_text() == "0.62 % gathered at each end"  # beyond 2.5 deviations


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {},
            "Smoothing leaves 17 % of the peak and 82 % of the hill: away from the peak, to a = −",
        ),
        (
            {"target_noise": 0.0},
            "No smoothing: the highest point, at a = +0.50, is the false peak's",
        ),
        ({"noise_clip": 0.0, "peak": 0.3}, "none needed"),
        ({"target_noise": 0.04, "peak": 1.5, "width": 0.1}, "Too little: smoothing leaves 87 %"),
        ({"target_noise": 1.0, "noise_clip": 1.0}, "Too much: smoothing leaves"),
        ({"target_noise": 1.0, "peak": 1.5, "width": 0.3}, "Too much: smoothing leaves 45 %"),
        ({"peak": 0.5}, "both lead to the hill"),
        ({"peak": 0.0}, "Smoothing leaves 82 % of the hill"),
    ],
)
def test_smoothing_in_a_sentence(settings, said):
    assert said in sentence(plot_smoothing(**settings))


def test_smoothing_refuses():
    for settings in ({"target_noise": -0.1}, {"noise_clip": -0.1}):
        with pytest.raises(ValueError, match="must not be negative"):
            plot_smoothing(**settings)
    with pytest.raises(ValueError, match="width must be above 0"):
        plot_smoothing(width=0)


# --- The whole of TD3 -------------------------------------------------------------------------


def test_every_step_has_a_number_something_that_moves_and_code_that_exists():
    modules = [
        importlib.import_module(f"helpers.{name}")
        for name in ("agents.td3", "agents.ddpg", "agents.base", "agents.off_policy", "buffers")
    ]
    assert [number for number, *_ in BADGES][: len(STEPS)] == list(range(1, 16))
    for number, step in enumerate(STEPS, 1):
        assert any(number in thing.steps for thing in (*BOXES, *ARROWS)), number
        name, _, method = step.code.partition(".")
        [found] = {getattr(module, name) for module in modules if hasattr(module, name)}
        assert not method or callable(getattr(found, method))
        assert step.sentence.endswith(".")


def test_arrows_begin_and_end_at_boxes_or_where_noise_is_added():
    places = [(x, y, 0.14, 0.14) for (x, y), *_ in widgets_td3.JOINTS]
    places += [(box.x, box.y, box.width / 2, box.height / 2) for box in BOXES]
    for arrow in ARROWS:
        for x, y in (arrow.points[0], arrow.points[-1]):
            near = [max(abs(x - u) - half, abs(y - v) - tall) for u, v, half, tall in places]
            assert min(map(abs, near)) < 0.02, arrow


def test_the_current_step_stands_out_and_later_ones_are_faint():
    assert [widgets_td3._state((4, 15), step) for step in (3, 4, 9, 15, None)] == [
        "ahead",
        "now",
        "past",
        "now",
        "past",
    ]
    for step in range(1, 16):
        fig = plot_data_flow(step)
        inks = {t.get_text(): t.get_color() for t in fig.texts}
        assert inks[str(step)] == "white"
        faint = {str(n) for n in range(1, 16) if inks[str(n)] == widgets_td3.tint(GREY, 0.4)}
        assert faint == {str(n) for n in range(step + 1, 16)}
        assert sentence(fig) == f"{step} of 15. {STEPS[step - 1].sentence}"
        assert STEPS[step - 1].code in inks
    everything = plot_data_flow(None)
    numbers = [t for t in everything.texts if t.get_text().isdigit()]
    assert {t.get_text() for t in numbers} == {str(n) for n in range(1, 16)}
    assert len({t.get_color() for t in numbers}) == 1
    assert "steps 1 and 2" in sentence(everything)


def test_the_data_flow_refuses():
    for step in (0, 16):
        with pytest.raises(ValueError, match="between 1 and 15"):
            plot_data_flow(step)


# --- What was measured ------------------------------------------------------------------------


def measured(bias: float, seeds: int = 8) -> dict:
    """Values that are too high by `bias` throughout, and nearly twice that in the first half."""
    rng = np.random.default_rng(seeds)
    steps = np.arange(500, 10_001, 500)
    obtained = -100 * np.exp(-steps / 3000) + rng.normal(0, 1, (seeds, 20))
    early = np.where(steps < 5000, 50.0, 0.0)
    values = obtained + bias + early
    return {"steps": steps.tolist(), "estimated": values.tolist(), "obtained": obtained.tolist()}


MEASURED = {
    "command": "course.py",
    "DDPG as taught": measured(12.5),
    "TD3 as taught": measured(-3.0, 6),
    "no smoothing": measured(2.0, 5),
    "only scores": {"values": [1, 2], "returns": [[1, 2]]},
}


def test_overestimation_shows_values_returns_and_their_difference():
    fig = plot_overestimation(MEASURED, from_step=5000)
    left, right = fig.axes
    run = MEASURED["DDPG as taught"]
    late = np.array(run["steps"]) >= 5000
    values, obtained = (np.array(run[key])[:, late] for key in ("estimated", "obtained"))
    solid, dashed = (line for line in left.lines[:2])
    np.testing.assert_allclose(solid.get_ydata(), interquartile_mean(values))
    np.testing.assert_allclose(dashed.get_ydata(), interquartile_mean(obtained))
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    assert len(left.lines) == 4
    zero, *lines = right.lines
    assert set(zero.get_ydata()) == {0}
    for line, bias in zip(lines, (12.5, -3, 2), strict=True):
        np.testing.assert_allclose(line.get_ydata(), bias)
    names = [text.get_text() for text in fig.legends[0].get_texts()]
    assert names == ["DDPG as taught", "TD3 as taught", "no smoothing"]
    said = (
        "DDPG as taught promises 12.5 too much, TD3 as taught 3.0 too little (from step 5,000 on)."
    )
    assert sentence(fig) == said
    assert sentence(plot_overestimation(MEASURED)).startswith("DDPG as taught promises 35.0 too")


def test_which_variants_are_shown_can_be_chosen():
    fig = plot_overestimation(MEASURED, pair=["no smoothing"], names=["TD3 as taught"])
    left, right = fig.axes
    assert (len(left.lines), len(right.lines)) == (2, 2)
    assert left.lines[0].get_color() != right.lines[1].get_color()
    apart(fig)
    with pytest.raises(ValueError, match="not nobody"):
        plot_overestimation(MEASURED, pair=["nobody"])
    with pytest.raises(ValueError, match="not none"):
        plot_overestimation({"only scores": MEASURED["only scores"]})
    with pytest.raises(ValueError, match="at most 10000"):
        plot_overestimation(MEASURED, from_step=20_000)


def test_one_seed_that_went_astray_does_not_move_the_axes():
    astray = measured(2.0)
    astray["estimated"][3] = [1e6] * 20
    limits = plot_overestimation({"one": astray}).axes[1].get_ylim()
    assert limits == pytest.approx(plot_overestimation({"one": measured(2.0)}).axes[1].get_ylim())


def scores(last: float, seeds: int = 8, bar: float | None = None) -> dict:
    rng = np.random.default_rng(seeds)
    steps = np.linspace(500, 10_000, 20)
    returns = last * (1 - np.exp(-steps / 1000)) + rng.normal(0, 2, (seeds, 20))
    return {"steps": steps.tolist(), "returns": returns.tolist(), "bar": bar}


SCORES = {
    "d1": scores(90, bar=95),
    "t1": scores(100, bar=95),
    "d2": scores(50),
    "t2": scores(50, 7),
}
GROUPS = {
    "MountainCarContinuous-v0": {"DDPG": "d1", "TD3": "t1"},
    "Pendulum-v1": {"TD3": "t2", "DDPG": SCORES["d2"]},
}


def test_comparison_has_a_panel_for_each_environment_and_a_colour_for_each_algorithm():
    fig = plot_comparison(SCORES, GROUPS)
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(GROUPS)
    first, second = fig.axes
    ddpg, td3, bar = first.lines
    np.testing.assert_allclose(td3.get_ydata(), interquartile_mean(SCORES["t1"]["returns"]))
    assert set(bar.get_ydata()) == {95}
    assert [line.get_color() for line in second.lines] == [td3.get_color(), ddpg.get_color()]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["DDPG", "TD3"]
    ahead = "TD3 ahead on MountainCarContinuous-v0, no clear difference on Pendulum-v1."
    assert sentence(fig) == f"At the end: {ahead}"


def test_ahead_is_who_is_so_with_all_of_the_interval():
    late = {name: np.array(run["returns"])[:, 18:].mean(1) for name, run in SCORES.items()}
    intervals = {name: bootstrap_interval(values) for name, values in late.items()}
    assert intervals["t1"][0] > intervals["d1"][1]
    assert intervals["t2"][0] < intervals["d2"][1]
    assert intervals["d2"][0] < intervals["t2"][1]


def test_the_drawings_of_results_keep_their_texts_apart():
    many = {f"TD3 without a thing {i}": measured(float(i)) for i in range(6)}
    apart(plot_overestimation(MEASURED, from_step=3000))
    apart(plot_overestimation(many))
    apart(plot_comparison(SCORES, GROUPS))
    apart(plot_comparison(SCORES, GROUPS | {"Hopper-v5": {"DDPG": "d1", "TD3": "t1"}}))


def test_comparison_refuses_what_has_no_lines():
    with pytest.raises(ValueError, match="1 to 6 labels"):
        plot_comparison(SCORES, {})
