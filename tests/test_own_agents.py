"""Agents of one's own: less than 30 lines each, and all that the course's agents can do."""

import inspect

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sentences import assert_one_sentence, one_sentence
from torch import nn
from wholes import everything

from helpers.agents import A2C, PPO, SAC, TD3
from helpers.agents.base import Agent, gradient_step
from helpers.agents.noise import OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.algorithms.ddpg import QNetwork
from helpers.algorithms.reinforce import discounted_returns, log_prob, make_actor, sample_actions
from helpers.memory.buffers import Batch


class Climber(OffPolicyAgent):
    """Off-policy: a critic of immediate rewards alone, and an actor that climbs it."""

    critic_class = QNetwork

    def __init__(self, env, *, eagerness=1, seed=None, **shared):
        super().__init__(env, seed=seed, **shared)
        self.eagerness = eagerness

    def update(self, batch):
        q_loss = nn.functional.mse_loss(self.critic(batch.obs, batch.action), batch.reward)
        gradient_step(self.critic_optimizer, q_loss)
        for _ in range(self.eagerness):
            loss = -self.critic(batch.obs, self.actor(batch.obs)).mean()
            gradient_step(self.actor_optimizer, loss)
        return {"critic_loss": q_loss}


class Reinforce(Agent):
    """On-policy: play an episode, and make the actions likelier after which it was long."""

    action_kinds = (spaces.Discrete,)
    saved = ("actor", "optimizer")

    def __init__(self, env, *, learning_rate=1e-2, hidden=16, seed=None):
        self.check_settings(locals())
        super().__init__(env, seed)
        with self.seeded():
            self.actor = make_actor(self.obs_size, int(self.action_space.n), hidden)
        self.optimizer = torch.optim.Adam(self.actor.parameters())
        self.follow("learning_rate", learning_rate, "optimizer")

    def act(self, obs, rng):
        logits = self.actor(obs).detach().numpy()
        return logits.argmax(axis=-1) if rng is None else sample_actions(logits, rng)

    def train_step(self):
        (env, obs), steps = self.new_episode(), []
        while not env.over:
            steps.append((obs, self.act(self.flat(obs[None]), self.rng)[0]))
            obs, *_ = env.step(steps[-1][1])
        self.steps += len(steps)
        self.log_episode(env)
        observed, actions = map(np.array, zip(*steps, strict=True))
        returns = torch.from_numpy(discounted_returns(np.ones(len(steps)), 0.99))
        log_probs = log_prob(self.actor(self.flat(observed)), torch.from_numpy(actions))
        gradient_step(self.optimizer, -((returns - returns.mean()) * log_probs).mean())


small = {"learning_starts": 20, "batch_size": 8, "buffer_size": 200, "hidden": 8}
OWN = {
    Climber: lambda: Climber("Pendulum-v1", seed=0, eagerness=2, **small),
    Reinforce: lambda: Reinforce("CartPole-v1", seed=0),
}
EVERY = pytest.mark.parametrize("kind", OWN)


@EVERY
def test_an_agent_of_ones_own_takes_less_than_30_lines(kind):
    assert len(inspect.getsource(kind).splitlines()) < 30


@EVERY
def test_it_learns_saves_loads_and_goes_on_as_if_nothing_had_happened(kind, tmp_path):
    agent = OWN[kind]()
    before = [weight.clone() for weight in agent.actor.parameters()]
    agent.learn(60)
    assert not any(map(torch.equal, before, agent.actor.parameters()))
    assert len(agent.history) > 0 or agent.steps < 200
    agent.save(tmp_path / "own.pt", replay=True)
    loaded = kind.load(tmp_path / "own.pt")
    assert loaded.hyperparameters == agent.hyperparameters
    obs = agent.observation_space.sample()
    np.testing.assert_array_equal(loaded.predict(obs), agent.predict(obs))
    assert everything(loaded.learn(60)) == everything(agent.learn(60))


def test_it_becomes_better():
    agent = Reinforce("CartPole-v1", seed=0).learn(8_000)
    returns = [value for _, value in agent.history["return"]]
    assert np.mean(returns[-20:]) > 2 * np.mean(returns[:20])


@pytest.mark.parametrize(
    ("kind", "env", "settings"),
    [
        (Climber, "Pendulum-v1", {"batch_size": 0}),
        (Climber, "Pendulum-v1", {"tau": 2}),
        (Reinforce, "CartPole-v1", {"learning_rate": -1}),
        (Reinforce, "CartPole-v1", {"hidden": 0}),
    ],
)
def test_its_settings_are_checked_as_those_of_the_courses_agents(kind, env, settings):
    [name] = settings
    with pytest.raises(ValueError, match=f"^{name} must be .*, got {settings[name]}.$"):
        kind(env, **settings)


class Handing(Climber):
    """The constructor that most write: whatever it does not know is for the class above."""

    def __init__(self, *args, beta=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.beta = beta


def test_a_constructor_may_hand_on_what_has_no_name_as_well(tmp_path):
    agent = Handing("Pendulum-v1", beta=2.0, eagerness=3, seed=0, **small)
    assert (agent.beta, agent.eagerness, agent.hyperparameters["beta"]) == (2.0, 3, 2.0)
    assert not {"args", "kwargs"} & {*agent.hyperparameters, *inspect.signature(Handing).parameters}
    agent.save(tmp_path / "a.pt")
    loaded = Handing.load(tmp_path / "a.pt")
    assert loaded.hyperparameters == agent.hyperparameters
    assert Handing(env="Pendulum-v1", beta=2.0).beta == 2.0


few = {"seed": 0, "learning_starts": 20, "batch_size": 8, "buffer_size": 200}


class Decided(TD3):
    """What its constructor decides, it takes from nobody."""

    def __init__(self, env, **shared):
        super().__init__(env, hidden=4, gamma=0.9, noise=OUNoise(0.3), **shared)


class Preferred(TD3):
    def __init__(self, env, **shared):
        super().__init__(env, **{"hidden": 4, "gamma": 0.9, **shared})


class Halved(TD3):
    """Its `hidden` is not the one of the class above."""

    def __init__(self, env, *, hidden=8, **shared):
        super().__init__(env, hidden=hidden // 2, gamma=0.9, **shared)


class Closed(PPO):
    def __init__(self, env):
        normalize = ("obs", "rewards")
        super().__init__(env, seed=0, n_envs=3, n_steps=5, gamma=0.9, normalize=normalize)


@pytest.mark.parametrize(
    ("kind", "settings", "remembered"),
    [
        (Decided, few, {"hidden": 4, "gamma": 0.9, "noise": OUNoise(0.3)}),
        (Preferred, few, {"hidden": 4, "gamma": 0.9}),
        (Halved, few, {"hidden": 8, "gamma": 0.9}),
        (Closed, {}, {"seed": 0}),
    ],
)
def test_what_a_constructor_decides_is_loaded_as_well(kind, settings, remembered, tmp_path):
    agent = kind("Pendulum-v1", **settings).learn(30)
    assert agent.hyperparameters | remembered == agent.hyperparameters
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = kind.load(tmp_path / "a.pt")
    assert everything(loaded.learn(20)) == everything(agent.learn(20))
    if kind is Closed:
        assert (loaded.normalizer.gamma, len(loaded.normalizer.returns)) == (0.9, 3)


def test_what_a_constructor_decides_may_be_changed_later_if_others_may(tmp_path):
    agent = Decided("Pendulum-v1", **few)
    agent.gamma = 0.8
    agent.save(tmp_path / "a.pt")
    assert Decided.load(tmp_path / "a.pt").gamma == 0.8
    assert Decided.load(tmp_path / "a.pt", gamma=0.7).gamma == 0.7
    with one_sentence(ValueError, match="Decided decides its hidden itself"):
        Decided.load(tmp_path / "a.pt", hidden=5)


@pytest.mark.parametrize(
    ("args", "settings", "says"),
    [
        (("MlpPolicy", "Pendulum-v1"), {}, "Handing takes the environment, and then settings"),
        (("MlpPolicy",), {"env": "Pendulum-v1"}, "there is no policy to choose"),
        (("Pendulum-v1",), {"bta": 2.0}, "Handing takes no bta: write beta, if that is meant."),
    ],
)
def test_what_nothing_above_takes_either_is_one_sentence(args, settings, says):
    with one_sentence(TypeError, match=says):
        Handing(*args, **settings)


@pytest.mark.parametrize("given", [None, {"critic_loss": 0.5}, 0.5])
def test_an_update_that_gives_nothing_to_log_is_one_sentence(given):
    class Silent(Climber):
        def update(self, batch):
            return given

    with one_sentence(TypeError, repr(given), match=r"^update of Silent must return .* of tensors"):
        Silent("Pendulum-v1", seed=0, **small).learn(30)


def test_so_is_a_learn_from_that_gives_nothing():
    class Silent(A2C):
        def learn_from(self, *columns):
            super().learn_from(*columns)

    with one_sentence(TypeError, match=r"^learn_from of Silent must return .* of numb"):
        Silent("CartPole-v1", seed=0).learn(30)


def test_a_default_of_its_own_is_what_counts():
    """Also where the table looks at two settings together."""

    class Early(Climber):
        def __init__(self, env, *, seed=None, **shared):
            super().__init__(env, seed=seed, learning_starts=5, **shared)

    agent = Early("Pendulum-v1", buffer_size=50)
    assert agent.learning_starts == 5


def test_a_memory_of_ones_own_has_add_sample_and_a_length(tmp_path):
    class Listed:
        def __init__(self, rng):
            self.steps, self.rng = [], rng

        def __len__(self):
            return len(self.steps)

        def add(self, *step):
            self.steps.append([np.asarray(part, np.float32) for part in step])

        def sample(self, batch_size):
            drawn = [self.steps[i] for i in self.rng.integers(len(self), size=batch_size)]
            return Batch(*(torch.as_tensor(np.stack(part)) for part in zip(*drawn, strict=True)))

    agent = TD3("Pendulum-v1", seed=0, learning_starts=320, batch_size=16, hidden=16)
    agent.buffer = Listed(agent.rng)
    agent.learn(330)
    assert len(agent.buffer) == 330
    assert agent.updates == 11
    with one_sentence(ValueError, "save without replay", "Listed", "ReplayBuffer"):
        agent.save(tmp_path / "agent.pt", replay=True)
    agent.save(tmp_path / "agent.pt")
    assert TD3.load(tmp_path / "agent.pt").steps == 330


def test_a_store_of_ones_own_is_warned_of_since_training_does_not_call_it():
    with pytest.warns(UserWarning, match="Shaped.store is for .*, learn never calls it") as warned:

        class Shaped(TD3):
            def store(self, obs, action, reward, *rest):
                super().store(obs, action, reward + 1, *rest)

    assert_one_sentence(warned[0].message, "override collect")


@pytest.mark.parametrize(
    "obs", [np.zeros((1, 3)), np.zeros(3), torch.zeros(3), torch.zeros(1, 2), {"a": 1}], ids=repr
)
@pytest.mark.parametrize("kind", [A2C, TD3, SAC, Climber])
def test_a_value_of_what_is_not_flat_is_one_sentence(kind, obs):
    agent = kind("Pendulum-v1", seed=0, hidden=4)
    with pytest.raises(ValueError, match=r"value takes what agent\.flat") as error:
        agent.value(obs)
    assert_one_sentence(error.value, "agent.value(agent.flat(obs[None]))")
    assert agent.value(agent.flat(np.zeros((2, 3)))).shape == (2,)
    for wrong in (np.zeros(3), 0.0, np.zeros((2, 2))):
        with one_sentence(ValueError, "agent.flat(obs[None])", str(np.shape(wrong))):
            agent.flat(wrong)
