"""Three agents with one wrong line each, for lesson 05. Spoilers: find out by probes first."""

from collections.abc import Callable

from helpers.agents import TD3
from helpers.checks.edits import Edit, compiled, edited, source_of_reference
from helpers.labs.variants import mistaken


def update_with(mistake: str) -> Callable:
    """TD3's `update` with a mistake of lesson 03's exercises in a function that it calls."""
    functions = {where.split(":")[1]: other for where, other in mistaken(mistake).items()}
    return vars(compiled(TD3, source_of_reference(TD3), mistake, functions))["update"]


# Observations drawn apart from the rest: each action is judged in another transition's state.
OTHER_ROWS = "batch._replace(obs=batch.obs[torch.from_numpy(self.rng.permutation(len(batch.obs)))])"
MIXED_UP = Edit(
    "twin_critic_loss(self.critic, batch, target)",
    f"twin_critic_loss(self.critic, {OTHER_ROWS}, target)",
)


class FaultyA(TD3):
    """TD3, except for one thing."""

    update = update_with("3.3: truncation taken for termination")


class FaultyB(TD3):
    """TD3, except for one thing."""

    update = vars(edited(TD3, [MIXED_UP], "observations of other transitions"))["update"]


class FaultyC(TD3):
    """TD3, except for one thing."""

    update = update_with("3.3: discounted twice")
