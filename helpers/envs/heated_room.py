"""A room, a radiator and the weather: lesson 05's example of an environment of one's own."""

import gymnasium as gym
import numpy as np


class HeatedRoom(gym.Env):
    """Keep a room at 20 °C. One step is 10 minutes.

    Observed: the temperatures of room, radiator and outdoors in °C, (3,) float32. Action: the
    heating power in kW, (1,), from 0 to 3. Reward: minus the degrees away from 20, minus 0.2 for
    each kW. No state is terminal: the time limit belongs to whoever makes the environment.
    """

    def __init__(self):
        # 1. What is observed and what can be done: units that people use, and true bounds.
        low, high = np.array([-20, -20, -20]), np.array([50, 100, 40])
        self.observation_space = gym.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gym.spaces.Box(0, 3, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        # 2. Gymnasium keeps the seed. All chance comes from `self.np_random`.
        super().reset(seed=seed)
        # 3. Everything that an episode has changed begins anew.
        self.room, self.outdoors = self.np_random.uniform([12, -5], [18, 10])
        self.radiator = self.room
        return self.observe(), {}

    def step(self, action):
        power = float(np.clip(action[0], 0, 3))
        # 4. Heat flows from the radiator into the room, and from the room outdoors.
        gained = 0.06 * (self.radiator - self.room)
        lost = 0.06 * (self.room - self.outdoors)
        self.radiator += (power - gained) / 6 / 0.05
        self.room += (gained - lost) / 6 / 0.5
        # 5. The observation and the reward are those after the action.
        obs = self.observe()
        reward = -abs(self.room - 20) - 0.2 * power
        return obs, reward, False, False, {}

    def observe(self):
        # 6. A new array each time: whoever keeps the last one finds it unchanged.
        return np.array([self.room, self.radiator, self.outdoors], np.float32)
