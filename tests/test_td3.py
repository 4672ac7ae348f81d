"""TD3: its functions against their definitions; one update against plain torch."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from trials import (
    a_batch,
    an_agent,
    assert_close,
    gradients,
    moved,
    networks,
    parameters,
    quick,
    snapshot,
    strong,
)

from helpers.agents import TD3
from helpers.algorithms.ddpg import actor_loss, critic_loss
from helpers.algorithms.td3 import (
    TwinQNetwork,
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)

sizes = st.integers(1, 4)
NETWORKS = ("actor", "critic", "target_actor", "target_critic")
DELAYS = pytest.mark.parametrize("delay", [1, 2, 3, 5])


def twins(obs_size=3, action_size=2, **settings):
    """An actor and two critics in one."""
    return networks(obs_size, action_size, critic=TwinQNetwork, **settings)


# ---- the twin network ----------------------------------------------------------------------------


def test_the_twins_are_two_critics_that_share_nothing():
    batch, (_, critic) = a_batch(), twins()
    q1, q2 = critic(batch.obs, batch.action)
    assert q1.shape == q2.shape == (6,)
    assert torch.equal(q1, critic.first(batch.obs, batch.action))
    assert torch.equal(q2, critic.second(batch.obs, batch.action))
    assert torch.equal(q1, critic.q1(batch.obs, batch.action))
    for one, other in zip(critic.first.parameters(), critic.second.parameters(), strict=True):
        assert one.data_ptr() != other.data_ptr()
        assert not torch.equal(one, other)  # or both would make the same errors


# ---- smoothed_target_action ----------------------------------------------------------------------


@quick
@given(sizes, sizes, sizes, st.floats(0, 2), st.floats(0, 1), st.integers(0, 2**32))
def test_a_smoothed_action_is_its_definition(n, obs_size, action_size, width, clip, seed):
    obs, (actor, _) = a_batch(n, obs_size).obs, twins(obs_size, action_size)
    kept = obs.clone()
    action = smoothed_target_action(actor, obs, width, clip, np.random.default_rng(seed))
    draws = np.random.default_rng(seed).standard_normal((n, action_size), dtype=np.float32)
    with torch.no_grad():
        greedy = actor(obs).numpy()
    expected = np.clip(greedy + np.clip(width * draws, -clip, clip), -1, 1)
    assert action.shape == (n, action_size)
    assert action.dtype == torch.float32
    np.testing.assert_allclose(action, expected, atol=1e-6)
    assert np.abs(action.numpy() - greedy).max() <= clip + 1e-6
    assert not action.requires_grad
    assert all(p.grad is None and p.requires_grad for p in actor.parameters())
    assert torch.is_grad_enabled()
    assert torch.equal(obs, kept)


# ---- clipped_double_q_target ---------------------------------------------------------------------


@quick
@given(sizes, sizes, sizes, st.floats(0, 1), st.integers(0, 2**32))
def test_the_target_is_its_definition(n, obs_size, action_size, gamma, seed):
    batch = a_batch(n, obs_size, action_size, seed)
    _, critic = twins(obs_size, action_size)
    action = a_batch(n, obs_size, action_size, seed + 1).action
    target = clipped_double_q_target(batch, action, critic, gamma)
    assert target.shape == (n,)
    assert target.dtype == torch.float32
    for row in range(n):
        both = [critic.first, critic.second]
        future = min(q(batch.next_obs[row], action[row]).item() for q in both)
        expected = batch.reward[row].item() + gamma * future * (not batch.terminated[row])
        assert target[row].item() == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_the_target_has_no_gradient_and_changes_nothing():
    batch, (_, critic) = a_batch(), twins()
    before = [part.clone() for part in batch]
    target = clipped_double_q_target(batch, batch.action, critic, 0.9)
    assert not target.requires_grad
    assert all(p.grad is None and p.requires_grad for p in critic.parameters())
    assert all(torch.equal(part, kept) for part, kept in zip(batch, before, strict=True))
    assert torch.is_grad_enabled()


# ---- losses --------------------------------------------------------------------------------------


def a_target(n=6):
    return torch.randn(n, generator=torch.Generator().manual_seed(0))


def test_each_critic_learns_as_if_it_were_alone():
    batch, target, (_, critic) = a_batch(), a_target(), twins()
    loss = twin_critic_loss(critic, batch, target)
    alone = [critic_loss(each, batch, target) for each in (critic.first, critic.second)]
    assert loss.item() == pytest.approx(sum(each.item() for each in alone), rel=1e-5)
    together = gradients(loss, critic.first, critic.second)
    apart = gradients(alone[0], critic.first) + gradients(alone[1], critic.second)
    assert_close(together, apart)
    assert all(gradient.abs().sum() > 0 for gradient in together)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 2, 7])
def test_losses_of_any_batch_are_scalars(n):
    batch, (actor, critic) = a_batch(n), twins()
    assert twin_critic_loss(critic, batch, a_target(n)).shape == ()
    assert actor_loss_by_q1(actor, critic, batch.obs).shape == ()


def test_the_actor_learns_from_the_first_critic_alone():
    batch, (actor, critic) = a_batch(), twins()
    alone = actor_loss(actor, critic.first, batch.obs)
    critic.second.forward = None  # so that asking it is an error
    loss = actor_loss_by_q1(actor, critic, batch.obs)
    assert loss.item() == alone.item()
    assert_close(gradients(loss, actor), gradients(alone, actor))


# ---- one update ----------------------------------------------------------------------------------


@DELAYS
def test_actor_and_targets_wait_for_as_many_updates_of_the_critics_as_the_delay_says(delay):
    """Not for steps in the environment, of which several updates follow each third."""
    counts = {"train_freq": 3, "gradient_steps": 2, "learning_starts": 6, "batch_size": 4}
    agent = strong(an_agent(TD3, policy_delay=delay, **counts))
    update, seen = agent.update, []

    def watched(batch):
        before = {name: snapshot(getattr(agent, name)) for name in NETWORKS}
        losses = update(batch)
        assert ("actor_loss" in losses) == (agent.updates % delay == 0)
        changes = {name: moved(getattr(agent, name), before[name]) for name in NETWORKS}
        assert all(len(set(each)) == 1 for each in changes.values())  # whole networks
        seen.append({name for name in NETWORKS if all(changes[name])})
        return losses

    agent.update = watched
    agent.learn(36)
    assert len(seen) == 2 * (36 // 3 - 1)
    for number, names in enumerate(seen, start=1):
        assert names == (set(NETWORKS) if number % delay == 0 else {"critic"})


def test_an_update_gives_its_losses_and_leaves_no_foreign_gradient():
    agent, batch = strong(an_agent(TD3, policy_delay=1)), a_batch(32, obs_size=1)
    before_critic, before_actor, rng = copy.deepcopy((agent.critic, agent.actor, agent.rng))
    action = smoothed_target_action(agent.target_actor, batch.next_obs, 0.2, 0.5, rng)
    target = clipped_double_q_target(batch, action, agent.target_critic, 0.9)
    agent.updates = 1
    losses = agent.update(batch)
    assert all(p.grad is None for p in parameters(agent.target_actor, agent.target_critic))
    assert all(p.requires_grad for name in NETWORKS for p in getattr(agent, name).parameters())
    q_loss = twin_critic_loss(before_critic, batch, target)
    own = gradients(q_loss, before_critic)
    assert_close([p.grad for p in agent.critic.parameters()], own)  # nothing from the actor's step
    loss = actor_loss_by_q1(before_actor, agent.critic, batch.obs)  # of critics that have learned
    assert_close([p.grad for p in agent.actor.parameters()], gradients(loss, before_actor))
    assert_close([losses["critic_loss"], losses["actor_loss"]], [q_loss, loss])


def test_value_is_the_first_critics_of_the_greedy_action():
    agent, batch = strong(an_agent(TD3)), a_batch(5, obs_size=1)
    expected = [agent.critic.first(obs, agent.actor(obs)).item() for obs in batch.obs]
    assert agent.value(batch.obs).tolist() == pytest.approx(expected, rel=1e-5)


# ---- what can be set -----------------------------------------------------------------------------


def test_what_is_set_is_remembered_and_used(tmp_path):
    own = {"policy_delay": 3, "target_noise": 0.1, "noise_clip": 0.3}
    agent = an_agent(TD3, **own)
    defaults = {"policy_delay": 2, "target_noise": 0.2, "noise_clip": 0.5, "tau": 0.005}
    for each, expected in ((agent, own | {"tau": 0.2}), (TD3("Pendulum-v1"), defaults)):
        assert each.hyperparameters | expected == each.hyperparameters
        assert {name: getattr(each, name) for name in expected} == expected
        assert not each.hyperparameters.keys() & {"shared", "env"}
    agent.save(tmp_path / "agent.pt")
    loaded = TD3.load(tmp_path / "agent.pt", env=agent.env_source)
    assert loaded.hyperparameters == agent.hyperparameters
    assert {name: getattr(loaded, name) for name in own} == own


@pytest.mark.parametrize(
    "settings", [{"target_noise": 0.0}, {"noise_clip": 0.0}, {"noise_clip": float("inf")}]
)
def test_numbers_at_the_ends_of_their_ranges_are_fine(settings):
    agent = an_agent(TD3, **settings)
    agent.updates = 2
    agent.update(a_batch(obs_size=1))
    assert all(p.isfinite().all() for p in parameters(agent.actor, agent.critic))
