"""Stochastic policies, of which A2C and PPO learn one: a softmax or a Gaussian.

A policy samples actions (`sample`), says how likely they were (`evaluate`), and brings them into
the units of the environment (`to_env`). `torch.distributions` has the same formulas, and is slower.
"""

import math

import numpy as np
import torch
from torch import nn

from helpers.algorithms.reinforce import log_prob, make_actor, sample_actions


def entropy(logits: torch.Tensor) -> torch.Tensor:
    """Entropy of the policy in each state, H = -sum_a pi(a|s) log pi(a|s), in nats.

    `logits` (B, n_actions); returns (B,): 0 for a certain choice, log(n_actions) for a uniform one.
    """
    # 1. Log-probabilities of all actions (log_softmax never takes the log of a rounded 0).
    log_probs = torch.log_softmax(logits, dim=-1)
    # 2. Their expectation under the policy itself, with a minus sign.
    return -(log_probs.exp() * log_probs).sum(dim=-1)


def gaussian_log_prob(
    mean: torch.Tensor, log_std: torch.Tensor, actions: torch.Tensor
) -> torch.Tensor:
    """Log-density of actions under independent Gaussians, one per action dimension.

    `mean` and `actions` (B, action_dim), `log_std` (action_dim,); returns (B,).
    """
    # 1. How many standard deviations each action lies from its mean.
    z = (actions - mean) / log_std.exp()
    # 2. The log-density of each dimension: -z^2 / 2 - log(std) - log(2 pi) / 2.
    log_density = -0.5 * z**2 - log_std - 0.5 * np.log(2 * np.pi)
    # 3. Independent dimensions: densities multiply, so log-densities add up.
    return log_density.sum(dim=-1)


def gaussian_entropy(log_std: torch.Tensor) -> torch.Tensor:
    """Entropy of independent Gaussians in nats: the sum of log(std) + log(2 pi e) / 2. A scalar."""
    return (log_std + 0.5 * np.log(2 * np.pi) + 0.5).sum()


def approximate_kl(log_probs: torch.Tensor, old_log_probs: torch.Tensor) -> torch.Tensor:
    """How far the policy has moved: an estimate of KL(pi_old || pi) in nats. A scalar, no gradient.

    `log_probs` and `old_log_probs` (B,), of actions that pi_old sampled. The mean of
    (rho - 1) - log rho has the right expectation, and no row of it is negative.
    Source: Schulman 2020, "Approximating KL Divergence" (joschu.net), the estimator k3.
    """
    # 1. log rho: it is reported, not learned from, so no gradient.
    log_ratio = (log_probs - old_log_probs).detach()
    # 2. The mean of (rho - 1) - log rho; expm1 does not round rho - 1 away where rho is near 1.
    return (log_ratio.expm1() - log_ratio).mean()


def clip_fraction(ratios: torch.Tensor, clip_range: float) -> torch.Tensor:
    """The share of rows whose ratio (B,) lies outside [1 - clip_range, 1 + clip_range]. A scalar.

    Source: Huang et al. 2022, "Debug variables".
    """
    return ((ratios.detach() - 1).abs() > clip_range).float().mean()


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


class CategoricalPolicy(nn.Module):
    """pi(a|s) for discrete actions: a softmax over one logit per action."""

    def __init__(self, obs_size: int, actions) -> None:
        super().__init__()
        self.actor = make_actor(obs_size, int(actions.n))

    def sample(self, obs: torch.Tensor, rng: np.random.Generator | None = None) -> np.ndarray:
        """Actions (B,) for observations (B, obs_size): sampled, or the likeliest without `rng`."""
        logits = self.actor(obs).numpy()
        return logits.argmax(axis=-1) if rng is None else sample_actions(logits, rng)

    def evaluate(self, obs: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Log-probabilities of `actions` (B,) and entropies of the policy, both (B,)."""
        logits = self.actor(obs)
        return log_prob(logits, actions), entropy(logits)

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """Unchanged: the environment numbers its actions in the same way."""
        return actions


class GaussianPolicy(nn.Module):
    """pi(a|s) for continuous actions: a Gaussian, in units where the bounds are -1 and 1."""

    def __init__(self, obs_size: int, actions) -> None:
        super().__init__()
        self.low, self.high = actions.low, actions.high
        self.actor = make_actor(obs_size, len(self.low))
        self.log_std = nn.Parameter(torch.zeros(len(self.low)))  # the same in every state

    def sample(self, obs: torch.Tensor, rng: np.random.Generator | None = None) -> np.ndarray:
        """Actions (B, action_dim) for observations (B, obs_size): sampled, or the mean."""
        mean, std = self.actor(obs).numpy(), self.log_std.detach().exp().numpy()
        return mean if rng is None else mean + std * rng.standard_normal(mean.shape, np.float32)

    def evaluate(self, obs: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Log-densities of `actions` (B, action_dim) and entropies of the policy, both (B,)."""
        log_probs = gaussian_log_prob(self.actor(obs), self.log_std, actions)
        return log_probs, gaussian_entropy(self.log_std).expand(len(obs))

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """Clipped to the bounds, in the units of the environment."""
        return self.low + (actions.clip(-1, 1) + 1) / 2 * (self.high - self.low)


def policy_for(obs_size: int, actions):
    """The untrained policy for a space of actions."""
    kind = CategoricalPolicy if hasattr(actions, "n") else GaussianPolicy
    return kind(obs_size, actions)
