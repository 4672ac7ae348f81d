"""Observations to look at: what a camera sees of an environment, in place of its numbers."""

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from helpers.envs.make import one_line, without_screen


class Pixels(gym.Wrapper, RecordConstructorArgs):
    """The environment seen through a camera: small grey pictures, the last few of them stacked.

    An observation is uint8 (`frames`, `size`, `size`), from 0 (black) to 255 (white), the newest
    picture last. One picture shows where things are, but not which way they move: that is seen only
    by comparing a picture with the one before it, so an agent gets several. At the start of an
    episode the first picture stands in all places, as if nothing had moved before.

    Each picture is the square of `crop` pixels in the middle of what `env.render()` draws, brought
    to `size` pixels by averaging. Every action is taken `repeat` times and the rewards are added
    up: fewer pictures to draw and to learn from, and from one to the next more has moved. Stacked
    frames and repeated actions: Mnih et al. 2015, "Human-level control through deep reinforcement
    learning".

    Raises `ValueError` unless `env` was made with `render_mode="rgb_array"`, if `size` does not
    divide `crop`, or if `crop` is larger than the picture; `RuntimeError` if the package that draws
    is missing.
    """

    def __init__(
        self, env: gym.Env, size: int = 32, crop: int = 256, frames: int = 3, repeat: int = 1
    ) -> None:
        RecordConstructorArgs.__init__(self, size=size, crop=crop, frames=frames, repeat=repeat)
        gym.Wrapper.__init__(self, env)
        if env.render_mode != "rgb_array":
            raise ValueError(
                'Pixels come from pictures: make the environment with render_mode="rgb_array", '
                f"not {env.render_mode!r}."
            )
        for name, number in {"size": size, "frames": frames, "repeat": repeat}.items():
            if number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}.")
        if crop % size:
            raise ValueError(f"size ({size}) must divide crop ({crop}): pixels are averaged.")
        self.size, self.crop, self.frames, self.repeat = size, crop, frames, repeat
        self.observation_space = gym.spaces.Box(0, 255, (frames, size, size), np.uint8)
        self.pictures: deque[np.ndarray] = deque(maxlen=frames)
        if rate := env.metadata.get("render_fps"):
            self.metadata = {**env.metadata, "render_fps": rate / repeat}
        without_screen()

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        _, info = self.env.reset(seed=seed, options=options)
        self.pictures.extend([self.look()] * self.frames)
        return np.stack(self.pictures), info

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        total = 0.0
        for _ in range(self.repeat):
            _, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        self.pictures.append(self.look())
        return np.stack(self.pictures), total, terminated, truncated, info

    def look(self) -> np.ndarray:
        """The environment as it is now: one small grey picture (size, size), uint8."""
        return small_grey(draw(self.env), self.size, self.crop)


def draw(env: gym.Env) -> np.ndarray:
    """What the environment looks like now: (H, W, 3) uint8.

    Raises `RuntimeError` if what draws it is not installed, or finds no graphics library, and
    `ValueError` if it draws something else.
    """
    try:
        picture: Any = env.render()
    except gym.error.DependencyNotInstalled as error:
        raise RuntimeError(
            "Drawing this environment needs a package that is not installed: "
            'pip install "gymnasium[classic-control]" (or [mujoco], for robots), '
            "then restart the kernel."
        ) from error
    except Exception as error:  # a missing graphics library shows itself in any way
        raise RuntimeError(
            f"This machine cannot draw the environment ({one_line(error)}). For MuJoCo's robots on "
            "a Linux machine without a screen: apt-get install libegl1, then restart the kernel."
        ) from error
    is_array = isinstance(picture, np.ndarray)
    if is_array and picture.dtype == np.uint8 and picture.shape[2:] == (3,) and picture.size:
        return picture
    gave = f"{picture.dtype} {picture.shape}" if is_array else type(picture).__name__
    raise ValueError(
        "The environment's render() must give a picture (H, W, 3) of uint8, from 0 to 255, it gave "
        f"{gave}: mend it."
    )


def small_grey(picture: np.ndarray, size: int, crop: int) -> np.ndarray:
    """The middle of a colour picture (H, W, 3), `crop` pixels wide, as uint8 (size, size).

    Each pixel is the mean of the block of pixels that it stands for, over the three colours too.
    Raises `ValueError` if the picture is smaller than `crop`.
    """
    if min(picture.shape[:2]) < crop:
        raise ValueError(
            f"crop ({crop}) must fit into the picture, which has {picture.shape[0]} x "
            f"{picture.shape[1]} pixels."
        )
    # 1. Cut the square out of the middle.
    top, left = (picture.shape[0] - crop) // 2, (picture.shape[1] - crop) // 2
    square = picture[top : top + crop, left : left + crop]
    # 2. Add up each block: first its rows, then its columns and colours.
    block = crop // size
    rows = square.reshape(size, block, crop, 3).sum(axis=1, dtype=np.uint32)
    sums = rows.reshape(size, size, block * 3).sum(axis=2)
    # 3. The mean, rounded.
    return np.round(sums / (block * block * 3)).astype(np.uint8)
