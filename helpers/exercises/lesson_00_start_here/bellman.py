"""Lesson 00: the Bellman equation as code, with a bug to find."""

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise


def bellman_targets(
    rewards: np.ndarray,
    next_values: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    gamma: float,
) -> np.ndarray:
    """What each of T steps was worth by the Bellman equation: r + gamma V(s'), shape (T,).

    `rewards` and `next_values` (T,): V of the observation after each step. `terminated` and
    `truncated` (T,) booleans. Source: Sutton & Barto 2018, equation 3.14.
    """
    # 1. After a termination there is no future; after a truncation there is.
    goes_on = ~terminated
    # 2. The value of that future, seen from one step before.
    future = gamma * goes_on * next_values
    # 3. What the step earned, and what follows.
    return rewards + future


def target_cases(rng: np.random.Generator) -> list[Case]:
    """Each of the flags alone, both at once, and neither."""

    def case(terminated: list[bool], truncated: list[bool], gamma: float, note: str) -> Case:
        rewards, values = rng.normal(size=(2, len(terminated))).round(2) + 3
        return Case((rewards, values, np.array(terminated), np.array(truncated), gamma), note=note)

    return [
        case([False], [False], 0.9, "a step in the middle of an episode"),
        case([True], [False], 0.9, "the pole falls"),
        case([False], [True], 0.9, "the time limit"),
        case([True], [True], 0.9, "the pole falls at the time limit"),
        case([False, False, True, False], [False, True, False, False], 0.5, "four steps"),
        case([False, True], [False, False], 0.0, "gamma 0, where only the next reward counts"),
    ]


BELLMAN_TARGETS = exercise(
    __file__, "0.2", bellman_targets, target_cases, properties=no_mutation(target_cases)
)
