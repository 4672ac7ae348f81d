"""An environment that writes down what is done to it: who evaluates in it is watched.

All its copies write to the same `LOG`, whoever made them and however.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

ENV_ID = "WatchedWalk-v0"
MOST = 3000  # entries: more than any check needs, less than an endless loop writes
LOG: list[tuple[gym.Env, str, Any]] = []  # who, what ("reset", "step", "late", "close"), more


class TooFarError(Exception):
    """In place of a step after the episode's end, and of a loop without end."""


class WatchedWalk(gym.Env):
    """Episodes of one to five steps; rewards are drawn, and an action pays what it is.

    Its generator says how long the episode is, and whether it will be terminated, truncated or
    both. Observes the number that was drawn last, and how many steps were made.
    """

    metadata: ClassVar = {"render_modes": []}
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)

    def __init__(self) -> None:
        self.np_random = np.random.default_rng(11)  # where nobody gives a seed
        self.t, self.length, self.ending = 0, 0, ""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        note(self, "reset", seed)
        self.t, self.length = 0, int(self.np_random.integers(1, 6))
        self.ending = str(self.np_random.choice(["terminated", "truncated", "both"]))
        return self.observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        if self.t == self.length:
            note(self, "late", self.ending)
            raise TooFarError("The episode is over.")
        self.t += 1
        action = float(np.ravel(action)[0])
        reward = round(float(self.np_random.normal()), 2) + action
        over = self.t == self.length
        note(self, "step", (action, reward, over))
        ends = over and self.ending != "truncated", over and self.ending != "terminated"
        return self.observe(), reward, *ends, {}

    def observe(self) -> np.ndarray:
        self.seen = np.array([round(float(self.np_random.normal()), 1), float(self.t)])
        return self.seen

    def close(self) -> None:
        note(self, "close", None)


def note(env: gym.Env, what: str, more: Any) -> None:
    LOG.append((env, what, more))
    if len(LOG) > MOST:
        raise TooFarError("This would never end.")


if ENV_ID not in gym.registry:  # the module may be imported again
    gym.register(ENV_ID, entry_point=WatchedWalk, disable_env_checker=True)
