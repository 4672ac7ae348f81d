"""Sum trees beside a plain array: the same sums and draws, at any capacity."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentences import one_sentence

from helpers.memory.segment_tree import SumTree

quick = settings(deadline=None, max_examples=80, derandomize=True)
capacities, tops = st.integers(1, 70), st.sampled_from([1, 2, 3, 8, 69, None])
# Powers of two from tiny to huge, and zeros: where rounding shows and where it does not.
priorities = st.one_of(st.just(0.0), st.floats(1e-9, 1e9), st.sampled_from([2.0**-40, 0.1, 1.0]))


@st.composite
def many_sets(draw, value=priorities):
    """A capacity, and batches of (places, values) to set one after the other; places come twice."""
    capacity = draw(capacities)
    batch = st.lists(st.tuples(st.integers(0, capacity - 1), value), max_size=12)
    return capacity, draw(st.lists(batch, min_size=1, max_size=6))


def filled(values, top=None):
    tree = SumTree(len(values), top)
    tree[np.arange(len(values))] = values
    return tree


# ---- a tree is an array that knows its sum -------------------------------------------------------


@quick
@given(many_sets(), tops)
def test_after_any_sets_it_agrees_with_an_array(sets, top):
    capacity, batches = sets
    tree, plain = SumTree(capacity, top), np.zeros(capacity)
    for batch in batches:
        tree[[i for i, _ in batch]] = [v for _, v in batch]
        for i, value in batch:  # the last one counts
            plain[i] = value
    np.testing.assert_array_equal(tree[np.arange(capacity)], plain)
    assert math.isclose(tree.total, math.fsum(plain), rel_tol=1e-13)
    assert type(tree.total) is float


def test_with_a_top_of_one_it_is_the_tree_of_the_textbooks():
    tree = filled([3.0, 1.0, 4.0, 1.0, 5.0], top=1)
    assert tree.nodes[1:].tolist() == [14, 9, 5, 4, 5, 5, 0, 3, 1, 4, 1, 5, 0, 0, 0]


# ---- places and values ---------------------------------------------------------------------------


def test_places_are_given_as_arrays_lists_or_numbers():
    tree = SumTree(10)
    tree[3] = 2
    tree[[4, 5]] = [1, 7]
    tree[np.array([[6, 7], [8, 9]])] = np.array([[1.5, 2.5], [3.5, 4.5]], np.float32)
    tree[np.array([0, 1, 2], np.uint64)] = 6.0  # one for all
    assert [float(value) for value in tree] == [6, 6, 6, 2, 1, 7, 1.5, 2.5, 3.5, 4.5]
    assert len(tree) == 10
    assert tree[3] == 2
    assert tree[[[4], [5]]].tolist() == [[1], [7]]
    assert tree[[4]].dtype == np.float64
    tree[[]] = []
    assert tree[[]].shape == (0,)


# ---- drawing -------------------------------------------------------------------------------------


@quick
@given(many_sets(st.integers(0, 5).map(float)), tops, st.data())
def test_retrieve_finds_what_a_cumulative_sum_finds(sets, top, data):
    """Whole numbers, so that every sum is exact."""
    capacity, batches = sets
    tree = SumTree(capacity, top)
    for batch in batches:
        tree[[i for i, _ in batch]] = [v for _, v in batch]
    tree[data.draw(st.integers(0, capacity - 1))] = 3.0  # not empty
    total = tree.total
    prefix_sums = np.concatenate([np.arange(total), np.arange(total) + 0.5])
    expected = tree.leaves.cumsum().searchsorted(prefix_sums, side="right")
    np.testing.assert_array_equal(tree.retrieve(prefix_sums), expected)
    last = np.flatnonzero(tree.leaves)[-1]
    beyond = [total, np.nextafter(total, np.inf), 2 * total + 1]
    assert tree.retrieve(beyond).tolist() == [last] * 3
    assert tree.retrieve([0.0]) == np.flatnonzero(tree.leaves)[0]


@quick
@given(st.lists(priorities, min_size=1, max_size=70).filter(any), tops)
@example([0.1, 1.0, 0.0, 0.0], 1)  # (0.1 + 1) - 0.1 rounds to 1: all of the right child is used up
@example([0.3, 0.1, 0.0, 0.0], 1)
@example([0.3, 0.0, 0.7, 0.0], 1)  # so it does for a right child that ends with an empty leaf
@example([5e-324, 0.0], 1)
def test_no_place_without_priority_is_ever_found(values, top):
    """Prefix sums on, just below and just above every border between two places, and the total."""
    tree = filled(values, top)
    borders = np.concatenate([[0.0, tree.total], np.cumsum(values)])
    around = [borders, np.nextafter(borders, np.inf), np.maximum(np.nextafter(borders, -np.inf), 0)]
    random = np.random.default_rng(0).uniform(0, tree.total, 100)
    found = tree.retrieve(np.concatenate([*around, random]))
    assert (tree[found] > 0).all()
    assert tree.retrieve([0.0]) == np.flatnonzero(values)[0]
    last = np.flatnonzero(values)[-1]
    if values[last] > 1e-12 * tree.total:  # rounding does not swallow it
        assert tree.retrieve([tree.total * (1 + 1e-12)]) == last


# ---- what it refuses -----------------------------------------------------------------------------

FULL = filled([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        *((partial(SumTree, *sizes), ValueError, f"{sizes[0]} and {sizes[1]}")
          for sizes in ((0, 1), (5, 0))),
        *((partial(FULL.__getitem__, wrong), IndexError, "whole numbers")
          for wrong in (1.0, [True, False, True], slice(2), "0", None)),
        *((partial(FULL.__getitem__, wrong), IndexError, "places 0 to 2")
          for wrong in (-1, 3, [0, 3], np.array([2**63], np.uint64))),
        (partial(FULL.__setitem__, 3, 1.0), IndexError, "places 0 to 2"),
        *((partial(FULL.__setitem__, where, what), ValueError, "one priority for each place")
          for where, what in (([0, 1, 2], [1.0, 2.0]), ([0, 1], [[1.0, 2.0]]), (0, [1.0]))),
        *((partial(FULL.__setitem__, [0, 1], [5.0, wrong]), ValueError,
           f"finite number from 0 up.*{wrong}") for wrong in (-1e-300, np.nan, np.inf)),
        (partial(filled(np.zeros(3)).retrieve, [0.0]), ValueError, "empty"),
        *((partial(FULL.retrieve, [0.5, wrong]), ValueError, f"from 0 up, got {wrong}")
          for wrong in (-0.1, np.nan)),
    ],
)  # fmt: skip
def test_what_a_tree_refuses_is_one_sentence_and_sets_nothing(call, kind, told):
    with one_sentence(kind, match=told):
        call()
    assert FULL.leaves.tolist() == [1, 2, 3]
