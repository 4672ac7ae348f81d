"""TD3 with behaviour cloning (TD3+BC), from a data set alone.

Source: Fujimoto & Gu 2021, "A Minimalist Approach to Offline Reinforcement Learning".
"""

import torch

from helpers.agents.cloning import OfflineAgent
from helpers.agents.limits import NOT_NEGATIVE
from helpers.agents.settings import setting
from helpers.agents.td3 import TD3
from helpers.algorithms.td3_bc import td3_bc_actor_loss
from helpers.memory.buffers import Batch


class TD3BC(TD3, OfflineAgent):
    """TD3 on a data set, whose actor is also held near what was done there.

    Give it the data with `remember`. It takes no step in the environment: `steps` counts updates.
    `bc_alpha`: how much Q counts against the distance to the data's actions; with 0 it is
    behaviour cloning. `normalize=("obs",)` is what the authors do. For other settings see `TD3`.
    """

    bc_alpha: float = setting(2.5, NOT_NEGATIVE)

    def actor_loss(self, batch: Batch) -> torch.Tensor:
        """Uphill on Q1, and near the data."""
        return td3_bc_actor_loss(self.actor, self.critic, batch.obs, batch.action, self.bc_alpha)
