"""Behaviour cloning: its loss by hand, and an actor that comes to do what it was shown."""

import numpy as np
import pytest
import torch
from sentences import assert_one_sentence
from torch import nn

from helpers.agents import BehaviourCloning
from helpers.agents.cloning import bc_loss
from helpers.demos import Demos, load_demos

PENDULUM = "Pendulum-v1"


def shown(steps=400, seed=0, scale=1.0) -> Demos:
    """Steps of a linear policy, each an episode of its own: torque -1.5 times the sine of the
    angle, minus 0.1 times the velocity.
    """
    rng = np.random.default_rng(seed)
    angle, velocity = rng.uniform(-np.pi, np.pi, steps), rng.uniform(-4, 4, steps)
    obs = np.stack([np.cos(angle), np.sin(angle), velocity], axis=1)
    action = -1.5 * obs[:, 1:2] - 0.1 * obs[:, 2:]
    elsewhere, ends = np.roll(obs, 1, axis=0), np.ones(steps, dtype=bool)
    reward = scale * rng.normal(size=steps)
    return Demos(PENDULUM, "a linear policy", obs, action, reward, elsewhere, ~ends, ends)


def small(demos, seed=0, **settings):
    settings = {"hidden": 32, "batch_size": 64, "actor_learning_rate": 3e-3} | settings
    return BehaviourCloning(PENDULUM, seed=seed, **settings).remember(demos)


def weights_of(network):
    return [parameter.detach().clone() for parameter in network.parameters()]


def equal(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def demos():
    return shown()


@pytest.fixture(scope="module")
def trained(demos):
    return small(demos).learn(600)


# --- The loss -------------------------------------------------------------------------------------


def test_the_loss_by_hand():
    double = nn.Linear(1, 2, bias=False)
    double.weight.data = torch.tensor([[2.0], [-1.0]])
    obs, action = torch.tensor([[1.0], [0.5]]), torch.tensor([[1.0, -1.0], [0.0, 1.5]])
    loss = bc_loss(double, obs, action)
    # The actor does (2, -1) and (1, -0.5).
    assert loss.item() == pytest.approx((1 + 0 + 1 + 4) / 4)
    loss.backward()
    # Twice the difference times the observation, over four entries.
    torch.testing.assert_close(double.weight.grad, torch.tensor([[0.75], [-0.5]]))


def test_a_perfect_copy_has_no_loss():
    assert bc_loss(torch.tanh, torch.ones(3, 2), torch.tanh(torch.ones(3, 2))) == 0


# --- The agent ------------------------------------------------------------------------------------


def test_the_loss_becomes_smaller(trained):
    losses = [loss for _, loss in trained.history["bc_loss"]]
    assert len(losses) == 12
    assert losses[-1] < 0.1 * losses[0]


def test_it_does_what_the_policy_would_do_in_states_that_were_not_shown(trained):
    others = shown(seed=1)
    error = np.abs(trained.predict(others.obs) - others.action)
    assert error.mean() < 0.1  # actions are in [-2, 2], in the environment's units


def test_it_takes_no_step_and_counts_updates(trained):
    assert (trained.steps, trained.updates) == (600, 600)
    assert trained.env is None
    assert "return" not in trained.history


def test_critic_and_targets_have_no_part_in_it(demos):
    agent = small(demos)
    others = [agent.critic, agent.target_critic, agent.target_actor]
    before, actor = [weights_of(network) for network in others], weights_of(agent.actor)
    agent.learn(5)
    assert all(map(equal, before, map(weights_of, others)))
    assert not equal(actor, weights_of(agent.actor))


def test_rewards_have_no_part_in_it(demos):
    one, other = (small(shown(scale=scale)).learn(20) for scale in (1.0, 100.0))
    assert equal(weights_of(one.actor), weights_of(other.actor))


def test_its_seed_decides_how_it_goes(demos):
    one, again, other = (small(demos, seed=seed).learn(20) for seed in (3, 3, 4))
    assert equal(weights_of(one.actor), weights_of(again.actor))
    assert not equal(weights_of(one.actor), weights_of(other.actor))


def test_it_goes_on_where_it_stopped(demos):
    at_once, in_two = small(demos).learn(30), small(demos).learn(10).learn(20)
    assert equal(weights_of(at_once.actor), weights_of(in_two.actor))


def test_it_can_be_saved_and_loaded(trained, demos, tmp_path):
    trained.save(tmp_path / "copy.pt")
    loaded = BehaviourCloning.load(tmp_path / "copy.pt")
    np.testing.assert_array_equal(loaded.predict(demos.obs), trained.predict(demos.obs))


def test_it_learns_from_the_courses_own_files():
    demos = load_demos("data/demos/pendulum.npz")
    agent = small(demos)
    assert len(agent.buffer) == len(demos)
    before = np.abs(agent.predict(demos.obs) - demos.action).mean()
    agent.learn(400)
    assert np.abs(agent.predict(demos.obs) - demos.action).mean() < 0.5 * before


def test_without_demonstrations_it_says_what_to_do():
    with pytest.raises(ValueError, match="remember") as error:
        BehaviourCloning(PENDULUM, seed=0).learn(1)
    assert_one_sentence(error.value)


def test_demonstrations_of_another_environment_are_refused(demos):
    with pytest.raises(ValueError, match="cannot have") as error:
        BehaviourCloning("MountainCarContinuous-v0", seed=0).remember(demos)
    assert_one_sentence(error.value)
