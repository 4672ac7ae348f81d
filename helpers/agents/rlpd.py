"""Reinforcement learning with prior data (RLPD).

Source: Ball, Smith, Kostrikov & Levine 2023, "Efficient Online Reinforcement Learning with Offline
Data", Algorithm 1.
"""

from typing import Any, Self

from helpers.agents.off_policy import as_rows
from helpers.agents.sac import SAC
from helpers.algorithms.rlpd import NormedTwinQNetwork, symmetric_sample
from helpers.demos.files import Demos
from helpers.memory.buffers import Batch, ReplayBuffer
from helpers.memory.pictures import make_memory


class RLPD(SAC):
    """SAC whose critics have LayerNorm; half of each batch is old data.

    Give it the data with `remember`; without any it is SAC with such critics. They stay in a replay
    buffer of their own, `old`. For the settings see `SAC`.
    """

    critic_class = NormedTwinQNetwork
    memories = (*SAC.memories, "old")

    gradient_steps = 2

    def build(self) -> None:
        super().build()
        self.old: Any = make_memory(ReplayBuffer, self.buffer_size, self.units.sizes, self.rng)

    def remember(self, demos: Demos) -> Self:
        """Put old data into their replay buffer. Returns the agent."""
        for step in zip(*as_rows(self, demos, self.old), strict=True):
            self.old.add(*step)
        self.measure(demos.obs)
        return self

    def sample_batch(self) -> Batch:
        if not len(self.old):
            return super().sample_batch()
        return symmetric_sample(self.buffer, self.old, self.batch_size)
