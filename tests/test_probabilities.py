"""How likely an action is: compared with torch, with drawing, and with integrals."""

import numpy as np
import pytest
import torch
from environments import LOPSIDED, AnySpace, make, some
from gymnasium import spaces
from sentences import one_sentence

from helpers.agents import A2C, DDPG, PPO, SAC, TD3, A2CByTheBook, BehaviourCloning, DDPGfD

BOX = spaces.Box(-1, 1, (2, 3))
DISCRETE = spaces.Discrete(4, start=5)
ACTIONS = {
    "lopsided": LOPSIDED,
    "table": spaces.Box(-0.1, 0.3, (2, 2), np.float64),
    "number": spaces.Box(2, 8, ()),
    "unbounded": spaces.Box(-np.inf, np.inf, (2,)),
    "half": spaces.Box(np.float32([0, -np.inf]), np.float32([np.inf, 5])),
}


def trained(kind, action_space, steps=60):
    """An agent whose policy differs from observation to observation."""
    env = make(AnySpace, observation_space=BOX, action_space=action_space)
    settings = {} if kind is A2CByTheBook else {"n_envs": 2, "n_steps": 8, "entropy_coef": -0.5}
    settings |= {"n_epochs": 1} if kind is PPO else {}
    return kind(env, seed=0, hidden=8, learning_rate=0.05, **settings).learn(steps)


DISCRETE_KINDS = pytest.mark.parametrize("kind", [A2C, PPO, A2CByTheBook])
CONTINUOUS = pytest.mark.parametrize("space", ACTIONS.values(), ids=ACTIONS.keys())


# ---- discrete actions ----------------------------------------------------------------------------


@DISCRETE_KINDS
def test_probabilities_are_the_shares_of_what_exploring_draws(kind):
    agent, obs = trained(kind, DISCRETE), some(BOX, 1)[0]
    found = agent.action_probability(obs)
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    assert found.std() > 0.02
    drawn = agent.predict(np.repeat(obs[None], 40_000, axis=0), deterministic=False)
    shares = np.bincount(drawn - 5, minlength=4) / len(drawn)
    np.testing.assert_allclose(shares, found, atol=0.015)
    assert agent.predict(obs) == 5 + found.argmax()


@DISCRETE_KINDS
def test_a_batch_has_a_row_for_each_and_given_actions_pick_theirs(kind):
    agent, batch = trained(kind, DISCRETE), some(BOX, 6)
    found = agent.action_probability(batch)
    assert found.shape == (6, 4)
    for row, obs in zip(found, batch, strict=True):
        np.testing.assert_allclose(agent.action_probability(obs), row, rtol=1e-5)
    actions = np.array([5, 6, 7, 8, 5, 8])
    picked = agent.action_probability(batch, actions)
    assert picked.shape == (6,)
    np.testing.assert_allclose(picked, found[np.arange(6), actions - 5], rtol=1e-5)
    one = agent.action_probability(batch[3], 8)
    assert type(one) is float
    assert one == pytest.approx(found[3, 3], rel=1e-5)
    # The logarithms of the same, with continuous actions too.
    np.testing.assert_allclose(agent.action_probability(batch, log=True), np.log(found), rtol=1e-5)
    logs = agent.action_probability(batch, actions, log=True)
    np.testing.assert_allclose(np.exp(logs), picked, rtol=1e-5)
    # What predict gives can be asked about, and so can one observation as a batch.
    chosen = agent.predict(batch[:1])
    assert agent.action_probability(batch[:1], chosen) == pytest.approx(found[0].max(), rel=1e-5)


# ---- continuous actions --------------------------------------------------------------------------


@CONTINUOUS
def test_mean_and_std_are_those_of_what_is_drawn(space):
    """Before clipping: compared with quantiles, which lie within the bounds or are skipped."""
    agent, obs = trained(A2C, space), some(BOX, 1)[0]
    mean, std = agent.action_probability(obs)
    assert mean.shape == std.shape == space.shape
    np.testing.assert_allclose(np.clip(mean, space.low, space.high), agent.predict(obs), rtol=1e-5)
    drawn = agent.predict(np.repeat(obs[None], 20_000, axis=0), deterministic=False)
    compared = 0
    for share in (0.3, 0.4, 0.5, 0.6, 0.7):
        z = torch.distributions.Normal(0, 1).icdf(torch.tensor(share)).item()
        at, seen = mean + z * std, np.quantile(drawn, share, axis=0)
        inside = (at > space.low) & (at < space.high)
        assert (np.abs(seen - at) < 0.04 * std)[inside].all()
        compared += inside.sum()
    assert compared > 0


@CONTINUOUS
def test_log_densities_are_torchs(space):
    agent, batch = trained(A2C, space), some(BOX, 5)
    mean, std = agent.action_probability(batch)
    assert mean.shape == std.shape == (5, *space.shape)
    assert np.ptp(mean, axis=0).min() > 0
    actions = agent.predict(batch, deterministic=False)
    found = agent.action_probability(batch, actions, log=True)
    assert found.shape == (5,)
    np.testing.assert_allclose(agent.action_probability(batch, actions), np.exp(found), rtol=1e-6)
    normal = torch.distributions.Normal(*map(torch.as_tensor, (mean.copy(), std.copy())))
    expected = normal.log_prob(torch.as_tensor(actions)).reshape(5, -1).sum(dim=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    for obs, action, density in zip(batch, actions, found, strict=True):
        one = agent.action_probability(obs, action, log=True)
        assert type(one) is float
        assert one == pytest.approx(density, rel=1e-4, abs=1e-4)


def test_the_log_of_no_action_is_one_sentence():
    agent, obs = trained(A2C, ACTIONS["number"], steps=1), some(BOX, 1)[0]
    with one_sentence(ValueError, "give the actions"):
        agent.action_probability(obs, log=True)


# ---- what leaves no trace ------------------------------------------------------------------------


def test_asking_changes_nothing():
    agent, other = trained(A2C, LOPSIDED), trained(A2C, LOPSIDED)
    batch = some(BOX, 3)
    agent.action_probability(batch)
    agent.action_probability(batch, agent.predict(batch))
    explored = [each.predict(batch, deterministic=False) for each in (agent, other)]
    np.testing.assert_array_equal(*explored)


def test_what_it_gives_may_be_changed():
    agent = trained(A2C, LOPSIDED)
    before = agent.policy.log_std.detach().clone()
    _, std = agent.action_probability(some(BOX, 3))
    std *= 0  # is no view of the policy
    assert torch.equal(agent.policy.log_std, before)
    assert (agent.action_probability(some(BOX, 1))[1] > 0).all()


# ---- actions through a tanh ----------------------------------------------------------------------

BOUNDED = {name: ACTIONS[name] for name in ("lopsided", "table", "number")}


def squashing(space):
    """A SAC whose mean and standard deviation differ from observation to observation."""
    agent = SAC(make(AnySpace, observation_space=BOX, action_space=space), seed=0, hidden=8)
    with torch.no_grad():
        agent.actor.output.weight.normal_(generator=torch.Generator().manual_seed(0)).mul_(0.5)
    return agent


@pytest.mark.parametrize("space", BOUNDED.values(), ids=BOUNDED.keys())
def test_densities_of_squashed_actions_are_torchs(space):
    agent, batch = squashing(space), some(BOX, 7)
    actions = agent.predict(batch, deterministic=False)
    mean, std = agent.action_probability(batch)
    assert mean.shape == std.shape == actions.shape == (7, *space.shape)
    low, high = (torch.tensor(each, dtype=torch.float64) for each in (space.low, space.high))
    transforms = torch.distributions.transforms
    moved = transforms.AffineTransform((low + high) / 2, (high - low) / 2)
    normal = torch.distributions.Normal(*(torch.tensor(each).double() for each in (mean, std)))
    chain = [transforms.TanhTransform(), moved]
    peer = torch.distributions.TransformedDistribution(normal, chain)
    expected = peer.log_prob(torch.tensor(actions).double()).reshape(7, -1).sum(dim=1)
    found = agent.action_probability(batch, actions, log=True)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(agent.action_probability(batch, actions), np.exp(found))


def test_a_squashed_density_integrates_to_one_and_is_nothing_beyond_the_bounds():
    agent, obs = squashing(BOUNDED["number"]), some(BOX, 1)[0]
    grid = np.linspace(2, 8, 2001)
    densities = agent.action_probability(np.repeat(obs[None], len(grid), axis=0), grid)
    assert np.trapezoid(densities[1:-1], grid[1:-1]) == pytest.approx(1, abs=0.01)
    assert np.isfinite(agent.action_probability(obs, np.array(8.0), log=True))
    assert agent.action_probability(obs, np.array(8.1)) == 0


# ---- what there is no answer to ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DDPG, TD3, DDPGfD, BehaviourCloning])
def test_a_deterministic_policy_has_no_probabilities(kind):
    agent = kind("Pendulum-v1", seed=0, hidden=4)
    with one_sentence(ValueError, "no probability", kind.__name__, "predict", "A2C"):
        agent.action_probability(np.zeros(3))


@pytest.mark.parametrize("shape", [(), (3,), (2,), (3, 2), (1, 1, 2, 3), (4, 3, 2)])
def test_other_shapes_of_observations_are_one_sentence(shape):
    with one_sentence(ValueError, "action_probability got", str(shape), "(2, 3)"):
        trained(A2C, DISCRETE, steps=1).action_probability(np.zeros(shape))


@pytest.mark.parametrize(
    ("space", "batch", "actions", "words"),
    [
        (DISCRETE, 3, 5, ["(3,)", "()"]),
        (DISCRETE, 3, [5, 6], ["(3,)", "(2,)"]),
        (DISCRETE, None, [5], ["()", "(1,)"]),
        (DISCRETE, None, 4, ["5 to 8", "no 4"]),
        (DISCRETE, 2, [5, 9], ["5 to 8", "no 9"]),
        (DISCRETE, None, 5.0, ["5 to 8", "float"]),
        (DISCRETE, None, True, ["5 to 8", "bool"]),
        (LOPSIDED, None, 1.0, ["(2,)", "()"]),
        (LOPSIDED, 3, [0.0, 11.0], ["(3, 2)", "(2,)"]),
        (LOPSIDED, None, [0.0, np.nan], ["NaN"]),
        (LOPSIDED, None, ["left", "right"], ["numbers"]),
    ],
)
def test_actions_that_cannot_be_are_one_sentence(space, batch, actions, words):
    agent = trained(A2C, space, steps=1)
    obs = some(BOX, batch or 1)
    with one_sentence(ValueError, *words):
        agent.action_probability(obs if batch else obs[0], actions)
