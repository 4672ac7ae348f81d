"""Behaviour cloning: learn from demonstrations what was done, and nothing else.

Source: Pomerleau 1991, "Efficient Training of Artificial Neural Networks for Autonomous
Navigation".
"""

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents.a2c import A2C
from helpers.agents.base import Agent, gradient_step
from helpers.agents.limits import COUNT
from helpers.agents.off_policy import OffPolicyAgent, as_rows
from helpers.agents.ppo import PPO
from helpers.agents.threads import one_thread
from helpers.algorithms import cloning
from helpers.algorithms.cloning import bc_loss, early_stopping, minibatches
from helpers.algorithms.ddpg import QNetwork
from helpers.demos.files import ARRAYS, Demos, check_spaces
from helpers.memory.buffers import Batch

Shown = tuple[torch.Tensor, torch.Tensor]  # observations and actions, see `as_shown`


class OfflineAgent(OffPolicyAgent):
    """An agent that learns from what was given to `remember`, and from nothing else.

    It takes no step in the environment: `steps` counts updates, and `train_freq`,
    `gradient_steps` and `warm_up_noise` have no effect.
    """

    def remember(self, demos: Demos) -> Self:
        """Put demonstrations into the memory. Returns the agent."""
        for step in zip(*as_rows(self, demos, self.buffer), strict=True):
            self.buffer.add(*step)
        self.measure(demos.obs)
        return self

    def train_step(self) -> None:
        """One update."""
        if not len(self.buffer):
            raise ValueError("There is nothing to learn from: call remember(demos) first.")
        self.steps += 1
        self.learn_from_memory()


class BehaviourCloning(OfflineAgent):
    """An actor that imitates the demonstrations given to `remember`.

    Rewards and the critic play no part.
    """

    critic_class = QNetwork  # is there, as in every off-policy agent, and learns nothing
    takes_images = False  # the actor sees with what a critic has learned to see

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One step of the actor towards what was done."""
        loss = bc_loss(self.actor, batch.obs, batch.action)
        gradient_step(self.actor_optimizer, loss)
        return {"bc_loss": loss}


# ---- pre-training: cloning first, then reinforcement learning ------------------------------------


def split_episodes(
    demos: Demos, validation: float, rng: np.random.Generator
) -> tuple[Demos, Demos]:
    """Demonstrations to learn from, and a share `validation` of the episodes to be judged by.

    Raises `ValueError` unless there are two episodes and a share between 0 and 1.
    """
    if not 0 < validation < 1:
        raise ValueError(f"validation is a share between 0 and 1, such as 0.2, got {validation}.")
    if len(demos.episodes) < 2:
        raise ValueError(
            "There is only one episode, to learn from and to be judged by: record more of them."
        )
    sides = cloning.split_episodes(demos.terminated | demos.truncated, validation, rng)
    train, aside = (
        Demos(demos.env_id, demos.maker, *(getattr(demos, name)[rows] for name in ARRAYS))
        for rows in sides
    )
    return train, aside


@dataclass(frozen=True)
class PretrainingResult:
    """Losses of every epoch, number 0 before any training, and the epoch that was kept."""

    train_losses: list[float]
    validation_losses: list[float]
    best_epoch: int

    def __str__(self) -> str:
        first, best = self.validation_losses[0], self.validation_losses[self.best_epoch]
        return (
            f"epoch {self.best_epoch} of {len(self.validation_losses) - 1} kept: validation loss "
            f"{best:.4g}, before training {first:.4g}"
        )


def pretrain(
    agent: Agent,
    demos: Demos,
    *,
    epochs: int = 200,
    batch_size: int = 64,
    validation: float = 0.2,
    patience: int = 50,
    learning_rate: float | None = None,
    seed: int | None = None,
) -> PretrainingResult:
    """Let an agent's policy imitate demonstrations, before it learns from rewards.

    Some episodes are set aside. Training ends when the loss on these was not lower in `patience`
    epochs, and the weights of the best epoch are kept, also as the target actor's. Patience pays:
    networks that start small stand still for some epochs before they learn. An off-policy agent
    minimises `bc_loss`, A2C and PPO minus the log-probability of what was done, so that their
    standard deviation becomes how far the demonstrator was from its mean. `learning_rate` and
    `seed` are by default the agent's own. Critic and optimisers are left as they are.

    Raises `ValueError` if the demonstrations do not fit the agent or cannot be split.
    """
    for name, count in {"epochs": epochs, "batch_size": batch_size, "patience": patience}.items():
        COUNT(name, count)
    rng = np.random.default_rng(agent.seed if seed is None else seed)
    network, own_optimizer = _policy_of(agent)
    check_spaces(demos, agent)
    rate = own_optimizer.param_groups[0]["lr"] if learning_rate is None else learning_rate
    optimizer = torch.optim.Adam(network.parameters(), rate)
    agent.measure(demos.obs)
    # What to learn from, and what to be judged by.
    train, aside = (as_shown(agent, part) for part in split_episodes(demos, validation, rng))
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(agent.seed)  # for networks that draw, as dropout does
        result = _imitate(agent, optimizer, train, aside, rng, epochs, batch_size, patience)
    if isinstance(agent, OffPolicyAgent) and "actor" in agent.slow:
        agent.target_actor.load_state_dict(network.state_dict())
    return result


def _imitate(
    agent: Agent, optimizer: torch.optim.Optimizer, train: Shown, aside: Shown,
    rng: np.random.Generator, epochs: int, batch_size: int, patience: int,
) -> PretrainingResult:  # fmt: skip
    """Learn until it stops; the weights of the best epoch stay."""
    network, _ = _policy_of(agent)
    weights, stop, best = copy.deepcopy(network.state_dict()), False, 0
    losses, judged = [loss_on(agent, *train)], [loss_on(agent, *aside)]
    while not stop and len(losses) <= epochs:
        with agent.learning():
            for rows in minibatches(len(train[0]), batch_size, rng):
                gradient_step(optimizer, imitation_loss(agent, *(part[rows] for part in train)))
        losses.append(loss_on(agent, *train))
        judged.append(loss_on(agent, *aside))
        stop, best = early_stopping(judged, patience)
        if best == len(judged) - 1:
            weights = copy.deepcopy(network.state_dict())
    network.load_state_dict(weights)
    return PretrainingResult(losses, judged, best)


def as_shown(agent: Agent, demos: Demos) -> Shown:
    """What was observed (N, obs_size) and done (N, ...), as the agent's networks have both.

    Raises `ValueError` unless the steps can have been taken in the agent's spaces.
    """
    if isinstance(agent, OffPolicyAgent):
        obs, action, *_ = as_rows(agent, demos)
        return agent.normal(torch.from_numpy(obs)), torch.from_numpy(action).to(agent.device)
    check_spaces(demos, agent)
    policy: Any = _policy_of(agent)[0]
    if isinstance(agent.action_space, spaces.Discrete):
        action = demos.action - policy.start
    else:
        action = (demos.action.reshape(len(demos), -1) - policy.center) / policy.scale
    return agent.flat(demos.obs), torch.from_numpy(action).to(agent.device)


def imitation_loss(agent: Agent, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """How far the agent's policy is from what was done, by `as_shown`. A scalar."""
    if isinstance(agent, OffPolicyAgent):
        greedy: Any = agent.greedy
        return bc_loss(greedy, obs, action)
    policy: Any = _policy_of(agent)[0]
    log_probs, _ = policy.evaluate(obs, action)
    return -log_probs.mean()


@torch.no_grad()
def loss_on(agent: Agent, obs: torch.Tensor, action: torch.Tensor) -> float:
    """The loss on all of these steps at once, without a gradient."""
    return imitation_loss(agent, obs, action).item()


def _policy_of(agent: Agent) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The network that acts, and its optimiser."""
    if isinstance(agent, OffPolicyAgent):
        return agent.actor, agent.actor_optimizer
    if isinstance(agent, A2C):
        return agent.policy, agent.policy_optimizer
    if isinstance(agent, PPO):
        return agent.policy, agent.optimizer
    raise ValueError(
        f"{type(agent).__name__} cannot be pre-trained: use A2C, PPO or one of the off-policy "
        "agents."
    )
