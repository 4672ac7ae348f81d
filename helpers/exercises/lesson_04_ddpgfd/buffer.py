"""Lesson 04's replay buffer: exercise 4.8 `PrioritizedBuffer`.

What is looked at is where transitions stand, what the trees hold, and what a batch is made of. The
generator always gives the middle of its range, so that right ways to sample agree.
"""

from typing import Any

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.memory.textbook import PrioritizedBuffer


class Middle(np.random.Generator):
    """Every random number is the middle of its range."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return 0.5 if size is None else np.full(size, 0.5)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        middle = (np.asarray(low) + np.asarray(high)) / 2
        return middle if size is None else np.broadcast_to(middle, size).copy()


def observe_buffer(function, capacity, demos, priorities, own, batch_size, alpha, beta):
    """Demonstrations 1, 2, ... and their `priorities`; then the agent's own transitions."""
    buffer = function(capacity, (1,), (1,), Middle(), alpha, beta)
    for number in range(1, demos + own + 1):
        add = buffer.add_demonstration if number <= demos else buffer.add
        add(np.full(1, number), np.zeros(1), number, np.full(1, number + 0.5), False, False)
        if number == demos:
            buffer.update_priorities(range(demos), priorities)
    sums, minima = buffer.sums, buffer.minima
    inside = slice(sums.first_leaf, sums.first_leaf + capacity)
    seen = {
        "transition at each place": buffer.arrays.reward,
        "leaves of the sum tree": sums.nodes[inside],
        "leaves of the minimum tree": minima.nodes[inside],
    }
    batch, weights, places = buffer.sample(batch_size)
    return seen | {
        "places of the batch": places,
        "rewards of the batch": batch.reward,
        "next observations of the batch": batch.next_obs,
        "importance weights of the batch": weights,
    }


def buffer_cases(rng: np.random.Generator) -> list[Case]:
    def case(capacity, demos, priorities, own, batch_size, note, alpha=0.5, beta=1.0) -> Case:
        return Case((capacity, demos, priorities, own, batch_size, alpha, beta), note=note)

    return [
        case(4, 1, [4.0], 1, 2, "one demonstration, one step of the agent's own"),
        case(4, 2, [4.0, 0.25], 2, 5, "two of each: the buffer is full"),
        case(4, 2, [4.0, 0.25], 3, 4, "one more: the oldest of its own goes"),
        case(5, 2, [9.0, 0.25], 7, 6, "the agent's own go round more than twice"),
        case(8, 3, [1.0, 16.0, 0.25], 3, 6, "not full yet"),
        case(6, 2, [0.25, 0.5], 4, 8, "half of the correction", beta=0.5),
        case(6, 2, [4.0, 0.25], 6, 8, "alpha 1", alpha=1.0, beta=0.4),
        case(40, 10, list(rng.uniform(0.1, 4, 10).round(1)), 55, 16, "a larger one", alpha=0.3),
    ]


def draws_one_number_a_range(function, rng) -> bool:
    """Of 8 ranges of 8 places with equal priorities not all give the place at the same distance
    from the range's beginning. By chance alone they would do so once in two million batches.
    """
    buffer = function(64, (1,), (1,), rng)
    for number in range(64):
        buffer.add(np.zeros(1), np.zeros(1), number, np.zeros(1), False, False)
    _, _, places = buffer.sample(8)
    return len({int(place) % 8 for place in places}) > 1


PRIORITIZED_BUFFER = exercise(
    __file__, "4.8", PrioritizedBuffer, buffer_cases, observe_buffer,
    properties={"one random number for all ranges": draws_one_number_a_range},
)  # fmt: skip
