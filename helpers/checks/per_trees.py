"""Lesson 04's trees: exercises 4.6, `set` of `SegmentTree`, and 4.7, `retrieve` of `SumTree`.

Each method is tried on its own. What was in the tree before is written into `nodes` by the check,
so that `retrieve` is judged whatever `set` is, and one call of `set` is looked at, row by row. A
`SegmentTree` has no operation yet: the check makes sum and minimum trees of it. Cases have the
textbooks' form (`top=1`), in which a mistake is the same mistake however it is written; properties
see to wider top levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import no_mutation
from helpers.memory.segment_tree import SegmentTree, SumTree

NEUTRAL = {np.add: 0.0, np.minimum: np.inf}


def fill(tree: SegmentTree, priorities: list | np.ndarray) -> SegmentTree:
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
        function()  # a function in place of the class: it says itself what is wrong with that
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


def climbs_only_where_needed(function, rng):
    """What lies on no path from the leaf to the root stays, even if it is not what it should be."""
    tree = fill(built(function, np.add, 8, 1), np.ones(8))
    tree.nodes[5] = tree.nodes[10] = 77.0
    tree.set(np.array([7]), np.array([3.0]))
    return tree.nodes[5] == tree.nodes[10] == 77 and tree.nodes[1] == 10


def with_any_top_level(function, rng):
    """Also where the levels end below a single root, and where there is nothing but leaves."""
    for capacity, top in ((10, 3), (10, 4), (6, None)):
        tree = built(function, np.add, capacity, top)
        values = rng.integers(1, 9, capacity).astype(float)
        tree.set(np.arange(capacity), values)
        right = fill(built(SegmentTree, np.add, capacity, top), values)
        if not np.array_equal(tree.nodes[tree.first_node :], right.nodes[right.first_node :]):
            return False
    return True


def tree_with(set_: Callable) -> type[SegmentTree]:
    """A wrong version: another `set`."""
    return type("SegmentTree", (SegmentTree,), {"set": set_})


def leaf_of(self, indices):
    return self.first_leaf + indices


def write(self, nodes, values):
    self.nodes[nodes] = values


def from_children(self, nodes):
    return self.operation(self.nodes[2 * nodes], self.nodes[2 * nodes + 1])


def climbs(
    leaf: Callable = leaf_of,
    put: Callable = write,
    height: Callable = lambda self: self.depth,
    up: Callable = lambda nodes: nodes // 2,
    combined: Callable = from_children,
) -> type[SegmentTree]:
    """A wrong version: one part of the way up replaced.

    `leaf(self, indices)` finds the leaves, `put(self, nodes, values)` writes them, `height(self)`
    says how many levels to climb, `up(nodes)` finds the parents, and `combined(self, nodes)` says
    what they hold.
    """

    def set_(self, indices, values):
        nodes = leaf(self, indices)
        put(self, nodes, values)
        for _ in range(height(self)):
            nodes = up(nodes)
            self.nodes[nodes] = combined(self, nodes)

    return tree_with(set_)


def holds(combined: Callable) -> type[SegmentTree]:
    return climbs(combined=combined)


def one_by_one(
    leaf: Callable = leaf_of,
    up: Callable = lambda node: node // 2,
    combined: Callable = from_children,
) -> type[SegmentTree]:
    """As `climbs`, but the next place only comes when the one before has reached node 1."""

    def set_(self, indices, values):
        for i, value in zip(indices, values, strict=True):
            node = leaf(self, i)
            self.nodes[node] = value
            while node > 1:
                node = up(node)
                self.nodes[node] = combined(self, node)

    return tree_with(set_)


def both_ways(name: str, message: str, **parts: Callable) -> list[Misconception]:
    """For a batch at once and place by place, where that makes a difference."""
    return [
        Misconception(name, climbs(**parts), message),
        Misconception(f"{name}, place by place", one_by_one(**parts), message),
    ]


def climbs_from(places: slice) -> type[SegmentTree]:
    """A wrong version: all leaves are written, and `places` of the batch lead to parents."""

    def set_(self, indices, values):
        nodes = self.first_leaf + indices
        self.nodes[nodes] = values
        nodes = nodes[places]
        for _ in range(self.depth):
            nodes = nodes // 2
            self.nodes[nodes] = from_children(self, nodes)

    return tree_with(set_)


def path_by_path(step: Callable) -> type[SegmentTree]:
    """A wrong version: place after place, `step(self, node, value, old)` at each node above.

    `old` is what the leaf held before.
    """

    def set_(self, indices, values):
        for i, value in zip(indices, values, strict=True):
            node = self.first_leaf + i
            old, self.nodes[node] = self.nodes[node], value
            for _ in range(self.depth):
                node //= 2
                step(self, node, value, old)

    return tree_with(set_)


def all_at_once(change: Callable, into: Callable) -> type[SegmentTree]:
    """A wrong version: `into(self, nodes, change)` at all levels, from the leaves on.

    `change(self, nodes, values)` is worked out from the leaves as they were.
    """

    def set_(self, indices, values):
        nodes = self.first_leaf + indices
        changed = change(self, nodes, values)
        self.nodes[nodes] = values
        for _ in range(self.depth):
            nodes = nodes // 2
            into(self, nodes, changed)

    return tree_with(set_)


def difference(self, nodes, values):
    return values - self.nodes[nodes]


def add_at(self, nodes, change):
    np.add.at(self.nodes, nodes, change)


def add_lost(self, nodes, change):
    """Of a node that comes twice, one of the changes is lost."""
    self.nodes[nodes] += change


def operation_with_change(self, nodes, change):
    self.nodes[nodes] = self.operation(self.nodes[nodes], change)


def add_difference(self, node, value, old):
    self.nodes[node] += value - old


def operation_with_difference(self, node, value, old):
    self.nodes[node] = self.operation(self.nodes[node], value - old)


def operation_with_value(self, node, value, old):
    self.nodes[node] = self.operation(self.nodes[node], value)


def add_value(self, node, value, old):
    self.nodes[node] += value


def put_first(self, nodes, values):
    nodes, first = np.unique(nodes, return_index=True)
    self.nodes[nodes] = values[first]


def put_sum(self, nodes, values):
    self.nodes[nodes] = 0
    np.add.at(self.nodes, nodes, values)


def put_largest(self, nodes, values):
    self.nodes[nodes] = 0
    np.maximum.at(self.nodes, nodes, values)


def put_added(self, nodes, values):
    self.nodes[nodes] += values


def set_root_only(self, indices, values):
    self.nodes[self.first_leaf + indices] = values
    self.nodes[1] = self.operation.reduce(self.leaves)


def set_everything(self, indices, values):
    self.nodes[self.first_leaf + indices] = values
    for k in range(self.first_leaf - 1, self.first_node - 1, -1):
        self.nodes[k] = from_children(self, k)


def set_with_the_root_at_0(self, indices, values):
    nodes = self.first_leaf - 1 + indices
    self.nodes[nodes] = values
    for _ in range(self.depth):
        nodes = (nodes - 1) // 2
        self.nodes[nodes] = self.operation(self.nodes[2 * nodes + 1], self.nodes[2 * nodes + 2])


def set_with_neighbours(self, indices, values):
    nodes = self.first_leaf + indices
    self.nodes[nodes] = values
    for _ in range(self.depth):
        following = np.minimum(nodes + 1, len(self.nodes) - 1)
        self.nodes[nodes // 2] = self.operation(self.nodes[nodes], self.nodes[following])
        nodes = nodes // 2


def set_in_the_callers_array(self, indices, values):
    indices += self.first_leaf
    self.nodes[indices] = values
    for _ in range(self.depth):
        indices //= 2
        self.nodes[indices] = from_children(self, indices)


FIRST_LEAF = (
    "Your leaves are not where the others are: the leaf of place 0 is node `self.first_leaf`, and "
    "the others follow it."
)
CHILDREN = (
    "You take the wrong children. Try it on a drawing with the root, node 1: its children are "
    "nodes 2 and 3, and row k of `self.pairs` has those of node k side by side."
)
PARENT = (
    "You climb to the wrong parent. Try it on a drawing: the parent of nodes 2 and 3 is node 1, "
    "that of nodes 4 and 5 is node 2."
)
ADDS_THE_VALUE = (
    "You add the new value to what the parents held, and the old value is still in there: a place "
    "that is set twice counts twice. Compute every parent from its two children."
)
DIFFERENCES = (
    "You add the difference of new and old to the parents. Every addition rounds, and after a "
    "million of them the root is no longer the sum; of a minimum nothing can be taken off at all. "
    "Compute every parent from its two children."
)
STALE = (
    "You add differences to the parents, worked out before anything was written. Of a place that "
    "comes twice, or of two that share a parent, one difference is stale or lost, and rounding "
    "errors stay for ever: compute every parent from its two children."
)
LAST_COUNTS = (
    "Of a place that comes twice in a batch the last value has to count. Writing them all with one "
    "assignment, `self.nodes[...] = values`, does that by itself."
)
EVERYTHING = (
    "The numbers are right, but you compute the whole tree anew for every batch: with a million "
    "places a million operations in place of twenty a place. Only the parents on the way up from "
    "the leaves that were set can have changed."
)
ROWS = (
    "`self.pairs[...]` of your nodes has a row for each node of the batch, so its first and second "
    "entry are the first and second row. Left and right are its columns: `[:, 0]` and `[:, 1]`."
)
CHANGES_INPUTS = (
    "The numbers are right, but you change the arrays that you were given. `+=` and `//=` work in "
    "place, and the caller hands the same places to the next tree: make new arrays, "
    "`nodes = nodes // 2`."
)

SEGMENT_TREE = Exercise(
    id="4.6",
    lesson="04_ddpgfd",
    reference=SegmentTree,
    card=Card(
        title="A tree that keeps its sums",
        what="Write the method `set` of `SegmentTree`: put the priorities `values` `(B,)` at the "
        "places `indices` `(B,)`, then set right what lies above them, level by level, for the "
        "whole batch at once. A parent holds `self.operation` of its two children, so that one "
        "method keeps both sums and minima.",
        why="After every batch some priorities change, and the sum of all has to be known again. "
        "For a million of them that is a million additions; a tree needs twenty for each place "
        "that changed, and the same walk, downwards, will draw steps by their priority.",
        difficulty=3,
        minutes=15,
    ),
    hints=(
        "Draw the tree of five priorities, number its nodes from 1 on, row by row, and change one "
        "leaf. Which nodes have to change with it? Which numbers have they, and how do you get "
        "from a node's number to its parent's?",
        "Add `self.first_leaf` to the places and write the values there. Then, `self.depth` times: "
        "halve all node numbers with `//`, take these rows of `self.pairs`, and write "
        "`self.operation` of their two columns into the nodes.",
    ),
    cases=set_cases,
    observe=observe_set,
    misconceptions=[
        # The leaves
        *both_ways(
            "places taken for nodes",
            f"You write to node i for place i, which is up in the tree. {FIRST_LEAF}",
            leaf=lambda self, indices: indices,
        ),
        Misconception(
            "counted from the capacity",
            climbs(leaf=lambda self, indices: self.capacity + indices),
            "Your leaves begin at the capacity, which is right for 2, 4, 8, 16, ... places only. "
            f"{FIRST_LEAF}",
        ),
        *both_ways(
            "counted from the top level",
            f"You count from `self.first_node`, where the top level begins. {FIRST_LEAF}",
            leaf=lambda self, indices: self.first_node + indices,
        ),
        Misconception(
            "a leaf too far right",
            climbs(leaf=lambda self, indices: self.first_leaf + indices + 1),
            FIRST_LEAF,
        ),
        Misconception(
            "a leaf too far left",
            climbs(leaf=lambda self, indices: self.first_leaf + indices - 1),
            FIRST_LEAF,
        ),
        Misconception(
            "root at node 0",
            tree_with(set_with_the_root_at_0),
            "You number the nodes from 0 on, with children 2k + 1 and 2k + 2. That works as well, "
            "but the other methods count from 1: the children of node k are nodes 2k and 2k + 1.",
        ),
        Misconception(
            "nothing written",
            tree_with(lambda self, indices, values: None),
            "Nothing arrives in the tree. An assignment to a name of your own only gives that name "
            "a new meaning: write into `self.nodes[...]`.",
        ),
        Misconception(
            "added to the old priorities",
            climbs(put=put_added),
            "You add the new priorities to the old ones. A new priority takes the old one's place.",
        ),
        Misconception("the first of several values", climbs(put=put_first), LAST_COUNTS),
        Misconception("the sum of several values", climbs(put=put_sum), LAST_COUNTS),
        Misconception("the largest of several values", climbs(put=put_largest), LAST_COUNTS),
        # The way up
        Misconception(
            "parents never updated",
            climbs(height=lambda self: 0),
            "The leaves are right, but nobody above them knows: parents hold what they held "
            "before, or what they were before the leaves were written. Write the leaves first, "
            "then climb up to the top level and compute each parent on the way.",
        ),
        Misconception(
            "only one level",
            climbs(height=lambda self: min(self.depth, 1)),
            "You update the parents of the leaves and stop there. Their parents changed as well: "
            "go on up to the top level, `self.depth` times in all.",
        ),
        Misconception(
            "stops below the root",
            climbs(height=lambda self: max(self.depth - 1, 0)),
            "You stop one level too early, so the root does not change. There are `self.depth` "
            "levels above the leaves.",
        ),
        Misconception(
            "only the root",
            tree_with(set_root_only),
            "You compute the root from all the leaves and leave out what lies between. Whoever "
            "walks down from the root needs every level, and going through all the leaves is what "
            "the tree saves.",
        ),
        Misconception(
            "only the first place's way",
            climbs_from(slice(0, 1)),
            "All leaves are written, but only the first place's parents are updated. Every place "
            "of the batch has a way up of its own.",
        ),
        Misconception(
            "only the last place's way",
            climbs_from(slice(-1, None)),
            "All leaves are written, but only the last place's parents are updated: the climb "
            "stands behind your loop. Every place of the batch has a way up of its own.",
        ),
        Misconception(
            "only the first place",
            tree_with(lambda self, indices, values: SegmentTree.set(self, indices[:1], values[:1])),
            "Only the first place of the batch is set. A `return` inside a loop ends it early; or "
            "did you index with `[0]`?",
        ),
        *both_ways("parent (k - 1) // 2", PARENT, up=lambda nodes: (nodes - 1) // 2),
        *both_ways("parent (k + 1) // 2", PARENT, up=lambda nodes: (nodes + 1) // 2),
        Misconception(
            "a fraction of a node",
            climbs(up=lambda nodes: nodes / 2),
            "You divide with `/`, which gives fractions, and there is no node 2.5. Divide with "
            "`//`, which leaves whole numbers.",
        ),
        # What a parent holds
        *both_ways(
            "children 2k + 1 and 2k + 2",
            CHILDREN,
            combined=lambda self, k: self.operation(self.nodes[2 * k + 1], self.nodes[2 * k + 2]),
        ),
        *both_ways(
            "children 2k - 1 and 2k",
            CHILDREN,
            combined=lambda self, k: self.operation(self.nodes[2 * k - 1], self.nodes[2 * k]),
        ),
        *both_ways(
            "children 2k - 1 and 2k + 1",
            CHILDREN,
            combined=lambda self, k: self.operation(self.nodes[2 * k - 1], self.nodes[2 * k + 1]),
        ),
        Misconception(
            "a node and its right neighbour",
            tree_with(set_with_neighbours),
            "You combine each node with the one to the right of it. For a left child that is its "
            "sibling, for a right one it belongs to another parent: row k of `self.pairs` has the "
            "children of node k.",
        ),
        Misconception(
            "rows of the pairs for columns",
            holds(lambda self, k: self.operation(self.pairs[k][0], self.pairs[k][1])),
            ROWS,
        ),
        Misconception(
            "only the left child",
            holds(lambda self, k: self.nodes[2 * k]),
            "Your parents hold their left child alone. They hold the operation of both.",
        ),
        Misconception(
            "only the right child",
            holds(lambda self, k: self.nodes[2 * k + 1]),
            "Your parents hold their right child alone. They hold the operation of both.",
        ),
        Misconception(
            "the value itself",
            all_at_once(lambda self, nodes, values: values, write),
            "You write the new value into all its parents. A parent holds the operation of its two "
            "children, of which the other one may not have changed.",
        ),
        Misconception(
            "always the sum",
            holds(lambda self, k: self.nodes[2 * k] + self.nodes[2 * k + 1]),
            "Your parents hold the sum of their children, whatever the tree is for. A minimum tree "
            "is set by the same method: use `self.operation`.",
        ),
        Misconception(
            "the operation along the batch",
            holds(lambda self, k: self.operation.reduce(self.pairs[k])),
            "You combine the rows of your `self.pairs[...]`, one for each node of the batch, in "
            "place of each row's two children. These stand side by side, as its columns, along "
            "`axis=1`.",
        ),
        Misconception(
            "the new value added to the parents", path_by_path(add_value), ADDS_THE_VALUE
        ),
        Misconception(
            "the new value added to the parents, by the operation",
            path_by_path(operation_with_value),
            ADDS_THE_VALUE,
        ),
        Misconception(
            "the new values added to the parents at once",
            all_at_once(lambda self, nodes, values: values, add_lost),
            ADDS_THE_VALUE,
        ),
        Misconception(
            "the new values added to the parents at once, by the operation",
            all_at_once(lambda self, nodes, values: values, operation_with_change),
            ADDS_THE_VALUE,
        ),
        Misconception("differences added", path_by_path(add_difference), DIFFERENCES),
        Misconception(
            "differences added, by the operation",
            path_by_path(operation_with_difference),
            DIFFERENCES,
        ),
        Misconception("differences at once", all_at_once(difference, add_at), STALE),
        Misconception("differences at once, some lost", all_at_once(difference, add_lost), STALE),
        Misconception(
            "differences at once, by the operation",
            all_at_once(difference, operation_with_change),
            STALE,
        ),
        # Right numbers
        Misconception("the whole tree anew", tree_with(set_everything), EVERYTHING),
        Misconception(
            "computed in the caller's array", tree_with(set_in_the_callers_array), CHANGES_INPUTS
        ),
    ],
    properties=[
        no_mutation(set_cases, observe_set, CHANGES_INPUTS),
        Property(
            "wrong below a wider top level",
            with_any_top_level,
            "Your method is right for a tree with a single root, and wrong where the top level has "
            "more nodes, as it usually has. The leaves begin at `self.first_leaf`, and "
            "`self.depth` levels lie above them, none for a small tree.",
        ),
        Property("computes the whole tree", climbs_only_where_needed, EVERYTHING),
    ],
)


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
    """0.3 + 0.7 is 1, and the largest number below 1, less 0.3, is rounded to 0.7."""
    below = np.array([math.nextafter(1.0, 0)])
    trees = [0.0, 0.3, 0.7], [0.3, 0.0, 0.7, 0.0]
    return all(
        list(observe_retrieve(function, priorities, below.copy())) == [2] for priorities in trees
    )


def walks_down(function, rng):
    """What lies on no path from the root to the place does not matter."""
    tree = fill(function(8, 1), np.ones(8))
    tree.nodes[8:12] = 100.0
    return list(tree.retrieve(np.array([7.5, 6.5]))) == [7, 6]


def from_any_top_level(function, rng):
    """Also where the levels end below a single root, and where there is nothing but leaves."""
    priorities = np.array([3.0, 1.0, 4.0, 0.0, 1.0, 5.0, 2.0, 6.0, 5.0, 3.0])
    ends = priorities.cumsum()
    asked = np.concatenate([[0.0], ends[:-1], ends - 0.5])
    places = ends.searchsorted(asked, side="right")
    return all(
        list(observe_retrieve(function, priorities, asked.copy(), top)) == list(places)
        for top in (2, 3, None)
    )


def leaves_the_tree_alone(function, rng):
    tree = fill(function(5, 1), [3.0, 1.0, 4.0, 1.0, 5.0])
    before = tree.nodes.copy()
    tree.retrieve(np.array([8.5, 0.5, 13.5]))
    return np.array_equal(before, tree.nodes)


def refuses_what_cannot_be(function, rng):
    """An empty tree, and numbers that are no prefix sums."""
    for priorities, prefix_sums in (([0.0, 0.0], [0.5]), ([1.0, 2.0], [-0.5]), ([1.0], [math.nan])):
        try:
            observe_retrieve(function, priorities, np.array(prefix_sums))
        except ValueError:
            continue
        return False
    return True


def first_found(function):
    return observe_retrieve(function, [3.0, 1.0, 4.0], np.array([3.5, 0.5]))


def gives_an_array(function, rng):
    return isinstance(first_found(function), np.ndarray)


def gives_whole_numbers(function, rng):
    return np.asarray(first_found(function)).dtype.kind in "iu"


def sum_tree_with(retrieve: Callable) -> type[SumTree]:
    """A wrong version: another `retrieve`."""
    return type("SumTree", (SumTree,), {"retrieve": retrieve})


def at_the_root(self, prefix_sums):
    """Node 1 for every draw, which is the root if the top level is."""
    return np.ones(len(prefix_sums), int), np.array(prefix_sums)


def one_more(self) -> int:
    return self.depth + 1


def right_or_left(rest, left, right):
    return (rest >= left) & (right > 0)


def walks(
    start: Callable = lambda self, prefix_sums: self.enter(prefix_sums),
    to_right: Callable = right_or_left,
    behind: Callable = lambda left, right, to_right: left * to_right,
    height: Callable = lambda self: self.depth,
    down: Callable = lambda nodes, to_right: 2 * nodes + to_right,
    place: Callable = lambda self, nodes: nodes - self.first_leaf,
    children: Callable = lambda self, nodes: self.pairs[nodes].T,
) -> type[SumTree]:
    """A wrong version: one part of the way down replaced.

    `start(self, prefix_sums)` gives the nodes to begin with and what is left to find in them,
    `to_right(rest, left, right)` says who goes to the right,
    `behind(left, right, to_right)` what is taken off, `down(nodes, to_right)` the next nodes,
    `height(self)` the number of levels, `place(self, nodes)` what is returned, and
    `children(self, nodes)` the sums to the left and to the right.
    """

    def retrieve(self, prefix_sums):
        nodes, rest = start(self, prefix_sums)
        for _ in range(height(self)):
            left, right = children(self, nodes)
            way = to_right(rest, left, right)
            rest = rest - behind(left, right, way)
            nodes = down(nodes, way)
        return place(self, nodes)

    return sum_tree_with(retrieve)


def goes(to_right: Callable) -> type[SumTree]:
    return walks(to_right=to_right)


def found(change: Callable) -> type[SumTree]:
    """A wrong version: `change(self, places)` is returned."""
    return walks(place=lambda self, nodes: change(self, nodes - self.first_leaf))


def rest_after_moving(self, prefix_sums):
    """Moves first, and takes off the left child of where it is then."""
    nodes, rest = self.enter(prefix_sums)
    for _ in range(self.depth):
        left, right = self.pairs[nodes].T
        way = right_or_left(rest, left, right)
        nodes = 2 * nodes + way
        below = np.minimum(2 * nodes, len(self.nodes) - 1)
        rest = rest - self.nodes[below] * way
    return nodes - self.first_leaf


def half_of_the_node(self, prefix_sums):
    nodes, rest = self.enter(prefix_sums)
    for _ in range(self.depth):
        way = rest >= self.nodes[nodes] / 2
        rest = rest - self.nodes[2 * nodes] * way
        nodes = 2 * nodes + way
    return nodes - self.first_leaf


def over_the_leaves(side: str) -> type[SumTree]:
    return sum_tree_with(
        lambda self, prefix_sums: np.cumsum(self.leaves).searchsorted(prefix_sums, side)
    )


WHICH_PLACE = (
    "You return the number of a node. The leaf of place 0 is node `self.first_leaf`, so take that "
    "off: the buffer asks for places."
)
FROM_0 = "Places count from 0, and node `self.first_leaf` is the leaf of place 0."
LEFT_BEHIND = (
    "Whoever goes right has the whole left child behind, and the rest to find is smaller by that. "
)
FOR_ONE = (
    "`if`, `and` and `or` ask whether one thing is true, and here there is a whole batch of them. "
    "Each draw goes its own way: compute with the arrays, where `&` is the and, and True counts as "
    "1."
)
ONE_DECISION = (
    "You decide for the whole batch at once. Each draw goes its own way: compute with the arrays, "
    "True counts as 1 and False as 0."
)
NO_LEAVES = (
    "The places are right, but you add up all the leaves: with a million places a million "
    "additions for every batch. The tree knows these sums already: walk down, and look at two "
    "children a level."
)
BELOW_THE_LEAVES = (
    "You go on below the leaves, where there is nothing. There are `self.depth` levels below the "
    "top one."
)
WIDER_TOP = (
    "Your walk is right from a single root, node 1, and wrong where the top level has more nodes, "
    "as it usually has. `self.enter` says in which of them a draw lies, and what is left to find "
    "there; `self.depth` levels lie below."
)
ROUNDING = (
    "Rounding leads your walk to a place without priority: with priorities 0.3, 0, 0.7 and 0 the "
    "draw 0.9999999999999999, less 0.3, is 0.7 exactly, and the walk goes on to the last place, "
    "which is empty. Never go right into an empty child."
)

SUM_TREE = Exercise(
    id="4.7",
    lesson="04_ddpgfd",
    reference=SumTree,
    card=Card(
        title="A walk down the tree",
        what="Write the method `retrieve` of `SumTree`: for each prefix sum, a number from 0 up to "
        "the total, the place at which the sum of the priorities from place 0 on comes to exceed "
        "it. Walk down from the top level, for the whole batch `(B,)` at once: at each node, left "
        "or right?",
        why="Lay the priorities end to end and throw a dart: the longer a piece, the more often it "
        "is hit. This method finds the piece in as many steps as the tree has levels. With a "
        "border on the wrong side, or an empty place found by rounding, nothing crashes: the "
        "agent only learns from steps that nobody made.",
        difficulty=4,
        minutes=15,
    ),
    hints=(
        "Priorities 3, 1, 4 and 1, and the number 5.5 is drawn. The root's children hold 4 and 5: "
        "is the place to the left or to the right, and how much of the 5.5 is left to find there? "
        "And if exactly 4 is drawn, in which child does it lie, when the left one has the numbers "
        "from 0 to just below 4?",
        "A level down: take these rows of `self.pairs`, whose columns are left and right. Go right "
        "where the rest is at least the left sum and the right one is above 0, and take the left "
        "sum off there. The next nodes are twice the old ones, plus 1 where it went right.",
    ),
    cases=retrieve_cases,
    observe=observe_retrieve,
    misconceptions=[
        # Left or right
        Misconception(
            "left at the border",
            goes(lambda rest, left, right: (rest > left) & (right > 0)),
            "On a border you go left. Place 0 with priority 3 has the numbers from 0 to just below "
            "3, and 3 itself belongs to the next place: right where the rest is at least as large "
            "as the left sum (with `>` a place without priority can be found, too).",
        ),
        Misconception(
            "left and right exchanged",
            goes(lambda rest, left, right: rest < left),
            "You go right where the rest lies within the left child, and left where it does not. "
            "It is the other way round.",
        ),
        Misconception(
            "compared with the right child",
            goes(lambda rest, left, right: (rest >= right) & (right > 0)),
            "You compare with the right child's sum. The left child comes first: whoever does not "
            "find the rest there goes right.",
        ),
        Misconception(
            "always to the larger child",
            goes(lambda rest, left, right: right > left),
            "You always go to the child with the larger sum, so all draws end at the same place. "
            "The rest decides: left if it lies within the left sum.",
        ),
        Misconception(
            "half of the node",
            sum_tree_with(half_of_the_node),
            "You compare with half of the node's sum, as in a search through equal parts. Where "
            "left ends and right begins is the left child's sum.",
        ),
        Misconception(
            "always left",
            goes(lambda rest, left, right: rest < 0),
            "You always go left, and all draws end at the first place of their part. Right where "
            "the rest is at least as large as the left sum.",
        ),
        Misconception(
            "the first decides for all",
            goes(lambda rest, left, right: right_or_left(rest, left, right)[:1]),
            ONE_DECISION,
        ),
        Misconception(
            "right if any is",
            goes(lambda rest, left, right: right_or_left(rest, left, right).any()),
            ONE_DECISION,
        ),
        Misconception(
            "right if all are",
            goes(lambda rest, left, right: right_or_left(rest, left, right).all()),
            ONE_DECISION,
        ),
        Misconception(
            "if or and for a whole batch",
            goes(lambda rest, left, right: np.array([bool(rest >= left and right > 0)])),
            FOR_ONE,
        ),
        Misconception(
            "no brackets around the comparisons",
            goes(lambda rest, left, right: rest >= left & right > 0),
            "`&` binds more tightly than `>=` and `>`, so Python begins with `left & right`. Put "
            "each comparison in brackets of its own.",
        ),
        Misconception(
            "left and right exchanged, never into an empty child",
            goes(lambda rest, left, right: (rest < left) & (right > 0)),
            "You go right where the rest lies within the left child, and left where it does not. "
            "It is the other way round.",
        ),
        Misconception(
            "the left child asked whether it is empty",
            goes(lambda rest, left, right: (rest >= left) & (left > 0)),
            "You ask whether the left child is empty, so that nobody leaves an empty one. It is "
            "the right child, the one to be entered, that must not be empty.",
        ),
        Misconception(
            "rows of the pairs for left and right",
            walks(children=lambda self, nodes: self.pairs[nodes]),
            ROWS,
        ),
        # What is left to find
        Misconception(
            "the left sum never taken off",
            walks(behind=lambda left, right, way: 0 * left),
            LEFT_BEHIND + "You look for the whole prefix sum on every level.",
        ),
        Misconception(
            "the left sum always taken off",
            walks(behind=lambda left, right, way: left),
            LEFT_BEHIND + "You take it off on the way to the left as well.",
        ),
        Misconception(
            "taken off on the way to the left",
            walks(behind=lambda left, right, way: left * ~way),
            LEFT_BEHIND + "You take it off on the other way, to the left.",
        ),
        Misconception(
            "the right sum taken off",
            walks(behind=lambda left, right, way: right * way),
            LEFT_BEHIND + "You take off the right child's sum, the one that you enter.",
        ),
        Misconception(
            "both sums taken off",
            walks(behind=lambda left, right, way: (left + right) * way),
            LEFT_BEHIND + "You take off the sum of both.",
        ),
        Misconception(
            "taken off after moving",
            sum_tree_with(rest_after_moving),
            LEFT_BEHIND + "You move first, so what you take off belongs to the node below: keep "
            "the left sum, or take it off before you move.",
        ),
        # Where it begins and ends
        Misconception(
            "the whole prefix sum",
            walks(start=lambda self, p: (self.enter(p)[0], np.array(p))),
            "You start at the right nodes, but with the whole prefix sums. The nodes of the top "
            "level before them are behind already: `self.enter` says what is left to find.",
        ),
        Misconception(
            "always from the root",
            walks(start=at_the_root),
            WIDER_TOP,
        ),
        Misconception(
            "always from the root, and beyond the last place",
            walks(start=at_the_root, to_right=lambda rest, left, right: rest >= left),
            "You start at node 1 with the prefix sums as they are, and the total itself leads to "
            "an empty leaf. `self.enter` begins in the top level, whatever its width, and keeps "
            "prefix sums below the total.",
        ),
        Misconception(
            "from node 0",
            walks(start=lambda self, p: (np.zeros(len(p), int), np.array(p))),
            "You start at node 0, which is not used: its children would be nodes 0 and 1. "
            "`self.enter` finds the nodes to start with.",
        ),
        Misconception(
            "one level too few",
            walks(height=lambda self: max(self.depth - 1, 0)),
            "You stop one level above the leaves. There are `self.depth` levels below the top one.",
        ),
        Misconception("one level too many", walks(height=one_more), BELOW_THE_LEAVES),
        Misconception(
            "one level too many, by node numbers",
            walks(
                height=one_more,
                children=lambda self, nodes: (self.nodes[2 * nodes], self.nodes[2 * nodes + 1]),
            ),
            BELOW_THE_LEAVES,
        ),
        Misconception(
            "children 2k + 1 and 2k + 2",
            walks(down=lambda nodes, way: 2 * nodes + 1 + way),
            "You number the nodes from 0 on. Here the root is node 1, and the children of node k "
            "are nodes 2k and 2k + 1.",
        ),
        Misconception(
            "children 2k - 1 and 2k",
            walks(down=lambda nodes, way: 2 * nodes - 1 + way),
            "Your children are one too far to the left: those of node k are nodes 2k and 2k + 1.",
        ),
        Misconception(
            "children 2k + 1 and 2k",
            walks(down=lambda nodes, way: 2 * nodes + 1 - way),
            "You decide rightly and then move to the other side: the left child is node 2k, the "
            "right one node 2k + 1.",
        ),
        # What is returned
        Misconception(
            "nodes in place of places", walks(place=lambda self, nodes: nodes), WHICH_PLACE
        ),
        Misconception(
            "counted from the capacity",
            walks(place=lambda self, nodes: nodes - self.capacity),
            "You count from the capacity, which is right for 2, 4, 8, 16, ... places only. The "
            "leaf of place 0 is node `self.first_leaf`.",
        ),
        Misconception(
            "counted from the top level",
            walks(place=lambda self, nodes: nodes - self.first_node),
            "You count from `self.first_node`, where the top level begins. The leaf of place 0 is "
            "node `self.first_leaf`.",
        ),
        Misconception(
            "one place too few",
            found(lambda self, places: places - 1),
            f"Your places are one too small. {FROM_0} Nothing more is to be taken off.",
        ),
        Misconception(
            "one place too many",
            found(lambda self, places: places + 1),
            f"Your places are one too large. {FROM_0} Nothing is to be added.",
        ),
        Misconception(
            "priorities in place of places",
            found(lambda self, places: self.leaves[places]),
            "You return the priorities of the places that you found. The buffer asks for the "
            "places.",
        ),
        Misconception(
            "a single place",
            found(lambda self, places: places[0]),
            "You return one place. There is one for each prefix sum, `(B,)`.",
        ),
        Misconception(
            "sorted",
            found(lambda self, places: np.sort(places)),
            "You return the places in order. Each belongs to its prefix sum, the first to the "
            "first.",
        ),
        Misconception(
            "each place once",
            found(lambda self, places: np.unique(places)),
            "You return each place once. A place that is hit twice comes twice: there is one for "
            "each prefix sum.",
        ),
        Misconception(
            "the last place never found",
            found(lambda self, places: np.minimum(places, max(self.capacity - 2, 0))),
            "The last place is never found in your version: places are cut off one too early.",
        ),
        Misconception(
            "prefix sums taken for shares",
            walks(start=lambda self, p: self.enter(np.array(p) * self.total)),
            "You multiply the prefix sums with the total, as if they were shares of it. They are "
            "numbers from 0 up to the total already.",
        ),
        # Right places
        Misconception(
            "not safe from rounding", goes(lambda rest, left, right: rest >= left), ROUNDING
        ),
        Misconception(
            "over all the leaves, left at the border",
            over_the_leaves("left"),
            "You add up all the leaves and search there, and a number on a border goes to the "
            "place before it. The border belongs to the next place, and the tree knows the sums "
            "already: walk down.",
        ),
        Misconception(
            "over all the leaves, and beyond the last place",
            over_the_leaves("right"),
            "You add up all the leaves and search there, and the total leads beyond the last "
            "place. The tree knows the sums already, and `self.enter` keeps numbers below the "
            "total: walk down.",
        ),
    ],
    properties=[
        Property("rounding", never_without_priority, ROUNDING),
        Property("wrong below a wider top level", from_any_top_level, WIDER_TOP),
        Property("adds up the leaves", walks_down, NO_LEAVES),
        no_mutation(retrieve_cases, observe_retrieve),
        Property(
            "changes the tree",
            leaves_the_tree_alone,
            "The places are right, but the tree is another one afterwards. Who looks for a place "
            "must leave the sums as they are.",
        ),
        Property(
            "accepts what cannot be",
            refuses_what_cannot_be,
            "An empty tree, a negative prefix sum and NaN must raise a `ValueError`, before "
            "somebody learns from an empty place. `self.enter` does that: start with it.",
        ),
        Property(
            "no array",
            gives_an_array,
            "The places are right, but they stand in a list or a tensor, and the buffer computes "
            "with arrays: return a numpy array.",
        ),
        Property(
            "no whole numbers",
            gives_whole_numbers,
            "The places are right, but nothing can be indexed with numbers that have a decimal "
            "point. Keep whole numbers: `//` in place of `/`, and no `np.zeros` without a type.",
        ),
    ],
)
