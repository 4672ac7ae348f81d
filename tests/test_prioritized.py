"""Prioritized replay: how often steps are drawn, what they count for, how far they look ahead."""

import math

import numpy as np
import pytest
import torch
from sentences import one_sentence
from test_buffers import bytes_of

from helpers.memory.buffers import (
    PrioritizedBatch,
    PrioritizedReplayBuffer,
    n_step_return,
    sampling_probabilities,
)


def step(i, terminated=False, truncated=False):
    """Step number i leads from observation i to observation i + 1, and earns i."""
    obs = np.arange(2) / 32 + i
    return obs, np.array([-i]), float(i), obs + 1, terminated, truncated


def filled(n, capacity, demos=0, **options):
    buffer = PrioritizedReplayBuffer(capacity, (2,), (1,), 0, **options)
    for i in range(n):
        add = buffer.add_demonstration if i < demos else buffer.add
        add(*step(i))
    return buffer


def with_priorities(priorities, **options):
    """A full buffer of steps with these priorities."""
    n = len(priorities)
    buffer = filled(n, n, **options)
    buffer.update_priorities(np.arange(n), np.array(priorities))
    return buffer


def draw(buffer, batches=100, size=100):
    """Many batches as one."""
    drawn = [buffer.sample(size) for _ in range(batches)]
    return PrioritizedBatch(*map(torch.cat, zip(*drawn, strict=True)))


# ---- the formulas --------------------------------------------------------------------------------


def test_what_lies_beyond_an_end_does_not_count_whatever_it_is():
    rewards = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, np.inf]])
    ends = np.array([[True, False, False], [False, True, True]])
    returns, lengths = n_step_return(rewards, ends, 0.5)
    assert returns.tolist() == [1, 2]
    assert lengths.tolist() == [1, 2]


# ---- how often -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "size"), [(0.0, 64), (0.3, 1), (1.0, 64)])
def test_steps_are_drawn_as_often_as_their_priority_says(alpha, size):
    """A chi-square test: with 11 degrees of freedom 31.3 is exceeded once in a thousand times.

    Drawn in equal ranges the counts vary less than that; drawn one at a time they do not.
    """
    priorities = np.array([5.0, 0.1, 1.0, 1.0, 40.0, 7.0, 0.5, 2.0, 3.0, 0.2, 11.0, 1.0])
    buffer = with_priorities(priorities, alpha=alpha)
    indices = draw(buffer, 6400 // size, size).indices.numpy()
    expected = len(indices) * sampling_probabilities(priorities, alpha)
    counts = np.bincount(indices, minlength=12)
    assert ((counts - expected) ** 2 / expected).sum() < 31.3


def test_a_batch_has_one_step_from_each_equal_range():
    """Ten steps with a tenth each: a batch of 20 has every one twice, whatever the seed."""
    buffer = with_priorities([3.0] * 10)
    for _ in range(20):
        assert buffer.sample(20).indices.tolist() == [i // 2 for i in range(20)]
    alone = draw(buffer, 2000, 1).indices
    assert set(alone.tolist()) == set(range(10))
    uneven = [tuple(buffer.sample(7).indices.tolist()) for _ in range(50)]
    assert len(set(uneven)) > 20


def test_a_new_step_has_the_largest_priority_there_was():
    buffer = PrioritizedReplayBuffer(3, (2,), (1,), 0, alpha=0.5)
    for i in range(2):
        buffer.add(*step(i))
    assert buffer.sums.leaves.tolist() == [1, 1, 0]  # the first ones have priority 1
    buffer.update_priorities([0, 1], [9.0, 4.0])
    buffer.update_priorities([0], [0.25])  # the largest one that there was, not that there is
    buffer.add(*step(2))
    assert buffer.sums.leaves.tolist() == [0.5, 2, 3]
    assert buffer.smallest == 0.5
    buffer.add(*step(3))  # in the place of step 0
    assert buffer.sums.leaves.tolist() == [3, 2, 3]
    assert (buffer.sums.total, buffer.smallest, buffer.max_priority) == (8, 2, 9)


def test_priorities_are_updated_where_they_belong():
    buffer = with_priorities([1.0] * 5, alpha=0.5)
    batch = buffer.sample(4)
    buffer.update_priorities(batch.indices, batch.indices.float() + 1)  # tensors
    expected = [i + 1 if i in batch.indices.tolist() else 1 for i in range(5)]
    np.testing.assert_allclose(buffer.sums.leaves, np.sqrt(expected), rtol=1e-7)
    buffer.update_priorities([4, 0, 4], [16.0, 9.0, 25.0])  # the last one counts
    assert buffer.sums.leaves[[0, 4]].tolist() == [3, 5]
    buffer.update_priorities(np.array([], int), np.array([]))
    assert buffer.max_priority == 25


# ---- what for ------------------------------------------------------------------------------------


def test_weights_are_those_of_the_whole_buffer():
    priorities = np.array([8.0, 1.0, 2.0, 5.0])
    buffer = with_priorities(priorities, alpha=0.6, beta=0.5)
    for size in (1, 2, 50):
        unscaled = (4 * sampling_probabilities(priorities, 0.6)) ** -buffer.beta
        batch = buffer.sample(size)
        expected = (unscaled / unscaled.max())[batch.indices]
        np.testing.assert_allclose(batch.weights, expected, rtol=1e-5)


def test_beta_grows_in_a_straight_line_with_the_batches_and_with_nothing_else():
    buffer = with_priorities([1.0, 16.0], alpha=1.0, beta=0.4, beta_samples=6)
    betas = []
    for _ in range(9):
        assert buffer.beta == buffer.beta  # looking at it changes nothing
        batch = buffer.sample(30)
        heavy = batch.weights[batch.indices == 1][0].item()
        betas.append(-math.log(heavy) / math.log(16))
        buffer.update_priorities([0], [1.0])
    np.testing.assert_allclose(betas, [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1], rtol=1e-5)


# ---- demonstrations ------------------------------------------------------------------------------


def test_demonstrations_are_never_overwritten():
    buffer = filled(3, 8, demos=3)
    for i in range(3, 40):
        buffer.add(*step(i))
        batch = draw(buffer, 3)
        assert len(buffer) == min(i + 1, 8)
        assert set(batch.reward[batch.is_demo == 1].tolist()) == {0, 1, 2}
        assert set(batch.reward[batch.is_demo == 0].tolist()) == set(range(max(3, i - 4), i + 1))
    batch = draw(buffer)
    assert set(batch.is_demo.tolist()) == {0.0, 1.0}
    np.testing.assert_array_equal(batch.is_demo == 1, batch.indices < 3)


def test_many_demonstrations_at_once_are_the_same_as_one_by_one():
    steps = [step(i, terminated=i == 2, truncated=i == 4) for i in range(6)]
    one_by_one, at_once = (PrioritizedReplayBuffer(9, (2,), (1,), 0, n_steps=3) for _ in range(2))
    for each in steps:
        one_by_one.add_demonstration(*each)
    at_once.add_demonstrations(*(np.array(part) for part in zip(*steps, strict=True)))
    for buffer in (one_by_one, at_once):
        buffer.add(*step(6))
    assert bytes_of(one_by_one.sample(50)) == bytes_of(at_once.sample(50))
    assert at_once.demos == 6


def test_demonstrations_that_do_not_fit_are_one_sentence_and_none_is_stored():
    buffer, later = filled(2, 4, demos=2), filled(3, 9, demos=2)
    two = [np.array(part) for part in zip(step(2), step(3), strict=True)]
    for into, demos, words in (
        (buffer, two, "no room"),
        (buffer, [two[0][:1], *two[1:]], "[1, 2, 2, 2, 2, 2]"),
        (later, two, "Demonstrations"),  # which come first
    ):
        before = bytes_of(into.tensors), into.demos, len(into)
        with one_sentence(ValueError, words):
            into.add_demonstrations(*demos)
        assert (bytes_of(into.tensors), into.demos, len(into)) == before
    buffer.add_demonstration(*step(2))
    for into, words in ((buffer, "no room"), (later, "first")):
        with one_sentence(ValueError, words):
            into.add_demonstration(*step(3))
