"""Proximal policy optimization (PPO): A2C that learns from each rollout several times.

Sources: Schulman et al. 2017, "Proximal Policy Optimization Algorithms" (arXiv 1707.06347); Huang
et al. 2022, "The 37 Implementation Details of Proximal Policy Optimization" (ICLR blog track),
which says what the authors' code does beside it. GAE: see `helpers.agents.a2c`.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch

from helpers.agents.a2c import A2C
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.layers import of_depth
from helpers.agents.on_policy import OnPolicyAgent
from helpers.agents.policies import policy_for
from helpers.agents.schedules import Rate
from helpers.algorithms.policies import approximate_kl, orthogonal_init
from helpers.algorithms.ppo import (
    clip_fraction,
    clipped_surrogate,
    minibatches,
    normalized,
    ppo_value_loss,
    probability_ratio,
)
from helpers.algorithms.reinforce import make_critic
from helpers.envs.make import EnvLike


class Minibatch(NamedTuple):
    """B rows of a rollout; `old_log_probs` and `old_values` are from before the first update."""

    obs: torch.Tensor
    actions: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    old_log_probs: torch.Tensor
    old_values: torch.Tensor


class PPO(OnPolicyAgent):
    """Proximal policy optimization: `n_epochs` over each rollout, in minibatches of `batch_size`.

    Policies and rollouts are A2C's. While a ratio is within `clip_range` of 1 the actor is rewarded
    for moving it, beyond that it is not. With `target_kl` updates from a rollout stop once the KL
    is above 1.5 times that; with `value_clip_range` values are clipped as well. One optimiser has
    actor and critic; `learning_rate` is a number or a schedule, such as `LinearSchedule`. What else
    can be set, `rollouts`, is explained at `OnPolicyAgent`.
    """

    action_kinds: ClassVar = A2C.action_kinds
    saved: ClassVar = ("policy", "critic", "optimizer")
    update = A2C.update  # values, advantages, rows: as in lesson 01

    def __init__(
        self,
        env: EnvLike,
        *,
        gamma: float = 0.99,
        lam: float = 0.95,
        learning_rate: Rate = 1e-3,
        n_epochs: int = 10,
        batch_size: int = 64,
        clip_range: float = 0.2,
        value_clip_range: float | None = None,
        entropy_coef: float = 0.0,
        value_coef: float = 0.5,
        max_grad_norm: float = 0.5,
        target_kl: float | None = None,
        hidden: int | Sequence[int] = 64,
        seed: int | None = None,
        **rollouts: Any,
    ) -> None:
        self.check_settings(locals())
        super().__init__(env, seed=seed, **rollouts)
        self.gamma, self.lam, self.max_grad_norm = gamma, lam, max_grad_norm
        self.n_epochs, self.batch_size, self.target_kl = n_epochs, batch_size, target_kl
        self.clip_range, self.value_clip_range = clip_range, value_clip_range
        self.entropy_coef, self.value_coef = entropy_coef, value_coef
        with self.seeded():
            self.policy = policy_for(self.obs_size, self.action_space, hidden)
            self.critic = of_depth(make_critic, self.obs_size, hidden=hidden)
            orthogonal_init(self.policy.actor, output_gain=0.01)
            orthogonal_init(self.critic, output_gain=1.0)
        # Adam's epsilon is 1e-5 in OpenAI's code (detail 3).
        self.optimizer = LeanAdam([*self.policy.parameters(), *self.critic.parameters()], eps=1e-5)
        self.follow("learning_rate", learning_rate, "optimizer")

    def learn_from(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
    ) -> dict[str, float]:
        """`n_epochs` over these rows; returns numbers for the log, means over the last epoch.

        `obs` (B, obs_size), `actions` (B,) or (B, action_dim), `advantages` and `returns` (B,).
        """
        # 1. What the policy and the critic say before they change: ratios and clipped values are
        #    measured against it through all epochs.
        with torch.no_grad():
            old_log_probs, _ = self.policy.evaluate(obs, actions)
            old_values = self.value(obs)
        columns = obs, actions, advantages, returns, old_log_probs, old_values
        # 2. Every epoch has all rows, in minibatches of its own.
        for _ in range(self.n_epochs):
            logged = []
            for rows in minibatches(len(obs), self.batch_size, self.rng):
                loss, numbers = self.loss(Minibatch(*(column[rows] for column in columns)))
                logged.append(numbers)
                # 3. Stop at once if the policy has moved far enough.
                if self.target_kl is not None and numbers["approx_kl"] > 1.5 * self.target_kl:
                    return means(logged)
                # 4. One update of both networks, their common gradient clipped.
                gradient_step(self.optimizer, loss, self.max_grad_norm)
        return means(logged)

    def loss(self, batch: Minibatch) -> tuple[torch.Tensor, dict[str, float]]:
        """Minus L^(CLIP+VF+S) on a minibatch, and numbers for the log.

        Source: Schulman et al. 2017, equation 9, where `value_coef` is c1 and `entropy_coef` c2.
        """
        # 1. What the networks say now of these rows.
        log_probs, entropies = self.policy.evaluate(batch.obs, batch.actions)
        values = self.value(batch.obs)
        # 2. The clipped surrogate, of ratios and normalised advantages.
        ratios = probability_ratio(log_probs, batch.old_log_probs)
        surrogate = clipped_surrogate(ratios, normalized(batch.advantages), self.clip_range)
        # 3. The critic's loss.
        squared_error = ppo_value_loss(
            values, batch.old_values, batch.returns, self.value_clip_range
        )
        # 4. Optimisers go down: minus what is to grow, plus what is to shrink.
        entropy = entropies.mean()
        loss = -surrogate - self.entropy_coef * entropy + self.value_coef * squared_error
        logged = {
            "actor_loss": -surrogate,
            "critic_loss": squared_error,
            "entropy": entropy,
            "approx_kl": approximate_kl(log_probs, batch.old_log_probs),
            "clip_fraction": clip_fraction(ratios, self.clip_range),
        }
        return loss, {name: number.item() for name, number in logged.items()}


def means(logged: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each number over several minibatches."""
    return {name: math.fsum(each[name] for each in logged) / len(logged) for name in logged[0]}
