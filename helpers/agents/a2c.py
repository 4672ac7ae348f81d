"""Advantage actor-critic (A2C): many environments at once, short rollouts, GAE.

Sources: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning" (the algorithm,
its entropy bonus); Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized
Advantage Estimation" (GAE).
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.layers import of_depth
from helpers.agents.limits import SHARE, SIZE, number, widths
from helpers.agents.on_policy import OnPolicyAgent, Rollout
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy, MultiCategoricalPolicy
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.reinforce import actor_loss, critic_loss, make_critic


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
    advantages = np.zeros_like(1.0 * values[:-1])  # floats, even where these are whole numbers
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


class A2C(OnPolicyAgent):
    """Advantage actor-critic: many environments, short rollouts, GAE and an entropy bonus.

    Discrete actions get a softmax policy, several choices one for each, Box actions a Gaussian one.
    The critic gets `critic_steps` updates for each of the actor's. If `learning_rate` is a schedule
    the actor follows it; the critic keeps its first value. What else can be set is explained at
    `OnPolicyAgent`.
    """

    action_kinds: ClassVar = (
        spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary
    )  # fmt: skip

    lam: float = setting(0.95, SHARE)
    learning_rate: Rate = setting(1e-3, as_rate)
    critic_steps: int = setting(4, SIZE)
    entropy_coef: float = setting(0.01, number(finite=True))
    max_grad_norm: float = setting(0.5, number(above=0, optional=True))
    hidden: int | Sequence[int] = setting(64, widths, fixed=True)

    def build(self) -> None:
        super().build()
        policy_kind: Any = MultiCategoricalPolicy
        if isinstance(self.action_space, spaces.Discrete):
            policy_kind = CategoricalPolicy
        elif isinstance(self.action_space, spaces.Box):
            policy_kind = GaussianPolicy
        with self.seeded():
            self.policy = policy_kind(self.obs_size, self.action_space, self.hidden)
            self.critic = of_depth(make_critic, self.obs_size, hidden=self.hidden)
        self.policy_optimizer = LeanAdam(self.policy.parameters())
        self.critic_optimizer = LeanAdam(self.critic.parameters())
        self.follow("learning_rate", "policy_optimizer", "critic_optimizer")

    def update(self, rollout: Rollout) -> None:
        """The advantages and returns of a rollout, and what the networks learn from them."""
        obs = self.flat(rollout.obs)
        with torch.no_grad():
            values = self.critic(obs).squeeze(-1).cpu().numpy()
        ends = rollout.terminated, rollout.truncated
        advantages = gae(rollout.rewards, values, *ends, self.gamma, self.lam)
        rows = torch.as_tensor(rollout.learnable)
        actions, advantage, value = (
            torch.as_tensor(each)[rows].to(self.device)
            for each in (rollout.actions, advantages, values[:-1])
        )
        self.follow_schedules()
        columns = obs[:-1][rows], actions, advantage, advantage + value
        self.log(**self.learned(self.learn_from, *columns))

    def learn_from(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
    ) -> dict[str, float]:
        """One update of the actor and `critic_steps` of the critic; returns numbers for the log.

        `obs` (B, obs_size), `actions` (B,) or (B, action_dim), `advantages` and `returns` (B,).
        """
        # 1. Advantages with mean 0 and standard deviation 1: their scale changes as the critic
        #    learns, the size of the actor's update should not.
        weights = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        # 2. The actor's loss, less `self.entropy_coef` times the mean entropy.
        log_probs, entropies = self.policy.evaluate(obs, actions)
        policy_loss = actor_loss(log_probs, weights)
        bonus = self.entropy_coef * entropies.mean()
        # 3. One update of the actor, its gradient clipped to `self.max_grad_norm`.
        gradient_step(self.policy_optimizer, policy_loss - bonus, self.max_grad_norm)
        # 4. The critic's loss and an update of the critic, `self.critic_steps` times.
        for _ in range(self.critic_steps):
            squared_error = critic_loss(self.critic, obs, returns)
            gradient_step(self.critic_optimizer, squared_error)
        # 5. Plain numbers: actor_loss (without the bonus), critic_loss (the last) and entropy.
        logged = {
            "actor_loss": policy_loss,
            "critic_loss": squared_error,
            "entropy": entropies.mean(),
        }
        return {name: number.item() for name, number in logged.items()}
