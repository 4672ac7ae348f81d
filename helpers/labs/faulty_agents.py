"""Three agents with one wrong line each, for lesson 05. Spoilers: find out by probes first."""

import torch

from helpers.agents import TD3
from helpers.memory.buffers import Batch


class PatientA(TD3):
    """TD3, except for one thing."""

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        # A time limit taken for the end of the world: nothing is expected after it.
        over = torch.maximum(batch.terminated, batch.truncated)
        return super().update(batch._replace(terminated=over))


class PatientB(TD3):
    """TD3, except for one thing."""

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        # Observations drawn apart from the rest: each action is judged in somebody else's state.
        others = torch.from_numpy(self.rng.permutation(len(batch.obs)))
        return super().update(batch._replace(obs=batch.obs[others]))


class PatientC(TD3):
    """TD3, except for one thing."""

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        # The discount applied twice: "gamma * next value" was computed where it had been already.
        once, self.gamma = self.gamma, self.gamma**2
        losses = super().update(batch)
        self.gamma = once
        return losses
