"""Twin delayed deep deterministic policy gradient (TD3).

Source: Fujimoto, van Hoof & Meger 2018, "Addressing Function Approximation Error in Actor-Critic
Methods", Algorithm 1.
"""

from typing import Any

import torch

from helpers.agents.base import gradient_step
from helpers.agents.networks import TwinQNetwork
from helpers.agents.off_policy import OffPolicyAgent
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.td3 import (
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.envs.make import EnvLike
from helpers.memory.buffers import Batch


class TD3(OffPolicyAgent):
    """Twin delayed DDPG: two critics and the lower of them, delayed actor, smoothed targets.

    Noise of standard deviation `target_noise`, clipped at `noise_clip`, smooths the target action;
    the actor and all target networks move at every `policy_delay`-th update. What else can be set,
    `shared`, is explained at `OffPolicyAgent`.
    """

    critic_class = TwinQNetwork
    outputs = (1, 2)

    def __init__(
        self,
        env: EnvLike,
        *,
        policy_delay: int = 2,
        target_noise: float = 0.2,
        noise_clip: float = 0.5,
        seed: int | None = None,
        **shared: Any,
    ) -> None:
        self.check_settings(locals())
        super().__init__(env, seed=seed, **shared)
        self.policy_delay = policy_delay
        self.target_noise, self.noise_clip = target_noise, noise_clip

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """An update of both critics; at every `policy_delay`-th one the actor and all targets move.

        `self.updates` counts the updates, this one included: the first one is number 1. Returns
        `critic_loss`, and `actor_loss` when the actor has moved.
        """
        # 1. The next actions, smoothed.
        next_action = smoothed_target_action(
            self.target_actor, batch.next_obs, self.target_noise, self.noise_clip, self.rng
        )
        # 2. What both critics should say.
        target = clipped_double_q_target(batch, next_action, self.target_critic, self.gamma)
        # 3. An update of both critics towards it.
        q_loss = twin_critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        losses = {"critic_loss": q_loss}
        # 4. At every `policy_delay`-th update one of the actor, uphill on Q1,
        if self.updates % self.policy_delay == 0:
            losses["actor_loss"] = actor_loss_by_q1(self.actor, self.critic, batch.obs)
            gradient_step(self.actor_optimizer, losses["actor_loss"])
            # 5. and then a small move of all target networks: the actor's and both critics'.
            polyak_update(self.targets, self.online, self.tau)
        return losses

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic.q1(obs, self.greedy(obs))
