"""Advantage actor-critic (A2C): many environments at once, short rollouts, GAE.

Sources: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning" (the algorithm,
its entropy bonus); Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized
Advantage Estimation" (GAE).
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from gymnasium import spaces

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.layers import of_depth
from helpers.agents.limits import SHARE, SIZE, number, widths
from helpers.agents.on_policy import OnPolicyAgent, Rollout
from helpers.agents.policies import policy_for
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.a2c import gae
from helpers.algorithms.reinforce import actor_loss, critic_loss, make_critic


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
        with self.seeded():
            self.policy = policy_for(self.obs_size, self.action_space, self.hidden)
            self.critic = of_depth(make_critic, self.obs_size, hidden=self.hidden)
        self.policy_optimizer = LeanAdam(self.policy.parameters())
        self.critic_optimizer = LeanAdam(self.critic.parameters())
        self.follow("learning_rate", "policy_optimizer", "critic_optimizer")

    def update(self, rollout: Rollout) -> None:
        """The advantages and returns of a rollout, and what the networks learn from them."""
        obs = self.flat(rollout.obs)
        with torch.no_grad():
            values = self.critic(obs).squeeze(-1).cpu().numpy()
        # The value of what a step led to is the next row's, also where an episode ends.
        numbers = rollout.rewards, values[:-1], values[1:], rollout.terminated, rollout.truncated
        advantages = gae(*numbers, self.gamma, self.lam)
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
        # The advantages' scale changes as the critic learns, the size of an update should not.
        weights = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        log_probs, entropies = self.policy.evaluate(obs, actions)
        policy_loss = actor_loss(log_probs, weights)
        bonus = self.entropy_coef * entropies.mean()
        gradient_step(self.policy_optimizer, policy_loss - bonus, self.max_grad_norm)
        for _ in range(self.critic_steps):
            squared_error = critic_loss(self.critic, obs, returns)
            gradient_step(self.critic_optimizer, squared_error)
        numbers = policy_loss, squared_error, entropies.mean()
        names = "actor_loss", "critic_loss", "entropy"
        return {name: each.item() for name, each in zip(names, numbers, strict=True)}
