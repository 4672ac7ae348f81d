"""The loop that DDPG and its successors share, on environments where every number is known."""

import threading

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import LOPSIDED, TORQUE, AnySpace, Constant, Log, Needy, Probe, make
from gymnasium import spaces
from sentences import one_sentence
from test_off_policy import Recorder, counting, numbers, stored

from helpers.agents import DDPG
from helpers.envs.make import make_env
from helpers.envs.units import to_env_units
from helpers.evaluation import evaluate

# ---- when it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize("train_freq", [1, 3, 7])
@pytest.mark.parametrize("learning_starts", [1, 9, 10, 60])
@pytest.mark.parametrize("gradient_steps", [1, 3])
def test_updates_come_when_the_counts_say(learning_starts, train_freq, gradient_steps):
    agent = Recorder(
        counting()[0], seed=0, learning_starts=learning_starts, train_freq=train_freq,
        gradient_steps=gradient_steps, batch_size=5, buffer_size=60,
    ).learn(60)  # fmt: skip
    expected = [step for step in range(1, 61) if step % train_freq == 0 and step >= learning_starts]
    assert [step for step, _ in agent.recorded] == [
        s for s in expected for _ in range(gradient_steps)
    ]
    assert agent.updates == len(agent.recorded)
    for _, batch in agent.recorded:
        assert [len(part) for part in batch] == [5] * 6


def test_each_gradient_step_has_a_batch_of_its_own():
    agent = Recorder(counting()[0], seed=0, learning_starts=20, gradient_steps=3).learn(20)
    assert len({batch.obs.numpy().tobytes() for _, batch in agent.recorded}) == 3


def test_the_newest_step_may_be_in_the_batch():
    agent = Recorder(counting()[0], seed=0, batch_size=40, buffer_size=5).learn(30)
    for step, batch in agent.recorded:
        newest = stored_at(agent, step)
        assert newest in [row.tolist() for row in batch.obs]


def stored_at(agent, step):
    """The observation before that step, of an agent whose log is its environment's."""
    before, *_ = agent.env.unwrapped.transitions[step - 1]
    return list(map(float, before))


def test_history_has_episodes_when_they_end_and_a_loss_now_and_then():
    env, log = counting()
    counts = {"gradient_steps": 2, "learning_starts": 11}
    agent = Recorder(env, seed=0, reward_scale=0.25, **counts).learn(100)
    ends = [i for i, (*_, terminated, truncated) in enumerate(log, 1) if terminated or truncated]
    assert [step for step, _ in agent.history["return"]] == ends
    rewards = [reward for _, _, reward, *_ in log]  # as the environment gave them
    returns = [sum(rewards[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
    assert [value for _, value in agent.history["return"]] == pytest.approx(returns)
    assert agent.updates == 180
    every = range(agent.log_every, 181, agent.log_every)
    expected = [(10 + -(-update // 2), update / 2) for update in every]
    assert agent.history["half_loss"] == expected
    assert agent.history.keys() == {"return", "length", "half_loss"}


# ---- what lands in the buffer --------------------------------------------------------------------


@pytest.mark.parametrize("buffer_size", [100, 60, 7])
@pytest.mark.parametrize("reward_scale", [1.0, 0.25])
def test_the_buffer_holds_what_really_happened(buffer_size, reward_scale):
    env, log = counting()
    agent = Recorder(
        env, seed=5, learning_starts=7, buffer_size=buffer_size, reward_scale=reward_scale
    ).learn(60)
    rows = stored(agent)
    assert len(rows) == min(buffer_size, 60)
    for row, real in zip(rows, log[-len(rows) :], strict=True):
        obs, action, reward, next_obs, terminated, truncated = row
        before, taken, paid, after, *over = real
        assert (obs.tolist(), next_obs.tolist()) == (list(before), list(after))
        in_env_units = to_env_units(action.astype(float), LOPSIDED.low, LOPSIDED.high)
        np.testing.assert_allclose(in_env_units, taken, rtol=1e-5)
        assert reward == pytest.approx(paid * reward_scale, rel=1e-6)
        assert [bool(terminated), bool(truncated)] == over
        assert next_obs[:2].tolist() == obs[:2].tolist()  # no row goes over an episode's end
        assert next_obs[2] == obs[2] + 1
    assert {tuple(real[4:]) for real in log} == {
        (False, False), (True, False), (False, True), (True, True)
    }  # fmt: skip


def test_observations_with_a_range_are_stored_and_learned_from_in_minus_1_to_1():
    """Not so in `predict`: it takes the environment's own units."""
    space = spaces.Box(np.float32([[0, -8]]), np.float32([[4, 8]]))
    env = make(AnySpace, observation_space=space, action_space=TORQUE)
    agent = DDPG(env, seed=0, learning_starts=400, batch_size=8, hidden=8).learn(400)
    for part in (agent.buffer.arrays.obs, agent.buffer.arrays.next_obs):
        rows = part[: len(agent.buffer)]
        assert rows.shape == (400, 2)
        np.testing.assert_allclose(rows.min(axis=0), -1, atol=0.02)
        np.testing.assert_allclose(rows.max(axis=0), 1, atol=0.02)
    obs = np.array([[[1, 4]], [[4, -8]]], np.float64)
    scaled = torch.tensor([[-0.5, 0.5], [1, -1]])
    torch.testing.assert_close(agent.flat(obs), scaled)
    with torch.no_grad():
        np.testing.assert_allclose(agent.predict(obs), 2 * agent.actor(scaled), atol=1e-6)


def test_batches_are_made_of_stored_rows():
    agent = Recorder(counting()[0], seed=0, learning_starts=20, batch_size=30).learn(20)
    ((_, batch),) = agent.recorded
    rows = [numbers(*row) for row in stored(agent)]
    drawn = [numbers(*row) for row in zip(*batch, strict=True)]
    assert all(row in rows for row in drawn)
    assert len({tuple(row) for row in drawn}) > 10


class Reuses(Probe):
    """Returns one array again and again, and writes into the action that it was given."""

    action_space = TORQUE

    def observe(self):
        if self.t == 0:
            self.array = np.zeros(1, np.float32)
        self.array += 1
        return self.array

    def play(self, action):
        action[:] = 99
        return 0.0, self.t == 5, False


def test_an_environment_that_reuses_its_arrays_does_no_harm():
    agent = Recorder(make(Reuses), seed=0, noise=None).learn(20)
    for i, (obs, action, _, next_obs, *_) in enumerate(stored(agent)):
        assert (obs.item(), next_obs.item()) == (i % 5 + 1, i % 5 + 2)
        assert -1 <= action.item() <= 1
    assert agent.actor.action.tolist() == [0.25]


def test_episodes_start_elsewhere_and_with_the_same_seed_at_the_same_places():
    starts = {}
    for seed in (0, 0, 1):
        agent = Recorder("Pendulum-v1", seed=seed, learning_starts=1000).learn(1000)
        rows = np.array([row[0] for row in stored(agent)])[::200]
        assert len({tuple(row) for row in rows}) == 5
        if seed in starts:
            np.testing.assert_array_equal(rows, starts[seed])
        starts[seed] = rows
    assert not np.isin(starts[1][:, 0], starts[0][:, 0]).any()
    first, _ = make_env("Pendulum-v1").reset(seed=1)
    np.testing.assert_allclose(agent.flat(first[None])[0], starts[1][0])


# ---- stopping ------------------------------------------------------------------------------------


class Stopping(gym.Wrapper):
    """The step number `at` is made, but stopped before anybody hears of it."""

    def __init__(self, env, at):
        super().__init__(env)
        self.at, self.calls = at, 0

    def step(self, action):
        result = self.env.step(action)
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return result


@pytest.mark.parametrize("at", [1, 2, 9, 10, 11, 12, 13])
def test_a_step_that_was_stopped_joins_no_two_episodes(at, capsys):
    env, log = counting()
    agent = Recorder(Stopping(env, at), seed=0).learn(100)
    assert agent.steps == len(agent.buffer) == at - 1
    assert "call learn again" in capsys.readouterr().out
    agent.learn(50)
    real = [numbers(*before, *after) for before, _, _, after, *_ in log]
    kept = [numbers(obs, next_obs) for obs, _, _, next_obs, *_ in stored(agent)]
    del real[at - 1]
    assert kept == real
    assert len(kept) == agent.steps == at + 49
    assert kept[at - 1][2] == 0  # a new episode
    lengths, ends = [], [i for i, row in enumerate(kept) if row[2] == 0]
    for start, end in zip(ends, [*ends[1:], None], strict=True):
        episode = stored(agent)[start:end]
        if episode[-1][4] or episode[-1][5]:
            lengths.append(float(len(episode)))
    assert [length for _, length in agent.history["length"]] == lengths


@pytest.mark.parametrize(
    ("where", "steps"),
    [("actor.forward", 10), ("buffer.add", 10), ("buffer.sample", 11), ("update", 11)],
)
def test_stopping_anywhere_leaves_an_agent_that_goes_on(where, steps, monkeypatch):
    env, log = counting()
    agent = Recorder(env, seed=0, learning_starts=4).learn(10)
    *owner, name = where.split(".")
    owner = getattr(agent, owner[0]) if owner else agent

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        agent.learn(100)
    assert (
        agent.steps
        == len(agent.buffer)
        == (10 if "a" in where.split(".")[-1][:1] or "forward" in where else 11)
    )
    agent.learn(30)
    real = [numbers(*before, *after) for before, _, _, after, *_ in log]
    assert all(numbers(obs, after) in real for obs, _, _, after, *_ in stored(agent))


# ---- environments of one's own -------------------------------------------------------------------


def test_an_instance_that_cannot_be_copied_is_trained_in_itself():
    class Unregistered(Constant):
        action_space = TORQUE

    seeds = Log()
    env = Unregistered("terminated", length=3, seeds=seeds)
    env.window = threading.Lock()
    agent = DDPG(env, seed=7, learning_starts=5, batch_size=4, hidden=8).learn(20)
    assert agent.env.unwrapped is env
    assert seeds == [7] + [None] * 6
    assert TORQUE.contains(agent.predict(np.ones(1, np.float32)))
    with one_sentence(ValueError, "cannot be copied"):
        evaluate(agent)


def test_an_id_is_made_when_learning_begins():
    agent = DDPG("Pendulum-v1", seed=0)
    assert agent.env is None
    agent.learn(1)
    env = agent.env
    agent.learn(1)
    assert agent.env is env
    assert repr(agent) == "<DDPG on Pendulum-v1, seed 0, 2 steps>"


# ---- what it refuses -----------------------------------------------------------------------------


def refused(env="Pendulum-v1", **settings):
    with one_sentence(ValueError) as error:
        DDPG(env, **settings)
    return str(error.value)


def test_environments_that_do_not_fit_are_one_sentence():
    assert "DDPG takes Box actions" in refused("CartPole-v1")
    integers = spaces.Box(0, 5, (2,), np.int64)
    assert "of floats" in refused(make(AnySpace, action_space=integers))
    multi = spaces.MultiDiscrete([2, 3])
    assert "MultiDiscrete([2 3])" in refused(make(AnySpace, action_space=multi))
    assert "Text(" in refused(make(AnySpace, observation_space=spaces.Text(4)))
    free = spaces.Box(-np.inf, np.inf, (2,))
    assert "needs bounds" in refused(make(AnySpace, action_space=free))
    half = spaces.Box(np.float32([-1, 0]), np.float32([1, np.inf]))
    assert "needs bounds" in refused(make(AnySpace, action_space=half))
    narrow = spaces.Box(np.float32([-1, 3]), np.float32([1, 3]))
    assert "low < high" in refused(make(AnySpace, action_space=narrow))
    assert Needy.__name__ in refused("Needy-v0")
    assert "knows no environment" in refused("Pendulum-v99")


@pytest.mark.parametrize("settings", [{"gamma": 0.0}, {"gamma": 1.0}, {"tau": 1.0}])
def test_numbers_at_the_ends_of_their_ranges_are_fine(settings):
    DDPG("Pendulum-v1", seed=0, learning_starts=5, batch_size=4, hidden=4, **settings).learn(8)


def test_an_observation_that_is_not_finite_never_reaches_the_memory():
    class Spoiled(Probe):
        action_space = TORQUE

        def observe(self):
            return np.array([np.inf if self.t == 4 else 1.0], np.float32)

        def play(self, action):
            return 1.0, False, False

    agent = Recorder(make(Spoiled), seed=0)
    with one_sentence(ValueError, "the observation [inf]", "mend one of them"):
        agent.learn(20)
    assert agent.steps == len(agent.buffer) == 3
    assert all(torch.isfinite(part).all() for part in agent.buffer.tensors)
