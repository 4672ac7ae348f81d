"""How a whole `update` that a student wrote is tried: by all weights after each of its calls.

The agent has small networks with known weights, and optimisers that take plain gradient steps. So
every right way to write the update ends at the same numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.exercises.toys import Descent, random_actor, random_critic

LOSSES = (  # of all updates; those of an exercise are what its reference returns
    "actor_loss", "critic_loss", "demonstrations", "entropy", "temperature", "approx_kl",
    "clip_fraction",
)  # fmt: skip


class ToyAgent(SimpleNamespace):
    """Networks by name, and an optimiser `actor_optimizer` for `actor`, but none for targets."""

    def __init__(self, rate: float = 0.0, **networks: nn.Module) -> None:  # a copy is made empty
        learning = {k: net for k, net in networks.items() if not k.startswith("target")}
        optimizers = {f"{k}_optimizer": Descent(n.parameters(), rate) for k, n in learning.items()}
        super().__init__(**networks, **optimizers)

    def networks(self) -> dict[str, nn.Module]:
        """The networks by their names: what a verdict shows of the agent."""
        return {name: part for name, part in vars(self).items() if isinstance(part, nn.Module)}


def actor_critic(
    rng: np.random.Generator, obs_size: int, action_dim: int, make_critic: Callable = random_critic
) -> dict[str, nn.Module]:
    """A small actor and critic and their targets.

    In the order in which an update moves them: the first difference is the earliest mistake.
    """
    makes = {"critic": make_critic, "actor": random_actor}
    makes |= {f"target_{name}": make for name, make in makes.items()}
    return {name: make(rng, obs_size, action_dim) for name, make in makes.items()}


class Steady(np.random.Generator):
    """Every normal number lies half a standard deviation above the mean: ways of sampling agree."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def __repr__(self) -> str:
        return "every normal number is 0.5"

    def __deepcopy__(self, memo: dict) -> "Steady":
        return self  # numpy would make an ordinary generator of the copy

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + scale * self.standard_normal(size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return np.full(() if size is None else size, 0.5, dtype)


def observe_update(
    function: Any, agent: Any, calls: Sequence[tuple], returns: bool = True
) -> dict[str, Any] | None:
    """All weights after each call of `function(agent, *arguments)`, and the losses it returned.

    `calls`: the arguments of each call, a batch first. None if the function returns nothing at all
    and moves nothing. Without `returns` it need not return anything, and may.
    """
    before, seen, changed = weights_of(agent), dict[str, Any](), set[str]()
    losses: Any = None
    for number, (batch, *others) in enumerate(calls, start=1):
        copies = [part.clone() for part in batch]
        losses = function(agent, batch, *others)
        after = f"after call {number}" if len(calls) > 1 else "after the update"
        seen |= {f"{name} {after}": weights for name, weights in weights_of(agent).items()}
        if returns:
            seen |= returned(losses, after)
        fields = zip(batch._fields, batch, copies, strict=True)
        changed |= {name for name, part, copy in fields if not torch.equal(part, copy)}
    after_all = weights_of(agent)
    if returns and losses is None and all(np.array_equal(before[k], after_all[k]) for k in before):
        return None
    frozen = [k for k, p in parameters_of(agent) if k[:6] != "target" and not p.requires_grad]
    return seen | {
        "networks that can no longer be trained": ", ".join(dict.fromkeys(frozen)) or "none",
        "parts of the batch that were changed": ", ".join(sorted(changed)) or "none",
    }


def parameters_of(agent: Any) -> list[tuple[str, torch.Tensor]]:
    """Every parameter of the agent's networks, and each tensor that is a part of it, by name."""
    found: list[tuple[str, torch.Tensor]] = []
    for name, part in vars(agent).items():
        if isinstance(part, nn.Module):
            found += [(name, parameter) for parameter in part.parameters()]
        elif isinstance(part, torch.Tensor):
            found.append((name, part))
    return found


def weights_of(agent: Any) -> dict[str, np.ndarray]:
    parts: dict[str, list[np.ndarray]] = {}
    for name, parameter in parameters_of(agent):
        parts.setdefault(name.replace("_", " "), []).append(parameter.detach().numpy().ravel())
    return {name: np.concatenate(each) for name, each in parts.items()}


def returned(losses: Any, after: str) -> dict[str, str | float | None]:
    """The names of the losses, and the value of each; in place of names what else was returned.

    The parts are the same whatever was returned, so that a missing loss is told as one.
    """
    names, values = "", dict[str, float]()
    if not isinstance(losses, Mapping):
        names = f"none, but an object of type {type(losses).__name__}"
    else:
        try:
            values = {str(name): float(loss) for name, loss in losses.items()}
        except (TypeError, ValueError, RuntimeError):
            names = "one is not a single number"
    told = {f"names of the losses returned {after}": names or ", ".join(sorted(values))}
    return told | {f"{name} returned {after}": values.get(name) for name in LOSSES}
