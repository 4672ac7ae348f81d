"""Lesson 07's minibatches: exercise 7.3. A right answer may draw in its own way.

So what is looked at is what holds for every right one: which rows come how often, how large the
parts are, and whether the order is random.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.algorithms.ppo import minibatches
from helpers.checks.exercise import Case
from helpers.exercises.properties import drawn_from
from helpers.exercises.text import exercise


def parts_of(function: Callable, n_rows: int, batch_size: int, seed: Any = 0) -> list[np.ndarray]:
    parts = function(n_rows, batch_size, np.random.default_rng(seed))
    return [np.asarray(part) for part in parts]


def observe_epoch(function: Callable, n_rows: int, batch_size: int) -> dict[str, Any]:
    given = parts_of(function, n_rows, batch_size)
    parts = [part.ravel() for part in given]
    rows = np.concatenate([np.zeros(0, int), *parts])
    many = n_rows >= 9  # of few rows chance may leave out none
    neighbours = [len(part) > 4 and np.ptp(part) == len(part) - 1 for part in parts]
    jumps = int((np.abs(np.diff(rows)) != 1).sum())  # one, where the first row follows the last
    twice = len(np.unique(rows)) < len(rows) and (many or len(rows) > n_rows)
    return {
        "answer to whether each part has one axis": all(part.ndim == 1 for part in given),
        "answer to whether the numbers are whole": all(part.dtype.kind in "iu" for part in parts),
        "answer to whether a number is no row": bool(((rows < 0) | (rows >= n_rows)).any()),
        "answer to whether a row comes twice": twice,
        "number of rows in all": len(rows),
        "answer to whether a row never comes": many and not np.isin(np.arange(n_rows), rows).all(),
        "number of parts": len(parts),
        "list of the parts' sizes": ", ".join(map(str, sorted(map(len, parts)))),
        "answer to whether the order is random": not many or bool((np.diff(rows) < 0).any()),
        "answer to whether a part is one piece of the rollout": any(neighbours),
        "answer to whether nearly every row comes beside its neighbour": many and jumps < 2,
    }


def epoch_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((4, 2), note="four rows in two parts"),
        Case((3, 8), note="fewer rows than a minibatch has"),
        Case((64, 16), note="four parts of 16"),
        Case((70, 16), note="six rows left over"),
        Case((80, 16), note="five parts of 16"),
        Case((47, 16), note="nearly three parts"),
        Case((50, 4), note="more parts than a part has rows"),
        Case((512, 64), note="a rollout"),
    ]


def drawn(function: Callable, seed: int) -> list[list[int]]:
    return [part.tolist() for part in parts_of(function, 100, 25, seed)]


def anew(function: Callable, rng: np.random.Generator) -> bool:
    """Two epochs from one generator differ."""
    first, second = (np.concatenate([*map(np.asarray, function(100, 25, rng))]) for _ in range(2))
    return not np.array_equal(first, second)


MINIBATCHES = exercise(
    __file__, "7.3", minibatches, epoch_cases, observe_epoch,
    properties=drawn_from(drawn) | {"every epoch the same": anew},
)  # fmt: skip
