"""Lesson 08's offline algorithm: exercises 8.1 `td3_bc_actor_loss` and 8.2 `update`."""

from dataclasses import replace
from typing import Any

import numpy as np

from helpers.algorithms.td3_bc import SPARSE_PENDULUM, td3_bc_actor_loss, update
from helpers.checks.exercise import Case
from helpers.exercises.observing import call_twice, gradients_to
from helpers.exercises.properties import is_a_loss, leaves_gradients_alone
from helpers.exercises.text import exercise
from helpers.exercises.toys import (
    SmallActor,
    SmallTwin,
    batch_of,
    floats,
    random_actor,
    random_twin,
)
from helpers.exercises.writing import Steady, ToyAgent, actor_critic, observe_update


def loss_cases(rng: np.random.Generator) -> list[Case]:
    """Values above 0, below 0 and on both sides of it."""

    def drawn(size: int, obs_size: int, action_dim: int, alpha: float) -> tuple:
        both = (make(rng, obs_size, action_dim) for make in (random_actor, random_twin))
        obs, action = rng.normal(size=(size, obs_size)), rng.uniform(-1, 1, (size, action_dim))
        return *both, floats(obs), floats(action), alpha

    one = SmallActor([[0.5]]), SmallTwin([1.0, 2.0], [0.0, 3.0])
    return [
        Case((*one, floats([[1.0]]), floats([[0.25]]), 2.5), note="batch of one"),
        Case((*one, floats([[-2.0]]), floats([[0.25]]), 2.5), note="a value below 0"),
        Case((*one, floats([[1.0], [-2.0]]), floats([[-0.5], [1.0]]), 0.5), note="two rows"),
        Case((*one, floats([[1.0], [-2.0]]), floats([[-0.5], [1.0]]), 0.0), note="alpha 0"),
        Case(drawn(5, 3, 2, 2.5), note="two action dimensions"),
        Case(drawn(8, 4, 4, 4.0), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1, 1.0)),
    ]


TD3_BC_ACTOR_LOSS = exercise(
    __file__, "8.1", td3_bc_actor_loss, loss_cases, gradients_to({"the actor": 0}, call_twice),
    properties=is_a_loss(loss_cases) | leaves_gradients_alone(loss_cases),
)  # fmt: skip


def update_cases(rng: np.random.Generator) -> list[Case]:
    flags = "", "terminated", "truncated", "both", "", "terminated"
    s = replace(SPARSE_PENDULUM, gamma=0.9, tau=0.2, noise_clip=0.05, target_noise=0.3)

    def case(sizes: tuple[int, int], numbers: range, note: str, **changes: Any) -> Case:
        agent, own = ToyAgent(0.05, **actor_critic(rng, *sizes, random_twin)), replace(s, **changes)
        calls = [(batch_of(rng, *sizes, *flags), own, number, Steady()) for number in numbers]
        return Case((agent, calls), note=note)

    changed = {"policy_delay": 3, "bc_alpha": 0.5, "gamma": 0.8}
    return [
        case((2, 1), range(1, 2), "update 1: the actor waits"),
        case((2, 1), range(2, 3), "update 2: the actor's turn"),
        case((3, 2), range(1, 6), "five updates"),
        case((3, 2), range(1, 5), "a longer delay", **changed),
    ]


UPDATE = exercise(__file__, "8.2", update, update_cases, observe_update)
