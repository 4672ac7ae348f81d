"""DDPG, TD3, SAC and DDPGfD beside what peers and exercises compare: values, exploring.

Whole updates are compared with Stable-Baselines3 in `test_peers.py`.
"""

import numpy as np
import pytest
import torch
from environments import LOPSIDED
from trials import a_batch, an_agent
from wholes import with_demos

from helpers.agents import DDPG, SAC, TD3
from helpers.agents.noise import GaussianNoise
from helpers.envs.units import to_env_units


def strong(agent):
    """The agent with larger last layers, so that every layer counts."""
    with torch.no_grad():
        for network in agent.networks().values():
            for name, weights in network.named_parameters():
                weights.mul_(300 if name.endswith("output.weight") else 1)
    return agent


@pytest.mark.parametrize("kind", [DDPG, TD3, SAC])
def test_value_is_the_first_critics_of_the_greedy_action(kind):
    agent, batch = strong(an_agent(kind)), a_batch(5, obs_size=1)
    critic = agent.critic if kind is DDPG else agent.critic.first
    expected = critic(batch.obs, agent.greedy(batch.obs))
    torch.testing.assert_close(agent.value(batch.obs), expected)


def test_greedy_is_the_tanh_of_the_mean_and_exploring_draws_from_the_policy():
    agent = strong(an_agent(SAC))
    obs = np.float32([[0.5]])
    with torch.no_grad():
        mean, log_std = agent.actor(agent.flat(obs))
    wanted = to_env_units(np.tanh(mean.numpy()), LOPSIDED.low, LOPSIDED.high)
    np.testing.assert_allclose(agent.predict(obs), wanted, rtol=1e-5)
    many = agent.predict(np.repeat(obs, 20_000, axis=0), deterministic=False)
    u = torch.atanh(torch.from_numpy(agent.units.scaled_action(many, len(many))).double())
    middle = u.median(dim=0).values  # the tails round to the bounds
    np.testing.assert_allclose(middle, mean[0], atol=0.05 * float(log_std.exp().max()))
    quarter = (u.quantile(0.75, dim=0) - u.quantile(0.25, dim=0)) / 1.349
    np.testing.assert_allclose(quarter, log_std.exp()[0], rtol=0.05)


def test_a_noise_is_added_to_what_the_policy_draws():
    quiet, noisy = (an_agent(SAC, noise=noise) for noise in (None, GaussianNoise(0.3)))
    for agent in (quiet, noisy):
        agent.updates, agent.steps = 1, 10_000
        with torch.no_grad():
            agent.actor.output.bias[2:] -= 30  # the policy's own std is 0
    obs = np.float32([0.5])
    spread = [np.std([agent.explore(obs)[0] for _ in range(500)]) for agent in (quiet, noisy)]
    assert spread == [pytest.approx(0, abs=1e-6), pytest.approx(0.3, rel=0.15)]


def test_what_a_sac_is_made_with_is_used():
    own = {"temperature": 0.3, "learn_temperature": False, "target_entropy": -0.7}
    defaults = {"temperature": 1.0, "learn_temperature": True, "target_entropy": -2}
    for agent, expected in ((an_agent(SAC, **own), own), (an_agent(SAC), defaults)):
        assert agent.hyperparameters | expected == agent.hyperparameters
        assert agent.temperature().item() == pytest.approx(expected["temperature"])
    assert agent.noise is None


def test_demonstrations_are_studied_before_the_first_step():
    agent = with_demos(pretraining=100).learn(20)
    assert (agent.steps, agent.updates) == (20, 120)
    assert agent.history["demonstrations"][0][1] == 1.0  # their share of what is drawn
