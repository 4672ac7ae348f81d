"""Stochastic policies: for every observation a distribution over actions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents.layers import of_depth
from helpers.algorithms import policies
from helpers.algorithms.policies import entropy
from helpers.algorithms.reinforce import log_prob, make_actor, sample_actions

# ---- discrete actions: a categorical distribution ------------------------------------------------


class CategoricalPolicy(policies.CategoricalPolicy):
    """pi(a|s) for a Discrete action space, lesson 01's: a softmax over one logit per action."""

    def __init__(
        self, obs_size: int, action_space: spaces.Discrete, hidden: int | Sequence[int] = 64
    ) -> None:
        nn.Module.__init__(self)
        self.start = int(action_space.start)
        self.actor = of_depth(make_actor, obs_size, int(action_space.n), hidden=hidden)

    def sample(self, obs: torch.Tensor, rng: np.random.Generator | None = None) -> np.ndarray:
        """Action indices (B,) for observations (B, obs_size): drawn, or likeliest without `rng`."""
        logits = self.actor(obs).cpu().numpy()
        return logits.argmax(axis=-1) if rng is None else sample_actions(logits, rng)

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """Indices 0, 1, ... as the actions of the environment, which may start elsewhere."""
        return actions + self.start


class MultiCategoricalPolicy(nn.Module):
    """pi(a|s) for several choices at once, MultiDiscrete or MultiBinary: a softmax for each.

    The choices are independent of each other: log-probabilities and entropies add up.
    """

    def __init__(
        self,
        obs_size: int,
        action_space: spaces.MultiDiscrete | spaces.MultiBinary,
        hidden: int | Sequence[int] = 64,
    ) -> None:
        super().__init__()
        self.shape, self.dtype = action_space.shape, action_space.dtype
        self.start = getattr(action_space, "start", 0)
        options = getattr(action_space, "nvec", np.full(self.shape, 2))
        self.options = [int(n) for n in options.ravel()]  # how many each choice has
        self.actor = of_depth(make_actor, obs_size, sum(self.options), hidden=hidden)

    def logits(self, obs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The logits of each choice, (B, its options)."""
        return self.actor(obs).split(self.options, dim=-1)

    def sample(self, obs: torch.Tensor, rng: np.random.Generator | None = None) -> np.ndarray:
        """Indices (B, choices) for observations (B, obs_size); without `rng` the likeliest."""
        parts = [each.cpu().numpy() for each in self.logits(obs)]
        chosen = [each.argmax(-1) if rng is None else sample_actions(each, rng) for each in parts]
        return np.stack(chosen, axis=-1)

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """Indices 0, 1, ... as the actions of the environment (B, *action shape)."""
        return (actions.reshape(-1, *self.shape) + self.start).astype(self.dtype)

    def evaluate(
        self, obs: torch.Tensor, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of `actions` (B, choices) and entropies of the policy, both (B,)."""
        parts = self.logits(obs)
        log_probs = [log_prob(*pair) for pair in zip(parts, actions.unbind(-1), strict=True)]
        return torch.stack(log_probs).sum(dim=0), torch.stack(list(map(entropy, parts))).sum(dim=0)


# ---- continuous actions: a Gaussian distribution -------------------------------------------------


class GaussianPolicy(policies.GaussianPolicy):
    """pi(a|s) for a Box action space, lesson 01's: a Gaussian whose std is learned.

    It lives in scaled units, where the space's bounds are [-1, 1]; an unbounded space is not
    scaled.
    """

    def __init__(
        self, obs_size: int, action_space: spaces.Box, hidden: int | Sequence[int] = 64
    ) -> None:
        nn.Module.__init__(self)
        self.shape = action_space.shape
        self.low, self.high = action_space.low.ravel(), action_space.high.ravel()
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, -1), np.where(bounded, self.high, 1)
        self.center = ((high + low) / 2).astype(np.float32)
        self.scale = ((high - low) / 2).astype(np.float32)
        self.actor = of_depth(make_actor, obs_size, len(self.low), hidden=hidden)
        self.log_std = nn.Parameter(torch.zeros(len(self.low)))

    def sample(self, obs: torch.Tensor, rng: np.random.Generator | None = None) -> np.ndarray:
        """Actions (B, action_dim) in scaled units: drawn with `rng`, or the mean if None."""
        mean = self.actor(obs).cpu().numpy()
        if rng is None:
            return mean
        std = self.log_std.detach().exp().cpu().numpy()
        return mean + std * rng.standard_normal(mean.shape, dtype=np.float32)

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """Scaled actions (B, action_dim) in environment units (B, *action shape), clipped."""
        clipped = np.clip(actions * self.scale + self.center, self.low, self.high)
        return clipped.astype(self.low.dtype).reshape(-1, *self.shape)


# ---- which of them -------------------------------------------------------------------------------


def policy_for(
    obs_size: int, action_space: Any, hidden: int | Sequence[int] = 64
) -> CategoricalPolicy | MultiCategoricalPolicy | GaussianPolicy:
    """The policy that goes with this kind of actions."""
    if isinstance(action_space, spaces.Discrete):
        return CategoricalPolicy(obs_size, action_space, hidden)
    if isinstance(action_space, spaces.Box):
        return GaussianPolicy(obs_size, action_space, hidden)
    return MultiCategoricalPolicy(obs_size, action_space, hidden)


POLICIES = (CategoricalPolicy, MultiCategoricalPolicy, GaussianPolicy)
