"""Lesson 01's two losses: exercises 1.4 `actor_loss` and 1.6 `critic_loss`.

A loss is its gradients: what flows back is compared along with the value. Whom no gradient may
reach is a property, so that a wrong value has its name whether or not something is detached.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from helpers.agents.a2c import actor_loss, critic_loss
from helpers.checks.exercise import Case, Property, exercise
from helpers.checks.observing import gradient


def leaf(values) -> torch.Tensor:
    """A float32 tensor that collects a gradient."""
    return torch.tensor(np.asarray(values), dtype=torch.float32, requires_grad=True)


def spared(loss: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether no gradient of the loss reaches a tensor."""
    flowed = gradient(loss, tensor)
    return flowed is None or not flowed.any()


# Its value is that of a detached loss: only its type tells the two apart.
PLAIN_NUMBER = (
    "You return a plain number: `.item()` (or `float()`) takes it out of the graph, so no gradient "
    "finds its way back. Return the tensor itself; `.item()` is for printing and plotting."
)


def gives_tensors(cases):
    """The property that a loss is a tensor, and not the number in it."""

    def test(function, rng):
        losses = (function(*map(copied, case.args)) for case in cases(rng))
        return all(isinstance(loss, torch.Tensor) for loss in losses)

    return Property("no tensor", test, PLAIN_NUMBER)


def copied(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


# --- 1.4 actor_loss -------------------------------------------------------------------------------


def observe_actor_loss(function, log_probs, advantages):
    """The function gets clones: in a lesson, too, both are results of something earlier."""
    loss = function(log_probs.clone(), advantages.clone())
    return {"loss": loss, "gradient to log_probs": gradient(loss, log_probs)}


def spares_the_advantages(function, rng):
    return all(
        spared(function(log_probs.clone(), advantages.clone()), advantages)
        for log_probs, advantages in (case.args for case in actor_loss_cases(rng))
    )


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    random = [(leaf(-rng.exponential(size=n)), leaf(rng.normal(size=n))) for n in (5, 32)]
    return [
        Case((leaf([-0.5]), leaf([2.0])), note="batch of one"),
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
    properties=[
        Property(
            "gradient into the advantages",
            spares_the_advantages,
            "The loss is right, but some of its gradient flows through the advantages. They are "
            "only weights here: `.detach()` them wherever you use them.",
        ),
        gives_tensors(actor_loss_cases),
    ],
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


def observe_critic_loss(function, critic, obs, returns):
    loss = function(critic, obs, returns.clone())
    return {"loss": loss, "gradient to the critic": gradient(loss, critic.weights)}


def spares_the_returns(function, rng):
    return all(
        spared(function(critic, obs, returns.clone()), returns)
        for critic, obs, returns in (case.args for case in critic_loss_cases(rng))
    )


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, features: int) -> tuple:
        critic = LinearCritic(rng.normal(size=features))
        obs = torch.tensor(rng.normal(size=(size, features)), dtype=torch.float32)
        return critic, obs, leaf(3 * rng.normal(size=size))

    two = (LinearCritic([1.0]), torch.tensor([[1.0], [3.0]]), leaf([2.0, 6.0]))
    return [
        Case((LinearCritic([2.0]), torch.tensor([[1.0]]), leaf([5.0])), note="batch of one"),
        Case(two, note="two states"),
        Case(drawn(5, 3)),
        Case(drawn(32, 4)),
    ]


def values(critic, obs):
    return critic(obs).squeeze(-1)


CRITIC_LOSS = exercise(
    __file__,
    "1.6",
    reference=critic_loss,
    cases=critic_loss_cases,
    observe=observe_critic_loss,
    properties=[
        Property(
            "gradient into the returns",
            spares_the_returns,
            "The loss is right, but some of its gradient flows into the returns. They are fixed "
            "targets: `.detach()` them wherever you use them.",
        ),
        gives_tensors(critic_loss_cases),
    ],
)
