"""Two poles on a cart, one on top of the other: hard to balance, and no state is worth over 100."""

from math import cos, sin
from typing import Any

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

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012  (as gymnasium)
    observation_space = gym.spaces.Box(-np.inf, np.inf, (6,))
    action_space = gym.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Everything within 0.05 of upright and at rest. `options` are ignored."""
        super().reset(seed=seed)
        self.place, self.speed = self.np_random.uniform(-0.05, 0.05, (2, 3)).tolist()
        return self.obs(), {}

    def obs(self) -> np.ndarray:
        return np.array([*self.place, *self.speed], np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One fiftieth of a second under a force within [-1, 1] times `FORCE`."""
        force = FORCE * min(max(float(action[0]), -1.0), 1.0)
        for _ in range(2):
            rates = acceleration(self.place, self.speed, force)
            self.speed = [v + DT * rate for v, rate in zip(self.speed, rates, strict=True)]
            self.place = [x + DT * v for x, v in zip(self.place, self.speed, strict=True)]
        fallen = any(abs(x) > most for x, most in zip(self.place, FALLEN, strict=True))
        return self.obs(), 1.0, fallen, False, {}

    def render(self) -> np.ndarray:
        """A picture (200, 400, 3) in uint8, 80 pixels a metre."""
        picture = Image.new("RGB", (400, 200), "white")
        draw, (x, lower, upper) = ImageDraw.Draw(picture), self.place
        poles = [[LENGTH * sin(angle), LENGTH * cos(angle)] for angle in (lower, upper)]
        points = np.cumsum([[x, 0.0], *poles], axis=0) * [80, -80] + [200, 150]
        draw.line([0, 158, 400, 158], "grey", 1)
        draw.rectangle([*(points[0] - [16, 0]), *(points[0] + [16, 8])], "black")
        draw.line([*map(tuple, points)], "chocolate", 5)
        return np.asarray(picture)


def acceleration(place: list[float], speed: list[float], force: float) -> list[float]:
    """Of the cart (m/s^2) and both poles (rad/s^2), by Lagrange's equations for point masses."""
    (_, lower, upper), (_, p, q) = place, speed
    # M x = f for the three accelerations x; M is symmetric.
    two, one = 2 * BALL * LENGTH, BALL * LENGTH
    twist = one * LENGTH * sin(lower - upper)
    a, b, c = CART + 2 * BALL, two * cos(lower), one * cos(upper)
    d, e, f = two * LENGTH, one * LENGTH * cos(lower - upper), one * LENGTH
    x = force + two * p * p * sin(lower) + one * q * q * sin(upper)
    y = two * GRAVITY * sin(lower) - twist * q * q
    z = one * GRAVITY * sin(upper) + twist * p * p
    # By cofactors: numpy's solver would take most of a step's time.
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
    size = a * aa + b * bb + c * cc
    rows = (aa, bb, cc), (bb, dd, ee), (cc, ee, ff)
    return [(u * x + v * y + w * z) / size for u, v, w in rows]
