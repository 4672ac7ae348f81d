"""Deep deterministic policy gradient (DDPG).

Source: Lillicrap et al. 2016, "Continuous control with deep reinforcement learning", Algorithm 1.
"""

from typing import Any

import numpy as np
import torch

from helpers.agents.base import gradient_step
from helpers.agents.mlp import UpdateInNumpy
from helpers.agents.off_policy import OffPolicyAgent
from helpers.algorithms.ddpg import QNetwork, actor_loss, critic_loss, polyak_update, td_target
from helpers.memory.buffers import Batch


class DDPG(OffPolicyAgent):
    """Deep deterministic policy gradient: replay, noise, target networks.

    What can be set is explained at `OffPolicyAgent`.
    """

    critic_class = QNetwork

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """An update of the critic, one of the actor, then a small move of both target networks."""
        # 1. What the critic should say: a target from both target networks.
        target = td_target(batch, self.target_actor, self.target_critic, self.gamma)
        # 2. An update of the critic towards it.
        q_loss = critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        # 3. An update of the actor, uphill on what the critic says now.
        policy_loss = actor_loss(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, policy_loss)
        # 4. A small move of all target weights.
        polyak_update(self.targets, self.online, self.tau)
        # 5. Both losses, for the curves.
        return {"critic_loss": q_loss, "actor_loss": policy_loss}


class DDPGInNumpy(UpdateInNumpy):
    """`DDPG.update` in numpy: the same steps and numbers. An edit there has to be made here too."""

    repeats = (DDPG.update,)

    def update(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any) -> dict:
        # 1. What the critic should say: a target from both target networks.
        next_action = np.tanh(self.target_actor.forward(next_obs))
        next_q = self.lowest(self.target_critics, next_obs, next_action)
        target = reward + float(self.agent.gamma) * (1 - terminated) * next_q
        # 2. An update of the critic towards it.
        losses = {"critic_loss": self.learn_values(obs, action, target)}
        # 3. An update of the actor, uphill on what the critic says now.
        losses["actor_loss"] = self.learn_actions(obs)
        # 4. A small move of all target weights.
        self.move_targets()
        return losses


DDPG.in_numpy = DDPGInNumpy
