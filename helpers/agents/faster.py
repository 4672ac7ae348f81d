"""The same networks, computed faster on a CPU: same numbers up to rounding (tests compare)."""

from typing import Any

import torch
from torch import nn

from helpers.agents.layers import ImageCritic, choose_networks
from helpers.agents.networks import TwinQNetwork

NARROW = 128  # up to this width, starting a matrix product takes longer than the product
WIDE = 256  # from this width on, the product takes all the time
FEW_ROWS = 32  # for one observation oneDNN's preparations take longer than the product


def fast_networks(*kinds_and_sizes: Any) -> tuple[nn.Module, nn.Module]:
    """An actor and a critic, by `choose_networks`, that compute as fast as we know how."""
    actor, critic = choose_networks(*kinds_and_sizes)
    return faster(actor), faster(critic)


def faster(network: nn.Module) -> nn.Module:
    """`network`, or one that computes the same in less time; an unknown kind is left as it is."""
    # Not isinstance: a subclass may compute something else.
    if type(network) is TwinQNetwork and _width(network) <= NARROW:
        return StackedTwin(network)
    if type(network) is ImageCritic:
        network.critic = faster(network.critic)
    if torch.backends.mkldnn.is_available():
        for parent in list(network.modules()):
            for name, layer in parent.named_children():
                if type(layer) is nn.Linear and min(layer.weight.shape) >= WIDE:
                    setattr(parent, name, WideLinear(layer))
    return network


def _width(network: nn.Module) -> int:
    return max(max(parameter.shape) for parameter in network.parameters())


class StackedTwin(nn.Module):
    """A `TwinQNetwork` with both critics' layers in one product each: a tenth of training saved."""

    hidden1: "StackedLinear"
    hidden2: "StackedLinear"
    output: "StackedLinear"

    def __init__(self, twin: TwinQNetwork) -> None:
        super().__init__()
        for name, layer in twin.first.named_children():
            setattr(self, name, StackedLinear(layer, getattr(twin.second, name)))

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.cat([obs, action], dim=-1).expand(2, -1, -1)
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.output(x).squeeze(-1).unbind(0)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = torch.cat([obs, action], dim=-1)
        x = torch.relu(self.hidden1.first(x))
        x = torch.relu(self.hidden2.first(x))
        return self.output.first(x).squeeze(-1)


class StackedLinear(nn.Module):
    """Two linear layers side by side: (2, B, n_in) to (2, B, n_out)."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__()
        weight = torch.stack([first.weight.detach(), second.weight.detach()])
        self.weight = nn.Parameter(weight.transpose(1, 2).contiguous())
        bias = torch.stack([first.bias.detach(), second.bias.detach()])
        self.bias = nn.Parameter(bias.unsqueeze(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.baddbmm(self.bias, x, self.weight)

    def first(self, x: torch.Tensor) -> torch.Tensor:
        """The first layer alone: (B, n_in) to (B, n_out)."""
        return torch.addmm(self.bias[0], x, self.weight[0])


class WideLinear(nn.Linear):
    """A linear layer whose products oneDNN computes: half the time of MKL's on an AMD processor."""

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)  # the layer's own weights, none drawn in addition
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 1 or len(x) < FEW_ROWS or x.dtype != torch.float32:
            return super().forward(x)
        return nn.functional.linear(x.to_mkldnn(), self.weight, self.bias).to_dense()
