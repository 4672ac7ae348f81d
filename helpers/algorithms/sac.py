"""Soft actor-critic (SAC): the whole algorithm, from top to bottom.

Sources: Haarnoja et al. 2018, "Soft Actor-Critic: Off-Policy Maximum Entropy Deep Reinforcement
Learning with a Stochastic Actor" (the first paper) and "Soft Actor-Critic Algorithms and
Applications" (the second), Algorithm 1. In the code `# 9` marks line 9 of it:
     1  critics Q1, Q2, actor pi, alpha              9  y <- r + gamma (min(Q1', Q2')(s', a')
     2  target critics Q1', Q2': copies                  - alpha log pi(a'|s'))
     3  empty replay buffer R                       10  critics: minimise mean (y - Qi(s, a))^2
     4  for every step:                             11  a~ sampled from pi(.|s), log pi(a~|s)
     5      a sampled from pi(.|s); observe r, s'   12  actor: minimise mean alpha log pi(a~|s)
     6      store (s, a, r, s') in R                        - min(Q1, Q2)(s, a~)
     7      sample a random batch from R            13  alpha: towards an entropy of H_target
     8      a' sampled from pi(.|s'), log pi(a'|s') 14  Q1', Q2': a fraction tau of the way
"""

import copy
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.optim import Adam

from helpers.algorithms import shared
from helpers.algorithms.ddpg import polyak_update, start_small
from helpers.algorithms.td3 import TwinQNetwork, twin_critic_loss
from helpers.memory.buffers import Batch, ReplayBuffer


@dataclass(frozen=True)
class Settings:
    env_id: str = "Pendulum-v1"
    steps: int = 8_000
    learning_starts: int = 1000  # for the first 1000 steps `warm_up_noise` acts alone
    warm_up_noise: shared.Noise = shared.UniformNoise()
    gamma: float = 0.99
    tau: float = 0.02
    temperature: float = 1.0  # alpha, where its learning starts
    batch_size: int = 128
    buffer_size: int = 100_000
    reward_scale: float = 0.1  # the replay buffer holds rewards times this
    actor_learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3
    temperature_learning_rate: float = 1e-3  # with 0 alpha stays as it is


PENDULUM = Settings()
MOUNTAIN_CAR = Settings(
    env_id="MountainCarContinuous-v0", steps=10_000, learning_starts=3000, tau=0.01,
    warm_up_noise=shared.OUNoise(sigma=0.5, theta=0.05), temperature=0.1, actor_learning_rate=3e-4,
)  # fmt: skip


class SquashedGaussianActor(nn.Module):
    """Observations (..., obs_size) to the mean and log std (..., action_dim) before the tanh."""

    log_std_range = (-20.0, 2.0)  # as in the authors' code

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. As `DeterministicActor`, but with two outputs for each action dimension.
        self.hidden1 = nn.Linear(obs_size, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 2 * action_dim)
        # 2. A small start: the mean is near 0 and the standard deviation near 1 in every state.
        start_small(self.output)

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # 3. A ReLU after each hidden layer.
        x = torch.relu(self.hidden1(obs))
        x = torch.relu(self.hidden2(x))
        # 4. The first half of the outputs is the mean, the second half the log of the std.
        mean, log_std = self.output(x).chunk(2, dim=-1)
        # 5. Extremes are clamped: a std is never below e^-20 (2e-9) nor above e^2 (7.4).
        return mean, log_std.clamp(*self.log_std_range)


def log_tanh_slope(u: torch.Tensor) -> torch.Tensor:
    """log(1 - tanh(u)^2), exact for large u too: a term of equation 21 of the first paper."""
    # 1. The logarithm of 4 / (e^u + e^-u)^2 by hand. softplus(x) is log(1 + e^x), without overflow.
    return 2 * (math.log(2) - u - nn.functional.softplus(-2 * u))


def squashed_sample(
    mean: torch.Tensor, log_std: torch.Tensor, noise: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Actions in [-1, 1] and their log-densities: a Gaussian's sample through a tanh.

    `mean`, `log_std` and `noise` (..., action_dim), the last from a standard Gaussian. Returns
    (..., action_dim) and (...,). Source: equations 11 and 21 of the first paper.
    """
    # 1. Noise is moved and stretched, so gradients flow to mean and std.
    u = mean + log_std.exp() * noise
    # 2. The Gaussian's log-density at u, each dimension its own; u lies `noise` stds from the mean.
    log_density = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
    # 3. The tanh divides the density by its slope.
    log_density = log_density - log_tanh_slope(u)
    # 4. Independent dimensions: log-densities add up.
    return torch.tanh(u), log_density.sum(dim=-1)


@torch.no_grad()
def soft_td_target(
    batch: Batch, next_action: torch.Tensor, next_log_prob: torch.Tensor,
    target_critic: nn.Module, temperature: float | torch.Tensor, gamma: float,
) -> torch.Tensor:  # fmt: skip
    """The target of both critics, (B,), without gradient.

    `next_action` (B, action_dim) and `next_log_prob` (B,): sampled from the present policy in the
    next states. Source: equations 2 and 3 of the second paper.
    """
    # 1. The lower of what the two target critics say about the next action, in every row.
    q1, q2 = target_critic(batch.next_obs, next_action)
    lower = torch.minimum(q1, q2)
    # 2. The soft value of the next state: on average, -log pi is the policy's entropy there.
    soft_value = lower - temperature * next_log_prob
    # 3. The reward plus the discounted future. After a termination there is none: no value, and no
    # entropy either.
    return batch.reward + gamma * (1 - batch.terminated) * soft_value


def sac_actor_loss(
    critic: nn.Module, obs: torch.Tensor, action: torch.Tensor, log_prob: torch.Tensor,
    temperature: float | torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """The mean of alpha log pi(a|s) - min(Q1, Q2)(s, a): equation 7 of the second paper.

    `action` (B, action_dim) and `log_prob` (B,): sampled from the policy, with gradient.
    """
    # 1. The lower of what the critics say about the policy's own actions.
    q1, q2 = critic(obs, action)
    value = torch.minimum(q1, q2)
    # 2. A smaller loss means higher values and more entropy.
    return (temperature * log_prob - value).mean()


def temperature_loss(
    log_temperature: torch.Tensor, log_prob: torch.Tensor, target_entropy: float
) -> torch.Tensor:
    """Equation 18 of the second paper, with log(alpha) in place of alpha. `log_prob` (B,)."""
    # 1. By how much the policy is more certain than it should be: its entropy is -log_prob.
    too_certain = (log_prob + target_entropy).detach()
    # 2. Where that is positive, the loss falls as alpha rises.
    return -(log_temperature * too_certain).mean()


class Agent:
    """What learns: an actor, two critics and their target critics, the log of the temperature."""

    predict = shared.predict  # in the environment's own units, as `evaluate(agent, env_id)` asks

    def __init__(self, env, s: Settings) -> None:
        self.env = env
        self.history: shared.History = {}
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self.actor, self.critic = SquashedGaussianActor(*sizes), TwinQNetwork(*sizes)  # 1
        self.log_alpha = nn.Parameter(torch.tensor(math.log(s.temperature)))
        self.target_entropy = -sizes[1]
        self.target_critic = copy.deepcopy(self.critic)  # 2
        self.actor_optimizer = Adam(self.actor.parameters(), s.actor_learning_rate, fused=True)
        self.critic_optimizer = Adam(self.critic.parameters(), s.critic_learning_rate, fused=True)
        self.alpha_optimizer = Adam([self.log_alpha], s.temperature_learning_rate, fused=True)

    def sample(self, obs: torch.Tensor, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        """Actions (..., action_dim) and their log-densities (...,), with gradient."""
        mean, log_std = self.actor(obs)
        noise = rng.standard_normal(mean.shape, dtype=np.float32)
        return squashed_sample(mean, log_std, torch.as_tensor(noise))

    @torch.no_grad()
    def act(self, obs: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """An action for one observation, both in [-1, 1]: sampled, or greedy without `rng`."""
        seen = torch.from_numpy(obs)
        action = torch.tanh(self.actor(seen)[0]) if rng is None else self.sample(seen, rng)[0]
        return action.numpy()


def update(agent: Agent, batch: Batch, s: Settings, rng: np.random.Generator) -> dict:
    """One update of critics, actor and temperature, after which the target critics follow."""
    alpha = agent.log_alpha.detach().exp()  # the losses of critics and actor do not move it
    with torch.no_grad():
        next_action, next_log_prob = agent.sample(batch.next_obs, rng)  # 8
    y = soft_td_target(batch, next_action, next_log_prob, agent.target_critic, alpha, s.gamma)  # 9
    q_loss = twin_critic_loss(agent.critic, batch, y)  # 10
    agent.critic_optimizer.zero_grad()
    q_loss.backward()
    agent.critic_optimizer.step()
    action, log_prob = agent.sample(batch.obs, rng)  # 11
    policy_loss = sac_actor_loss(agent.critic, batch.obs, action, log_prob, alpha)  # 12
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()  # reaches the critics too: their zero_grad clears that
    agent.actor_optimizer.step()
    alpha_loss = temperature_loss(agent.log_alpha, log_prob, agent.target_entropy)  # 13
    agent.alpha_optimizer.zero_grad()
    alpha_loss.backward()
    agent.alpha_optimizer.step()
    polyak_update(agent.target_critic.parameters(), agent.critic.parameters(), s.tau)  # 14
    losses = {"critic_loss": q_loss.detach(), "actor_loss": policy_loss.detach()}
    return losses | {"temperature": alpha, "entropy": -log_prob.detach().mean()}


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    agent = Agent(env, s)  # 1, 2
    obs_shape, action_shape = env.observation_space.shape, env.action_space.shape
    memory = ReplayBuffer(s.buffer_size, obs_shape, action_shape, rng)  # 3
    obs, total = env.reset(seed=seed)[0], 0.0
    warm_up_noise = copy.deepcopy(s.warm_up_noise)
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 4
        if step > s.learning_starts:
            action = agent.act(obs, rng)  # 5
        else:
            action = np.clip(warm_up_noise.sample(action_shape, rng), -1, 1).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.add(obs, action, s.reward_scale * reward, next_obs, terminated, truncated)  # 6
        obs, total = next_obs, total + reward
        if step >= s.learning_starts:
            losses = update(agent, memory.sample(s.batch_size), s, rng)  # 7 to 14
            if step % 50 == 0:
                shared.log(agent.history, step, losses)
        if terminated or truncated:
            shared.log(agent.history, step, {"return": total})
            obs, total = env.reset()[0], 0.0
            warm_up_noise = copy.deepcopy(s.warm_up_noise)
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(PENDULUM, watch=shared.printed)
