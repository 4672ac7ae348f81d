"""The figures of lesson 04: the numbers behind them, and what their headlines say."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from helpers.demos.files import load_demos
from helpers.memory.buffers import importance_weights, sampling_probabilities
from helpers.memory.segment_tree import SumTree
from helpers.show.figures.ddpgfd_n_step import STATES, n_step_sweep, plot_n_step
from helpers.show.figures.ddpgfd_priorities import EPS, TD_ERRORS, plot_priorities
from helpers.show.figures.ddpgfd_sum_tree import (
    ASIDE,
    CHANGED,
    LEFT,
    PRIORITIES,
    RIGHT,
    plot_tree_walk,
    walk,
)
from helpers.show.figures.ddpgfd_swings import plot_swings
from tests.figures import heights, sentence

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
        values = rng.exponential(size=capacity) * (rng.random(capacity) < 0.8)
        tree.set(np.arange(capacity), values)
        tree.set(rng.integers(capacity, size=1), np.ones(1))
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


def test_nodes_bars_and_number_line_have_the_numbers_of_the_tree():
    priorities = [*PRIORITIES[:CHANGED], 8.0, *PRIORITIES[CHANGED + 1 :]]
    tree = SumTree(len(priorities), top=1)
    tree.set(np.arange(len(priorities)), np.array(priorities))
    ax = plot_tree_walk(7.25, priority=8.0).axes[0]
    edges, frames, _, areas = ax.collections
    written = {t.get_position(): t.get_text() for t in ax.texts}
    middles = [path.get_extents().get_points().mean(axis=0) for path in frames.get_paths()]
    assert len(middles) == 2 * tree.first_leaf - 1
    assert len(edges.get_segments()) == len(middles) - 1
    for value, (x, y) in zip(tree.nodes[1:], middles, strict=True):
        [text] = [t for (a, b), t in written.items() if np.hypot(a - x, b - y) < 1e-6]
        assert text == f"{value:.4g}"
    cells = [path.get_extents() for path in areas.get_paths()][len(priorities) :]
    scale = (RIGHT - LEFT) / tree.total
    np.testing.assert_allclose([c.width for c in cells], scale * np.array(priorities), atol=1e-9)
    assert (cells[0].x0, cells[-1].x1) == pytest.approx((LEFT, RIGHT))
    [mark] = [line for line in ax.lines if line.get_marker() == "^"]
    [place] = tree.retrieve([7.25])
    assert cells[place].x0 < mark.get_xdata()[0] < cells[place].x1


@pytest.mark.parametrize(("alpha", "beta"), [(0.6, 0.4), (0, 0.5), (1, 1), (0.3, 1), (1, 0)])
def test_the_bars_are_what_the_buffer_computes(alpha, beta):
    axes = plot_priorities(alpha, beta).axes
    p = sampling_probabilities(np.array(TD_ERRORS) + EPS, alpha)
    weights = importance_weights(p, p.min(), len(TD_ERRORS), beta)
    np.testing.assert_allclose(bars_of(axes[0]), 100 * p)
    np.testing.assert_allclose(bars_of(axes[1]), weights)
    np.testing.assert_allclose(bars_of(axes[2]), 100 * p * weights / (p * weights).sum())
    assert all((bars_of(ax) <= ax.get_ylim()[1]).all() for ax in axes)
    ticks = axes[2].get_xticklabels()
    names = {text.get_position()[0]: text.get_text() for text in ticks}
    assert names == {i: f"{TD_ERRORS[i]:g}" for i in names}
    assert {0, 19} < names.keys()


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


# --- Swings ---------------------------------------------------------------------------------------


def test_every_episode_is_a_line_of_heights():
    demos = {name: load_demos(f"data/demos/{name}.npz") for name in ("clumsy_pendulum", "pendulum")}
    fig = plot_swings(demos)
    for ax, each in zip(fig.axes, demos.values(), strict=True):
        lines = ax.collections[-1].get_segments()
        assert len(lines) == len(each.episodes)
        for line, episode in zip(lines, each.episodes, strict=True):
            np.testing.assert_array_equal(line[:, 1], each.next_obs[episode, 0])
    assert "34 (clumsy_pendulum), -144 (pendulum)" in sentence(fig)
