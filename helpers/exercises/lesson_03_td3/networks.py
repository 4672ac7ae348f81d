"""Lesson 03's pair of critics: exercise 3.1 `TwinQNetwork`.

A layer belongs to a critic if that critic's output depends on it, whatever the layer is called and
in whatever order the layers run. All versions then get the same weights, so that values and
gradients can be compared. The initial weights are checked by properties.
"""

from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.algorithms.td3 import TwinQNetwork
from helpers.exercises.lesson_02_ddpg.networks import (
    SMALL,
    TINY,
    critic_cases,
    largest,
    sort_columns,
    unknown_to_torch,
)
from helpers.exercises.observing import (
    draw_weights,
    fill_parameters,
    gradient,
    linear_layers,
    sizes_of,
)
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn

# --- What is looked at ----------------------------------------------------------------------------


FORM, FORM_OF_Q1 = "form of the output of `forward`", "form of the output of `q1`"
ONE, TWO = "a tensor (B,)", "two parts: a tensor (B,), a tensor (B,)"


def observe_twin(function, obs, action, hidden):
    network = function(obs.shape[-1], action.shape[-1], hidden)
    try:
        seen = seen_from_outside(network, obs, action)
    except RecursionError:  # its text depends on how deep it was
        seen = {FORM: "none: the recursion does not end"}
    return seen and {part: seen.get(part, "not looked at") for part in PARTS}


PARTS = (
    FORM,
    "layers on which both values depend",
    "layers on which the first value depends",
    "layers on which the second value depends",
    "values of the first critic",
    "values of the second critic",
    "gradient of the first critic with respect to the action",
    "gradient of the second critic with respect to the action",
    FORM_OF_Q1,
    "layers that run in `q1`",
    "values of `q1`",
    "gradient of `q1` with respect to the action",
)


def seen_from_outside(network: Any, obs: torch.Tensor, action: torch.Tensor) -> dict | None:
    """Those of the PARTS that can be observed."""
    if isinstance(network, nn.Module) and not list(network.parameters()):
        return {FORM: f"not examined: {without_parameters(network, obs, action)}"}
    if isinstance(network, nn.Module) and unknown_to_torch(network, obs, action):
        return {FORM: "not examined: some layers are unknown to torch"}
    given = network(obs, action)
    if given is None:
        return None
    form = described(given, len(obs))
    if form != TWO:
        return {FORM: form}
    first, second = chains(network, obs, action)
    common = [layer for layer in first if layer in second]
    fill(network, (first, second), obs, action)
    one, other = network(obs, action)
    network(obs + 1, action)  # so that `q1` cannot return what `forward` computed last
    alone = network.q1(obs, action) if hasattr(network, "q1") else None
    form_of_q1 = described(alone, len(obs)) if hasattr(network, "q1") else "no such method"
    seen = (
        form,
        *(sizes_of(layers) for layers in (common, first, second)),
        *(one, other, gradient(one, action), gradient(other, action)),
        form_of_q1,
        "others" if alone is not None and runs_others(network, obs, action) else "the critics' own",
        *(alone if form_of_q1 == ONE else None, gradient(alone, action)),
    )
    return dict(zip(PARTS, seen, strict=True))


def without_parameters(network: nn.Module, obs: torch.Tensor, action: torch.Tensor) -> str:
    try:
        network(obs, action)
    except (NameError, AttributeError):
        return "the network does not find its layers"
    return "the network has no parameters"


def runs_others(network: nn.Module, *inputs: torch.Tensor) -> bool:
    """Whether layers run in `q1` that do not in `forward`."""
    q1: Any = network.q1
    asked = {*linear_layers(network, *inputs, ask=q1)}
    return unknown_to_torch(network, *inputs, ask=q1) or bool(
        asked - {*linear_layers(network, *inputs)}
    )


def described(given, rows: int) -> str:
    """The form of an output, with "B" for the number of rows."""
    if isinstance(given, torch.Tensor) and given.shape == (2, rows):
        given = tuple(given)  # can be taken apart like a pair
    if isinstance(given, torch.Tensor):
        shape = "".join(f"{'B' if size == rows else size}, " for size in given.shape)
        kind = "" if given.dtype == torch.float32 else f" of {given.dtype}".replace("torch.", "")
        return f"a tensor ({shape[:-1] if given.ndim == 1 else shape[:-2]}){kind}"
    if isinstance(given, tuple | list):
        return f"{'two' if len(given) == 2 else len(given)} parts: " + ", ".join(
            described(part, rows) for part in given
        )
    return f"an object of type {type(given).__name__}"


def chains(network: nn.Module, *inputs: torch.Tensor) -> tuple[list[nn.Linear], ...]:
    """For each of the two values the linear layers that it depends on, in the order they run in.

    For a moment all weights and inputs are positive, so that no ReLU keeps a gradient back.
    """
    ran = list(dict.fromkeys(linear_layers(network, *inputs)))
    parameters = [parameter for layer in ran for parameter in layer.parameters()]
    before = [parameter.detach().clone() for parameter in parameters]
    for parameter in parameters:
        parameter.data.fill_(1 / parameter.shape[-1])
    values = network(*(x.detach().abs() for x in inputs))
    found = tuple([layer for layer in ran if depends(value, layer)] for value in values)
    for parameter, old in zip(parameters, before, strict=True):
        parameter.data.copy_(old)
    return found


def depends(value: torch.Tensor, layer: nn.Linear) -> bool:
    slope = gradient(value, layer.weight)
    return slope is not None and bool(slope.any())


def fill(network: nn.Module, both: tuple, *inputs: torch.Tensor) -> None:
    """Give each critic known weights, the same for every right way to build the pair."""
    fill_parameters(network, *inputs)
    for number, layers in enumerate(both):
        draw_weights(layers, np.random.default_rng(number))
    for layer in dict.fromkeys(layers[0] for layers in both if layers):
        sort_columns(network, layer, *inputs)


# --- How a pair starts ----------------------------------------------------------------------------


def new_pair(function, rng) -> tuple[TwinQNetwork, tuple, list[torch.Tensor]]:
    inputs = [drawn(rng, 4, 3), drawn(rng, 4, 2)]
    network = function(3, 2, 16)
    return network, chains(network, *inputs), inputs


def starts_differ(function, rng):
    _, (first, second), _ = new_pair(function, rng)
    pairs = zip(first, second, strict=False)
    return not any(
        torch.equal(one.weight, other.weight) for one, other in pairs if one is not other
    )


def starts_unrelated(function, rng):
    _, (first, second), _ = new_pair(function, rng)
    layers = zip(first[:-1], second[:-1], strict=False)  # the last layer has few weights
    pairs = [(one.weight, other.weight) for one, other in layers if one is not other]
    return not any(alike(*pair) for pair in pairs if pair[0].shape == pair[1].shape)


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether weights equal others up to sign, scale and a little noise."""
    both = torch.stack([one.detach().flatten(), other.detach().flatten()])
    return bool(torch.corrcoef(both)[0, 1].abs() > 0.7)


def another_start_every_time(function, rng):
    """Torch's own random stream is seeded as an agent would seed it."""

    def born(seed: int) -> tuple[torch.Tensor, ...]:
        torch.default_generator.manual_seed(seed)
        _, both, _ = new_pair(function, np.random.default_rng(0))
        return tuple(layers[0].weight for layers in both)

    pairs = zip(born(1), born(2), strict=True)  # a network of zeros is another mistake
    return not any(torch.equal(one, other) and bool(one.any()) for one, other in pairs)


def hidden_layers_start_large(function, rng):
    _, both, _ = new_pair(function, rng)
    return all(largest(layer.weight) > TINY for layers in both for layer in layers[:-1])


def q1_asks_one(function, rng):
    network, (first, _), inputs = new_pair(function, rng)
    asked = linear_layers(network, *inputs, ask=network.q1)
    return len({layer in first for layer in asked}) < 2  # the second alone shows in the values


def last_layers_small(function, rng):
    _, both, _ = new_pair(function, rng)
    parameters = [p for layers in both for p in layers[-1].parameters()]
    return all(largest(parameter) <= SMALL for parameter in parameters)


def every_parameter_has_a_part(function, rng):
    network, _, inputs = new_pair(function, rng)
    fill_parameters(network, *inputs)
    one, other = network(*inputs)
    return all(gradient(one + other, p) is not None for p in network.parameters())


TWIN_Q_NETWORK = exercise(
    __file__, "3.1", TwinQNetwork, critic_cases, observe_twin,
    properties={
        "both start alike": starts_differ,
        "both start nearly alike": starts_unrelated,
        "the same start every time": another_start_every_time,
        "a hidden layer next to 0": hidden_layers_start_large,
        "q1 asks both critics": q1_asks_one,
        "a last layer not small": last_layers_small,
        "parameters without a part": every_parameter_has_a_part,
    },
)  # fmt: skip
