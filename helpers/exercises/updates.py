"""How the `update` of an off-policy agent is tried: DDPG's, TD3's, DDPGfD's and SAC's.

The agent is built on an environment that has nothing but spaces. Then its networks are replaced by
small ones with given weights, and its optimisers by plain gradient descent, so that the numbers do
not depend on the student's networks and can be worked out by hand.
"""

import inspect
import traceback
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np
import torch

from helpers.agents.base import gradient_step
from helpers.exercises.toys import Descent, SmallActor, SmallCritic, Spaces
from helpers.memory.buffers import Batch

NETWORKS = ("critic", "actor", "target_critic", "target_actor")
LOSSES = ("critic_loss", "actor_loss")
WARM_UP = 7  # steps; the first updates come right after it

# --- The agent ------------------------------------------------------------------------------------


def built(function, obs_size: int, action_dim: int, **settings):
    """An agent of this class on an environment that has nothing but spaces."""
    small = {"hidden": 8, "learning_starts": WARM_UP, "batch_size": 1, "buffer_size": 8}
    settings |= {"reward_scale": 0.3}  # which an update must not use
    return function(Spaces(obs_size, action_dim), seed=0, **small, **settings)


def bare(function, reference):
    """An agent of this class, most parts of which are to be replaced.

    Built once for all classes that begin as the reference does: building takes longer than a few
    updates, and a check tries hundreds of versions of `update`.
    """
    alike = inspect.isclass(function) and function.__bases__ == reference.__bases__
    if not alike or begins(function) != begins(reference):
        return copy(first_built(function))
    agent = copy(first_built(reference))
    agent.__class__ = function
    return agent


@lru_cache(maxsize=4)
def first_built(function):
    return built(function, 1, 1)


def begins(function) -> tuple:
    """Its settings and how it is built."""
    defaults = {name: setting.default for name, setting in function.settings.items()}
    critic = getattr(function, "critic_class", None)
    return defaults, function.build, getattr(critic, "__name__", None)


def with_networks(agent, networks: tuple, rate: float, weight_decay: float = 0.0, **settings):
    """The agent with these networks (critic, actor, target critic, target actor) and settings."""
    # Not one by one: an agent looks at each setting that is given to it, which takes time, and
    # refuses some.
    vars(agent).update(settings | dict(zip(NETWORKS, networks, strict=True)))
    for name in ("actor", "critic"):
        optimizer = Descent(getattr(agent, name).parameters(), rate, weight_decay)
        setattr(agent, f"{name}_optimizer", optimizer)
    agent.online = [*agent.actor.parameters(), *agent.critic.parameters()]
    agent.targets = [*agent.target_actor.parameters(), *agent.target_critic.parameters()]
    return agent


def networks_by_hand() -> tuple:
    """Critic, actor, target critic and target actor, for one number seen and one chosen.

    After 1 was seen and 0.5 done, the critic says 2.75.
    """
    return (
        SmallCritic([2.0, 2.0]),
        SmallActor([[0.5]]),
        SmallCritic([1.0, 0.0]),
        SmallActor([[0.0]]),
    )


# --- Its updates ----------------------------------------------------------------------------------


class Updates:
    """Updates of an agent with one batch, and what they change besides the weights."""

    def __init__(self, agent, batch: Batch) -> None:
        self.agent, self.batch = agent, batch
        self.count = 0
        self.settings: set[str] = set()
        self.parts: set[str] = set()

    def learn(self):
        """One update, counted as by the agent itself; there are two for each environment step."""
        self.agent.steps = WARM_UP + self.count // 2
        self.agent.updates += 1
        self.count += 1
        before, batch = self.numbers(), Batch(*(part.clone() for part in self.batch))
        try:
            losses = self.agent.update(batch)
        except RuntimeError as error:
            add_evidence(error, self.agent)
            raise
        self.settings |= {
            name for name, number in self.numbers().items() if number != before.get(name, number)
        }
        pairs = zip(Batch._fields, batch, self.batch, strict=True)
        self.parts |= {name for name, part, before in pairs if not torch.equal(part, before)}
        return losses

    def numbers(self) -> dict[str, float]:
        """The agent's settings and counts, which an update must not change."""
        names = {"updates", "steps", *self.agent.hyperparameters}
        entries = vars(self.agent).items()
        return {k: v for k, v in entries if k in names and isinstance(v, int | float)}

    def changes(self) -> dict[str, str]:
        return {
            "settings of the agent that were changed": listed(self.settings),
            "parts of the batch that were changed": listed(self.parts),
        }


def observe_updates(agent, batch: Batch, acting: Sequence[bool], own: bool) -> dict:
    """What is seen of as many updates as `acting` has entries, which say where the actor moves.

    All weights after each update and what it returned; of the agent's own networks only which of
    them move.
    """
    trial, states, returned = Updates(agent, batch), [weights(agent)], []
    for _ in acting:
        returned.append(trial.learn())
        states.append(weights(agent))
    if own:
        seen = {"networks that move at each update": [moved(*pair) for pair in pairwise(states)]}
    else:
        each = "the update" if len(acting) == 1 else "each update"
        seen = values_after(each, states[1:]) | what_is_returned(each, returned, acting)
    return seen | {"networks that can no longer be trained": frozen(agent)} | trial.changes()


def listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def add_evidence(error: RuntimeError, agent) -> None:
    """Note on an error of `gradient_step` whose step it was, what the loss depends on, and which
    networks had a gradient before.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    step = next((f.f_locals for f in frames if f.f_code is gradient_step.__code__), None)
    if step is None or not isinstance(step["loss"], torch.Tensor):
        return
    whose = [name for name, part in vars(agent).items() if part is step["optimizer"]]
    leaves, networks = graph_leaves(step["loss"]), [n for n in NETWORKS if hasattr(agent, n)]
    shares = {name: [p in leaves for p in getattr(agent, name).parameters()] for name in networks}
    parts = [("all of " * all(x)) + name for name, x in shares.items() if any(x)]
    had = [n for n in networks if any(p.grad is not None for p in getattr(agent, n).parameters())]
    error.add_note(f"{listed(whose)}: {listed(parts)}; before: {listed(had)}")


def graph_leaves(loss: torch.Tensor) -> set[torch.Tensor]:
    """The tensors that a gradient of the loss would reach."""
    seen, left = set(), [loss.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in seen:
            seen.add(node)
            left += [following for following, _ in node.next_functions]
    return {node.variable for node in seen if hasattr(node, "variable")}


# --- What they leave, and what they return -------------------------------------------------------


def values_after(each: str, states: list[dict]) -> dict:
    return {
        f"{name.replace('_', ' ')} after {each}": np.squeeze(
            np.stack([state[name] for state in states]), axis=0 if len(states) == 1 else ()
        )
        for name in NETWORKS
    }


def what_is_returned(each: str, returned: list, acting: Sequence[bool]) -> dict:
    """The form of what each update returns, and its losses; `acting` says where the actor moves."""
    with_actor = [losses for losses, is_acting in zip(returned, acting, strict=True) if is_acting]
    return {
        f"return value of {each}": [
            described(losses, LOSSES[: 1 + is_acting])
            for losses, is_acting in zip(returned, acting, strict=True)
        ],
        f"`critic_loss` of {each}": [loss_called("critic_loss", x) for x in returned],
        "`actor_loss` at the actor's updates": [loss_called("actor_loss", x) for x in with_actor],
    }


def weights(agent) -> dict[str, np.ndarray]:
    """The weights of every network; those of a small twin are two rows."""
    parameters = {name: list(getattr(agent, name).parameters()) for name in NETWORKS}
    return {
        name: as_rows([p.detach().numpy() for p in parts]) for name, parts in parameters.items()
    }


def as_rows(parts: list[np.ndarray]) -> np.ndarray:
    if len(parts) == 2 and parts[0].ndim == 1:
        return np.stack(parts)
    return np.concatenate([part.ravel() for part in parts])


def frozen(agent) -> str:
    names = [
        name
        for name in ("actor", "critic")
        if not all(p.requires_grad for p in getattr(agent, name).parameters())
    ]
    return ", ".join(names) or "none"


def moved(before: dict, after: dict) -> str:
    alike = (name for name in before if np.allclose(before[name], after[name], 1e-6, 1e-9))
    names = [name for name in before if name not in {*alike}]
    return ", ".join(names).replace("_", " ") or "nothing"


def described(losses, needed: Sequence[str]) -> str:
    """ "a dict" where the agent and its curves find all that they need."""
    if not isinstance(losses, Mapping):
        return f"an object of type {type(losses).__name__}"
    missing = [f"without {name}" for name in needed if name not in losses]
    idle = ["with an actor_loss although the actor does not move"] * (
        "actor_loss" in set(losses).difference(needed)
    )
    # The agent calls `.item()` of every loss, which works for a single number.
    kinds = sorted({type(x).__name__ for x in losses.values() if not hasattr(x, "item")})
    several = ["with several numbers in an entry"] * any(map(many, losses.values()))
    unfit = [f"with an entry of type {kind}" for kind in kinds]
    return ", ".join(["a dict", *missing, *idle, *unfit, *several])


def many(loss) -> bool:
    return prod(getattr(loss, "shape", ())) != 1


def loss_called(name: str, losses) -> float | None:
    found = losses.get(name) if isinstance(losses, Mapping) else None
    if found is None or many(found):
        return None
    return float(found.item() if hasattr(found, "item") else found)
