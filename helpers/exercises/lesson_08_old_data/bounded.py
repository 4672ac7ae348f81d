"""Lesson 08's critic with LayerNorm: exercises 8.3 `NormedQNetwork` and 8.4 `value_bound`."""

import numpy as np

from helpers.algorithms.after_2018 import value_bound
from helpers.algorithms.rlpd import NormedQNetwork
from helpers.checks.exercise import Case
from helpers.exercises.lesson_02_ddpg.networks import (
    critic_cases,
    layers_in_use,
    sort_columns,
    start_properties,
)
from helpers.exercises.observing import fill_parameters, gradient, size_of, steady
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn, floats

SIZES = "sizes of the linear layers"


def observe_network(function, obs, action, hidden):
    network = function(obs.shape[-1], action.shape[-1], hidden)
    layers = layers_in_use(network, obs, action)
    fill_parameters(network, obs, action, first=layers)
    if layers:
        sort_columns(network, layers[0], obs, action)
    output = network(obs, action)
    if output is None:
        return None
    return {
        SIZES: ", ".join(map(size_of, layers)) or "none that torch knows of",
        "output": steady(output, network(obs, action)),
        "output far away": network(100 * obs, 100 * action),
        "gradient to the action": gradient(output, action),
    }


def has_the_names(function, rng):
    """Later cells read these: `value_bound`, and the check of the bound."""
    network = function(3, 2, 4)
    return all(hasattr(network, name) for name in ("norm1", "norm2", "output"))


NORMED_Q_NETWORK = exercise(
    __file__, "8.3", NormedQNetwork, critic_cases, observe_network,
    properties=start_properties((3, 2)) | {"other names": has_the_names},
)  # fmt: skip


def bound_cases(rng: np.random.Generator) -> list[Case]:
    def network(
        hidden: int, scale: float = 0.0, shift: float = 0.0, sign: int = 1
    ) -> NormedQNetwork:
        made = NormedQNetwork(2, 1, hidden)
        fill_parameters(made, drawn(rng, 3, 2), drawn(rng, 3, 1), seed=int(rng.integers(1000)))
        for norm in (made.norm1, made.norm2):
            norm.weight.data = floats(sign * (1 + scale * rng.normal(size=hidden)))
            norm.bias.data = floats(shift * rng.normal(size=hidden))
        return made

    return [
        Case((network(4),), note="scale 1 and shift 0, as it starts"),
        Case((network(64),), note="64 units"),
        Case((network(9, scale=0.5),), note="a scale that was learned"),
        Case((network(9, scale=0.5, sign=-1),), note="a scale below 0"),
        Case((network(16, shift=1.5),), note="a shift that was learned"),
        Case((network(25, scale=0.8, shift=0.7),), note="both"),
    ]


VALUE_BOUND = exercise(
    __file__, "8.4", value_bound, bound_cases,
    lambda function, network: float(function(network)), properties=no_mutation(bound_cases),
)  # fmt: skip
