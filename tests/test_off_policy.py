"""The loop that DDPG and its successors share, on environments where every number is known."""

import copy
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import (
    BOXES,
    LOPSIDED,
    TORQUE,
    AnySpace,
    Constant,
    Counting,
    Log,
    Needy,
    Probe,
    make,
    some,
)
from gymnasium import spaces
from sentences import assert_one_sentence
from torch import nn
from trials import Says, a_batch, an_agent, moved, parameters, snapshot, strong

from helpers.agents import DDPG, TD3
from helpers.agents.networks import QNetwork
from helpers.agents.noise import GaussianNoise, Noise, OUNoise, UniformNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.envs.make import make_env
from helpers.envs.units import to_env_units
from helpers.evaluation import evaluate

KINDS = pytest.mark.parametrize("kind", [DDPG, TD3])


class Recorder(OffPolicyAgent):
    """Its actor always says the same; its updates are only written down: (step, batch)."""

    critic_class = QNetwork

    def __init__(self, env, *, says=0.25, seed=None, **shared):
        super().__init__(env, seed=seed, **{"learning_starts": 1, "batch_size": 4} | shared)
        self.actor, self.recorded = Says([says] * self.action_size), []

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
def test_the_warm_up_is_random_exploration_and_then_the_actor_acts_with_noise(learning_starts):
    """Both noises start anew with each episode, and neither is asked before its time."""
    env, log = counting(spaces.Box(-1, 1, (2,), np.float64))
    agent = Recorder(
        env, says=0.25, seed=0, learning_starts=learning_starts,
        random_exploration=Ramp(start=-0.5), noise=Ramp(start=0.1),
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
    lengths = [length for _, length in agent.history["length"]]
    assert len(set(lengths)) > 2


def test_without_noise_the_actor_acts_alone():
    env, log = counting(TORQUE)
    Recorder(env, says=0.25, seed=0, noise=None, learning_starts=5).learn(30)
    assert {tuple(action) for _, action, *_ in log[5:]} == {(0.5,)}
    assert len({tuple(action) for _, action, *_ in log[:5]}) == 5


def test_the_warm_up_is_spread_over_all_actions():
    """Drawn in [-1, 1] and then scaled: hardly any stands at a bound."""
    env, log = counting()
    DDPG(env, seed=0, learning_starts=400, batch_size=8, hidden=8).learn(400)
    actions = np.array([action for _, action, *_ in log])
    fractions = (actions - LOPSIDED.low) / (LOPSIDED.high - LOPSIDED.low)
    assert 0 <= fractions.min() < 0.01
    assert 1 >= fractions.max() > 0.99
    np.testing.assert_allclose(fractions.mean(axis=0), 0.5, atol=0.06)
    np.testing.assert_allclose(fractions.std(axis=0), 1 / np.sqrt(12), atol=0.03)
    assert abs(np.corrcoef(fractions.T)[0, 1]) < 0.15  # each dimension has its own draw
    assert ((fractions == 0) | (fractions == 1)).mean() < 0.01


def test_noise_is_drawn_for_each_step_and_dimension():
    env, log = counting()
    noise = {"noise": GaussianNoise(0.2)}
    Recorder(env, says=0.1, seed=0, learning_starts=1, **noise).learn(801)
    added = 2 * (np.array([action for _, action, *_ in log[1:]]) - LOPSIDED.low)
    added = added / (LOPSIDED.high - LOPSIDED.low) - 1 - 0.1
    np.testing.assert_allclose(added.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(added.std(axis=0), 0.2, rtol=0.1)
    assert abs(np.corrcoef(added.T)[0, 1]) < 0.12
    assert abs(np.corrcoef(added[1:, 0], added[:-1, 0])[0, 1]) < 0.12


@pytest.mark.parametrize("size", [0.7, 3.0])
@pytest.mark.parametrize("warm_up", [True, False])
def test_what_goes_over_the_bounds_is_clipped_in_the_environment_and_in_the_buffer(warm_up, size):
    env, log = counting()
    noises = {"random_exploration": Ramp(size, 0), "noise": Ramp(-size, 0)}
    starts = {"learning_starts": 40 if warm_up else 1}
    agent = Recorder(env, says=-0.5, seed=0, **noises, **starts).learn(40)
    _, action, *_ = log[-1]
    scaled = min(size, 1) if warm_up else -1.0
    bounds = LOPSIDED.low.astype(float), LOPSIDED.high.astype(float)
    assert action == pytest.approx(to_env_units(np.float64(scaled), *bounds).tolist())
    assert stored(agent)[-1][1].tolist() == pytest.approx([scaled] * 2)


def test_two_agents_never_share_a_noise():
    noise = OUNoise()
    first, second = (
        DDPG("Pendulum-v1", seed=0, noise=noise, random_exploration=noise, learning_starts=1)
        for _ in range(2)
    )
    all_four = [first.noise, first.random_exploration, second.noise, second.random_exploration]
    assert len({*map(id, all_four), id(noise)}) == 5
    first.learn(3)
    assert np.all(first.noise.value != 0)
    assert noise.value == second.noise.value == 0
    assert first.hyperparameters["noise"].value == 0
    plain, other = DDPG("Pendulum-v1"), DDPG("Pendulum-v1")
    assert plain.noise == other.noise == GaussianNoise(0.1)
    assert plain.noise is not other.noise
    assert plain.random_exploration is not other.random_exploration


# ---- predicting ----------------------------------------------------------------------------------


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


def test_predictions_stay_within_the_bounds():
    env = make(AnySpace, action_space=LOPSIDED)
    agent = Recorder(env, says=0.25, seed=0, noise=GaussianNoise(5.0))
    explored = agent.predict(np.zeros((500, 1), np.float32), deterministic=False)
    assert explored.min(axis=0).tolist() == LOPSIDED.low.tolist()
    assert explored.max(axis=0).tolist() == LOPSIDED.high.tolist()
    assert agent.predict(np.zeros(1, np.float32)).tolist() == [1.5, 16.25]


ACTIONS = {
    "number": spaces.Box(-3, 1, ()),
    "sides": spaces.Box(np.float32([-1, 2, 100]), np.float32([0.1, 3, 300])),
    "plane": spaces.Box(-0.1, 0.3, (2, 3), np.float64),
    "odd": spaces.Box(-0.2845, 0.2671, (2,)),
}


@KINDS
@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("observations", BOXES)
def test_any_box_of_observations_and_bounded_actions(observations, actions, kind):
    """Loud noise, so that the bounds are reached: the environment itself refuses wrong actions."""
    obs_space, action_space, taken = BOXES[observations], ACTIONS[actions], Log()
    env = make(AnySpace, observation_space=obs_space, action_space=action_space, actions=taken)
    noise = GaussianNoise(2.0)
    agent = kind(env, seed=0, noise=noise, learning_starts=5, batch_size=4, hidden=8).learn(40)
    assert all(np.shape(action) == action_space.shape for action in taken)
    assert {action.dtype for action in taken} == {action_space.dtype}
    at_bounds = [(action == action_space.low) | (action == action_space.high) for action in taken]
    assert 0.2 < np.mean(at_bounds[5:]) < 0.95
    assert agent.buffer.tensors.obs.shape[1:] == (np.prod(obs_space.shape),)
    assert agent.buffer.tensors.action.shape[1:] == (np.prod(action_space.shape),)
    batch = some(obs_space, 5)
    for deterministic in (True, False):
        one = np.asarray(agent.predict(batch[0], deterministic=deterministic))
        assert action_space.contains(one)
        predicted = agent.predict(batch, deterministic=deterministic)
        assert predicted.shape == (5, *action_space.shape)
        assert all(action_space.contains(np.asarray(each)) for each in predicted)


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


# ---- networks ------------------------------------------------------------------------------------


@KINDS
def test_targets_start_as_copies_that_share_nothing(kind):
    agent = an_agent(kind)
    pairs = ((agent.actor, agent.target_actor), (agent.critic, agent.target_critic))
    for online, target in pairs:
        for a, b in zip(online.parameters(), target.parameters(), strict=True):
            assert torch.equal(a, b)
            assert a.data_ptr() != b.data_ptr()
    with torch.no_grad():
        for parameter in parameters(agent.actor, agent.critic):
            parameter.add_(1)
    for online, target in pairs:
        assert all(moved(target, snapshot(online)))


@KINDS
def test_each_optimizer_owns_its_network_and_its_learning_rate(kind):
    agent = an_agent(kind, actor_learning_rate=0.1, critic_learning_rate=0.2)
    pairs = ((agent.actor_optimizer, agent.actor, 0.1), (agent.critic_optimizer, agent.critic, 0.2))
    for optimizer, network, rate in pairs:
        (group,) = optimizer.param_groups
        assert list(map(id, group["params"])) == list(map(id, network.parameters()))
        assert group["lr"] == rate


@KINDS
def test_a_loaded_agents_targets_follow_its_networks(kind, tmp_path):
    """The lists that the update goes through are those of the loaded weights."""
    agent = strong(an_agent(kind))
    agent.save(tmp_path / "agent.pt")
    loaded = kind.load(tmp_path / "agent.pt", env=agent.env_source)
    for each in (agent, loaded):
        for i in range(4):
            each.updates += 1
            each.update(a_batch(obs_size=1, seed=i))
    for name in kind.saved[:4]:
        before = snapshot(getattr(agent, name))
        assert not any(moved(getattr(loaded, name), before)), name


@KINDS
@pytest.mark.parametrize("hidden", [12, 256])
def test_the_size_of_the_networks_may_be_chosen(kind, hidden):
    """256 units a layer are computed in another way, while acting with one observation too."""
    agent = an_agent(kind, hidden=hidden, learning_starts=3, batch_size=50, noise=None)
    for network in (agent.actor, agent.critic, agent.target_actor, agent.target_critic):
        assert (hidden, hidden) in [p.shape[-2:] for p in network.parameters()]
    before = snapshot(agent.actor)
    assert all(moved(agent.learn(12).actor, before))
    obs = np.float32([-1])
    np.testing.assert_allclose(agent.explore(obs), agent.actor(torch.tensor([[-1.0]])).detach()[0])


@KINDS
def test_the_defaults_are_those_that_the_lessons_settings_were_tuned_with(kind):
    expected = {"hidden": 64, "tau": 0.005, "gamma": 0.99, "batch_size": 128}
    expected |= {"actor_learning_rate": 1e-3, "critic_learning_rate": 1e-3}
    agent = kind("Pendulum-v1")
    assert agent.hyperparameters | expected == agent.hyperparameters
    assert agent.actor.hidden2.weight.shape == (64, 64)


class OwnActor(nn.Module):
    """A straight line."""

    def __init__(self, obs_size, action_size, hidden):
        super().__init__()
        self.line = nn.Linear(obs_size, action_size)

    def forward(self, obs):
        return self.line(obs).tanh()


class OwnCritic(nn.Bilinear):
    """One number for each pair of an observation's and an action's number."""

    def __init__(self, obs_size, action_size, hidden):
        super().__init__(obs_size, action_size, 1)

    def forward(self, obs, action):
        return super().forward(obs, action).squeeze(-1)


class Own(DDPG):
    actor_class, critic_class = OwnActor, OwnCritic


def test_a_subclass_may_bring_networks_of_its_own(tmp_path):
    agent = Own("Pendulum-v1", seed=0, learning_starts=5, batch_size=4)
    networks = (agent.actor, agent.critic, agent.target_actor, agent.target_critic)
    assert list(map(type, networks)) == [OwnActor, OwnCritic] * 2
    before = [snapshot(network) for network in networks]
    agent.learn(20)
    for network, old in zip(networks, before, strict=True):
        assert all(moved(network, old))
    agent.save(tmp_path / "agent.pt")
    loaded = Own.load(tmp_path / "agent.pt")
    assert not any(moved(loaded.actor, snapshot(agent.actor)))


def test_a_subclass_without_a_critic_is_told_what_it_lacks():
    class Bare(OffPolicyAgent):
        update = None

    with pytest.raises(AttributeError, match="'Bare' object has no attribute 'critic_class'"):
        Bare("Pendulum-v1")


def test_the_networks_are_drawn_from_the_seed_alone():
    """Also after global draws; and the critic has other numbers than the actor."""
    agent, other = an_agent(DDPG, seed=3), an_agent(DDPG, seed=4)
    torch.rand(5)
    assert not any(moved(an_agent(DDPG, seed=3).critic, snapshot(agent.critic)))
    assert all(moved(other.critic, snapshot(agent.critic)))
    assert not torch.equal(agent.actor.hidden2.weight, agent.critic.hidden2.weight)


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


def test_learning_in_many_parts_is_learning_at_once():
    whole, parts = (
        DDPG("Pendulum-v1", seed=0, noise=OUNoise(), learning_starts=20, train_freq=3,
             gradient_steps=2, batch_size=8, hidden=8, buffer_size=30)
        for _ in range(2)
    )  # fmt: skip
    whole.learn(230)
    for n in (1, 1, 17, 1, 1, 1, 50, 128, 30):
        parts.learn(n)
    assert parts.steps == 230
    for one, other in zip(whole.actor.parameters(), parts.actor.parameters(), strict=True):
        assert torch.equal(one, other)
    assert stored(whole)[-1][0].tolist() == stored(parts)[-1][0].tolist()
    assert whole.history == parts.history


def test_a_loaded_agent_explores_with_its_actor_and_waits_for_its_memory(tmp_path):
    """The file holds no memory: it fills up again, but not with random actions."""
    env, log = counting(TORQUE)
    new = {"learning_starts": 12, "noise": None, "random_exploration": UniformNoise(1.0)}
    agent = DDPG(env, seed=0, batch_size=4, hidden=4, **new).learn(30)
    agent.save(tmp_path / "agent.pt")
    loaded = DDPG.load(tmp_path / "agent.pt", env=env)
    before = copy.deepcopy(loaded.actor.state_dict())
    log.clear()
    loaded.learn(11)
    assert len(loaded.buffer) == 11
    assert loaded.buffer.rng is loaded.rng  # whose state the file holds
    assert all(torch.equal(w, before[name]) for name, w in loaded.actor.state_dict().items())
    for obs, action, *_ in log:
        assert action == pytest.approx(agent.predict(np.array(obs)).tolist(), abs=1e-6)
    loaded.learn(1)
    assert loaded.steps == 42
    assert any(not torch.equal(w, before[n]) for n, w in loaded.actor.state_dict().items())


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
        agent = Recorder("Pendulum-v1", seed=seed).learn(1000)
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
    agent = DDPG(env, seed=7, learning_starts=5, batch_size=4, hidden=8).learn(20)
    assert agent.env.unwrapped is env
    assert seeds == [7] + [None] * 6
    assert TORQUE.contains(agent.predict(np.ones(1, np.float32)))
    with pytest.raises(ValueError, match="cannot be copied") as error:
        evaluate(agent)
    assert_one_sentence(error.value)


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
    with pytest.raises(ValueError, match=r"\.$") as error:
        DDPG(env, **settings)
    assert_one_sentence(error.value)
    return str(error.value)


def test_environments_that_do_not_fit_are_one_sentence():
    assert "DDPG takes Box actions" in refused("CartPole-v1")
    integers = spaces.Box(0, 5, (2,), np.int64)
    assert "of floats" in refused(make(AnySpace, action_space=integers))
    multi = spaces.MultiDiscrete([2, 3])
    assert "MultiDiscrete([2 3])" in refused(make(AnySpace, action_space=multi))
    assert "Discrete(4)" in refused(make(AnySpace, observation_space=spaces.Discrete(4)))
    free = spaces.Box(-np.inf, np.inf, (2,))
    assert "needs bounds" in refused(make(AnySpace, action_space=free))
    half = spaces.Box(np.float32([-1, 0]), np.float32([1, np.inf]))
    assert "needs bounds" in refused(make(AnySpace, action_space=half))
    narrow = spaces.Box(np.float32([-1, 3]), np.float32([1, 3]))
    assert "low < high" in refused(make(AnySpace, action_space=narrow))
    assert Needy.__name__ in refused("Needy-v0")
    assert "knows no environment" in refused("Pendulum-v99")


@pytest.mark.parametrize(
    "name", ["learning_starts", "train_freq", "gradient_steps", "batch_size", "buffer_size"]
)
@pytest.mark.parametrize("count", [0, -3])
def test_counts_below_1_are_one_sentence(name, count):
    message = refused(**{name: count})
    assert name in message
    assert str(count) in message


def test_a_warm_up_without_noise_is_one_sentence():
    assert_one_sentence(refused(random_exploration=None), "random_exploration", "UniformNoise")


def test_a_memory_that_never_fills_is_one_sentence():
    message = refused(learning_starts=101, buffer_size=100)
    assert message.startswith("learning_starts must be at most buffer_size (100)")
    assert message.endswith("got 101.")
    DDPG("Pendulum-v1", learning_starts=100, buffer_size=100)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", -0.1), ("gamma", 1.01), ("gamma", float("nan")),
        ("tau", 0.0), ("tau", -0.5), ("tau", 1.1), ("tau", float("nan")),
        ("noise", 0.1), ("random_exploration", "uniform"),
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_one_sentence(name, value):
    message = refused(**{name: value})
    assert message.startswith(f"{name} must be ")
    assert str(value) in message


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
    with pytest.raises(ValueError, match="the observation inf after step 3") as error:
        agent.learn(20)
    assert_one_sentence(error.value)
    assert agent.steps == len(agent.buffer) == 3
    assert all(torch.isfinite(part).all() for part in agent.buffer.tensors)
