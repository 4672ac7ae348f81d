"""TD3 as one plain file, written as CleanRL writes its algorithms: a reference without any tricks.

Our own words for what single-file implementations have in common: one loop, modules of `nn.Linear`,
each critic by itself, Adam as it comes, target networks moved parameter by parameter.
"""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class QNetwork(nn.Module):
    def __init__(self, obs_size: int, action_size: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(obs_size + action_size, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.fc1(torch.cat([obs, action], 1)))
        return self.fc3(F.relu(self.fc2(x))).view(-1)


class Actor(nn.Module):
    def __init__(self, obs_size: int, space: gym.spaces.Box, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(obs_size, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc_mu = nn.Linear(hidden, len(space.low))
        self.register_buffer("scale", torch.tensor((space.high - space.low) / 2))
        self.register_buffer("bias", torch.tensor((space.high + space.low) / 2))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.fc2(F.relu(self.fc1(obs))))
        return torch.tanh(self.fc_mu(x)) * self.scale + self.bias


class SingleFileTD3:
    """`learn` and `predict`; rewards are multiplied by `reward_scale` before they are stored."""

    def __init__(
        self, env_id: str, seed: int, hidden: int, batch_size: int, learning_starts: int = 1000,
        actor_learning_rate: float = 1e-3, critic_learning_rate: float = 1e-3, gamma: float = 0.99,
        tau: float = 0.005, sigma: float = 0.1, reward_scale: float = 1.0, capacity: int = 100_000,
    ) -> None:  # fmt: skip
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.env = gym.make(env_id)
        self.space: Any = self.env.action_space
        self.space.seed(seed)
        self.obs, _ = self.env.reset(seed=seed)
        sizes = len(self.obs), len(self.space.low)
        self.actor = Actor(sizes[0], self.space, hidden)
        self.qf1, self.qf2 = QNetwork(*sizes, hidden), QNetwork(*sizes, hidden)
        self.online = [self.actor, self.qf1, self.qf2]
        self.targets = [copy.deepcopy(network) for network in self.online]
        critics = [*self.qf1.parameters(), *self.qf2.parameters()]
        self.q_optimizer = torch.optim.Adam(critics, lr=critic_learning_rate)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=actor_learning_rate)
        widths = (sizes[0], sizes[1], 1, sizes[0], 1)
        self.memory = [np.zeros((capacity, width), np.float32) for width in widths]
        self.capacity, self.batch_size, self.learning_starts = capacity, batch_size, learning_starts
        self.gamma, self.tau, self.sigma, self.reward_scale = gamma, tau, sigma, reward_scale
        self.steps = 0

    def learn(self, steps: int) -> None:
        for _ in range(steps):
            if self.steps < self.learning_starts:
                action = self.space.sample()
            else:
                noise = self.rng.normal(0, self.sigma * self.actor.scale.numpy())
                action = (self.predict(self.obs) + noise).clip(self.space.low, self.space.high)
            next_obs, reward, terminated, truncated, _ = self.env.step(action.astype(np.float32))
            place = self.steps % self.capacity
            scaled = float(reward) * self.reward_scale
            row = self.obs, action, scaled, next_obs, terminated
            for column, value in zip(self.memory, row, strict=True):
                column[place] = value
            self.obs = self.env.reset()[0] if terminated or truncated else next_obs
            self.steps += 1
            if self.steps > self.learning_starts:
                self.update()

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        with torch.no_grad():
            return self.actor(torch.as_tensor(obs, dtype=torch.float32)[None])[0].numpy()

    def update(self) -> None:
        places = self.rng.integers(min(self.steps, self.capacity), size=self.batch_size)
        obs, action, reward, next_obs, done = (
            torch.from_numpy(column[places]) for column in self.memory
        )
        target_actor, target_qf1, target_qf2 = self.targets
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5) * self.actor.scale
            low, high = torch.from_numpy(self.space.low), torch.from_numpy(self.space.high)
            next_action = (target_actor(next_obs) + noise).clamp(low, high)
            q = torch.min(target_qf1(next_obs, next_action), target_qf2(next_obs, next_action))
            target = reward.flatten() + (1 - done.flatten()) * self.gamma * q
        qf1_loss = F.mse_loss(self.qf1(obs, action), target)
        q_loss = qf1_loss + F.mse_loss(self.qf2(obs, action), target)
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()
        if self.steps % 2 == 0:
            actor_loss = -self.qf1(obs, self.actor(obs)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for network, target_network in zip(self.online, self.targets, strict=True):
                pairs = zip(network.parameters(), target_network.parameters(), strict=True)
                for new, old in pairs:
                    old.data.copy_(self.tau * new.data + (1 - self.tau) * old.data)
