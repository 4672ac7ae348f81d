"""Behaviour cloning: do what was demonstrated, and nothing else; from top to bottom.

Source: Pomerleau 1991, "Efficient Training of Artificial Neural Networks for Autonomous
Navigation", which prints no pseudocode; `# 4` is a line of ours:

    1  set some episodes aside, to be judged by
    2  actor mu: random weights
    3  for every epoch:
    4      for every minibatch of the other episodes:
    5          actor: down the mean of (mu(s) - a)^2
    6      the same mean over the episodes set aside
    7      stop where `patience` epochs were no better than the best
    8  keep the weights of the best epoch
"""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Adam

from helpers.algorithms import shared
from helpers.algorithms.ddpg import DeterministicActor
from helpers.algorithms.ddpgfd import DEMOS, read_demos


@dataclass(frozen=True)
class Settings:
    env_id: str = "helpers.envs.make:SparsePendulum-v0"
    demos: Path = DEMOS / "clumsy_pendulum.npz"
    epochs: int = 200  # at most
    batch_size: int = 64
    validation: float = 0.2  # the share of the episodes set aside
    patience: int = 50
    learning_rate: float = 1e-3


SPARSE_PENDULUM = Settings()


def bc_loss(actor: nn.Module, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Mean squared difference between the actor's actions and the demonstrated ones. A scalar.

    `obs` (B, obs_size), `action` (B, action_dim) in [-1, 1]; the mean is over both dimensions.
    """
    # 1. What the actor would do in these states.
    own = actor(obs)
    # 2. How far that is from what was done.
    return nn.functional.mse_loss(own, action)


def split_episodes(
    ends: np.ndarray, validation: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The rows to learn from, and the rows of a share `validation` of the episodes.

    `ends` (N,) booleans: the last row of each episode, of which there are two at least. An
    episode's steps resemble each other: with some to learn from and others to be judged by, a
    network that knows them by heart would look good.
    """
    # 1. The number of each row's episode: how many ended before it.
    numbers = np.cumsum(ends) - ends
    # 2. How many episodes are set aside: at least one, and at least one is left.
    n = int(ends.sum())
    aside = min(max(1, round(validation * n)), n - 1)
    # 3. Which ones: chance decides.
    is_aside = np.isin(numbers, rng.permutation(n)[:aside])
    # 4. Each side has whole episodes.
    return np.flatnonzero(~is_aside), np.flatnonzero(is_aside)


def minibatches(n: int, batch_size: int, rng: np.random.Generator) -> Iterator[torch.Tensor]:
    """The numbers 0 to n - 1 in random order, `batch_size` at a time, the last perhaps fewer.

    An epoch: every row is learned from once.
    """
    # 1. A new order for each epoch.
    order = torch.from_numpy(rng.permutation(n))
    # 2. Cut into pieces.
    yield from order.split(batch_size)


def early_stopping(losses: Sequence[float], patience: int) -> tuple[bool, int]:
    """Whether to stop now, and which epoch was best, by the validation loss of each so far."""
    # 1. The epoch with the lowest loss, the earliest if there are several.
    best = min(range(len(losses)), key=losses.__getitem__)
    # 2. Stop when `patience` epochs since then were no better.
    return len(losses) - 1 - best >= patience, best


class Agent:
    """What learns: an actor, and its optimiser."""

    predict = shared.predict  # in the environment's own units, as `evaluate(agent, env_id)` asks

    def __init__(self, env: Any, s: Settings) -> None:
        self.env = env
        self.history: shared.History = {}
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self.actor = DeterministicActor(*sizes)
        self.optimizer = Adam(self.actor.parameters(), s.learning_rate, fused=True)

    @torch.no_grad()
    def act(self, obs: np.ndarray) -> np.ndarray:
        """The actor's action for one observation, both in [-1, 1]."""
        return self.actor(torch.from_numpy(obs)).numpy()


def update(agent: Agent, obs: torch.Tensor, action: torch.Tensor) -> None:
    """One step of the actor towards what was done."""
    loss = bc_loss(agent.actor, obs, action)
    agent.optimizer.zero_grad()
    loss.backward()
    agent.optimizer.step()


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every epoch; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    demos = read_demos(s.demos, env)
    obs, action = torch.from_numpy(demos["obs"]), torch.from_numpy(demos["action"])
    ends = demos["terminated"] | demos["truncated"]
    rows, aside = split_episodes(ends, s.validation, rng)  # 1
    agent = Agent(env, s)  # 2
    losses, weights = [math.inf], copy.deepcopy(agent.actor.state_dict())  # of epoch 0: none
    for epoch in watch(range(1, s.epochs + 1), agent, agent.history):  # 3
        for part in minibatches(len(rows), s.batch_size, rng):  # 4
            update(agent, obs[rows[part]], action[rows[part]])  # 5
        with torch.no_grad():  # 6
            losses.append(bc_loss(agent.actor, obs[aside], action[aside]).item())
            train_loss = bc_loss(agent.actor, obs[rows], action[rows]).item()
        shared.log(agent.history, epoch, {"train_loss": train_loss, "validation_loss": losses[-1]})
        stop, best = early_stopping(losses, s.patience)  # 7
        if best == epoch:
            weights = copy.deepcopy(agent.actor.state_dict())
        if stop:
            break
    agent.actor.load_state_dict(weights)  # 8
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    for epoch, loss in train(SPARSE_PENDULUM).history["validation_loss"]:
        print(f"epoch {epoch:3d}: loss {loss:.4f} on the episodes set aside")
