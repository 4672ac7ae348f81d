"""A tiny world in which a whole training loop is tried: what it does wrong, and what it learns.

Four rooms in a row, at 0, 0.3, 0.6 and 1 of the only observation. An episode begins in room 0, 0.6
or 1. What each is worth is known, with the discount `GAMMA`:

    room 0     leads to room 0.3                          GAMMA
    room 0.3   reward 1, the episode terminates           1
    room 0.6   reward 1, stays there, is truncated        1 / (1 - GAMMA)
    room 1     reward action, terminates                  1, by the action 1
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import torch

from helpers.algorithms.shared import GaussianNoise

GAMMA = 0.8
ROOMS = (0.0, 0.3, 0.6, 1.0)
# Room -> where it leads, reward, terminated, truncated; in room 1 the action decides the reward.
MOVES = {0.0: (0.3, 0.0, False, False), 0.3: (-1.0, 1.0, True, False), 0.6: (0.6, 1.0, False, True)}


class Rooms(gym.Env):
    """The four rooms. `faults` says what a loop did that no loop should do."""

    latest: ClassVar["Rooms"]  # the one that was made last

    def __init__(self) -> None:
        self.observation_space = self.action_space = gym.spaces.Box(-1, 1, (1,), np.float32)
        self.faults: dict[str, None] = {}
        self.actions: list[float] = []
        self.steps, self.seeded, self.over = 0, 0, True
        Rooms.latest = self

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.seeded += seed is not None
        if self.seeded > 1:
            self.faults["seeds the environment at more than one reset"] = None
        if not self.over:
            self.faults["resets in the middle of an episode"] = None
        self.room, self.over = float(self.np_random.choice([0.0, 0.6, 1.0])), False
        return np.array([self.room], np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        if self.over:
            self.faults["takes a step after the end of an episode, without a reset"] = None
        if abs(float(action[0])) > 1.0001:
            self.faults["sends actions beyond [-1, 1]"] = None
        self.steps += 1
        room = min(ROOMS, key=lambda room: abs(room - self.room))
        self.room, reward, terminated, truncated = MOVES.get(
            room, (-1.0, float(action[0]), True, False)
        )
        if room == 1.0:
            self.actions.append(float(action[0]))
        self.over = terminated or truncated
        return np.array([self.room], np.float32), reward, terminated, truncated, {}


if "Rooms-v0" not in gym.registry:  # graders load this module more than once
    gym.register("Rooms-v0", "helpers.exercises.rooms:Rooms", disable_env_checker=True)


def in_the_rooms(settings: Any) -> Any:
    """An off-policy algorithm's settings for a training of a second in the rooms.

    On 12 of 12 seeds DDPG's values are then within a fifth of what is right.
    """
    return replace(
        settings, env_id="Rooms-v0", steps=700, learning_starts=200, batch_size=32, gamma=GAMMA,
        tau=0.05, reward_scale=0.5, noise=GaussianNoise(0.3), actor_learning_rate=5e-4,
        critic_learning_rate=5e-3,
    )  # fmt: skip


def observe_loop(train: Callable, settings: Any, seed: int) -> dict[str, Any]:
    """What the loop `train(settings, seed)` did in the rooms, and what its agent has learned.

    To be compared with a tolerance of a fifth: another order of random numbers is another training.
    """
    agent = train(settings, seed)
    world, obs = Rooms.latest, torch.tensor(ROOMS).unsqueeze(1)
    if world.steps != settings.steps:
        world.faults[f"takes {world.steps} steps, not {settings.steps}"] = None
    if np.std(world.actions[-30:]) < 0.02:
        world.faults["does not explore once the actor acts"] = None
    with torch.no_grad():
        action = agent.actor(obs)
        values = agent.critic(obs, action)
        if isinstance(values, tuple):  # twin critics
            values = torch.minimum(*values)
    return {
        "fault of the loop": next(iter(world.faults), "none"),
        "values of the four rooms": values.numpy() / settings.reward_scale,
        "action in the last room": float(action[-1]),
    }
