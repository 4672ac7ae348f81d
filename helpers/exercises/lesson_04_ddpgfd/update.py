"""Lesson 04's agent: exercise 4.12, the `update` of `DDPGfD`.

It is tried as `updates` says. The memory has a few steps, all with priority 1, and the first of
them are demonstrations.
"""

from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch

from helpers.agents.ddpgfd import DDPGfD
from helpers.checks.exercise import Case
from helpers.exercises.lesson_04_ddpgfd.losses import n_step_batch
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, SmallCritic, Spaces, floats
from helpers.exercises.updates import (
    add_evidence,
    frozen,
    loss_called,
    moved,
    networks_by_hand,
    weights,
    with_networks,
)
from helpers.memory.buffers import PrioritizedBatch, PrioritizedReplayBuffer

# --- What is looked at ----------------------------------------------------------------------------

PLACES = 12  # in the memory
DEMOS = 3  # of these
ALPHA = 0.5  # how the memory counts priorities
RETURNED = ("critic_loss", "actor_loss", "demonstrations")


def built(function, obs_size: int, action_dim: int, **settings):
    small = {"hidden": 8, "learning_starts": 1, "batch_size": 1, "buffer_size": PLACES}
    return function(Spaces(obs_size, action_dim), seed=0, alpha=ALPHA, **small, **settings)


@lru_cache(maxsize=1)
def template(function):
    """Built once: most of it is replaced, and building takes longer than a few updates."""
    return built(function, 1, 1)


def filled(buffer):
    """The memory with a step in each of its places."""
    obs, action = (np.zeros(getattr(buffer.arrays, name).shape[1:]) for name in ("obs", "action"))
    for place in range(PLACES):
        store = buffer.add_demonstration if place < DEMOS else buffer.add
        store(obs, action, 0.0, obs, False, False)
    return buffer


def agent_with(function, networks: tuple, learning_rate: float, weight_decay: float, **settings):
    agent = copy(template(function))
    with_networks(agent, networks, learning_rate, weight_decay, **settings)
    agent.buffer = PrioritizedReplayBuffer(PLACES, (1,), (1,), 0, alpha=ALPHA)
    return agent


def observe_agent(
    function, critic, actor, target_critic, target_actor,
    batch, updates, learning_rate, weight_decay, **settings,
):  # fmt: skip
    """All weights and priorities after each update, and what it returned.

    Without networks the agent keeps its own, and what is looked at is which of them move.
    """
    if critic is None:
        agent = built(function, batch.obs.shape[1], batch.action.shape[1], **settings)
    else:
        networks = critic, actor, target_critic, target_actor
        agent = agent_with(function, networks, learning_rate, weight_decay, **settings)
    filled(agent.buffer)
    states, returned, changed = learned(agent, batch, updates)
    each = "the update" if updates == 1 else "each update"
    if critic is None:
        seen = {
            "parts of the agent changed by each update": [moved(*pair) for pair in pairwise(states)]
        }
    else:
        seen = values_after(each, states[1:], returned)
    return seen | {
        "count in `self.updates`": agent.updates,
        "count in `self.steps`": agent.steps,
        "parts of the batch that were changed": changed,
        "targets that are the online networks themselves": shared(agent),
        "networks that can no longer be trained": frozen(agent),
    }


def learned(agent, batch: PrioritizedBatch, updates: int) -> tuple[list[dict], list, str]:
    """The states before and after each update, what each returned, what they did to the batch."""
    drawn, changed = batch.indices.numpy(), set()
    states, returned = [state(agent, drawn)], []
    for _ in range(updates):
        agent.updates += 1  # as the agent itself counts
        mine = PrioritizedBatch(*(part.clone() for part in batch))
        try:
            returned.append(agent.update(mine))
        except RuntimeError as error:
            if "a second time" not in str(error):  # that is the same mistake wherever it shows
                add_evidence(error, agent)
            raise
        states.append(state(agent, drawn))
        pairs = zip(batch._fields, mine, batch, strict=True)
        changed |= {name for name, part, before in pairs if not torch.equal(part, before)}
    return states, returned, ", ".join(sorted(changed)) or "none"


def values_after(each: str, states: list[dict], returned: list) -> dict:
    """What the numbers are after each update, and what it returned: a list if there are several."""
    seen = {
        f"{name.replace('_', ' ')} after {each}": [state[name] for state in states]
        for name in states[0]
    }
    seen[f"return value of {each}"] = [described(values) for values in returned]
    for name in RETURNED:
        seen[f"`{name}` of {each}"] = [loss_called(name, values) for values in returned]
    return seen if len(states) > 1 else {name: values[0] for name, values in seen.items()}


def shared(agent) -> str:
    pairs = [(name, getattr(agent, name)) for name in ("actor", "critic")]
    names = [name for name, network in pairs if getattr(agent, f"target_{name}") is network]
    return ", ".join(names) or "none"


def state(agent, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """The weights of every network; in the memory the priorities of the steps that were drawn, of
    all others, and of the next new one.
    """
    memory = agent.buffer
    priorities = memory.sums.leaves ** (1 / ALPHA)
    return weights(agent) | {
        "priorities_of_the_batch": priorities[drawn],
        "priorities_of_all_other_steps": np.delete(priorities, drawn),
        "priority_of_new_steps": np.array([memory.max_priority]),
    }


def described(values) -> str:
    """ "a dict" where the agent and its curves find all that they look for."""
    if not isinstance(values, Mapping):
        return f"something of type {type(values).__name__}"
    missing = [f"without {name}" for name in RETURNED if name not in values]
    # The agent asks each of them for its `.item()`.
    unfit = [
        f"its {name} is of type {type(value).__name__}"
        for name, value in values.items()
        if not hasattr(value, "item")
    ]
    return ", ".join(["a dict", *missing, *unfit])


# --- Cases ----------------------------------------------------------------------------------------


def by_hand(is_demo: float) -> tuple:
    """Q is 2.75; the target is 2 one step ahead and 4 two steps ahead; the slope is 1."""
    now, later = (floats([[1.0]]), floats([[0.5]])), (floats([1.0]), floats([[2.0]]))
    window = floats([3.0]), floats([[4.0]]), torch.zeros(1), floats([0.25])
    drawn = floats([0.6]), floats([is_demo]), torch.tensor([2 if is_demo else 8])
    flags = torch.zeros(1), torch.zeros(1)
    return *networks_by_hand(), PrioritizedBatch(*now, *later, *flags, *window, *drawn), 1, 0.1, 0.0


def large_weights() -> tuple:
    """Q is -1, but the critic's weights are large enough for any penalty on them to show."""
    _, *networks, batch, updates, learning_rate, decay = by_hand(1.0)
    batch = batch._replace(action=floats([[1.0]]))
    return SmallCritic([1000.0, -1000.0]), *networks, batch, updates, learning_rate, decay


def update_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(
        obs_size: int, action_dim: int, updates: int, *windows: str,
        own: bool = False, decay: float = 0.0,
    ) -> tuple:  # fmt: skip
        def actor() -> SmallActor:
            return SmallActor(rng.normal(size=(obs_size, action_dim)) / 2)

        def critic() -> SmallCritic:
            return SmallCritic(rng.normal(size=obs_size + action_dim) / 2)

        networks = [None] * 4 if own else [critic(), actor(), critic(), actor()]
        batch = n_step_batch(rng, obs_size, action_dim, 0.9, *windows)
        batch = batch._replace(is_demo=floats(batch.indices < DEMOS))
        return *networks, batch, updates, 0.05, decay

    def case(args: tuple, note: str, gamma=0.9) -> Case:
        numbers = {"n_step_weight": 0.3, "gradient_weight": 0.4, "eps": 0.125, "demo_bonus": 3.0}
        return Case(args, {"gamma": gamma, "tau": 0.2, **numbers}, note)

    windows = ["...", ".t", "..c", "t", "..", "c"]
    return [
        case(by_hand(0.0), "one step of the agent's own", gamma=0.5),
        case(by_hand(1.0), "the same step, demonstrated", gamma=0.5),
        case(drawn(2, 1, 1, *windows[:4]), "four steps"),
        case(drawn(2, 2, 2, *windows), "two updates, two action dimensions"),
        case(drawn(3, 3, 3, *windows[:3], decay=0.2), "three updates with weight decay"),
        case(large_weights(), "a critic with large weights", gamma=0.5),
        case(drawn(3, 2, 2, *windows[:5], own=True), "the agent's own networks"),
    ]


DDPGFD_UPDATE = exercise(__file__, "4.12", DDPGfD, update_cases, observe_agent)
