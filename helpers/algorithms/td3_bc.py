"""TD3 with behaviour cloning (TD3+BC): learn from a data set alone; from top to bottom.

Source: Fujimoto & Gu 2021, "A Minimalist Approach to Offline Reinforcement Learning", which prints
no pseudocode; in the code `# 7` marks line 7 of ours. It is TD3's without the environment, and
line 7 has a second term:

     1  critics Q1, Q2, actor mu: random weights; targets: copies
     2  put the data set into the replay buffer R
     3  for every update:
     4      sample a random batch of transitions from R
     5      y <- r + gamma min(Q1', Q2')(s', a~), a~ as in TD3; r alone if s' is terminal
     6      minimise the mean of (y - Qi(s, a))^2 over both critics
            at every d-th update:
     7          minimise -lambda mean Q1(s, mu(s)) + mean (mu(s) - a)^2 over the actor
     8          move Q1', Q2', mu' a fraction tau towards Q1, Q2, mu

The authors also normalise the observations, feature by feature, with the mean and standard
deviation of the data set. Here they are rescaled to [-1, 1], as in all these files.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.algorithms import shared
from helpers.algorithms.cloning import DEMOS, bc_loss
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.ddpgfd import read_demos
from helpers.algorithms.td3 import (
    Agent,
    TwinQNetwork,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.memory.buffers import Batch, ReplayBuffer


@dataclass(frozen=True)
class Settings:
    env_id: str = "helpers.envs.make:SparsePendulum-v0"
    demos: Path = DEMOS / "clumsy_pendulum.npz"
    steps: int = 3_000  # updates: it takes no step in the environment
    bc_alpha: float = 2.5  # how much Q counts; infinity would be TD3, 0 behaviour cloning
    gamma: float = 0.99
    tau: float = 0.02
    policy_delay: int = 2  # d
    target_noise: float = 0.2  # a standard deviation
    noise_clip: float = 0.5
    batch_size: int = 128
    reward_scale: float = 1.0  # the replay buffer holds rewards times this
    actor_learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3


SPARSE_PENDULUM = Settings()


def td3_bc_actor_loss(
    actor: nn.Module,
    critic: TwinQNetwork,
    obs: torch.Tensor,
    action: torch.Tensor,
    bc_alpha: float,
) -> torch.Tensor:
    """-lambda mean Q1(s, mu(s)) + mean (mu(s) - a)^2 with lambda = alpha / mean |Q1|: a scalar.

    `obs` (B, obs_size) and the data's `action` (B, action_dim) in [-1, 1].
    Source: Fujimoto & Gu 2021; `TD3_BC.py` of their code.
    """
    # 1. The actor's own actions, and what the first critic says of them.
    q = critic.q1(obs, actor(obs))
    # 2. Divided by its mean size, Q counts as much with large rewards as with small ones.
    weight = bc_alpha / q.abs().mean().detach()
    # 3. Uphill on Q, and near what was done.
    return -weight * q.mean() + bc_loss(actor, obs, action)


def update(
    agent: Agent, batch: Batch, s: Settings, number: int, rng: np.random.Generator
) -> dict[str, torch.Tensor]:
    """Update both critics; at every `policy_delay`-th update also the actor and all targets.

    `number`: of this update, from 1 on. Returns the losses.
    """
    next_action = smoothed_target_action(  # 5
        agent.target_actor, batch.next_obs, s.target_noise, s.noise_clip, rng
    )
    y = clipped_double_q_target(batch, next_action, agent.target_critic, s.gamma)
    q_loss = twin_critic_loss(agent.critic, batch, y)  # 6
    agent.critic_optimizer.zero_grad()
    q_loss.backward()
    agent.critic_optimizer.step()
    if number % s.policy_delay != 0:  # not yet the actor's turn
        return {"critic_loss": q_loss.detach()}
    policy_loss = td3_bc_actor_loss(  # 7
        agent.actor, agent.critic, batch.obs, batch.action, s.bc_alpha
    )
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()  # reaches the critics too: their zero_grad clears that
    agent.actor_optimizer.step()
    polyak_update(agent.target_critic.parameters(), agent.critic.parameters(), s.tau)  # 8
    polyak_update(agent.target_actor.parameters(), agent.actor.parameters(), s.tau)
    return {"critic_loss": q_loss.detach(), "actor_loss": policy_loss.detach()}


def read_data(path: Path, env: Any, reward_scale: float, rng: np.random.Generator) -> ReplayBuffer:
    """A replay buffer with the transitions of a file, which are in the environment's units."""
    demos = read_demos(path, env)
    parts = (
        demos["obs"], demos["action"], reward_scale * demos["reward"], demos["next_obs"],
        demos["terminated"], demos["truncated"],
    )  # fmt: skip
    memory = ReplayBuffer(len(parts[0]), parts[0].shape[1:], parts[1].shape[1:], rng)
    for transition in zip(*parts, strict=True):
        memory.add(*transition)
    return memory


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every update; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    agent = Agent(env, s)  # 1
    memory = read_data(s.demos, env, s.reward_scale, rng)  # 2
    for number in watch(range(1, s.steps + 1), agent, agent.history):  # 3
        losses = update(agent, memory.sample(s.batch_size), s, number, rng)  # 4 to 8
        if number % 50 == 0:
            shared.log(agent.history, number, losses)
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    trained = train(SPARSE_PENDULUM)
    obs, total = trained.env.reset(seed=10_000)[0], 0.0
    for _ in range(200):
        obs, reward, *_ = trained.env.step(trained.act(obs))
        total += reward
    print(f"{SPARSE_PENDULUM.steps:,} updates and no step: an episode's return is now {total:.0f}")
