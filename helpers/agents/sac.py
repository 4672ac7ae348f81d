"""Soft actor-critic (SAC).

Sources: Haarnoja, Zhou, Abbeel & Levine 2018, "Soft Actor-Critic: Off-Policy Maximum Entropy Deep
Reinforcement Learning with a Stochastic Actor" (the first paper); Haarnoja et al. 2018, "Soft
Actor-Critic Algorithms and Applications" (the second), whose Algorithm 1 this is.
"""

from typing import Any

import numpy as np
import torch

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.networks import SquashedGaussianActor, TwinQNetwork
from helpers.agents.noise import Noise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import Rate
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.sac import (
    Temperature,
    sac_actor_loss,
    soft_td_target,
    squashed_sample,
    temperature_loss,
)
from helpers.algorithms.td3 import twin_critic_loss
from helpers.envs.make import EnvLike
from helpers.memory.buffers import Batch


class SAC(OffPolicyAgent):
    """Soft actor-critic: a policy that stays as random as it can afford, two critics, the lower.

    `temperature`: what a unit of entropy is worth; it stays so, or with `learn_temperature` it is
    where learning starts, with `temperature_learning_rate` towards `target_entropy` (None: minus
    the number of action dimensions). The policy explores by itself; a `noise` is added to what it
    draws, and none is by default. Greedy, it takes the tanh of the mean. What else can be set,
    `shared`, is explained at `OffPolicyAgent`.
    """

    actor_class = SquashedGaussianActor
    critic_class = TwinQNetwork
    outputs = (2, 2)
    settled = (*OffPolicyAgent.settled, "temperature", "target_entropy")
    slow = ("critic",)  # no target actor
    squashes = True
    saved = (
        "actor", "critic", "target_critic", "temperature",
        "actor_optimizer", "critic_optimizer", "temperature_optimizer",
    )  # fmt: skip

    def __init__(
        self,
        env: EnvLike,
        *,
        temperature: float = 1.0,
        learn_temperature: bool = True,
        target_entropy: float | None = None,
        temperature_learning_rate: Rate = 1e-3,
        noise: Noise | None = None,
        seed: int | None = None,
        **shared: Any,
    ) -> None:
        self.check_settings(locals())
        super().__init__(env, noise=noise, seed=seed, **shared)
        self.learn_temperature = learn_temperature
        self.target_entropy = -self.action_size if target_entropy is None else target_entropy
        self.temperature = Temperature(temperature).to(self.device)
        self.temperature_optimizer = LeanAdam(self.temperature.parameters())
        self.follow("temperature_learning_rate", temperature_learning_rate, "temperature_optimizer")

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One update of both critics, the actor and the temperature; the targets follow.

        Returns the losses, the `temperature` that was used, and the policy's mean `entropy`.
        """
        temperature = self.temperature()
        # 1. Next actions, drawn from the policy as it is: there is no target actor, and what is
        # drawn anew for each batch smooths the target by itself.
        with torch.no_grad():
            next_action, next_log_prob = self.sample(batch.next_obs, self.rng)
        # 2. What both critics should say, and an update of both towards it.
        target = soft_td_target(
            batch, next_action, next_log_prob, self.target_critic, temperature, self.gamma
        )
        q_loss = twin_critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        # 3. An update of the actor, uphill on the lower of both critics and on its own entropy.
        action, log_prob = self.sample(batch.obs, self.rng)
        policy_loss = sac_actor_loss(self.critic, batch.obs, action, log_prob, temperature)
        gradient_step(self.actor_optimizer, policy_loss)
        losses = {"critic_loss": q_loss, "actor_loss": policy_loss}
        # 4. An update of the temperature, up where the policy was too certain.
        if self.learn_temperature:
            loss = temperature_loss(self.temperature.log, log_prob, self.target_entropy)
            gradient_step(self.temperature_optimizer, loss)
        # 5. A small move of both target critics.
        polyak_update(self.targets, self.online, self.tau)
        return losses | {"temperature": temperature, "entropy": -log_prob.detach().mean()}

    def sample(
        self, obs: torch.Tensor, rng: np.random.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions (..., action_size) for flat observations, drawn, and their log-densities."""
        mean, log_std = self.actor(obs)
        noise = torch.as_tensor(rng.standard_normal(mean.shape, dtype=np.float32))
        return squashed_sample(mean, log_std, noise.to(mean.device))

    def draw(self, obs: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        return self.sample(obs, rng)[0]

    def greedy(self, obs: torch.Tensor) -> torch.Tensor:
        mean, _ = self.actor(obs)
        return torch.tanh(mean)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        """The first critic's, as TD3's is: a soft value, in which later steps' entropy counts."""
        return self.critic.q1(obs, self.greedy(obs))
