"""Networks of any depth, with layer normalisation if wanted: the same jobs as in `networks.py`.

The lessons' own networks have two hidden layers each, written out. These here are what an agent
builds when it is asked for anything else: `TD3(env, hidden=(400, 300), layer_norm=True)`.
"""

from collections.abc import Sequence

import torch
from torch import nn

from helpers.networks import start_small


def hidden_layers(n_inputs: int, sizes: Sequence[int], layer_norm: bool = False) -> nn.Sequential:
    """The hidden layers of a network: (..., n_inputs) to (..., sizes[-1]).

    Each is a linear layer and a ReLU. With `layer_norm` the outputs of the linear layer are first
    brought to mean 0 and variance 1 over its units. Source: Ba, Kiros & Hinton 2016, "Layer
    Normalization", section 3.
    """
    layers: list[nn.Module] = []
    for size in sizes:
        # 1. A linear layer from what the one before gives, or from the input.
        layers.append(nn.Linear(n_inputs, size))
        # 2. The normalisation belongs before the ReLU: what is summed up is normalised, and the
        # ReLU then cuts about half of it.
        if layer_norm:
            layers.append(nn.LayerNorm(size))
        # 3. The ReLU last, and the next layer takes what this one gives.
        layers.append(nn.ReLU())
        n_inputs = size
    return nn.Sequential(*layers)


class DeepActor(nn.Module):
    """The actor mu with any hidden layers: observations (..., obs_size) to actions in [-1, 1]."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__()
        self.hidden = hidden_layers(obs_size, hidden, layer_norm)
        self.output = nn.Linear(hidden[-1], action_dim)
        start_small(self.output)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.output(self.hidden(obs)))


class DeepQNetwork(nn.Module):
    """The critic Q with any hidden layers: observations and actions (B, ...) to values (B,)."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__()
        self.hidden = hidden_layers(obs_size + action_dim, hidden, layer_norm)
        self.output = nn.Linear(hidden[-1], 1)
        start_small(self.output)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = self.hidden(torch.cat([obs, action], dim=-1))
        return self.output(x).squeeze(-1)


class DeepTwinQNetwork(nn.Module):
    """Two critics that share nothing; see `TwinQNetwork`."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__()
        self.first = DeepQNetwork(obs_size, action_dim, hidden, layer_norm)
        self.second = DeepQNetwork(obs_size, action_dim, hidden, layer_norm)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.first(obs, action), self.second(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.first(obs, action)
