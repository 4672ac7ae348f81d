"""SAC: densities, targets and losses by their definitions, and what it learns in tiny worlds."""

import copy
import math

import numpy as np
import pytest
import torch
from environments import LOPSIDED, TORQUE, Guess, TwoSteps, make
from hypothesis import given
from hypothesis import strategies as st
from sentences import one_sentence
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform
from trials import (
    a_batch,
    an_agent,
    assert_close,
    gradients,
    learned,
    moved,
    networks,
    q,
    quick,
    snapshot,
    strong,
)

from helpers.agents import SAC, sac
from helpers.agents.layers import DeepSquashedGaussianActor
from helpers.agents.noise import GaussianNoise
from helpers.agents.sac import Temperature
from helpers.algorithms.sac import (
    SquashedGaussianActor,
    log_tanh_slope,
    sac_actor_loss,
    soft_td_target,
    squashed_sample,
    temperature_loss,
)
from helpers.algorithms.td3 import TwinQNetwork, clipped_double_q_target, twin_critic_loss
from helpers.envs.units import to_env_units

sizes = st.integers(1, 5)
NETWORKS = ("actor", "critic", "target_critic", "temperature")


def draws(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def a_gaussian(n=6, actions=2, seed=0):
    """Means, logarithms of standard deviations, noise, (n, actions) each."""
    return tuple(draws(n, actions, seed=seed + i) for i in range(3))


# ---- the policy ----------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [
    lambda: SquashedGaussianActor(3, 2, 8), lambda: DeepSquashedGaussianActor(3, 2, (8, 8, 8)),
])  # fmt: skip
def test_the_actor_gives_a_mean_and_a_log_std_in_its_range(build):
    actor = build()
    for shape in ((), (4,), (2, 5)):
        mean, log_std = actor(draws(*shape, 3))
        assert mean.shape == log_std.shape == (*shape, 2)
        assert mean.abs().max() < 0.1  # a small start: mean 0, standard deviation 1
        assert log_std.abs().max() < 0.1
    with torch.no_grad():
        actor.output.bias += torch.tensor([3.0, -40.0, 40.0, -40.0])
        (mean_1, mean_2), log_std = actor(draws(3))
    assert mean_1 > 2.9
    assert mean_2 < -39.9  # the mean is not cut off
    assert log_std.tolist() == [2.0, -20.0]


@quick
@given(st.floats(-8, 8))
def test_the_slope_of_tanh_is_its_definition(u):
    exact = math.log(1 - math.tanh(u) ** 2)
    found = log_tanh_slope(torch.tensor(u, dtype=torch.float32)).item()
    assert found == pytest.approx(exact, rel=1e-4, abs=1e-5)


def test_the_slope_of_tanh_is_exact_where_tanh_rounds_to_one():
    u = torch.tensor([15.0, -15.0, 50.0, -50.0, 1e4], requires_grad=True)
    assert (1 - torch.tanh(u) ** 2).log().isinf().all()  # as the formula stands
    slope = log_tanh_slope(u)  # 4 e^(-2 |u|)
    torch.testing.assert_close(slope, math.log(4) - 2 * u.abs())
    (gradient,) = torch.autograd.grad(slope.sum(), u)
    assert gradient.tolist() == pytest.approx([-2, 2, -2, 2, -2])


@quick
@given(sizes, sizes, st.integers(0, 2**32))
def test_a_sample_and_its_log_density_are_torchs(n, actions, seed):
    mean, log_std, noise = (each.double() for each in a_gaussian(n, actions, seed))
    action, log_prob = squashed_sample(mean, log_std, noise)
    peer = TransformedDistribution(Normal(mean, log_std.exp()), [TanhTransform()])
    torch.testing.assert_close(action, torch.tanh(mean + log_std.exp() * noise))
    inside = (action.abs() < 0.9999).all(dim=-1)  # beyond it torch's own is rounded
    torch.testing.assert_close(log_prob[inside], peer.log_prob(action).sum(dim=-1)[inside])


def test_log_densities_are_finite_where_actions_round_to_the_bounds():
    mean = torch.tensor([[30.0, -30.0], [300.0, 0.0]], requires_grad=True)
    log_std = torch.tensor([[2.0, -20.0], [-20.0, 2.0]], requires_grad=True)
    action, log_prob = squashed_sample(mean, log_std, torch.ones(2, 2))
    assert action.abs().max() == 1
    assert log_prob.isfinite().all()
    slopes = torch.autograd.grad(log_prob.sum(), (mean, log_std))
    assert all(slope.isfinite().all() for slope in slopes)


def test_gradients_flow_from_action_and_density_to_mean_and_std():
    """As torch's rsample has them."""
    mean, log_std, noise = a_gaussian()
    ours, theirs = ([each.clone().requires_grad_() for each in (mean, log_std)] for _ in range(2))
    action, log_prob = squashed_sample(*ours, noise)
    u = theirs[0] + theirs[1].exp() * noise
    normal = Normal(theirs[0], theirs[1].exp())
    peer = (normal.log_prob(u) - (1 - torch.tanh(u) ** 2).log()).sum(dim=-1)
    ours = torch.autograd.grad((log_prob + action.sum(dim=-1)).sum(), ours)
    theirs = torch.autograd.grad((peer + torch.tanh(u).sum(dim=-1)).sum(), theirs)
    assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    assert all(gradient.abs().min() > 0 for gradient in ours)


# ---- the target ----------------------------------------------------------------------------------


def test_the_target_by_hand():
    """Each critic is the lower one in some row; entropy counts, but not after a termination."""
    batch = a_batch(5)._replace(
        reward=torch.tensor([1.0, 1.0, -2.0, 3.0, 4.0]),
        terminated=torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0]),
        truncated=torch.tensor([0.0, 0.0, 1.0, 0.0, 1.0]),
    )
    asked, action = [], torch.zeros(5, 2)
    log_prob = torch.tensor([-2.0, 4.0, 0.0, -8.0, 8.0])

    def critic(obs, action):
        asked.append((obs, action))
        return torch.tensor([10.0, 30, -5, 7, 7]), torch.tensor([20.0, -10, -4, 8, 6])

    target = soft_td_target(batch, action, log_prob, critic, 0.25, 0.5)
    assert target.tolist() == [1 + 5.25, 1 - 5.5, -2 - 2.5, 3, 4]
    ((obs, acted),) = asked
    assert obs is batch.next_obs
    assert acted is action


def test_without_entropy_it_is_td3s_target_and_has_no_gradient():
    batch, (_, critic) = a_batch(), networks(critic=TwinQNetwork)
    action, log_prob = batch.action, draws(6).requires_grad_()
    found = soft_td_target(batch, action, log_prob, critic, 0.0, 0.9)
    torch.testing.assert_close(found, clipped_double_q_target(batch, action, critic, 0.9))
    assert not soft_td_target(batch, action, log_prob, critic, 0.5, 0.9).requires_grad
    assert torch.is_grad_enabled()


# ---- losses --------------------------------------------------------------------------------------


def test_the_actors_loss_is_its_definition_and_moves_it_alone():
    batch, (_, critic) = a_batch(64), networks(critic=TwinQNetwork)
    actor = SquashedGaussianActor(3, 2, 8)
    with torch.no_grad():
        critic.second.output.bias -= 1  # so that each is the lower one in some row
    action, log_prob = squashed_sample(*actor(batch.obs), draws(64, 2))
    loss = sac_actor_loss(critic, batch.obs, action, log_prob, 0.3)
    q = torch.stack(critic(batch.obs, action))
    assert (q[0] < q[1]).any()
    assert (q[0] > q[1]).any()
    assert loss.shape == ()
    assert loss.item() == pytest.approx((0.3 * log_prob - q.min(dim=0).values).mean().item())
    assert all(gradient.abs().sum() > 0 for gradient in gradients(loss, actor))


@pytest.mark.parametrize(("log_prob", "sign"), [([3.0, 2.0], 1), ([0.5, -4.0], -1)])
def test_the_temperature_rises_where_the_policy_is_too_certain(log_prob, sign):
    temperature, log_prob = Temperature(0.5), torch.tensor(log_prob, requires_grad=True)
    loss = temperature_loss(temperature.log, log_prob, -1.5)
    expected = -math.log(0.5) * (log_prob.mean().item() - 1.5)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(expected)
    (gradient,) = torch.autograd.grad(loss, temperature.log, retain_graph=True)
    assert math.copysign(1, -gradient.item()) == sign
    assert torch.autograd.grad(loss, log_prob, allow_unused=True) == (None,)


@pytest.mark.parametrize("value", [1e-3, 0.2, 1.0, 7.0])
def test_a_temperature_is_what_it_was_told_without_gradient(value):
    temperature = Temperature(value)
    assert temperature().item() == pytest.approx(value)
    assert not temperature().requires_grad
    assert temperature.log.requires_grad


# ---- one update ----------------------------------------------------------------------------------


def stronger(agent):
    """As `strong`, for an agent without a target actor."""
    agent.target_actor = agent.actor
    return strong(agent)


def test_every_update_moves_all_networks_but_a_fixed_temperature():
    for learned_too in (True, False):
        agent = stronger(an_agent(SAC, learn_temperature=learned_too))
        before = {name: snapshot(getattr(agent, name)) for name in NETWORKS}
        agent.update(a_batch(16, obs_size=1))
        changes = {name: moved(getattr(agent, name), before[name]) for name in NETWORKS}
        assert all(changes["actor"] + changes["critic"] + changes["target_critic"])
        assert changes["temperature"] == [learned_too]


def test_an_update_gives_what_it_learned_from():
    agent, batch = stronger(an_agent(SAC, temperature=0.3)), a_batch(32, obs_size=1)
    before = copy.deepcopy(agent)
    given = agent.update(batch)
    alpha, next_ones = before.temperature(), before.sample(batch.next_obs, before.rng)
    target = soft_td_target(batch, *next_ones, before.target_critic, alpha, 0.9)
    action, log_prob = before.sample(batch.obs, before.rng)
    expected = {
        "critic_loss": twin_critic_loss(before.critic, batch, target),
        "actor_loss": sac_actor_loss(agent.critic, batch.obs, action, log_prob, alpha),
        "temperature": alpha,
        "entropy": -log_prob.mean(),
    }
    assert given.keys() == expected.keys()
    assert_close(given.values(), expected.values())


def test_an_update_leaves_no_foreign_gradient():
    agent, batch = stronger(an_agent(SAC)), a_batch(32, obs_size=1)
    agent.update(batch)
    assert all(p.grad is None for p in agent.target_critic.parameters())
    before = [p.grad.clone() for p in agent.critic.parameters()]
    action, log_prob = agent.sample(batch.obs, agent.rng)
    loss = sac_actor_loss(agent.critic, batch.obs, action, log_prob, agent.temperature())
    sac.gradient_step(agent.actor_optimizer, loss)
    assert_close([p.grad for p in agent.critic.parameters()], before)


# ---- how it acts ---------------------------------------------------------------------------------


def test_greedy_is_the_tanh_of_the_mean_and_exploring_draws_from_the_policy():
    agent = stronger(an_agent(SAC))
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
    assert SAC("Pendulum-v1").noise is None
    for agent in (quiet, noisy):
        agent.updates, agent.steps = 1, 10_000
        with torch.no_grad():
            agent.actor.output.bias[2:] -= 30  # the policy's own std is 0
    obs = np.float32([0.5])
    spread = [np.std([agent.explore(obs)[0] for _ in range(500)]) for agent in (quiet, noisy)]
    assert spread == [pytest.approx(0, abs=1e-6), pytest.approx(0.3, rel=0.15)]


def test_value_is_the_first_critics_of_the_greedy_action():
    agent, batch = stronger(an_agent(SAC)), a_batch(5, obs_size=1)
    greedy = torch.tanh(agent.actor(batch.obs)[0])
    torch.testing.assert_close(agent.value(batch.obs), agent.critic.first(batch.obs, greedy))


# ---- what can be set -----------------------------------------------------------------------------


def test_what_is_set_is_remembered_and_used(tmp_path):
    own = {"temperature": 0.3, "learn_temperature": False, "target_entropy": -0.7}
    defaults = {"temperature": 1.0, "learn_temperature": True, "target_entropy": -1}
    for agent, expected in ((an_agent(SAC, **own), own), (SAC("Pendulum-v1"), defaults)):
        assert agent.hyperparameters | expected == agent.hyperparameters
        assert agent.temperature().item() == pytest.approx(expected["temperature"])
        assert agent.learn_temperature == expected["learn_temperature"]
    assert SAC("Pendulum-v1").target_entropy == -1
    assert an_agent(SAC).target_entropy == -2  # of two actions
    agent = an_agent(SAC, **own)
    agent.save(tmp_path / "agent.pt")
    loaded = SAC.load(tmp_path / "agent.pt", env=agent.env_source)
    assert loaded.hyperparameters == agent.hyperparameters
    assert not hasattr(agent, "target_actor")


@pytest.mark.parametrize("name", ["temperature", "target_entropy"])
def test_what_learning_the_temperature_rests_on_is_not_changed_later(name):
    agent = an_agent(SAC)
    with one_sentence(AttributeError, name):
        setattr(agent, name, 0.5)
    agent.learn_temperature = False
    before = agent.temperature().item()
    agent.update(a_batch(16, obs_size=1))
    assert agent.temperature().item() == before


# ---- probe environments --------------------------------------------------------------------------


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
