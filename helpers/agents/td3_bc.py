"""TD3 with behaviour cloning (TD3+BC), from a data set alone.

Source: Fujimoto & Gu 2021, "A Minimalist Approach to Offline Reinforcement Learning".
"""

import torch

from helpers.agents.base import gradient_step
from helpers.agents.cloning import OfflineAgent
from helpers.agents.limits import NOT_NEGATIVE
from helpers.agents.settings import setting
from helpers.agents.td3 import TD3
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.td3 import clipped_double_q_target, smoothed_target_action, twin_critic_loss
from helpers.algorithms.td3_bc import td3_bc_actor_loss
from helpers.memory.buffers import Batch


class TD3BC(TD3, OfflineAgent):
    """TD3 on a data set, whose actor is also held near what was done there.

    Give it the data with `remember`. It takes no step in the environment: `steps` counts updates.
    `bc_alpha`: how much Q counts against the distance to the data's actions; with 0 it is
    behaviour cloning. `normalize=("obs",)` is what the authors do. For other settings see `TD3`.
    """

    bc_alpha: float = setting(2.5, NOT_NEGATIVE)

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """An update of both critics; at every `policy_delay`-th one the actor and all targets move.

        Returns `critic_loss`, and `actor_loss` when the actor has moved.
        """
        # 1. An update of both critics, as in TD3.
        next_action = smoothed_target_action(
            self.target_actor, batch.next_obs, self.target_noise, self.noise_clip, self.rng
        )
        target = clipped_double_q_target(batch, next_action, self.target_critic, self.gamma)
        losses = {"critic_loss": twin_critic_loss(self.critic, batch, target)}
        gradient_step(self.critic_optimizer, losses["critic_loss"])
        # 2. At every `policy_delay`-th update one of the actor: uphill on Q1, and near the data.
        if self.updates % self.policy_delay == 0:
            losses["actor_loss"] = td3_bc_actor_loss(
                self.actor, self.critic, batch.obs, batch.action, self.bc_alpha
            )
            gradient_step(self.actor_optimizer, losses["actor_loss"])
            polyak_update(self.targets, self.online, self.tau)
        return losses
