"""Two poles on a cart, one on top of the other: hard to balance, and no state is worth over 100."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from PIL import Image, ImageDraw

CART, BALL, LENGTH, GRAVITY = 1.0, 0.1, 0.5, 9.8  # kg, kg at each pole's end, m, m/s^2
FORCE, DT = 10.0, 0.01  # N, s: a step is two of these
FALLEN = 2.4, 0.35, 0.35  # m, rad, rad: beyond one of these the episode ends


class DoublePole(gym.Env):
    """A cart balances two poles: 1 a step, until one leans or the cart is off the rail.

    Observations: the cart's position (m), both poles' angles from upright (rad), and the three
    velocities. The action is a force in units of `FORCE`. `DoublePole-v0`, registered by
    `helpers.envs.make`, is truncated after 500 steps.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 50}
    observation_space = gym.spaces.Box(-np.inf, np.inf, (6,))
    action_space = gym.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Everything within 0.05 of upright and at rest. `options` are ignored."""
        super().reset(seed=seed)
        self.place, self.speed = self.np_random.uniform(-0.05, 0.05, (2, 3))
        return self.obs(), {}

    def obs(self) -> np.ndarray:
        return np.array([*self.place, *self.speed], np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One fiftieth of a second under a force within [-1, 1] times `FORCE`."""
        force = FORCE * np.clip(action[0], -1, 1)
        for _ in range(2):
            self.speed = self.speed + DT * acceleration(self.place, self.speed, force)
            self.place = self.place + DT * self.speed
        fallen = bool((np.abs(self.place) > FALLEN).any())
        return self.obs(), 1.0, fallen, False, {}

    def render(self) -> np.ndarray:
        """A picture (200, 400, 3) in uint8, 80 pixels a metre."""
        picture = Image.new("RGB", (400, 200), "white")
        draw, (x, lower, upper) = ImageDraw.Draw(picture), self.place
        poles = [[LENGTH * np.sin(angle), LENGTH * np.cos(angle)] for angle in (lower, upper)]
        points = np.cumsum([[x, 0.0], *poles], axis=0) * [80, -80] + [200, 150]
        draw.line([0, 158, 400, 158], "grey", 1)
        draw.rectangle([*(points[0] - [16, 0]), *(points[0] + [16, 8])], "black")
        draw.line([*map(tuple, points)], "chocolate", 5)
        return np.asarray(picture)


def acceleration(place: np.ndarray, speed: np.ndarray, force: float) -> np.ndarray:
    """Of the cart (m/s^2) and both poles (rad/s^2), by Lagrange's equations for point masses."""
    (_, a, b), (_, p, q) = place, speed
    both, one = 2 * BALL * LENGTH, BALL * LENGTH
    near, far, cross = both * np.cos(a), one * np.cos(b), one * LENGTH * np.cos(a - b)
    masses = [
        [CART + 2 * BALL, near, far],
        [near, both * LENGTH, cross],
        [far, cross, one * LENGTH],
    ]
    twist = one * LENGTH * np.sin(a - b)
    forces = [
        force + both * p * p * np.sin(a) + one * q * q * np.sin(b),
        both * GRAVITY * np.sin(a) - twist * q * q,
        one * GRAVITY * np.sin(b) + twist * p * p,
    ]
    return np.linalg.solve(masses, forces)
