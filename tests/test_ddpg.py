"""DDPG: its functions against their definitions; one update against plain torch."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import linear
from trials import a_batch, an_agent, moved, networks, parameters, quick, snapshot, strong

from helpers.agents import DDPG
from helpers.algorithms.ddpg import (
    DeterministicActor,
    QNetwork,
    actor_loss,
    critic_loss,
    polyak_update,
    td_target,
)

sizes = st.integers(1, 4)


# ---- networks ------------------------------------------------------------------------------------


def by_hand(network, x):
    """Two hidden ReLU layers and a linear one."""
    for layer in (network.hidden1, network.hidden2):
        x = linear(x, layer.weight, layer.bias).clamp(min=0)
    return linear(x, network.output.weight, network.output.bias)


def test_networks_are_what_they_say():
    actor, critic = networks()
    batch = a_batch(20)
    actions, values = actor(batch.obs), critic(batch.obs, batch.action)
    torch.testing.assert_close(actions, torch.tanh(by_hand(actor, batch.obs)))
    assert actor(1000 * batch.obs).abs().max() == 1
    both = torch.cat([batch.obs, batch.action], dim=1)
    torch.testing.assert_close(values, by_hand(critic, both)[:, 0])
    assert actions.shape == (20, 2)
    assert values.shape == (20,)
    assert actor(batch.obs[0]).shape == (2,)  # one observation, as while acting
    assert critic(batch.obs[0], batch.action[0]).shape == ()
    for network, first, last in ((actor, 3, 2), (critic, 5, 1)):
        shapes = [(8, first), (8,), (8, 8), (8,), (last, 8), (last,)]
        assert [tuple(p.shape) for p in network.parameters()] == shapes


def test_last_layers_start_small_and_the_others_do_not():
    """Lillicrap et al. 2016, section 7."""
    for network in (DeterministicActor(3, 2), QNetwork(3, 2)):
        for parameter in network.output.parameters():
            assert parameter.abs().max() <= 3e-3
        assert network.output.weight.abs().max() > 2.5e-3
        assert network.output.weight.min() < 0 < network.output.weight.max()
        assert network.hidden2.weight.abs().max() > 0.1
    obs = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    assert DeterministicActor(3, 2)(obs).abs().max() < 0.1


# ---- td_target -----------------------------------------------------------------------------------


@quick
@given(sizes, sizes, sizes, st.floats(0, 1), st.integers(0, 2**32))
def test_td_target_is_its_definition(n, obs_size, action_size, gamma, seed):
    batch = a_batch(n, obs_size, action_size, seed)
    actor, critic = networks(obs_size, action_size)
    target = td_target(batch, actor, critic, gamma)
    assert target.shape == (n,)
    assert target.dtype == torch.float32
    for row in range(n):
        future = critic(batch.next_obs[row], actor(batch.next_obs[row])).item()
        expected = batch.reward[row].item()
        if not batch.terminated[row]:
            expected += gamma * future
        assert target[row].item() == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_td_target_has_no_gradient_and_changes_nothing():
    batch, (actor, critic) = a_batch(), networks()
    before = [part.clone() for part in batch]
    target = td_target(batch, actor, critic, 0.9)
    assert not target.requires_grad
    assert all(p.grad is None and p.requires_grad for p in parameters(actor, critic))
    assert all(torch.equal(part, kept) for part, kept in zip(batch, before, strict=True))
    assert torch.is_grad_enabled()


# ---- losses --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 2, 7])
def test_losses_of_any_batch_are_scalars(n):
    batch, (actor, critic) = a_batch(n), networks()
    target = td_target(batch, actor, critic, 0.9)
    assert critic_loss(critic, batch, target).shape == ()
    assert actor_loss(actor, critic, batch.obs).shape == ()


# ---- polyak_update -------------------------------------------------------------------------------


@quick
@given(st.floats(0, 1), st.lists(st.lists(sizes, max_size=3), max_size=4), st.integers(0, 99))
def test_polyak_update_is_its_definition_in_place(tau, shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    targets, online = (
        [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]
        for _ in range(2)
    )
    places = [target.data_ptr() for target in targets]
    expected = [
        (tau * new + (1 - tau) * old).detach() for old, new in zip(targets, online, strict=True)
    ]
    kept = [parameter.detach().clone() for parameter in online]
    assert polyak_update(iter(targets), iter(online), tau) is None
    assert [target.data_ptr() for target in targets] == places
    for target, value in zip(targets, expected, strict=True):
        torch.testing.assert_close(target.detach(), value, rtol=1e-5, atol=1e-6)
        assert target.is_leaf
        assert target.requires_grad
        assert target.grad is None
    assert all(torch.equal(a, b) for a, b in zip(online, kept, strict=True))


def test_lists_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="argument 2 is longer"):
        polyak_update([torch.zeros(1)], [torch.zeros(1), torch.zeros(1)], 0.5)


# ---- one update ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.2, 1.0])
def test_an_update_is_that_of_plain_torch(tau):
    """Written as most people would, with zero_grad, backward and torch's own Adam."""
    rates = {"actor_learning_rate": 0.003, "critic_learning_rate": 0.01}
    agent = strong(an_agent(DDPG, tau=tau, **rates))
    actor, critic = copy.deepcopy((agent.actor, agent.critic))
    target_actor, target_critic = copy.deepcopy((agent.target_actor, agent.target_critic))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=0.003)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    for i in range(10):
        batch = a_batch(16, obs_size=1, seed=i)
        losses = agent.update(batch)

        with torch.no_grad():
            next_q = target_critic(batch.next_obs, target_actor(batch.next_obs))
            target = batch.reward + 0.9 * (1 - batch.terminated) * next_q
        q_loss = ((critic(batch.obs, batch.action) - target) ** 2).mean()
        critic_optimizer.zero_grad()
        q_loss.backward()
        critic_optimizer.step()
        policy_loss = -critic(batch.obs, actor(batch.obs)).mean()
        actor_optimizer.zero_grad()
        policy_loss.backward()
        actor_optimizer.step()
        for slow, fast in ((target_actor, actor), (target_critic, critic)):
            for old, new in zip(slow.parameters(), fast.parameters(), strict=True):
                old.data = tau * new.data + (1 - tau) * old.data

        assert losses.keys() == {"critic_loss", "actor_loss"}
        assert losses["critic_loss"].item() == pytest.approx(q_loss.item(), rel=1e-4)
        assert losses["actor_loss"].item() == pytest.approx(policy_loss.item(), rel=1e-4)
    ours = parameters(agent.actor, agent.critic, agent.target_actor, agent.target_critic)
    theirs = parameters(actor, critic, target_actor, target_critic)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_an_update_moves_every_parameter_and_leaves_no_foreign_gradient():
    agent, batch = strong(an_agent(DDPG)), a_batch(32, obs_size=1)
    names = ("actor", "critic", "target_actor", "target_critic")
    before = {name: snapshot(getattr(agent, name)) for name in names}
    before_critic, before_actor = copy.deepcopy((agent.critic, agent.actor))
    target = td_target(batch, agent.target_actor, agent.target_critic, 0.9)
    agent.update(batch)
    for name in names:
        assert all(moved(getattr(agent, name), before[name])), name
    assert all(p.requires_grad for name in names for p in getattr(agent, name).parameters())
    targets = parameters(agent.target_actor, agent.target_critic)
    assert all(parameter.grad is None for parameter in targets)
    own = torch.autograd.grad(critic_loss(before_critic, batch, target), parameters(before_critic))
    for parameter, gradient in zip(agent.critic.parameters(), own, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)  # and nothing from the actor's step
    loss = actor_loss(before_actor, agent.critic, batch.obs)  # of the critic that has learned
    own = torch.autograd.grad(loss, parameters(before_actor))
    for parameter, gradient in zip(agent.actor.parameters(), own, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_value_is_that_of_the_greedy_action():
    agent, batch = strong(an_agent(DDPG)), a_batch(5, obs_size=1)
    expected = [agent.critic(obs, agent.actor(obs)).item() for obs in batch.obs]
    assert agent.value(batch.obs).tolist() == pytest.approx(expected, rel=1e-5)
