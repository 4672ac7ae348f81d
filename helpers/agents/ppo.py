"""Proximal policy optimization (PPO): A2C that learns from each rollout several times.

Sources: Schulman et al. 2017, "Proximal Policy Optimization Algorithms" (arXiv 1707.06347); Huang
et al. 2022, "The 37 Implementation Details of Proximal Policy Optimization" (ICLR blog track),
which says what the authors' code does beside it. GAE: see `helpers.agents.a2c`.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import nn

from helpers.agents.a2c import A2C
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.layers import of_depth
from helpers.agents.networks import make_critic
from helpers.agents.on_policy import OnPolicyAgent
from helpers.agents.policies import policy_for
from helpers.agents.schedules import Rate
from helpers.envs.make import EnvLike


def probability_ratio(log_probs: torch.Tensor, old_log_probs: torch.Tensor) -> torch.Tensor:
    """How much likelier each action has become: rho = pi(a|s) / pi_old(a|s), (B,).

    `log_probs` (B,) of the policy as it is now, `old_log_probs` (B,) of the policy that acted.
    Source: Schulman et al. 2017, section 3, above equation 6.
    """
    # 1. The old policy's are numbers: no gradient flows into them.
    old = old_log_probs.detach()
    # 2. A quotient of probabilities is the exponential of a difference of their logarithms.
    return (log_probs - old).exp()


def clipped_surrogate(
    ratios: torch.Tensor, advantages: torch.Tensor, clip_range: float
) -> torch.Tensor:
    """PPO's objective L^CLIP, which is to be made large. A scalar.

    `ratios` and `advantages` (B,). The gradient reaches the policy only through `ratios`.
    Source: Schulman et al. 2017, equation 7, where `clip_range` is epsilon.
    """
    # 1. The advantage is a weight, not something to differentiate.
    weights = advantages.detach()
    # 2. The surrogate: ratio times advantage.
    surrogate = ratios * weights
    # 3. The same with ratios brought to [1 - clip_range, 1 + clip_range]: constant beyond.
    clipped = ratios.clamp(1 - clip_range, 1 + clip_range) * weights
    # 4. The smaller of both in each row, and the mean over the batch.
    return torch.minimum(surrogate, clipped).mean()


def clip_fraction(ratios: torch.Tensor, clip_range: float) -> torch.Tensor:
    """The share of rows whose ratio (B,) lies outside [1 - clip_range, 1 + clip_range]. A scalar.

    Source: Huang et al. 2022, "Debug variables".
    """
    return ((ratios.detach() - 1).abs() > clip_range).float().mean()


def approximate_kl(log_probs: torch.Tensor, old_log_probs: torch.Tensor) -> torch.Tensor:
    """How far the policy has moved: an estimate of KL(pi_old || pi) in nats. A scalar, no gradient.

    `log_probs` and `old_log_probs` (B,), of actions that pi_old drew. The mean of
    (rho - 1) - log rho has the right expectation, and no row of it is negative.
    Source: Schulman 2020, "Approximating KL Divergence" (joschu.net), the estimator k3.
    """
    # 1. log rho: it is reported, not learned from, so no gradient.
    log_ratio = (log_probs - old_log_probs).detach()
    # 2. The mean of (rho - 1) - log rho; expm1 does not round rho - 1 away where rho is near 1.
    return (log_ratio.expm1() - log_ratio).mean()


def normalized(advantages: torch.Tensor) -> torch.Tensor:
    """Advantages (B,) with mean 0 and standard deviation 1.

    Source: Huang et al. 2022, detail 7; in each minibatch, not over the whole rollout.
    """
    # 1. Less their mean, divided by their standard deviation; 1e-8 in case all are equal.
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def ppo_value_loss(
    values: torch.Tensor, old_values: torch.Tensor, returns: torch.Tensor, clip_range: float | None
) -> torch.Tensor:
    """Mean squared error between values and returns, perhaps clipped. A scalar.

    `values` (B,) of the critic as it is now, `old_values` (B,) from before the first update,
    `returns` (B,). With a `clip_range`, in the units of values, moving further than that from the
    old value is not rewarded. Source: Huang et al. 2022, detail 9; in Schulman et al. 2017 there is
    none.
    """
    # 1. Old values and returns are numbers: no gradient flows into them.
    old, targets = old_values.detach(), returns.detach()
    # 2. The squared error of each row.
    errors = (values - targets) ** 2
    if clip_range is not None:
        # 3. The same with values at most `clip_range` from the old ones; the larger of both counts.
        clipped = old + (values - old).clamp(-clip_range, clip_range)
        errors = torch.maximum(errors, (clipped - targets) ** 2)
    # 4. The mean over the batch.
    return errors.mean()


def minibatches(n_rows: int, batch_size: int, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """An epoch: every row number from 0 to n_rows - 1 once, shuffled, in parts of equal size.

    Each part (b,) has `batch_size` rows or more (fewer only if there are no more): what is left
    over is shared out, since a part of two or three rows would move the weights as far as a whole
    one.
    Source: Huang et al. 2022, detail 6.
    """
    # 1. All row numbers in a random order.
    order = torch.from_numpy(rng.permutation(n_rows))
    # 2. As many parts as `batch_size` goes into the rows, one at least.
    parts = max(1, n_rows // batch_size)
    # 3. The order cut into so many parts, as equal as can be.
    return order.tensor_split(parts)


def orthogonal_init(network: nn.Module, output_gain: float) -> None:
    """Give a network orthogonal weights and biases of 0.

    Hidden layers have a gain of sqrt(2), the last layer has `output_gain`: 0.01 for a policy,
    whose first actions then hardly depend on what it sees, 1 for a critic.
    Source: Huang et al. 2022, detail 2; Saxe et al. 2014 (orthogonal matrices).
    """
    *hidden, output = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    # 1. Hidden layers: a ReLU loses half of the squares, a gain of sqrt(2) makes up for it.
    for layer in hidden:
        nn.init.orthogonal_(layer.weight, math.sqrt(2))
        nn.init.zeros_(layer.bias)
    # 2. The last layer, by its own gain.
    nn.init.orthogonal_(output.weight, output_gain)
    nn.init.zeros_(output.bias)


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
