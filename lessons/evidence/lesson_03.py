"""What the claims of lesson 03 compute: its two labs, and the numbers behind its figures."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.labs.variants import load_lab
from helpers.show.figures.results import effects_table
from helpers.show.figures.td3_climb import CENTRES, climb, error
from helpers.show.table import Table
from helpers.training.results import load_results
from lessons.evidence.shared import Evidence, Lab, alike, near, seconds_of

OURS, AS_SMALL = "the course's TD3", "Stable-Baselines3, as small"

TAUGHT = "TD3 as taught"
poles, lab = Lab("03b_break_it"), Lab("03_break_it")


def second_half(runs: Any) -> NDArray[np.float64]:
    """As in the lesson: the mean return of the second half of training, one number a seed."""
    return np.mean(runs["returns"], axis=1, where=np.arange(25) >= 12)


def bias(runs: Any) -> NDArray[np.float64]:
    """As in the lesson: value minus return obtained in the last fifth, one number a seed."""
    return np.mean(np.subtract(runs["estimated"], runs["obtained"])[:, -5:], axis=1)


@lru_cache
def poles_table() -> Table:
    return effects_table(load_lab("03b"), usual=False, **{"return": second_half, "bias": bias})


@lru_cache
def pendulum_table() -> Table:
    return effects_table(load_lab("03"), bias=bias)


def over_the_ceiling(name: str) -> int:
    """How many of ten critics said on average, at some time, more than any state is worth."""
    return int((np.array(poles.runs(name)["estimated"]).max(axis=1) > 100).sum())


def seconds_in_all() -> float:
    """All steps of the lesson at the pace of the file's study: Pendulum, poles, car, three halves.

    Busy cores took so long; the quiet ones of a reader take less.
    """
    pace = seconds_of("algorithms/td3_Pendulum-v1") / 12_000
    return pace * (12_000 + 30_000 + 20_000 + 3 * 6_000)


@lru_cache(maxsize=2)
def climbed(shared: float, pairs: int = 10_000) -> tuple[float, float]:
    """By how much the critic that was climbed is too high on average, and the lower of both."""
    first, own = np.random.default_rng(0).normal(size=(2, pairs, len(CENTRES)))
    second = shared * first + np.sqrt(1 - shared**2) * own
    action = climb(first, size=0.25, updates=40)[-1]
    off = [0.25 * error(action, weights)[0] for weights in (first, second)]
    return float(off[0].mean()), float(np.minimum(*off).mean())


def like_the_library() -> Evidence:
    """Greedy returns through training and at the end, beside Stable-Baselines3's TD3."""
    rows = load_results("03_beside_sb3")["results"]
    ours, theirs = (
        np.array([row["returns"] for row in rows if row["learner"] == name])
        for name in (OURS, AS_SMALL)
    )
    through, end = alike(ours.mean(1), theirs.mean(1)), alike(ours[:, -1], theirs[:, -1])
    return f"{through[0]}; {end[0]}", through[1] and end[1] and len(ours) == len(theirs) == 10
