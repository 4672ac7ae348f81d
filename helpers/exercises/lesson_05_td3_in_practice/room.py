"""Lesson 05's broken environment: exercise 5.5 `HeatedRoom`."""

import numpy as np

from helpers.checks.exercise import Case
from helpers.envs.heated_room import HeatedRoom
from helpers.exercises.text import exercise


def observe_room(function, seeds, actions):
    """An episode from each seed, a step for each action."""
    env, seen, rewards, ends = function(), [], [], set()
    for seed in seeds:
        seen.append(env.reset(seed=seed)[0])
        for action in actions:
            obs, reward, *flags, _ = env.step(np.array([action], np.float32))
            seen.append(obs)
            rewards.append(reward)
            ends |= {bool(flag) for flag in flags}
    return {
        "observations": np.array(seen),
        "rewards": np.array(rewards),
        "flags": "some are true" if True in ends else "all false",
    }


def room_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case(([3], []), note="a reset"),
        Case(([3], [3.0]), note="one step at full power"),
        Case(([3], [0.0, 3.0]), note="a step without power, and one at full power"),
        Case(([3, 4], rng.uniform(-1, 5, 80).tolist()), note="two episodes"),
    ]


HEATED_ROOM = exercise(__file__, "5.5", HeatedRoom, room_cases, observe_room)
