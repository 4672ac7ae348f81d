"""REINFORCE, A2C and PPO: formulas by their definitions, policies, rollouts, whole updates."""

from functools import partial

import numpy as np
import pytest
import torch
from environments import LOPSIDED, UNBOUNDED, AnySpace, Constant, Counting, Log, make
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from torch.distributions import Categorical
from trials import assert_close, quick

from helpers.agents import A2C, PPO, ReinforceWithBaseline
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.policies import GaussianPolicy
from helpers.algorithms import a2c
from helpers.algorithms.policies import entropy
from helpers.algorithms.ppo import clip_fraction, normalized, probability_ratio
from helpers.algorithms.reinforce import sample_actions

COUNTS = spaces.Box(-np.inf, np.inf, (3,), np.float64)
unit, seeds = st.floats(0, 1), st.integers(0, 2**32)


# ---- formulas ------------------------------------------------------------------------------------


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
    rng, kind = np.random.default_rng(draw(seeds)), draw(st.sampled_from([np.float32, int]))
    often = draw(st.sampled_from([0.0, 0.2, 0.6]))
    terminated, truncated = rng.random(shape) < often, rng.random(shape) < often
    rewards = (3 * rng.normal(size=shape)).astype(kind)
    values = (3 * rng.normal(size=(shape[0] + 1, shape[1]))).astype(kind)
    return rewards, values, terminated, truncated


@quick
@given(experiences(), unit, unit)
def test_gae_is_its_definition(experience, gamma, lam):
    rewards, values, *ends = experience
    expected = gae_by_definition(*experience, gamma, lam)
    found = a2c.gae(rewards, values[:-1], values[1:], *ends, gamma, lam)
    assert found.dtype == (np.float32 if values.dtype == np.float32 else np.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_the_clip_fraction_counts_both_sides():
    ratios = torch.tensor([0.5, 0.85, 1.0, 1.15, 1.5])
    assert [clip_fraction(ratios, by).item() for by in (0.2, 0.1)] == pytest.approx([0.4, 0.8])


def test_what_rounds_to_nothing_stays_finite():
    impossible = torch.tensor([-200.0, -1e4])
    assert probability_ratio(impossible, impossible).tolist() == [1, 1]
    assert normalized(torch.full((4,), 2.5)).tolist() == [0] * 4
    logits = torch.tensor([[500.0, 0.0, -500.0]], requires_grad=True)
    entropy(logits).sum().backward()
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("optimizer_of", [LeanAdam, partial(torch.optim.SGD, lr=1.0)])
def test_a_gradient_step_leaves_what_is_frozen_and_what_others_train(optimizer_of):
    frozen, free, others = (torch.nn.Parameter(torch.zeros(1)) for _ in range(3))
    optimizer = optimizer_of([frozen, free])
    gradient_step(optimizer, frozen.sum() + free.sum() * others.exp())
    assert others.grad is None
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


# ---- policies ------------------------------------------------------------------------------------


def test_sampled_actions_have_the_softmaxs_frequencies_row_by_row():
    rng, draws = np.random.default_rng(0), 20_000
    logits = np.array([2.0, 0.0, 1.0, -1.0])
    actions = sample_actions(np.tile(logits, (draws, 1)), rng)
    expected = draws * np.exp(logits) / np.exp(logits).sum()
    chi_square = ((np.bincount(actions, minlength=4) - expected) ** 2 / expected).sum()
    assert chi_square < 16.3  # exceeded once in 1,000 by right samplers (3 degrees of freedom)
    sure = np.full((3, 4), -1e6)
    sure[[0, 1, 2], [2, 0, 3]] = 0
    assert sample_actions(sure, rng).tolist() == [2, 0, 3]


def test_a_gaussian_policys_samples_have_its_mean_and_std():
    torch.manual_seed(0)
    policy = GaussianPolicy(1, spaces.Box(-1, 1, (2,)), hidden=8)
    policy.log_std.data = torch.tensor([0.5, -2.0])
    obs = torch.ones(20_000, 1)
    with torch.no_grad():
        mean = policy.sample(obs[:1], None)[0]
        actions = policy.sample(obs, np.random.default_rng(0))
        assert mean.tolist() == policy.actor(obs[:1])[0].tolist()
    np.testing.assert_allclose(actions.mean(axis=0), mean, atol=0.06)
    np.testing.assert_allclose(actions.std(axis=0), np.exp([0.5, -2.0]), rtol=0.03)
    assert abs(np.corrcoef(actions.T)[0, 1]) < 0.04  # a draw for each dimension


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        ([-1.0, 0.1, -7.0], [0.1, 0.3, 5.0]),
        ([-np.inf, 0.1, -0.7], [np.inf, np.inf, 0.3]),
        ([[[-0.1]], [[0.7]]], [[[0.1]], [[1.1]]]),
    ],
)
def test_gaussian_actions_fill_the_box_and_never_leave_it(low, high, dtype):
    low, high = np.array(low, dtype), np.array(high, dtype)
    space = spaces.Box(low, high, dtype=dtype)
    scaled = np.repeat(np.float32([[-1], [0], [1], [-50], [50]]), low.size, axis=1)
    actions = GaussianPolicy(1, space, hidden=8).to_env(scaled)
    assert actions.shape == (5, *low.shape)
    assert all(space.contains(action) for action in actions)
    bounded = np.isfinite(low) & np.isfinite(high)
    low, high = low[bounded], high[bounded]
    for row, wanted in enumerate([low, (low + high) / 2, high, low, high]):
        np.testing.assert_allclose(actions[row][bounded], wanted, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("kind", [A2C, PPO])
@pytest.mark.parametrize("normalize", [(), ("obs",)], ids=["as it is", "normalised"])
def test_an_action_follows_from_the_network_as_the_docs_say(kind, normalize):
    settings = {"seed": 0, "hidden": 8, "n_envs": 2, "n_steps": 8, "normalize": normalize}
    for space in (LOPSIDED, UNBOUNDED, spaces.Box(-2, 4, (2, 3))):
        agent = kind(lambda space=space: AnySpace(action_space=space), **settings).learn(20)
        obs, policy = np.float32([0.3]), agent.policy
        mean = policy.actor(agent.flat(obs[None])).detach().numpy().reshape(space.shape)
        scale, center = (np.reshape(each, space.shape) for each in (policy.scale, policy.center))
        action = np.clip(mean * scale + center, space.low, space.high)
        np.testing.assert_allclose(agent.predict(obs), action, atol=1e-5)


# ---- rollouts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_envs", "n_steps"), [(1, 3), (4, 3), (3, 16)])
def test_rollouts_hold_every_real_step_once(n_envs, n_steps):
    log, kept, fillers = Log(), [], 0
    env = make(Counting, transitions=log)
    agent = A2C(env, n_envs=n_envs, n_steps=n_steps, reward_scale=0.5, seed=0)
    for _ in range(90 // n_steps):
        rollout = agent.collect()
        assert rollout.obs.shape == (n_steps + 1, n_envs, 3)
        assert rollout.rewards.dtype == np.float32
        fillers += (~rollout.learnable).sum()
        obs, actions, rewards = rollout.obs.tolist(), rollout.actions, rollout.rewards
        for t, env in np.argwhere(rollout.learnable):
            before, after = tuple(obs[t][env]), tuple(obs[t + 1][env])
            ends = rollout.terminated[t, env], rollout.truncated[t, env]
            kept.append((before, actions[t, env], rewards[t, env], after, *ends))
    real = [
        (before, action, np.float32(reward) / 2, *rest) for before, action, reward, *rest in log
    ]
    assert sorted(kept) == sorted(real)
    assert fillers > 5


def test_rollouts_of_filler_rows_and_one_step_do_no_harm():
    env = make(Constant, ending="truncated", length=2)
    agent = A2C(env, n_envs=4, n_steps=1, hidden=4, seed=0).learn(60)
    assert all(torch.isfinite(parameter).all() for parameter in agent.policy.parameters())
    assert len(agent.history["actor_loss"]) > 5


# ---- one update, against the formulas ------------------------------------------------------------


def test_rows_to_learn_from_are_the_real_steps_with_their_advantages_and_returns():
    """What A2C and PPO do with them is compared with the lessons' files, and with a peer."""
    env = make(AnySpace, observation_space=COUNTS, action_space=spaces.Discrete(3, start=2))
    settings = {"gamma": 0.9, "lam": 0.7, "reward_scale": 2.0, "hidden": 8, "seed": 0}
    agent, given = A2C(env, n_envs=3, n_steps=10, **settings), []
    agent.learn_from = lambda *columns: given.extend(columns) or {}
    rollout = agent.collect()
    real = rollout.learnable
    assert not real.all()
    agent.update(rollout)
    values = agent.critic(torch.as_tensor(rollout.obs).float())[..., 0].detach().numpy()
    ends = rollout.terminated, rollout.truncated
    advantages = gae_by_definition(rollout.rewards, values, *ends, gamma=0.9, lam=0.7)
    columns = rollout.obs[:-1], rollout.actions, advantages, advantages + values[:-1]
    for found, expected in zip(given, columns, strict=True):
        np.testing.assert_allclose(found, expected[real], rtol=1e-4, atol=1e-5)


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
            assert_close(ours.parameters(), theirs.parameters(), rtol=1e-3, atol=1e-5)
    assert agent.steps == 12
    assert [value for _, value in agent.history["return"]] == [12.0] * 3  # not scaled
