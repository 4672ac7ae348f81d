"""What acts and judges in DDPG and its successors: two networks, and slow copies of them."""

import copy
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import Agent
from helpers.agents.layers import Encoder, choose_networks, takes_one_alone
from helpers.agents.limits import number, switch, widths
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import DeterministicActor
from helpers.envs.units import Units


class ActorCriticAgent(Agent):
    """An actor and its critic, with an optimiser each, and a target network for each in `slow`.

    They see observations and give actions as `Units` has them, in [-1, 1]. Both have two layers of
    `hidden` units, or a layer for each number in it, with `layer_norm` normalised. A target network
    moves a fraction `tau` of the way at an update. Both learning rates are numbers, or schedules
    such as `LinearSchedule`. `normalize` and `device` are explained at `Agent`.
    """

    # Both are built from obs_size, action_size and hidden; from what pictures show, the features.
    actor_class: ClassVar[type[nn.Module]] = DeterministicActor
    critic_class: ClassVar[type[nn.Module]]
    encoder_class: ClassVar[type[nn.Module]] = Encoder
    network_classes = ("actor_class", "critic_class", "encoder_class")
    slow: ClassVar[tuple[str, ...]] = ("actor", "critic")
    target_actor: nn.Module
    target_critic: nn.Module
    outputs: ClassVar[tuple[int, int]] = (1, 1)  # tensors that actor and critic give
    needs_bounds = True

    tau: float = setting(0.005, number(above=0, most=1))
    actor_learning_rate: Rate = setting(1e-3, as_rate)
    critic_learning_rate: Rate = setting(1e-3, as_rate)
    hidden: int | Sequence[int] = setting(64, widths, fixed=True)
    layer_norm: bool = setting(False, switch, fixed=True)

    def build(self) -> None:
        super().build()
        self.units = Units(self.flat_space, self.action_space)
        if self.units.images and "obs" in self.normalize:
            raise ValueError("normalize can hold no 'obs' here: pictures are brought to a range.")
        self.action_size = self.units.action_size
        with self.seeded():
            self.actor, self.critic = choose_networks(self, self.hidden, self.layer_norm)
        self.one_alone = takes_one_alone(self)
        self.copy_networks()
        self.actor_optimizer = LeanAdam(self.actor.parameters())
        self.critic_optimizer = LeanAdam(self.critic.parameters())
        self.follow("actor_learning_rate", "actor_optimizer")
        self.follow("critic_learning_rate", "critic_optimizer")

    def copy_networks(self) -> None:
        """Let each network in `slow` have a target network that equals it."""
        self.copied = {name: getattr(self, name) for name in self.slow}
        # Copied together: what the two share, their copies share.
        copies = copy.deepcopy(self.copied)
        self.target_critic = copies["critic"]
        if "actor" in copies:
            self.target_actor = copies["actor"]

    def ready(self) -> None:
        if any(getattr(self, name) is not network for name, network in self.copied.items()):
            self.copy_networks()  # one was replaced, and its target would go on following the old
        super().ready()
        # Listed once: asking a network for its parameters takes longer than moving them.
        self.online = [p for name in self.slow for p in getattr(self, name).parameters()]
        self.targets = [
            p for name in self.slow for p in getattr(self, f"target_{name}").parameters()
        ]

    def greedy(self, obs: torch.Tensor) -> torch.Tensor:
        """The actor's actions (..., action_size) for flat observations, without any noise."""
        return self.actor(obs)

    def draw(self, obs: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """The same as it explores; a deterministic actor has only one action."""
        return self.greedy(obs)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs, self.greedy(obs))

    def measured(self, obs: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self.units.scaled_obs(obs, len(obs)))
