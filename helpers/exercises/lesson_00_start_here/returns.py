"""Lesson 00, Start here: one exercise to warm up, `discounted_returns`."""

from copy import deepcopy

import numpy as np

from helpers.agents.returns import discounted_returns
from helpers.checks.compare import differences, snapshot
from helpers.checks.exercise import Case
from helpers.exercises.properties import Cases, Tests, no_mutation, on_every_case
from helpers.exercises.text import exercise


def keeps_decimals(cases: Cases) -> Tests:
    """Rewards that are whole numbers are treated as the same numbers in floats.

    A property and not a case: `np.zeros_like(rewards)` may stand beside any other mistake.
    """

    def holds(function, case):
        def given(kind):
            rewards, *rest = deepcopy(case.args)
            return snapshot(function(np.round(rewards).astype(kind), *rest))

        return not differences(given(float), given(int))

    return {"whole numbers": on_every_case(cases, holds)}


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
