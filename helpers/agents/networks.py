"""The neural networks of the course: small, and written out layer by layer."""

from typing import ClassVar

import torch
from torch import nn

from helpers.algorithms.reinforce import make_actor, make_critic

__all__ = [
    "DeterministicActor", "QNetwork", "SquashedGaussianActor", "TwinQNetwork", "make_actor",
    "make_critic", "start_small",
]  # fmt: skip


class DeterministicActor(nn.Module):
    """The actor mu: observations (..., obs_size) to actions (..., action_dim), in [-1, 1]."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. After `super().__init__()`: two hidden layers of `hidden` units each, and an output for
        # each action dimension.
        self.hidden1 = nn.Linear(obs_size, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, action_dim)
        # 2. A small start for the last layer: the tanh starts where it is steep.
        start_small(self.output)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        # 3. A ReLU after each hidden layer.
        x = torch.relu(self.hidden1(obs))
        x = torch.relu(self.hidden2(x))
        # 4. A tanh brings every output to [-1, 1].
        return torch.tanh(self.output(x))


class SquashedGaussianActor(nn.Module):
    """The actor of SAC: observations (..., obs_size) to a Gaussian before the tanh.

    Its mean and the logarithm of its standard deviation, (..., action_dim) each.
    """

    log_std_range: ClassVar[tuple[float, float]] = (-20.0, 2.0)  # as in the authors' code

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. As `DeterministicActor`, but with two outputs for each action dimension.
        self.hidden1 = nn.Linear(obs_size, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 2 * action_dim)
        # 2. A small start: the mean is near 0 and the standard deviation near 1 in every state.
        start_small(self.output)

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # 3. A ReLU after each hidden layer.
        x = torch.relu(self.hidden1(obs))
        x = torch.relu(self.hidden2(x))
        # 4. The first half of the outputs is the mean, the second half the log of the std.
        mean, log_std = self.output(x).chunk(2, dim=-1)
        # 5. Extremes are cut off: a std is never below e^-20 (2e-9) nor above e^2 (7.4).
        return mean, log_std.clamp(*self.log_std_range)


class QNetwork(nn.Module):
    """The critic Q: observations (B, obs_size) and actions (B, action_dim) to values (B,)."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. As in the actor, but observation *and* action go in, and one number comes out. Here
        # too the last layer starts small.
        self.hidden1 = nn.Linear(obs_size + action_dim, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 1)
        start_small(self.output)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        # 2. Put observation and action of each row side by side.
        x = torch.cat([obs, action], dim=-1)
        # 3. A ReLU after each hidden layer, nothing after the last: a value may be any number.
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        # 4. One value a row: from (B, 1) to (B,).
        return self.output(x).squeeze(-1)


class TwinQNetwork(nn.Module):
    """Two critics with weights of their own: observations and actions to two values (B,) each."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. Two Q networks that share nothing, so that their errors differ.
        self.first = QNetwork(obs_size, action_dim, hidden)
        self.second = QNetwork(obs_size, action_dim, hidden)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # 2. Both answers, each (B,).
        return self.first(obs, action), self.second(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """The first critic alone (B,): what the actor learns from."""
        # 3. Not both and then one of them: the second would be computed for nothing.
        return self.first(obs, action)


def start_small(layer: nn.Linear, bound: float = 3e-3) -> None:
    """Draw weights and biases uniformly from [-bound, bound] (Lillicrap et al. 2016, section 7)."""
    nn.init.uniform_(layer.weight, -bound, bound)
    nn.init.uniform_(layer.bias, -bound, bound)
