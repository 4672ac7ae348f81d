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
from environments import BOXES, LOPSIDED, TORQUE, AnySpace, Counting, Log, make, some
from gymnasium import spaces
from sentences import assert_one_sentence, one_sentence
from torch import nn
from trials import Says, an_agent, moved, parameters, snapshot

from helpers.agents import DDPG, SAC, TD3
from helpers.agents.noise import GaussianNoise, Noise, OUNoise, UniformNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import QNetwork
from helpers.envs.units import to_env_units
from helpers.training.settings import SETTINGS

USING = Path(__file__).resolve().parent.parent / "USING.md"
KINDS = pytest.mark.parametrize("kind", [DDPG, TD3])


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
    noises = {"warm_up_noise": Ramp(size, 0), "noise": Ramp(-size, 0)}
    starts = {"learning_starts": 40 if warm_up else 1}
    agent = Recorder(env, says=-0.5, seed=0, **noises, **starts).learn(40)
    _, action, *_ = log[-1]
    scaled = min(size, 1) if warm_up else -1.0
    bounds = LOPSIDED.low.astype(float), LOPSIDED.high.astype(float)
    assert action == pytest.approx(to_env_units(np.float64(scaled), *bounds).tolist())
    assert stored(agent)[-1][1].tolist() == pytest.approx([scaled] * 2)


class Wild(Recorder):
    """An `explore` of one's own, which forgets the bounds."""

    def explore(self, obs):
        return np.array([5.0, -5.0], np.float32)


def test_what_an_explore_of_ones_own_gives_is_clipped_in_both_too():
    env, log = counting()
    agent = Wild(env, says=0.0, seed=0).learn(3)
    _, action, *_ = log[-1]
    assert action == pytest.approx([LOPSIDED.high[0], LOPSIDED.low[1]])
    assert stored(agent)[-1][1].tolist() == [1, -1]


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
        ((obs, [0.0], 0.0, obs + np.inf), "inf"),
    ]:
        with one_sentence(ValueError, told, match=r"store|environment returned"):
            agent.store(*args, False, False)
    for ends in [(None, False), (False, np.nan), (0.7, False), ("False", False), (True, {})]:
        with one_sentence(ValueError, "True or False for terminated and truncated", str(ends)):
            agent.store(obs, [0.0], 0.0, obs, *ends)
    assert len(agent.buffer) == agent.steps == 0
    assert agent.normalizer.of_obs.count == 0


def test_two_agents_never_share_a_noise():
    noise = OUNoise()
    first, second = (
        DDPG("Pendulum-v1", seed=0, noise=noise, warm_up_noise=noise, learning_starts=1)
        for _ in range(2)
    )
    all_four = [first.noise, first.warm_up_noise, second.noise, second.warm_up_noise]
    assert len({*map(id, all_four), id(noise)}) == 5
    first.learn(3)
    assert np.all(first.noise.value != 0)
    assert noise.value == second.noise.value == 0
    assert first.hyperparameters["noise"] is first.noise
    plain, other = DDPG("Pendulum-v1"), DDPG("Pendulum-v1")
    assert plain.noise == other.noise == GaussianNoise(0.1)
    assert plain.noise is not other.noise
    assert plain.warm_up_noise is not other.warm_up_noise


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


ACTIONS = {
    "number": spaces.Box(-3, 1, ()),
    "sides": spaces.Box(np.float32([-1, 2, 100]), np.float32([0.1, 3, 300])),
    "plane": spaces.Box(-0.1, 0.3, (2, 3), np.float64),
    "odd": spaces.Box(-0.2845, 0.2671, (2,)),
}


@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("observations", BOXES)
def test_any_box_of_observations_and_bounded_actions(observations, actions):
    """Loud noise, so that the bounds are reached: the environment itself refuses wrong actions."""
    obs_space, action_space, taken = BOXES[observations], ACTIONS[actions], Log()
    env = make(AnySpace, observation_space=obs_space, action_space=action_space, actions=taken)
    noise = GaussianNoise(2.0)
    agent = TD3(env, seed=0, noise=noise, learning_starts=5, batch_size=4, hidden=8).learn(40)
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


# ---- bounds that say little ----------------------------------------------------------------------

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


@pytest.mark.parametrize("key", [key for key in SETTINGS if "Pixel" not in key[1]], ids="-".join)
def test_the_lessons_own_trainings_have_bounds_that_say_something(key):
    agent = SETTINGS[key].make(0, **({"pretraining": 1} if key[0] == "ddpgfd" else {}))
    if not isinstance(agent, OffPolicyAgent):
        pytest.skip("It keeps observations as they are.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(1 if key[0] in ("ddpgfd", "bc", "td3bc") else agent.learning_starts)
    assert agent.updates
