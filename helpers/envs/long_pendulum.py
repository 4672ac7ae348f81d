"""A pendulum whose episodes are long: three torques to choose from, a time limit of 1,000 steps."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.wrappers import TransformAction


def long_pendulum(**kwargs: Any) -> gym.Env:
    """Pendulum-v1 with actions 0, 1 and 2 for a torque of -2, 0 and 2.

    `LongPendulum-v0`, registered by `helpers.envs.make`, truncates it after 1,000 steps.
    """

    def torque(action: int) -> np.ndarray:
        return np.array([2.0 * (action - 1)], np.float32)

    return TransformAction(PendulumEnv(**kwargs), torque, spaces.Discrete(3))
