"""The loop that DDPG and its successors share, on environments where every number is known."""

import re
import textwrap
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import LOPSIDED, TORQUE, AnySpace, Counting, Log, Needy, make
from gymnasium import spaces
from sentences import assert_one_sentence, one_sentence
from trials import Says, an_agent, parameters

from helpers.agents import DDPG, SAC, TD3
from helpers.agents.noise import GaussianNoise, Noise, OUNoise, UniformNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import QNetwork
from helpers.envs.units import to_env_units

USING = Path(__file__).resolve().parent.parent / "USING.md"


class Recorder(OffPolicyAgent):
    """Its actor always says the same; its updates are only written down: (step, batch)."""

    critic_class = QNetwork

    learning_starts, batch_size = 1, 4
    says: float = setting(0.25)

    def build(self):
        super().build()
        self.actor, self.recorded = Says([self.says] * self.action_size), []

    def update(self, batch):
        self.recorded.append((self.steps, batch))
        return {"half_loss": torch.tensor(len(self.recorded) / 2)}


@dataclass
class Ramp(Noise):
    """start, start + step, start + 2 step, ... since the last reset, in all dimensions."""

    start: float = 0.0
    step: float = 0.01
    count: int = 0

    def sample(self, shape, rng):
        self.count += 1
        return np.full(shape, self.start + (self.count - 1) * self.step)

    def reset(self):
        self.count = 0

    @property
    def std(self):
        return 0.5


def counting(action_space=LOPSIDED):
    log = Log()
    return make(Counting, transitions=log, action_space=action_space), log


def stored(agent):
    """The rows of the buffer, oldest first, each as the six parts of a step."""
    buffer = agent.buffer
    first = buffer.position if len(buffer) == buffer.capacity else 0
    order = [(first + i) % buffer.capacity for i in range(len(buffer))]
    return [tuple(part[i].numpy() for part in buffer.tensors) for i in order]


def numbers(*parts):
    """Arrays and numbers as one flat list."""
    return np.concatenate([np.ravel(part) for part in parts]).tolist()


# ---- exploring -----------------------------------------------------------------------------------


@pytest.mark.parametrize("learning_starts", [1, 2, 23, 24])
def test_warm_up_noise_acts_first_and_then_the_actor_acts_with_noise(learning_starts):
    """Both noises start anew with each episode, and neither is asked before its time."""
    env, log = counting(spaces.Box(-1, 1, (2,), np.float64))
    agent = Recorder(
        env, says=0.25, seed=0, learning_starts=learning_starts,
        warm_up_noise=Ramp(start=-0.5), noise=Ramp(start=0.1),
    ).learn(60)  # fmt: skip
    assert len(log) == agent.steps == 60
    asked = {"random": 0, "noise": 0}
    for i, (before, action, *_) in enumerate(log):
        if before[-1] == 0:
            asked = {"random": 0, "noise": 0}
        kind = "random" if i < learning_starts else "noise"
        start = -0.5 if kind == "random" else 0.25 + 0.1
        assert action == pytest.approx([start + 0.01 * asked[kind]] * 2)
        asked[kind] += 1


@pytest.mark.parametrize(("warm_up", "size"), [(True, 0.7), (True, 3.0), (False, 3.0)])
def test_what_goes_over_the_bounds_is_clipped_in_the_environment_and_in_the_buffer(warm_up, size):
    env, log = counting()
    noises = {"warm_up_noise": Ramp(size, 0), "noise": Ramp(-size, 0)}
    starts = {"learning_starts": 40 if warm_up else 1}
    agent = Recorder(env, says=-0.5, seed=0, **noises, **starts).learn(40)
    _, action, *_ = log[-1]
    scaled = min(size, 1) if warm_up else -1.0
    bounds = LOPSIDED.low.astype(float), LOPSIDED.high.astype(float)
    assert action == pytest.approx(to_env_units(np.float64(scaled), *bounds).tolist())
    assert stored(agent)[-1][1].tolist() == pytest.approx([scaled] * 2)


@pytest.mark.parametrize("noise", [GaussianNoise(0.2), OUNoise(), UniformNoise(0.3), None], ids=str)
def test_an_exploring_prediction_varies_as_the_noise_does_in_the_long_run(noise):
    env = make(AnySpace, action_space=LOPSIDED)
    agent = Recorder(env, says=0.25, seed=0, noise=noise)
    batch = np.zeros((20_000, 1), np.float32)
    np.testing.assert_allclose(agent.predict(batch), [[1.5, 16.25]] * 20_000)
    explored = agent.predict(batch, deterministic=False)
    std = min(noise.std, 2) if noise else 0
    np.testing.assert_allclose(explored.mean(axis=0), [1.5, 16.25], atol=0.12)
    np.testing.assert_allclose(explored.std(axis=0), np.array([2, 5]) * std, rtol=0.09)
    if noise:
        assert abs(np.corrcoef(explored.T)[0, 1]) < 0.03
    if isinstance(noise, OUNoise):
        assert agent.noise.value == 0  # that is training's


def test_each_action_dimension_goes_where_it_belongs():
    space = spaces.Box(np.zeros((2, 3)), np.arange(2.0, 8).reshape(2, 3), dtype=np.float64)
    taken = Log()
    agent = Recorder(make(AnySpace, action_space=space, actions=taken), seed=0, noise=None)
    agent.actor.action = torch.tensor([-1, -0.5, 0, 0.25, 0.5, 1])
    expected = [[0, 0.75, 2], [3.125, 4.5, 7]]
    assert agent.predict(np.zeros(1)).tolist() == expected
    assert agent.predict(np.zeros((2, 1))).tolist() == [expected] * 2
    agent.learn(2)
    assert taken[1].tolist() == expected
    assert stored(agent)[1][1].tolist() == agent.actor.action.tolist()


# ---- a loop of one's own -------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [(), ("rewards",)])
def test_a_loop_of_ones_own_stores_what_learn_stores(normalize):
    make = partial(TD3, "Pendulum-v1", seed=0, reward_scale=0.1, normalize=normalize)
    taught, agent = make().learn(250), make()
    env = gym.make("Pendulum-v1")
    obs, _ = env.reset(seed=0)
    for scaled in taught.buffer.arrays.action[:250]:
        action = agent.units.env_action(scaled)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        agent.store(obs, action, reward, next_obs, terminated, truncated)
        obs = env.reset()[0] if terminated or truncated else next_obs
    for mine, its in zip(agent.buffer.arrays, taught.buffer.arrays, strict=True):
        np.testing.assert_allclose(mine[:251], its[:251], atol=1e-4)  # actions are rounded
    assert len(agent.buffer) == len(taught.buffer) == 250 == agent.steps
    assert agent.reward_factor == pytest.approx(taught.reward_factor, rel=1e-2)


def test_the_loop_in_the_docs_learns():
    [lines] = re.findall(
        r"^( +action = agent.predict\(obs, deterministic=False\)\n(?: {4}.*\n)+)",
        USING.read_text(encoding="utf-8"), re.M,
    )  # fmt: skip
    agent = TD3("Pendulum-v1", seed=0, learning_starts=20)
    env = gym.make("Pendulum-v1")
    names = {"agent": agent, "env": env, "obs": env.reset(seed=0)[0]}
    for _ in range(30):
        exec(textwrap.dedent(lines), names)
        names["obs"] = names["next_obs"]
    assert (agent.steps, agent.updates) == (30, 11)


def test_what_is_no_step_is_not_stored():
    agent = SAC("Pendulum-v1", normalize=("obs",))
    obs, two = np.zeros(3, np.float32), np.zeros((2, 3), np.float32)
    for args, told in [
        ((two, [0.0], 0.0, obs), "one step at a time"),
        ((obs, [0.0, 1.0], 0.0, obs), r"an action of shape (1,)"),
        ((obs, [0.0], [0.0], obs), "one step at a time"),
        ((obs, [0.0], 0.0, np.zeros(4)), "shape (4,)"),
        ((obs, [0.0], None, obs), "a reward that is a number"),
        ((obs, [None], 0.0, obs), "an action of shape (1,)"),
        ((obs, [0.0], float("nan"), obs), "nan"),
        ((obs, [np.inf], 0.0, obs), "[inf]"),
        ((obs, [0.0], 0.0, obs + np.inf), "inf"),
    ]:
        with one_sentence(ValueError, told, match="store"):
            agent.store(*args, False, False)
    for ends in [(None, False), (False, np.nan), (0.7, False), ("False", False), (True, {})]:
        with one_sentence(ValueError, "True or False for terminated and truncated", str(ends)):
            agent.store(obs, [0.0], 0.0, obs, *ends)
    assert len(agent.buffer) == agent.steps == 0
    assert agent.normalizer.of_obs.count == 0


# ---- when it learns, and from what ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("learning_starts", "train_freq", "gradient_steps"),
    [(1, 1, 1), (9, 3, 1), (10, 3, 3), (10, 7, 1), (60, 1, 3), (60, 7, 1)],
)
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


def test_batches_are_drawn_anew_from_all_that_is_stored_the_newest_too():
    env, log = counting()
    agent = Recorder(env, seed=0, batch_size=40, buffer_size=5, gradient_steps=2).learn(30)
    for number, (step, batch) in enumerate(agent.recorded):
        rows = [tuple(row) for row in batch.obs.tolist()]
        assert set(rows) == {before for before, *_ in log[max(step - 5, 0) : step]}
        if number % 2 and step > 5:
            assert not torch.equal(batch.obs, agent.recorded[number - 1][1].obs)


def test_history_has_a_loss_now_and_then_and_returns_that_are_not_scaled():
    counts = {"gradient_steps": 2, "learning_starts": 11, "reward_scale": 0.25}
    env, log = counting()
    agent = Recorder(env, seed=0, **counts).learn(100)
    first = int(agent.history["length"][0][1])
    assert agent.history["return"][0][1] == pytest.approx(sum(each[2] for each in log[:first]))
    assert agent.updates == 180
    every = range(agent.log_every, 181, agent.log_every)
    expected = [(10 + -(-update // 2), update / 2) for update in every]
    assert agent.history["half_loss"] == expected
    assert agent.history.keys() == {"return", "length", "half_loss"}


@pytest.mark.parametrize(("buffer_size", "reward_scale"), [(100, 1.0), (60, 0.25), (7, 0.25)])
def test_the_buffer_holds_what_really_happened(buffer_size, reward_scale):
    env, log = counting()
    agent = Recorder(
        env, seed=5, learning_starts=7, buffer_size=buffer_size, reward_scale=reward_scale
    ).learn(60)
    rows = stored(agent)
    assert len(rows) == min(buffer_size, 60)
    for row, real in zip(rows, log[-len(rows) :], strict=True):
        obs, action, reward, next_obs, *ends = row
        before, taken, paid, after, *over = real
        assert (obs.tolist(), next_obs.tolist(), ends) == (list(before), list(after), over)
        in_env_units = to_env_units(action.astype(float), LOPSIDED.low, LOPSIDED.high)
        np.testing.assert_allclose(in_env_units, taken, rtol=1e-5)
        assert reward == pytest.approx(paid * reward_scale, rel=1e-6)
    assert len({tuple(real[4:]) for real in log}) == 4  # all endings


def test_observations_with_a_range_are_stored_and_learned_from_in_minus_1_to_1():
    """Not so in `predict`: it takes the environment's own units."""
    space = spaces.Box(np.float32([[0, -8]]), np.float32([[4, 8]]))
    env = make(AnySpace, observation_space=space, action_space=TORQUE)
    agent = DDPG(env, seed=0, learning_starts=400, batch_size=8, hidden=8).learn(399)
    for part in (agent.buffer.tensors.obs, agent.buffer.tensors.next_obs):
        assert part.abs().max() <= 1
        assert (part.max(dim=0).values - part.min(dim=0).values).min() > 1.95
    obs = np.array([[[1, 4]], [[4, -8]]], np.float64)
    scaled = torch.tensor([[-0.5, 0.5], [1, -1]])
    torch.testing.assert_close(agent.flat(obs), scaled)
    with torch.no_grad():
        np.testing.assert_allclose(agent.predict(obs), 2 * agent.actor(scaled), atol=1e-6)


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


@pytest.mark.parametrize("at", [1, 2, 10, 11, 13])
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
    whole = [
        after[2] for *_, after, terminated, truncated in stored(agent) if terminated + truncated
    ]
    assert [length for _, length in agent.history["length"]] == whole


# ---- networks ------------------------------------------------------------------------------------


def test_targets_start_as_copies():
    agent = an_agent(TD3)
    online = parameters(agent.actor, agent.critic)
    targets = parameters(agent.target_actor, agent.target_critic)
    assert all(map(torch.equal, online, targets))


# ---- what it refuses, and what it warns of -------------------------------------------------------


def test_an_id_is_made_when_learning_begins():
    agent = DDPG("Pendulum-v1", seed=0)
    assert agent.env is None
    assert repr(agent.learn(1)) == "<DDPG on Pendulum-v1, seed 0, 1 steps>"
    assert agent.learn(1).env is agent.env


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ("CartPole-v1", "DDPG takes Box actions"),
        ("Needy-v0", Needy.__name__),
        ("Pendulum-v99", "knows no environment"),
        (spaces.Box(0, 5, (2,), np.int64), "of floats"),
        (spaces.MultiDiscrete([2, 3]), "MultiDiscrete([2 3])"),
        (lambda: AnySpace(spaces.Text(4), action_space=TORQUE), "Text("),
    ],
    ids=["actions", "arguments", "name", "integers", "several", "text"],
)
def test_environments_that_do_not_fit_are_one_sentence(env, told):
    with one_sentence(ValueError, told):
        DDPG(make(AnySpace, action_space=env) if isinstance(env, spaces.Space) else env)


WALK = spaces.Box(np.float32([-2, -100, -100, -100]), np.float32([2, 100, 100, np.inf]))


class Walk(AnySpace):
    """Four numbers: between -2 and 2 where that is said, and of +-100; still; without bounds."""

    def observe(self):
        return np.float32([*self.np_random.choice([-2, 2], 2), 3, self.np_random.normal()])


def warned(space=WALK, learning_starts=300, **settings):
    env = make(Walk, observation_space=space, action_space=TORQUE)
    agent = DDPG(env, seed=0, learning_starts=learning_starts, batch_size=4, hidden=4, **settings)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        agent.learn(learning_starts + 20)
    return [str(each.message) for each in seen]


def test_bounds_that_observations_do_not_use_are_one_warning():
    [said] = warned()
    assert_one_sentence(
        said, "number 1 of", "from -2 to 2", "says -100 to 100", "normalize=('obs',)"
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"space": spaces.Box(-2, 2, (4,))},
        {"space": spaces.Box(-np.inf, np.inf, (4,))},
        {"normalize": ("obs",)},
        {"learning_starts": 100},
    ],
    ids=["tight", "none", "normalized", "too early"],
)
def test_other_bounds_are_no_warning(settings):
    assert warned(**settings) == []
