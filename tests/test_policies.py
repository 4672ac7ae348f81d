"""Networks, and the distributions over actions that agents draw from."""

import math

import numpy as np
import pytest
import torch
from environments import LOPSIDED, UNBOUNDED, AnySpace
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn
from torch.distributions import Categorical, Independent, Normal

from helpers.agents import A2C, PPO
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.algorithms.policies import entropy, gaussian_entropy, gaussian_log_prob
from helpers.algorithms.reinforce import log_prob, make_actor, make_critic, sample_actions

quick = settings(deadline=None, max_examples=60, derandomize=True)


def floats(*shape: int, size: float = 30.0):
    return hnp.arrays(np.float32, shape, elements=st.floats(-size, size, width=32))


batches = st.tuples(st.integers(1, 6), st.integers(1, 5))


# ---- networks ------------------------------------------------------------------------------------


def test_networks_have_two_hidden_relu_layers_and_a_linear_output():
    actor, critic = make_actor(5, 3, hidden=7), make_critic(5, hidden=7)
    for network, outputs in ((actor, 3), (critic, 1)):
        kinds = [nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
        assert [type(layer) for layer in network] == kinds
        assert [tuple(p.shape) for p in network.parameters()] == [
            (7, 5), (7,), (7, 7), (7,), (outputs, 7), (outputs,)
        ]  # fmt: skip
        assert network(torch.zeros(4, 5)).shape == (4, outputs)


# ---- discrete actions ----------------------------------------------------------------------------


@quick
@given(batches.flatmap(lambda shape: st.tuples(floats(*shape), st.randoms())))
def test_log_prob_and_entropy_are_those_of_torchs_categorical(drawn):
    logits, random = torch.as_tensor(drawn[0]), drawn[1]
    actions = torch.tensor([random.randrange(logits.shape[1]) for _ in logits])
    there = Categorical(logits=logits)
    torch.testing.assert_close(log_prob(logits, actions), there.log_prob(actions))
    torch.testing.assert_close(entropy(logits), there.entropy(), atol=1e-5, rtol=1e-5)


@quick
@given(batches.flatmap(lambda shape: floats(*shape, size=1000.0)))
def test_entropy_is_between_zero_and_log_n(logits):
    entropies = entropy(torch.as_tensor(logits))
    assert entropies.shape == (len(logits),)
    assert torch.isfinite(entropies).all()
    assert (entropies >= 0).all()
    assert (entropies <= math.log(logits.shape[1]) + 1e-5).all()


def test_entropys_gradient_stays_finite_where_probabilities_round_to_zero():
    logits = torch.tensor([[500.0, 0.0, -500.0]], requires_grad=True)
    entropy(logits).sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_sampled_actions_have_the_softmaxs_frequencies():
    logits = np.array([2.0, 0.0, 1.0, -1.0])
    draws = 20_000
    actions = sample_actions(np.tile(logits, (draws, 1)), np.random.default_rng(0))
    expected = draws * np.exp(logits) / np.exp(logits).sum()
    chi_square = ((np.bincount(actions, minlength=4) - expected) ** 2 / expected).sum()
    assert chi_square < 16.3  # exceeded once in 1,000 by right samplers (3 degrees of freedom)


def test_each_row_is_sampled_by_itself():
    rng = np.random.default_rng(0)
    assert len(set(sample_actions(np.zeros((100, 50)), rng).tolist())) > 25  # not one draw for all
    sure = np.full((3, 4), -1e6)
    sure[[0, 1, 2], [2, 0, 3]] = 0
    assert sample_actions(sure, rng).tolist() == [2, 0, 3]


def test_a_categorical_policy_speaks_indices_and_the_environments_actions():
    torch.manual_seed(0)
    policy = CategoricalPolicy(2, spaces.Discrete(3, start=-4), hidden=8)
    obs = torch.randn(50, 2)
    with torch.no_grad():
        logits = policy.actor(obs)
        actions = policy.sample(obs, np.random.default_rng(0))
        assert set(actions.tolist()) == {0, 1, 2}
        assert policy.sample(obs, None).tolist() == logits.argmax(dim=-1).tolist()
        log_probs, entropies = policy.evaluate(obs, torch.as_tensor(actions))
    assert set(policy.to_env(actions).tolist()) == {-4, -3, -2}
    there = Categorical(logits=logits)
    torch.testing.assert_close(log_probs, there.log_prob(torch.as_tensor(actions)))
    torch.testing.assert_close(entropies, there.entropy())


# ---- continuous actions --------------------------------------------------------------------------


@quick
@given(
    batches.flatmap(
        lambda shape: st.tuples(floats(*shape), floats(shape[1], size=3.0), floats(*shape))
    )
)
def test_gaussian_log_prob_and_entropy_are_those_of_torchs_normal(drawn):
    mean, log_std, actions = map(torch.as_tensor, drawn)
    there = Independent(Normal(mean, log_std.exp().expand(mean.shape)), 1)
    torch.testing.assert_close(
        gaussian_log_prob(mean, log_std, actions), there.log_prob(actions), atol=1e-4, rtol=1e-4
    )
    torch.testing.assert_close(
        gaussian_entropy(log_std).expand(len(mean)), there.entropy(), atol=1e-5, rtol=1e-5
    )


def test_a_gaussian_policys_samples_have_its_mean_and_std():
    torch.manual_seed(0)
    space = spaces.Box(-1, 1, (2,))
    policy = GaussianPolicy(1, space, hidden=8)
    policy.log_std.data = torch.tensor([0.5, -2.0])
    obs = torch.ones(20_000, 1)
    with torch.no_grad():
        mean = policy.sample(obs[:1], None)[0]
        actions = policy.sample(obs, np.random.default_rng(0))
        assert mean.tolist() == policy.actor(obs[:1])[0].tolist()
        log_probs, entropies = policy.evaluate(obs, torch.as_tensor(actions))
    std = np.exp([0.5, -2.0])
    np.testing.assert_allclose(actions.mean(axis=0), mean, atol=5 * std.max() / 141)
    np.testing.assert_allclose(actions.std(axis=0), std, rtol=0.03)
    assert abs(np.corrcoef(actions.T)[0, 1]) < 0.04  # a draw for each dimension
    # An entropy is the expected surprise.
    assert entropies.shape == (20_000,)
    assert -log_probs.mean().item() == pytest.approx(entropies[0].item(), abs=0.04)


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
    policy = GaussianPolicy(1, space, hidden=8)
    size = low.size
    scaled = np.float32([[-1] * size, [0] * size, [1] * size, [-50] * size, [50] * size])
    actions = policy.to_env(scaled)
    assert actions.shape == (5, *low.shape)
    assert all(space.contains(action) for action in actions)
    bounded = np.isfinite(low) & np.isfinite(high)
    actions, low, high = actions[:, bounded], low[bounded], high[bounded]
    for row, wanted in enumerate([low, (low + high) / 2, high, low, high]):
        np.testing.assert_allclose(actions[row], wanted, rtol=1e-5, atol=1e-3)


def test_an_unbounded_box_is_not_scaled():
    policy = GaussianPolicy(1, spaces.Box(-np.inf, np.inf, (2,)), hidden=8)
    assert policy.to_env(np.float32([[-30.5, 4.0]])).tolist() == [[-30.5, 4.0]]


@pytest.mark.parametrize("kind", [A2C, PPO])
@pytest.mark.parametrize("normalize", [(), ("obs",)], ids=["as it is", "normalised"])
def test_an_action_follows_from_the_network_as_the_readme_says(kind, normalize):
    settings = {"seed": 0, "hidden": 8, "n_envs": 2, "n_steps": 8, "normalize": normalize}
    for space in (LOPSIDED, UNBOUNDED, spaces.Box(-2, 4, (2, 3))):
        agent = kind(lambda space=space: AnySpace(action_space=space), **settings).learn(40)
        obs, policy = np.float32([0.3]), agent.policy
        mean = policy.actor(agent.flat(obs[None])).detach().numpy().reshape(space.shape)
        scale, center = (np.reshape(each, space.shape) for each in (policy.scale, policy.center))
        action = np.clip(mean * scale + center, space.low, space.high)
        np.testing.assert_allclose(agent.predict(obs), action, atol=1e-5)
    choosing = kind("CartPole-v1", **settings).learn(40)
    obs = np.float32([0.1, 0.2, -0.3, 0.4])
    logits = choosing.policy.actor(choosing.flat(obs[None]))
    assert choosing.predict(obs) == logits.argmax().item()
