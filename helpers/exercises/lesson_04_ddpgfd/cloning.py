"""Lesson 04's baseline: exercise 4.2 `bc_loss`."""

import numpy as np

from helpers.algorithms.cloning import bc_loss
from helpers.checks.exercise import Case
from helpers.exercises.observing import call_twice, gradients_to
from helpers.exercises.properties import is_a_loss, leaves_no_gradients
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, floats, random_actor


def bc_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        actor = random_actor(rng, obs_size, action_dim)
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


BC_LOSS = exercise(
    __file__, "4.2", bc_loss, bc_cases, gradients_to({"the actor": 0}, call_twice),
    properties=is_a_loss(bc_cases) | leaves_no_gradients(bc_cases),
)  # fmt: skip
