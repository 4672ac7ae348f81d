"""Lesson 04's formulas: exercises 4.8 `priorities`, 4.11 `weighted_critic_loss`, 4.10
`n_step_target`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents.ddpgfd import n_step_target, priorities, weighted_critic_loss
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.lesson_02_ddpg.losses import (
    INFERENCE,
    NO_TENSOR,
    TARGET_GRADIENT,
    SmallActor,
    SmallCritic,
    floats,
    gives_tensors,
    networks,
    same,
)
from helpers.exercises.observing import gradient, no_mutation
from helpers.memory.buffers import PrioritizedBatch

# --- 4.8 priorities -------------------------------------------------------------------------------


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
    __file__,
    "4.8",
    reference=priorities,
    cases=priority_cases,
    properties=[no_mutation(priority_cases)],
)


# --- 4.11 weighted_critic_loss --------------------------------------------------------------------


def observe_weighted_loss(function, q, target, n_target, weights, n_step_weight):
    loss = function(q, target, n_target, weights, n_step_weight)
    return {"loss": loss, "gradient to q": gradient(loss, q)}


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
    __file__,
    "4.11",
    reference=weighted_critic_loss,
    cases=weighted_loss_cases,
    observe=observe_weighted_loss,
    properties=[
        gives_tensors(weighted_loss_cases),
        no_mutation(weighted_loss_cases, observe_weighted_loss),
    ],
)


# --- Batches n steps ahead ------------------------------------------------------------------------


def n_step_batch(
    rng: np.random.Generator, obs_size: int, action_dim: int, gamma: float, *windows: str
) -> tuple:
    """A batch, part by part. Each of `windows` is as long as a row's window: "..t" is one of three
    steps that (t)erminates with its last, "..c" one that is (c)ut off there, "..b" both, ".." just
    two.

    What belongs to the first step and to the last one of a window is the same where it is one.
    """
    size = len(windows)
    lengths = np.array([len(window) for window in windows])
    one = lengths == 1
    ended, limited = (np.array([w[-1] in kind for w in windows]) for kind in ("tb", "cb"))

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=(size, *shape)).round(2)

    reward, next_obs = numbers(), numbers(obs_size)
    return (
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


# --- 4.10 n_step_target ---------------------------------------------------------------------------


def observe_n_step_target(
    function, obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs,
    n_terminated, n_discount, weights, is_demo, indices, target_actor, target_critic,
):  # fmt: skip
    parts = (
        obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs,
        n_terminated, n_discount, weights, is_demo, indices,
    )  # fmt: skip
    copies = PrioritizedBatch(*(part.clone() for part in parts))
    again = function(copies, target_actor, target_critic)
    target = function(PrioritizedBatch(*parts), target_actor, target_critic)
    return target if same(target, again) else ANOTHER


def n_target_cases(rng: np.random.Generator) -> list[Case]:
    def one(window: str) -> tuple:
        batch = n_step_batch(rng, 1, 1, 0.8, window)
        return *batch, SmallActor([[0.5]], -0.25), SmallCritic([3.0, 1.0], 0.5)

    def drawn(obs_size: int, action_dim: int, gamma: float, *windows: str) -> tuple:
        batch = n_step_batch(rng, obs_size, action_dim, gamma, *windows)
        return *batch, *networks(rng, obs_size, action_dim, bias=0.75)

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


def checked(function) -> Callable:
    return lambda rng: (observe_n_step_target(function, *c.args) for c in n_target_cases(rng))


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked(function)(rng))


def target_can_be_learned_from(function, rng):
    """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
    for target in checked(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


N_STEP_TARGET = exercise(
    __file__,
    "4.10",
    reference=n_step_target,
    cases=n_target_cases,
    observe=observe_n_step_target,
    properties=[
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        no_mutation(n_target_cases, observe_n_step_target),
    ],
)
