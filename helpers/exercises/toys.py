"""Networks so small that a case can be worked out by hand, and random batches for them."""

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.agents.adam import plain
from helpers.memory.buffers import Batch


def floats(values: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=torch.float32)


def leaf(values: Any) -> torch.Tensor:
    """A tensor that collects a gradient."""
    return floats(values).requires_grad_()


def drawn(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    """Random numbers in such a shape, as many below 0 as above."""
    return floats(rng.normal(size=shape))


class Descent(torch.optim.Optimizer):
    """Plain gradient descent: with Adam a loss ten times too large moves the weights as far.

    Not torch's `SGD`, which imports torch's compiler when it is made, for two seconds.
    """

    add_param_group: Any = plain("add_param_group")
    zero_grad: Any = plain("zero_grad")

    def __init__(self, parameters: Any, rate: float) -> None:
        super().__init__(parameters, {"lr": rate})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # no closure: nobody here has one
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter -= group["lr"] * parameter.grad

    step.hooked = True  # type: ignore[attr-defined]  # torch's profiler need not look at it


class Small(nn.Module):
    """A network that is copied quickly: a check copies its cases for every answer and mistake.

    Most of what a module holds is empty dictionaries for hooks; `deepcopy` takes each apart.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> "Small":
        twin = memo[id(self)] = type(self).__new__(type(self))
        for name, value in vars(self).items():
            is_empty = isinstance(value, dict) and not value
            vars(twin)[name] = value.copy() if is_empty else deepcopy(value, memo)
        return twin


class SmallActor(Small):
    """One linear layer and a tanh. The bias is a fixed number, not a parameter."""

    def __init__(self, weights: Any, bias: float = 0.0) -> None:
        super().__init__()
        self.weights, self.bias = nn.Parameter(floats(weights)), bias

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(obs @ self.weights + self.bias)

    def extra_repr(self) -> str:
        return f"action = tanh(obs @ {_short(self.weights)}{_term(self.bias)})"


class SmallCritic(Small):
    """A weighted sum of observation and action, minus the action's squares: a hill over actions.

    The bias is a fixed number, not a parameter.
    """

    def __init__(self, weights: Any, bias: float = 0.0) -> None:
        super().__init__()
        self.weights, self.bias = nn.Parameter(floats(weights)), bias

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        linear = torch.cat([obs, action], dim=-1) @ self.weights + self.bias
        return linear - (action**2).sum(dim=-1)

    def extra_repr(self) -> str:
        weights, bias = _short(self.weights), _term(self.bias)
        return f"Q = [obs, action] @ {weights}{bias} - (action**2).sum()"


class SmallTwin(Small):
    """Two small critics. Their names are not for the student: call the twin itself, or `q1`."""

    def __init__(self, weights1: Any, weights2: Any, biases: Any = (0.0, 0.0)) -> None:
        super().__init__()
        self.one = SmallCritic(weights1, biases[0])
        self.other = SmallCritic(weights2, biases[1])

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.one(obs, action), self.other(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.one(obs, action)


def _short(weights: torch.Tensor) -> str:
    return str(np.round(weights.detach().numpy().astype(float), 3).tolist())


def _term(bias: float) -> str:
    return f" {'-' if bias < 0 else '+'} {abs(bias)}" if bias else ""


def random_actor(
    rng: np.random.Generator, obs_size: int, action_dim: int, bias: float = 0.0
) -> SmallActor:
    return SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size), bias)


def random_critic(
    rng: np.random.Generator, obs_size: int, action_dim: int, bias: float = 0.0
) -> SmallCritic:
    return SmallCritic(rng.normal(size=obs_size + action_dim), bias)


def random_twin(
    rng: np.random.Generator, obs_size: int, action_dim: int, scale: float = 1.0
) -> SmallTwin:
    one, other = scale * rng.normal(size=(2, obs_size + action_dim))
    return SmallTwin(one, other, rng.normal(size=2).round(2).tolist())


def pair_by_hand(*next_obs: float, flag: str) -> tuple[Batch, torch.Tensor, SmallTwin]:
    """Transitions, next actions and two critics, who say 6.5 and 4.75 where `next_obs` is 2, and
    -2.5 and 1.75 where it is -1.
    """
    size = len(next_obs)
    now = torch.ones(size, 1), -torch.ones(size, 1), torch.ones(size)
    flags = (torch.full((size,), float(flag == name)) for name in ("terminated", "truncated"))
    later, next_action = floats(next_obs).unsqueeze(-1), torch.full((size, 1), 0.5)
    twin = SmallTwin([3.0, 1.0], [1.0, 4.0], (0.25, 1.0))
    return Batch(*now, later, *flags), next_action, twin


def batch_of(rng: np.random.Generator, obs_size: int, action_dim: int, *flags: str) -> Batch:
    """A random batch with a row for each flag: "terminated", "truncated", "both" or ""."""
    size = len(flags)
    return Batch(
        floats(rng.normal(size=(size, obs_size))),
        floats(rng.uniform(-1, 1, size=(size, action_dim))),
        floats(np.round(3 * rng.normal(size=size), 2)),
        floats(rng.normal(size=(size, obs_size))),
        floats([flag in ("terminated", "both") for flag in flags]),
        floats([flag in ("truncated", "both") for flag in flags]),
    )
