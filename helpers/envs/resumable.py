"""Bring a fresh environment to where another one was: start as it did, act as it did.

An environment in the middle of an episode cannot be written to a file: it may hold anything, a
simulator's memory too. What can be written is the way that led there: the state of its random
generator before the reset, and the actions since. In an environment whose randomness all comes from
that generator, as gymnasium asks for, the same way leads to the same place, to the last bit.
"""

from collections import deque
from functools import reduce
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces

LONGEST = 100_000  # steps remembered; an episode that never ends must not fill the memory


class Retraceable(gym.Wrapper):
    """The same environment, which remembers the way of its episode: `trace` tells it."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.start: int | dict | None = None  # a seed, or a random state; None is an unknown way
        self.steps: deque[tuple] = deque(maxlen=LONGEST)  # of the episode: (action, reward)
        self.last: tuple = (None, 0.0, True, True, {})  # what the last step gave

    @property
    def obs(self) -> Any:
        """The last observation."""
        return self.last[0]

    @property
    def over(self) -> bool:
        """Whether that was the episode's last."""
        return bool(self.last[2] or self.last[3])

    @property
    def episode_return(self) -> float:
        """The sum of the rewards so far, added up one by one as agents do."""
        return reduce(lambda total, step: total + float(step[1]), self.steps, 0.0)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.start = None  # until it has worked
        start = seed if seed is not None else _random_state(self)
        obs, info = self.env.reset(seed=seed, options=options)
        self.start, self.last = start, (obs, 0.0, False, False, info)
        self.steps.clear()
        return obs, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict]:
        # A copy: the environment may write into the array.
        kept = action.copy() if isinstance(action, np.ndarray) else action
        self.last = result = self.env.step(action)
        self.steps.append((kept, result[1]))
        return result

    def trace(self) -> dict | None:
        """The way here, as tensors and plain values; None if it is not known."""
        if self.start is None or len(self.steps) == LONGEST:
            return None
        return {
            "start": self.start,
            "actions": torch.tensor(np.array([action for action, _ in self.steps])),
            "obs": torch.tensor(np.asarray(self.obs)),
            "return": self.episode_return,
            "over": self.over,
        }

    def retrace(self, trace: dict | None) -> bool:
        """Go the way that `trace` tells. Gives whether it led to the same place.

        If not, for example since the environment draws random numbers of its own, this environment
        is somewhere else and needs a reset.
        """
        try:
            return trace is not None and self._go(trace)
        except Exception:  # led astray, an environment may refuse an action in any way
            return False

    def _go(self, trace: dict) -> bool:
        seed = trace["start"] if isinstance(trace["start"], int) else None
        if seed is None:
            self.unwrapped.np_random.bit_generator.state = trace["start"]
        self.reset(seed=seed)
        for action in trace["actions"].numpy():
            if self.over:
                return False
            self.step(np.asarray(action) if isinstance(self.action_space, spaces.Box) else action)
        here = (self.episode_return, self.over)
        same_obs = np.array_equal(self.obs, trace["obs"].numpy())
        return same_obs and here == (trace["return"], trace["over"])


class RetraceableVector(gym.vector.SyncVectorEnv):
    """Copies of an environment, all `Retraceable`, stepped together."""

    envs: list[Retraceable]

    def trace(self) -> list[dict | None]:
        """The way of each copy."""
        return [env.trace() for env in self.envs]

    def retrace(self, traces: list[dict | None]) -> bool:
        """Let each copy go its way. Gives whether all came to the same place."""
        if not isinstance(traces, list) or len(traces) != self.num_envs:
            return False
        pairs = zip(self.envs, traces, strict=True)
        if not all(env.retrace(trace) for env, trace in pairs):
            return False
        # gymnasium's note on which copies the next step has to reset.
        self._autoreset_envs = np.array([env.over for env in self.envs])
        return True


def _random_state(env: gym.Env) -> dict | None:
    """The state of the environment's random generator, if it is one of gymnasium's."""
    generator = getattr(env.unwrapped.np_random, "bit_generator", None)
    # Other generators keep arrays in their state.
    return generator.state if isinstance(generator, np.random.PCG64) else None
