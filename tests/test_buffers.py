"""The replay buffer: what goes in comes out, whole, with equal chance, and stays as it was."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import one_sentence

from helpers.memory.buffers import Batch, PrioritizedReplayBuffer, ReplayBuffer

quick = settings(deadline=None, max_examples=60, derandomize=True)
shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
both_kinds = pytest.mark.parametrize("kind", [ReplayBuffer, PrioritizedReplayBuffer])


def step(i, obs_shape=(2,), action_shape=(1,)):
    """Step number i: each of its parts says so in its own way; all four endings come up."""
    obs, action = (np.arange(np.prod(s)).reshape(s) / 32 for s in (obs_shape, action_shape))
    return obs + i, action - i, float(i), obs + i + 0.5, i % 2 == 0, i % 4 < 2


def filled(n, capacity, obs_shape=(2,), action_shape=(1,), rng=0, kind=ReplayBuffer):
    buffer = kind(capacity, obs_shape, action_shape, rng)
    for i in range(n):
        buffer.add(*step(i, obs_shape, action_shape))
    return buffer


def bytes_of(batch):
    return [part.numpy().tobytes() for part in batch]


# ---- what comes out ------------------------------------------------------------------------------


@both_kinds
@quick
@given(st.integers(1, 7), st.integers(1, 20), shapes, shapes)
def test_the_last_steps_come_out_whole_and_no_others(kind, capacity, n, obs_shape, action_shape):
    buffer = filled(n, capacity, obs_shape, action_shape, kind=kind)
    assert len(buffer) == min(n, capacity)
    batch = buffer.sample(50 * capacity)
    row_shapes = (obs_shape, action_shape, (), obs_shape, (), ())
    row_shapes += ((), obs_shape, (), (), (), (), ())[: len(batch) - 6]
    for name, part, shape in zip(batch._fields, batch, row_shapes, strict=True):
        assert part.dtype == (torch.int64 if name == "indices" else torch.float32)
        assert part.shape == (50 * capacity, *shape)
    drawn = batch.reward.int().tolist()
    assert set(drawn) == set(range(max(0, n - capacity), n))  # the newest and the oldest too
    expected = zip(*(step(i, obs_shape, action_shape) for i in drawn), strict=True)
    for part, rows in zip(batch, expected, strict=False):  # n steps and weights come after these
        np.testing.assert_array_equal(part.numpy(), np.array(rows, np.float32))


@pytest.mark.parametrize("n", [30, 71])
def test_every_stored_step_is_drawn_with_equal_chance(n):
    """A chi-square test with 29 or 39 degrees of freedom: their mean, four deviations around it."""
    buffer = filled(n, capacity=40)
    draws = torch.cat([buffer.sample(100).reward for _ in range(200)]).int().numpy()
    size = min(n, 40)
    counts, expected = np.bincount(draws - (n - size), minlength=size), 20_000 / size
    assert len(counts) == size
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_square - (size - 1)) < 4 * np.sqrt(2 * (size - 1))


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, bool, list])
def test_observations_and_actions_may_be_of_any_numbers(dtype):
    obs, action, next_obs = np.array([[1, 0]]), np.array([1, 1]), np.array([[0, 0]])
    given = [part.tolist() if dtype is list else part.astype(dtype) for part in (obs, next_obs)]
    buffer = ReplayBuffer(3, (1, 2), (2,), 0)
    buffer.add(given[0], action, np.float64(7), given[1], np.True_, np.False_)
    expected = (obs, action, 7, next_obs, 1, 0)
    for part, value in zip(buffer.sample(1), expected, strict=True):
        assert part.dtype == torch.float32
        np.testing.assert_array_equal(part[0].numpy(), value)


# ---- who owns the memory -------------------------------------------------------------------------


def held(buffer):
    """All that it stores, in bytes."""
    if not isinstance(buffer, PrioritizedReplayBuffer):
        return bytes_of(buffer.tensors)
    others = buffer.sums.nodes.tobytes(), buffer.ends.tobytes(), buffer.smallest
    return bytes_of(buffer.tensors), *others


def go_on(buffer):
    buffer.add(*step(7))
    if isinstance(buffer, PrioritizedReplayBuffer):
        buffer.update_priorities(np.arange(4), np.arange(4) + 5.0)


@pytest.mark.parametrize(
    "kind", [ReplayBuffer, PrioritizedReplayBuffer, partial(PrioritizedReplayBuffer, n_steps=3)]
)
def test_a_batch_is_a_copy(kind):
    buffer = filled(5, capacity=5, kind=kind)
    batch = buffer.sample(20)
    before = bytes_of(batch)
    for _ in range(5):
        go_on(buffer)
    assert bytes_of(batch) == before
    stored = held(buffer)
    for part in batch:
        part.fill_(-99)
    assert held(buffer) == stored
    places = [part.data_ptr() for part in buffer.sample(20)]
    assert len(set(places)) == len(places)


def test_what_was_added_may_change_afterwards():
    buffer, obs, next_obs, action = ReplayBuffer(2, (2,), (1,)), *np.zeros((2, 2)), np.zeros(1)
    buffer.add(obs, action, 0.0, next_obs, False, False)
    for array in (obs, next_obs, action):
        array += 5
    assert all((part == 0).all() for part in buffer.sample(4))


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda buffer: pickle.loads(pickle.dumps(buffer))]
)
@both_kinds
def test_a_copy_goes_on_by_itself(kind, copied):
    buffer = filled(7, capacity=5, kind=kind)
    buffer.sample(3)
    twin = copied(buffer)
    before = held(buffer)
    go_on(twin)
    assert held(buffer) == before
    assert set(twin.sample(200).reward.tolist()) == {3, 4, 5, 6, 7}
    go_on(buffer)
    buffer.sample(200)
    assert bytes_of(buffer.sample(9)) == bytes_of(twin.sample(9))


# ---- randomness ----------------------------------------------------------------------------------


@both_kinds
def test_the_same_seed_gives_the_same_batches(kind):
    legacy = np.random.get_state()[1].tolist()  # noqa: NPY002
    torchs = torch.get_rng_state().tolist()
    rngs = [3, 3, np.random.default_rng(3), 4, None]
    batches = [bytes_of(filled(30, 20, rng=rng, kind=kind).sample(10)) for rng in rngs]
    assert batches[0] == batches[1] == batches[2]
    assert batches[0] != batches[3]
    assert batches[0] != batches[4]
    assert np.random.get_state()[1].tolist() == legacy  # noqa: NPY002
    assert torch.get_rng_state().tolist() == torchs


# ---- what it refuses -----------------------------------------------------------------------------


@both_kinds
def test_a_buffer_without_room_or_steps_is_one_sentence(kind):
    with one_sentence(ValueError, "capacity", "0"):
        kind(0, (2,), (1,))
    with one_sentence(ValueError, "empty"):
        kind(5, (2,), (1,)).sample(1)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("obs", (3,)),  # which numpy would stretch, as most of these
        ("next_obs", (3, 2)),
        ("action", (1,)),
        ("action", (3,)),
        ("reward", (1,)),
        ("terminated", (1,)),
        ("truncated", (2,)),
    ],
)
def test_another_shape_is_one_sentence_and_is_not_stored(name, wrong):
    buffer = filled(3, 5, (2, 3), (2,))
    before = bytes_of(buffer.tensors)
    good = Batch(*step(7, (2, 3), (2,)))
    with one_sentence(ValueError, f"got {wrong}", f"stores {name} of shape"):
        buffer.add(*good._replace(**{name: np.ones(wrong)}))
    assert bytes_of(buffer.tensors) == before
    buffer.add(*good)
    assert set(buffer.sample(200).reward.tolist()) == {0, 1, 2, 7}
