"""The buffer that lesson 04 shows samples what the library's buffer samples."""

import numpy as np
import pytest

from helpers.memory.buffers import Batch, PrioritizedReplayBuffer
from helpers.memory.textbook import MinTree, PrioritizedBuffer, SumTree


@pytest.mark.parametrize("capacity", [1, 2, 5, 8, 33])
def test_a_tree_knows_its_sum_and_its_minimum_and_finds_places(capacity):
    rng = np.random.default_rng(capacity)
    sums, minima, plain = SumTree(capacity), MinTree(capacity), np.zeros(capacity)
    assert minima.root() == np.inf
    for place in [*range(capacity), *rng.integers(0, capacity, 50)]:
        plain[place] = rng.integers(0, 9) / 4 + (place == 0)
        sums.set(place, plain[place])
        minima.set(place, plain[place])
    assert sums.root() == plain.sum()
    assert minima.root() == plain.min()
    for number in np.arange(0, plain.sum(), 0.125):
        assert sums.retrieve(number) == plain.cumsum().searchsorted(number, side="right")
    assert sums.retrieve(plain.sum()) == np.flatnonzero(plain)[-1]


def test_the_textbook_s_buffer_is_the_library_s():
    ours = PrioritizedReplayBuffer(37, (2,), (1,), 1, alpha=0.3, beta=0.4, beta_samples=10**9)
    shown = PrioritizedBuffer(37, (2,), (1,), np.random.default_rng(1), alpha=0.3, beta=0.4)
    rng = np.random.default_rng(0)
    for step in range(200):
        one = rng.normal(size=2), rng.normal(size=1), step, rng.normal(size=2), False, step % 9 == 8
        for buffer in (ours, shown):
            (buffer.add_demonstration if step < 10 else buffer.add)(*one)
        if step % 3 == 0:
            (rows, weights, places), expected = shown.sample(8), ours.sample(8)
            np.testing.assert_array_equal(places, expected.indices)
            np.testing.assert_allclose(weights, expected.weights, rtol=1e-5)
            assert all((getattr(rows, n) == getattr(expected, n)).all() for n in Batch._fields)
            priorities = rng.random(8) + 0.01
            shown.update_priorities(places, priorities)
            ours.update_priorities(places, priorities)
