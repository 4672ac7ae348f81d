"""A2C: its functions against their definitions; one update against the formulas."""

from functools import partial

import numpy as np
import pytest
import torch
from environments import AnySpace, Constant, Counting, Log, make
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Categorical, Independent, Normal

from helpers.agents import A2C, PPO, ReinforceWithBaseline
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.algorithms.a2c import gae
from helpers.algorithms.reinforce import actor_loss, bootstrapped_returns, critic_loss, make_critic

COUNTS = spaces.Box(-np.inf, np.inf, (3,), np.float64)
quick = settings(deadline=None, max_examples=60, derandomize=True)


# ---- generalized advantage estimation ------------------------------------------------------------


def gae_by_definition(rewards, values, terminated, truncated, gamma, lam):
    """The sum over l of (gamma lam)^l delta_{t+l}, up to the end of the episode or of the data."""
    steps, n_envs = rewards.shape
    advantages = np.zeros((steps, n_envs))
    for env in range(n_envs):
        for t in range(steps):
            for ahead in range(t, steps):
                future = 0.0 if terminated[ahead, env] else gamma * values[ahead + 1, env]
                delta = rewards[ahead, env] + future - values[ahead, env]
                advantages[t, env] += (gamma * lam) ** (ahead - t) * delta
                if terminated[ahead, env] or truncated[ahead, env]:
                    break
    return advantages


@st.composite
def experiences(draw):
    """Rewards, values, terminated, truncated: any pattern of ends, also both at once."""
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    often = draw(st.sampled_from([0.0, 0.2, 0.6]))
    terminated, truncated = rng.random(shape) < often, rng.random(shape) < often
    rewards = rng.normal(size=shape).astype(np.float32)
    values = rng.normal(size=(shape[0] + 1, shape[1])).astype(np.float32) * 3
    return rewards, values, terminated, truncated


unit = st.floats(0, 1)


@quick
@given(experiences(), unit, unit)
def test_gae_is_its_definition(experience, gamma, lam):
    before = [array.copy() for array in experience]
    rewards, values, *ends = experience
    advantages = gae(rewards, values[:-1], values[1:], *ends, gamma, lam)
    expected = gae_by_definition(*experience, gamma, lam)
    np.testing.assert_allclose(advantages, expected, rtol=1e-4, atol=1e-4)
    assert advantages.dtype == np.float32
    assert advantages.shape == experience[0].shape
    for array, kept in zip(experience, before, strict=True):
        np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize("kind", [int, np.float32, float])
def test_gae_of_whole_numbers_is_not_rounded(kind):
    rewards, never = np.ones((3, 1), int), np.zeros((3, 1), bool)
    values = np.zeros((3, 1), kind)
    advantages = gae(rewards, values, values, never, never, gamma=0.5, lam=1.0)
    assert advantages.ravel().tolist() == [1.75, 1.5, 1.0]
    assert advantages.dtype == (np.float64 if kind is int else kind)


@quick
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=10), st.floats(-5, 5), unit)
def test_bootstrapped_returns_are_their_definition(rewards, final_value, gamma):
    rewards = np.array(rewards)
    returns = bootstrapped_returns(rewards, final_value, gamma)
    future = [*rewards, final_value]
    expected = [
        sum(gamma**k * reward for k, reward in enumerate(future[t:])) for t in range(len(rewards))
    ]
    np.testing.assert_allclose(returns, expected, atol=1e-9)


# ---- which rows are experience -------------------------------------------------------------------


def counted(row):
    return tuple(map(int, row))


@pytest.mark.parametrize(("n_envs", "n_steps"), [(1, 3), (4, 3), (3, 16)])
def test_rollouts_hold_every_real_step_once(n_envs, n_steps):
    log, kept = Log(), []
    agent = A2C(
        make(Counting, transitions=log), n_envs=n_envs, n_steps=n_steps, reward_scale=0.5, seed=0
    )
    fillers = 0
    for _ in range(90 // n_steps):
        rollout = agent.collect()
        assert rollout.obs.shape == (n_steps + 1, n_envs, 3)
        assert rollout.rewards.dtype == np.float32
        fillers += (~rollout.learnable).sum()
        for t, env in np.argwhere(rollout.learnable):
            kept.append((
                counted(rollout.obs[t, env]),
                int(rollout.actions[t, env]),
                float(rollout.rewards[t, env]),
                counted(rollout.obs[t + 1, env]),
                bool(rollout.terminated[t, env]),
                bool(rollout.truncated[t, env]),
            ))  # fmt: skip
    real = [
        (before, action, np.float32(reward) / 2, *rest) for before, action, reward, *rest in log
    ]
    assert sorted(kept) == sorted(real)
    assert fillers > 5


# ---- losses --------------------------------------------------------------------------------------


def test_actor_loss_raises_the_probability_of_good_actions_only_through_log_probs():
    log_probs = torch.tensor([-1.0, -2.0, -0.5, -3.0], requires_grad=True)
    advantages = torch.tensor([2.0, -1.0, 0.0, 5.0], requires_grad=True)
    loss = actor_loss(log_probs, advantages)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(-(-2 + 2 + 0 - 15) / 4)
    loss.backward()
    assert log_probs.grad.tolist() == [-0.5, 0.25, 0.0, -1.25]
    assert advantages.grad is None


def test_critic_loss_moves_values_and_not_their_targets():
    torch.manual_seed(0)
    critic = make_critic(3)
    obs, returns = torch.randn(5, 3), torch.randn(5, requires_grad=True)
    loss = critic_loss(critic, obs, returns)
    assert loss.shape == ()
    errors = [critic(o).item() - g.item() for o, g in zip(obs, returns, strict=True)]
    assert loss.item() == pytest.approx(np.mean(np.square(errors)), rel=1e-4)
    loss.backward()
    assert returns.grad is None
    assert critic[0].weight.grad.abs().sum() > 0


def test_a_gradient_step_starts_from_nothing_and_clips_the_norm():
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for _ in range(2):  # a gradient left over would make the second step longer
        before = weight.detach().clone()
        gradient_step(optimizer, weight @ torch.tensor([3.0, 4.0]))
        assert (before - weight).tolist() == pytest.approx([3, 4])
    for max_norm, step in ((1.0, [0.6, 0.8]), (10.0, [3, 4])):
        before = weight.detach().clone()
        gradient_step(optimizer, weight @ torch.tensor([3.0, 4.0]), max_norm)
        assert (before - weight).tolist() == pytest.approx(step, abs=1e-5)


class Named(spaces.Discrete):
    """A space of one's own, which is a Discrete."""


class Narrow(spaces.Box):
    """And one that is a Box."""


@pytest.mark.parametrize("space", [Named(5), Narrow(-3, 3, (1,), np.float32)])
def test_the_policy_goes_with_the_kind_of_space(space):
    env = make(AnySpace, observation_space=COUNTS, action_space=space)
    policies = [type(kind(env, seed=0).policy) for kind in (A2C, PPO)]
    assert policies == [CategoricalPolicy if isinstance(space, Named) else GaussianPolicy] * 2


@pytest.mark.parametrize("optimizer_of", [LeanAdam, partial(torch.optim.SGD, lr=1.0)])
def test_a_gradient_step_leaves_what_is_frozen(optimizer_of):
    frozen, free = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    optimizer = optimizer_of([frozen, free])
    gradient_step(optimizer, frozen.sum() + free.sum())
    frozen.requires_grad_(False)
    before, other = frozen.clone(), free.detach().clone()
    for _ in range(2):
        gradient_step(optimizer, frozen.sum() + free.sum(), 1.0)
    assert frozen == before
    assert free != other
    free.requires_grad_(False)
    before = free.clone()
    gradient_step(optimizer, frozen.sum() + free.sum())
    assert free == before


# ---- one update, against the formulas ------------------------------------------------------------


def an_agent(action_space, max_grad_norm):
    env = make(AnySpace, observation_space=COUNTS, action_space=action_space)
    return A2C(
        env, n_envs=3, n_steps=10, gamma=0.9, lam=0.7, learning_rate=0.01, critic_steps=3,
        entropy_coef=0.1, reward_scale=2.0, max_grad_norm=max_grad_norm, hidden=8, seed=0,
    )  # fmt: skip


@pytest.mark.parametrize("max_grad_norm", [1e6, 0.05])
@pytest.mark.parametrize(
    "action_space", [spaces.Discrete(3, start=2), spaces.Box(-1, 3, (2,))], ids=type
)
def test_an_update_does_what_the_formulas_say(action_space, max_grad_norm):
    agent, twin = (an_agent(action_space, max_grad_norm) for _ in range(2))
    for _ in range(3):  # Adam's first step forgets how long the gradient is
        rollout = agent.collect()
        assert not rollout.learnable.all()
        agent.update(rollout)
        update_by_the_formulas(twin, rollout, max_grad_norm)
    networks = [(agent.policy, twin.policy), (agent.critic, twin.critic)]
    for ours, theirs in networks:
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-6)
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def distribution(policy, obs):
    if hasattr(policy, "log_std"):
        return Independent(Normal(policy.actor(obs), policy.log_std.exp()), 1)
    return Categorical(logits=policy.actor(obs))


def rows_of(twin, rollout):
    """Observations, actions, advantages and returns of all learnable rows, one by one."""
    values = twin.critic(torch.as_tensor(rollout.obs).float())[..., 0].detach().numpy()
    ends = rollout.terminated, rollout.truncated
    advantages = gae_by_definition(rollout.rewards, values, *ends, gamma=0.9, lam=0.7)
    where = np.argwhere(rollout.learnable)
    obs, actions = (
        torch.stack([torch.as_tensor(each[t, env]) for t, env in where])
        for each in (rollout.obs, rollout.actions)
    )
    found = torch.tensor([advantages[t, env] for t, env in where]).float()
    return obs.float(), actions, found, found + torch.tensor([values[t, env] for t, env in where])


def update_by_the_formulas(twin, rollout, max_grad_norm):
    """Written differently: row by row, torch's distributions, gradients set by hand."""
    policy, critic = twin.policy, twin.critic
    obs, actions, advantages, returns = rows_of(twin, rollout)
    there = distribution(policy, obs)
    weights = (advantages - advantages.mean()) / advantages.std()
    gain = (there.log_prob(actions) * weights).mean() + 0.1 * there.entropy().mean()
    gradients = torch.autograd.grad(-gain, list(policy.parameters()))
    norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
    for parameter, gradient in zip(policy.parameters(), gradients, strict=True):
        parameter.grad = gradient * min(1.0, max_grad_norm / norm.item())
    twin.policy_optimizer.step()
    for _ in range(3):
        errors = critic(obs)[:, 0] - returns
        gradients = torch.autograd.grad((errors**2).mean(), list(critic.parameters()))
        for parameter, gradient in zip(critic.parameters(), gradients, strict=True):
            parameter.grad = gradient
        twin.critic_optimizer.step()


@pytest.mark.parametrize("ending", ["terminated", "truncated"])
def test_an_update_of_reinforce_does_what_the_formulas_say(ending):
    env = make(Constant, ending=ending, length=4, reward=3.0)
    new = {"gamma": 0.8, "learning_rate": 0.01, "reward_scale": 0.5, "hidden": 8, "seed": 0}
    agent, twin = ReinforceWithBaseline(env, **new), ReinforceWithBaseline(env, **new)
    for _ in range(3):
        agent.train_step()
        observations, actions, rewards, terminated = twin.play_episode()
        assert terminated == (ending == "terminated")
        obs = torch.as_tensor(observations)
        values = twin.critic(obs)[:, 0].detach()
        future = [0.5 * reward for reward in rewards] + [0.0 if terminated else values[-1].item()]
        returns = [sum(0.8**k * r for k, r in enumerate(future[t:])) for t in range(4)]
        returns = torch.tensor(returns)
        there = Categorical(logits=twin.actor(obs[:-1]))
        gain = (there.log_prob(torch.tensor(actions)) * (returns - values[:-1])).mean()
        twin.actor_optimizer.zero_grad()
        (-gain).backward()
        twin.actor_optimizer.step()
        loss = (twin.critic(obs[:-1])[:, 0] - returns).square().mean()
        twin.critic_optimizer.zero_grad()
        loss.backward()
        twin.critic_optimizer.step()
        for ours, theirs in ((agent.actor, twin.actor), (agent.critic, twin.critic)):
            for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
                torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
    assert agent.steps == 12
    assert [value for _, value in agent.history["return"]] == [12.0] * 3  # not scaled


# ---- rollouts of hardly any steps ----------------------------------------------------------------


@pytest.mark.parametrize(("n_envs", "n_steps"), [(4, 1), (1, 3)])
def test_rollouts_of_filler_rows_or_of_one_step_do_no_harm(n_envs, n_steps):
    env = make(Constant, ending="truncated", length=2)
    agent = A2C(env, n_envs=n_envs, n_steps=n_steps, hidden=4, seed=0).learn(60)
    for parameter in [*agent.policy.parameters(), *agent.critic.parameters()]:
        assert torch.isfinite(parameter).all()
    assert len(agent.history["actor_loss"]) > 5
