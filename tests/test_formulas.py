"""DDPG, TD3, SAC and DDPGfD beside what peers and lessons compare: starts, values, exploring.

Whole updates are compared with Stable-Baselines3 in `test_peers.py`.
"""

import math

import numpy as np
import pytest
import torch
from environments import LOPSIDED, TORQUE, Guess, TwoSteps, make
from sentences import one_sentence
from trials import a_batch, an_agent, learned, q, strong

from helpers.agents import DDPG, SAC, TD3, DDPGfD
from helpers.agents.layers import DeepSquashedGaussianActor
from helpers.agents.noise import GaussianNoise
from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.algorithms.sac import SquashedGaussianActor, log_tanh_slope, squashed_sample
from helpers.algorithms.td3 import TwinQNetwork
from helpers.demos.files import load_demos
from helpers.envs.units import to_env_units

DEMOS = "data/demos/sparse_pendulum.npz"


# ---- networks ------------------------------------------------------------------------------------


def test_last_layers_start_small_and_the_others_do_not():
    """Lillicrap et al. 2016, section 7."""
    twins = TwinQNetwork(3, 2)
    for network in (DeterministicActor(3, 2), QNetwork(3, 2), twins.first, twins.second):
        for parameter in network.output.parameters():
            assert parameter.abs().max() <= 3e-3
        assert network.output.weight.abs().max() > 2.5e-3
        assert network.output.weight.min() < 0 < network.output.weight.max()
        assert network.hidden2.weight.abs().max() > 0.1
    for one, other in zip(twins.first.parameters(), twins.second.parameters(), strict=True):
        assert not torch.equal(one, other)  # or both would make the same errors


@pytest.mark.parametrize("build", [
    lambda: SquashedGaussianActor(3, 2, 8), lambda: DeepSquashedGaussianActor(3, 2, (8, 8, 8)),
])  # fmt: skip
def test_a_stochastic_actor_gives_a_mean_and_a_log_std_in_its_range(build):
    actor = build()
    for shape in ((), (4,), (2, 5)):
        mean, log_std = actor(torch.ones(*shape, 3))
        assert mean.shape == log_std.shape == (*shape, 2)
        assert max(mean.abs().max(), log_std.abs().max()) < 0.1  # a small start
    with torch.no_grad():
        actor.output.bias += torch.tensor([3.0, -40.0, 40.0, -40.0])
        mean, log_std = actor(torch.ones(3))
    assert mean.tolist() == pytest.approx([3, -40], abs=0.1)  # the mean is not cut off
    assert log_std.tolist() == [2.0, -20.0]


@pytest.mark.parametrize("kind", [DDPG, TD3, SAC])
def test_value_is_the_first_critics_of_the_greedy_action(kind):
    agent, batch = strong(an_agent(kind)), a_batch(5, obs_size=1)
    critic = agent.critic if kind is DDPG else agent.critic.first
    expected = critic(batch.obs, agent.greedy(batch.obs))
    torch.testing.assert_close(agent.value(batch.obs), expected)


# ---- SAC -----------------------------------------------------------------------------------------


def test_log_densities_and_their_slopes_are_exact_where_tanh_rounds_to_one():
    u = torch.tensor([15.0, -15.0, 50.0, -50.0, 1e4], requires_grad=True)
    slope = log_tanh_slope(u)  # 4 e^(-2 |u|)
    torch.testing.assert_close(slope, math.log(4) - 2 * u.abs())
    (gradient,) = torch.autograd.grad(slope.sum(), u)
    assert gradient.tolist() == pytest.approx([-2, 2, -2, 2, -2])
    mean = torch.tensor([[30.0, -30.0], [300.0, 0.0]], requires_grad=True)
    log_std = torch.tensor([[2.0, -20.0], [-20.0, 2.0]], requires_grad=True)
    action, log_prob = squashed_sample(mean, log_std, torch.ones(2, 2))
    assert action.abs().max() == 1
    slopes = torch.autograd.grad(log_prob.sum(), (mean, log_std))
    assert all(each.isfinite().all() for each in (log_prob, *slopes))


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


def test_what_a_sac_is_made_with_is_used(tmp_path):
    own = {"temperature": 0.3, "learn_temperature": False, "target_entropy": -0.7}
    defaults = {"temperature": 1.0, "learn_temperature": True, "target_entropy": -2}
    for agent, expected in ((an_agent(SAC, **own), own), (an_agent(SAC), defaults)):
        assert agent.hyperparameters | expected == agent.hyperparameters
        assert agent.temperature().item() == pytest.approx(expected["temperature"])
    assert agent.noise is None
    for name in ("temperature", "target_entropy"):
        with one_sentence(AttributeError, name):
            setattr(agent, name, 0.5)
    agent.learn_temperature = False
    agent.update(a_batch(16, obs_size=1))
    assert agent.temperature().item() == 1


def test_entropy_has_its_price_in_the_value_of_what_comes_later():
    """One step to come, at which a policy that cannot gain anything is uniform: entropy log(4)."""
    env = make(TwoSteps, action_space=TORQUE)
    agent = learned(SAC, env, 1500, gamma=0.6, temperature=0.5, learn_temperature=False, noise=None)
    assert q(agent, 1, 0.0) == pytest.approx([1, 1], abs=0.1)
    # In [-1, 1], where the agent thinks, the entropy is log(2).
    assert q(agent, 0, 0.0) == pytest.approx([0.6 * (1 + 0.5 * math.log(2))] * 2, abs=0.1)


def test_the_learned_temperature_brings_the_entropy_to_its_target():
    env = make(Guess, wanted={-1: [1.0, 15.0], 1: [1.0, 15.0]}, action_space=LOPSIDED)
    settings = {"temperature_learning_rate": 0.02, "noise": None, "target_entropy": -1.5}
    agent = learned(SAC, env, 3000, reward_scale=0.1, **settings)
    recent = [value for _, value in agent.history["entropy"]][-15:]
    assert np.mean(recent) == pytest.approx(-1.5, abs=0.3)


# ---- DDPG from demonstrations --------------------------------------------------------------------


def test_demonstrations_are_studied_before_the_first_step_and_keep_their_bonus():
    agent = DDPGfD("SparsePendulum-v0", seed=0, pretraining=100, learning_starts=1, hidden=16)
    agent.remember(load_demos(DEMOS, agent.env_source)).learn(20)
    assert (agent.steps, agent.updates) == (20, 120)
    assert agent.buffer.demos == 1000
    assert agent.history["demonstrations"][0][1] == 1.0  # their share of what is drawn
    assert (agent.buffer.sums.leaves[:1000] >= 1.0).all()
    assert len(np.unique(agent.buffer.sums.leaves[:1000])) > 500
