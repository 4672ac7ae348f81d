"""The figures of lesson 04: the numbers behind them, and what their headlines say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from helpers.demos.files import load_demos
from helpers.memory.buffers import importance_weights, sampling_probabilities
from helpers.memory.segment_tree import SumTree
from helpers.show.figures.ddpgfd_n_step import STATES, n_step_sweep, plot_n_step
from helpers.show.figures.ddpgfd_priorities import EPS, TD_ERRORS, plot_priorities
from helpers.show.figures.ddpgfd_sum_tree import (
    ASIDE,
    BARS,
    LEFT,
    PRIORITIES,
    RIGHT,
    TALL,
    plot_tree_walk,
    walk,
)
from helpers.show.figures.ddpgfd_swings import plot_swings
from helpers.show.figures.drawing import tint
from helpers.show.plotting import BLUE, FAINT, GREEN, ORANGE, VERMILLION
from tests.figures import colours_of, heights, sentence

SIX = (1.0, 2.0, 3.0, 0.0, 5.0, 0.5)


SIXTEEN = tuple(0.5 * (1 + i % 7) for i in range(16))


# --- A draw down the sum tree -----------------------------------------------------------------


def bars_of(ax) -> np.ndarray:
    """The heights of a panel's bars."""
    return heights(ax.collections[0])


def random_trees(count: int):
    """Trees of all sizes, some of their priorities 0, and a few draws from each."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        capacity = int(rng.integers(1, 17))
        tree = SumTree(capacity, top=1)
        tree[np.arange(capacity)] = rng.exponential(size=capacity) * (rng.random(capacity) < 0.8)
        tree[rng.integers(capacity)] = 1.0
        draws = tree.total * rng.random(20)
        edges = np.minimum(np.cumsum(tree.leaves), tree.total)
        yield tree, [*draws.tolist(), *edges.tolist(), 0.0, tree.total, 2 * tree.total]


def test_the_walk_ends_where_the_tree_retrieves():
    for tree, draws in random_trees(60):
        for prefix_sum in draws:
            nodes, rests = walk(tree, prefix_sum)
            assert [nodes[-1] - tree.first_leaf] == tree.retrieve([prefix_sum])
            assert nodes[0] == 1
            assert len(nodes) == len(rests) == tree.depth + 1
            for (node, rest), child in zip(zip(nodes, rests, strict=True), nodes[1:], strict=False):
                assert child // 2 == node
                left, right = tree.nodes[2 * node : 2 * node + 2]
                assert bool(child % 2) == (rest >= left and right > 0)


def test_what_is_left_is_the_draw_without_all_that_lies_before():
    """Exact numbers: here nothing is rounded."""
    tree = SumTree(len(PRIORITIES), top=1)
    tree[np.arange(8)] = PRIORITIES
    for prefix_sum in np.arange(0, 24, 0.25):
        nodes, rests = walk(tree, prefix_sum)
        for level, (node, rest) in enumerate(zip(nodes, rests, strict=True)):
            first = (node << (tree.depth - level)) - tree.first_leaf
            assert rest == prefix_sum - sum(PRIORITIES[:first])
            assert 0 <= rest < tree.nodes[node]


def said(fig) -> list[str]:
    """The column of questions and answers, from above to below."""
    found = [text for text in fig.axes[0].texts if text.get_position()[0] == ASIDE]
    return [t.get_text() for t in sorted(found, key=lambda t: -t.get_position()[1])]


def test_the_picture_of_a_draw_is_the_tree_that_was_drawn_from():
    fig = plot_tree_walk()
    assert said(fig)[1:] == [
        "13.25 ≥ 11? yes", "right: 13.25 − 11 = 2.25", "2.25 ≥ 6? no", "left: 2.25 stays",
        "2.25 ≥ 2? yes", "right: 2.25 − 2 = 0.25", "place 5", "its chance:", "4 / 24 = 16.7 %",
    ]  # fmt: skip
    assert sentence(fig) == "13.25 lies between 13 and 17: place 5, found by 3 questions."


@pytest.mark.parametrize("priorities", [PRIORITIES, SIX, SIXTEEN])
def test_nodes_bars_and_number_line_have_the_numbers_of_the_tree(priorities):
    tree = SumTree(len(priorities), top=1)
    tree[np.arange(len(priorities))] = priorities
    ax = plot_tree_walk(priorities, 7.25).axes[0]
    edges, frames, ribbons, areas = ax.collections
    written = {t.get_position(): t.get_text() for t in ax.texts}
    middles = [path.get_extents().get_points().mean(axis=0) for path in frames.get_paths()]
    assert len(middles) == 2 * tree.first_leaf - 1
    assert len(edges.get_segments()) == len(middles) - 1
    for value, (x, y) in zip(tree.nodes[1:], middles, strict=True):
        [text] = [t for (a, b), t in written.items() if np.hypot(a - x, b - y) < 1e-6]
        assert text == f"{value:.4g}"
    boxes = [path.get_extents() for path in areas.get_paths()]
    bars, cells = boxes[: len(priorities)], boxes[len(priorities) :]
    heights = TALL * np.array(priorities) / max(priorities)
    np.testing.assert_allclose([bar.height for bar in bars], heights, atol=1e-9)
    scale = (RIGHT - LEFT) / tree.total
    np.testing.assert_allclose([c.width for c in cells], scale * np.array(priorities), atol=1e-9)
    assert (cells[0].x0, cells[-1].x1) == pytest.approx((LEFT, RIGHT))
    assert {bar.y0 for bar in bars} == {BARS}
    assert len(ribbons.get_paths()) == len(priorities)
    [mark] = [line for line in ax.lines if line.get_marker() == "^"]
    assert mark.get_xdata()[0] == pytest.approx(LEFT + scale * 7.25)
    [place] = tree.retrieve([7.25])
    assert cells[place].x0 < mark.get_xdata()[0] < cells[place].x1


def test_each_step_narrows_down_what_is_possible():
    """The strip of what is left begins where the present node's interval does."""
    tree = SumTree(8, top=1)
    tree[np.arange(8)] = PRIORITIES
    nodes, rests = walk(tree, 13.25)
    for step, places in enumerate((range(8), range(4, 8), range(4, 6), range(5, 6))):
        fig = plot_tree_walk(step=step)
        ax = fig.axes[0]
        *_, areas = ax.collections
        fills = [to_hex(colour) for colour in areas.get_facecolors()[:8]]
        blue = to_hex(tint(BLUE, 0.8))
        assert [i for i, fill in enumerate(fills) if fill == blue] == list(places)
        strip = next(line for line in ax.lines if line.get_color() == VERMILLION)
        assert np.ptp(strip.get_xdata()) == pytest.approx((RIGHT - LEFT) * rests[step] / 24)
        lines = ax.collections[0]
        way = [i + 2 for i, colour in enumerate(colours_of(lines)) if colour == BLUE]
        assert way == nodes[1 : step + 1]
        frames = ax.collections[1]
        edges = [to_hex(colour).upper() for colour in frames.get_edgecolors()]
        passed = [i + 1 for i, colour in enumerate(edges) if colour == ORANGE]
        assert passed == [node - 1 for node in nodes[1 : step + 1] if node % 2]
        questions = [text for text in said(fig)[1:] if "?" in text]
        assert len(questions) == min(step + 1, 3)
        assert [q.endswith("?") for q in questions] == [i == step for i in range(len(questions))]


@pytest.mark.parametrize(
    ("settings", "start"),
    [
        ({"step": 0}, "13.25 of 24 was drawn. At which place? 3 questions will tell."),
        ({"step": 1}, "Question 1 of 3: right, the left child's sum is subtracted; 2.25 is left"),
        ({"step": 2}, "Question 2 of 3: left, nothing changes; 2.25 is left to find below node 6."),
        ({"prefix_sum": 24}, "24 counts as a hair below the total, 24: place 7, the last that can"),
        ({"prefix_sum": 30}, "30 counts as a hair below the total, 24: place 7, the last"),
        ({"priorities": (2, 0), "prefix_sum": 2}, "2 counts as a hair below the total, 2: place 0"),
        ({"priorities": (2, 1), "prefix_sum": 2}, "2 lies between 2 and 3: place 1, found by 1 qu"),
        (
            {"prefix_sum": 30, "step": 0},
            "30 counts as a hair below the total, 24. 3 questions will",
        ),
        (
            {"prefix_sum": 24, "step": 1},
            "Question 1 of 3: right, the left child's sum is subtracted; 13⁻ is left to find below",
        ),
    ],
)
def test_the_draw_in_a_sentence(settings, start):
    assert sentence(plot_tree_walk(**settings)).startswith(start)


def test_a_number_that_rounding_makes_look_like_another_is_marked():
    """0.1 + 0.2 is a little more than 0.3; the total counts as a little less."""
    assert "0.3⁻ ≥ 0.3? no" in said(plot_tree_walk((0.1, 0.2, 0.3), 0.3))
    assert said(plot_tree_walk((3, 1, 2, 0), 6))[-5:-3] == ["2⁻ ≥ 2? no", "left: 2 stays"]
    assert "3 ≥ 3? yes" in said(plot_tree_walk((3, 1), 3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"priorities": ()}, "1 to 16 priorities, not 0"),
        ({"priorities": [1.0] * 17}, "1 to 16 priorities, not 17"),
        ({"priorities": [0.0, 0.0]}, "empty"),
        ({"priorities": [1.0, -1.0]}, "from 0 up"),
        ({"prefix_sum": -1}, "from 0 up"),
        ({"step": 4}, "between 0 and 3"),
        ({"step": -1}, "between 0 and 3"),
    ],
)
def test_the_draw_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        plot_tree_walk(**settings)


@pytest.mark.parametrize(("alpha", "beta"), [(0.6, 0.4), (0, 0.5), (1, 1), (0.3, 1), (1, 0)])
def test_the_bars_are_what_the_buffer_computes(alpha, beta):
    axes = plot_priorities(alpha, beta).axes
    p = sampling_probabilities(np.array(TD_ERRORS) + EPS, alpha)
    weights = importance_weights(p, p.min(), len(TD_ERRORS), beta)
    np.testing.assert_allclose(bars_of(axes[0]), 100 * p)
    np.testing.assert_allclose(bars_of(axes[1]), weights)
    np.testing.assert_allclose(bars_of(axes[2]), 100 * p * weights / (p * weights).sum())
    assert all((bars_of(ax) <= ax.get_ylim()[1]).all() for ax in axes)
    names = {text.get_position()[0]: text.get_text() for text in axes[2].texts[:-1]}
    assert names == {i: f"{TD_ERRORS[i]:g}" for i in names}
    assert {0, 19} < names.keys()


def test_what_students_should_see_of_alpha_and_beta():
    assert list(TD_ERRORS) == sorted(TD_ERRORS, reverse=True)
    for alpha in (0, 0.4, 1):
        np.testing.assert_allclose(bars_of(plot_priorities(alpha, 1.0).axes[2]), 5)
        drawn, weights, counts = map(bars_of, plot_priorities(alpha, 0.0).axes)
        np.testing.assert_allclose(counts, drawn)
        np.testing.assert_allclose(weights, 1)
    largest = [bars_of(plot_priorities(alpha, 0.5).axes[0])[0] for alpha in (0, 0.3, 0.6, 1)]
    assert largest == sorted(largest)
    # A square to the power 0.3 is the error to the power 0.6.
    squares = sampling_probabilities(np.array(TD_ERRORS) ** 2, 0.3)
    np.testing.assert_allclose(squares, sampling_probabilities(np.array(TD_ERRORS), 0.6))


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [
        (0.6, 0.4, "The largest error is drawn 16 times as often as the smallest, and counts 5.3"),
        (0, 0.4, "α = 0: all are drawn alike"),
        (
            0.05,
            0.95,
            "The largest error is drawn 1.3 times as often as the smallest, and counts 1.0",
        ),
        (1, 0, "β = 0, no correction: the largest error counts 100 times as much as the smallest."),
        (1, 1, "β = 1: the largest error is drawn 100 times as often; on average all count alike."),
    ],
)
def test_alpha_and_beta_in_a_sentence(alpha, beta, expected):
    assert sentence(plot_priorities(alpha, beta)).startswith(expected)


def test_priorities_refuse():
    for name in ("alpha", "beta"):
        for value in (-0.1, 1.1):
            with pytest.raises(ValueError, match=f"{name} must lie between 0 and 1"):
                plot_priorities(**{name: value})


# --- n-step returns on a chain ----------------------------------------------------------------


def values_of(fig) -> np.ndarray:
    return bars_of(fig.axes[0])


def by_hand(n: int, sweeps: int, gamma: float) -> list[float]:
    """The same values with loops, within one episode."""
    values = [0.0] * STATES
    for _ in range(sweeps):
        targets = []
        for state in range(STATES):
            stop = min(state + n, STATES)
            target = gamma ** (STATES - 1 - state) if stop == STATES else 0.0
            if stop < STATES:
                target += gamma**n * values[stop]
            targets.append(target)
        values = targets
    return values


@pytest.mark.parametrize("gamma", [0.5, 0.9, 1.0])
def test_values_are_those_of_a_loop(gamma):
    for n in (1, 2, 3, 5, 11, 12):
        values = np.zeros(STATES)
        for sweeps in range(13):
            np.testing.assert_allclose(values, by_hand(n, sweeps, gamma))
            values, _ = n_step_sweep(values, n, gamma)
    for n, sweeps in ((1, 4), (3, 0), (5, 2), (12, 12)):
        drawn = values_of(plot_n_step(n, sweeps, gamma))
        np.testing.assert_allclose(drawn, by_hand(n, sweeps, gamma))


def test_the_news_travels_n_states_a_sweep():
    for n, sweeps in itertools.product(range(1, 13), (1, 2, 3, 12)):
        values, truth = np.zeros(STATES), 0.9 ** np.arange(11, -1, -1)
        for _ in range(sweeps):
            values, _ = n_step_sweep(values, n, 0.9)
        reached = min(n * sweeps, STATES)
        np.testing.assert_allclose(values[STATES - reached :], truth[STATES - reached :])
        assert not values[: STATES - reached].any()


def test_windows_stop_at_the_end_of_the_episode():
    for n in range(1, 13):
        last = n_step_sweep(np.zeros(STATES), n, 0.9)[1]
        np.testing.assert_array_equal(last, np.minimum(np.arange(STATES) + n, STATES) - 1)
    for n in (1, 5, 12):
        fig = plot_n_step(n)
        windows = np.array(fig.axes[1].collections[0].get_segments())
        np.testing.assert_array_equal(windows[:, 0, 0], np.arange(STATES))
        np.testing.assert_array_equal(windows[:, 1, 0], np.minimum(np.arange(STATES) + n, STATES))
        marks = [c for c in fig.axes[1].collections if isinstance(c, PathCollection)]
        squares, rings = (mark.get_offsets() for mark in marks)
        assert (len(squares), len(rings)) == (n, STATES - n)
        assert set(squares[:, 0]) == {STATES}


def test_windows_that_run_on_make_values_too_large():
    """Not at once: at first the next episode's values are 0 as well."""
    truth = 0.9 ** np.arange(11, -1, -1)
    np.testing.assert_allclose(values_of(plot_n_step(5, 1, cut=False))[-5:], truth[-5:])
    values = values_of(plot_n_step(5, 12, cut=False))
    assert (values >= truth - 1e-12).all()
    assert values[11] > 1.1
    # With a single step there is nothing to run on; nor with an end at the window's own.
    np.testing.assert_array_equal(
        values_of(plot_n_step(1, 9, cut=False)), values_of(plot_n_step(1, 9))
    )
    assert values_of(plot_n_step(5, 12, cut=False))[7] == pytest.approx(truth[7])
    windows = np.array(plot_n_step(5, 2, cut=False).axes[1].collections[0].get_segments())
    np.testing.assert_array_equal(windows[-6:, 1, 0], [11, 12, 14, 15, 16, 17])


def test_colours_tell_what_is_new_what_is_older_and_what_is_wrong():
    upper, lower = plot_n_step(3, 2).axes
    expected = [FAINT] * 6 + [GREEN] * 3 + [BLUE] * 3
    assert colours_of(upper.collections[0]) == expected
    assert colours_of(lower.collections[0]) == expected
    upper, lower = plot_n_step(5, 4, cut=False).axes
    values, truth = bars_of(upper), 0.9 ** np.arange(11, -1, -1)
    wrong = [colour == VERMILLION for colour in colours_of(upper.collections[0])]
    assert wrong == (values > truth + 1e-9).tolist()
    assert colours_of(lower.collections[0])[-4:] == [VERMILLION] * 4


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "After 2 sweeps of 3-step targets 6 of 12 values know of the reward; 1-step targets "
             "reach 2."),
        ({"sweeps": 0}, "No sweep yet"),
        ({"n": 1, "sweeps": 1}, "After 1 sweep of 1-step targets 1 of 12 values knows"),
        ({"n": 1}, "After 2 sweeps of 1-step targets 2 of 12 values know of the reward."),
        ({"n": 1, "sweeps": 12}, "After 12 sweeps of 1-step targets all values are right."),
        ({"n": 12, "sweeps": 1}, "After 1 sweep of 12-step targets all values are right"),
        ({"sweeps": 1, "cut": False}, "Windows run into another episode. After 1 sweep no value "
                                      "shows it yet."),
        ({"n": 5, "sweeps": 4, "cut": False}, "Windows run into another episode. After 4 sweeps "
                                              "state 11 is said to be worth 1.28, not 1.00."),
    ],
)  # fmt: skip
def test_the_news_in_a_sentence(settings, expected):
    assert sentence(plot_n_step(**settings)).startswith(expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must lie between 1 and 12"),
        ({"n": 13}, "n must lie between 1 and 12"),
        ({"sweeps": -1}, "sweeps must lie between 0 and 12"),
        ({"gamma": 0}, "gamma must be above 0"),
        ({"gamma": 1.1}, "at most 1"),
    ],
)
def test_the_chain_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        plot_n_step(**settings)


# --- Swings ---------------------------------------------------------------------------------------


def test_every_episode_is_a_line_of_heights():
    demos = {name: load_demos(f"data/demos/{name}.npz") for name in ("clumsy_pendulum", "pendulum")}
    fig = plot_swings(demos, mark=100)
    for ax, each in zip(fig.axes, demos.values(), strict=True):
        lines = ax.collections[-1].get_segments()
        assert len(lines) == len(each.episodes)
        for line, episode in zip(lines, each.episodes, strict=True):
            np.testing.assert_array_equal(line[:, 1], each.next_obs[episode, 0])
        assert ax.lines[0].get_xdata() == [100, 100]
    assert "34 (clumsy_pendulum), -144 (pendulum)" in sentence(fig)


def test_the_note_names_the_largest_errors_weight():
    assert "the largest error's 0.33, on average 0.48" in [
        text.get_text() for text in plot_priorities(0.6, 0.4).axes[1].texts
    ]
