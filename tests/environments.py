"""Tiny environments with known answers; each refuses what an environment should never be given.

`make(Kind, **settings)` makes one with gymnasium, so that agents can copy it. Copies share a `Log`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

UNBOUNDED = spaces.Box(-np.inf, np.inf, (1,))
TORQUE = spaces.Box(-2, 2, (1,))
LOPSIDED = spaces.Box(np.float32([-1, 10]), np.float32([3, 20]))
# Observations of many kinds.
BOXES = {
    "float32": spaces.Box(-1, 1, (3,)),
    "float64": spaces.Box(-1, 1, (3,), np.float64),
    "image": spaces.Box(0, 255, (4, 3, 2), np.uint8),
    "number": spaces.Box(-1, 1, ()),
    "unbounded": spaces.Box(-np.inf, np.inf, (2, 2)),
}


def some(space: spaces.Space, number: int) -> np.ndarray:
    """The same samples of a space in every run, one a row."""
    space.seed(0)
    return np.stack([space.sample() for _ in range(number)])


class Log(list):
    """A list that all copies of an environment write to: gymnasium copies what `make` is given."""

    def __deepcopy__(self, memo: dict) -> Log:
        return self


class Probe(gym.Env):
    """Counts its steps in `t`, logs the seeds of its resets, refuses actions it cannot take."""

    metadata: ClassVar = {"render_modes": []}
    observation_space = UNBOUNDED
    action_space = spaces.Discrete(2)

    def __init_subclass__(cls) -> None:
        gym.register(f"{cls.__name__}-v0", entry_point=cls, disable_env_checker=True)

    def __init__(self, seeds: Log | None = None, action_space: spaces.Space | None = None) -> None:
        self.seeds = Log() if seeds is None else seeds
        self.action_space = action_space or self.action_space
        self.over = True

    def reset(self, *, seed: int | None = None, options: Any = None):
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.t, self.over = 0, False
        return self.observe(), {}

    def step(self, action):
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        assert not self.over, "a step after the episode's end"
        self.t += 1
        reward, terminated, truncated = self.play(action)
        self.over = terminated or truncated
        return self.observe(), reward, terminated, truncated, {}

    def observe(self):
        return np.ones(1, np.float32)

    def play(self, action) -> tuple[float, bool, bool]:
        """Reward, terminated, truncated."""
        raise NotImplementedError


def make(kind: type[Probe], **settings: Any) -> gym.Env:
    return gym.make(f"{kind.__name__}-v0", **settings)


class Counting(Probe):
    """Observes (its first seed, episode, step), and logs every transition that really happened.

    Episodes last one to five steps and end in all three ways. Actions are logged as plain numbers.
    """

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = spaces.Discrete(3)

    def __init__(self, transitions: Log, **shared: Any) -> None:
        super().__init__(**shared)
        self.transitions, self.episode = transitions, -1

    def reset(self, *, seed: int | None = None, options: Any = None):
        if seed is not None:
            self.name = seed
        self.episode += 1
        result = super().reset(seed=seed)
        self.length, self.ending = self.np_random.integers(1, 6), self.np_random.integers(3)
        return result

    def observe(self):
        return np.array([self.name, self.episode, self.t], np.float64)

    def play(self, action):
        reward, over = float(self.np_random.normal()), self.t == self.length
        terminated, truncated = bool(over and self.ending != 1), bool(over and self.ending != 0)
        before = (self.name, self.episode, self.t - 1)
        after = (self.name, self.episode, self.t)
        plain = np.asarray(action).tolist()
        self.transitions.append((before, plain, reward, after, terminated, truncated))
        return reward, terminated, truncated


class Constant(Probe):
    """One state; every step gives `reward`; episodes of `length` steps end as `ending` says."""

    def __init__(self, ending: str, length: int = 1, reward: float = 1.0, **shared: Any) -> None:
        super().__init__(**shared)
        self.ending, self.length, self.reward = ending, length, reward

    def play(self, action):
        over = self.t == self.length
        return (
            self.reward,
            over and self.ending == "terminated",
            over and self.ending == "truncated",
        )


class TwoSteps(Probe):
    """Observes the step, 0 then 1; only the second gives a reward, 1, and is the last."""

    def observe(self):
        return np.array([self.t], np.float32)

    def play(self, action):
        return float(self.t == 2), self.t == 2, False


class Guess(Probe):
    """Shows -1 or 1 and wants another action for each: reward 0, less the further from it."""

    def __init__(self, wanted: dict[int, Any], **shared: Any) -> None:
        super().__init__(**shared)
        self.wanted = wanted

    def reset(self, *, seed: int | None = None, options: Any = None):
        gym.Env.reset(self, seed=seed)
        self.sign = int(self.np_random.choice([-1, 1]))
        return super().reset()

    def observe(self):
        return np.array([self.sign], np.float32)

    def play(self, action):
        miss = np.asarray(action) - np.asarray(self.wanted[self.sign])
        return -float((miss**2).sum()), True, False


class AnySpace(Probe):
    """Random observations and rewards with any spaces; episodes of three steps."""

    def __init__(
        self, observation_space: spaces.Space = UNBOUNDED, actions: Log | None = None, **shared: Any
    ) -> None:
        super().__init__(**shared)
        self.observation_space = observation_space
        self.actions = Log() if actions is None else actions

    def reset(self, *, seed: int | None = None, options: Any = None):
        if seed is not None:
            self.observation_space.seed(seed)
        return super().reset(seed=seed)

    def observe(self):
        return self.observation_space.sample()

    def play(self, action):
        self.actions.append(action)
        return float(self.np_random.normal()), self.t == 3, False


class Faulty(Probe):
    """Like an endless `Constant`, until the step number `at` of all copies together.

    `fault` is an exception to raise there, or the name of what is then not a number: 'reward', or
    'observation' (of the last step of an episode, so that the next observation is fine), or 'first
    observation' (of the episode after that step).
    """

    def __init__(
        self, fault: BaseException | str, at: int, steps: Log, length: int = 10**9, **shared: Any
    ) -> None:
        super().__init__(**shared)
        self.fault, self.at, self.steps, self.length = fault, at, steps, length
        self.faulty = False

    def play(self, action):
        self.steps.append(self.t)
        now = len(self.steps) == self.at
        if now and isinstance(self.fault, BaseException):
            raise self.fault
        self.faulty = now and "observation" in str(self.fault)
        reward = np.nan if now and self.fault == "reward" else 1.0
        return reward, self.faulty or self.t == self.length, False

    def observe(self):
        if self.faulty and (self.t == 0) == (self.fault == "first observation"):
            self.faulty = False
            return np.full(1, np.nan, np.float32)
        return super().observe()


class Needy(Probe):
    """Cannot be made, because a package that it needs is not installed."""

    def __init__(self) -> None:
        raise gym.error.DependencyNotInstalled("unobtainium is not installed, run `pip install it`")
