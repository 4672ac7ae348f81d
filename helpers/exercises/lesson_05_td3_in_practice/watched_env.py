"""Environments that remember what was done to them, for the checks of this lesson.

All copies of a `WatchedWalk` write to the same `LOG`, however they were made.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

ENV_ID, LONG_ID = "WatchedEpisodes-v0", "WatchedLongEpisodes-v0"
HOME, ABROAD = "PaysByAction-v0", "PaysByActionLess-v0"
MOST = 3000  # entries: more than any check needs, less than an endless loop writes
MOST_STEPS = 1000  # of `PaysTheAction`: more than any check needs, less than 10,000 episodes
SEEDS: set[int] = set()  # from which `PaysTheAction` started
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


class PaysTheAction(gym.Env):
    """Pays the first action, and by its start more or less of the second; all at the first step.

    The second action also says how long the episode is, which is of no use to an agent.
    """

    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def __init__(self, less: float = 0.0) -> None:
        self.less, self.start, self.left, self.disturbed = less, 0, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        self.start, self.left = seed or 0, 0
        SEEDS.add(self.start)
        self.disturbed += 1
        if self.disturbed > MOST_STEPS:
            raise TooFarError("This would take too long.")
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.disturbed += 1
        if self.left:
            self.left -= 1
            return np.zeros(1, np.float32), 0.0, self.left == 0, False, {}
        level, spread = (float(number) for number in action)
        self.left = int(4 * abs(spread)) % 5
        reward = level + spread * (0.0, 2.0, -1.0)[self.start % 3] + self.start % 10 / 100
        return np.zeros(1, np.float32), reward - self.less, self.left == 0, False, {}


ENVS: list[tuple[str, Any, dict]] = [
    (ENV_ID, WatchedWalk, {}),
    (LONG_ID, WatchedWalk, {"stretch": 300}),
    (HOME, PaysTheAction, {}),
    (ABROAD, PaysTheAction, {"less": 100.0}),
]
for name, made_by, arguments in ENVS:
    if name not in gym.registry:  # the module may be imported again
        gym.register(name, entry_point=made_by, disable_env_checker=True, kwargs=arguments)
