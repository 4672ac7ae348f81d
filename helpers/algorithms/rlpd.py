"""Reinforcement learning with prior data (RLPD): old data and own steps; from top to bottom.

Source: Ball, Smith, Kostrikov & Levine 2023, "Efficient Online Reinforcement Learning with Offline
Data", Algorithm 1. It is SAC with changes in lines 1, 2, 6 and 7; in the code `# 7` marks line 7:

     1  critics Q1, Q2 with LayerNorm, actor pi, alpha: random weights; Q1', Q2': copies
     2  replay buffer D with the old data, empty replay buffer R
     3  for every step:
     4      a sampled from pi(.|s); observe r and s'
     5      store (s, a, r, s') in R
     6      repeat `gradient_steps` times:
     7          sample half of a batch from R and half from D
     8          update critics, actor and temperature as SAC does

The authors have ten critics. A target takes the lower of two that are chosen at random, and the
actor learns from the mean of all, once after the updates of a step. Here are two critics, and actor
and temperature learn as often as they do.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Adam

from helpers.algorithms import sac, shared
from helpers.algorithms.cloning import DEMOS
from helpers.algorithms.ddpg import QNetwork
from helpers.algorithms.td3 import TwinQNetwork
from helpers.algorithms.td3_bc import read_data
from helpers.memory.buffers import Batch, ReplayBuffer


@dataclass(frozen=True)
class Settings:
    env_id: str = "helpers.envs.make:SparsePendulum-v0"
    demos: Path = DEMOS / "clumsy_pendulum.npz"
    steps: int = 6_000
    learning_starts: int = 100  # so many steps are uniformly random
    gradient_steps: int = 2  # so many updates come with every step
    gamma: float = 0.99
    tau: float = 0.02
    temperature: float = 0.1  # alpha, where its learning starts
    batch_size: int = 128
    buffer_size: int = 100_000
    reward_scale: float = 1.0  # the replay buffers hold rewards times this
    actor_learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3
    temperature_learning_rate: float = 1e-3


SPARSE_PENDULUM = Settings()


class NormedQNetwork(QNetwork):
    """Q with a LayerNorm between each hidden layer and its ReLU: values (B,)."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__(obs_size, action_dim, hidden)
        # 1. One for each hidden layer; both begin with scale 1 and shift 0.
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = torch.cat([obs, action], dim=-1)
        # 2. Layer, LayerNorm, ReLU, twice. Nothing after the last layer.
        x = torch.relu(self.norm1(self.hidden1(x)))
        x = torch.relu(self.norm2(self.hidden2(x)))
        return self.output(x).squeeze(-1)


class NormedTwinQNetwork(TwinQNetwork):
    """Two such critics with weights of their own."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        nn.Module.__init__(self)
        self.first = NormedQNetwork(obs_size, action_dim, hidden)
        self.second = NormedQNetwork(obs_size, action_dim, hidden)


def symmetric_sample(own: ReplayBuffer, old: ReplayBuffer, batch_size: int) -> Batch:
    """A batch whose first half is the agent's own transitions, and the second half old data.

    However many there are of each: old data are never diluted. An odd row is the agent's own.
    Source: Ball et al. 2023 ("symmetric sampling").
    """
    # 1. Half of the batch from each.
    half = batch_size // 2
    parts = zip(own.sample(batch_size - half), old.sample(half), strict=True)
    # 2. Field by field one below the other.
    return Batch(*(torch.cat(pair) for pair in parts))


class Agent(sac.Agent):
    """SAC's agent with LayerNorm in its critics."""

    def __init__(self, env: Any, s: Settings) -> None:
        super().__init__(env, s)
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self.critic = NormedTwinQNetwork(*sizes)  # 1
        self.target_critic = copy.deepcopy(self.critic)
        self.critic_optimizer = Adam(self.critic.parameters(), s.critic_learning_rate, fused=True)


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    obs_shape, action_shape = env.observation_space.shape, env.action_space.shape
    agent = Agent(env, s)  # 1
    old = read_data(s.demos, env, s.reward_scale, rng)  # 2
    own = ReplayBuffer(s.buffer_size, obs_shape, action_shape, rng)
    obs, total = env.reset(seed=seed)[0], 0.0
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 3
        if step > s.learning_starts:
            action = agent.act(obs, rng)  # 4
        else:
            action = rng.uniform(-1, 1, action_shape).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        own.add(obs, action, s.reward_scale * reward, next_obs, terminated, truncated)  # 5
        obs, total = next_obs, total + reward
        if step >= s.learning_starts:
            for _ in range(s.gradient_steps):  # 6
                batch = symmetric_sample(own, old, s.batch_size)  # 7
                losses = sac.update(agent, batch, s, rng)  # 8
            if step % 50 == 0:
                shared.log(agent.history, step, losses)
        if terminated or truncated:
            shared.log(agent.history, step, {"return": total})
            obs, total = env.reset()[0], 0.0
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(SPARSE_PENDULUM, watch=shared.printed)
