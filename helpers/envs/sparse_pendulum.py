"""A pendulum with a sparse reward: nothing until it stands, and nobody says how to get it there."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv, angle_normalize

UPRIGHT = 0.2  # rad from upright; within it, and slower than
SLOW = 1.0  # rad/s, a step earns its reward
SPREAD = 0.3  # of the start around hanging still: rad, and rad/s
KNOCK_AT = 100  # the step before which it is hit, if it is


class SparsePendulum(PendulumEnv):
    """Pendulum-v1 with its dynamics, observations and actions, but another start and reward.

    It starts hanging, within `SPREAD` of still. A step that ends within `UPRIGHT` of the top and
    slower than `SLOW` earns 1, every other one 0. The return is the number of steps for which it
    stood. `SparsePendulum-v0`, registered by `helpers.envs.make`, is cut after 200 steps; nothing
    terminates it. In `KnockedPendulum-v0` somebody hits it halfway: its speed changes by `knock`
    (rad/s) from one step to the next, to either side.
    """

    def __init__(self, knock: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.knock = knock

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """The start of an episode. `options` are ignored."""
        gym.Env.reset(self, seed=seed)  # Pendulum's own would draw a start as well
        self.state = self.np_random.uniform([np.pi - SPREAD, -SPREAD], [np.pi + SPREAD, SPREAD])
        self.hit = self.knock * self.np_random.choice([-1, 1]) if self.knock else 0.0
        self.last_u, self.taken = None, 0
        if self.render_mode == "human":
            self.render()
        return self._get_obs(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One twentieth of a second under a torque within [-2, 2]."""
        if self.taken == KNOCK_AT:
            self.state[1] += self.hit
        self.taken += 1
        obs, _, terminated, truncated, info = super().step(action)
        angle, speed = angle_normalize(self.state[0]), self.state[1]
        reward = float(abs(angle) < UPRIGHT and abs(speed) < SLOW)
        return obs, reward, terminated, truncated, info
