"""Train and eval mode, for networks of one's own that have them: dropout, batch norm and others.

Such a network is in eval mode: so an agent acts, judges and is evaluated. In train mode it is while
the agent learns, and a target network never is. The course's own have no modes and stay as torch
makes them, which is train mode: so they are told apart, at no cost.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from helpers.agents.layers import OURS

STEADY = (nn.Linear, nn.Conv2d, nn.LayerNorm, nn.ReLU, nn.Sequential)  # torch's, without modes
TARGET = "target_"


def settle(agent: Any) -> None:
    """Put all of the agent's networks that may have modes into eval mode."""
    for part in vars(agent).values():
        if isinstance(part, nn.Module) and not all(map(is_steady, part.modules())):
            part.eval()


@contextmanager
def train_mode(agent: Any) -> Iterator[None]:
    """Networks with modes are in train mode within this, but for the targets.

    These then get what the others have counted and measured: it is no parameter, and moves with
    nothing else.
    """
    own = {name: part for name, part in vars(agent).items() if _has_modes(part)}
    online = [part for name, part in own.items() if not name.startswith(TARGET)]
    for part in online:
        part.train()
    try:
        yield
    finally:
        for part in online:
            part.eval()
    for name in own.keys() & {TARGET + each for each in own}:
        measured = own[name.removeprefix(TARGET)].buffers()
        for buffer, new in zip(own[name].buffers(), measured, strict=True):
            buffer.copy_(new)


@contextmanager
def updating(agent: Any) -> Iterator[None]:
    """The same for one update: what such networks draw follows from the agent's seed and steps.

    Torch's own random state is left alone. An agent without such networks notices nothing.
    """
    if not any(map(_has_modes, vars(agent).values())):
        yield
        return
    now = agent.seed, agent.steps, getattr(agent, "updates", 0)
    devices = [agent.device] if agent.device.type == "cuda" else []
    with torch.random.fork_rng(devices), train_mode(agent):
        torch.manual_seed(hash(now))  # of whole numbers: the same in every process
        yield


def one_train_step(agent: Any) -> None:
    """`agent.train_step()`: in train mode where the agent has none of the two below.

    They are what an agent of the course learns with, in train mode by itself.
    """
    if hasattr(type(agent), "learn_from_memory") or hasattr(type(agent), "learn_from"):
        agent.train_step()
        return
    with train_mode(agent):
        agent.train_step()


def _has_modes(part: Any) -> bool:
    """Whether this is a network that `settle` has put into eval mode."""
    return isinstance(part, nn.Module) and not part.training


def is_steady(module: nn.Module) -> bool:
    """Whether it computes the same in both modes."""
    return type(module) in STEADY or type(module).__module__.startswith(OURS)
