"""Environments that remember what was done to them, for the checks of this lesson.

All copies of a `WatchedWalk` write to the same `LOG`, however they were made.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

ENV_ID, LONG_ID = "WatchedEpisodes-v0", "WatchedLongEpisodes-v0"
MOST = 3000  # entries: more than any check needs, less than an endless loop writes
LOG: list[tuple[gym.Env, str, Any]] = []  # who, what ("reset", "step", "late", "close"), more


class TooFarError(Exception):
    """In place of a step after the episode's end, and of a loop without end."""


class WatchedWalk(gym.Env):
    """Episodes of one to five steps (times `stretch`); rewards are drawn, the action is added.

    The generator says how long the episode is, and whether it will be terminated, truncated or
    both. Observes the number that was drawn last, and how many steps were made.
    """

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)

    def __init__(self, stretch: int = 1) -> None:
        self.np_random = np.random.default_rng(11)  # where no seed is given
        self.stretch, self.closed = stretch, False
        self.t, self.length, self.ending = 0, 0, ""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        if self.closed:
            note(self, "late", "goes on after the environment was closed")
        note(self, "reset", seed)
        self.t, self.length = 0, int(self.np_random.integers(1, 6)) * self.stretch
        self.ending = str(self.np_random.choice(["terminated", "truncated", "both"]))
        return self.observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        if self.t == self.length:
            words = {"both": "terminated and was truncated", "truncated": "was truncated"}
            ended = words.get(self.ending, self.ending)
            note(self, "late", f"goes on after an episode {ended}")
            raise TooFarError("The episode is over.")
        self.t += 1
        if np.shape(action) != self.action_space.shape:
            note(self, "shape", np.shape(action))
        action = float(np.ravel(action)[0])
        reward = round(float(self.np_random.normal()), 2) + action
        over = self.t == self.length
        note(self, "step", (action, over))
        ends = over and self.ending != "truncated", over and self.ending != "terminated"
        return self.observe(), reward, *ends, {}

    def observe(self) -> np.ndarray:
        self.seen = np.array([round(float(self.np_random.normal()), 1), float(self.t)])
        return self.seen

    def close(self) -> None:
        self.closed = True
        note(self, "close", None)


def note(env: gym.Env, what: str, more: Any) -> None:
    LOG.append((env, what, more))
    if len(LOG) > MOST:
        raise TooFarError("This would never end.")


ENVS: list[tuple[str, Any, dict]] = [
    (ENV_ID, WatchedWalk, {}),
    (LONG_ID, WatchedWalk, {"stretch": 300}),
]
for name, made_by, arguments in ENVS:
    if name not in gym.registry:  # the module may be imported again
        gym.register(name, entry_point=made_by, disable_env_checker=True, kwargs=arguments)
