"""Tools for authors of exercises: ways to look at what a student's function does."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.checks.compare import ANOTHER


def gradient(output: Any, into: torch.Tensor) -> torch.Tensor | None:
    """The gradient of `output.sum()` with respect to the tensor `into`; None where none flows.

    Can be asked again for the same output. `into` must have had `requires_grad` set before the
    function ran.
    """
    if not (isinstance(output, torch.Tensor) and output.requires_grad and into.requires_grad):
        return None
    return torch.autograd.grad(output.sum(), into, retain_graph=True, allow_unused=True)[0]


def asked(function: Callable, *args: Any) -> Any:
    """What a function returns for clones of its tensors: in a lesson, too, they were computed."""
    return function(*(x.clone() if isinstance(x, torch.Tensor) else x for x in args))


def with_gradients(name: str, output: Any, into: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """An output under its name, and its gradients to what is named in `into`."""
    return {name: output} | {f"gradient to {n}": gradient(output, x) for n, x in into.items()}


def fill_parameters(
    network: nn.Module, *inputs: torch.Tensor, seed: int = 0, first: Sequence[nn.Module] = ()
) -> nn.Module:
    """Give a network known weights, the same for every right way to build it.

    Two right networks draw different initial weights and may declare their layers in another
    order. So `network(*inputs)` runs once, and the layers are filled in the order in which they
    ran, those in `first` before all others. Returns the network.
    """
    order: list[nn.Module] = []
    hooks = [
        module.register_forward_pre_hook(lambda module, _: order.append(module))
        for module in network.modules()
    ]
    with torch.no_grad():
        network(*inputs)
    for hook in hooks:
        hook.remove()
    rng = np.random.default_rng(seed)
    for module in dict.fromkeys([*first, *order, *network.modules()]):
        for parameter in module.parameters(recurse=False):
            bound = 1 / sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 1.0
            values = rng.uniform(-bound, bound, size=tuple(parameter.shape))
            parameter.data.copy_(torch.as_tensor(values))
    return network


def linear_layers(
    network: nn.Module, *inputs: torch.Tensor, ask: Callable | None = None
) -> list[nn.Linear]:
    """The linear layers in the order in which they run, however the network keeps them.

    They run for `network(*inputs)`, or for `ask(*inputs)`: one of its other methods.
    """
    ran: list[nn.Linear] = []
    hooks = [
        module.register_forward_pre_hook(lambda module, _: ran.append(module))
        for module in network.modules()
        if isinstance(module, nn.Linear)
    ]
    try:
        with torch.no_grad():
            (ask or network)(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return ran


def sizes_of(layers: list[nn.Linear]) -> str:
    """As "3 -> 64, 64 -> 1"."""
    return ", ".join(f"{x.weight.shape[1]} -> {x.weight.shape[0]}" for x in layers) or "none"


def call_twice(function: Callable, *args: Any) -> Any:
    """What a function returns; a word for it where another call gives other numbers."""
    again = function(*deepcopy(args))
    return steady(function(*args), again)


def steady(first: Any, *again: Any) -> Any:
    """The first of several outputs, unless one of the others is another tensor."""

    def other(each: Any) -> bool:
        both = isinstance(first, torch.Tensor) and isinstance(each, torch.Tensor)
        return both and not torch.equal(first.nan_to_num(), each.nan_to_num())

    return ANOTHER if any(map(other, again)) else first


def raises(kind: type[BaseException], function: Callable, *args: Any) -> bool:
    """Whether a call stops with such an error."""
    try:
        function(*args)
    except kind:
        return True
    return False
