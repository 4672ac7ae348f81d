"""Tools for authors of exercises: ways to look at what a student's function does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.checks.compare import differences, snapshot
from helpers.checks.exercise import Case, Property, as_case, call


def gradient(output: Any, into: torch.Tensor) -> torch.Tensor | None:
    """The gradient of `output.sum()` with respect to the tensor `into`; None where none flows.

    Can be asked again for the same output. `into` must have had `requires_grad` set before the
    function ran.
    """
    if not (isinstance(output, torch.Tensor) and output.requires_grad):
        return None
    return torch.autograd.grad(output.sum(), into, retain_graph=True, allow_unused=True)[0]


def fill_parameters(network: nn.Module, *inputs: torch.Tensor, seed: int = 0) -> nn.Module:
    """Give a network known weights, the same for every right way to build it.

    Two right networks draw different initial weights and may declare their layers in another
    order. So `network(*inputs)` runs once, and the layers are filled in the order in which they
    ran. Returns the network.
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
    for module in dict.fromkeys([*order, *network.modules()]):
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


def no_mutation(
    cases: Callable[[np.random.Generator], Sequence[tuple | Case]],
    observe: Callable[..., Any] = call,
    message: str = "Your function changes the arrays that it was given: its caller still "
    "needs them as they were. Work on a copy, or build a new array.",
) -> Property:
    """The property that a function leaves its inputs as they were, on every case."""

    def leaves_inputs_alone(function: Callable, rng: np.random.Generator) -> bool:
        for case in map(as_case, cases(rng)):
            before = snapshot(deepcopy((case.args, dict(case.kwargs))))
            observe(function, *case.args, **case.kwargs)
            after = snapshot((case.args, dict(case.kwargs)))
            if differences(before, after, rtol=0, atol=0):
                return False
        return True

    return Property("changes its inputs", leaves_inputs_alone, message)
