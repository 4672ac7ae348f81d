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
capacities, tops = st.integers(1, 70), st.sampled_from([1, 2, 3, 8, 69, 8192])
# Powers of two from tiny to huge, and zeros: where rounding shows and where it does not.
priorities = st.one_of(st.just(0.0), st.floats(1e-9, 1e9), st.sampled_from([2.0**-40, 0.1, 1.0]))


@st.composite
def many_sets(draw, value=priorities):
    """A capacity, and batches of (places, values) to set one after the other; places come twice."""
    capacity = draw(capacities)
    batch = st.lists(st.tuples(st.integers(0, capacity - 1), value), max_size=12)
    return capacity, draw(st.lists(batch, min_size=1, max_size=6))


def filled(values, top=8192):
    tree = SumTree(len(values), top)
    tree.set(np.arange(len(values)), np.array(values))
    return tree


# ---- a tree is an array that knows its sum -------------------------------------------------------


@quick
@given(many_sets(), tops)
def test_after_any_sets_it_agrees_with_an_array(sets, top):
    capacity, batches = sets
    tree, plain = SumTree(capacity, top), np.zeros(capacity)
    for batch in batches:
        tree.set(np.array([i for i, _ in batch], int), np.array([v for _, v in batch]))
        for i, value in batch:  # the last one counts
            plain[i] = value
    np.testing.assert_array_equal(tree.leaves, plain)
    assert math.isclose(tree.total, math.fsum(plain), rel_tol=1e-13)
    assert type(tree.total) is float


def test_with_a_top_of_one_it_is_the_tree_of_the_textbooks():
    tree = filled([3.0, 1.0, 4.0, 1.0, 5.0], top=1)
    assert tree.nodes[1:].tolist() == [14, 9, 5, 4, 5, 5, 0, 3, 1, 4, 1, 5, 0, 0, 0]


# ---- drawing -------------------------------------------------------------------------------------


@quick
@given(many_sets(st.integers(0, 5).map(float)), tops, st.data())
def test_retrieve_finds_what_a_cumulative_sum_finds(sets, top, data):
    """Whole numbers, so that every sum is exact."""
    capacity, batches = sets
    tree = SumTree(capacity, top)
    for batch in batches:
        tree.set(np.array([i for i, _ in batch], int), np.array([v for _, v in batch]))
    tree.set(np.array([data.draw(st.integers(0, capacity - 1))]), np.array([3.0]))  # not empty
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
    assert (tree.leaves[found] > 0).all()
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
        (partial(filled(np.zeros(3)).retrieve, [0.0]), ValueError, "empty"),
        *((partial(FULL.retrieve, [0.5, wrong]), ValueError, f"from 0 up, got {wrong}")
          for wrong in (-0.1, np.nan)),
    ],
)  # fmt: skip
def test_what_a_tree_refuses_is_one_sentence_and_sets_nothing(call, kind, told):
    with one_sentence(kind, match=told):
        call()
    assert FULL.leaves.tolist() == [1, 2, 3]
