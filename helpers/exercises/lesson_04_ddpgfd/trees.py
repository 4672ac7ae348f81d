"""Lesson 04's trees: exercises 4.6, `set` of `SegmentTree`, and 4.7, `retrieve` of `SumTree`.

Each method is tried on its own. What was in the tree before is written into `nodes` by the check,
so that `retrieve` is judged whatever `set` is, and one call of `set` is looked at, row by row. A
`SegmentTree` has no operation yet: the check makes sum and minimum trees of it. The trees of the
cases end in a single root (`top=1`), where a mistake is the same mistake however it is written;
wider top levels are a property.
"""

import math
from contextlib import suppress
from typing import TypeVar

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.observing import raises
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.memory.segment_tree import SegmentTree, SumTree

Tree = TypeVar("Tree", bound=SegmentTree)
NEUTRAL: dict[np.ufunc, float] = {np.add: 0.0, np.minimum: np.inf}


def fill(tree: Tree, priorities: list | np.ndarray) -> Tree:
    """Write priorities for the places from 0 on, and all that lies above them."""
    nodes, operation = tree.nodes, tree.operation
    nodes[tree.first_leaf : tree.first_leaf + len(priorities)] = priorities
    for k in range(tree.first_leaf - 1, tree.first_node - 1, -1):
        nodes[k] = operation(nodes[2 * k], nodes[2 * k + 1])
    return tree


# --- 4.6 SegmentTree.set --------------------------------------------------------------------------


def built(function, operation: np.ufunc, capacity: int, top: int | None) -> SegmentTree:
    """An empty tree of somebody's class, with an operation."""
    if not isinstance(function, type):
        function()  # a function in place of the class: its error says what is wrong
    settings = {"operation": operation, "neutral": NEUTRAL[operation], "usual_top": 8192}
    return type("Tree", (function,), settings)(capacity, top)


def observe_set(function, operation, capacity, before, indices, values):
    """All levels after one call; `before` are the priorities that are there already."""
    tree = fill(built(function, operation, capacity, top=1), before)
    tree.set(indices, values)
    return levels(tree)


def levels(tree: SegmentTree) -> dict[str, np.ndarray]:
    """From the leaves up to the root."""
    seen = {"row of the leaves": tree.nodes[tree.first_leaf :]}
    start = tree.first_leaf // 2
    while start > 1:
        seen[f"row of nodes {start} to {2 * start - 1}"] = tree.nodes[start : 2 * start]
        start //= 2
    return seen | {"root, node 1,": tree.nodes[1]}


def set_cases(rng: np.random.Generator) -> list[Case]:
    def case(operation, before, indices, values, note: str) -> Case:
        """`before` is an array of priorities, or how many places an empty tree has."""
        empty = isinstance(before, int)
        capacity, there = (before, np.zeros(0)) if empty else (len(before), np.array(before))
        given = np.array(indices), np.array(values, dtype=float)
        return Case((operation, capacity, there, *given), note=note)

    five = [3.0, 1.0, 4.0, 1.0, 5.0]
    return [
        case(np.add, 2, [0], [3.0], "two places, one of them set"),
        case(np.add, five, [2], [7.0], "a batch of one"),
        case(np.add, five, [4], [2.0], "the last place"),
        case(np.add, 5, [0, 1, 2, 3, 4], five, "all places at once"),
        case(np.add, five, [3, 0, 1], [6.0, 2.0, 9.0], "places in no order"),
        case(np.add, five, [0, 2], [3.0, 7.0], "one of two priorities is as before"),
        case(np.add, five, [2, 3, 2, 2], [9.0, 4.0, 1.0, 5.0], "a place that comes three times"),
        case(np.minimum, five, [1, 3], [2.0, 6.0], "a minimum that grows"),
        case(np.minimum, five, [1, 0], [0.5, 2.0], "a minimum that falls"),
        case(np.minimum, 6, [4, 1], [2.0, 8.0], "a minimum of an empty tree"),
        case(np.add, [0.1] * 3 + [1e16, 0.1], [3], [0.1], "a huge number that goes"),
        case(np.add, 1, [0], [2.0], "one place: the leaf is the root"),
        case(
            np.add,
            rng.uniform(1, 9, 21).round(1),
            rng.integers(0, 21, 32),
            rng.uniform(1, 9, 32).round(1),
            "21 places, and more values than places",
        ),
    ]


def stored_as_they_are(function, rng):
    """Where the leaves hold something else, that says nothing of small changes."""
    values = np.array([0.0, 1e-9, 0.1])
    given = values.copy()
    tree = built(function, np.add, 3, 1)
    tree.set(np.arange(3), given)
    stored = tree.leaves[:3]
    return np.array_equal(stored, given) or not np.allclose(stored, values, atol=0.05)


def sets_all_places(function, capacity, top):
    values = np.arange(capacity) + 2.0
    tree = built(function, np.add, capacity, top)
    tree.set(np.arange(capacity), values)
    right = fill(built(SegmentTree, np.add, capacity, top), values)
    return np.array_equal(tree.nodes[tree.first_node :], right.nodes[right.first_node :])


def climbs_only_where_needed(function, rng):
    """Nodes that are not above the leaf stay as they are, even if they are wrong, and no two of
    them are added. Where the numbers are wrong, that says nothing of how many are computed.
    """
    if not sets_all_places(function, 8, 1):
        return True
    tree = fill(built(function, np.add, 8, 1), np.ones(8))
    tree.nodes[5], tree.nodes[10], tree.nodes[11] = 77.0, np.inf, -np.inf
    with np.errstate(invalid="raise"), suppress(FloatingPointError):
        tree.set(np.array([7]), np.array([3.0]))
        return tree.nodes[5] == 77 and tree.nodes[10] == np.inf and tree.nodes[1] == 10
    return False


def reads_what_is_new(function, rng):
    """In an old copy, 300 is still on the right of the root."""
    tree = fill(built(function, np.add, 8, 1), np.ones(8))
    tree.nodes[1:4] = 100.0, 100.0, 300.0
    tree.set(np.array([7]), np.array([3.0]))
    return tree.nodes[1] != 400


def with_any_top_level(function, rng):
    """Also where the levels end below a single root, and where there is nothing but leaves.

    What goes wrong below a single root as well says nothing of wider levels.
    """
    wider = (10, 3), (10, 4), (6, None)
    return not sets_all_places(function, 10, 1) or all(
        sets_all_places(function, *shape) for shape in wider
    )


SEGMENT_TREE = exercise(
    __file__, "4.6", SegmentTree, set_cases, observe_set,
    properties={
        **no_mutation(set_cases, observe_set),
        "wrong below a wider top level": with_any_top_level,
        "priorities changed": stored_as_they_are,
        "children from a copy": reads_what_is_new,
        "computes the whole tree": climbs_only_where_needed,
    },
)  # fmt: skip


# --- 4.7 SumTree.retrieve -------------------------------------------------------------------------


def observe_retrieve(function, priorities, prefix_sums, top=1):
    return fill(function(len(priorities), top), priorities).retrieve(prefix_sums)


def retrieve_cases(rng: np.random.Generator) -> list[Case]:
    def case(priorities, prefix_sums, note: str) -> Case:
        return Case((np.array(priorities, float), np.array(prefix_sums, float)), note=note)

    def drawn(capacity: int, size: int) -> Case:
        """Quarters, so that all sums are exact; borders, and what lies between them."""
        priorities = rng.integers(0, 20, capacity) / 4
        prefix_sums = rng.integers(0, int(8 * priorities.sum()), size) / 8
        return case(priorities, prefix_sums, f"{capacity} places")

    five = [3.0, 1.0, 4.0, 1.0, 5.0]
    gaps = [0.0, 2.0, 0.0, 0.0, 3.0, 0.0]
    return [
        case([3.0, 1.0], [3.5], "two places, a batch of one"),
        case([3.0, 1.0], [0.0, 2.5, 3.0, 3.5], "two places, and the border between them"),
        case(five, [8.5], "five places, a batch of one"),
        case(five, [0.0, 3.0, 4.0, 8.0, 9.0], "each border of five places"),
        case(five, [13.5, 2.5, 7.5, 8.5, 3.5, 2.5], "between the borders, in no order"),
        case(gaps, [0.0, 1.5, 2.0, 4.5], "places without priority"),
        case(five, [14.0, 20.0], "the total, and beyond it"),
        case(gaps, [5.0, 7.0], "the total, with an empty place at the end"),
        case([2.0], [0.0, 1.5], "one place"),
        drawn(21, 12),
        drawn(100, 32),
    ]


def never_without_priority(function, rng):
    """0.3 + 0.7 is 1, and the largest number below 1, less 0.3, is rounded to 0.7.

    The empty place where a careless walk ends is the last one, one before other places, or one of
    several.
    """
    trees = [
        [0.0, 0.3, 0.7],
        [0.3, 0.0, 0.7, 0.0],
        [0.3, 0.0, 0.7, 0.0, 1e-17],
        [0.3, 0.0, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1e-17],
    ]

    def finds(priorities: list, draw: float, priority: float) -> bool:
        with suppress(Exception):
            found = observe_retrieve(function, priorities, np.array([draw]))
            return list(found) == [priorities.index(priority)]
        return False

    return all(
        finds(priorities, math.nextafter(1.0, 0), 0.7)
        # A walk that is wrong without rounding says nothing of it.
        or not all(finds(priorities, *each) for each in ((0.15, 0.3), (0.5, 0.7), (0.9, 0.7)))
        for priorities in trees
    )


def walks_down(function, rng):
    """Leaves that are not below the nodes on the way do not matter, where the places are right."""
    tree, asked, places = fill(function(8, 1), np.ones(8)), np.array([7.5, 6.5]), [7, 6]
    if list(tree.retrieve(asked.copy())) != places:
        return True
    tree.nodes[8:12] = 100.0
    return list(tree.retrieve(asked)) == places


def from_any_top_level(function, rng):
    """Also where the levels end below a single root, and where there is nothing but leaves.

    What goes wrong from a single root as well says nothing of wider levels.
    """
    priorities = np.array([3.0, 1.0, 4.0, 0.0, 1.0, 5.0, 2.0, 6.0, 5.0, 3.0])
    ends = priorities.cumsum()
    asked = np.concatenate([[0.0], ends[:-1], ends - 0.5])
    places = ends.searchsorted(asked, side="right")

    def finds_all(top: int | None) -> bool:
        return list(observe_retrieve(function, priorities, asked.copy(), top)) == list(places)

    return not finds_all(1) or all(map(finds_all, (2, 3, None)))


def leaves_the_tree_alone(function, rng):
    tree = fill(function(5, 1), [3.0, 1.0, 4.0, 1.0, 5.0])
    before = tree.nodes.copy()
    tree.retrieve(np.array([8.5, 0.5, 13.5]))
    return np.array_equal(before, tree.nodes)


def refuses_what_cannot_be(function, rng):
    """An empty tree, and numbers that are not prefix sums."""
    impossible = ([0.0, 0.0], [0.5]), ([1.0, 2.0], [-0.5]), ([1.0], [math.nan])
    return all(
        raises(ValueError, observe_retrieve, function, priorities, np.array(prefix_sums))
        for priorities, prefix_sums in impossible
    )


def first_found(function):
    return observe_retrieve(function, [3.0, 1.0, 4.0], np.array([3.5, 0.5]))


def gives_an_array(function, rng):
    return isinstance(first_found(function), np.ndarray)


def gives_whole_numbers(function, rng):
    return np.asarray(first_found(function)).dtype.kind in "iu"


SUM_TREE = exercise(
    __file__, "4.7", SumTree, retrieve_cases, observe_retrieve,
    properties={
        "rounding": never_without_priority,
        "wrong below a wider top level": from_any_top_level,
        "adds up the leaves": walks_down,
        **no_mutation(retrieve_cases, observe_retrieve),
        "changes the tree": leaves_the_tree_alone,
        "accepts what cannot be": refuses_what_cannot_be,
        "no array": gives_an_array,
        "no whole numbers": gives_whole_numbers,
    },
)  # fmt: skip
