"""Ctrl-C anywhere within a step of a memory: what is there can be learned from, and saved."""

import copy
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from wholes import AGENTS

from helpers.memory import buffers
from helpers.memory.buffers import PrioritizedReplayBuffer, ReplayBuffer
from helpers.memory.pictures import keep_pictures_once

MEMORY = str(Path(buffers.__file__).parent)


def stopped(number, call):
    """Whether Ctrl-C came at this line of all that `call` runs in the memories' code."""
    lines = []

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(MEMORY):
            return None
        if event == "line":
            lines.append(frame.f_lineno)
            if len(lines) == number:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return len(lines) >= number  # an agent's `learn` has caught it


class Played:
    """Episodes of 2 to 7 steps, each numbered from a hundred of its own on; that is its reward."""

    def __init__(self, kind, demos=0, **settings):
        self.buffer = kind(12, (16,), (1,), 0, **settings)
        self.rng, self.number = np.random.default_rng(0), 0
        self.begin()
        keep_pictures_once(self.buffer, 2, 8)
        for _ in range(demos):
            self.step(self.buffer.add_demonstration)
        self.begin()

    def begin(self):
        self.number, self.t, self.length = self.number + 100, 0, self.rng.integers(2, 8)

    def shown(self, reward):
        """The bytes of two numbers: of the step before, if there is one, and of this one."""
        return np.frombuffer(np.array([reward - (reward % 100 > 0), reward]).tobytes(), np.uint8)

    def step(self, add=None):
        obs, after = (self.shown(self.number + t) for t in (self.t, self.t + 1))
        reward, self.t = self.number + self.t, self.t + 1
        over = self.t == self.length
        if over:
            self.begin()
        (add or self.buffer.add)(obs, [0.0], reward, after, over, False)
        if isinstance(self.buffer, PrioritizedReplayBuffer):
            new = self.rng.exponential(size=3) + 0.01
            self.buffer.update_priorities(self.rng.integers(0, len(self.buffer), 3), new)

    def check(self):
        buffer = self.buffer
        for i, reward in enumerate(buffer.arrays.reward[: len(buffer)].astype(int)):
            np.testing.assert_array_equal(buffer.arrays.obs[i], self.shown(reward))
            np.testing.assert_array_equal(buffer.arrays.next_obs[i], self.shown(reward + 1))
        store = buffer.arrays.obs.store
        rows = np.concatenate([buffer.arrays.obs.places, buffer.arrays.next_obs.places])
        assert len(store) == len(np.unique(rows[rows >= 0]))
        if isinstance(buffer, PrioritizedReplayBuffer):
            leaves = buffer.sums.leaves
            assert buffer.smallest == leaves[leaves > 0].min()
            assert buffer.sums.total == pytest.approx(leaves.sum())
            assert buffer.sample(8).weights.max() <= 1
            sums, last, _ = buffer.look_ahead(np.arange(len(buffer)))
            first = buffer.arrays.reward[: len(buffer)]
            lengths = buffer.arrays.reward[last] - first + 1  # of one episode, in a row
            np.testing.assert_array_equal(sums, lengths * (first + buffer.arrays.reward[last]) / 2)


@pytest.mark.parametrize("steps", [5, 30])  # the memory has room, or is full
@pytest.mark.parametrize(
    ("kind", "demos"),
    [(ReplayBuffer, 0), (PrioritizedReplayBuffer, 0), (PrioritizedReplayBuffer, 3)],
)
def test_a_memory_goes_on_wherever_it_was_stopped(kind, demos, steps):
    windows = {"n_steps": 3, "gamma": 1.0} if kind is PrioritizedReplayBuffer else {}
    played = Played(kind, demos, **windows)
    for _ in range(steps):
        played.step()
    number = 1
    while stopped(number, (again := copy.deepcopy(played)).step):
        again.begin()
        for more in (1, 20):
            for _ in range(more):
                again.step()
            again.check()
        number += 1
    assert number > 30


@pytest.mark.parametrize("name", ["td3-pixels", "ddpgfd"])
def test_an_agent_learns_on_and_is_saved_wherever_it_was_stopped(name, tmp_path):
    agent, number = AGENTS[name](buffer_size=1500).learn(12), 1  # there is room
    while stopped(number, partial(agent.learn, 1)):
        agent.save(tmp_path / "a.pt", replay=True)
        for each in (type(agent).load(tmp_path / "a.pt"), agent):
            before = each.steps
            assert each.learn(2).steps == before + 2
        number += 11
    assert number > 20
