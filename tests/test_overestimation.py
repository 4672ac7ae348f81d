"""What a critic says beside what is obtained, where both are known."""

from functools import cache

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, Probe
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from trials import quick

from helpers.agents import DDPG, TD3
from helpers.training.overestimation import SCORED, TAIL, double_estimate, values_and_returns

# ---- the double estimator ------------------------------------------------------------------------


@quick
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32))
def test_double_estimate_is_its_definition(n, actions, seed):
    choosing, judging = np.random.default_rng(seed).normal(size=(2, n, actions))
    kept = choosing.copy(), judging.copy()
    estimate = double_estimate(choosing, judging)
    assert estimate.shape == (n,)
    for row in range(n):
        best = max(range(actions), key=lambda action, row=row: choosing[row, action])
        assert estimate[row] == judging[row, best]
    np.testing.assert_array_equal((choosing, judging), kept)


# ---- values and returns --------------------------------------------------------------------------


class Sliding(Probe):
    """Observes (length of the episode, steps made); step number t gives t plus the torque."""

    observation_space = gym.spaces.Box(np.float32([-np.inf, 0]), np.float32([np.inf, 1000]))
    action_space = TORQUE
    lengths = (3, 1, SCORED, SCORED + 1, SCORED + TAIL, 10**9, 50, 7, 10**9, 450)

    def reset(self, *, seed=None, options=None):
        self.length = self.lengths[seed % 10]
        return super().reset(seed=seed)

    def observe(self):
        return np.array([self.length, self.t], np.float32)

    def play(self, action):
        return self.t + float(action[0]), self.t == self.length, False


gym.register("Limited-v0", entry_point=Sliding, max_episode_steps=5, disable_env_checker=True)


class Leans(nn.Module):
    """An actor that does one thing in episodes of odd length, and another in the others."""

    def forward(self, obs):
        return torch.where(obs[:, :1] % 2 == 1, 0.5, -0.25)


@cache
def true_value(length, t, gamma):
    """What `Leans` obtains after `t` steps, as far as SCORED + TAIL; full torque is 2."""
    torque = 1.0 if length % 2 else -0.5
    steps = range(t + 1, min(length, SCORED + TAIL) + 1)
    return sum(gamma**k * (step + torque) for k, step in enumerate(steps))


def knowing(kind=DDPG, env="Sliding-v0", gamma=0.9, bias=0.0, **settings):
    """An agent that knows what its actions are worth, but for the bias."""
    agent = kind(env, seed=0, gamma=gamma, hidden=4, **settings)
    agent.actor = Leans()

    def knows(obs, action):
        assert torch.equal(action, agent.actor(obs))
        lengths, steps = obs[:, 0].int(), (500 * (obs[:, 1] + 1)).round().int()  # of [-1, 1]
        pairs = zip(lengths.tolist(), steps.tolist(), strict=True)
        values = [true_value(length, t, gamma) for length, t in pairs]
        return torch.tensor(values) * agent.reward_scale + bias

    agent.critic = knows
    return agent


def expected(gamma):
    """The mean over all states that are scored, of all episodes alike."""
    values = [
        true_value(length, t, gamma)
        for length in Sliding.lengths for t in range(min(length, SCORED))
    ]  # fmt: skip
    return np.mean(values)


@pytest.mark.parametrize(("kind", "gamma"), [(DDPG, 0.9), (TD3, 1.0)])
def test_who_knows_the_values_has_no_bias(kind, gamma):
    """With a gamma of 1, every reward of every episode counts. Of two critics q1 is asked."""
    agent = knowing(kind, gamma=gamma)
    agent.critic.q1 = agent.critic
    said, obtained = values_and_returns(agent)
    assert obtained == pytest.approx(expected(gamma), rel=1e-6)
    assert said == pytest.approx(obtained, rel=1e-5)


@pytest.mark.parametrize(("bias", "reward_scale"), [(3.0, 1.0), (-0.5, 0.1)])
def test_what_a_critic_says_too_much_is_found_in_the_environments_units(bias, reward_scale):
    said, obtained = values_and_returns(knowing(bias=bias, reward_scale=reward_scale))
    assert obtained == pytest.approx(expected(0.9), rel=1e-6)
    assert said - obtained == pytest.approx(bias / reward_scale, rel=1e-3)


def test_episodes_have_no_time_limit():
    said, obtained = values_and_returns(knowing(env="Limited-v0"))
    assert obtained == pytest.approx(expected(0.9), rel=1e-6)
    assert said == pytest.approx(obtained, rel=1e-5)


def test_looking_changes_nothing_and_repeats_itself():
    agent = DDPG("Pendulum-v1", seed=0, learning_starts=5, batch_size=4, hidden=4).learn(10)
    states = [agent.rng.bit_generator.state, agent.predict_rng.bit_generator.state]
    history = {name: list(values) for name, values in agent.history.items()}
    first = values_and_returns(agent)
    assert first == values_and_returns(agent)
    assert first != values_and_returns(agent, seed=1)
    assert states == [agent.rng.bit_generator.state, agent.predict_rng.bit_generator.state]
    assert (agent.steps, agent.history) == (10, history)
