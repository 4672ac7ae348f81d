"""Lesson 04's formulas: exercises 4.5 `priorities`, 4.11 `weighted_critic_loss`, 4.10
`n_step_target`.
"""

import numpy as np
import torch

from helpers.algorithms.ddpgfd import n_step_target, priorities, weighted_critic_loss
from helpers.checks.exercise import Case
from helpers.exercises.observing import call_twice, gradients_to
from helpers.exercises.properties import (
    gives_tensors,
    is_a_target,
    leaves_no_gradient_in_the_first,
    no_mutation,
)
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, SmallCritic, floats, random_actor, random_critic
from helpers.memory.buffers import PrioritizedBatch


def priority_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, action_dim: int, *numbers: float) -> tuple:
        slope, is_demo = rng.normal(size=(size, action_dim)), rng.permutation(size) % 2
        return floats(2 * rng.normal(size=size)), floats(slope), floats(is_demo), *numbers

    def by_hand(is_demo: float) -> tuple:
        return floats([-2.0]), floats([[1.0, 3.0]]), floats([is_demo]), 0.5, 0.25, 3.0

    return [
        Case(by_hand(0.0), note="a step of the agent's own"),
        Case(by_hand(1.0), note="the same step, demonstrated"),
        Case(
            (floats([0.0, 0.0]), floats([[0.0], [0.0]]), floats([0.0, 1.0]), 0.5, 0.25, 3.0),
            note="nothing left to learn",
        ),
        Case(drawn(4, 1, 1.0, 0.001, 1.0), note="one action dimension"),
        Case(drawn(3, 3, 0.5, 0.1, 2.0), note="as many action dimensions as steps"),
        Case(drawn(5, 2, 0.0, 0.1, 0.0), note="lambda_3 and the bonus are 0"),
        Case(drawn(12, 4, 2.0, 0.01, 0.5)),
    ]


PRIORITIES = exercise(
    __file__, "4.5", priorities, priority_cases, properties=no_mutation(priority_cases)
)


def weighted_loss_cases(rng: np.random.Generator) -> list[Case]:
    def given(q, target, n_target, weights, n_step_weight: float) -> tuple:
        rest = map(floats, (target, n_target, weights))
        return floats(q).requires_grad_(), *rest, n_step_weight

    def drawn(size: int, n_step_weight: float) -> tuple:
        q, target, n_target = 2 * rng.normal(size=(3, size))
        return given(q, target, n_target, rng.uniform(0.1, 1, size), n_step_weight)

    return [
        Case(given([1.0], [3.0], [4.0], [0.5], 0.25), note="batch of one"),
        Case(
            given([1.0, 2.0], [3.0, 2.0], [1.0, -2.0], [1.0, 0.25], 0.75),
            note="two steps, each with an error of one kind only",
        ),
        Case(drawn(5, 0.25), note="five steps"),
        Case(drawn(6, 0.0), note="lambda_1 is 0: one step ahead only"),
        Case(drawn(6, 2.0), note="lambda_1 above 1"),
        Case(drawn(32, 1.0)),
    ]


WEIGHTED_CRITIC_LOSS = exercise(
    __file__, "4.11", weighted_critic_loss, weighted_loss_cases, gradients_to({"q": 0}),
    properties=gives_tensors(weighted_loss_cases) | no_mutation(weighted_loss_cases)
    | {"gradient left in q": leaves_no_gradient_in_the_first(weighted_loss_cases)},
)  # fmt: skip


# --- Batches n steps ahead ------------------------------------------------------------------------


def n_step_batch(
    rng: np.random.Generator, obs_size: int, action_dim: int, gamma: float, *windows: str
) -> PrioritizedBatch:
    """A batch. Each of `windows` is as long as a row's window: "..t" is one of three steps that
    (t)erminates with its last, "..c" one that is (c)ut off there, "..b" both, ".." just two.

    What belongs to the first step and to the last one of a window is the same where it is one.
    """
    size = len(windows)
    lengths = np.array([len(window) for window in windows])
    one = lengths == 1
    ended, limited = (np.array([w[-1] in kind for w in windows]) for kind in ("tb", "cb"))

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=(size, *shape)).round(2)

    reward, next_obs = numbers(), numbers(obs_size)
    return PrioritizedBatch(
        floats(numbers(obs_size)),
        floats(rng.uniform(-1, 1, (size, action_dim)).round(2)),
        floats(reward),
        floats(next_obs),
        floats(ended & one),
        floats(limited & one),
        floats(np.where(one, reward, reward + 2 * numbers())),
        floats(np.where(one[:, None], next_obs, numbers(obs_size))),
        floats(ended),
        floats(gamma**lengths),
        floats(rng.uniform(0.1, 1, size).round(2)),
        floats(rng.permutation(size) % 2),
        torch.from_numpy(rng.permutation(2 * size)[:size]),
    )


def n_target_cases(rng: np.random.Generator) -> list[Case]:
    def one(window: str) -> tuple:
        batch = n_step_batch(rng, 1, 1, 0.8, window)
        return batch, SmallActor([[0.5]], -0.25), SmallCritic([3.0, 1.0], 0.5)

    def drawn(obs_size: int, action_dim: int, gamma: float, *windows: str) -> tuple:
        batch = n_step_batch(rng, obs_size, action_dim, gamma, *windows)
        return batch, *(
            draw(rng, obs_size, action_dim, 0.75) for draw in (random_actor, random_critic)
        )

    return [
        Case(one(".."), note="a batch of one, two steps ahead"),
        Case(one("..t"), note="a batch of one that terminates at the third step"),
        Case(one("c"), note="a batch of one that is cut off after the first step"),
        Case(drawn(2, 1, 0.9, "...", ".t", "..c", "."), note="windows of different lengths"),
        Case(drawn(3, 2, 0.99, "t", "." * 10, "....c"), note="up to ten steps ahead"),
        Case(drawn(1, 2, 0.9, "b", ".b", "."), note="terminated and cut off in the same step"),
        Case(drawn(2, 2, 1.0, "...", "..t"), note="gamma 1, nothing is discounted"),
        Case(drawn(4, 3, 0.95, *["..", "..t", "...c", "t", "...."] * 3)),
    ]


N_STEP_TARGET = exercise(
    __file__, "4.10", n_step_target, n_target_cases, call_twice,
    properties=is_a_target(n_target_cases) | no_mutation(n_target_cases),
)  # fmt: skip
