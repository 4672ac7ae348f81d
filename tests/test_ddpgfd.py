"""DDPG from demonstrations: its formulas by hand, and that it runs."""

import copy

import numpy as np
import pytest
import torch

from helpers.agents import ddpgfd
from helpers.agents.ddpgfd import DDPGfD
from helpers.algorithms.ddpgfd import n_step_target, priorities, weighted_critic_loss
from helpers.demos.files import load_demos
from helpers.memory.buffers import PrioritizedReplayBuffer

DEMOS = "data/demos/sparse_pendulum.npz"


def test_the_priority_by_hand():
    got = priorities(
        torch.tensor([2.0, 0.0]),
        torch.tensor([[1.0, 2.0], [0.0, 3.0]]),
        torch.tensor([1.0, 0.0]),
        gradient_weight=0.5, eps=0.01, demo_bonus=4.0,
    )  # fmt: skip
    torch.testing.assert_close(got, torch.tensor([4 + 2.5 + 0.01 + 4, 4.5 + 0.01]))


def test_the_critics_loss_by_hand():
    ones = torch.ones(2)
    got = weighted_critic_loss(
        torch.tensor([1.0, 2.0]), 0 * ones, 3 * ones, torch.tensor([1.0, 0.5]), n_step_weight=0.5
    )
    assert got.item() == pytest.approx(((1 + 0.5 * 4) + 0.5 * (4 + 0.5 * 1)) / 2)


def test_the_n_step_target_by_hand():
    buffer = PrioritizedReplayBuffer(10, (1,), (1,), 0, n_steps=3, gamma=0.5)
    for reward, terminated in [(1, False), (2, False), (4, True)]:
        buffer.add(np.zeros(1), np.zeros(1), reward, np.zeros(1), terminated, False)
    batch = buffer.sample(50)
    target = n_step_target(batch, lambda obs: obs, lambda obs, action: torch.full((50,), 100.0))
    expected = {0: 1 + 1 + 1, 1: 2 + 2, 2: 4}
    assert target.tolist() == [expected[place] for place in batch.indices.tolist()]
    assert not target.requires_grad


@pytest.fixture(scope="module")
def agent():
    agent = DDPGfD("SparsePendulum-v0", seed=0, pretraining=100, learning_starts=1, hidden=16)
    return agent.remember(load_demos(DEMOS, agent.env_source)).learn(20)


def test_it_studies_the_demonstrations_before_the_first_step(agent):
    assert (agent.steps, agent.updates) == (20, 120)
    assert agent.buffer.demos == 1000
    shares = [share for _, share in agent.history["demonstrations"]]
    assert shares[0] == 1.0


def test_priorities_are_renewed_and_demonstrations_have_their_bonus(agent):
    assert (agent.buffer.sums.leaves[:1000] >= 1.0).all()
    assert len(np.unique(agent.buffer.sums.leaves[:1000])) > 500


def test_how_steep_the_critic_is_is_found_for_each_action_alone(agent, monkeypatch):
    critic, batch, seen = copy.deepcopy(agent.critic), agent.buffer.sample(8), []
    monkeypatch.setattr(
        ddpgfd, "priorities", lambda error, slope, *_: seen.append(slope) or error.square() + 1
    )
    agent.update(batch)
    for i, slope in enumerate(seen[0]):
        action = batch.action[i : i + 1].clone().requires_grad_()
        critic(batch.obs[i : i + 1], action).backward()
        torch.testing.assert_close(slope, action.grad[0])


def test_demonstrations_are_stored_in_the_agents_units(agent):
    demos = load_demos(DEMOS)
    stored = agent.buffer.arrays
    np.testing.assert_allclose(stored.action[:1000] * 2, demos.action, atol=1e-6)
    np.testing.assert_allclose(stored.obs[:1000, 2] * 8, demos.obs[:, 2], atol=1e-5)


def test_both_networks_have_weight_decay():
    agent = DDPGfD("SparsePendulum-v0", weight_decay=0.25)
    optimizers = agent.actor_optimizer, agent.critic_optimizer
    assert [each.param_groups[0]["weight_decay"] for each in optimizers] == [0.25, 0.25]


def test_demonstrations_of_other_spaces_are_refused():
    with pytest.raises(ValueError, match="record them in this environment"):
        DDPGfD("MountainCarContinuous-v0").remember(load_demos(DEMOS))
