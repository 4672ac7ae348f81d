"""Spaces in plain values, so that a file of demonstrations can say where it belongs."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from helpers.envs.make import one_line


def describe_spaces(env: gym.Env) -> dict[str, dict]:
    """Both spaces in plain values. Raises `ValueError` if demonstrations cannot hold such."""
    obs_space: Any = env.observation_space
    action_space: Any = env.action_space
    discrete = isinstance(action_space, spaces.Discrete)
    usable = discrete or isinstance(action_space, spaces.Box)
    if not usable or not isinstance(obs_space, spaces.Box):
        raise ValueError(
            "Demonstrations hold Box observations and Box or Discrete actions, this environment "
            f"has {one_line(obs_space)} and {one_line(action_space)}: choose another one."
        )
    if discrete:
        action = {"kind": "Discrete", "n": int(action_space.n), "start": int(action_space.start)}
    else:
        action = _describe_box(action_space)
    return {"observation": _describe_box(obs_space), "action": action}


def _describe_box(space: spaces.Box) -> dict:
    return {
        "kind": "Box",
        "shape": list(space.shape),
        "dtype": str(space.dtype),
        "low": _describe_bounds(space.low),
        "high": _describe_bounds(space.high),
    }


def _describe_bounds(bounds: np.ndarray) -> list:
    """One number where all are equal. JSON has no infinity: it becomes a word."""
    flat = [float(bound) for bound in bounds.ravel()]
    flat = flat[:1] if len(set(flat)) == 1 else flat
    return [bound if np.isfinite(bound) else str(bound) for bound in flat]
