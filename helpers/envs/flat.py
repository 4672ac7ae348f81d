"""Observations that are not an array of numbers, as one: choices one-hot, parts side by side.

What gymnasium's `flatten` makes of them: a `Discrete` or `MultiDiscrete` choice becomes zeros and a
one, and the parts of a `Tuple` or `Dict` stand in a row.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def flat_space(space: spaces.Space) -> spaces.Box | None:
    """The Box of what networks get from `space`; None if that cannot be.

    A Box stays as it is. Within a `Tuple` or `Dict` no pictures can be: as one of many numbers no
    pixel is seen.
    """
    if isinstance(space, spaces.Box):
        return space
    flat = spaces.flatten_space(space) if _is_flattened(space) else None
    return flat if isinstance(flat, spaces.Box) else None


def flattened(env: gym.Env) -> gym.Env:
    """`env` itself if it shows a Box, otherwise in a wrapper that makes flat what it shows."""
    is_box = isinstance(env.observation_space, spaces.Box)
    return env if is_box else gym.wrappers.FlattenObservation(env)


def flat_rows(space: spaces.Space, obs: Any) -> tuple[np.ndarray, bool] | None:
    """Observations as a batch (B, size), and whether `obs` was only one; None if it is neither."""
    one = space.contains(obs)
    try:
        rows = [obs] if one else _rows(obs)
    except (TypeError, ValueError):
        return None
    if not all(space.contains(row) for row in rows):
        return None
    return np.stack([np.asarray(spaces.flatten(space, row)) for row in rows]), one


def _is_flattened(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Tuple):
        return all(map(_is_flattened, space.spaces))
    if isinstance(space, spaces.Dict):
        return all(map(_is_flattened, space.spaces.values()))
    is_picture = space.dtype == np.uint8 and len(space.shape or ()) > 1
    return isinstance(space, LEAVES) and not is_picture


def _rows(obs: Any) -> list:
    """A batch, of which each part has a row for each observation, as single ones."""
    if isinstance(obs, Mapping):
        parts = zip(*map(_rows, obs.values()), strict=True)
        return [dict(zip(obs, each, strict=True)) for each in parts]
    if isinstance(obs, tuple):
        return list(zip(*map(_rows, obs), strict=True))
    return list(np.asarray(obs))
