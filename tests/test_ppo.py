"""PPO: its functions against their definitions; one update against the formulas."""

import copy
import math

import numpy as np
import pytest
import torch
from environments import AnySpace, make
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from test_a2c import distribution, rows_of
from torch.distributions import Categorical

from helpers.agents import PPO
from helpers.agents.schedules import LinearSchedule
from helpers.algorithms.policies import approximate_kl, orthogonal_init
from helpers.algorithms.ppo import (
    clip_fraction,
    clipped_surrogate,
    minibatches,
    normalized,
    ppo_value_loss,
    probability_ratio,
)
from helpers.algorithms.reinforce import actor_loss, make_actor

quick = settings(deadline=None, max_examples=60, derandomize=True)
seeds = st.integers(0, 2**32)


def draw(rows, seed, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(rows, generator=generator)


# ---- ratios --------------------------------------------------------------------------------------


def test_a_ratio_compares_the_new_policy_with_the_old_one():
    new, old = (torch.tensor(p, requires_grad=True) for p in ([0.5, 0.1, 0.9], [0.25, 0.2, 0.9]))
    ratios = probability_ratio(new.log(), old.log())
    torch.testing.assert_close(ratios, torch.tensor([2.0, 0.5, 1.0]))
    ratios.sum().backward()
    torch.testing.assert_close(new.grad, torch.tensor([4.0, 5.0, 1 / 0.9]))
    assert old.grad is None


def test_a_ratio_of_what_both_find_impossible_is_finite():
    both = torch.tensor([-200.0, -1e4])
    torch.testing.assert_close(probability_ratio(both, both), torch.ones(2))


# ---- the clipped surrogate -----------------------------------------------------------------------


@quick
@given(st.integers(1, 9), st.floats(0.01, 0.9), seeds)
def test_the_surrogate_is_the_smaller_of_both_in_each_row(rows, clip_range, seed):
    ratios, advantages = draw(rows, seed).exp(), draw(rows, seed + 1, 3.0)
    expected = 0.0
    for r, a in zip(ratios.tolist(), advantages.tolist(), strict=True):
        within = min(max(r, 1 - clip_range), 1 + clip_range)
        expected += min(r * a, within * a) / rows
    found = clipped_surrogate(ratios, advantages, clip_range)
    assert found.shape == ()
    assert found.item() == pytest.approx(expected, abs=1e-5)
    # Pessimistic: never more than without clipping.
    assert found <= (ratios * advantages).mean() + 1e-6


@pytest.mark.parametrize(
    ("ratio", "advantage", "slope"),
    [
        (0.5, 1.0, 1.0), (1.0, 1.0, 1.0), (1.5, 1.0, 0.0),
        (0.5, -1.0, 0.0), (1.0, -1.0, -1.0), (1.5, -1.0, -1.0),
    ],
)  # fmt: skip
def test_its_gradient_stops_only_where_going_on_would_be_rewarded(ratio, advantage, slope):
    ratios = torch.tensor([ratio], requires_grad=True)
    advantages = torch.tensor([advantage], requires_grad=True)
    clipped_surrogate(ratios, advantages, 0.2).backward()
    assert ratios.grad.item() == slope
    assert advantages.grad is None


def test_where_nothing_has_moved_its_gradient_is_the_policy_gradient():
    log_probs = draw(7, 0).requires_grad_()
    advantages = draw(7, 1)
    ratios = probability_ratio(log_probs, log_probs)
    (surrogate,) = torch.autograd.grad(-clipped_surrogate(ratios, advantages, 0.2), log_probs)
    (gradient,) = torch.autograd.grad(actor_loss(log_probs, advantages), log_probs)
    torch.testing.assert_close(surrogate, gradient)


def test_the_clip_fraction_counts_both_sides():
    ratios = torch.tensor([0.5, 0.85, 1.0, 1.15, 1.5], requires_grad=True)
    assert clip_fraction(ratios, 0.2).item() == pytest.approx(0.4)
    assert clip_fraction(ratios, 0.1).item() == pytest.approx(0.8)
    assert not clip_fraction(ratios, 0.1).requires_grad


# ---- the divergence ------------------------------------------------------------------------------


@quick
@given(st.integers(1, 9), st.floats(1e-4, 3), seeds)
def test_the_estimate_is_never_negative_and_zero_where_nothing_moved(rows, scale, seed):
    old = draw(rows, seed) - 1
    new = (old + draw(rows, seed + 1, scale)).requires_grad_()
    found = approximate_kl(new, old)
    assert found.shape == ()
    assert not found.requires_grad
    assert found > 0
    log_ratio = (new - old).detach().double().numpy()
    assert found.item() == pytest.approx(np.mean(np.exp(log_ratio) - 1 - log_ratio), rel=1e-3)
    assert approximate_kl(old, old) == 0


def test_its_expectation_is_the_divergence_of_old_from_new():
    old = Categorical(probs=torch.tensor([0.5, 0.3, 0.2]))
    new = Categorical(probs=torch.tensor([0.2, 0.3, 0.5]))
    drawn = torch.arange(3).repeat_interleave(torch.tensor([5, 3, 2]))  # as often as pi_old does
    found = approximate_kl(new.log_prob(drawn), old.log_prob(drawn))
    torch.testing.assert_close(found, torch.distributions.kl_divergence(old, new))


# ---- advantages and values -----------------------------------------------------------------------


@quick
@given(st.integers(2, 20), st.floats(0.01, 100), seeds)
def test_normalised_advantages_have_mean_0_and_std_1_and_keep_their_order(rows, scale, seed):
    advantages = 5 + draw(rows, seed, scale)
    found = normalized(advantages)
    assert found.mean().item() == pytest.approx(0, abs=1e-2)
    assert found.std().item() == pytest.approx(1, abs=1e-3)
    assert torch.equal(found.argsort(), advantages.argsort())


def test_advantages_that_are_all_equal_stay_finite():
    assert torch.equal(normalized(torch.full((4,), 2.5)), torch.zeros(4))


@quick
@given(st.integers(1, 9), st.floats(0.01, 2), seeds)
def test_the_clipped_value_loss_is_the_larger_of_both_in_each_row(rows, clip_range, seed):
    values, old, returns = (draw(rows, seed + i, 2.0) for i in range(3))
    expected = 0.0
    for v, o, g in zip(values.tolist(), old.tolist(), returns.tolist(), strict=True):
        near = o + min(max(v - o, -clip_range), clip_range)
        expected += max((v - g) ** 2, (near - g) ** 2) / rows
    found = ppo_value_loss(values, old, returns, clip_range)
    assert found.shape == ()
    assert found.item() == pytest.approx(expected, rel=1e-4, abs=1e-5)
    plain = ppo_value_loss(values, old, returns, None)
    assert plain.item() == pytest.approx(((values - returns) ** 2).mean().item(), rel=1e-4)


def test_value_clipping_stops_the_gradient_of_values_that_moved_far_towards_their_return():
    values = torch.tensor([0.1, 0.5, -0.5], requires_grad=True)
    old, returns = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    ppo_value_loss(values, old, returns, 0.2).backward()
    torch.testing.assert_close(values.grad, torch.tensor([-1.8, 0.0, -3.0]) / 3)
    assert old.grad is None
    assert returns.grad is None


# ---- minibatches ---------------------------------------------------------------------------------


@quick
@given(st.integers(2, 200), st.integers(2, 70), seeds)
def test_an_epoch_has_every_row_once_in_parts_of_nearly_equal_size(n_rows, batch_size, seed):
    parts = minibatches(n_rows, batch_size, np.random.default_rng(seed))
    assert sorted(torch.cat(parts).tolist()) == list(range(n_rows))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= min(batch_size, n_rows)
    assert len(parts) == max(1, n_rows // batch_size)


# ---- first weights -------------------------------------------------------------------------------


@pytest.mark.parametrize("gain", [0.01, 1.0])
def test_first_weights_are_orthogonal_with_their_gains(gain):
    network = make_actor(5, 3, 8)
    orthogonal_init(network, gain)
    *hidden, output = [layer for layer in network if hasattr(layer, "weight")]
    for layer, expected in [*((each, math.sqrt(2)) for each in hidden), (output, gain)]:
        singular = torch.linalg.svdvals(layer.weight)
        torch.testing.assert_close(singular, torch.full_like(singular, expected))
        assert not layer.bias.any()


@pytest.mark.parametrize("hidden", [16, (16, 8, 8)], ids=["two layers", "three"])
def test_a_fresh_policy_hardly_prefers_any_action(hidden):
    agent = PPO("CartPole-v1", seed=0, hidden=hidden)
    obs = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    np.testing.assert_allclose(agent.action_probability(obs), 0.5, atol=0.02)
    assert np.ptp(agent.value(agent.flat(obs)).detach().numpy()) > 0.5  # the critic's gain is 1


# ---- one update, against the formulas ------------------------------------------------------------

COUNTS = spaces.Box(-np.inf, np.inf, (3,), np.float64)
ALL_KINDS = [spaces.Discrete(3, start=2), spaces.Box(-1, 3, (2,)), spaces.MultiDiscrete([2, 3])]
EVERY_KIND = pytest.mark.parametrize("action_space", ALL_KINDS, ids=lambda s: type(s).__name__)


def an_agent(action_space, **changes):
    env = make(AnySpace, observation_space=COUNTS, action_space=action_space)
    numbers = {
        "n_envs": 3, "n_steps": 10, "gamma": 0.9, "lam": 0.7, "learning_rate": 0.01, "n_epochs": 3,
        "batch_size": 7, "clip_range": 0.1, "value_clip_range": 0.05, "entropy_coef": 0.1,
        "value_coef": 0.3, "reward_scale": 2.0, "max_grad_norm": 0.2, "hidden": 8, "seed": 0,
    }  # fmt: skip
    return PPO(env, **numbers | changes)


@pytest.mark.parametrize("max_grad_norm", [1e6, 0.05])
@pytest.mark.parametrize("action_space", ALL_KINDS[:2], ids=lambda s: type(s).__name__)
def test_an_update_does_what_the_formulas_say(action_space, max_grad_norm):
    agent, twin = (an_agent(action_space, max_grad_norm=max_grad_norm) for _ in range(2))
    for _ in range(3):
        rollout = agent.collect()
        assert not rollout.learnable.all()
        rng = copy.deepcopy(agent.rng)
        agent.update(rollout)
        update_by_the_formulas(twin, rollout, rng, max_grad_norm)
    for ours, theirs in ((agent.policy, twin.policy), (agent.critic, twin.critic)):
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def update_by_the_formulas(twin, rollout, rng, max_grad_norm):
    """Written differently: torch's distributions and optimiser, and products of probabilities."""
    obs, actions, advantages, returns = rows_of(twin, rollout)
    with torch.no_grad():
        old = distribution(twin.policy, obs).log_prob(actions)
        old_values = twin.critic(obs)[:, 0]
    parameters = [*twin.policy.parameters(), *twin.critic.parameters()]
    for _ in range(3):
        order = rng.permutation(len(obs))
        for rows in np.array_split(order, len(obs) // 7):
            there, a = distribution(twin.policy, obs[rows]), advantages[rows]
            a = (a - a.mean()) / a.std()
            ratio = there.log_prob(actions[rows]).exp() / old[rows].exp()
            gain = torch.where(a > 0, ratio.clamp(max=1.1), ratio.clamp(min=0.9)) * a
            values = twin.critic(obs[rows])[:, 0]
            near = torch.min(torch.max(values, old_values[rows] - 0.05), old_values[rows] + 0.05)
            errors = torch.stack([(each - returns[rows]) ** 2 for each in (values, near)])
            loss = -gain.mean() - 0.1 * there.entropy().mean() + 0.3 * errors.amax(dim=0).mean()
            gradients = torch.autograd.grad(loss, parameters)
            norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients)).item()
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient * min(1.0, max_grad_norm / norm)
            twin.optimizer.step()


@EVERY_KIND
def test_old_probabilities_are_those_the_rollout_was_played_with(action_space, monkeypatch):
    """In the first minibatch of a rollout no ratio differs from 1, later ones do."""
    ratios = []
    monkeypatch.setattr(
        "helpers.agents.ppo.probability_ratio",
        lambda *both: ratios.append(probability_ratio(*both)) or ratios[-1],
    )
    agent = an_agent(action_space, fast=False)
    for _ in range(2):
        ratios.clear()
        agent.train_step()
        torch.testing.assert_close(ratios[0], torch.ones_like(ratios[0]))
        assert (ratios[-1] - 1).abs().max() > 1e-3


def updates_of(agent):
    return agent.optimizer.state_dict()["state"].get(0, {"step": torch.zeros(())})["step"].item()


def test_a_target_divergence_stops_the_epochs_before_the_step_that_comes_too_late():
    far = {"learning_rate": 0.1, "n_epochs": 10}
    agent = an_agent(spaces.Discrete(3), **far)
    agent.train_step()
    whole, moved = updates_of(agent), agent.history["approx_kl"][-1][1]
    assert moved > 0.02
    stopped = an_agent(spaces.Discrete(3), **far, target_kl=0.001)
    stopped.train_step()
    assert 1 <= updates_of(stopped) < whole
    lenient = an_agent(spaces.Discrete(3), **far, target_kl=1e3)
    lenient.train_step()
    assert updates_of(lenient) == whole


def test_the_log_has_the_debug_variables():
    agent = an_agent(spaces.Discrete(3)).learn(60)
    names = ["actor_loss", "critic_loss", "entropy", "approx_kl", "clip_fraction"]
    assert list(agent.last.losses) == names
    for name in names:
        assert len(agent.history[name]) == len(agent.history["entropy"]) >= 2
    assert all(0 <= value <= 1 for _, value in agent.history["clip_fraction"])
    assert all(0 < value <= math.log(3) + 1e-6 for _, value in agent.history["entropy"])


def test_the_learning_rate_of_both_networks_is_annealed():
    schedule = LinearSchedule(0.5, 0.05, 90)
    seen = []
    agent = an_agent(spaces.Discrete(3), learning_rate=schedule)
    agent.learn(150, lambda a: seen.append((a.steps, a.optimizer.param_groups[0]["lr"])))
    assert len(agent.optimizer.param_groups) == 1
    assert all(rate == schedule(steps) for steps, rate in seen)
    assert seen[-1][1] == pytest.approx(0.05)
