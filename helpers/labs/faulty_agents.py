"""Two agents with one wrong line each, for lesson 05. Spoilers: find out by probes first."""

from typing import Any

from helpers.agents import TD3
from helpers.agents.td3 import clipped_double_q_target
from helpers.checks.edits import Edit, compiled, edited, source_of_reference

DISCOUNTED_TWICE = edited(
    clipped_double_q_target,
    [Edit("gamma * (1 - batch.terminated)", "gamma * gamma * (1 - batch.terminated)")],
    "discounted twice",
)
# Observations drawn apart from the rest: each action is judged in another transition's state.
OTHER_ROWS = "batch._replace(obs=batch.obs[torch.from_numpy(self.rng.permutation(len(batch.obs)))])"
MIXED_UP = Edit(
    "twin_critic_loss(self.critic, batch, target)",
    f"twin_critic_loss(self.critic, {OTHER_ROWS}, target)",
)
A: Any = compiled(TD3, source_of_reference(TD3), "A", {"clipped_double_q_target": DISCOUNTED_TWICE})
B: Any = edited(TD3, [MIXED_UP], "B")


class FaultyA(TD3):
    """TD3, except for one thing."""

    update = A.update


class FaultyB(TD3):
    """TD3, except for one thing."""

    update = B.update
