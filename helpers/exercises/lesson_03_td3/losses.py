"""Lesson 03's losses: exercises 3.4 `twin_critic_loss` and 3.6 `actor_loss_by_q1`.

The networks in the cases are so small that a case can be worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from helpers.agents.td3 import actor_loss_by_q1, twin_critic_loss
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.lesson_02_ddpg.losses import (
    FROZEN,
    SmallActor,
    SmallCritic,
    all_parameters,
    batch_of,
    floats,
    gives_tensors,
    leaves_networks_alone,
    of_a_batch,
    same,
)
from helpers.exercises.observing import gradient, no_mutation
from helpers.memory.buffers import Batch


class SmallTwin(nn.Module):
    """Two small critics. Their names are not for the student: call the twin itself, or `q1`."""

    def __init__(self, weights1, weights2, biases=(0.0, 0.0)) -> None:
        super().__init__()
        self.one = SmallCritic(weights1, biases[0])
        self.other = SmallCritic(weights2, biases[1])

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.one(obs, action), self.other(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.one(obs, action)


def random_twin(
    rng: np.random.Generator, obs_size: int, action_dim: int, scale: float = 1.0
) -> SmallTwin:
    one, other = scale * rng.normal(size=(2, obs_size + action_dim))
    return SmallTwin(one, other, rng.normal(size=2).round(2).tolist())


def leaves_gradients_alone(cases: Callable) -> Property:
    """The property that gradients which weights have already are still there afterwards."""

    def test(function, rng):
        for case in cases(rng):
            parameters = all_parameters(case)
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            function(*case.args)
            if not all(p.grad is not None and bool((p.grad == 1).all()) for p in parameters):
                return False
        return True

    return Property(
        "changes stored gradients",
        test,
        "The loss is right, but your function changes the gradients that are kept with the weights "
        "(`backward()`, `zero_grad()`). Only compute the loss and return it: gradients and steps "
        "are the agent's task.",
    )


# --- 3.4 twin_critic_loss -------------------------------------------------------------------------


def observe_twin_loss(
    function, critic, obs, action, reward, next_obs, terminated, truncated, target
):
    batch = Batch(obs, action, reward, next_obs, terminated, truncated)
    loss = function(critic, batch, target)
    return {
        "loss": loss,
        "gradient to the first critic": gradient(loss, critic.one.weights),
        "gradient to the second critic": gradient(loss, critic.other.weights),
    }


def twin_loss_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(actions: list[float], targets: list[float]) -> tuple:
        size = len(actions)
        obs, next_obs = torch.ones(size, 1), torch.full((size, 1), 2.0)
        action, reward = floats(actions).unsqueeze(-1), torch.full((size,), -1.0)
        twin, flags = SmallTwin([2.0, 4.0], [1.0, 0.0]), (torch.zeros(size), torch.zeros(size))
        return twin, obs, action, reward, next_obs, *flags, floats(targets)

    def drawn(obs_size: int, action_dim: int, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        twin = random_twin(rng, obs_size, action_dim)
        return twin, *batch, floats(3 * rng.normal(size=len(flags)))

    return [
        Case(by_hand([0.5], [5.0]), note="batch of one"),
        Case(by_hand([0.5, -1.0], [5.0, 1.0]), note="two transitions"),
        Case(drawn(3, 2, "", "terminated", "truncated", "", "both"), note="two action dimensions"),
        Case(drawn(3, 3, *["", "", "terminated", "truncated"] * 2)),
        Case(drawn(4, 1, *["", "terminated"] * 16)),
    ]


TWIN_CRITIC_LOSS = exercise(
    __file__,
    "3.4",
    reference=twin_critic_loss,
    cases=twin_loss_cases,
    observe=observe_twin_loss,
    properties=[
        of_a_batch(gives_tensors(twin_loss_cases)),
        of_a_batch(leaves_gradients_alone(twin_loss_cases)),
        no_mutation(twin_loss_cases, observe_twin_loss),
    ],
)


# --- 3.6 actor_loss_by_q1 -------------------------------------------------------------------------


def observe_loss_by_q1(function, actor, critic, obs):
    loss, again = (function(actor, critic, obs.clone()) for _ in range(2))
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def loss_by_q1_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size))
        twin = random_twin(rng, obs_size, action_dim)
        return actor, twin, floats(rng.normal(size=(size, obs_size)))

    one = SmallActor([[0.5]]), SmallTwin([1.0, 2.0], [0.0, 3.0])
    return [
        Case((*one, floats([[1.0]])), note="batch of one"),
        Case((*one, floats([[1.0], [-2.0]])), note="two observations"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(8, 4, 4), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1)),
    ]


ACTOR_LOSS_BY_Q1 = exercise(
    __file__,
    "3.6",
    reference=actor_loss_by_q1,
    cases=loss_by_q1_cases,
    observe=observe_loss_by_q1,
    properties=[
        Property("freezes a network", leaves_networks_alone(loss_by_q1_cases), FROZEN),
        gives_tensors(loss_by_q1_cases),
        leaves_gradients_alone(loss_by_q1_cases),
        no_mutation(loss_by_q1_cases),
    ],
)
