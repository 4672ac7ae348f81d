"""Lesson 04's file of demonstrations: exercise 4.1 `read_demos`.

Each case is written to a file of its own. What a reader must refuse is in a file that raises a flag
if it is trusted, and does nothing else.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import RescaleAction, RescaleObservation

from helpers.algorithms.ddpgfd import read_demos
from helpers.checks.exercise import Case
from helpers.exercises.text import exercise

RAISED: list[str] = []  # flags, raised by code that stood in a file


class Bounds(gym.Env):
    """An environment that has nothing but bounds."""

    def __init__(self, obs: tuple, action: tuple) -> None:
        low, high = np.array(obs, np.float32)
        self.observation_space = gym.spaces.Box(low, high)
        low, high = np.array(action, np.float32)
        self.action_space = gym.spaces.Box(low, high)


def scaled(obs: tuple, action: tuple) -> gym.Env:
    """As `shared.scaled_env` makes it."""
    env = RescaleObservation(Bounds(obs, action), np.float32(-1), np.float32(1))
    return RescaleAction(env, np.float32(-1), np.float32(1))


def observe_demos(function, obs_bounds, action_bounds, arrays):
    demos = in_a_file(function, arrays, scaled(obs_bounds, action_bounds))
    return {name: demos[name] for name in arrays}


def in_a_file(function, arrays, env):
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows: if it is left open
        path = Path(folder) / "demos.npz"
        np.savez(path, about=np.array("{}"), **arrays)
        return function(path, env)


def demo_cases(rng: np.random.Generator) -> list[Case]:
    def case(obs_bounds, action_bounds, steps: int, note: str) -> Case:
        def drawn(bounds, rows: int) -> np.ndarray:
            return (
                rng.uniform(bounds[0], bounds[1], (rows, len(bounds[0])))
                .round(2)
                .astype(np.float32)
            )

        path = drawn(obs_bounds, steps + 1)
        arrays = {
            "obs": path[:-1],
            "action": drawn(action_bounds, steps),
            "reward": rng.normal(size=steps).round(2).astype(np.float32),
            "next_obs": path[1:],
            "terminated": np.zeros(steps, bool),
            "truncated": np.arange(steps) == steps - 1,
        }
        return Case((obs_bounds, action_bounds, arrays), note=note)

    one, two = ([-2.0], [2.0]), ([0.0, -4.0], [10.0, 2.0])
    return [
        case(one, one, 1, "one step, bounds of -2 and 2"),
        case(one, two, 3, "two actions, from 0 to 10 and from -4 to 2"),
        case(two, one, 3, "two observations, from 0 to 10 and from -4 to 2"),
        case(two, two, 6, "both"),
    ]


class Trap:
    """Raises a flag when it is unpickled."""

    def __reduce__(self) -> tuple:
        return raise_flag, ()


def raise_flag() -> int:
    RAISED.append("code from the file was run")
    return 0


def refuses_pickles(function, rng):
    RAISED.clear()
    env, arrays = scaled(([-1.0], [1.0]), ([-1.0], [1.0])), dict(demo_cases(rng)[0].args[2])
    try:
        in_a_file(function, arrays | {"reward": np.array([Trap()])}, env)
    except Exception:
        return not RAISED
    return False


READ_DEMOS = exercise(
    __file__, "4.1", read_demos, demo_cases, observe_demos,
    properties={"pickles allowed": refuses_pickles},
)  # fmt: skip
