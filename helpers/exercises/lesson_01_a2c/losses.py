"""Lesson 01's two losses: exercises 1.4 `actor_loss` and 1.6 `critic_loss`.

A loss is its gradients: what flows back is compared along with the value. Where no gradient may
flow is a property, so that a wrong value has its name whether or not something is detached.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from helpers.agents.a2c import actor_loss, critic_loss
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.observing import gradient


def leaf(values) -> torch.Tensor:
    """A float32 tensor that collects a gradient."""
    return torch.tensor(np.asarray(values), dtype=torch.float32, requires_grad=True)


def loss_properties(loss_of: Callable, cases: Callable, name: str, message: str) -> list[Property]:
    """No gradient flows into the last argument, and the loss is a tensor.

    `loss_of(function, *args)` gives the loss. The second is no part of the observation because a
    plain number is worth as much as a detached loss.
    """

    def spares_the_last(function, rng):
        for case in cases(rng):
            flowed = gradient(loss_of(function, *case.args), case.args[-1])
            if flowed is not None and flowed.any():
                return False
        return True

    def gives_tensors(function, rng):
        losses = (loss_of(function, *case.args) for case in cases(rng))
        return all(isinstance(loss, torch.Tensor) for loss in losses)

    plain = (
        "You return a plain number, and no gradient can flow back through it. Return the tensor "
        "itself; `.item()` is for printing and plotting."
    )
    return [Property(name, spares_the_last, message), Property("no tensor", gives_tensors, plain)]


# --- 1.4 actor_loss -------------------------------------------------------------------------------


def actor_loss_of(function, log_probs, advantages):
    """The function gets clones: in a lesson, too, both are results of something earlier."""
    return function(log_probs.clone(), advantages.clone())


def observe_actor_loss(function, log_probs, advantages):
    loss = actor_loss_of(function, log_probs, advantages)
    return {"loss": loss, "gradient to log_probs": gradient(loss, log_probs)}


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    random = [(leaf(-rng.exponential(size=n)), leaf(rng.normal(size=n))) for n in (5, 32)]
    return [
        Case((leaf([-0.5]), leaf([3.0])), note="batch of one"),
        Case((leaf([-0.5, -2.0]), leaf([3.0, -1.0])), note="a good action and a bad one"),
        Case((leaf([-0.1, -1.0, -3.0]), leaf([10.0, 12.0, 11.0])), note="all advantages positive"),
        *map(Case, random),
    ]


ACTOR_LOSS = exercise(
    __file__,
    "1.4",
    reference=actor_loss,
    cases=actor_loss_cases,
    observe=observe_actor_loss,
    properties=loss_properties(
        actor_loss_of,
        actor_loss_cases,
        "gradient into the advantages",
        "The loss is right, but some of its gradient flows through the advantages. They are "
        "only weights here: `.detach()` them wherever you use them.",
    ),
)


# --- 1.6 critic_loss ------------------------------------------------------------------------------


class LinearCritic(nn.Module):
    """V(s) is a weighted sum of the observation, so that a case can be worked out by hand."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(np.asarray(weights), dtype=torch.float32))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return (obs @ self.weights).unsqueeze(-1)

    def extra_repr(self) -> str:
        terms = [f"{weight:.3g} * obs[{i}]" for i, weight in enumerate(self.weights.tolist())]
        return "V = " + " + ".join(terms)


def critic_loss_of(function, critic, obs, returns):
    return function(critic, obs, returns.clone())


def observe_critic_loss(function, critic, obs, returns):
    loss = critic_loss_of(function, critic, obs, returns)
    return {"loss": loss, "gradient to the critic's weights": gradient(loss, critic.weights)}


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, features: int) -> tuple:
        critic = LinearCritic(rng.normal(size=features))
        obs = torch.tensor(rng.normal(size=(size, features)), dtype=torch.float32)
        return critic, obs, leaf(3 * rng.normal(size=size))

    two = (LinearCritic([2.0]), torch.tensor([[1.0], [3.0]]), leaf([3.0, 9.0]))
    return [
        Case((LinearCritic([2.0]), torch.tensor([[1.0]]), leaf([5.0])), note="batch of one"),
        Case(two, note="two states"),
        Case(drawn(5, 3)),
        Case(drawn(32, 4)),
    ]


CRITIC_LOSS = exercise(
    __file__,
    "1.6",
    reference=critic_loss,
    cases=critic_loss_cases,
    observe=observe_critic_loss,
    properties=loss_properties(
        critic_loss_of,
        critic_loss_cases,
        "gradient into the returns",
        "The loss is right, but some of its gradient flows into the returns. They are fixed "
        "targets: `.detach()` them wherever you use them.",
    ),
)
