"""Advantage actor-critic (A2C): the whole algorithm, from top to bottom.

Sources: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning", Algorithm S3,
made synchronous; Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized
Advantage Estimation", for its advantages. In the code `# 7` marks line 7:

     1  actor pi, critic V: random weights
     2  repeat:
     3      for n_steps, in all environments:
     4          sample a_t from pi(.|s_t)
     5          do it; keep what happens
     6      V(s_t), V(s_{t+1}) of every row
     7      A_t, backwards: no future after a termination, no sum beyond an episode's end
     8      targets y_t <- A_t + V(s_t)
     9      all A_t: subtract their mean, divide by their standard deviation
    10      actor: maximise the mean of A_t log pi(a_t|s_t)
    11          + c times the mean entropy of pi(.|s_t)
    12      critic, k times: minimise the mean of (y_t - V(s_t))^2
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics
from torch import nn

from helpers.algorithms import shared
from helpers.algorithms.policies import policy_for
from helpers.algorithms.reinforce import actor_loss, critic_loss, make_critic
from helpers.memory.buffers import linear_schedule


@dataclass(frozen=True)
class Settings:
    env_id: str = "CartPole-v1"
    steps: int = 180_000
    n_envs: int = 16
    n_steps: int = 32
    gamma: float = 0.99
    lam: float = 0.95
    reward_scale: float = 0.01  # advantages and targets are those of rewards times this
    learning_rate: float = 3e-3  # the critic's keeps this value
    final_learning_rate: float = 3e-4  # the actor's ends here
    annealing_steps: int = 108_000  # after so many steps
    critic_steps: int = 4  # k
    entropy_coef: float = 0.01  # c
    max_grad_norm: float = 0.5  # of the actor's gradient


CARTPOLE = Settings()
PENDULUM = Settings(
    env_id="Pendulum-v1", steps=500_000, gamma=0.95, learning_rate=2e-3, final_learning_rate=2e-4,
    annealing_steps=340_000, critic_steps=10, entropy_coef=0.0,
)  # fmt: skip
LONG_PENDULUM = Settings(
    env_id="helpers.envs.make:LongPendulum-v0", steps=180_000, gamma=0.95, annealing_steps=120_000,
    critic_steps=10, entropy_coef=0.0,
)  # fmt: skip


class Rollout(NamedTuple):
    """T steps of N environments, (T, N, ...). `next_obs` is what a step led to, at an end too."""

    obs: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    next_obs: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


class Rows(NamedTuple):
    """What is learned from: observations (B, obs_size), actions (B,) or (B, action_dim), and (B,)
    advantages and returns, which are the critic's targets."""

    obs: torch.Tensor
    actions: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor


def make_envs(env_id: str, n_envs: int) -> Any:
    """A gymnasium.vector.VectorEnv whose episodes begin within the step that ended the last one."""
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    return gym.make_vec(
        env_id, n_envs, "sync", vector_kwargs=same_step, wrappers=[RecordEpisodeStatistics]
    )


@torch.no_grad()
def collect(
    envs, obs: np.ndarray, policy, n_steps: int, rng: np.random.Generator
) -> tuple[Rollout, np.ndarray, list[float]]:
    """`n_steps` steps of all environments from `obs` (N, obs_size) on. Gives also what they see
    after them, and the returns of the episodes that ended."""
    rows, returns = [], []
    for _ in range(n_steps):  # 3
        actions = policy.sample(torch.from_numpy(obs), rng)  # 4
        new_obs, rewards, terminated, truncated, info = envs.step(policy.to_env(actions))  # 5
        next_obs = new_obs.copy()
        for i in np.flatnonzero(terminated | truncated):
            # There `new_obs` has the first observation of the next episode already.
            next_obs[i] = info["final_obs"][i]
            returns.append(info["final_info"]["episode"]["r"][i])
        rows.append((obs, actions, rewards, next_obs, terminated, truncated))
        obs = new_obs
    return Rollout(*map(np.array, zip(*rows, strict=True))), obs, returns


def gae(
    rewards: np.ndarray, values: np.ndarray, next_values: np.ndarray,
    terminated: np.ndarray, truncated: np.ndarray, gamma: float, lam: float,
) -> np.ndarray:  # fmt: skip
    """Generalized advantage estimation over T steps of N environments (Schulman et al. 2016).

    A_t = delta_t + gamma lam A_{t+1} within an episode, delta_t = r_t + gamma V(s_{t+1}) - V(s_t).
    All (T, N): `values` are V of the observation before each step, `next_values` of the one that it
    led to; `terminated` and `truncated` are booleans. Returns advantages (T, N).
    """
    # 1. Walk backwards with a running advantage for each environment, 0 after the last step.
    advantages = np.zeros_like(1.0 * values)  # floats, even where these are whole numbers
    advantage = np.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        # 2. The TD error. After a termination no future is counted, after a truncation it is.
        future = gamma * next_values[t] * (1 - terminated[t])
        delta = rewards[t] + future - values[t]
        # 3. Add the discounted advantage of the next step, unless that belongs to another episode.
        same_episode = 1 - (terminated[t] | truncated[t])
        advantage = delta + gamma * lam * same_episode * advantage
        advantages[t] = advantage
    return advantages


def as_rows(
    rollout: Rollout, critic: nn.Module, reward_scale: float, gamma: float, lam: float
) -> Rows:
    """A rollout with advantages and returns, one row per step: B = T * N rows."""
    with torch.no_grad():  # 6
        values = critic(torch.from_numpy(rollout.obs)).squeeze(-1).numpy()
        next_values = critic(torch.from_numpy(rollout.next_obs)).squeeze(-1).numpy()
    rewards, ends = reward_scale * rollout.rewards, (rollout.terminated, rollout.truncated)
    advantages = gae(rewards, values, next_values, *ends, gamma, lam)  # 7
    returns = advantages + values  # 8
    columns = rollout.obs, rollout.actions, advantages, returns
    return Rows(*(torch.from_numpy(column).flatten(0, 1) for column in columns))


class Agent:
    """A policy and a critic, and an optimiser for each."""

    def __init__(self, envs, s: Settings) -> None:
        self.history: shared.History = {}
        obs_size = envs.single_observation_space.shape[0]
        self.policy = policy_for(obs_size, envs.single_action_space)  # 1
        self.critic = make_critic(obs_size)
        self.policy_optimizer, self.critic_optimizer = (
            torch.optim.Adam(network.parameters(), s.learning_rate, fused=True)
            for network in (self.policy, self.critic)
        )

    @torch.no_grad()
    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """The likeliest action for one observation, as `evaluate(agent, env_id)` asks."""
        return self.policy.to_env(self.policy.sample(torch.from_numpy(obs)))

    act = predict


def update(agent: Agent, rows: Rows, s: Settings) -> dict[str, torch.Tensor]:
    """One update of the actor and `critic_steps` of the critic."""
    weights = (rows.advantages - rows.advantages.mean()) / (rows.advantages.std() + 1e-8)  # 9
    log_probs, entropies = agent.policy.evaluate(rows.obs, rows.actions)
    policy_loss, entropy = actor_loss(log_probs, weights), entropies.mean()  # 10
    agent.policy_optimizer.zero_grad()
    (policy_loss - s.entropy_coef * entropy).backward()  # 11
    nn.utils.clip_grad_norm_(agent.policy.parameters(), s.max_grad_norm)
    agent.policy_optimizer.step()
    for _ in range(s.critic_steps):  # 12
        value_loss = critic_loss(agent.critic, rows.obs, rows.returns)
        agent.critic_optimizer.zero_grad()
        value_loss.backward()
        agent.critic_optimizer.step()
    numbers = {"actor_loss": policy_loss, "critic_loss": value_loss, "entropy": entropy}
    return {name: number.detach() for name, number in numbers.items()}


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every rollout; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, envs = np.random.default_rng(seed), make_envs(s.env_id, s.n_envs)
    agent, size = Agent(envs, s), s.n_envs * s.n_steps  # 1
    obs, _ = envs.reset(seed=seed)
    for step in watch(range(size, s.steps + 1, size), agent, agent.history):  # 2
        rollout, obs, returns = collect(envs, obs, agent.policy, s.n_steps, rng)  # 3 to 5
        agent.policy_optimizer.param_groups[0]["lr"] = linear_schedule(
            step, s.annealing_steps, s.learning_rate, s.final_learning_rate
        )
        rows = as_rows(rollout, agent.critic, s.reward_scale, s.gamma, s.lam)  # 6 to 8
        shared.log(agent.history, step, update(agent, rows, s))  # 9 to 12
        for episode_return in returns:
            shared.log(agent.history, step, {"return": episode_return})
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(CARTPOLE, watch=shared.printed)
