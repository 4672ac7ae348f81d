"""Lesson 01's rollouts: exercises 1.3 `bootstrapped_returns`, 1.7 `learnable_rows`, 1.8 `gae`.

Random rollouts look as gymnasium's vector environments make them: the row after an episode's end is
filler, with reward 0 and no end of its own.
"""

import numpy as np

from helpers.agents.a2c import gae
from helpers.agents.on_policy import learnable_rows
from helpers.algorithms.reinforce import bootstrapped_returns
from helpers.checks.exercise import Case
from helpers.exercises.properties import keeps_decimals, no_mutation
from helpers.exercises.text import exercise

# --- 1.3 bootstrapped_returns ---------------------------------------------------------------------


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
    __file__, "1.3", bootstrapped_returns, bootstrap_cases,
    properties=no_mutation(bootstrap_cases) | keeps_decimals(bootstrap_cases),
)  # fmt: skip


# --- Rollouts, as gymnasium's vector environments make them ---------------------------------------


def ends(rng: np.random.Generator, steps: int, envs: int) -> tuple[np.ndarray, np.ndarray]:
    """Random `terminated` and `truncated`, each (steps, envs); now and then both at once."""
    terminated = rng.random((steps, envs)) < 0.2
    truncated = rng.random((steps, envs)) < 0.2
    for t in range(1, steps):
        filler = terminated[t - 1] | truncated[t - 1]
        terminated[t] &= ~filler
        truncated[t] &= ~filler
    return terminated, truncated


# --- 1.7 learnable_rows ---------------------------------------------------------------------------


def row_cases(rng: np.random.Generator) -> list[Case]:
    def column(*entries: int) -> np.ndarray:
        return np.array(entries, dtype=bool)[:, None]

    def drawn(steps: int, envs: int) -> tuple:
        """The step before the first, and `steps` more."""
        terminated, truncated = ends(rng, steps + 1, envs)
        done = terminated | truncated
        return done[1:], done[0]

    return [
        Case((column(0), np.array([False])), note="one step, nothing ended"),
        Case((column(1), np.array([False])), note="one step, which ends an episode"),
        Case((column(0), np.array([True])), note="one step, after an episode's end"),
        Case((column(0, 1, 0, 0), np.array([False])), note="an episode ends at step 1"),
        Case((column(0, 0, 1), np.array([True])), note="an end before the rollout, one at its end"),
        Case((column(1, 0, 0, 1, 0, 0), np.array([False])), note="two episodes end"),
        Case(
            (np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool), np.array([0, 1, 0]) > 0),
            note="three environments, three steps",
        ),
        Case(drawn(8, 4), note="four environments"),
        Case(drawn(4, 16), note="more environments than steps"),
    ]


LEARNABLE_ROWS = exercise(
    __file__, "1.7", learnable_rows, row_cases, properties=no_mutation(row_cases)
)


# --- 1.8 gae --------------------------------------------------------------------------------------


def gae_cases(rng: np.random.Generator) -> list[Case]:
    def one(rewards, values, terminated=None, truncated=None, gamma=0.5, lam=0.8) -> tuple:
        """One environment; `terminated` and `truncated` are the step where it happens."""
        flags = np.zeros((2, len(rewards), 1), dtype=bool)
        for flag, step in zip(flags, (terminated, truncated), strict=True):
            if step is not None:
                flag[step] = True
        columns = [np.array(numbers, dtype=float)[:, None] for numbers in (rewards, values)]
        return *columns, *flags, gamma, lam

    def drawn(steps: int, envs: int, gamma: float, lam: float) -> tuple:
        terminated, truncated = ends(rng, steps, envs)
        rewards = rng.normal(size=(steps, envs)).astype(np.float32)
        rewards[1:][(terminated | truncated)[:-1]] = 0  # filler
        values = rng.normal(size=(steps + 1, envs)).astype(np.float32)
        return rewards, values, terminated, truncated, gamma, lam

    flags = np.array([[True, False]])
    two_ends = (np.ones((1, 2)), np.array([[2.0, 2.0], [4.0, 4.0]]), flags, ~flags, 0.5, 0.8)
    return [
        Case(one([1], [2, 4]), note="one step, nothing ended"),
        Case(one([1], [2, 4], terminated=0), note="one step, terminated"),
        Case(one([1], [2, 4], truncated=0), note="one step, truncated"),
        Case(one([1, 2, 3], [4, 6, 8, 10]), note="three steps, nothing ended"),
        Case(one([1, 2, 0, 3], [4, 6, 8, 5, 7], terminated=1), note="terminated at step 1"),
        Case(one([1, 2, 0, 3], [4, 6, 8, 5, 7], truncated=1), note="truncated at step 1"),
        Case(
            one([1, 2, 0, 3], [4, 6, 8, 5, 7], terminated=1, truncated=1),
            note="terminated and truncated, both at step 1",
        ),
        Case(two_ends, note="one step of two environments, one terminated, one truncated"),
        Case(drawn(5, 3, 0.9, 0.0), note="lambda 0, where only the TD error counts"),
        Case(drawn(5, 3, 0.9, 1.0), note="lambda 1, where the critic is a baseline only"),
        Case(drawn(32, 8, 0.99, 0.95), note="a rollout of eight environments"),
    ]


GAE = exercise(
    __file__, "1.8", gae, gae_cases,
    properties=no_mutation(gae_cases) | keeps_decimals(gae_cases),
)  # fmt: skip
