"""Environments that go on in the middle of an episode, in another process or on another day.

An environment in the middle of an episode cannot be written to a file: it may hold anything, a
simulator's memory too. What can be written is the way that led there: the state of its random
generator before the reset, and the actions since. A fresh environment that starts as that one did,
and is acted in as it was, comes to the same place, to the last bit, if all its randomness comes
from that generator, as gymnasium asks for.
"""

import math
import reprlib
import warnings
from collections import deque
from collections.abc import Collection, Iterator
from numbers import Number
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from helpers.envs.flat import as_held, cannot_hold

LONGEST = 100_000  # steps remembered; an episode that never ends must not fill the memory
GLANCE = reprlib.Repr()  # of a long list or a large array the beginning and the end
GLANCE.maxother = 2_000  # characters
DIVERGED = (
    "training has diverged; begin anew with a smaller learning rate, smaller rewards "
    "(reward_scale), or normalize=('obs', 'rewards')."
)


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
        self.space: Any = self.observation_space  # asked for in every step
        # Of actions of shape () gymnasium's vector hands on numbers, and not arrays.
        space = self.action_space
        self.takes_scalar = isinstance(space, spaces.Box) and space.shape == ()
        self.start: int | dict | None = None  # a seed, or a random state; None is an unknown way
        self.steps: deque[Any] = deque(maxlen=LONGEST)  # the actions of the episode
        self.last: tuple = (None, 0.0, True, True, {})  # what the last step gave
        # Observation, reward and ends of all steps, if somebody watches (and empties it).
        self.seen: list[tuple] | None = None
        self.last_step: tuple | None = None  # observation, action, and what came of them
        self.left_at: dict[str, Any] | None = None  # what was there, see `leave`
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
        obs, info = _reset(self.env, seed, options)
        obs = self._checked(obs)
        self.start, self.last = start, (obs, 0.0, False, False, info)
        if self.seen is not None:
            self.seen.append((obs, None, False, False))
        self.steps.clear()
        self.episode_return, self.episode_length = 0.0, 0
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict]:
        kept = action = np.asarray(action) if self.takes_scalar else action
        if isinstance(action, np.ndarray):
            kept = action.copy()  # the environment may write into the array
            if not all(map(math.isfinite, action.flat)):  # a tenth of the time of np.isfinite
                raise ValueError(f"The agent's action is NaN or infinite: {DIVERGED}")
        obs, result = self.last[0], _answer(self.env.step(action))
        self.last = self._checked(result[0]), *result[1:]
        self.last_step = obs, kept, self.last
        if self.seen is not None:
            self.seen.append(self.last[:4])
        self.steps.append(kept)
        self.episode_return += float(self.last[1])
        self.episode_length += 1
        if self.episode_length == LONGEST:
            warnings.warn(
                f"An episode has taken {LONGEST:,} steps: if nothing ends it, give it a limit, "
                "gymnasium.wrappers.TimeLimit(env, steps).",
                stacklevel=2,
            )
        return self.last

    def leave(self) -> None:
        """Training stops here for now; `was_used` says later whether all is as it was."""
        self.left_at = _state(self)

    def was_used(self) -> bool:
        """Whether somebody else has acted in it since `leave`, as far as can be seen."""
        if self.left_at is None:
            return False
        now = _state(self)
        # What can be seen only now or only then, such as a window, is no sign of a step.
        return any(now.get(name, was) != was for name, was in self.left_at.items())

    def __getstate__(self) -> dict[str, Any]:
        """A copy, pickled or not, was used by nobody, but can look different to `was_used`."""
        return {**vars(self), "left_at": None}

    def _checked(self, obs: Any) -> np.ndarray:
        """A copy, since the environment may give the same array each time, and write into it.

        What consists of parts is looked at by who flattens it.
        """
        if not isinstance(self.space, spaces.Box):
            return obs
        try:
            array = np.array(obs)
        except (ValueError, RuntimeError) as error:  # rows of several lengths; torch has its own
            raise ValueError(
                f"The environment returned an observation that is no array ({error}): mend it."
            ) from error
        if array.shape != self.space.shape:
            raise ValueError(
                f"The environment returned an observation of shape {array.shape}, and its "
                f"observation_space says {self.space.shape}: mend one of them."
            )
        if (held := as_held(array, self.space.dtype)) is None:
            raise cannot_hold(self.space, array)
        return held

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

    def _add_info(self, vector_infos: dict, env_info: dict, env_num: int) -> dict:
        """Nothing: nobody reads it, and not every info fits into gymnasium's arrays."""
        return vector_infos

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


def _reset(env: gym.Env, seed: int | None, options: dict | None) -> tuple[Any, dict]:
    """Observation and info. Raises `ValueError` if the environment's `reset` is an old one."""
    wanted = "The environment's reset must take seed and options, and give (observation, info)"
    try:
        result = env.reset(seed=seed, options=options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise ValueError(f"{wanted}, as gymnasium's do ({error}).") from error
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        raise ValueError(f"{wanted}, with a dict, as gymnasium's do, not {_kinds(result)}.")
    return result


def wrappers_of(env: gym.Env) -> Iterator[gym.Wrapper]:
    """The wrappers around an environment, from the outermost on."""
    while isinstance(env, gym.Wrapper):
        yield env
        env = env.env


def _state(env: gym.Env) -> dict[str, Any]:
    """What tells whether an environment was acted in: its steps, as the outermost time limit has
    counted them, its random generator, and its numbers, as far as a glance at them shows.
    """
    counted = [each._elapsed_steps for each in wrappers_of(env) if isinstance(each, TimeLimit)]
    numbers = {
        name: GLANCE.repr(value)
        for name, value in vars(env.unwrapped).items()
        if isinstance(value, Number | Collection)
    }
    return {"steps counted": counted[:1], "random state": _random_state(env), **numbers}


def _kinds(result: Any) -> str:
    """What an environment gave, in words."""
    if not isinstance(result, tuple):
        return type(result).__name__
    return f"({', '.join(type(each).__name__ for each in result)})"


def _answer(result: Any) -> tuple:
    """What a step gave. Raises `ValueError` if it is no answer of gymnasium's."""
    if (
        not (isinstance(result, tuple) and len(result) == 5 and isinstance(result[4], dict))
        or not _is_flag(result[2])
        or not _is_flag(result[3])
    ):
        raise ValueError(
            "The environment's step must give (observation, reward, terminated, truncated, "
            "info), True or False in the middle and a dict at the end, as gymnasium's do, not "
            f"{_kinds(result)}."
        )
    if not _is_number(reward := result[1]):
        raise ValueError(
            f"The environment returned the reward {reward!r}, which must be one finite number."
        )
    return result


def _is_flag(end: Any) -> bool:
    """Whether it is one truth value or number: the text "False" would end every episode."""
    is_number = hasattr(end, "__float__") and getattr(end, "ndim", 0) == 0
    return isinstance(end, (bool, np.bool_)) or is_number


def _is_number(reward: Any) -> bool:
    try:
        return math.isfinite(reward)
    except (TypeError, ValueError, OverflowError):
        return False


def _random_state(env: gym.Env) -> dict | None:
    """The state of the environment's random generator, if it is one of gymnasium's."""
    generator = getattr(env.unwrapped.np_random, "bit_generator", None)
    # Other generators keep arrays in their state.
    return dict(generator.state) if isinstance(generator, np.random.PCG64) else None
