"""Lesson 06's target and losses: exercises 6.4 `soft_td_target`, 6.5 `sac_actor_loss` and 6.6
`temperature_loss`.
"""

import numpy as np
import torch

from helpers.algorithms.sac import sac_actor_loss, soft_td_target, temperature_loss
from helpers.checks.exercise import Case
from helpers.exercises.observing import asked, call_twice, gradients_to
from helpers.exercises.properties import (
    gives_tensors,
    is_a_loss,
    is_a_target,
    leaves_gradients_alone,
    no_mutation,
)
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallTwin, batch_of, floats, leaf, pair_by_hand, random_twin


def target_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(*next_obs: float, flag: str = "") -> tuple:
        batch, next_action, twin = pair_by_hand(*next_obs, flag=flag)
        return batch, next_action, floats([1.5, -0.5][: len(next_obs)]), twin, 0.2, 0.75

    def drawn(
        obs_size: int, action_dim: int, temperature: float, gamma: float, *flags: str
    ) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, *flags)
        next_action = floats(rng.uniform(-1, 1, size=(len(flags), action_dim)))
        log_prob = leaf(1.5 * rng.normal(size=len(flags)))
        twin = random_twin(rng, obs_size, action_dim)
        return batch, next_action, log_prob, twin, temperature, gamma

    several = drawn(3, 2, 0.5, 0.9, *["", "terminated", "truncated", ""])
    return [
        Case(by_hand(2.0), note="a batch of one, in the middle of an episode"),
        Case(by_hand(2.0, flag="terminated"), note="a batch of one that terminated"),
        Case(by_hand(2.0, flag="truncated"), note="a batch of one that was truncated"),
        Case(by_hand(2.0, -1.0), note="two transitions, a different critic is lower in each"),
        Case(drawn(2, 1, 0.3, 0.9, "", "terminated", "truncated", ""), note="four transitions"),
        Case(drawn(3, 2, 2.0, 0.9, "both", ""), note="a high temperature"),
        Case(drawn(3, 2, 0.0, 0.9, "", "truncated"), note="temperature 0: no entropy counts"),
        Case((*several[:4], leaf(0.5), 0.9), note="the temperature is a tensor"),
        Case(drawn(4, 3, 0.7, 1.0, *["", "", "terminated", "truncated"] * 4), note="gamma 1"),
    ]


SOFT_TD_TARGET = exercise(
    __file__, "6.4", soft_td_target, target_cases, call_twice,
    properties=is_a_target(target_cases) | no_mutation(target_cases),
)  # fmt: skip


def actor_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int, temperature: float) -> tuple:
        twin, obs = (
            random_twin(rng, obs_size, action_dim),
            floats(rng.normal(size=(size, obs_size))),
        )
        action = leaf(rng.uniform(-1, 1, size=(size, action_dim)))
        return twin, obs, action, leaf(1.5 * rng.normal(size=size)), temperature

    twin = SmallTwin([1.0, 2.0], [0.0, 3.0])
    three = drawn(3, 2, 1, 0.5)
    return [
        Case((twin, floats([[1.0]]), leaf([[0.5]]), leaf([1.5]), 0.2), note="batch of one"),
        Case(
            (twin, floats([[1.0], [-2.0]]), leaf([[0.5], [-0.25]]), leaf([1.5, -0.5]), 0.2),
            note="two observations, a different critic is lower in each",
        ),
        Case(drawn(5, 3, 2, 0.4), note="two action dimensions"),
        Case(drawn(4, 4, 4, 3.0), note="a high temperature"),
        Case(drawn(4, 3, 2, 0.0), note="temperature 0: no entropy counts"),
        Case((*three[:4], torch.tensor(0.5)), note="the temperature is a tensor"),
        Case(drawn(32, 2, 1, 0.3)),
    ]


SAC_ACTOR_LOSS = exercise(
    __file__, "6.5", sac_actor_loss, actor_cases,
    gradients_to({"the action": 2, "log_prob": 3}, call_twice),
    properties=is_a_loss(actor_cases) | leaves_gradients_alone(actor_cases),
)  # fmt: skip


def temperature_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, log_temperature: float, target: float, sure: float) -> tuple:
        return leaf(log_temperature), leaf(sure + rng.normal(size=size)), target

    return [
        Case((leaf(-0.5), leaf([1.75]), -1.0), note="a batch of one, too certain"),
        Case((leaf(-0.5), leaf([0.25]), -1.0), note="a batch of one, too random"),
        Case((leaf(-1.5), leaf([2.0, 0.5, 3.25]), -2.0), note="three actions"),
        Case((leaf(0.0), leaf([2.0, 0.5]), -1.0), note="a temperature of 1, whose log is 0"),
        Case(drawn(6, 1.25, -3.0, 2.0), note="a temperature above 1"),
        Case(drawn(5, -2.0, 0.5, -1.0), note="a target entropy above 0"),
        Case(drawn(64, -3.0, -6.0, 8.0)),
    ]


TEMPERATURE_LOSS = exercise(
    __file__, "6.6", temperature_loss, temperature_cases,
    gradients_to({"log_temperature": 0, "log_prob": 1}, asked),  # none may go to the actor
    properties=gives_tensors(temperature_cases) | no_mutation(temperature_cases),
)  # fmt: skip
