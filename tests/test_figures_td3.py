"""The figures of lesson 03: the numbers behind them, and what their headlines say."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

from helpers.algorithms import td3
from helpers.show.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from helpers.show.figures.drawing import tint
from helpers.show.figures.td3_bias import (
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
    climb,
    error,
    plot_climb,
    true_q,
    two_errors,
)
from helpers.show.figures.td3_data_flow import plot_data_flow
from helpers.show.figures.td3_smoothing import plot_smoothing, smoothed, toy_critic
from helpers.show.figures.td3_steps import ARROWS, BADGES, BOXES, STEPS
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


# --- The whole of TD3 -------------------------------------------------------------------------


def test_every_step_has_a_number_something_that_moves_and_code_that_exists():
    assert [number for number, *_ in BADGES] == list(range(1, 16))
    for number, step in enumerate(STEPS, 1):
        assert any(number in thing.steps for thing in (*BOXES, *ARROWS)), number
        assert callable(attrgetter(step.code)(td3)), number
        assert step.sentence.endswith((".", ","))


@pytest.mark.parametrize("step", [1, 9, 15])
def test_the_current_step_stands_out_and_later_ones_are_faint(step):
    fig = plot_data_flow(step)
    inks = {t.get_text(): t.get_color() for t in fig.axes[0].texts}
    assert inks[str(step)] == "white"
    faint = {str(n) for n in range(1, 16) if inks[str(n)] == tint(GREY, 0.4)}
    assert faint == {str(n) for n in range(step + 1, 16)}
    assert sentence(fig) == f"{step} of 15. {STEPS[step - 1].sentence}"
    assert STEPS[step - 1].code in inks
