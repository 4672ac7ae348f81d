"""Small functions of what came after 2018, which no file here trains with; lesson 08 shows them."""

import numpy as np
import torch
from torch import nn

from helpers.algorithms.rlpd import NormedQNetwork
from helpers.memory.buffers import Batch


@torch.no_grad()
def value_bound(network: NormedQNetwork) -> float:
    """What |Q| cannot exceed, whatever the network sees: |w| (max |g| sqrt(n) + |c|) + |b|.

    `w` and `b` are weights and bias of the last layer, `g` and `c` scale and shift of the last
    LayerNorm, which has n units. As it starts, with g = 1 and c = 0, that is |w| sqrt(n) + |b|.
    """
    last, norm = network.output, network.norm2
    # 1. Numbers with mean 0 and variance 1: the sum of their squares is n, and their length is the
    # root of that.
    length = len(norm.weight) ** 0.5
    # 2. The scale makes them longer by its largest entry at most, the shift by its own length.
    length = norm.weight.abs().max() * length + norm.bias.norm()
    # 3. The ReLU makes nothing longer, and w times x is at most |w| |x|.
    return (last.weight.norm() * length + last.bias.abs().sum()).item()


def subset_minimum(q: torch.Tensor, m: int, rng: np.random.Generator) -> torch.Tensor:
    """The lowest of m critics chosen at random, for each row: from `q` (critics, B) to (B,).

    One choice for the whole batch. Source: Chen et al. 2021, Algorithm 1 (REDQ).
    """
    # 1. Which m of the critics: all different.
    chosen = rng.choice(len(q), m, replace=False)
    # 2. For every row the most pessimistic of these.
    return q[torch.from_numpy(chosen)].min(dim=0).values


def expectile_loss(error: torch.Tensor, expectile: float) -> torch.Tensor:
    """The mean of |expectile - 1(error < 0)| error^2, a scalar; `error` (B,) is Q(s, a) - V(s).

    With 0.5 it is half of the mean square. Near 1, V approaches the best of the actions in the
    data, and no other action is ever asked about. Source: Kostrikov, Nair & Levine 2021 (IQL).
    """
    # 1. An error below 0 counts 1 - expectile, any other one counts expectile.
    weight = torch.where(error < 0, 1 - expectile, expectile)
    # 2. The mean of the weighted squares.
    return (weight * error**2).mean()


def cross_q_values(
    critic: nn.Module, batch: Batch, next_action: torch.Tensor
) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]:
    """Both critics' Q(s, a), and their Q(s', a') without gradient, by one pass; each (B,).

    A critic with batch normalisation then sees both with the same statistics, and needs no target
    network. Source: Bhatt et al. 2024 (CrossQ).
    """
    # 1. One batch of twice the size, and one pass.
    obs = torch.cat([batch.obs, batch.next_obs])
    values = critic(obs, torch.cat([batch.action, next_action]))
    # 2. The first half of each critic's values learns, the second half is only a target.
    now, following = zip(*(q.chunk(2) for q in values), strict=True)
    return now, tuple(q.detach() for q in following)
