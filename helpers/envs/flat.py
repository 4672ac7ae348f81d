"""Observations that are not an array of numbers, as one: choices one-hot, parts side by side.

What gymnasium's `flatten` makes of them: a `Discrete` or `MultiDiscrete` choice becomes zeros and a
one, and the parts of a `Tuple` or `Dict` stand in a row.
"""

import functools
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
FLOAT = np.dtype(np.float32)  # what networks take
REFUSALS = (ValueError, TypeError, LookupError, OverflowError)  # of what cannot be an observation


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
    space = env.observation_space
    if isinstance(space, spaces.Box):
        return env
    shown = functools.partial(_flat_or_why_not, space)
    return gym.wrappers.TransformObservation(env, shown, spaces.flatten_space(space))


def flat_rows(space: spaces.Space, obs: Any) -> tuple[np.ndarray, bool] | None:
    """Observations as a batch (B, size), and whether `obs` was only one; None if it is neither."""
    if (row := _flat(space, obs)) is not None:
        return row[None], True
    try:
        rows = [_flat(space, each) for each in _rows(space, obs)]
    except REFUSALS:
        return None
    fitting = [row for row in rows if row is not None]
    return (np.stack(fitting), False) if len(fitting) == len(rows) > 0 else None


def cannot_hold(space: Any, obs: Any) -> ValueError:
    """The one sentence about an observation that is none of `space`."""
    shown, wanted = (" ".join(str(each).split()) for each in (obs, space))
    floats = isinstance(space, spaces.Box) and space.dtype.kind == "f"
    finite = f" as finite {min(space.dtype, FLOAT)}" if floats else ""
    return ValueError(
        f"The environment returned the observation {shown:.80}, which {wanted} cannot hold"
        f"{finite}: mend one of them."
    )


def _flat_or_why_not(space: spaces.Space, obs: Any) -> np.ndarray:
    row = _flat(space, obs)
    if row is None:
        raise cannot_hold(space, obs)
    return row


def _flat(space: spaces.Space, obs: Any) -> np.ndarray | None:
    """One observation (size,), or None if it is none."""
    try:
        return np.asarray(spaces.flatten(space, _as_held(space, obs)))
    except REFUSALS:
        return None


def as_held(given: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """What an environment gave, as the `dtype` of its space; None if that would be other numbers.

    200 is no int8, 0.3 no whole number, NaN and a text none at all. Floats may be rounded: they
    stay as precise as they were given.
    """
    # Nearly always the first lines tell, in a third of the time.
    if given.dtype == dtype and (dtype.kind != "f" or float(np.vdot(given, given)) < 1e30):
        return given
    if given.dtype.kind not in "biuf":
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
        held = given if dtype.kind == given.dtype.kind == "f" else given.astype(dtype)
    fits = np.abs(held) <= np.finfo(min(dtype, FLOAT)).max if dtype.kind == "f" else held == given
    return held if fits.all() else None


def _as_held(space: Any, obs: Any) -> Any:
    """`obs` with arrays of the space's own kind, or an error: see `REFUSALS`.

    As where a Box is all there is, numbers may be of another kind, in lists, or out of bounds.
    """
    if isinstance(space, spaces.Dict):
        return {name: _as_held(part, obs[name]) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_as_held(*pair) for pair in zip(space.spaces, obs, strict=True))
    given = np.asarray(obs)
    held = as_held(given, space.dtype)
    inside = held is not None and (isinstance(space, spaces.Box) or space.contains(held))
    if given.shape != space.shape or not inside:
        raise ValueError(f"{obs!r} is no {space}")
    return held


def _is_flattened(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Tuple):
        return all(map(_is_flattened, space.spaces))
    if isinstance(space, spaces.Dict):
        return all(map(_is_flattened, space.spaces.values()))
    is_picture = space.dtype == np.uint8 and len(space.shape or ()) > 1
    return isinstance(space, LEAVES) and not is_picture


def _rows(space: spaces.Space, obs: Any) -> list:
    """A batch, of which each part has a row for each observation, as single ones."""
    if isinstance(space, spaces.Dict):
        parts = zip(*(_rows(part, obs[name]) for name, part in space.items()), strict=True)
        return [dict(zip(space, each, strict=True)) for each in parts]
    if isinstance(space, spaces.Tuple):
        pairs = zip(space.spaces, obs, strict=True)
        return list(zip(*(_rows(part, each) for part, each in pairs), strict=True))
    return list(np.asarray(obs))
