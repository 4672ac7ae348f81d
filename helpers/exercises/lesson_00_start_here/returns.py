"""Lesson 00, Start here: the first exercise, `discounted_returns`."""

import numpy as np

from helpers.algorithms.reinforce import discounted_returns
from helpers.checks.exercise import Case
from helpers.exercises.properties import keeps_decimals, no_mutation
from helpers.exercises.text import exercise


def return_cases(rng: np.random.Generator) -> list[Case]:
    """Episodes: one step, the two extreme discounts, losses, a long one."""
    return [
        Case((np.array([2.0]), 0.9), note="an episode of one step"),
        Case((np.array([1.0, 2.0, 3.0]), 0.5), note="three steps"),
        Case((np.array([1.0, 2.0, 3.0]), 0.0), note="gamma 0, where only the next reward counts"),
        Case((np.array([1.0, 2.0, 3.0]), 1.0), note="gamma 1, where nothing is discounted"),
        Case((np.array([0.0, 0.0, 0.0, 1.0]), 0.9), note="one reward, at the end"),
        Case((-rng.uniform(0, 16, size=6), 0.95), note="costs, that is negative rewards"),
        Case((rng.normal(size=200), 0.99), note="a long episode"),
    ]


DISCOUNTED_RETURNS = exercise(
    __file__, "0.1", discounted_returns, return_cases,
    properties=no_mutation(return_cases) | keeps_decimals(return_cases),
)  # fmt: skip
