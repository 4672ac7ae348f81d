"""Lesson 02's two networks: exercises 2.1 `DeterministicActor` and 2.2 `QNetwork`.

With weights that are the same for everybody, values and gradients tell how a network is built. How
it starts is a property, so that a wrong layout has its name whatever it starts with.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.checks.exercise import Case, Test
from helpers.exercises.observing import (
    fill_parameters,
    gradient,
    linear_layers,
    sizes_of,
    steady,
    what_runs,
)
from helpers.exercises.properties import Tests
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn

SIZES, OTHERS = "sizes of the linear layers", "other kinds of layers"
SMALL = 0.015  # five times the paper's bound: other small starts are right, too
TINY = 0.02  # torch's own start of a hidden layer with 16 inputs reaches 0.25


# --- What is looked at ----------------------------------------------------------------------------


def seen_from_outside(network: nn.Module, *inputs: torch.Tensor) -> dict | None:
    """Sizes, and outputs with weights that are the same for everybody."""
    if isinstance(network, nn.Module) and not list(network.parameters()):
        network(*inputs)  # where layers are names that are gone, this is an error of its own
        return {SIZES: "none that torch knows of", "output": None}
    if unknown_to_torch(network, *inputs):
        return {SIZES: "some that torch does not know of", "output": None}
    layers = layers_in_use(network, *inputs)
    fill_parameters(network, *inputs, first=layers)
    if layers:
        sort_columns(network, layers[0], *inputs)
    output = network(*inputs)
    if output is None:
        return None
    others = {type(x).__name__ for x in network.modules() if x is not network and is_another(x)}
    seen = {SIZES: sizes_of(layers), OTHERS: ", ".join(sorted(others)) or "none"}
    # With a layer of another kind the numbers depend on where it stands, and say no more than it.
    steadily = None if others else steady(output, *(network(*inputs) for _ in range(8)))
    return seen | {"output": steadily}


def is_another(module: nn.Module) -> bool:
    """Whether it is no linear layer and has weights of its own, or leaves things out by chance."""
    if isinstance(module, nn.Dropout):
        return True
    return not isinstance(module, nn.Linear) and any(True for _ in module.parameters(recurse=False))


def unknown_to_torch(
    network: nn.Module, *inputs: torch.Tensor, ask: Callable | None = None
) -> bool:
    """Whether linear layers run that are none of the network's: in a list, or made meanwhile."""
    known = {*network.modules()}
    ran = [module for module, _ in what_runs(network, *inputs, ask=ask)]
    return any(isinstance(x, nn.Linear) and x not in known for x in ran)


def layers_in_use(network: nn.Module, *inputs: torch.Tensor) -> list[nn.Linear]:
    """The linear layers in the order in which they first run, each once.

    Where the output depends on the weights of one that never runs, `forward` takes them out of the
    layers by itself: then it is all of these, as they were declared.
    """
    ran = list(dict.fromkeys(linear_layers(network, *inputs)))
    others = [x for x in network.modules() if isinstance(x, nn.Linear) and x not in ran]
    output = network(*inputs) if others else None
    found = [layer for layer in others if gradient(output, layer.weight) is not None]
    return [x for x in network.modules() if x in [*ran, *found]] if found else ran


@torch.no_grad()
def sort_columns(network: nn.Module, first: nn.Linear, *inputs: torch.Tensor) -> None:
    """Give the weights of the first layer to the inputs that they belong to.

    Whether the action stands before the observation or after it makes no difference to what a
    network can learn. So the columns follow the inputs, wherever the network put them.
    """
    arrived = [given[0] for module, given in what_runs(network, *inputs) if module is first]
    joined = torch.cat(inputs, dim=-1)
    wanted, *rows = (x.reshape(-1, x.shape[-1]) for x in (joined, *arrived))
    found = torch.cat(rows or [wanted])[: len(wanted)]  # row by row, too
    if wanted.shape == found.shape:
        same = (wanted.unsqueeze(-1) == found.unsqueeze(-2)).all(dim=0)
        if (same.sum(dim=0) == 1).all() and (same.sum(dim=1) == 1).all():
            first.weight.copy_(first.weight @ same.float())


# --- How a network starts -------------------------------------------------------------------------


def largest(parameter: torch.Tensor | None) -> float:
    return 0.0 if parameter is None else float(parameter.detach().abs().max())


def hidden_and_last(network: nn.Module, *inputs: torch.Tensor) -> tuple[list, list]:
    layers = layers_in_use(network, *inputs)
    return layers[:-1], layers[-1:]


def start_properties(sizes: tuple[int, ...], split: Callable = hidden_and_last) -> Tests:
    """Of a network with inputs of these sizes and two action dimensions, just made.

    `split(network, *inputs)` lists its hidden layers and its last ones.
    """

    def made(function, rng):
        return function(3, 2, 16), *(drawn(rng, 4, size) for size in sizes)

    def starts(holds: Callable) -> Test:
        return lambda function, rng: holds(*split(*made(function, rng)))

    def all_layers_learn(function, rng):
        network, *inputs = made(function, rng)
        fill_parameters(network, *inputs)
        output = sum(part.sum() for part in network(*inputs))
        return all(gradient(output, parameter) is not None for parameter in network.parameters())

    def small(parameter: str) -> Test:
        return starts(lambda _, last: all(largest(getattr(x, parameter)) <= SMALL for x in last))

    return {
        "weights of the last layer not small": small("weight"),
        "biases of the last layer not small": small("bias"),
        "weights of the last layer all 0": starts(
            lambda _, last: all(largest(x.weight) > 0 for x in last)
        ),
        "hidden layers next to 0": starts(
            lambda hidden, _: all(largest(x.weight) > TINY for x in hidden)
        ),
        "parameters without a part": all_layers_learn,
    }


def observe_actor(function, obs, action_dim, hidden):
    return seen_from_outside(function(obs.shape[-1], action_dim, hidden), obs)


def actor_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((drawn(rng, 1, 3), 1, 5), note="a batch of one, Pendulum's sizes"),
        Case((drawn(rng, 4, 3), 2, 5), note="four observations, two action dimensions"),
        Case((drawn(rng, 3), 1, 5), note="one observation without a batch, as while acting"),
        Case((drawn(rng, 6, 2), 1, 64), note="MountainCarContinuous' sizes"),
        Case((drawn(rng, 8, 5), 7, 16), note="more action dimensions than observed numbers"),
        Case((drawn(rng, 3, 2, 4), 5, 8), note="observations of shape (3, 2, 4)"),
    ]


DETERMINISTIC_ACTOR = exercise(
    __file__, "2.1", DeterministicActor, actor_cases, observe_actor,
    properties=start_properties((3,)),
)  # fmt: skip


def observe_critic(function, obs, action, hidden):
    network = function(obs.shape[-1], action.shape[-1], hidden)
    seen = seen_from_outside(network, obs, action)
    return seen and {**seen, "gradient to the action": gradient(seen["output"], action)}


def critic_cases(rng: np.random.Generator) -> list[Case]:
    """For one critic or a pair: three rows, so that no axis of two is taken for the pair."""

    def pair(rows: int, obs_size: int, action_dim: int) -> tuple[torch.Tensor, torch.Tensor]:
        return drawn(rng, rows, obs_size), drawn(rng, rows, action_dim).requires_grad_()

    return [
        Case((*pair(3, 3, 1), 5), note="three rows, Pendulum's sizes"),
        Case((*pair(1, 3, 1), 5), note="a batch of one"),
        Case((*pair(4, 2, 3), 8), note="more action dimensions than observed numbers"),
        Case((*pair(6, 4, 4), 64), note="as many action dimensions as observed numbers"),
        Case((*pair(7, 1, 2), 16), note="one observed number"),
    ]


Q_NETWORK = exercise(
    __file__, "2.2", QNetwork, critic_cases, observe_critic,
    properties=start_properties((3, 2)),
)  # fmt: skip
