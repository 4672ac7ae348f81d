"""Lesson 03's estimates: exercises 3.6 `double_estimate` and 3.3 `clipped_double_q_target`."""

import numpy as np
import torch

from helpers.algorithms.td3 import clipped_double_q_target
from helpers.checks.exercise import Case
from helpers.exercises.observing import call_twice
from helpers.exercises.properties import is_a_target, no_mutation, on_every_case
from helpers.exercises.text import exercise
from helpers.exercises.toys import batch_of, floats, pair_by_hand, random_twin
from helpers.training.overestimation import double_estimate


def estimate_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(rows: int, actions: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.normal(size=actions)
        first, second = truth + rng.normal(size=(2, rows, actions))
        return np.round(first, 6), np.round(second, 6)  # not fewer: no two maxima alike

    return [
        Case((np.array([[1.0, 3.0, 2.0]]), np.array([[5.0, 4.0, 6.5]])), note="one row"),
        Case(
            (
                np.array([[1.0, 3.0, 2.0], [7.0, -1.0, 0.0]]),
                np.array([[5.0, 4.0, 6.5], [-2.0, 8.0, 1.0]]),
            ),
            note="two rows",
        ),
        Case(drawn(3, 3), note="as many rows as actions"),
        Case(drawn(5, 2), note="more rows than actions"),
        Case(drawn(4, 1), note="only one action"),
        Case(
            (-2 - drawn(3, 5)[0] ** 2, drawn(3, 5)[1]), note="all choosing estimates are negative"
        ),
        Case(drawn(200, 8)),
        Case(drawn(4, 100), note="many actions"),
    ]


def one_of_equals(function, rng: np.random.Generator) -> bool:
    """A property and not a case: it is right to take the first of two, or the last."""
    values = np.asarray(function(np.array([[2.0, 2.0, 1.0]]), np.array([[3.0, 4.5, 8.0]])))
    return values.shape == (1,) and values[0] in (3.0, 4.5)


DOUBLE_ESTIMATE = exercise(
    __file__, "3.6", double_estimate, estimate_cases,
    properties={"both of two equal ones": one_of_equals} | no_mutation(estimate_cases),
)  # fmt: skip


def clipped_target_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(*next_obs: float, flag: str = "") -> tuple:
        return *pair_by_hand(*next_obs, flag=flag), 0.75

    def drawn(
        obs_size: int, action_dim: int, gamma: float, *flags: str, scale: float = 1.0
    ) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, *flags)
        next_action = floats(rng.uniform(-1, 1, size=(len(flags), action_dim)))
        return batch, next_action, random_twin(rng, obs_size, action_dim, scale), gamma

    return [
        Case(by_hand(2.0), note="a batch of one, in the middle of an episode"),
        Case(by_hand(2.0, flag="terminated"), note="a batch of one that terminated"),
        Case(by_hand(2.0, flag="truncated"), note="a batch of one that was truncated"),
        Case(by_hand(2.0, -1.0), note="two transitions, a different critic is lower in each"),
        Case(drawn(2, 1, 0.9, "", "terminated", "truncated", ""), note="four transitions"),
        Case(drawn(3, 2, 0.9, "both", ""), note="terminated and truncated in the same transition"),
        Case(drawn(3, 2, 0.0, "", "truncated"), note="gamma 0, where only the reward counts"),
        Case(drawn(2, 2, 1.0, "", "terminated"), note="gamma 1, so nothing is discounted"),
        Case(drawn(4, 3, 0.99, *["", "", "terminated", "truncated"] * 4, scale=100.0)),
    ]


def rewards_stay(function, case):
    reward = case.args[0].reward
    before = reward.clone()
    function(*case.args)
    return torch.equal(reward, before)


def is_no_list(function, case):
    return not isinstance(function(*case.args), list | tuple)


CLIPPED_DOUBLE_Q_TARGET = exercise(
    __file__, "3.3", clipped_double_q_target, clipped_target_cases, call_twice,
    properties={"a list of targets": on_every_case(clipped_target_cases, is_no_list)}
    | is_a_target(clipped_target_cases)
    | {"changes the rewards": on_every_case(clipped_target_cases, rewards_stay)}
    | no_mutation(clipped_target_cases),
)  # fmt: skip
