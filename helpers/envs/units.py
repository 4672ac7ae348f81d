"""Two units: [-1, 1], in which agents think, and those of the environment."""

import warnings
from typing import Any

import gymnasium as gym
import numpy as np

from helpers.envs.make import one_line, picture_axes, picture_shape

TIGHT = 0.05  # of the range that a space names; see `warn_of_loose_bounds`
ENOUGH = 300  # observations; of fewer nobody knows how far they go


def to_env_units(action: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """From [-1, 1] to [low, high], in a straight line: -1 becomes `low`, 1 becomes `high`.

    `action` (..., *action shape), `low` and `high` (*action shape); returns the shape of `action`.
    """
    # 1. Where the action stands between the bounds: 0 at the lower, 1 at the upper.
    fraction = (action + 1) / 2
    # 2. That fraction of the way from low to high, separately in each dimension.
    return low + fraction * (high - low)


def to_scaled(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """From [low, high] to [-1, 1]: the inverse of `to_env_units`, same shapes."""
    return 2 * (values - low) / (high - low) - 1


def observation_bounds(space: gym.spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    """The `low` and `high` that `to_scaled` needs for observations, flat: (obs_size,) each.

    Where the space names no range, or one that is no more than "any number", they are -1 and 1,
    which leaves that number as it is.
    """
    low, high = space.low.ravel().astype(np.float64), space.high.ravel().astype(np.float64)
    with np.errstate(over="ignore"):  # bounds of 1.7e308 are infinitely far apart
        meant = (high - low > 0) & (high - low < 1e6)
    return np.where(meant, low, -1.0), np.where(meant, high, 1.0)


def warn_of_loose_bounds(agent: Any) -> None:
    """Warn if a part of the observations in the agent's memory has moved, but within less than
    `TIGHT` of the range that its space names: networks, which get that as -1 to 1, hardly see it.
    """
    units, memory = (getattr(agent, name, None) for name in ("units", "buffer"))
    measured = agent.normalizer is not None and "obs" in agent.normalizer.parts
    if units is None or memory is None or not hasattr(memory, "arrays"):
        return  # what a memory of one's own holds nobody knows
    if units.images or measured or len(memory) < ENOUGH:
        return
    space, low, high = agent.flat_space, units.obs_low, units.obs_high
    named = (space.low.ravel() == low) & (space.high.ravel() == high)
    scaled = memory.arrays.obs[: len(memory)]
    least, most = scaled.min(axis=0), scaled.max(axis=0)
    if not (loose := np.flatnonzero(named & (most > least) & (most - least < 2 * TIGHT))).size:
        return
    part = loose[0]
    seen = to_env_units(np.array([least[part], most[part]]), low[part], high[part])
    others = f" (and {loose.size - 1} others)" if loose.size > 1 else ""
    warnings.warn(
        f"Networks hardly see number {part} of the observations{others} move: it went from "
        f"{seen[0]:.3g} to {seen[1]:.3g} so far, and its space says {low[part]:.3g} to "
        f"{high[part]:.3g}, so name tighter bounds, or set normalize=('obs',).",
        stacklevel=2,
    )


class Units:
    """Translates between an environment and networks: numbers in [-1, 1], a row an observation.

    Observations whose space names a range are brought to [-1, 1], and all are made flat; actions
    are brought to the bounds of their space, and into its shape. Pictures stay uint8, to take
    little memory, their channels first: their encoder brings them to a range.
    """

    def __init__(self, observation_space: gym.spaces.Box, action_space: gym.spaces.Box) -> None:
        self.low, self.high = action_space.low, action_space.high
        self.obs_low, self.obs_high = observation_bounds(observation_space)
        self.obs_size, self.action_size = self.obs_low.size, self.low.size
        self.axes, self.shape = picture_axes(observation_space), observation_space.shape
        self.images = self.axes is not None
        self.channels = picture_shape(observation_space)[0] if self.images else 0
        self.sizes = self.obs_size, self.action_size, self.channels

    def scaled_obs(self, obs: np.ndarray, *batch: int) -> np.ndarray:
        """Observations (*batch, *shape) for networks: (*batch, obs_size), float32 or uint8."""
        if self.axes is not None:
            axes = (*range(len(batch)), *(len(batch) + axis for axis in self.axes))
            obs = np.reshape(obs, (*batch, *self.shape)).transpose(axes)
            return obs.reshape((*batch, self.obs_size))
        obs = np.reshape(obs, (*batch, self.obs_size))
        return to_scaled(obs, self.obs_low, self.obs_high).astype(np.float32)

    def scaled_action(self, action: np.ndarray, *batch: int) -> np.ndarray:
        """Actions (*batch, *shape) as networks give them: float32 (*batch, action_size)."""
        scaled = to_scaled(action, self.low, self.high).reshape((*batch, self.action_size))
        return np.clip(scaled, -1, 1).astype(np.float32)

    def env_action(self, action: np.ndarray, *batch: int) -> np.ndarray:
        """A network's actions (*batch, action_size) as the environment takes them."""
        action = to_env_units(action.reshape((*batch, *self.low.shape)), self.low, self.high)
        # Rounding may have led just over a bound, where strict environments refuse the action.
        return np.asarray(np.clip(action, self.low, self.high), self.low.dtype)


def check_bounded(agent: str, space: gym.spaces.Box) -> None:
    """Raise `ValueError` unless every dimension of the action space has a finite, wide range."""
    # From the lowest number to the highest no width can be computed: they mean "any number".
    largest = min(np.finfo(space.dtype).max, np.finfo(np.float32).max) / 2  # type: ignore[type-var]
    if not (np.abs([space.low, space.high]) < largest).all():
        raise ValueError(
            f"{agent} needs bounds on every action, this environment has {one_line(space)}: give "
            "its actions bounds such as -1 and 1, for example with gymnasium.wrappers."
            "TransformAction."
        )
    if not (space.low < space.high).all():
        raise ValueError(f"{agent} needs low < high for every action, got {one_line(space)}.")


def check_widths(agent: str, space: gym.spaces.Box) -> None:
    """Raise `ValueError` if finite bounds are so far apart that no width can be computed."""
    finite = np.isfinite(space.low) & np.isfinite(space.high)
    with np.errstate(over="ignore", invalid="ignore"):
        width = (space.high - space.low).astype(np.float32)
    if np.isinf(width[finite]).any():
        raise ValueError(
            f"{agent} cannot scale actions to bounds as far apart as those of {one_line(space)}: "
            "write infinity where there is none, or give bounds such as -1 and 1."
        )
