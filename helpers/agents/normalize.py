"""Running normalisation: observations and rewards of size 1, whatever the environment's units.

The statistics are those of all that was seen in training. Evaluation and `predict` use them as they
are and add nothing. A replay memory keeps what the environment gave; it is normalised when drawn,
so that old steps are measured by today's statistics.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

PARTS = ("obs", "rewards")
LARGEST = 10.0  # normalised numbers are cut off here, as Stable-Baselines3's VecNormalize does
EPS = 1e-8


class Running(nn.Module):
    """Mean and variance of all rows so far, for each column. Float64: they sum up millions.

    Source: Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample Variance".
    """

    mean: torch.Tensor
    variance: torch.Tensor
    count: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("variance", torch.ones(size, dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def add(self, rows: torch.Tensor) -> None:
        """Take rows (N, size) into account."""
        rows = rows.double()
        mean, variance = rows.mean(dim=0), rows.var(dim=0, correction=0)
        share = len(rows) / (self.count + len(rows))
        between = (mean - self.mean) ** 2 * share * (1 - share)
        self.variance.lerp_(variance, share).add_(between)
        self.mean.lerp_(mean, share)
        self.count += len(rows)

    @property
    def std(self) -> torch.Tensor:
        return (self.variance.clamp(min=0) + EPS).sqrt()


class Normalizer(nn.Module):
    """What an agent with `normalize=("obs", "rewards")`, or one of them, measures and divides by.

    Observations get mean 0 and standard deviation 1. Rewards are divided by the standard deviation
    of the discounted sum of rewards so far, and not shifted: which reward is 0 matters.
    """

    returns: torch.Tensor

    def __init__(self, parts: Sequence[str], obs_size: int, n_envs: int, gamma: float) -> None:
        super().__init__()
        self.parts, self.gamma = tuple(parts), gamma
        self.of_obs, self.of_returns = Running(obs_size), Running(1)
        # Of the episode under way in each environment.
        self.register_buffer("returns", torch.zeros(n_envs, dtype=torch.float64))

    def fitting(self, state: dict[str, Any]) -> dict[str, Any]:
        """Another's state, without its episodes under way if they are not as many as here."""
        same = len(state["returns"]) == len(self.returns)
        return state if same else {**state, "returns": torch.zeros_like(self.returns)}

    def obs(self, obs: torch.Tensor) -> torch.Tensor:
        """Observations (..., obs_size) as the networks get them, in float32.

        The mean is subtracted in float64: far from 0, as clocks are, float32 knows no difference.
        """
        if "obs" not in self.parts:
            return obs
        scaled = (obs - self.of_obs.mean) / self.of_obs.std
        return scaled.clamp(-LARGEST, LARGEST).float()

    @property
    def reward_factor(self) -> float:
        """What rewards are multiplied by."""
        return 1 / self.of_returns.std.item() if "rewards" in self.parts else 1.0

    def batch(self, batch: Any) -> Any:
        """A batch from the memory, plain or prioritized, as the networks get it."""
        new = {name: self.obs(getattr(batch, name)) for name in batch._fields if "obs" in name}
        for name in {"reward", "n_reward"} & set(batch._fields):
            new[name] = getattr(batch, name) * self.reward_factor
        return batch._replace(**new)

    def learn_from(self, seen: Sequence[list[tuple]], flat: Any) -> None:
        """Take into account what was seen in each environment since the last time.

        `flat` makes observations (N, *shape) flat. What a new environment shows before it is
        watched, its first step or rollout, is left out.
        """
        obs = [obs for each in seen for obs, *_ in each]
        if obs:
            self.of_obs.add(flat(np.array(obs)))
        sums = [value for i, each in enumerate(seen) for value in self._go_on(i, each)]
        if sums:
            self.of_returns.add(torch.tensor(sums)[:, None])

    def _go_on(self, number: int, seen: list[tuple]) -> list[float]:
        """The discounted sums of rewards after each of these steps of one environment."""
        sums, total = [], float(self.returns[number])
        for _, reward, terminated, truncated in seen:
            if reward is None:  # an episode began
                total = 0.0
                continue
            total = total * self.gamma + float(reward)
            sums.append(total)
            if terminated or truncated:
                total = 0.0
        self.returns[number] = total
        return sums
