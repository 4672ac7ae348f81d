"""What acts and judges in DDPG and its successors: two networks, and slow copies of them."""

import copy
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import Agent
from helpers.agents.faster import fast_networks
from helpers.agents.layers import Encoder
from helpers.agents.networks import DeterministicActor
from helpers.agents.schedules import Rate
from helpers.envs.make import EnvLike
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
    slow: ClassVar[tuple[str, ...]] = ("actor", "critic")
    target_actor: nn.Module
    target_critic: nn.Module
    outputs: ClassVar[tuple[int, int]] = (1, 1)  # tensors that actor and critic give
    needs_bounds = True
    saved: ClassVar[tuple[str, ...]] = (
        "actor", "critic", "target_actor", "target_critic", "actor_optimizer", "critic_optimizer",
    )  # fmt: skip

    def __init__(
        self,
        env: EnvLike,
        *,
        gamma: float = 0.99,
        tau: float = 0.005,
        actor_learning_rate: Rate = 1e-3,
        critic_learning_rate: Rate = 1e-3,
        hidden: int | Sequence[int] = 64,
        layer_norm: bool = False,
        normalize: Sequence[str] = (),
        device: str | torch.device = "cpu",
        seed: int | None = None,
    ) -> None:
        self.check_settings(locals())
        super().__init__(env, seed, normalize, device)
        self.gamma, self.tau, self.units = gamma, tau, Units(self.flat_space, self.action_space)
        if self.units.images and "obs" in normalize:
            raise ValueError("normalize can hold no 'obs' here: pictures are brought to a range.")
        self.action_size = self.units.action_size
        with self.seeded():
            self.actor, self.critic = fast_networks(self, hidden, layer_norm)
        networks = {f"target_{name}": getattr(self, name) for name in self.slow}
        # Copied together: what the two share, their copies share.
        copies = copy.deepcopy(networks)
        vars(self).update(copies)
        # Listed once: asking a network for its parameters takes longer than moving them.
        self.online = [p for network in networks.values() for p in network.parameters()]
        self.targets = [p for network in copies.values() for p in network.parameters()]
        self.actor_optimizer = LeanAdam(self.actor.parameters())
        self.critic_optimizer = LeanAdam(self.critic.parameters())
        self.follow("actor_learning_rate", actor_learning_rate, "actor_optimizer")
        self.follow("critic_learning_rate", critic_learning_rate, "critic_optimizer")

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
