"""Lesson 04's whole update, written from its pseudocode: exercise 4.12 `update`."""

from typing import Any

import numpy as np
import torch

from helpers.algorithms.ddpgfd import Settings, update
from helpers.checks.exercise import Case
from helpers.exercises.lesson_04_ddpgfd.losses import n_step_batch
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, SmallCritic
from helpers.exercises.writing import ToyAgent, actor_critic, observe_update

PLACES = 40
SETTINGS = Settings(
    gamma=0.9, tau=0.2, n_step_weight=0.3, gradient_weight=0.4, eps=0.125, demo_bonus=3.0
)


class Priorities:
    """What an update asks of the replay buffer: room for new priorities, -1 where none came."""

    def __init__(self) -> None:
        self.now = np.full(PLACES, -1.0)

    def update_priorities(self, indices: Any, priorities: Any) -> None:
        self.now[np.asarray(indices)] = np.asarray(torch.as_tensor(priorities).detach())

    def __repr__(self) -> str:
        return "the replay buffer"


def observe(function, agent, batch, s, calls):
    """All weights and priorities after each call, the losses, and whether the batch is as before.

    Another batch at each call: the rows of the first, in another order.
    """
    buffer, kept = Priorities(), []

    def counted(*args):
        losses = function(*args)
        kept.append(buffer.now.copy())
        return losses

    batches = [type(batch)(*(part.roll(k, 0) for part in batch)) for k in range(calls)]
    seen = observe_update(counted, agent, [(each, s, buffer) for each in batches])
    if seen is None and (buffer.now < 0).all():
        return None
    after = "after the update" if calls == 1 else "after each call"
    return {**(seen or {}), f"priorities in the buffer {after}": np.squeeze(kept)}


def update_cases(rng: np.random.Generator) -> list[Case]:
    def case(obs_size: int, action_dim: int, calls: int, windows: list[str], note: str) -> Case:
        agent = ToyAgent(0.05, **actor_critic(rng, obs_size, action_dim))
        batch = n_step_batch(rng, obs_size, action_dim, 0.9, *windows)
        return Case((agent, batch, SETTINGS, calls), note=note)

    windows = ["...", ".t", "..c", "t", "..", "c"]
    by_hand = ToyAgent(
        0.05, critic=SmallCritic([2.0, 2.0]), actor=SmallActor([[0.5]]),
        target_critic=SmallCritic([1.0, 0.5]), target_actor=SmallActor([[0.25]]),
    )  # fmt: skip
    return [
        Case((by_hand, n_step_batch(rng, 1, 1, 0.5, ".."), SETTINGS, 1), note="one row"),
        case(2, 1, 1, windows[:4], "four rows"),
        case(2, 2, 2, windows, "two calls, two actions"),
        case(3, 2, 3, windows[:5], "three calls"),
    ]


UPDATE = exercise(__file__, "4.12", update, update_cases, observe)
