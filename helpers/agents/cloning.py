"""Behaviour cloning: learn from demonstrations what was done, and nothing else.

Source: Pomerleau 1991, "Efficient Training of Artificial Neural Networks for Autonomous
Navigation".
"""

from typing import Self

import torch
from torch import nn

from helpers.agents.base import gradient_step
from helpers.agents.off_policy import OffPolicyAgent, as_stored
from helpers.buffers import Batch
from helpers.demos import Demos
from helpers.networks import QNetwork


def bc_loss(actor: nn.Module, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Mean squared difference between the actor's actions and the demonstrated ones. A scalar.

    `obs` (B, obs_size), `action` (B, action_dim) in [-1, 1]; the mean is over both dimensions.
    """
    # 1. What the actor would do in these states.
    own = actor(obs)
    # 2. How far that is from what was done.
    return nn.functional.mse_loss(own, action)


class BehaviourCloning(OffPolicyAgent):
    """An actor that imitates the demonstrations given to `remember`, beside which it knows nothing.

    It takes no step in the environment: what `steps` counts are updates. Neither rewards nor the
    critic have a part in it.
    """

    critic_class = QNetwork  # is there, as in every off-policy agent, and learns nothing

    def remember(self, demos: Demos) -> Self:
        """Put demonstrations into the memory. Returns the agent."""
        for step in zip(*as_stored(self, demos), strict=True):
            self.buffer.add(*step)
        return self

    def train_step(self) -> None:
        """One update."""
        if not len(self.buffer):
            raise ValueError("There is nothing to imitate: call remember(demos) first.")
        self.steps += 1
        self.learn_from_memory()

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One step of the actor towards what was done."""
        loss = bc_loss(self.actor, batch.obs, batch.action)
        gradient_step(self.actor_optimizer, loss)
        return {"bc_loss": loss}
