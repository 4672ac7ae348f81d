"""Lesson 03's `update`, which the student writes from the table of steps alone: exercise 3.5."""

from typing import Any

import numpy as np

from helpers.algorithms import td3
from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.exercises.toys import batch_of, random_twin
from helpers.exercises.writing import Steady, ToyAgent, actor_critic, observe_update


def update_cases(rng: np.random.Generator) -> list[Case]:
    def case(sizes: tuple[int, int], numbers: range, note: str, **settings: Any) -> Case:
        agent = ToyAgent(0.05, **actor_critic(rng, *sizes, random_twin))
        # The noise is clipped: half a standard deviation is 0.15.
        given = {"gamma": 0.9, "tau": 0.2, "target_noise": 0.3, "noise_clip": 0.1} | settings
        s, ends = td3.Settings(**given), ("", "terminated", "truncated", "")
        calls = [(batch_of(rng, *sizes, *ends), s, number, Steady()) for number in numbers]
        return Case((agent, calls), note=note)

    return [
        case((2, 1), range(1, 2), "update 1, with a delay of 2: only the critics move"),
        case((2, 1), range(2, 3), "update 2, with a delay of 2: everything moves"),
        case((3, 2), range(1, 5), "updates 1 to 4, with a delay of 2"),
        case((2, 3), range(2, 8), "updates 2 to 7, with a delay of 3", policy_delay=3),
        case((1, 2), range(5, 8), "no delay, wide clipping", policy_delay=1, noise_clip=0.4),
    ]


TD3_UPDATE = exercise(__file__, "3.5", td3.update, update_cases, observe_update)
