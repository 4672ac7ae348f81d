"""Lesson 01's rollouts: exercises 1.6 `bootstrapped_returns` and 1.7 `gae`."""

import numpy as np

from helpers.algorithms.a2c import gae
from helpers.algorithms.reinforce import bootstrapped_returns
from helpers.checks.exercise import Case
from helpers.exercises.properties import keeps_decimals, no_mutation
from helpers.exercises.text import exercise


def bootstrap_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((np.array([1.0]), 10.0, 0.5), note="an episode of one step"),
        Case((np.array([1.0, 3.0, 2.0]), 16.0, 0.5), note="three steps, cut off"),
        Case((np.array([1.0, 3.0, 2.0]), 0.0, 0.5), note="three steps, terminated"),
        Case((np.array([1.0, 2.0, 3.0]), 10.0, 0.0), note="gamma 0, the next reward only"),
        Case((np.array([1.0, 2.0, 3.0]), 10.0, 1.0), note="gamma 1, nothing is discounted"),
        Case((-rng.uniform(0, 16, size=6), -55.5, 0.95), note="costs, and a bad future"),
        Case((rng.normal(size=100), 3.7, 0.99), note="a long episode"),
    ]


BOOTSTRAPPED_RETURNS = exercise(
    __file__, "1.6", bootstrapped_returns, bootstrap_cases,
    properties=no_mutation(bootstrap_cases) | keeps_decimals(bootstrap_cases),
)  # fmt: skip


def one(rewards, values, terminated=None, truncated=None) -> tuple:
    """One environment; `terminated` and `truncated` are the step where it happens.

    `values` has one number more: the last is V of what the last step led to.
    """
    flags = np.zeros((2, len(rewards), 1), dtype=bool)
    for flag, step in zip(flags, (terminated, truncated), strict=True):
        if step is not None:
            flag[step] = True
    now, later = np.array(values[:-1], dtype=float), np.array(values[1:], dtype=float)
    later[flags.any(axis=(0, 2))] += 3  # of the episode that ended, not of the next one
    columns = [np.array(each, dtype=float)[:, None] for each in (rewards, now, later)]
    return *columns, *flags, 0.5, 0.8  # gamma and lambda


def gae_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(steps: int, envs: int, gamma: float, lam: float) -> tuple:
        terminated, truncated = rng.random((2, steps, envs)) < 0.2
        rewards = rng.normal(size=(steps, envs)).astype(np.float32)
        values = rng.normal(size=(steps + 1, envs)).astype(np.float32)
        last = rng.normal(size=(steps, envs)).astype(np.float32)
        later = np.where(terminated | truncated, last, values[1:])
        return rewards, values[:-1], later, terminated, truncated, gamma, lam

    flags = np.array([[True, False]])
    two_ends = (
        np.ones((1, 2)), np.full((1, 2), 2.0), np.full((1, 2), 4.0), flags, ~flags, 0.5, 0.8
    )  # fmt: skip
    return [
        Case(one([1], [2, 4]), note="one step, nothing ended"),
        Case(one([1], [2, 4], terminated=0), note="one step, terminated"),
        Case(one([1], [2, 4], truncated=0), note="one step, truncated"),
        Case(one([1, 2, 3], [4, 6, 8, 10]), note="three steps, nothing ended"),
        Case(one([1, 2, 5, 3], [4, 6, 8, 5, 7], terminated=1), note="terminated at step 1"),
        Case(one([1, 2, 5, 3], [4, 6, 8, 5, 7], truncated=1), note="truncated at step 1"),
        Case(
            one([1, 2, 5, 3], [4, 6, 8, 5, 7], terminated=1, truncated=1),
            note="terminated and truncated, both at step 1",
        ),
        Case(two_ends, note="one step of two environments, one terminated, one truncated"),
        Case(drawn(5, 3, 0.9, 0.0), note="lambda 0, where only the TD error counts"),
        Case(drawn(5, 3, 0.9, 1.0), note="lambda 1, where the critic is a baseline only"),
        Case(drawn(32, 8, 0.99, 0.95), note="a rollout of eight environments"),
    ]


GAE = exercise(
    __file__, "1.7", gae, gae_cases,
    properties=no_mutation(gae_cases) | keeps_decimals(gae_cases),
)  # fmt: skip
