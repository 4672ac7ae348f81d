"""Lesson 03's estimates: exercises 3.1 `double_estimate` and 3.3 `clipped_double_q_target`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents.td3 import clipped_double_q_target
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.lesson_02_ddpg.losses import (
    INFERENCE,
    NO_TENSOR,
    batch_of,
    floats,
    same,
)
from helpers.exercises.lesson_03_td3.losses import SmallTwin, random_twin
from helpers.exercises.observing import gradient, no_mutation
from helpers.memory.buffers import Batch
from helpers.training.overestimation import double_estimate

# --- 3.1 double_estimate --------------------------------------------------------------------------


def estimate_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(rows: int, actions: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.normal(size=actions)
        first, second = truth + rng.normal(size=(2, rows, actions))
        return np.round(first, 2), np.round(second, 2)

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
    ]


DOUBLE_ESTIMATE = exercise(
    __file__,
    "3.1",
    reference=double_estimate,
    cases=estimate_cases,
    properties=[no_mutation(estimate_cases)],
)


# --- 3.3 clipped_double_q_target ------------------------------------------------------------------


def observe_clipped_target(
    function, obs, action, reward, next_obs, terminated, truncated,
    next_action, target_critic, gamma,
):  # fmt: skip
    parts = obs, action, reward, next_obs, terminated, truncated
    copied = Batch(*(part.clone() for part in parts))
    again = function(copied, next_action.clone(), target_critic, gamma)
    target = function(Batch(*parts), next_action, target_critic, gamma)
    return target if same(target, again) else ANOTHER


def clipped_target_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(*next_obs: float, flag: str = "") -> tuple:
        """The critics say 6.5 and 4.75 where `next_obs` is 2, -2.5 and 1.75 where it is -1."""
        size = len(next_obs)
        now = torch.ones(size, 1), -torch.ones(size, 1), torch.ones(size)
        flags = (torch.full((size,), float(flag == name)) for name in ("terminated", "truncated"))
        later, next_action = floats(next_obs).unsqueeze(-1), torch.full((size, 1), 0.5)
        twin = SmallTwin([3.0, 1.0], [1.0, 4.0], (0.25, 1.0))
        return *now, later, *flags, next_action, twin, 0.75

    def drawn(
        obs_size: int, action_dim: int, gamma: float, *flags: str, scale: float = 1.0
    ) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        next_action = floats(rng.uniform(-1, 1, size=(len(flags), action_dim)))
        return *batch, next_action, random_twin(rng, obs_size, action_dim, scale), gamma

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


def checked_target(function) -> Callable:
    return lambda rng: (
        observe_clipped_target(function, *case.args) for case in clipped_target_cases(rng)
    )


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked_target(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked_target(function)(rng))


def target_is_no_list(function, rng):
    return not any(isinstance(target, list | tuple) for target in checked_target(function)(rng))


def rewards_stay(function, rng):
    for case in clipped_target_cases(rng):
        reward = case.args[2]
        before = reward.clone()
        observe_clipped_target(function, *case.args)
        if not torch.equal(reward, before):
            return False
    return True


def target_can_be_learned_from(function, rng):
    """A tensor made in `inference_mode` looks right, but no loss can be computed from it."""
    for target in checked_target(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


A_LIST = (
    "The numbers are right, but in a Python list, and the critics' loss needs one tensor `(B,)`. "
    "Torch computes all rows at once, so no loop is needed; after a loop, `torch.stack` makes one "
    "tensor of them."
)
REWARDS_CHANGED = (
    "The numbers are right, but you wrote them into `batch.reward` itself, and the batch may still "
    "be needed. Build a new tensor."
)
TARGET_GRADIENT = (
    "The numbers are right, but your target carries a gradient: the critics' loss would flow back "
    "into the target networks. A target is a constant: compute it under `torch.no_grad()`, or "
    "`.detach()` it."
)


CLIPPED_DOUBLE_Q_TARGET = exercise(
    __file__,
    "3.3",
    reference=clipped_double_q_target,
    cases=clipped_target_cases,
    observe=observe_clipped_target,
    properties=[
        Property("a list of targets", target_is_no_list, A_LIST),
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        Property("changes the rewards", rewards_stay, REWARDS_CHANGED),
        no_mutation(clipped_target_cases, observe_clipped_target),
    ],
)
