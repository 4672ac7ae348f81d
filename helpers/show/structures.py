"""How long a replay buffer takes, made of a list, of a deque and of arrays: lesson 02's table."""

import random
import timeit
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from helpers.show.table import Table


def structures_table(buffer_class: Any, capacity: int = 100_000, batch_size: int = 128) -> Table:
    """Microseconds to add a transition to a full buffer, and to sample a batch as six tensors."""
    obs, action = np.zeros(3, np.float32), np.zeros(1, np.float32)
    transition = (obs, action, 0.0, obs, False, False)
    in_list = [(obs.copy(), action.copy(), 0.0, obs.copy(), False, False) for _ in range(capacity)]
    in_deque, buffer = deque(in_list, maxlen=capacity), buffer_class(capacity, (3,), (1,), 0)
    for each in in_list:
        buffer.add(*each)

    def add_to_list() -> None:
        in_list.pop(0)
        in_list.append(transition)

    ways: dict[str, tuple[Callable, Callable]] = {
        "list": (add_to_list, lambda: as_tensors(random.sample(in_list, batch_size))),
        "deque": (
            lambda: in_deque.append(transition),
            lambda: as_tensors(random.sample(in_deque, batch_size)),
        ),
        "arrays": (lambda: buffer.add(*transition), lambda: buffer.sample(batch_size)),
    }
    rows = [
        [name, f"{microseconds(add):.1f} µs", f"{microseconds(sample):.0f} µs"]
        for name, (add, sample) in ways.items()
    ]
    heads = ["", "add one transition", f"sample a batch of {batch_size}"]
    return Table(heads, rows, f"{capacity:,} transitions are stored. Medians of 200 calls, here.")


def as_tensors(transitions: list[tuple]) -> list[torch.Tensor]:
    """Transitions as a learner needs them: one tensor for each part."""
    parts = zip(*transitions, strict=True)
    return [torch.as_tensor(np.array(part), dtype=torch.float32) for part in parts]


def microseconds(function: Callable) -> float:
    """The median time of a call."""
    return 1e6 * float(np.median(timeit.repeat(function, number=1, repeat=200)))
