"""Lesson 04: a walk down the sum tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.memory.segment_tree import SumTree
from helpers.show.colours import BLUE, FAINT, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import headline, round_box, say, sheet, tint
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import WIDTH

# Halves and quarters are exact in binary: no sum of these is rounded, on the page or in the tree.
PRIORITIES = (3.5, 1.0, 6.0, 0.5, 2.0, 4.0, 1.5, 5.5)  # a power of 2 of them: a full tree
CHANGED = 2  # the place whose priority has a slider
DEPTH = 3  # questions from the root to a place
HIGH = 4.95  # inches; all places below are inches too, from the lower left corner
LEFT, RIGHT, ASIDE = 0.3, 5.3, 5.62  # the tree and the number line; the questions beside them
ROOT, LEAVES = 4.15, 2.45  # the uppermost and the lowest level of the tree
BARS, TALL = 1.36, 0.7  # where the bars of the priorities stand, and how high the tallest is
LINE = (0.45, 0.67)  # the number line, from below to above


def plot_tree_walk(
    prefix_sum: float = 13.25, step: int = DEPTH, priority: float = PRIORITIES[CHANGED]
) -> Figure:
    """One draw from a `SumTree`: from the root down to a place, with one question on each level.

    A node holds the sum of the priorities below it. The small number above it is where it stands
    in the tree's array: the children of node k are 2k and 2k + 1. Bars are the priorities. Laid
    end to end they make the number line at the bottom, and the number drawn falls into the interval
    of one place, which is to be found. Blue is the way so far and what is still possible, orange a
    left child that was passed by, vermillion what is left to find.

    All numbers are the tree's, and its `retrieve` decides where to go. It is built with `top=1`,
    down to the root, as in the textbooks. A raised minus behind a number means: a hair below.

    Args:
        prefix_sum: the number drawn, from 0 to the sum of all priorities. That sum or more counts
            as just below it, as in `SumTree.retrieve`.
        step: how many questions have been answered.
        priority: of the place CHANGED.
    """
    tree = SumTree(len(PRIORITIES), top=1)
    tree.set(np.arange(len(PRIORITIES)), np.array(PRIORITIES))
    tree.set(np.array([CHANGED]), np.array([priority]))
    draw = Draw(tree, prefix_sum, *walk(tree, prefix_sum), step)
    fig, ax = sheet(WIDTH, HIGH)
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
    drawn = np.array([prefix_sum])
    [place], (_, [rest]) = tree.retrieve(drawn), tree.enter(drawn)
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

    def possible(self, node: int) -> bool:
        """Whether a node is the present one or lies below it."""
        below = node.bit_length() - self.now.bit_length()
        return below >= 0 and node >> below == self.now

    def places(self) -> range:
        """The places below the present node."""
        levels = DEPTH - self.step
        first = (self.now << levels) - self.tree.first_leaf
        return range(first, first + 2**levels)

    def at(self, node: int) -> tuple[float, float]:
        """Where a node is drawn: above the middle of the leaves below it."""
        level = node.bit_length() - 1
        x = LEFT + (RIGHT - LEFT) * (node - 2**level + 0.5) / 2**level
        return x, ROOT - (ROOT - LEAVES) * level / DEPTH

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
    tree, wide = draw.tree, 0.5
    frames, fills, edges, widths = [], [], [], []
    for node in range(1, 2 * tree.first_leaf):
        x, y = draw.at(node)
        marked = BLUE if node in draw.way else ORANGE if node in draw.passed else None
        frames.append(round_box(x, y, wide, 0.28, 0.07))
        fills.append(tint(marked, 0.35 if node == draw.now else 0.13) if marked else "white")
        edges.append(marked or tint(GREY, 0.8 if draw.possible(node) else 0.4))
        widths.append(2.4 if node == draw.now else 1.3)
        ink = INK if marked or draw.possible(node) else GREY
        say(ax, x, y, _number(tree.nodes[node]), 9, ink)
        outwards = 1 if node % 2 and node > 1 else -1  # where no edge arrives
        say(ax, x + outwards * (wide / 2 - 0.08), y + 0.2, str(node), 7, GREY)
    boxes = PathCollection(frames, facecolors=fills, edgecolors=edges, lw=widths, zorder=2)
    ax.add_collection(boxes)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _draw_places(ax: Axes, draw: Draw) -> None:
    """A bar for each priority; from it a ribbon leads to its interval on the number line."""
    leaves, half = draw.tree.leaves, 0.3 * (RIGHT - LEFT) / draw.tree.first_leaf
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
        say(ax, x, BARS - 0.12, f"place {i}", 8, INK if inside else GREY)
    cells = [[(a, LINE[0]), (a, LINE[1]), (b, LINE[1]), (b, LINE[0])] for a, b in pairwise(edges)]
    ax.add_collection(PolyCollection(ribbons, facecolors=tints, edgecolors="white", lw=0.8))
    areas = PolyCollection(bars + cells, facecolors=colours * 2, edgecolors="white", lw=1.2)
    ax.add_collection(areas)
    ax.plot([LEFT, RIGHT], [BARS, BARS], color=FAINT, lw=1)


def _draw_number_line(ax: Axes, draw: Draw) -> None:
    """What is drawn, and as a thick line what is left of it at the present node."""
    low, high = LINE
    start = float(draw.on_line(draw.tree.leaves[: draw.places().start].sum()))
    x = float(draw.on_line(min(draw.prefix_sum, draw.tree.total)))
    ax.plot([start, x], [low - 0.02] * 2, color=VERMILLION, lw=3.5, solid_capstyle="butt")
    ax.plot([x, x], [low - 0.05, high + 0.08], color=VERMILLION, lw=1.8)
    ax.plot(x, low - 0.1, "^", ms=7, mew=0, color=VERMILLION)
    say(ax, x, low - 0.27, _number(draw.prefix_sum), 9.5, VERMILLION)
    for value, end in ((0.0, LEFT), (draw.tree.total, RIGHT)):
        if abs(end - x) > 0.5:
            say(ax, end, low - 0.27, _number(value), 8.5, GREY)


def _draw_questions(ax: Axes, draw: Draw) -> None:
    """Beside each level what is asked there, and the answer."""
    tree = draw.tree
    say(ax, ASIDE, ROOT + 0.3, "Is the rest ≥ the left child?", 8.5, GREY, "left")
    for level, node in enumerate(draw.way[:DEPTH]):
        y, rest, left = draw.at(node)[1], draw.rests[level], float(tree.nodes[2 * node])
        question = f"{_beside(rest, left)} ≥ {_number(left)}?"
        if level < draw.step:
            right = draw.nodes[level + 1] % 2
            question += " yes" if right else " no"
            subtracted = f"{_number(rest)} − {_number(left)} = {_number(rest - left)}"
            answer = f"right: {subtracted}" if right else f"left: {_number(rest)} stays"
            say(ax, ASIDE, y - 0.13, answer, 9, ORANGE if right else BLUE, "left")
        say(ax, ASIDE, y + 0.07, question, 10, INK, "left")
    if draw.step == DEPTH:
        place, share = draw.places()[0], tree.nodes[draw.now] / tree.total
        say(ax, ASIDE, draw.at(draw.now)[1], f"place {place}", 11, BLUE, "left")
        chance = f"{_number(tree.nodes[draw.now])} / {_number(tree.total)} = {100 * share:.3g} %"
        say(ax, ASIDE, BARS - 0.12, "its chance:", 9, GREY, "left")
        say(ax, ASIDE, BARS - 0.34, chance, 9.5, INK, "left")


def _beside(value: float, other: float) -> str:
    """The number, marked if only its rounding makes it look like the other."""
    text = _number(value)
    return f"{text}⁻" if value < other and text == _number(other) else text


def _walk_sentence(draw: Draw) -> str:
    tree, drawn = draw.tree, _number(draw.prefix_sum)
    questions = f"{DEPTH} questions"
    if draw.step == DEPTH:
        place = draw.places()[0]
        if draw.prefix_sum >= tree.total:
            counts = f"counts as a hair below the total, {_number(tree.total)}"
            return f"{drawn} {counts}: place {place}, the last that can be found."
        end = tree.leaves[: place + 1].sum()
        interval = f"{_number(end - tree.leaves[place])} and {_number(end)}"
        return f"{drawn} lies between {interval}: place {place}, found by {questions}."
    if draw.step == 0:
        total = _number(tree.total)
        if draw.prefix_sum < tree.total:
            return f"{drawn} of {total}: at which place? {questions} will tell."
        return (
            f"{drawn} counts as a hair below the total, {total}. {questions} will tell the place."
        )
    did = "right, the left child's sum is subtracted" if draw.now % 2 else "left, nothing changes"
    rest = _beside(draw.rests[draw.step], float(tree.nodes[draw.now]))
    rest = f"{rest} is left to find below node {draw.now}"
    return f"Question {draw.step} of {DEPTH}: {did}; {rest}."


def tree_walk_explorer() -> None:
    """`plot_tree_walk` with sliders: the number drawn, the priority of one place, the level."""
    explore(
        plot_tree_walk,
        alt="A sum tree of eight priorities with the total 24 at its root. The number 13.25 goes "
        "right, left and right, and ends at place 5, in whose interval it lies.",
        prefix_sum=Slider(0.0, 30.0, 13.25, 0.25, "the number"),
        step=Slider(0, DEPTH, DEPTH, 1, "questions answered"),
        priority=Slider(0.0, 12.0, PRIORITIES[CHANGED], 0.5, f"priority of place {CHANGED}"),
    )
