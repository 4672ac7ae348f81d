"""Two units: [-1, 1], in which agents think, and those of the environment."""

import numpy as np
from gymnasium import spaces

from helpers.envs.make import one_line


def to_env_units(action: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """From [-1, 1] to [low, high], in a straight line: -1 becomes `low`, 1 becomes `high`.

    `action` (..., *action shape), `low` and `high` (*action shape); returns the shape of `action`.
    """
    # 1. Where the action stands between the bounds: 0 at the lower, 1 at the upper.
    fraction = (action + 1) / 2
    # 2. That fraction of the way from low to high, for each dimension its own.
    return low + fraction * (high - low)


def to_scaled(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """From [low, high] to [-1, 1]: the inverse of `to_env_units`, same shapes."""
    return 2 * (values - low) / (high - low) - 1


def observation_bounds(space: spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    """The `low` and `high` that `to_scaled` needs for observations, flat: (obs_size,) each.

    Where the space names no range, or one that is no more than "any number", they are -1 and 1,
    which leaves that number as it is.
    """
    low, high = space.low.ravel().astype(np.float64), space.high.ravel().astype(np.float64)
    meant = (high - low > 0) & (high - low < 1e6)
    return np.where(meant, low, -1.0), np.where(meant, high, 1.0)


def check_bounded(agent: str, space: spaces.Box) -> None:
    """Raise `ValueError` unless every dimension of the action space has a finite, wide range."""
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise ValueError(
            f"{agent} needs bounds on every action, this environment has {one_line(space)}: give "
            "its action space finite bounds, for example with gymnasium.wrappers.TransformAction."
        )
    if not (space.low < space.high).all():
        raise ValueError(f"{agent} needs low < high for every action, got {one_line(space)}.")
