"""Proximal policy optimization (PPO): A2C that learns from each rollout several times.

Sources: Schulman et al. 2017, "Proximal Policy Optimization Algorithms" (arXiv 1707.06347); Huang
et al. 2022, "The 37 Implementation Details of Proximal Policy Optimization" (ICLR blog track),
which says what the authors' code does beside it.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.limits import NOT_NEGATIVE, SIZE, number, switch
from helpers.agents.mlp import Mlp, clip_gradients
from helpers.agents.on_policy import OnPolicyAgent
from helpers.agents.policies import CategoricalPolicy
from helpers.agents.settings import setting
from helpers.agents.threads import one_thread
from helpers.algorithms.policies import approximate_kl, clip_fraction, orthogonal_init
from helpers.algorithms.ppo import (
    clipped_surrogate,
    minibatches,
    normalized,
    ppo_value_loss,
    probability_ratio,
)


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

    While a ratio is within `clip_range` of 1 the actor is rewarded for moving it, beyond that it is
    not. With `target_kl` updates from a rollout stop once the KL is above 1.5 times that; with
    `value_clip_range` values are clipped as well. One optimiser has actor and critic. `fast`: see
    `helpers.agents.mlp`. What else can be set is explained at `OnPolicyAgent`.
    """

    n_epochs: int = setting(10, SIZE)
    batch_size: int = setting(64, number(2, integer=True))  # one advantage alone has no scale
    clip_range: float = setting(0.2, number(above=0))
    value_clip_range: float | None = setting(None, number(above=0, optional=True))
    entropy_coef: float = setting(0.0, number(finite=True))
    value_coef: float = setting(0.5, NOT_NEGATIVE)
    target_kl: float | None = setting(None, number(above=0, optional=True))
    fast: bool = setting(True, switch)

    def build(self) -> None:
        super().build()
        # Adam's epsilon is 1e-5 in OpenAI's code (detail 3).
        self.optimizer = LeanAdam([*self.policy.parameters(), *self.critic.parameters()], eps=1e-5)
        self.follow("learning_rate", "optimizer")

    def make_networks(self) -> None:
        super().make_networks()
        orthogonal_init(self.policy.actor, output_gain=0.01)
        orthogonal_init(self.critic, output_gain=1.0)

    def learn_from(self, obs, actions, advantages, returns) -> dict[str, float]:
        """`n_epochs` over these rows; returns numbers for the log, means over the last epoch."""
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


class PPOInNumpy:
    """`PPO.learn_from` in numpy, of one choice of an action or of Box actions: the same steps and
    numbers. An edit there has to be made here too."""

    repeats = (PPO.learn_from, PPO.loss, PPO.value)
    parts: ClassVar = {"policy": "optimizer", "critic": "optimizer"}

    def __init__(self, agent: Any) -> None:
        self.agent, self.policy, self.critic = agent, Mlp(agent.policy), Mlp(agent.critic)
        discrete = type(agent.policy) is CategoricalPolicy
        self.evaluate = self.categorical if discrete else self.gaussian
        self.grads = [*self.policy.grads, *self.critic.grads]
        if not discrete:
            agent.policy.log_std.grad = torch.zeros_like(agent.policy.log_std)
            self.log_std_grad = agent.policy.log_std.grad
            self.grads.append(self.log_std_grad)

    def __call__(self, *columns: torch.Tensor) -> dict[str, float]:
        """What `agent.learn_from(*columns)` does and gives."""
        with one_thread(), torch.no_grad(), np.errstate(all="ignore"):
            return self.learn_from(*columns)

    def learn_from(self, *columns: torch.Tensor) -> dict[str, float]:
        agent = self.agent
        # 1. What the policy and the critic say before they change.
        old_log_probs, _ = agent.policy.evaluate(*columns[:2])
        both = old_log_probs, agent.value(columns[0])
        arrays = [each.numpy() for each in (*columns, *both)]
        gradients = [grad.numpy() for grad in self.grads]
        logged: list[dict[str, float]] = []
        # 2. Every epoch has all rows, in minibatches of its own.
        for epoch in reversed(range(agent.n_epochs)):
            logged.clear()
            for rows in minibatches(len(arrays[0]), agent.batch_size, agent.rng):
                batch: Any = Minibatch(*(each[np.asarray(rows)] for each in arrays))
                # Numbers of the last epoch are logged; or of each, since it may be the last.
                numbers = self.slopes(batch, epoch == 0 or agent.target_kl is not None)
                logged.append(numbers)
                # 3. Stop at once if the policy has moved far enough.
                if agent.target_kl is not None and numbers["approx_kl"] > 1.5 * agent.target_kl:
                    return means(logged)
                # 4. One update of both networks, their common gradient clipped.
                self.policy.backward()
                self.critic.backward()
                clip_gradients(agent.max_grad_norm, gradients)
                agent.optimizer.step()
        return means(logged)

    def slopes(self, batch: Any, wanted: bool) -> dict[str, float]:
        """The slopes of `PPO.loss` on a minibatch, and its numbers if they are `wanted`."""
        agent, rows = self.agent, len(batch.obs)
        # 1. What the networks say now of these rows.
        log_probs, entropies, back = self.evaluate(batch.obs, batch.actions)
        values = self.critic.forward(batch.obs)[:, 0]
        # 2. The clipped surrogate, of ratios and normalised advantages.
        log_ratio = log_probs - batch.old_log_probs
        spread = batch.advantages.std(ddof=1) + np.float32(1e-8)
        ratios, weights = np.exp(log_ratio), (batch.advantages - batch.advantages.mean()) / spread
        surrogate = ratios * weights
        clipped, within = limited(ratios, np.float32(1), agent.clip_range)
        clipped *= weights
        share = lower_share(surrogate, clipped)
        slope = weights * (share + (1 - share) * within) * ratios
        back(slope / -rows, agent.entropy_coef / rows)
        # 3. The critic's loss.
        errors = values - batch.returns
        squares, slope = errors**2, errors
        if agent.value_clip_range is not None:
            near, within = limited(values, batch.old_values, agent.value_clip_range)
            other = near - batch.returns
            share = lower_share(-squares, -(other**2))
            slope = errors * share + other * within * (1 - share)
            squares = np.maximum(squares, other**2)
        np.multiply(slope, 2 * agent.value_coef / rows, out=self.critic.slope[:, 0])
        if not wanted:
            return {}
        numbers = {
            "actor_loss": -np.minimum(surrogate, clipped),
            "critic_loss": squares,
            "entropy": entropies,
            "approx_kl": np.expm1(log_ratio) - log_ratio,
            "clip_fraction": abs(ratios - 1) > agent.clip_range,
        }
        return {name: float(each.mean()) for name, each in numbers.items()}

    # Log-probabilities (B,), entropies, and the way back: that takes the slopes (B,) of the loss
    # over the log-probabilities, and minus its slope over each entropy.

    def categorical(self, obs: np.ndarray, actions: np.ndarray) -> Any:
        logits = torch.from_numpy(self.policy.forward(obs))
        logs = torch.log_softmax(logits, dim=-1).numpy()
        shares, rows = np.exp(logs), np.arange(len(logs))
        entropies = -(shares * logs).sum(axis=1)

        def back(slopes: np.ndarray, certainty: float) -> None:
            total, out = slopes[:, None], self.policy.slope
            np.multiply(shares, certainty * (logs + entropies[:, None]) - total, out=out)
            out[rows, actions] += slopes

        return logs[rows, actions], entropies, back

    def gaussian(self, obs: np.ndarray, actions: np.ndarray) -> Any:
        mean, log_std = self.policy.forward(obs), self.agent.policy.log_std.numpy()
        std = np.exp(log_std)
        z = (actions - mean) / std
        log_probs = (-0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(axis=1)
        entropy = (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()

        def back(slopes: np.ndarray, certainty: float) -> None:
            np.multiply(slopes[:, None], z / std, out=self.policy.slope)
            gradient = self.log_std_grad.numpy()
            np.subtract(slopes @ (z * z - 1), certainty * len(z), out=gradient)
            self.agent.policy.log_std.grad = self.log_std_grad

        return log_probs, entropy, back


def limited(x: np.ndarray, center: Any, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """`x` brought to within `reach` of `center`, and where it was there already."""
    low, high = center - np.float32(reach), center + np.float32(reach)
    return np.minimum(np.maximum(x, low), high), (low <= x) & (x <= high)


def lower_share(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What `one` has of the slope of the lower of both: all, nothing, or half where both are."""
    return np.where(one == other, np.float32(0.5), (one < other).astype(np.float32))


PPO.in_numpy = PPOInNumpy
