"""The figures of lesson 03: the numbers behind them, and what their headlines say."""

from __future__ import annotations

import importlib
import itertools
import pkgutil

import numpy as np
import pytest

import helpers.agents
import helpers.memory
from helpers.show.figures import td3_smoothing
from helpers.show.figures.drawing import tint
from helpers.show.figures.td3_bias import (
    COUNTS,
    ESTIMATORS,
    PAIR,
    estimates,
    expected_bias,
    plot_bias,
    three_estimates,
    true_values,
)
from helpers.show.figures.td3_climb import (
    ACTIONS,
    BEST,
    CENTRES,
    climb,
    error,
    plot_climb,
    true_q,
    two_errors,
)
from helpers.show.figures.td3_data_flow import plot_data_flow, state_of
from helpers.show.figures.td3_smoothing import PEAK, plot_smoothing, smoothed, toy_critic
from helpers.show.figures.td3_steps import ARROWS, BADGES, BOXES, JOINTS, STEPS
from helpers.show.plotting import BLUE, GREEN, GREY, PURPLE, VERMILLION
from tests.figures import curve, dot, sentence

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
    for name, colour in ESTIMATORS.items():
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
    for actions, noise, spread in itertools.product((1, 2, 50), (0, 0.3, 1.2), (0, 2)):
        fig = plot_bias(actions, noise, spread, shared=0.9 * (actions > 1), seed=20 * (noise > 1))
        for ax in fig.axes:
            low, high = ax.get_ylim()
            for line in ax.lines:
                assert low <= np.min(line.get_ydata(orig=False))
                assert np.max(line.get_ydata(orig=False)) <= high


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "10 actions: the maximum is 1.54 too high, double unbiased, clipped 0.05 too low."),
        (
            {"actions": 2, "noise": 0.1, "spread": 0.3},
            "2 actions: the maximum is hardly off, double 0.01 too low, clipped 0.06 too low.",
        ),
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


# --- An actor that climbs the critic's errors -------------------------------------------------


def test_slopes_of_the_toy_are_those_of_its_values():
    a, h, weights = np.linspace(-1, 1, 9), 1e-6, two_errors(0.0, 3)[0]
    for value in (true_q, lambda action: error(action, weights)):
        by_differences = (value(a + h)[0] - value(a - h)[0]) / (2 * h)
        np.testing.assert_allclose(value(a)[1], by_differences, atol=1e-6)
    assert true_q(BEST) == (1, 0)


def test_errors_have_mean_0_deviation_1_and_the_correlation_that_is_asked_for():
    pairs = np.stack([two_errors(0.6, seed) for seed in range(4000)], axis=1)
    for action in (-1, BEST, 1):
        first, second = (error(np.full(4000, action), weights)[0] for weights in pairs)
        assert first.mean() == pytest.approx(0, abs=0.06)
        assert second.std() == pytest.approx(1, abs=0.05)
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.6, abs=0.05)


def test_every_update_raises_the_critic_s_value_and_lowers_the_true_one():
    """So the error at the actor's action grows in each of the pictures that sliders can show."""
    weights = np.stack([two_errors(0.0, seed)[0] for seed in range(21)])
    for size in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        path = climb(weights, size, 60)
        truth = true_q(path)[0]
        said = truth + size * np.array([error(action, weights)[0] for action in path])
        assert (np.diff(said, axis=0) >= -1e-12).all()
        assert (np.diff(truth, axis=0) <= 1e-12).all()
        assert np.abs(path).max() < 1


def test_the_climb_is_drawn_and_read_as_computed():
    fig = plot_climb(30, size=0.2, shared=0.3, seed=16)
    left, right = fig.axes
    weights = two_errors(0.3, 16)
    path = climb(weights[0], 0.2, 30)
    q1, q2 = (true_q(ACTIONS)[0] + 0.2 * error(ACTIONS, each)[0] for each in weights)
    np.testing.assert_allclose(curve(left, GREY)[:, 1], true_q(ACTIONS)[0])
    np.testing.assert_allclose(curve(left, BLUE)[:, 1], q1)
    np.testing.assert_allclose(curve(right, BLUE)[:, 1], q1)
    np.testing.assert_allclose(curve(right, PURPLE)[:, 1], q2)
    np.testing.assert_allclose(curve(right, GREEN)[:, 1], np.minimum(q1, q2))
    ends = [float(true_q(path[-1])[0] + 0.2 * error(path[-1], each)[0]) for each in weights]
    for ax, colour, read in ((left, BLUE, ends[0]), (right, GREEN, min(ends))):
        np.testing.assert_allclose(curve(ax, VERMILLION)[:, 0], path)
        np.testing.assert_allclose(dot(ax, colour, 7.5), [path[-1], read])
        np.testing.assert_allclose(dot(ax, colour, 6), [path[-1], true_q(path[-1])[0]])
        off = read - float(true_q(path[-1])[0])
        side = "high" if off > 0 else "low"
        assert ax.texts[1].get_text() == f"{read:.2f}: {abs(off):.2f} too {side}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "40 updates up the slope of Q₁: Q₁ goes from 0.95 to 1.27, the true Q from 1.00 down"),
        ({"updates": 1}, "One update: Q₁ goes from 0.95 to 0.9"),
        ({"updates": 0}, "No update yet"),
        ({"size": 0.0}, "Without errors the actor stays"),
    ],
)
def test_the_climb_in_a_sentence(settings, said):
    assert said in sentence(plot_climb(**settings))


def test_without_errors_both_critics_are_right():
    weights = np.ones(len(CENTRES))
    assert (climb(weights, 0.0, 5) == BEST).all()
    for ax in plot_climb(size=0.0).axes:
        assert ax.texts[1].get_text() == "1.00, which is right"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"updates": -1}, "between 0 and 60"),
        ({"updates": 61}, "between 0 and 60"),
        ({"size": -0.1}, "negative"),
        ({"shared": 1.1}, "between 0 and 1"),
    ],
)
def test_the_climb_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        plot_climb(**settings)


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
    monkeypatch.setattr(td3_smoothing, "toy_critic", lambda a, *_: np.full(np.shape(a), 3.0))
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
        ({}, "leaves 17 % of the peak and 82 % of the hill: the highest point moves to a = −"),
        (
            {"target_noise": 0.0},
            "No smoothing: the highest point, at a = +0.50, is the false peak's",
        ),
        ({"noise_clip": 0.0, "peak": 0.3}, "none needed"),
        ({"target_noise": 0.04, "peak": 1.5, "width": 0.1}, "Too little: smoothing leaves 87 %"),
        ({"target_noise": 0.4}, "Too much: smoothing leaves 13 %"),
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
        importlib.import_module(f"{room.__name__}.{module.name}")
        for room in (helpers.agents, helpers.memory)
        for module in pkgutil.iter_modules(room.__path__)
    ]
    assert [number for number, *_ in BADGES][: len(STEPS)] == list(range(1, 16))
    for number, step in enumerate(STEPS, 1):
        assert any(number in thing.steps for thing in (*BOXES, *ARROWS)), number
        name, _, method = step.code.partition(".")
        [found] = {getattr(module, name) for module in modules if hasattr(module, name)}
        assert not method or callable(getattr(found, method))
        assert step.sentence.endswith(".")


def test_arrows_begin_and_end_at_boxes_or_where_noise_is_added():
    places = [(x, y, 0.14, 0.14) for (x, y), *_ in JOINTS]
    places += [(box.x, box.y, box.width / 2, box.height / 2) for box in BOXES]
    for arrow in ARROWS:
        for x, y in (arrow.points[0], arrow.points[-1]):
            near = [max(abs(x - u) - half, abs(y - v) - tall) for u, v, half, tall in places]
            assert min(map(abs, near)) < 0.02, arrow


def test_the_current_step_stands_out_and_later_ones_are_faint():
    assert [state_of((4, 15), step) for step in (3, 4, 9, 15, None)] == [
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
        faint = {str(n) for n in range(1, 16) if inks[str(n)] == tint(GREY, 0.4)}
        assert faint == {str(n) for n in range(step + 1, 16)}
        assert sentence(fig) == f"{step} of 15. {STEPS[step - 1].sentence}"
        assert STEPS[step - 1].code in inks
    everything = plot_data_flow(None)
    numbers = [t for t in everything.texts if t.get_text().isdigit()]
    assert {t.get_text() for t in numbers} == {str(n) for n in range(1, 16)}
    assert len({t.get_color() for t in numbers}) == 1
    assert "1 and 2 are one step in the environment" in sentence(everything)


def test_the_data_flow_refuses():
    for step in (0, 16):
        with pytest.raises(ValueError, match="between 1 and 15"):
            plot_data_flow(step)
