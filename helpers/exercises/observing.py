"""Tools for authors of exercises: ways to look at what a student's function does."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import call


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


def values(given: Any) -> np.ndarray:
    """A copy of somebody's numbers, whatever they were given as."""
    if isinstance(given, torch.Tensor):
        given = given.detach().numpy()
    return np.array(given, dtype=float)


def kind_of(given: Any) -> str:
    """As "tensor (4, 1) float32"."""
    kind = "tensor" if isinstance(given, torch.Tensor) else type(given).__name__
    shape = f" {tuple(given.shape)}" if hasattr(given, "shape") else ""
    return f"{kind}{shape} {str(getattr(given, 'dtype', '')).removeprefix('torch.')}".strip()


def gradients_to(
    into: Mapping[str, int], ask: Callable[..., Any] = call, name: str = "loss"
) -> Callable[..., dict[str, Any]]:
    """To observe an output by its value, under a name, and by its gradients to some arguments.

    `into` are names of these and their places; of a network it is the gradient to its `weights`.
    """

    def observe(function: Callable, *args: Any) -> dict[str, Any]:
        output = ask(function, *args)
        tensors = {each: getattr(args[i], "weights", args[i]) for each, i in into.items()}
        return {name: output} | {
            f"gradient to {each}": gradient(output, tensor) for each, tensor in tensors.items()
        }

    return observe


def what_runs(
    network: nn.Module, *inputs: torch.Tensor, ask: Callable | None = None
) -> list[tuple[nn.Module, tuple]]:
    """The modules that run, in order, and what each is given; also those in no list of `network`.

    They run for `network(*inputs)`, or for `ask(*inputs)`: one of its other methods.
    """
    ran: list[tuple[nn.Module, tuple]] = []
    hook = register_module_forward_pre_hook(lambda *both: ran.append(both))
    try:
        with torch.no_grad():
            (ask or network)(*inputs)
    finally:
        hook.remove()
    return ran


def fill_parameters(
    network: nn.Module, *inputs: torch.Tensor, seed: int = 0, first: Sequence[nn.Module] = ()
) -> nn.Module:
    """Give a network known weights, the same for every right way to build it.

    Two right networks draw different initial weights and may declare their layers in another
    order. So the layers are filled in the order in which they run for `network(*inputs)`, those in
    `first` before all others. Returns the network.
    """
    known = list(network.modules())
    order = [module for module, _ in what_runs(network, *inputs) if module in known]
    draw_weights([*first, *order, *known], np.random.default_rng(seed))
    return network


def draw_weights(modules: Sequence[nn.Module], rng: np.random.Generator) -> None:
    """Give the parameters of each module, not those of its parts, numbers of a usual size."""
    for module in dict.fromkeys(modules):
        for parameter in module.parameters(recurse=False):
            bound = 1 / sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 1.0
            values = rng.uniform(-bound, bound, size=tuple(parameter.shape))
            parameter.data.copy_(torch.as_tensor(values))


def linear_layers(
    network: nn.Module, *inputs: torch.Tensor, ask: Callable | None = None
) -> list[nn.Linear]:
    """The network's linear layers in the order in which they run, however it keeps them."""
    known = {*network.modules()}
    ran = [module for module, _ in what_runs(network, *inputs, ask=ask)]
    return [each for each in ran if isinstance(each, nn.Linear) and each in known]


def size_of(layer: nn.Linear) -> str:
    """As "4 -> 64"."""
    outputs, inputs = layer.weight.shape
    return f"{inputs} -> {outputs}" + " without a bias" * (layer.bias is None)


def sizes_of(layers: list[nn.Linear]) -> str:
    """As "3 -> 64, 64 -> 1"."""
    return ", ".join(map(size_of, layers)) or "none"


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
