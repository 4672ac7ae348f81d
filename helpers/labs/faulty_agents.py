"""Three agents with one wrong line each, for lesson 05. Spoilers: find out by probes first."""

from typing import Any

from helpers.agents import TD3
from helpers.checks.edits import Edit, compiled, edited, source_of_reference
from helpers.labs.variants import mistaken


def td3_with(mistake: str) -> Any:
    """TD3 with a mistake of lesson 03's exercises in one of its functions."""
    functions = {where.split(":")[1]: other for where, other in mistaken(mistake).items()}
    return compiled(TD3, source_of_reference(TD3), mistake, functions)


# Observations drawn apart from the rest: each action is judged in another transition's state.
OTHER_ROWS = "batch._replace(obs=batch.obs[torch.from_numpy(self.rng.permutation(len(batch.obs)))])"
MIXED_UP = Edit(
    "twin_critic_loss(self.critic, batch, target)",
    f"twin_critic_loss(self.critic, {OTHER_ROWS}, target)",
)

TruncationEnds: Any = td3_with("3.3: truncation taken for termination")
MixesRows: Any = edited(TD3, [MIXED_UP], "observations of other transitions")
DiscountsTwice: Any = td3_with("3.3: discounted twice")


class FaultyA(TruncationEnds):
    """TD3, except for one thing."""


class FaultyB(MixesRows):
    """TD3, except for one thing."""


class FaultyC(DiscountsTwice):
    """TD3, except for one thing."""
