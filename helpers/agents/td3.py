"""Twin delayed deep deterministic policy gradient (TD3).

Source: Fujimoto, van Hoof & Meger 2018, "Addressing Function Approximation Error in Actor-Critic
Methods", Algorithm 1.
"""

from typing import Any

import numpy as np
import torch

from helpers.agents.base import gradient_step
from helpers.agents.limits import COUNT, number
from helpers.agents.mlp import UpdateInNumpy, clipped
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.td3 import (
    TwinQNetwork,
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.memory.buffers import Batch


class TD3(OffPolicyAgent):
    """Twin delayed DDPG: two critics and the lower of them, delayed actor, smoothed targets.

    Noise of standard deviation `target_noise`, clipped at `noise_clip`, smooths the target action;
    the actor and all target networks move at every `policy_delay`-th update. What else can be set
    is explained at `OffPolicyAgent`.
    """

    critic_class = TwinQNetwork
    outputs = (1, 2)

    policy_delay: int = setting(2, COUNT)
    target_noise: float = setting(0.2, number(0))
    noise_clip: float = setting(0.5, number(0))

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
            losses["actor_loss"] = self.actor_loss(batch)
            gradient_step(self.actor_optimizer, losses["actor_loss"])
            # 5. and then a small move of all target networks: the actor's and both critics'.
            polyak_update(self.targets, self.online, self.tau)
        return losses

    def actor_loss(self, batch: Batch) -> torch.Tensor:
        """What the actor goes down."""
        return actor_loss_by_q1(self.actor, self.critic, batch.obs)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic.q1(obs, self.greedy(obs))


class TD3InNumpy(UpdateInNumpy):
    """`TD3.update` in numpy: the same steps and numbers. An edit there has to be made here too."""

    repeats = (TD3.update, TD3.actor_loss)

    def update(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any) -> dict:
        agent = self.agent
        # 1. The next actions, smoothed.
        next_action = np.tanh(self.target_actor.forward(next_obs))
        noise = agent.rng.standard_normal(next_action.shape, dtype=np.float32)
        noise *= np.float32(agent.target_noise)
        next_action += clipped(noise, -agent.noise_clip, agent.noise_clip)
        # 2. What both critics should say.
        lower = self.lowest(self.target_critics, next_obs, clipped(next_action, -1, 1))
        target = reward + float(agent.gamma) * (1 - terminated) * lower
        # 3. An update of both critics towards it.
        losses = {"critic_loss": self.learn_values(obs, action, target)}
        # 4. At every `policy_delay`-th update one of the actor, uphill on Q1,
        if agent.updates % agent.policy_delay == 0:
            losses["actor_loss"] = self.learn_actions(obs)
            # 5. and then a small move of all target networks: the actor's and both critics'.
            self.move_targets()
        return losses


TD3.in_numpy = TD3InNumpy
