"""Agents of one's own: less than 30 lines each, and all that the course's agents can do."""

import inspect

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sentences import one_sentence
from torch import nn
from wholes import everything

from helpers.agents import A2C, PPO, TD3
from helpers.agents.base import Agent, gradient_step
from helpers.agents.limits import COUNT, widths
from helpers.agents.noise import OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import as_rate
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import QNetwork
from helpers.algorithms.reinforce import discounted_returns, log_prob, make_actor, sample_actions
from helpers.memory.buffers import Batch


class Climber(OffPolicyAgent):
    """Off-policy: a critic of immediate rewards alone, and an actor that climbs it."""

    critic_class = QNetwork

    eagerness: int = setting(1, COUNT)

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
    learning_rate: float = setting(1e-2, as_rate)
    hidden: int = setting(16, widths, fixed=True)

    def build(self):
        super().build()
        with self.seeded():
            self.actor = make_actor(self.obs_size, int(self.action_space.n), self.hidden)
        self.optimizer = torch.optim.Adam(self.actor.parameters())
        self.follow("learning_rate", "optimizer")

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


class Narrow(TD3):
    """Other defaults, one of which a noise is."""

    hidden = 4
    gamma = 0.9
    noise = OUNoise(0.3)


class Farsighted(TD3):
    """A setting from which another one follows."""

    horizon: int = setting(100, COUNT)

    def build(self):
        self.gamma = 1 - 1 / self.horizon
        super().build()


class Scaled(PPO):
    n_envs, n_steps, normalize = 3, 5, ("obs", "rewards")


PENDULUM = "Pendulum-v1"
few = {"learning_starts": 20, "batch_size": 8, "buffer_size": 200}
small = few | {"hidden": 8}


@pytest.mark.parametrize(
    ("kind", "env", "settings", "expected"),
    [
        (Climber, PENDULUM, small, {"eagerness": 1}),
        (Reinforce, "CartPole-v1", {}, {"learning_rate": 0.01}),
        (Narrow, PENDULUM, few | {"gamma": 0.8}, {"hidden": 4, "noise": OUNoise(0.3)}),
        (Farsighted, PENDULUM, few | {"horizon": 50}, {"horizon": 50, "gamma": 0.98}),
        (Scaled, PENDULUM, {}, {"n_envs": 3, "normalize": ("obs", "rewards")}),
    ],
)
def test_it_learns_saves_loads_and_goes_on_as_if_nothing_had_happened(
    kind, env, settings, expected, tmp_path
):
    agent = kind(env, seed=0, **settings)
    assert agent.hyperparameters | settings | expected == agent.hyperparameters
    assert inspect.signature(kind).parameters.keys() == {"env", *agent.hyperparameters}
    before = [weight.clone() for weight in weights(agent)]
    agent.learn(60)
    assert not all(map(torch.equal, before, weights(agent)))
    agent.save(tmp_path / "own.pt", replay=True)
    loaded = kind.load(tmp_path / "own.pt")
    assert loaded.hyperparameters == agent.hyperparameters
    obs = agent.observation_space.sample()
    np.testing.assert_array_equal(loaded.predict(obs), agent.predict(obs))
    assert everything(loaded.learn(60)) == everything(agent.learn(60))


def weights(agent):
    return (agent.policy if hasattr(agent, "policy") else agent.actor).parameters()


def with_constructor():
    class Mine(TD3):
        def __init__(self, env, **settings):
            super().__init__(env, **settings)


def with_a_wrong_default():
    class Mine(TD3):
        gamma = 1.5


def with_a_default_mixed_in():
    class Patient:
        gamma = 0.999

    class Mine(Patient, TD3):
        pass


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (with_constructor, TypeError, "write each setting as a line of the class"),
        (with_a_wrong_default, ValueError, "^gamma must be a number from 0 to 1, got 1.5"),
        (with_a_default_mixed_in, TypeError, "^gamma = 0.999 belongs in Mine itself"),
        (lambda: Climber(PENDULUM, eagerness=0), ValueError, "^eagerness must be .*, got 0.$"),
        (lambda: Reinforce("CartPole-v1", learning_rate=-1), ValueError, "^learning_rate must be"),
        (lambda: Climber("MlpPolicy", PENDULUM), TypeError, "Climber takes the environment, and"),
        (lambda: Climber(PENDULUM, egerness=2), TypeError, "takes no egerness: write eagerness"),
    ],
)
def test_what_a_class_cannot_say_or_take_is_one_sentence(make, error, says):
    with one_sentence(error, match=says):
        make()


@pytest.mark.parametrize("given", [None, {"critic_loss": "low"}])
@pytest.mark.parametrize(
    ("kind", "method"), [(Climber, "update"), (A2C, "learn_from")], ids=["off-policy", "on-policy"]
)
def test_what_gives_nothing_to_log_is_one_sentence(kind, method, given):
    silent = type("Silent", (kind,), {method: lambda self, *data: given})
    settings = small if kind is Climber else {"hidden": 8}
    env = PENDULUM if kind is Climber else "CartPole-v1"
    with one_sentence(TypeError, repr(given), match="of Silent must return what is worth"):
        silent(env, seed=0, **settings).learn(30)


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
