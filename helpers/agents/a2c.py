"""Advantage actor-critic (A2C): many environments at once, short rollouts, GAE.

Sources: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning" (the algorithm,
its entropy bonus); Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized
Advantage Estimation" (GAE).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents.base import Agent, gradient_step, set_learning_rate
from helpers.agents.layers import of_depth
from helpers.agents.networks import make_critic
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.agents.schedules import Rate, as_rate, rate_at
from helpers.envs.make import EnvLike, check_finite, make_vector_env
from helpers.envs.resumable import ResumableVector


def actor_loss(log_probs: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """The policy gradient as a loss: minus the mean of log pi(a|s) times advantage. A scalar.

    `log_probs` and `advantages` (B,). The gradient reaches the policy only through `log_probs`.
    """
    # 1. The advantage is a weight, not something to differentiate.
    weights = advantages.detach()
    # 2. Minus the mean of the products over the batch: optimisers go down, we want to go up.
    return -(log_probs * weights).mean()


def critic_loss(critic: nn.Module, obs: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Mean squared error between V(s) and the returns. A scalar.

    `obs` (B, obs_size), `returns` (B,).
    """
    # 1. The critic gives (B, 1), the returns are (B,): bring the values to (B,).
    values = critic(obs).squeeze(-1)
    # 2. The returns are targets: no gradient flows into them.
    targets = returns.detach()
    # 3. The mean over the batch of the squared differences.
    return ((values - targets) ** 2).mean()


def gae(
    rewards: np.ndarray,
    values: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    gamma: float,
    lam: float,
) -> np.ndarray:
    """Generalized advantage estimation over T steps of N environments (Schulman et al. 2016).

    A_t = delta_t + gamma lam A_{t+1} within an episode, delta_t = r_t + gamma V(s_{t+1}) - V(s_t).
    `rewards` (T, N); `terminated`, `truncated` (T, N) booleans; `values` (T + 1, N): V of the
    observation before every step, and of the one after the last. Returns advantages (T, N).
    """
    # 1. Walk backwards with a running advantage for each environment, 0 after the last step.
    advantages = np.zeros_like(values[:-1])
    advantage = np.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        # 2. The TD error. After a termination no future is counted, after a truncation it is.
        future = gamma * values[t + 1] * (1 - terminated[t])
        delta = rewards[t] + future - values[t]
        # 3. Add the discounted advantage of the next step, unless that belongs to another episode.
        same_episode = 1 - (terminated[t] | truncated[t])
        advantage = delta + gamma * lam * same_episode * advantage
        advantages[t] = advantage
    # 4. One advantage for each step of each environment.
    return advantages


def learnable_rows(done: np.ndarray, done_before: np.ndarray) -> np.ndarray:
    """Which steps are experience, and which are filler rows of the autoreset: (T, N) booleans.

    gymnasium's vector environments return an episode's last observation as it is and start the next
    episode in the step *after* it: that step ignores the action and gives reward 0. `done` (T, N)
    is true where an episode ended (terminated or truncated), `done_before` (N,) is the same for the
    step before the first of these.
    """
    # 1. A row is filler if the row before it ended an episode; before row 0 comes `done_before`.
    filler = np.concatenate([done_before[None], done[:-1]])
    # 2. Learn from all others.
    return ~filler


@dataclass
class Rollout:
    """T steps of N environments; `obs` has one row more (T + 1): what the last step led to."""

    obs: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    learnable: np.ndarray


class A2C(Agent):
    """Advantage actor-critic: many environments, short rollouts, GAE and an entropy bonus.

    Discrete actions get a softmax policy, Box actions a Gaussian one. `critic_steps` gradient steps
    of the critic go with one of the actor. Rewards are multiplied by `reward_scale` before
    learning; with 1 - gamma a value is the weighted mean of future rewards, of the same size as one
    reward. If `learning_rate` is a schedule the actor follows it; the critic keeps its first value.
    """

    action_kinds: ClassVar = (spaces.Discrete, spaces.Box)
    saved: ClassVar = ("policy", "critic", "policy_optimizer", "critic_optimizer")

    def __init__(
        self,
        env: EnvLike,
        *,
        n_envs: int = 16,
        n_steps: int = 32,
        gamma: float = 0.99,
        lam: float = 0.95,
        learning_rate: Rate = 1e-3,
        critic_steps: int = 4,
        entropy_coef: float = 0.01,
        reward_scale: float = 1.0,
        max_grad_norm: float = 0.5,
        hidden: int | Sequence[int] = 64,
        seed: int | None = None,
    ) -> None:
        self.check_settings(locals())
        super().__init__(env, seed)
        self.n_envs, self.n_steps, self.gamma, self.lam = n_envs, n_steps, gamma, lam
        self.learning_rate = as_rate("learning_rate", learning_rate)
        self.critic_steps, self.entropy_coef = critic_steps, entropy_coef
        self.reward_scale, self.max_grad_norm = reward_scale, max_grad_norm
        discrete = isinstance(self.action_space, spaces.Discrete)
        policy_kind = CategoricalPolicy if discrete else GaussianPolicy
        with self.seeded():
            self.policy = policy_kind(self.obs_size, self.action_space, hidden)
            self.critic = of_depth(make_critic, self.obs_size, hidden=hidden)
        # fused: one kernel for all parameters, about 10 % of an update.
        rate = rate_at(self.learning_rate, 0)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), rate, fused=True)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), rate, fused=True)
        self.envs: ResumableVector | None = None

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        return self.policy.to_env(self.policy.sample(obs, rng))

    def train_step(self) -> None:
        """One rollout, one step of the actor, a few of the critic."""
        rollout = self.collect()
        self.steps += int(rollout.learnable.sum())
        if rollout.learnable.sum() > 1:  # a single advantage has no scale, filler rows have none
            self.update(rollout)

    def collect(self) -> Rollout:
        """Let the present policy act for n_steps in every environment."""
        envs, now = self.envs, self.obs
        if envs is None or now is None:
            envs, now = self.new_episodes()
        obs, done = [now], [np.array([env.over for env in envs.envs])]
        actions, rewards, terminated, truncated = [], [], [], []
        self.obs = None  # if this is stopped halfway, the next rollout starts new episodes
        for _ in range(self.n_steps):
            with torch.no_grad():
                action = self.policy.sample(self.flat(obs[-1]), self.rng)
            next_obs, reward, ended, cut, _ = envs.step(self.policy.to_env(action))
            for i in np.flatnonzero(ended | cut):
                self.log_episode(envs.envs[i])
            obs.append(next_obs)
            actions.append(action)
            rewards.append(reward)
            terminated.append(ended)
            truncated.append(cut)
            done.append(ended | cut)
        check_finite(np.array(rewards), np.array(obs), self.steps)
        self.obs = obs[-1]
        return Rollout(
            obs=np.array(obs),
            actions=np.array(actions),
            rewards=np.array(rewards, dtype=np.float32) * self.reward_scale,
            terminated=np.array(terminated),
            truncated=np.array(truncated),
            learnable=learnable_rows(np.array(done[1:]), done_before=done[0]),
        )

    def update(self, rollout: Rollout) -> None:
        """Learn from one rollout: advantages, a step of the actor, `critic_steps` of the critic."""
        obs = torch.as_tensor(rollout.obs, dtype=torch.float32)
        obs = obs.reshape(*obs.shape[:2], self.obs_size)
        with torch.no_grad():
            values = self.critic(obs).squeeze(-1).numpy()
        advantages = gae(
            rollout.rewards,
            values,
            rollout.terminated,
            rollout.truncated,
            self.gamma,
            self.lam,
        )
        rows = torch.as_tensor(rollout.learnable)
        obs, actions = obs[:-1][rows], torch.as_tensor(rollout.actions)[rows]
        advantage = torch.as_tensor(advantages)[rows]
        returns = advantage + torch.as_tensor(values[:-1])[rows]

        log_probs, entropies = self.policy.evaluate(obs, actions)
        # The scale of advantages changes as the critic learns; the size of the step should not.
        weights = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = actor_loss(log_probs, weights)
        bonus = self.entropy_coef * entropies.mean()
        set_learning_rate(self.policy_optimizer, rate_at(self.learning_rate, self.steps))
        gradient_step(self.policy_optimizer, policy_loss - bonus, self.max_grad_norm)
        for _ in range(self.critic_steps):
            value_loss = critic_loss(self.critic, obs, returns)
            gradient_step(self.critic_optimizer, value_loss)
        self.log(
            actor_loss=policy_loss.item(),
            critic_loss=value_loss.item(),
            entropy=entropies.mean().item(),
        )

    def new_episodes(self) -> tuple[ResumableVector, np.ndarray]:
        """The environments, and the first observation of an episode in each."""
        envs, seed = self.envs, None  # seeded once: later episodes start elsewhere
        if envs is None:
            envs, seed = make_vector_env(self.env_source, self.n_envs), self.seed
        obs, _ = envs.reset(seed=seed)
        self.envs = envs
        return envs, obs

    def go_on(self, envs: ResumableVector) -> None:
        self.obs = np.array([env.obs for env in envs.envs], self.observation_space.dtype)
