"""Three agents with one wrong line each, for lesson 05. Spoilers: find out by probes first."""

from helpers.agents import TD3
from helpers.checks.edits import Edit, compiled, edited, source_of_reference
from helpers.labs.variants import mistaken


def td3_with(mistake: str) -> type[TD3]:
    """TD3 with a mistake of lesson 03's exercises in one of its functions."""
    functions = {where.split(":")[1]: other for where, other in mistaken(mistake).items()}
    return compiled(TD3, source_of_reference(TD3), mistake, functions)


class FaultyA(td3_with("3.3: truncation taken for termination")):
    """TD3, except for one thing."""


# Observations drawn apart from the rest: each action is judged in another transition's state.
OTHER_ROWS = "batch._replace(obs=batch.obs[torch.from_numpy(self.rng.permutation(len(batch.obs)))])"


class FaultyB(
    edited(
        TD3,
        [
            Edit("twin_critic_loss(self.critic, batch, target)",
                 f"twin_critic_loss(self.critic, {OTHER_ROWS}, target)"),
        ],
        "other rows",
    )
):  # fmt: skip
    """TD3, except for one thing."""


class FaultyC(td3_with("3.3: discounted twice")):
    """TD3, except for one thing."""
