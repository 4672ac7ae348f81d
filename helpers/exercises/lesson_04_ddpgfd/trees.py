"""Lesson 04's trees: exercises 4.6, `set` of `SegmentTree`, and 4.7, `retrieve` of `SumTree`.

Each method is tried on its own. What was in the tree before is written into `nodes` by the check,
so that `retrieve` is judged whatever `set` is.
"""

import math
from typing import Any

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.memory.textbook import SegmentTree, SumTree

NEUTRAL: dict[np.ufunc, float] = {np.add: 0.0, np.minimum: np.inf}
FIVE = [3.0, 1.0, 4.0, 1.0, 5.0]


def built(function, operation: np.ufunc, priorities) -> Any:
    """A tree of somebody's class, with an operation and with priorities from place 0 on."""
    if not isinstance(function, type):
        function()  # a function in place of the class: its error says what is wrong
    kind = type("Tree", (function,), {"operation": operation, "neutral": NEUTRAL[operation]})
    tree = kind(len(priorities))
    first, nodes = len(tree.nodes) // 2, tree.nodes
    nodes[first : first + len(priorities)] = priorities
    for k in range(first - 1, 0, -1):
        nodes[k] = operation(nodes[2 * k], nodes[2 * k + 1])
    return tree


def observe_set(function, operation, before, place, priority):
    """All levels after one call; `before` are the priorities that are there already."""
    tree = built(function, operation, before)
    tree.set(place, priority)
    return levels(tree.nodes)


def levels(nodes: np.ndarray) -> dict[str, np.ndarray]:
    """From the leaves up to the root."""
    start, seen = len(nodes) // 2, dict[str, np.ndarray]()
    while start > 1:
        name = "row of the leaves" if not seen else f"row of nodes {start} to {2 * start - 1}"
        seen[name] = nodes[start : 2 * start]
        start //= 2
    return seen | {"root, node 1,": nodes[1]}


def set_cases(rng: np.random.Generator) -> list[Case]:
    def case(operation, before, place: int, priority: float, note: str) -> Case:
        return Case((operation, np.array(before, float), place, priority), note=note)

    return [
        case(np.add, [0.0, 2.0], 0, 3.0, "two places"),
        case(np.add, FIVE, 2, 7.0, "five places"),
        case(np.add, FIVE, 4, 2.0, "the last place"),
        case(np.add, FIVE, 1, 0.5, "a priority that falls"),
        case(np.minimum, FIVE, 1, 2.0, "a minimum that grows"),
        case(np.minimum, FIVE, 4, 0.5, "a minimum that falls"),
        case(np.minimum, [np.inf] * 6, 3, 2.0, "a minimum tree that was empty"),
        case(np.add, [0.1, 0.1, 0.1, 1e16, 0.1], 3, 0.1, "a huge number that goes"),
        case(np.add, [1.0], 0, 2.0, "one place: the leaf is the root"),
        case(np.add, rng.uniform(1, 9, 21).round(1), 13, 4.5, "21 places"),
    ]


def climbs_only_where_needed(function, rng):
    """Nodes that are not above the leaf stay as they are, even if they are wrong."""
    tree = built(function, np.add, np.ones(8))
    tree.set(7, 3.0)
    if tree.nodes[1] != 10:  # wrong numbers say nothing of how many are computed
        return True
    tree.nodes[5] = 77.0
    tree.set(7, 5.0)
    return tree.nodes[5] == 77


SEGMENT_TREE = exercise(
    __file__, "4.6", SegmentTree, set_cases, observe_set,
    properties={"computes the whole tree": climbs_only_where_needed},
)  # fmt: skip


def observe_retrieve(function, priorities, prefix_sums):
    tree = built(function, np.add, priorities)
    return np.array([tree.retrieve(each) for each in prefix_sums])


def retrieve_cases(rng: np.random.Generator) -> list[Case]:
    def case(priorities, prefix_sums, note: str) -> Case:
        return Case((np.array(priorities, float), [float(x) for x in prefix_sums]), note=note)

    gaps = [0.0, 2.0, 0.0, 0.0, 3.0, 0.0]
    many = rng.integers(0, 20, 100) / 4  # quarters, so that all sums are exact
    return [
        case([3.0, 1.0], [2.5], "two places, on the left"),
        case([3.0, 1.0], [3.5], "two places, on the right"),
        case([3.0, 1.0], [0.0, 3.0], "two places, the beginning and the border"),
        case(FIVE, [8.5], "five places"),
        case(FIVE, [0.0, 3.0, 4.0, 8.0, 9.0], "each border of five places"),
        case(FIVE, [13.5, 2.5, 7.5, 8.5, 3.5], "between the borders"),
        case(gaps, [0.0, 1.5, 2.0, 4.5], "places without priority"),
        case(gaps, [5.0], "the total, with an empty place at the end"),
        case([0.3, 0.0, 0.7, 0.0], [math.nextafter(1.0, 0)], "0.3 + 0.7, less a hair"),
        case([2.0], [0.0, 1.5], "one place"),
        case(many, rng.integers(0, int(8 * many.sum()), 16) / 8, "100 places"),
    ]


def walks_down(function, rng):
    """Leaves that are not below the nodes on the way do not matter, where the places are right."""
    tree = built(function, np.add, np.ones(8))
    if tree.retrieve(7.5) != 7:
        return True
    tree.nodes[8:12] = 100.0
    return tree.retrieve(7.5) == 7


def leaves_the_tree_alone(function, rng):
    tree = built(function, np.add, FIVE)
    before = tree.nodes.copy()
    for each in (8.5, 0.5, 13.5):
        tree.retrieve(each)
    return np.array_equal(before, tree.nodes)


SUM_TREE = exercise(
    __file__, "4.7", SumTree, retrieve_cases, observe_retrieve,
    properties={"adds up the leaves": walks_down, "changes the tree": leaves_the_tree_alone},
)  # fmt: skip
