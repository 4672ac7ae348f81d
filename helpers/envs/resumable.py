"""Environments that go on in the middle of an episode, in another process or on another day.

An environment in the middle of an episode cannot be written to a file: it may hold anything, a
simulator's memory too. What can be written is the way that led there: the state of its random
generator before the reset, and the actions since. A fresh environment that starts as that one did,
and is acted in as it was, comes to the same place, to the last bit, if all its randomness comes
from that generator, as gymnasium asks for.
"""

from collections import deque
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces

LONGEST = 100_000  # steps remembered; an episode that never ends must not fill the memory


class Transition(NamedTuple):
    """One step in an environment, all of it in the environment's own units."""

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Resumable(gym.Wrapper):
    """The same environment, which remembers how its episode began and what was done since.

    `trace` writes that down, and `resume` brings another environment of the same kind to the same
    place by doing it all again:

        other.resume(env.trace())  # True: both go on alike from here

    It also knows what agents ask about the episode under way: `obs`, `over`, `episode_return` and
    `episode_length`; and the last `transition`, in this episode or the one before.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.start: int | dict | None = None  # a seed, or a random state; None is an unknown way
        self.steps: deque[Any] = deque(maxlen=LONGEST)  # the actions of the episode
        self.last: tuple = (None, 0.0, True, True, {})  # what the last step gave
        # Observation, reward and ends of all steps, if somebody watches (and empties it).
        self.seen: list[tuple] | None = None
        self.last_step: tuple | None = None  # observation, action, and what came of them
        self.episode_return, self.episode_length = 0.0, 0

    @property
    def transition(self) -> Transition | None:
        """The last step that was made; None before the first."""
        if self.last_step is None:
            return None
        obs, action, result = self.last_step
        return Transition(obs, action, result[1], result[0], *result[2:])

    @property
    def obs(self) -> Any:
        """The last observation."""
        return self.last[0]

    @property
    def over(self) -> bool:
        """Whether that was the episode's last."""
        return bool(self.last[2] or self.last[3])

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.start = None  # until it has worked
        start = seed if seed is not None else _random_state(self)
        obs, info = self.env.reset(seed=seed, options=options)
        self.start, self.last = start, (obs, 0.0, False, False, info)
        if self.seen is not None:
            self.seen.append((obs, None, False, False))
        self.steps.clear()
        self.episode_return, self.episode_length = 0.0, 0
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict]:
        # A copy: the environment may write into the array.
        kept = action.copy() if isinstance(action, np.ndarray) else action
        obs, self.last = self.last[0], self.env.step(action)
        self.last_step = obs, kept, self.last
        if self.seen is not None:
            self.seen.append(self.last[:4])
        self.steps.append(kept)
        self.episode_return += float(self.last[1])
        self.episode_length += 1
        return self.last

    def trace(self) -> dict | None:
        """The way here, as tensors and plain values; None if it is not known."""
        if self.start is None or len(self.steps) == LONGEST:
            return None
        return {
            "start": self.start,
            "actions": torch.tensor(np.array(list(self.steps))),
            "obs": torch.tensor(np.asarray(self.obs)),
            "return": self.episode_return,
            "over": self.over,
        }

    def resume(self, trace: dict | None) -> bool:
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


class ResumableVector(gym.vector.SyncVectorEnv):
    """Copies of an environment, stepped together; each is `Resumable`, and so are they all.

    `trace` writes down the way of every copy, `resume` lets each of them go its own.
    """

    envs: list[Resumable]  # type: ignore[assignment]  # what `make_vector_env` makes them of

    def trace(self) -> list[dict | None]:
        """The way of each copy."""
        return [env.trace() for env in self.envs]

    def resume(self, traces: list[dict | None]) -> bool:
        """Let each copy go its way. Gives whether all came to the same place."""
        if not isinstance(traces, list) or len(traces) != self.num_envs:
            return False
        pairs = zip(self.envs, traces, strict=True)
        if not all(env.resume(trace) for env, trace in pairs):
            return False
        # gymnasium's note on which copies the next step has to reset.
        self._autoreset_envs = np.array([env.over for env in self.envs])
        return True


def _random_state(env: gym.Env) -> dict | None:
    """The state of the environment's random generator, if it is one of gymnasium's."""
    generator = getattr(env.unwrapped.np_random, "bit_generator", None)
    # Other generators keep arrays in their state.
    return dict(generator.state) if isinstance(generator, np.random.PCG64) else None
