"""Lesson 01's two networks: exercises 1.1 `make_actor` and 1.4 `make_critic`."""

import numpy as np
import torch
from torch import nn

from helpers.algorithms.reinforce import make_actor, make_critic
from helpers.checks.exercise import Case
from helpers.exercises.observing import fill_parameters, gradient, linear_layers, raises, sizes_of
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn

EXTRAS = (nn.Dropout, nn.LayerNorm, nn.BatchNorm1d)


def units_alike(layer: nn.Linear) -> bool:
    """Whether all units start with the same weights: they would stay the same for ever."""
    return len(layer.weight) > 1 and bool((layer.weight == layer.weight[:1]).all())


def seen_from_outside(network: nn.Module, obs: torch.Tensor) -> dict:
    """The layers, as "4 -> 64, 64 -> 64, 64 -> 2", and what comes out with everybody's weights.

    Of a network with a layer of another kind nothing but this: wherever it stands, and however
    strong it is, it is one mistake.
    """
    for layer in network.modules():
        if isinstance(layer, EXTRAS):
            return {"layer of another kind": type(layer).__name__}
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    takes = [layer.in_features for layer in layers]
    given = [obs.shape[-1], *(layer.out_features for layer in layers[:-1])]
    if raises(RuntimeError, network, obs) and sorted(takes) != sorted(given):
        chain = sizes_of(layers)
        raise ValueError(
            f"an observation of {given[0]} numbers cannot pass the layers {chain} "
            "(inputs -> outputs)"
        )
    started_alike = sum(map(units_alike, linear_layers(network, obs)[:-1]))
    fill_parameters(network, obs)
    ran = linear_layers(network, obs)
    output = network(obs)
    trainable = [each for each in network.parameters() if each.requires_grad]
    return {
        "number of linear layers": len(ran),
        "widths of the hidden layers": ", ".join(str(layer.out_features) for layer in ran[:-1]),
        "chain of linear layers": sizes_of(ran),
        "number of hidden layers whose units all start alike": started_alike,
        "output": output,
        "number of parameters": sum(each.numel() for each in network.parameters()),
        "number of parameters that a gradient reaches": sum(
            each.numel() for each in trainable if gradient(output, each) is not None
        ),
    }


def observe_actor(function, obs, n_outputs, hidden):
    return seen_from_outside(function(obs.shape[-1], n_outputs, hidden), obs)


def actor_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((drawn(rng, 1, 3), 2, 5), note="one observation"),
        Case((drawn(rng, 6, 4), 2, 64), note="CartPole's sizes"),
        Case((drawn(rng, 6, 3), 4, 8), note="more actions than observed numbers"),
        Case((drawn(rng, 6, 2), 1, 16), note="one output, as for a single torque"),
        Case((10_000 * drawn(rng, 4, 3), 2, 5), note="huge observations"),
    ]


MAKE_ACTOR = exercise(__file__, "1.1", make_actor, actor_cases, observe_actor)


def observe_critic(function, obs, hidden):
    return seen_from_outside(function(obs.shape[-1], hidden), obs)


def critic_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((drawn(rng, 1, 3), 5), note="one observation"),
        Case((drawn(rng, 2, 3), 5), note="a batch of two"),
        Case((drawn(rng, 6, 4), 64), note="CartPole's sizes"),
        Case((drawn(rng, 6, 2), 16), note="another width"),
        Case((drawn(rng, 8, 8), 8), note="as many hidden units as observed numbers"),
        Case(
            (drawn(rng, 6, 4).reshape(3, 2, 4), 8),
            note="three steps of two environments, (3, 2, 4)",
        ),
        Case((10_000 * drawn(rng, 4, 3), 5), note="huge observations"),
    ]


MAKE_CRITIC = exercise(__file__, "1.4", make_critic, critic_cases, observe_critic)
