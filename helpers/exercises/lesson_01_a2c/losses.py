"""Lesson 01's two losses: exercises 1.3 `actor_loss` and 1.5 `critic_loss`.

A loss is its gradients: what flows back is compared along with the value. Where no gradient may
flow is a property, so that a wrong value has its name whether or not something is detached.
"""

import numpy as np
import torch
from torch import nn

from helpers.algorithms.reinforce import actor_loss, critic_loss
from helpers.checks.exercise import Case
from helpers.exercises.observing import asked, gradients_to
from helpers.exercises.properties import (
    gives_tensors,
    leaves_no_gradient_in_the_first,
    leaves_no_gradients,
    no_mutation,
    spares,
)
from helpers.exercises.text import exercise
from helpers.exercises.toys import floats, leaf


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    random = [(leaf(-rng.exponential(size=n)), leaf(rng.normal(size=n))) for n in (5, 32)]
    return [
        Case((leaf([-0.5]), leaf([3.0])), note="batch of one"),
        Case((leaf([-0.5, -2.0]), leaf([3.0, -1.0])), note="a good action and a bad one"),
        Case((leaf([-0.1, -1.0, -3.0]), leaf([10.0, 12.0, 11.0])), note="all advantages positive"),
        *map(Case, random),
        Case((leaf([-90.0, -0.2]), leaf([1.5, 2.0])), note="an action that was all but impossible"),
    ]


ACTOR_LOSS = exercise(
    __file__, "1.3", actor_loss, actor_loss_cases, gradients_to({"log_probs": 0}, asked),
    properties=spares("advantages", actor_loss_cases, asked)
    | {"backward inside": leaves_no_gradient_in_the_first(actor_loss_cases, asked)}
    | gives_tensors(actor_loss_cases, asked)
    | no_mutation(actor_loss_cases),
)  # fmt: skip


class LinearCritic(nn.Module):
    """V(s) is a weighted sum of the observation, so that a case can be worked out by hand."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(floats(weights))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return (obs @ self.weights).unsqueeze(-1)

    def extra_repr(self) -> str:
        terms = [f"{weight:.3g} * obs[{i}]" for i, weight in enumerate(self.weights.tolist())]
        return "V = " + " + ".join(terms)


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, features: int) -> tuple:
        critic = LinearCritic(rng.normal(size=features))
        return critic, floats(rng.normal(size=(size, features))), leaf(3 * rng.normal(size=size))

    two = (LinearCritic([2.0]), torch.tensor([[1.0], [3.0]]), leaf([3.0, 9.0]))
    return [
        Case((LinearCritic([2.0]), torch.tensor([[1.0]]), leaf([5.0])), note="batch of one"),
        Case(two, note="two states"),
        Case(drawn(5, 3)),
        Case(drawn(32, 4)),
    ]


CRITIC_LOSS = exercise(
    __file__, "1.5", critic_loss, critic_loss_cases,
    gradients_to({"the critic's weights": 0}, asked),
    properties=spares("returns", critic_loss_cases, asked)
    | leaves_no_gradients(critic_loss_cases)
    | gives_tensors(critic_loss_cases, asked)
    | no_mutation(critic_loss_cases),
)  # fmt: skip
