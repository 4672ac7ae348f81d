"""The figures of lesson 04: a draw down the sum tree, priorities, n-step returns, a draw's cost.

As in `explore.py`, each explorer is a plain function `plot_...(...) -> Figure` with sliders in
front. `plot_swings` and `plot_cost` draw what was recorded or measured and have no sliders.
Learning curves of several agents in one panel are `helpers.show.figures.td3.plot_comparison`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import ArrayLike, NDArray

from helpers.demos.files import Demos
from helpers.envs.sparse_pendulum import UPRIGHT
from helpers.memory.buffers import importance_weights, n_step_return, sampling_probabilities
from helpers.memory.segment_tree import SumTree
from helpers.show.figures.ddpg import DASHES, FAINT, headline, note
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.figures.td3 import tint
from helpers.show.plotting import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    GRID,
    INK,
    ORANGE,
    VERMILLION,
    WIDTH,
    label,
    legend_above,
    margins,
    new_figure,
)

__all__ = [
    "n_step_explorer", "plot_cost", "plot_n_step", "plot_priorities", "plot_swings",
    "plot_tree_walk", "priority_explorer", "tree_walk_explorer",
]  # fmt: skip

DARK_ORANGE, DARK_GREEN = "#8F6200", "#00704F"  # for text: the palette's own are too light

# --- A draw down the sum tree -----------------------------------------------------------------

# Halves and quarters are exact in binary: no sum of these is rounded, on the page or in the tree.
PRIORITIES = (3.5, 1.0, 6.0, 0.5, 2.0, 4.0, 1.5, 5.5)
CHANGED = 2  # the place whose priority has a slider
MOST = 16  # places: no more fit into the picture
HIGH = 4.95  # inches; all places below are inches too, from the lower left corner
LEFT, RIGHT, ASIDE = 0.3, 5.3, 5.62  # the tree and the number line; the questions beside them
ROOT, LEAVES = 4.15, 2.45  # the uppermost and the lowest level of the tree
BARS, TALL = 1.36, 0.7  # where the bars of the priorities stand, and how high the tallest is
LINE = (0.45, 0.67)  # the number line, from below to above


def plot_tree_walk(
    priorities: Sequence[float] = PRIORITIES, prefix_sum: float = 13.25, step: int | None = None
) -> Figure:
    """One draw from a `SumTree`: from the root down to a place, with one question on each level.

    A node holds the sum of the priorities below it. The small number above it (up to 8
    places) is where it stands in the tree's array: the children of node k are 2k and 2k + 1. Bars
    are the priorities. Laid end to end they make the number line at the bottom, and the number
    drawn falls into the interval of one place, which is to be found. Blue is the way so far and
    what is still possible, orange a left child that was passed by, vermillion what is left to find.

    All numbers are the tree's, and its `retrieve` decides where to go. It is built with `top=1`,
    down to the root, as in the textbooks. Dashed leaves have no place: they fill up the lowest
    level. A raised minus or plus behind a number means: a hair below, or above.

    Args:
        priorities: of the places 0, 1, ...; 1 to 16 of them, none negative, not all 0.
        prefix_sum: the number drawn, from 0 to the sum of all priorities. That sum or more counts
            as just below it, as in `SumTree.retrieve`.
        step: how many questions have been answered; None answers all.
    """
    if not 1 <= len(priorities) <= MOST:
        raise ValueError(f"The picture has room for 1 to {MOST} priorities, not {len(priorities)}.")
    tree = SumTree(len(priorities), top=1)
    tree[np.arange(len(priorities))] = priorities
    step = tree.depth if step is None else step
    if not 0 <= step <= tree.depth:
        raise ValueError(f"step must lie between 0 and {tree.depth}, or be None, not {step}.")
    draw = Draw(tree, prefix_sum, *walk(tree, prefix_sum), step)
    fig, ax = new_figure(height=HIGH, layout=None)
    ax.set_position([0, 0, 1, 1])
    ax.set_axis_off()
    ax.set(xlim=(0, WIDTH), ylim=(0, HIGH))
    _draw_edges(ax, draw)
    _draw_nodes(ax, draw)
    _draw_places(ax, draw)
    _draw_number_line(ax, draw)
    _draw_questions(ax, draw)
    headline(fig, _walk_sentence(draw))
    return fig


def walk(tree: SumTree, prefix_sum: float) -> tuple[list[int], list[float]]:
    """The nodes from the root to the place that is drawn, and what is left to find at each.

    The place is what `tree.retrieve` says, and the parent of node k is k // 2.
    """
    [place], (_, [rest]) = tree.retrieve([prefix_sum]), tree.enter([prefix_sum])
    leaf, rests = tree.first_leaf + int(place), [float(rest)]
    nodes = [leaf >> level for level in range(tree.depth, -1, -1)]
    for child in nodes[1:]:
        passed = float(tree.nodes[child - 1]) if child % 2 else 0.0
        rests.append(rests[-1] - passed)
    return nodes, rests


@dataclass(frozen=True)
class Draw:
    """A walk down the tree, as far as `step` questions lead."""

    tree: SumTree
    prefix_sum: float
    nodes: Sequence[int]  # of the whole way
    rests: Sequence[float]  # what is left to find at each of them
    step: int

    @property
    def now(self) -> int:
        return self.nodes[self.step]

    @property
    def way(self) -> Sequence[int]:
        return self.nodes[: self.step + 1]

    @property
    def passed(self) -> set[int]:
        """The left children whose sums were subtracted."""
        return {child - 1 for child in self.way[1:] if child % 2}

    @property
    def drawn(self) -> float:
        return min(self.prefix_sum, self.tree.total)

    @property
    def spacing(self) -> float:
        return (RIGHT - LEFT) / self.tree.first_leaf

    def possible(self, node: int) -> bool:
        """Whether a node is the present one or lies below it."""
        below = node.bit_length() - self.now.bit_length()
        return below >= 0 and node >> below == self.now

    def places(self) -> range:
        """The places below the present node."""
        levels = self.tree.depth - self.step
        first = (self.now << levels) - self.tree.first_leaf
        return range(first, min(first + 2**levels, self.tree.capacity))

    def at(self, node: int) -> tuple[float, float]:
        """Where a node is drawn: above the middle of the leaves below it."""
        level = node.bit_length() - 1
        x = LEFT + (RIGHT - LEFT) * (node - 2**level + 0.5) / 2**level
        return x, ROOT - (ROOT - LEAVES) * level / max(self.tree.depth, 1)

    def on_line(self, value: ArrayLike) -> NDArray[np.float64]:
        """Where on the number line that value is."""
        return LEFT + (RIGHT - LEFT) * np.asarray(value) / self.tree.total


def _draw_edges(ax: Axes, draw: Draw) -> None:
    nodes = range(2, 2 * draw.tree.first_leaf)
    lines = [(draw.at(node // 2), draw.at(node)) for node in nodes]
    colours = [BLUE if node in draw.way else tint(GREY, 0.4) for node in nodes]
    widths = [2.8 if node in draw.way else 1.1 for node in nodes]
    ax.add_collection(LineCollection(lines, colors=colours, lw=widths, zorder=1))


def _draw_nodes(ax: Axes, draw: Draw) -> None:
    tree, roomy = draw.tree, draw.spacing > 0.5
    wide = min(0.5, 0.9 * draw.spacing)
    frames, fills, edges, widths, dashes = [], [], [], [], []
    for node in range(1, 2 * tree.first_leaf):
        x, y = draw.at(node)
        marked = BLUE if node in draw.way else ORANGE if node in draw.passed else None
        frames.append(_frame(x, y, wide))
        fills.append(tint(marked, 0.35 if node == draw.now else 0.13) if marked else "white")
        edges.append(marked or tint(GREY, 0.8 if draw.possible(node) else 0.4))
        widths.append(2.4 if node == draw.now else 1.3)
        dashes.append((0, (2.5, 2)) if node >= tree.first_leaf + tree.capacity else "-")
        ink = INK if marked or draw.possible(node) else GREY
        _say(ax, x, y, _number(tree.nodes[node]), 9 if roomy else 7, ink)
        if roomy:
            outwards = 1 if node % 2 and node > 1 else -1  # where no edge arrives
            _say(ax, x + outwards * (wide / 2 - 0.08), y + 0.2, str(node), 7, GREY)
    look = {"facecolors": fills, "edgecolors": edges, "lw": widths, "ls": dashes}
    ax.add_collection(PathCollection(frames, zorder=2, **look))


@lru_cache(maxsize=128)
def _frame(x: float, y: float, wide: float) -> Path:
    """A box with round corners around its middle."""
    corner = x - wide / 2, y - 0.14
    return BoxStyle.Round(pad=0, rounding_size=0.07)(*corner, wide, 0.28, 1)


def _say(
    ax: Axes, x: float, y: float, text: str, size: float, colour: str = INK, ha: str = "center"
) -> None:
    ax.text(x, y, text, fontsize=size, color=colour, ha=ha, va="center")


def _number(value: float) -> str:
    return f"{value:.4g}"


def _draw_places(ax: Axes, draw: Draw) -> None:
    """A bar for each priority; from it a ribbon leads to its interval on the number line."""
    leaves, half = draw.tree.leaves, 0.3 * draw.spacing
    tops = BARS + TALL * leaves / leaves.max()
    edges = draw.on_line(np.r_[0, np.cumsum(leaves)])
    bars, ribbons, colours, tints = [], [], [], []
    for i, (top, (start, stop)) in enumerate(zip(tops, pairwise(edges), strict=True)):
        x, inside = draw.at(draw.tree.first_leaf + i)[0], i in draw.places()
        low, high, foot = x - half, x + half, BARS - 0.24
        bars.append([(low, BARS), (low, top), (high, top), (high, BARS)])
        ribbons.append([(low, foot), (high, foot), (stop, LINE[1]), (start, LINE[1])])
        colours.append(tint(BLUE, 0.8) if inside else tint(GREY, 0.4))
        tints.append(tint(BLUE, 0.16) if inside else tint(GREY, 0.1))
        name = f"place {i}" if draw.spacing > 0.5 else str(i)
        _say(ax, x, BARS - 0.12, name, 8, INK if inside else GREY)
    cells = [[(a, LINE[0]), (a, LINE[1]), (b, LINE[1]), (b, LINE[0])] for a, b in pairwise(edges)]
    ax.add_collection(PolyCollection(ribbons, facecolors=tints, edgecolors="white", lw=0.8))
    look = {"edgecolors": "white", "lw": 1.2}
    ax.add_collection(PolyCollection(bars + cells, facecolors=colours * 2, **look))
    ax.plot([LEFT, RIGHT], [BARS, BARS], color=FAINT, lw=1)


def _draw_number_line(ax: Axes, draw: Draw) -> None:
    """What is drawn, and as a thick line what is left of it at the present node."""
    low, high = LINE
    start = draw.on_line(draw.tree.leaves[: draw.places().start].sum())
    x = float(draw.on_line(draw.drawn))
    ax.plot([start, x], [low - 0.02] * 2, color=VERMILLION, lw=3.5, solid_capstyle="butt")
    ax.plot([x, x], [low - 0.05, high + 0.08], color=VERMILLION, lw=1.8)
    ax.plot(x, low - 0.1, "^", ms=7, mew=0, color=VERMILLION)
    _say(ax, x, low - 0.27, _number(draw.prefix_sum), 9.5, VERMILLION)
    for value, end in ((0.0, LEFT), (draw.tree.total, RIGHT)):
        if abs(end - x) > 0.5:
            _say(ax, end, low - 0.27, _number(value), 8.5, GREY)


def _draw_questions(ax: Axes, draw: Draw) -> None:
    """Beside each level what is asked there, and the answer."""
    tree, depth = draw.tree, draw.tree.depth
    if depth:
        _say(ax, ASIDE, ROOT + 0.3, "Is what is left ≥ the left child?", 8.5, GREY, "left")
    for level, node in enumerate(draw.way[:depth]):
        y, rest, left = draw.at(node)[1], draw.rests[level], float(tree.nodes[2 * node])
        question = f"{_beside(rest, left)} ≥ {_number(left)}?"
        if level < draw.step:
            right = draw.nodes[level + 1] % 2
            question += " yes" if right else " no"
            subtracted = f"{_number(rest)} − {_number(left)} = {_number(rest - left)}"
            answer = f"right: {subtracted}" if right else f"left: {_number(rest)} stays"
            _say(ax, ASIDE, y - 0.13, answer, 9, DARK_ORANGE if right else BLUE, "left")
        _say(ax, ASIDE, y + 0.07, question, 10, INK, "left")
    if draw.step == depth:
        place, share = draw.places()[0], tree.nodes[draw.now] / tree.total
        _say(ax, ASIDE, draw.at(draw.now)[1], f"place {place}", 11, BLUE, "left")
        chance = f"{_number(tree.nodes[draw.now])} / {_number(tree.total)} = {100 * share:.3g} %"
        _say(ax, ASIDE, BARS - 0.12, "its chance:", 9, GREY, "left")
        _say(ax, ASIDE, BARS - 0.34, chance, 9.5, INK, "left")


def _beside(value: float, other: float) -> str:
    """The number, marked if only its rounding makes it look like the other."""
    text = _number(value)
    if text != _number(other) or value == other:
        return text
    return text + ("⁻" if value < other else "⁺")


def _walk_sentence(draw: Draw) -> str:
    tree, depth, drawn = draw.tree, draw.tree.depth, _number(draw.prefix_sum)
    questions = f"{depth} question{'s' * (depth != 1)}"
    if draw.step == depth:
        place = draw.places()[0]
        if draw.prefix_sum >= tree.total:
            counts = f"counts as a hair below the total, {_number(tree.total)}"
            return f"{drawn} {counts}: place {place}, the last that can be drawn."
        end = tree.leaves[: place + 1].sum()
        interval = f"{_number(end - tree.leaves[place])} and {_number(end)}"
        return f"{drawn} lies between {interval}: place {place}, found by {questions}."
    if draw.step == 0:
        return f"{drawn} of {_number(tree.total)} was drawn. At which place? {questions} will tell."
    did = "right, the left child's sum is subtracted" if draw.now % 2 else "left, nothing changes"
    rest = f"{_number(draw.rests[draw.step])} is left to find below node {draw.now}"
    return f"Question {draw.step} of {depth}: {did}; {rest}."


def tree_walk_explorer() -> None:
    """`plot_tree_walk` with sliders: the number drawn, the priority of one place, the level."""

    def draw(prefix_sum: float, priority: float, step: int) -> Figure:
        priorities = list(PRIORITIES)
        priorities[CHANGED] = priority
        return plot_tree_walk(priorities, prefix_sum, step)

    depth = SumTree(len(PRIORITIES), top=1).depth
    explore(
        draw,
        alt="A sum tree of eight priorities with the total 24 at its root. The draw 13.25 goes "
        "right, left and right, and ends at place 5, in whose interval it lies.",
        prefix_sum=Slider(0.0, 30.0, 13.25, 0.25, "the number drawn"),
        step=Slider(0, depth, depth, 1, "questions answered"),
        priority=Slider(0.0, 12.0, PRIORITIES[CHANGED], 0.5, f"priority of place {CHANGED}"),
    )


# --- Priorities -------------------------------------------------------------------------------

TD_ERRORS = (
    4.0, 2.6, 1.9, 1.5, 1.2, 0.98, 0.81, 0.68, 0.57, 0.48,
    0.4, 0.34, 0.28, 0.23, 0.19, 0.15, 0.12, 0.09, 0.06, 0.03,
)  # fmt: skip
EPS = 0.01


def plot_priorities(alpha: float = 0.6, beta: float = 0.4) -> Figure:
    """What alpha does to how often a step is drawn, and beta to what it then counts for.

    Twenty steps, a few with large TD errors and many with small ones; a step's priority is its
    |TD error| + 0.01 (Schaul et al. 2016: "proportional"). Upper panel: P, the probability of being
    drawn. Middle: w, the importance weight of a step that was drawn. Lower panel: P w, what a step
    counts for on average, as its share of all. At beta = 1 these shares are those of uniform
    sampling, whatever alpha is.

    Args:
        alpha, beta: from 0 to 1.
    """
    for name, value in {"alpha": alpha, "beta": beta}.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {value}.")
    p, weights = drawn_and_weighted(alpha, beta)
    shares = p * weights / (p @ weights)
    top = 105 * drawn_and_weighted(1.0, 0.0)[0].max()
    fig, axes = new_figure(nrows=3, height=4.7, layout=None)
    panels = (
        ("how often a step is drawn: P, in %", 100 * p, BLUE, top),
        ("what it counts for when it is drawn: the weight w", weights, ORANGE, 1.35),
        ("what it counts for on average: its share of all P w, in %", 100 * shares, GREEN, top),
    )
    for ax, bottom, panel in zip(axes, (3.28, 1.96, 0.64), panels, strict=True):
        ax.set_position([0.55 / WIDTH, bottom / 4.7, (WIDTH - 0.7) / WIDTH, 0.86 / 4.7])
        _draw_steps(ax, *panel)
    for ax in axes[::2]:
        ax.axhline(100 / len(p), color=INK, lw=1.1, ls=DASHES)
        ax.set_yticks([0, 10, 20])
    axes[1].set_yticks([0, 0.5, 1])
    named = (*range(0, len(p) - 2, 2), len(p) - 1)
    _name_columns(axes[2], {i: f"{TD_ERRORS[i]:g}" for i in named})
    label(axes[2], x="|TD error| of twenty steps in the memory")
    note(axes[0], 0.99, 0.86, _extremes(p), BLUE, ha="right")
    mean = f"the largest {weights[0]:.2g}, on average {p @ weights:.2g}"
    note(axes[1], 0.01, 0.9, mean, DARK_ORANGE)
    both = f"{_extremes(shares)}; dashed: uniform sampling, {_percent(1 / len(p))}"
    note(axes[2], 0.99, 0.86, both, DARK_GREEN, ha="right")
    headline(fig, _priority_sentence(alpha, beta, p, shares))
    return fig


def drawn_and_weighted(alpha: float, beta: float) -> tuple[NDArray, NDArray]:
    """Probabilities and importance weights of the twenty steps, each (20,)."""
    p = sampling_probabilities(np.array(TD_ERRORS) + EPS, alpha)
    return p, importance_weights(p, p.min(), len(p), beta)


def _draw_steps(ax: Axes, title: str, values: NDArray, colour: str, top: float) -> None:
    ax.vlines(range(len(values)), 0, values, color=colour, lw=18, alpha=0.85)
    ax.set(xlim=(-0.6, len(values) - 0.4), ylim=(0, top))
    ax.set_xticks([])
    label(ax, title, size=9.5)


def _name_columns(ax: Axes, names: Mapping[int, Any]) -> None:
    """Names below places on the x axis: texts take half the time of as many matplotlib ticks."""
    ax.xaxis.labelpad = 18
    below = -0.09 / (ax.get_position().height * ax.figure.get_figheight())  # inches
    for x, name in names.items():
        ax.text(
            x, below, str(name), transform=ax.get_xaxis_transform(), fontsize=8.5, color=GREY,
            ha="center", va="top",
        )  # fmt: skip


def _extremes(shares: NDArray) -> str:
    return f"the largest {_percent(shares[0])}, the smallest {_percent(shares[-1])}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _priority_sentence(alpha: float, beta: float, p: NDArray, shares: NDArray) -> str:
    """The largest error beside the smallest."""
    if alpha == 0:
        return "α = 0: all steps are drawn alike, and β has nothing to correct: every weight is 1."
    often, much = (_times(values[0] / values[-1]) for values in (p, shares))
    if beta == 0:
        return f"β = 0, no correction: the largest error counts {much} as much as the smallest."
    if beta == 1:
        return f"β = 1: the largest error is drawn {often} as often; on average all count alike."
    return (
        f"The largest error is drawn {often} as often as the smallest, and counts {much} as much."
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 9.5 else f"{ratio:.2g} times"


def priority_explorer() -> None:
    """`plot_priorities` with sliders for alpha and beta."""
    explore(
        plot_priorities,
        alt="Twenty steps by the size of their TD error: those with large errors are drawn more "
        "often and count less each time; at beta 0.4 they still count more on average.",
        alpha=Slider(0.0, 1.0, 0.6, 0.05, "α (by priority)"),
        beta=Slider(0.0, 1.0, 0.4, 0.05, "β (correction)"),
    )


# --- n-step returns on a chain ----------------------------------------------------------------

STATES = 12
REWARDS = np.tile(np.eye(STATES)[-1], 2)  # two episodes in a row, as a memory holds them
ENDS = REWARDS == 1
AHEAD = 3  # states of the next episode that are drawn


def plot_n_step(n: int = 3, sweeps: int = 2, gamma: float = 0.9, cut: bool = True) -> Figure:
    """How far the news of one reward has travelled along a chain of twelve states.

    The agent walks from state 0 to state 11 and on to the end, where it earns its only reward, 1.
    All values are 0 at first. A sweep sets each of them to its n-step target, computed from the
    values before the sweep: the rewards of up to n steps, and gamma^n times the value of the state
    after them, at the ring. Above: the values. Below: the window of each state's target; a square
    is the end of the episode, with nothing to come. Green is what the last sweep has changed.

    Args:
        n: how many steps a target looks ahead, 1 to 12.
        sweeps: how many there have been, 0 to 12.
        gamma: the discount, above 0, at most 1.
        cut: whether windows stop at the end of the episode. If not they run into the next one that
            the memory holds (vermillion), and values become too large: a common mistake.
    """
    for name, value, low in (("n", n, 1), ("sweeps", sweeps, 0)):
        if not low <= value <= STATES:
            raise ValueError(f"{name} must lie between {low} and {STATES}, not {value}.")
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma must be above 0 and at most 1, not {gamma}.")
    truth = gamma ** np.arange(STATES - 1, -1, -1)
    before = values = np.zeros(STATES)
    last = n_step_sweep(values, n, gamma, cut)[1]
    for _ in range(sweeps):
        before, values = values, n_step_sweep(values, n, gamma, cut)[0]
    wrong = values > truth + 1e-9
    colours = np.select([wrong, values != before, values > 0], [VERMILLION, GREEN, BLUE], FAINT)
    fig, (upper, lower) = new_figure(nrows=2, height=4.5, layout=None)
    for ax, bottom, height in ((upper, 2.65, 1.3), (lower, 0.5, 1.85)):
        ax.set_position([0.62 / WIDTH, bottom / 4.5, (WIDTH - 0.72) / WIDTH, height / 4.5])
        ax.set_xlim(-0.6, STATES + AHEAD + 0.6)
        ax.set_xticks([])
        ax.axvspan(STATES - 1, STATES, color=tint(ORANGE, 0.2), lw=0, zorder=0)
        ax.axvspan(STATES + 0.5, 99, color="#F1F2F4", lw=0, zorder=0.1)
    _draw_values(upper, values, truth, colours)
    _draw_windows(lower, last, np.where(last >= STATES, VERMILLION, colours))
    headline(fig, _news(n, sweeps, values, truth, bool((last >= STATES).any())))
    return fig


def n_step_sweep(
    values: NDArray, n: int, gamma: float, cut: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The n-step target of each state (12,) from the values (12,), and the last step that it saw.

    Steps are counted along the memory: step i of the first episode leaves state i, and from 12 on
    they belong to the next episode.
    """
    states = np.arange(STATES)
    window = states[:, None] + np.arange(n)
    returns, lengths = n_step_return(REWARDS[window], ENDS[window] & cut, gamma)
    last = states + lengths - 1
    rest = np.where(ENDS[last], 0.0, values[(last + 1) % STATES])
    return returns + gamma**lengths * rest, last


def _draw_values(ax: Axes, values: NDArray, truth: NDArray, colours: NDArray) -> None:
    states = np.arange(STATES)
    ax.vlines(states, 0, values, color=colours, lw=22)
    marks = ax.hlines(truth, states - 0.38, states + 0.38, color=INK, lw=1.6, label="true value")
    kinds = {"new": GREEN, "older": BLUE, "too large": VERMILLION}
    handles = [Line2D([], [], color=c, lw=6, label=name) for name, c in kinds.items()]
    legend_above(ax, [marks, *handles])
    ax.set(ylim=(0, 1.5))
    ax.set_yticks([0, 0.5, 1])
    label(ax, y="value")
    middle = STATES + 0.5 + 0.5 * AHEAD
    _say(ax, middle, 0.75, "the next episode\nin the memory", 8.5, GREY)


def _draw_windows(ax: Axes, last: NDArray, colours: NDArray) -> None:
    """From each state to the one whose value is asked, or to the end."""
    states, ended = np.arange(STATES), ENDS[last]
    stops = last + 1 + (last >= STATES)  # the end takes a place between two episodes
    thick = np.where(colours == FAINT, 1.4, 3.0)
    ax.hlines(states, states, stops, color=colours, lw=thick)
    ax.scatter(stops[ended], states[ended], marker="s", s=26, color=colours[ended], zorder=3)
    rings = {"s": 26, "facecolors": "white", "edgecolors": colours[~ended], "lw": 1.6}
    ax.scatter(stops[~ended], states[~ended], marker="o", zorder=3, **rings)
    ax.set(ylim=(STATES - 0.4, -0.6))
    names = [*states, "end", *range(AHEAD)]
    ax.vlines(range(len(names)), -1, STATES, color=GRID, lw=0.8, zorder=0.5)
    _name_columns(ax, dict(enumerate(names)))
    ax.set_yticks([0, 3, 6, 9, 11])
    title = "each target: the rewards along the line, then the value at the ring"
    _say(ax, STATES - 0.5, -1.25, "reward 1", 8.5, DARK_ORANGE)
    label(ax, title, "state", "target of state", size=9.5)


def _news(n: int, sweeps: int, values: NDArray, truth: NDArray, run_on: bool) -> str:
    if sweeps == 0:
        return "No sweep yet: the reward is in the memory, and no value knows of it."
    done = f"After {sweeps} sweep{'s' * (sweeps > 1)}"
    worst = int(np.argmax(values - truth))
    if values[worst] > truth[worst] + 1e-9:
        said = f"state {worst} is said to be worth {values[worst]:.2f}, not {truth[worst]:.2f}"
        return f"Windows run into another episode. {done} {said}."
    if run_on:
        return f"Windows run into another episode. {done} no value shows it yet."
    done += f" of {n}-step targets"
    reached = int((values > 0).sum())
    if reached == STATES:
        alone = "" if n == 1 else f"; 1-step targets take {STATES} sweeps"
        return f"{done} all values are right{alone}."
    alone = "" if n == 1 else f"; 1-step targets reach {sweeps}"
    return f"{done} {reached} of {STATES} values know of the reward{alone}."


def n_step_explorer() -> None:
    """`plot_n_step` with sliders for n, the number of sweeps and gamma, and a choice of windows."""
    explore(
        plot_n_step,
        alt="A chain of twelve states with a reward at its end: after two sweeps of 3-step targets "
        "the six states nearest to it have their true value, the others still have 0.",
        n=Slider(1, STATES, 3, 1, "n (steps)"),
        sweeps=Slider(0, STATES, 2, 1, "sweeps"),
        gamma=Slider(0.5, 1.0, 0.9, 0.05, "discount γ"),
        cut=Choice({"stop at the end": True, "run on": False}, True, "windows"),
    )


# --- Swings ----------------------------------------------------------------------------------


def plot_swings(demos: Mapping[str, Demos], mark: int | None = None) -> Figure:
    """How high a pendulum's tip is in each of its episodes: 1 upright, -1 hanging.

    One panel for each entry, side by side; green where a step can earn its reward, if it is slow
    enough; the headline counts the steps that did, on average over the episodes.

    Args:
        demos: name -> episodes in Pendulum or a relative of it.
        mark: a dashed line at this step.
    """
    fig, axes = new_figure(len(demos), height=2.9, layout=None, squeeze=False, sharey=True)
    margins(fig, top=0.72, between=0.3)
    for ax, (name, each) in zip(axes[0], demos.items(), strict=True):
        heights = [each.next_obs[episode, 0] for episode in each.episodes]
        ax.axhspan(np.cos(UPRIGHT), 1.12, color=GREEN, alpha=0.25, lw=0)
        ax.add_collection(
            LineCollection(
                [np.column_stack([np.arange(len(h)), h]) for h in heights],
                colors=BLUE, lw=1.1, alpha=0.6,
            )
        )  # fmt: skip
        if mark is not None:
            ax.axvline(mark, color=INK, lw=1.2, ls=DASHES)
        ax.set(xlim=(0, max(map(len, heights))), ylim=(-1.12, 1.12))
        label(ax, name, "step", size=9.5)
    label(axes[0, 0], y="height of the tip")
    means = [f"{each.returns.mean():.0f} ({name})" for name, each in demos.items()]
    headline(fig, f"Steps of an episode at which it stood, on average: {', '.join(means)}.")
    return fig


# --- What a draw costs ------------------------------------------------------------------------


def plot_cost(by_size: Sequence[Mapping[str, Any]]) -> Figure:
    """What drawing a batch and giving it new priorities costs, in buffers of several sizes.

    Both axes are logarithmic. A dashed line is c log N, with the c that fits that contender best
    (least squares of the logarithms). Grey: in proportion to N, from the first contender's first
    point on, which is what a tree is to avoid.

    Args:
        by_size: rows with "items", "name" and "microseconds", as `benchmarks.prioritized.by_size`
            gives them; at least two sizes, at most six names.
    """
    times: dict[str, list[tuple[int, float]]] = {}
    for row in sorted(by_size, key=lambda row: row["items"]):
        times.setdefault(row["name"], []).append((row["items"], row["microseconds"]))
    sizes = sorted({row["items"] for row in by_size})
    if len(sizes) < 2 or len(times) > len(COLOURS):
        raise ValueError(
            f"plot_cost draws 1 to {len(COLOURS)} names at 2 or more sizes, "
            f"not {len(times)} at {len(sizes)}."
        )
    curves = {name: np.array(points, dtype=np.float64).T for name, points in times.items()}
    fig, ax = new_figure(height=3.7, layout=None)
    margins(fig, left=0.75, right=2.6, top=0.45)
    ax.set(xscale="log", yscale="log")
    for (items, microseconds), colour in zip(curves.values(), COLOURS, strict=False):
        ax.plot(items, microseconds, "o-", ms=5, mew=0, lw=2, color=colour)
        ax.plot(items, fitted_log(items, microseconds), color=colour, lw=1.2, ls=DASHES)
    ours = next(iter(curves.values()))
    ax.plot(ours[0], ours[1, 0] * ours[0] / ours[0, 0], color=GREY, lw=1.2)
    _label_costs(ax, curves, sizes)
    headline(fig, _growth(*next(iter(curves.items()))))
    return fig


def fitted_log(items: NDArray, microseconds: NDArray) -> NDArray[np.float64]:
    """c log N at each N in `items`, with the c whose logarithm fits best (least squares)."""
    log_n = np.log(items)
    return log_n * np.exp(np.mean(np.log(microseconds / log_n)))


def _label_costs(ax: Axes, curves: Mapping[str, NDArray], sizes: Sequence[int]) -> None:
    """Ticks at round numbers; beside the panel who is who, in the order of their last points."""
    low, high = ax.get_ylim()
    ticks = [n * 10**power for power in range(-1, 8) for n in (1, 2, 5)]
    ax.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    ax.xaxis.set_major_locator(FixedLocator(sizes))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_locator(NullLocator())
    label(ax, x="steps in the memory, N", y="µs for a batch and its priorities")
    by_last = sorted(zip(curves.items(), COLOURS, strict=False), key=lambda c: -c[0][1][1, -1])
    handles = [
        Line2D([], [], color=colour, lw=2, marker="o", ms=5, mew=0,
               label=f"{name}\n{times[1, 0]:,.0f} → {times[1, -1]:,.0f} µs")
        for (name, times), colour in by_last
    ]  # fmt: skip
    handles += [
        Line2D([], [], color=INK, lw=1.2, ls=DASHES, label="c log N, fitted"),
        Line2D([], [], color=GREY, lw=1.2, label="in proportion to N"),
    ]
    ax.legend(
        handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5,
        labelcolor=INK, handlelength=1.8, labelspacing=0.7,
    )  # fmt: skip


def _growth(name: str, curve: NDArray) -> str:
    (first, last), (fast, slow) = curve[:, [0, -1]]
    longer, logs = slow / fast, np.log(last) / np.log(first)
    more = f"{last / first:,.3g} times as many steps"
    return f"{more}: {name} takes {longer:.2g} times as long; log N grows {logs:.2g} times."
