"""Lesson 02's updates: 2.8, DDPG's whole `update`, and 2.9, its two steps with a bug to find.

They are tried as `writing` says: all weights after several calls are compared.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from helpers.algorithms.ddpg import update
from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, SmallCritic, batch_of
from helpers.exercises.writing import ToyAgent, actor_critic, observe_update
from helpers.memory.replay import Batch


def settings(gamma: float, tau: float) -> SimpleNamespace:
    """What an update needs of DDPG's, and the scale of rewards, which it must not use."""
    return SimpleNamespace(gamma=gamma, tau=tau, reward_scale=0.3)


def by_hand() -> tuple:
    """The target is 2.6; the critic says 2.75."""
    agent = ToyAgent(
        0.1, critic=SmallCritic([2.0, 2.0]), actor=SmallActor([[0.5]]),
        target_critic=SmallCritic([1.0, 0.0]), target_actor=SmallActor([[0.0]]),
    )  # fmt: skip
    parts = [[1.0]], [[0.5]], [1.0], [[2.0]], [0.0], [0.0]
    return agent, [(Batch(*map(torch.tensor, parts)), settings(0.8, 0.25))]


def update_cases(rng: np.random.Generator) -> list[Case]:
    def random(obs_size: int, action_dim: int, calls: int, gamma: float) -> tuple:
        flags = "", "terminated", "", "truncated", ""
        batches = [batch_of(rng, obs_size, action_dim, *flags) for _ in range(calls)]
        agent = ToyAgent(0.05, **actor_critic(rng, obs_size, action_dim))
        return agent, [(batch, settings(gamma, 0.2)) for batch in batches]

    return [
        Case(by_hand(), note="one transition, one update"),
        Case(random(2, 1, 1, 0.9), note="five transitions, one update"),
        Case(random(3, 2, 3, 0.9), note="three updates, two action dimensions"),
        Case(random(1, 3, 2, 1.0), note="two updates, gamma 1"),
    ]


DDPG_UPDATE = exercise(__file__, "2.8", update, update_cases, observe_update)


def two_steps(agent, batch, y):
    """One step of the critic towards the targets y (B,), then one of the actor up the critic."""
    # 1. The critic.
    loss = nn.functional.mse_loss(agent.critic(batch.obs, batch.action), y)
    agent.critic_optimizer.zero_grad()
    loss.backward()
    agent.critic_optimizer.step()
    # 2. The actor.
    loss = -agent.critic(batch.obs, agent.actor(batch.obs)).mean()
    agent.actor_optimizer.zero_grad()
    loss.backward()
    agent.actor_optimizer.step()


def step_cases(rng: np.random.Generator) -> list[Case]:
    def random(obs_size: int, action_dim: int, calls: int) -> tuple:
        batches = [batch_of(rng, obs_size, action_dim, *["", "", ""]) for _ in range(calls)]
        targets = [torch.tensor(rng.normal(size=3), dtype=torch.float32) for _ in batches]
        agent = ToyAgent(0.05, **actor_critic(rng, obs_size, action_dim))
        return agent, list(zip(batches, targets, strict=True))

    return [
        Case(random(1, 1, 1), note="one call"),
        Case(random(2, 1, 2), note="two calls"),
        Case(random(3, 2, 3), note="three calls, two action dimensions"),
    ]


TWO_STEPS = exercise(__file__, "2.9", two_steps, step_cases, partial(observe_update, returns=False))
