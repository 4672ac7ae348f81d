"""Pictures as environments show them, and a memory that holds each of them once."""

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import Probe, make
from gymnasium import spaces
from sentences import one_sentence
from trials import snapshot

from helpers.agents import A2C, TD3
from helpers.agents.ddpgfd import DDPGfD
from helpers.envs.make import is_image, picture_shape
from helpers.memory.buffers import (
    PrioritizedReplayBuffer,
    ReplayBuffer,
    restore_memory,
    stored_memory,
)
from helpers.memory.pictures import keep_pictures_once

TINY = {"learning_starts": 6, "batch_size": 4, "buffer_size": 40, "hidden": 4}
BOTH = pytest.mark.parametrize("kind", [ReplayBuffer, PrioritizedReplayBuffer])


class Racing(Probe):
    """As CarRacing-v3: pictures of 96 x 96 pixels, colours last; steering, gas and brake."""

    action_space = spaces.Box(np.float32([-1, 0, 0]), np.float32([1, 1, 1]))

    def __init__(self, size=96, order=(0, 1, 2), length=5, **shared):
        super().__init__(**shared)
        self.order, self.size, self.length = order, size, length
        shape = np.array((size, size, 3))[list(order)]
        self.observation_space = spaces.Box(0, 255, tuple(map(int, shape)), np.uint8)

    def observe(self):
        rng = np.random.default_rng([self.t, self.size])
        return rng.integers(0, 256, (self.size, self.size, 3), np.uint8).transpose(self.order)

    def play(self, action):
        return float(action[1]), self.t == self.length, False


def box(*shape):
    return spaces.Box(0, 255, shape, np.uint8)


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        (box(96, 96, 3), (3, 96, 96)), (box(3, 96, 96), (3, 96, 96)), (box(84, 84, 1), (1, 84, 84)),
        (box(4, 84, 84), (4, 84, 84)), (box(4, 96, 64, 3), (12, 96, 64)), (box(8, 8, 8), (8, 8, 8)),
        (box(2, 3, 10, 12), (6, 10, 12)), (box(84, 84), None), (box(7, 9, 3), None),
        (box(2, 2, 3, 16, 16), None), (spaces.Box(0, 1, (96, 96, 3)), None),
    ],
    ids=str,
)  # fmt: skip
def test_which_axes_are_channels(space, shape):
    assert is_image(space) is (shape is not None)
    assert shape is None or picture_shape(space) == shape


def test_channels_last_or_first_or_stacked_the_agent_is_the_same():
    agents = []
    for order in ((0, 1, 2), (2, 0, 1)):
        agents.append(TD3(make(Racing, size=16, order=order), seed=0, **TINY).learn(20))
    last, first = (snapshot(agent.actor) for agent in agents)
    assert all(map(torch.equal, last, first))
    shown = make(Racing, size=16)
    obs, _ = shown.reset()
    actions = agents[0].predict(obs), agents[1].predict(obs.transpose(2, 0, 1))
    np.testing.assert_array_equal(*actions)
    batch = agents[0].predict(np.stack([obs, 255 - obs]))
    np.testing.assert_array_equal(batch[0], actions[0])
    stacked = gym.wrappers.FrameStackObservation(shown, 2)
    assert TD3(stacked, seed=0, **TINY).learn(10).flat_space.shape == (2, 16, 16, 3)


def test_pictures_of_a_race_are_seen_and_kept_in_bytes():
    agent = TD3(make(Racing), seed=0, **TINY).learn(12)
    encoder = agent.critic.encoder
    assert encoder.convolutions[0].in_channels == 3
    assert agent.buffer.sample(2).obs.dtype == torch.uint8
    obs = agent.buffer.arrays.obs[0].reshape(3, 96, 96)
    np.testing.assert_array_equal(obs, make(Racing).reset()[0].transpose(2, 0, 1))
    # Six different observations of three colours each, shown over and over again.
    assert len(agent.buffer.arrays.obs.store) == 6 * 3


def test_where_no_encoder_sees_pictures_are_refused_and_not_made_flat():
    with one_sentence(ValueError, "A2C takes no pictures", "FlattenObservation, or use DDPG"):
        A2C(make(Racing))


# ---- each picture once ---------------------------------------------------------------------------


def filled(kind, steps, once, capacity=50, pictures=3, size=64, seed=0):
    """A memory of stacked pictures, as an environment shows them; episodes of 2 to 9 steps."""
    buffer = kind(capacity, (pictures * size,), (1,), 1)
    if once:
        keep_pictures_once(buffer, pictures, size)
    rng = np.random.default_rng(seed)
    stack, left = None, 0
    for _ in range(steps):
        if left == 0:
            stack = np.tile(rng.integers(0, 256, size, np.uint8), (pictures, 1))
            left = int(rng.integers(2, 10))
        after = np.concatenate([stack[1:], rng.integers(0, 256, (1, size), np.uint8)])
        left -= 1
        buffer.add(stack.ravel(), rng.random(1), rng.random(), after.ravel(), left == 0, False)
        stack = after
    return buffer


@BOTH
@pytest.mark.parametrize("steps", [3, 51, 400])
def test_samples_are_the_same_and_no_picture_is_there_twice(kind, steps):
    buffer, plain = filled(kind, steps, once=True), filled(kind, steps, once=False)
    for name in ("obs", "next_obs"):
        kept, expected = getattr(buffer.arrays, name), getattr(plain.arrays, name)
        np.testing.assert_array_equal(kept[: len(plain)], expected[: len(plain)])
        np.testing.assert_array_equal(kept[0], expected[0])
    both = np.concatenate([plain.arrays.obs[: len(plain)], plain.arrays.next_obs[: len(plain)]])
    store = buffer.arrays.obs.store
    assert len(store) == len(np.unique(both.reshape(-1, 64), axis=0))
    assert len(store.pixels) <= max(64, 1.3 * (50 + 50 / 2) + 64)
    drawn = [(buffer.sample(16), plain.sample(16)) for _ in range(20)]
    for ours, theirs in drawn:
        assert ours.obs.dtype == ours.next_obs.dtype == torch.uint8
        for part, other in zip(ours, theirs, strict=True):
            assert torch.equal(part.to(other.dtype), other)


@BOTH
def test_a_copy_and_a_stored_memory_hold_each_once_as_well(kind):
    buffer = filled(kind, 77, once=True)
    restored = kind(50, (192,), (1,), 1)
    keep_pictures_once(restored, 3, 64)
    restore_memory(restored, copy.deepcopy(stored_memory(buffer)))
    copied = copy.deepcopy(buffer)
    assert copied.arrays.obs is copied.tensors.obs
    assert len(restored.arrays.obs.store) == len(buffer.arrays.obs.store)
    before = buffer.arrays.obs[:50].copy()
    copied.add(np.zeros(192, np.uint8), [0.0], 0.0, np.ones(192, np.uint8), True, False)
    np.testing.assert_array_equal(buffer.arrays.obs[:50], before)
    np.testing.assert_array_equal(restored.arrays.obs[:50], before)


@pytest.mark.parametrize("kind", [TD3, DDPGfD])
def test_agents_that_see_keep_pictures_once(kind):
    agent = kind(make(Racing, size=16, length=30), seed=0, **TINY).learn(30)
    assert len(agent.buffer.arrays.obs.store) == 31 * 3  # 30 steps show 31 pictures


def test_a_long_memory_takes_no_room_before_there_are_pictures():
    agent = TD3(make(Racing), seed=0, **TINY | {"buffer_size": 1_000_000})
    held = [*agent.buffer.tensors, agent.buffer.arrays.obs.store.pixels]
    assert sum(getattr(each, "nbytes", 0) for each in held) < 100e6  # 27,648 bytes a picture
