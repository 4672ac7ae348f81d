"""Going on after `load` equals never having stopped: bit for bit, from any step."""

import copy

import numpy as np
import pytest
import torch
from environments import TORQUE, AnySpace, Probe, make
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence
from test_resume import BOTH
from trials import quick
from wholes import AGENTS, flat

from helpers.envs.make import make_env, make_training_env
from helpers.envs.resumable import Resumable
from helpers.memory.buffers import (
    PrioritizedReplayBuffer,
    ReplayBuffer,
    restore_memory,
    stored_memory,
)

# ---- what a file may not hold --------------------------------------------------------------------


@pytest.fixture
def saved(name, tmp_path):
    """The class of an agent, and the file it was saved to."""
    agent = AGENTS[name]().learn(19)
    agent.save(tmp_path / "a.pt", replay=True)
    return type(agent), tmp_path / "a.pt"


def refused(kind, path, change):
    content = torch.load(path, weights_only=True)
    change(content["under_way"])
    torch.save(content, path)
    with one_sentence(ValueError, str(path), match=r"cannot be loaded|not an agent"):
        kind.load(path)


@BOTH
def test_the_file_is_read_without_running_code(saved):
    content = torch.load(saved[1], weights_only=True)
    assert content["under_way"]["episode"]["going_on"] is True
    assert len(content["under_way"]["memories"]["buffer"]["steps"]) == 6


def at(*path, value):
    """A change of what stands there; an exception takes it out."""

    def change(content):
        for name in path[:-1]:
            content = content[name]
        if value is KeyError:
            del content[path[-1]]
        else:
            content[path[-1]] = value(content[path[-1]]) if callable(value) else value

    return change


BUFFER = ("memories", "buffer")
DAMAGE = {
    "no memories": at("memories", value=KeyError),
    "memories of another kind": at("memories", value=[1]),
    "no episode": at("episode", value=KeyError),
    "an episode of another kind": at("episode", value="nonsense"),
    "no buffer": at(*BUFFER, value=KeyError),
    "no steps": at(*BUFFER, "steps", value=KeyError),
    "no part": at(*BUFFER, "steps", value=lambda steps: steps[:5]),
    "a part too many": at(*BUFFER, "steps", value=lambda steps: [*steps, steps[0]]),
    "parts of other lengths": at(*BUFFER, "steps", 2, value=lambda part: part[:-1]),
    "observations of another size": at(*BUFFER, "steps", 0, value=lambda part: part[:, :1]),
    "other numbers": at(*BUFFER, "steps", 1, value=lambda part: part.double()),
    "too many steps": at(
        *BUFFER, "steps", value=lambda steps: [torch.cat([part] * 100) for part in steps]
    ),
    "a position beyond": at(*BUFFER, "position", value=10_000),
    "a position before": at(*BUFFER, "position", value=-1),
    "a position between": at(*BUFFER, "position", value=1.5),
    "a position where the next step does not go": at(*BUFFER, "position", value=3),
    "no noise": at("memories", "noise", value=KeyError),
}


@BOTH
@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_memory_that_does_not_fit_is_one_sentence(saved, change):
    refused(*saved, change)


PRIORITIES_DAMAGE = {
    "no priorities": at(*BUFFER, "priorities", value=KeyError),
    "too few": at(*BUFFER, "priorities", value=lambda p: p[:-1]),
    "zero": at(*BUFFER, "priorities", value=lambda p: p * 0),
    "not numbers": at(*BUFFER, "priorities", value=lambda p: p * np.nan),
    "endless": at(*BUFFER, "priorities", value=lambda p: p * np.inf),
    "of another kind": at(*BUFFER, "priorities", value=lambda p: p.float()),
    "other ends": at(*BUFFER, "ends", value=lambda ends: ends[1:]),
    "ends of another kind": at(*BUFFER, "ends", value=lambda ends: ends.float()),
    "more demonstrations than steps": at(*BUFFER, "demos", value=5000),
    "fewer demonstrations than none": at(*BUFFER, "demos", value=-1),
    "a newest step that is not there": at(*BUFFER, "newest", value=5000),
    "a sample count": at(*BUFFER, "samples", value="many"),
    "a largest priority": at(*BUFFER, "max_priority", value=float("nan")),
}


@pytest.mark.parametrize("name", ["ddpgfd"])
@pytest.mark.parametrize("change", PRIORITIES_DAMAGE.values(), ids=PRIORITIES_DAMAGE.keys())
def test_priorities_that_cannot_be_are_one_sentence(saved, change):
    refused(*saved, change)


WAYS = {
    "no way": at("episode", "trace", value=None),
    "no start": at("episode", "trace", "start", value=KeyError),
    "another start": at("episode", "trace", "start", value=7),
    "a start that is none": at("episode", "trace", "start", value={"a": 1}),
    "no action": at("episode", "trace", "actions", value=lambda actions: actions[:0]),
    "actions of another size": at("episode", "trace", "actions", value=torch.zeros(3, 5)),
    "actions of no kind": at("episode", "trace", "actions", value="left, left, right"),
    "another place": at("episode", "trace", "obs", value=lambda obs: obs + 1),
    "a place of another size": at("episode", "trace", "obs", value=torch.zeros(8)),
    "another return": at("episode", "trace", "return", value=12.0),
    "an end": at("episode", "trace", "over", value=True),
}


@pytest.mark.parametrize("name", ["td3"])
@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS.keys())
def test_a_way_that_leads_nowhere_is_a_new_episode(saved, change, capsys):
    kind, path = saved
    content = torch.load(path, weights_only=True)
    change(content["under_way"])
    torch.save(content, path)
    loaded = kind.load(path)
    assert_one_sentence(capsys.readouterr().out.strip(), "new episode")
    assert loaded.obs is None
    loaded.learn(5)


@pytest.mark.parametrize("name", ["a2c"])
@pytest.mark.parametrize("trace", [None, [], [None] * 3, [None] * 7, "three ways"], ids=str)
def test_ways_that_lead_nowhere_are_new_episodes(saved, trace, capsys):
    kind, path = saved
    content = torch.load(path, weights_only=True)
    content["under_way"]["episode"]["trace"] = trace
    torch.save(content, path)
    loaded = kind.load(path)
    assert "new episode" in capsys.readouterr().out
    loaded.learn(30)


# ---- the parts -----------------------------------------------------------------------------------


@quick
@given(capacity=st.integers(4, 12), steps=st.integers(0, 40), demos=st.integers(0, 3))
def test_a_prioritized_memory_comes_back_whole(capacity, steps, demos):
    def new():
        return PrioritizedReplayBuffer(capacity, (2,), (1,), 0, n_steps=3)

    rng, buffer = np.random.default_rng(steps), new()

    def step():
        return (
            rng.normal(size=2),
            rng.normal(size=1),
            1.0,
            rng.normal(size=2),
            rng.random() < 0.2,
            0,
        )

    for _ in range(demos):
        buffer.add_demonstration(*step())
    for i in range(steps):
        buffer.add(*step())
        if i % 3 == 0:
            batch = buffer.sample(4)
            buffer.update_priorities(batch.indices, rng.random(4) + 0.1)
    other = new()
    restore_memory(other, copy.deepcopy(stored_memory(buffer)))
    other.rng.bit_generator.state = buffer.rng.bit_generator.state
    for each in (other, buffer):
        each.add(np.ones(2), np.ones(1), 2.0, np.ones(2), False, True)
    for one, two in zip(buffer.sample(20), other.sample(20), strict=True):
        assert torch.equal(one, two)
    assert flat(stored_memory(buffer)) == flat(stored_memory(other))


def test_stored_memory_is_the_filled_part_and_no_copy():
    buffer = ReplayBuffer(1000, (2,), (1,), 0)
    for _ in range(3):
        buffer.add(np.ones(2), np.ones(1), 1.0, np.ones(2), False, False)
    obs = stored_memory(buffer)["steps"][0]
    assert obs.untyped_storage().nbytes() == 3 * 2 * 4
    assert obs.data_ptr() == buffer.tensors.obs.data_ptr()


def test_an_environment_is_brought_where_another_is():
    env, other = make_training_env("Short-v0"), make_training_env("Short-v0")
    assert env.trace() is None
    env.reset(seed=3)
    for i in range(20):
        obs, *_, over, _ = env.step(np.float32([i % 3 - 1]))
        trace = copy.deepcopy(env.trace())
        assert other.resume(trace)
        assert flat(other.trace()) == flat(trace)
        np.testing.assert_array_equal(other.obs, obs)
        if over:
            starts = [each.reset()[0] for each in (env, other)]
            np.testing.assert_array_equal(*starts)


def test_actions_are_remembered_as_they_were_given():
    """Also if the environment writes into them."""

    class Writing(AnySpace):
        def play(self, action):
            result = super().play(action.copy())
            action[:] = 99
            return result

    env = Resumable(make(Writing, action_space=TORQUE))
    env.reset(seed=0)
    env.step(np.float32([0.5]))
    assert env.trace()["actions"].tolist() == [[0.5]]


@pytest.mark.parametrize(
    "action_space", [spaces.Discrete(3), spaces.Box(-1, 1, ()), TORQUE], ids=str
)
def test_any_action_can_be_taken_again(action_space):
    """The environments themselves refuse what is none of theirs."""
    env, other = (Resumable(make(Strict, action_space=action_space)) for _ in range(2))
    env.reset(seed=1)
    for _ in range(2):
        env.step(np.asarray(action_space.sample()) if action_space != 3 else 1)
        assert other.resume(env.trace())


class Strict(Probe):
    """Random observations from the generator that gymnasium gives it."""

    def observe(self):
        return self.np_random.normal(size=1).astype(np.float32)

    def play(self, action):
        return float(self.np_random.normal()), False, self.t == 3


class OldStyle(Strict):
    """Its generator keeps arrays in its state."""

    def reset(self, *, seed=None, options=None):
        if seed is not None or self.np_random is None:
            self.np_random = np.random.Generator(np.random.MT19937(seed))
        self.t, self.over = 0, False
        return self.observe(), {}


def test_a_generator_of_another_kind_is_known_by_its_seed_alone():
    env, other = (Resumable(make(OldStyle, action_space=TORQUE)) for _ in range(2))
    env.reset(seed=1)
    env.step(np.float32([0]))
    assert other.resume(env.trace())
    env.reset()
    assert env.trace() is None


def test_the_environment_of_an_agent_is_made_or_the_one_it_was_given():
    env = make_env("Pendulum-v1")
    assert make_training_env(env).env is env
    assert make_training_env("Pendulum-v1").spec.id == "Pendulum-v1"
