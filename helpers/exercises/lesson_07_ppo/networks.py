"""Lesson 07's first weights: exercise 7.8, `orthogonal_init`."""

from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.algorithms.policies import orthogonal_init
from helpers.algorithms.reinforce import make_actor
from helpers.checks.exercise import Case
from helpers.exercises.observing import fill_parameters, linear_layers
from helpers.exercises.text import exercise


def observe_init(function, network: nn.Module, obs: torch.Tensor, output_gain: float) -> dict:
    """Of each layer: whether all singular values are alike, and then these, which are the gain."""
    before = {name: x.clone() for name, x in network.state_dict().items()}
    function(network, output_gain)
    seen: dict[str, Any] = {}
    layers = linear_layers(network, obs)
    for i, layer in enumerate(layers, start=1):
        name = "the last layer" if i == len(layers) else f"layer {i}"
        values = torch.linalg.svdvals(layer.weight.detach())
        alike = bool(values.max() - values.min() < 1e-4 * values.max())
        seen[f"answer to whether {name} is orthogonal"] = alike
        seen[f"gain of {name}"] = values.mean() if alike else None
        seen[f"biases of {name}"] = None if layer.bias is None else len(layer.bias)
        seen[f"answer to whether the biases of {name} are 0"] = zero(layer.bias)
    own = {id(parameter) for layer in layers for parameter in layer.parameters()}
    after = network.state_dict(keep_vars=True)
    same = {name: torch.equal(before[name], x) for name, x in after.items() if name in before}
    others = [same[name] for name, x in after.items() if name in same and id(x) not in own]
    seen["answer to whether a layer that is not linear has changed"] = not all(others)
    seen["answer to whether the network is as it was"] = all(same.values())
    return seen


def zero(biases: torch.Tensor | None) -> bool:
    return biases is None or not biases.any()


def init_cases(rng: np.random.Generator) -> list[Case]:
    def filled(network: nn.Module, obs_size: int) -> tuple[nn.Module, torch.Tensor]:
        obs = torch.ones(1, obs_size)
        return fill_parameters(network, obs), obs

    narrow = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 3))
    with_norm = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 2))
    nested = nn.Sequential(make_actor(3, 5, hidden=4), nn.ReLU(), nn.Linear(5, 2))
    return [
        Case((*filled(nn.Linear(3, 2), 3), 0.5), note="a single layer"),
        Case((*filled(make_actor(4, 2, hidden=8), 4), 0.01), note="an actor for CartPole"),
        Case((*filled(make_actor(3, 3, hidden=6), 3), 1.0), note="a gain of 1"),
        Case((*filled(nested, 3), 0.1), note="a network within a network"),
        Case((*filled(narrow, 6), 0.5), note="hidden layers that become narrower"),
        Case((*filled(with_norm, 3), 0.5), note="a LayerNorm, which is no linear layer"),
    ]


def anew(function, rng: np.random.Generator) -> bool:
    """Two networks get weights of their own."""
    one, other = (make_actor(6, 6, hidden=6) for _ in range(2))
    for network in (one, other):
        function(network, 1.0)
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return not any(torch.allclose(*pair) for pair in pairs if pair[0].ndim == 2)


def leaves_gradients_on(function, rng: np.random.Generator) -> bool:
    network = make_actor(3, 2, hidden=4)
    function(network, 1.0)
    return all(parameter.requires_grad for parameter in network.parameters())


def can_learn(function, rng: np.random.Generator) -> bool:
    network = make_actor(3, 2, hidden=4)
    known = [*network.parameters()]
    function(network, 1.0)
    network(torch.ones(1, 3)).sum().backward()
    return all(parameter.grad is not None for parameter in known)


ORTHOGONAL_INIT = exercise(
    __file__, "7.8", orthogonal_init, init_cases, observe_init,
    properties={
        "every network the same": anew,
        "frozen": leaves_gradients_on,
        "weights without a gradient": can_learn,
    },
)  # fmt: skip
