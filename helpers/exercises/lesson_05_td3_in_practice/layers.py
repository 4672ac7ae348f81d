"""Lesson 05's network of any depth: exercise 5.5 `hidden_layers`.

With weights that are the same for everybody, values tell where the normalisation stands: its own
weights count like any other's.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from helpers.agents.layers import hidden_layers
from helpers.checks.exercise import Case
from helpers.exercises.observing import fill_parameters, linear_layers, sizes_of
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn

NETWORK = "a network"


def observe_layers(function, x, sizes, layer_norm):
    """The default of `layer_norm` where it is None."""
    asked = [] if layer_norm is None else [layer_norm]
    network = function(x.shape[-1], sizes, *asked)
    if network is None:
        return None
    form = form_of(network)
    if form != NETWORK:
        return {"form of the result": form, "linear layers": None, "output": None}
    fill_parameters(network, x)
    layers = sizes_of(linear_layers(network, x))
    return {"form of the result": form, "linear layers": layers, "output": network(x)}


def form_of(network) -> str:
    if isinstance(network, nn.ModuleList):
        return "a ModuleList"
    if isinstance(network, nn.Module):
        return NETWORK if list(network.parameters()) else "a network without parameters"
    return f"something of type {type(network).__name__}"


def layer_cases(rng: np.random.Generator) -> list[Case]:
    rows = partial(drawn, rng)
    return [
        Case((rows(3, 2), [4], None), note="one hidden layer, nothing said of normalisation"),
        Case((rows(3, 2), [4], True), note="one hidden layer with normalisation"),
        Case((rows(1, 4), (4, 4), False), note="two layers of four without, a batch of one"),
        Case((rows(2, 4), (4, 4), True), note="two layers of four with normalisation"),
        Case((20 * rows(5, 3), [8, 6, 4], False), note="three layers, each smaller, without"),
        Case((rows(5, 3), [8, 6, 4], True), note="three layers, each smaller, with normalisation"),
        Case((rows(3), [5, 7], True), note="a single observation, without the axis of a batch"),
        Case((rows(2, 3, 4), [6, 5], True), note="a batch with two axes"),
    ]


# --- What values of one network cannot show -------------------------------------------------------


def a_new_network_each_time(function, rng):
    one, other = function(3, [8, 8], True), function(3, [8, 8], True)
    mine = {id(parameter) for parameter in one.parameters()}
    return not any(id(parameter) in mine for parameter in other.parameters())


def another_start_each_time(function, rng):
    starts = []
    for seed in (1, 2):  # torch's own stream stands where an agent's seed has put it
        torch.default_generator.manual_seed(seed)
        found = linear_layers(function(3, [8], True), torch.zeros(1, 3))
        if not found:
            return True  # a network in which none can be found says nothing of its start
        starts.append(found[0].weight)
    return not torch.equal(*starts)


HIDDEN_LAYERS = exercise(
    __file__, "5.5", hidden_layers, layer_cases, observe_layers,
    properties={
        "two calls share weights": a_new_network_each_time,
        "the same start every time": another_start_each_time,
    },
)  # fmt: skip
