"""Lesson 08's small functions: exercises 8.5 `symmetric_sample`, 8.6 `subset_minimum` and 8.7
`expectile_loss`.

How many random numbers an answer takes, and in which order, is its own business. So what is drawn
is looked at by what it is, and not number by number.
"""

import numpy as np
import torch

from helpers.algorithms.after_2018 import expectile_loss, subset_minimum
from helpers.algorithms.rlpd import symmetric_sample
from helpers.checks.exercise import Case
from helpers.exercises.observing import gradients_to
from helpers.exercises.properties import draws_from, no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import floats, leaf
from helpers.memory.buffers import Batch, ReplayBuffer

OLD = 1000  # the first number of the old rows
SAMPLED = (
    "form", *(f"shape of {name}" for name in Batch._fields),
    "number of the agent's own rows", "number of old rows",
    "answer to whether the agent's own rows come first",
    "answer to whether the parts of a row belong together",
    "answer to whether each call gives the same rows",
    "answer to whether most rows are different ones",
)  # fmt: skip


def observe_sample(function, own, old, batch_size):
    batch, again = (function(own, old, batch_size) for _ in range(2))
    if batch is None:
        return None
    if not isinstance(batch, Batch):
        return dict.fromkeys(SAMPLED) | {"form": f"{type(batch).__name__}, not a Batch"}
    if not all(isinstance(each, torch.Tensor) for each in batch):
        return dict.fromkeys(SAMPLED) | {"form": "a Batch of other things than tensors"}
    rows, others = batch.reward.flatten(), again.reward.flatten()
    firsts = [part[..., 0].flatten() for part in (batch.obs, batch.action, batch.next_obs)]
    ends = batch.terminated.flatten()
    own = rows < OLD
    shapes = [f"{tuple(part.shape)}" for part in batch]
    seen = [
        int(own.sum()),
        int((~own).sum()),
        bool(own[: int(own.sum())].all()),
        all(torch.equal(first, rows) for first in firsts) and torch.equal(ends, rows % 2),
        len(rows) > 4 and torch.equal(rows, others),
        len(set(rows.tolist())) > len(rows) // 2,
    ]
    return dict(zip(SAMPLED, ["a Batch of tensors", *shapes, *seen], strict=True))


def sample_cases(rng: np.random.Generator) -> list[Case]:
    def filled(size: int, first: int) -> ReplayBuffer:
        buffer = ReplayBuffer(size + 3, (2,), (1,), rng=int(rng.integers(1000)))
        for number in range(first, first + size):
            row = np.array([number, -1.0])
            buffer.add(row, row[:1], number, row, number % 2 == 1, False)
        return buffer

    return [
        Case((filled(200, 0), filled(200, OLD), 8), note="as many of each"),
        Case((filled(3, 0), filled(800, OLD), 4), note="hardly any steps of its own yet"),
        Case((filled(900, 0), filled(50, OLD), 16), note="many steps of its own"),
        Case((filled(300, 0), filled(300, OLD), 7), note="an odd batch"),
        Case((filled(300, 0), filled(300, OLD), 1), note="a batch of one"),
        Case((filled(600, 0), filled(700, OLD), 128), note="the lesson's batch"),
    ]


SYMMETRIC_SAMPLE = exercise(__file__, "8.5", symmetric_sample, sample_cases, observe_sample)

CALLS = 600
MINIMUM = (
    "form", "shape", "lowest of all", "numbers returned in many calls",
    "fewest different numbers in a call", "share of each critic",
    "answer to whether all rows have the same critics",
)  # fmt: skip


def observe_minimum(function, q, m, same):
    """How often each critic is the lowest (in sixths), where all rows have the same order."""
    rng = np.random.default_rng(0)
    first = function(q.clone(), m, rng)
    if first is None:
        return None
    found = dict.fromkeys(MINIMUM)
    if not isinstance(first, torch.Tensor):
        return found | {"form": f"{type(first).__name__}, not a tensor"}
    found |= {"form": "a tensor", "shape": str(tuple(first.shape))}
    if same is None:
        return found | {"lowest of all": first}
    drawn = np.array([function(q.clone(), m, rng).numpy() for _ in range(CALLS)])
    found |= {
        "numbers returned in many calls": np.unique(drawn),
        "fewest different numbers in a call": min(len(np.unique(each)) for each in drawn),
    }
    if first.shape != q.shape[1:]:
        return found
    chosen = (drawn[:, None, :] == q.numpy()).argmax(axis=1)  # which critic, by call and row
    shares = np.bincount(chosen[:, 0], minlength=len(q)) / CALLS
    return found | {
        "share of each critic": np.round(6 * shares) / 6,
        "answer to whether all rows have the same critics": bool((chosen == chosen[:, :1]).all()),
    }


def minimum_cases(rng: np.random.Generator) -> list[Case]:
    rising = np.arange(4.0)[:, None] + 10 * np.arange(3.0)
    return [
        Case((floats(rising), 2, True), note="two of four critics"),
        Case((floats(rising[2::-1].copy()), 2, True), note="two of three, the last is the lowest"),
        Case((floats(rising[:3]), 1, True), note="one of three"),
        Case((floats(rng.normal(size=(5, 6))), 5, None), note="all of five"),
    ]


def some_numbers(function, seed):
    return function(torch.arange(40.0).reshape(8, 5), 3, np.random.default_rng(seed)).tolist()


SUBSET_MINIMUM = exercise(
    __file__, "8.6", subset_minimum, minimum_cases, observe_minimum,
    properties={"does not draw from rng": draws_from(some_numbers)},
)  # fmt: skip


def expectile_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((leaf([2.0]), 0.7), note="an error above 0"),
        Case((leaf([-2.0]), 0.7), note="an error below 0"),
        Case((leaf([2.0, -3.0, 0.5]), 0.9), note="both signs"),
        Case((leaf([2.0, -3.0, 0.5]), 0.5), note="0.5: half of the mean square"),
        Case((leaf([1.5, -0.5]), 0.2), note="an expectile below one half"),
        Case((leaf(rng.normal(size=64)), 0.8)),
    ]


EXPECTILE_LOSS = exercise(
    __file__, "8.7", expectile_loss, expectile_cases, gradients_to({"the error": 0}),
    properties=no_mutation(expectile_cases),
)  # fmt: skip
