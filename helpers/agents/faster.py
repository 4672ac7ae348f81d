"""The same networks, computed faster on a CPU: same numbers up to rounding (tests compare)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import torch
from torch import nn

from helpers.agents.layers import ImageCritic, choose_networks
from helpers.agents.modes import updating
from helpers.agents.networks import TwinQNetwork
from helpers.envs.make import one_line
from helpers.memory.buffers import Batch

NARROW = 128  # up to this width, starting a matrix product takes longer than the product
WIDE = 256  # from this width on, the product takes all the time
CRITICS = ("first", "second")
FEW_ROWS = 32  # for one observation oneDNN's preparations take longer than the product


def fast_networks(agent: Any, *settings: Any) -> tuple[nn.Module, nn.Module]:
    """An actor and a critic, by `choose_networks`, that compute as fast as we know how."""
    actor, critic = choose_networks(agent, *settings)
    return (faster(actor), faster(critic)) if agent.device.type == "cpu" else (actor, critic)


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


# A device's type and an agent's class -> its update, in a module whose name begins with
# `written_out`, or in `recorded.py`.
UPDATES: dict[tuple[str, type], Any] = {}


def fast_update(agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
    """`agent.update(batch)`, or the same faster."""
    faster_one = _faster_one(agent, batch)
    if faster_one:
        return faster_one(agent, batch)
    with updating(agent):
        losses = agent.update(batch)
    if not (isinstance(losses, dict) and all(map(torch.is_tensor, losses.values()))):
        raise _no_log(agent, "update", "tensors of one number", losses)
    return losses


def fast_learn_from(agent: Any, *columns: torch.Tensor) -> dict[str, float]:
    """`agent.learn_from(*columns)`, or the same faster."""
    faster_one = _faster_one(agent, columns)
    if faster_one:
        return faster_one(agent, columns)
    with updating(agent):
        numbers = agent.learn_from(*columns)
    if not isinstance(numbers, dict):
        raise _no_log(agent, "learn_from", "numbers", numbers)
    return numbers


def _no_log(agent: Any, method: str, values: str, got: Any) -> TypeError:
    return TypeError(
        f"{method} of {type(agent).__name__} must return what is worth logging, a dictionary of "
        f"{values} by name, such as {{}}; it returned {one_line(repr(got))[:80]}."
    )


def _faster_one(agent: Any, batch: tuple[torch.Tensor, ...]) -> Any:
    known = UPDATES.get((agent.device.type, type(agent)))
    return known and known.of(agent, batch)


@contextmanager
def plain_updates() -> Iterator[None]:
    """Within this, every agent updates by its own `update`: so do all variants of a lab."""
    known = dict(UPDATES)
    UPDATES.clear()
    try:
        yield
    finally:
        UPDATES.update(known)


def _width(network: nn.Module) -> int:
    return max(max(parameter.shape) for parameter in network.parameters())


class StackedTwin(nn.Module):
    """A `TwinQNetwork` with both critics' layers in one product each: a tenth of training saved.

    Its `state_dict` has the names and shapes of the network that it was made of.
    """

    hidden1: "StackedLinear"
    hidden2: "StackedLinear"
    output: "StackedLinear"

    def __init__(self, twin: TwinQNetwork) -> None:
        super().__init__()
        for name, layer in twin.first.named_children():
            setattr(self, name, StackedLinear(layer, getattr(twin.second, name)))
        self.register_state_dict_post_hook(_take_apart)
        self.register_load_state_dict_pre_hook(_put_together)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.cat([obs, action], dim=-1)
        shape, x = x.shape[:-1], x.reshape(-1, x.shape[-1]).expand(2, -1, -1)
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.output(x).reshape(2, *shape).unbind(0)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = torch.cat([obs, action], dim=-1)
        shape, x = x.shape[:-1], x.reshape(-1, x.shape[-1])
        x = torch.relu(self.hidden1.first(x))
        x = torch.relu(self.hidden2.first(x))
        return self.output.first(x).reshape(shape)


class Stacked(nn.Parameter):
    """A parameter that stays what it is when pickled: torch would make a plain one of it."""

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return type(self), (self.data, self.requires_grad)


class StackedWeight(Stacked):
    """The weights of two linear layers, (2, n_in, n_out)."""

    @staticmethod
    def apart(stacked: torch.Tensor) -> list[torch.Tensor]:
        """As the two layers have them: views."""
        return [each.T for each in stacked]

    @staticmethod
    def together(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return torch.stack([first, second]).transpose(1, 2).contiguous()


class StackedBias(Stacked):
    """The biases of two linear layers, (2, 1, n_out)."""

    @staticmethod
    def apart(stacked: torch.Tensor) -> list[torch.Tensor]:
        return [each[0] for each in stacked]

    @staticmethod
    def together(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return torch.stack([first, second])[:, None]


class StackedLinear(nn.Module):
    """Two linear layers side by side: (2, B, n_in) to (2, B, n_out)."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__()
        weights = StackedWeight.together(first.weight.detach(), second.weight.detach())
        self.weight = StackedWeight(weights)
        self.bias = StackedBias(StackedBias.together(first.bias.detach(), second.bias.detach()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.baddbmm(self.bias, x, self.weight)

    def first(self, x: torch.Tensor) -> torch.Tensor:
        """The first layer alone: (B, n_in) to (B, n_out)."""
        return torch.addmm(self.bias[0], x, self.weight[0])


def _take_apart(twin: StackedTwin, state: dict, prefix: str, _: Any) -> None:
    """From hidden1.weight to first.hidden1.weight and second.hidden1.weight, and so on."""
    kinds: dict[str, Any] = {name: type(each) for name, each in twin.named_parameters()}
    stacked = {name: state.pop(prefix + name) for name in kinds}
    for i, critic in enumerate(CRITICS):
        for name, kind in kinds.items():
            state[f"{prefix}{critic}.{name}"] = kind.apart(stacked[name])[i]


def _put_together(twin: StackedTwin, state: dict, prefix: str, *_: Any) -> None:
    """The way back."""
    kinds: dict[str, Any] = {name: type(each) for name, each in twin.named_parameters()}
    for name, kind in kinds.items():
        names = [f"{prefix}{critic}.{name}" for critic in CRITICS]
        if all(each in state for each in names):  # torch says what is missing
            state[prefix + name] = kind.together(*map(state.pop, names))


def plain_pieces(parameters: Sequence[Any]) -> list[tuple[int, int | None]]:
    """Of which of these each parameter of the plain network is a piece: (number, half).

    In the plain network's order. `half` is 0 for the first critic, 1 for the second, and None for
    what is not stacked.
    """
    pieces: list[tuple[int, int | None]] = []
    for stacked, run in groupby(range(len(parameters)), lambda i: _is_stacked(parameters[i])):
        numbers, halves = list(run), (0, 1) if stacked else (None,)
        pieces += [(number, half) for half in halves for number in numbers]
    return pieces


def plain_shapes(parameters: Sequence[Any]) -> list[torch.Size]:
    """The shapes of the plain network's parameters."""
    return [
        (parameters[i] if half is None else parameters[i].apart(parameters[i])[half]).shape
        for i, half in plain_pieces(parameters)
    ]


def _is_stacked(parameter: Any) -> bool:
    return isinstance(parameter, Stacked)


class WideLinear(nn.Linear):
    """A linear layer whose products oneDNN computes: half the time of MKL's on an AMD processor."""

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)  # the layer's own weights, none drawn in addition
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        exported = torch.compiler.is_compiling()  # which cannot look into oneDNN's tensors
        if exported or x.dim() == 1 or len(x) < FEW_ROWS or x.dtype != torch.float32:
            return super().forward(x)
        return nn.functional.linear(x.to_mkldnn(), self.weight, self.bias).to_dense()
