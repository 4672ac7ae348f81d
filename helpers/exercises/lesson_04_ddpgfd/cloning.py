"""Lesson 04's baseline: exercise 4.2 `bc_loss`."""

from __future__ import annotations

import numpy as np

from helpers.agents.cloning import bc_loss
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.lesson_02_ddpg.losses import (
    SmallActor,
    floats,
    gives_tensors,
    leaves_networks_alone,
    same,
)
from helpers.exercises.observing import gradient, no_mutation

# --- What is looked at ----------------------------------------------------------------------------


def observe_bc_loss(function, actor, obs, action):
    loss, again = function(actor, obs, action), function(actor, obs, action)
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def bc_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size))
        obs, action = rng.normal(size=(size, obs_size)), rng.uniform(-1, 1, (size, action_dim))
        return actor, floats(obs), floats(action)

    one = SmallActor([[0.5]])
    return [
        Case((one, floats([[1.0]]), floats([[0.9]])), note="batch of one"),
        Case((one, floats([[1.0], [-2.0]]), floats([[0.2], [0.6]])), note="batch of two"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(4, 4, 4), note="as many action dimensions as observed numbers, and as steps"),
        Case(drawn(16, 2, 3)),
    ]


FROZEN = (
    "After your function the actor's weights are frozen (`requires_grad` is off), so it can never "
    "learn. Nothing needs freezing here."
)


BC_LOSS = exercise(
    __file__,
    "4.2",
    reference=bc_loss,
    cases=bc_cases,
    observe=observe_bc_loss,
    properties=[
        Property("freezes a network", leaves_networks_alone(bc_cases), FROZEN),
        gives_tensors(bc_cases),
        no_mutation(bc_cases, observe_bc_loss),
    ],
)
