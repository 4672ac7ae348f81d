"""How losses are tried: lesson 03's are lesson 02's with a pair of critics in place of one.

A loss is its gradients: what flows back is compared along with the value.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from helpers.checks.exercise import Case
from helpers.exercises.observing import call_twice, gradients_to
from helpers.exercises.toys import SmallActor, batch_of, floats, random_actor
from helpers.memory.buffers import Batch

Critics = Callable[[np.random.Generator, int, int], nn.Module]


# --- An actor's loss ------------------------------------------------------------------------------


observe_actor_loss = gradients_to({"the actor": 0}, call_twice)


def actor_loss_cases(
    rng: np.random.Generator, by_hand: nn.Module, random_critic: Critics
) -> list[Case]:
    """`by_hand` is a critic for one number observed and one action."""

    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        both = (draw(rng, obs_size, action_dim) for draw in (random_actor, random_critic))
        return *both, floats(rng.normal(size=(size, obs_size)))

    one = SmallActor([[0.5]]), by_hand
    return [
        Case((*one, floats([[1.0]])), note="batch of one"),
        Case((*one, floats([[1.0], [-2.0]])), note="two observations"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(8, 4, 4), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1)),
    ]


# --- A critic's loss ------------------------------------------------------------------------------


def critic_loss_cases(
    rng: np.random.Generator, by_hand: nn.Module, random_critic: Critics
) -> list[Case]:
    """`by_hand` is a critic for one number observed and one action."""

    def given(actions: list[float], targets: list[float]) -> tuple:
        size = len(actions)
        obs, next_obs = torch.ones(size, 1), torch.full((size, 1), 2.0)
        action, reward = floats(actions).unsqueeze(-1), torch.full((size,), -1.0)
        flags = torch.zeros(size), torch.zeros(size)
        return by_hand, Batch(obs, action, reward, next_obs, *flags), floats(targets)

    def drawn(obs_size: int, action_dim: int, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, *flags)
        critic = random_critic(rng, obs_size, action_dim)
        return critic, batch, floats(3 * rng.normal(size=len(flags)))

    return [
        Case(given([0.5], [5.0]), note="batch of one"),
        Case(given([0.5, -1.0], [5.0, 1.0]), note="two transitions"),
        Case(drawn(3, 2, "", "terminated", "truncated", "", "both"), note="two action dimensions"),
        Case(drawn(3, 3, *["", "", "terminated", "truncated"] * 2)),
        Case(drawn(4, 1, *["", "terminated"] * 16)),
    ]
