"""What a file of demonstrations says about where it belongs."""

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from helpers.envs.make import one_line
from helpers.envs.plain_spaces import describe_space


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
    return {"observation": describe_space(obs_space), "action": describe_space(action_space)}
