"""What the claims of lesson 01 and of its lab compute."""

import math
from collections.abc import Callable

import numpy as np

from helpers.agents.a2c import gae
from helpers.evaluation import evaluate
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from lessons.evidence.shared import LEVEL, Evidence, Lab, both, higher, near, seconds_of

TAUGHT, BOOK = "A2C as taught", "by the book"
lab = Lab("01_break_it", TAUGHT)
STUDIES = ("a2c-by-the-book_CartPole-v1", "a2c_CartPole-v1", "a2c_Pendulum-v1")


def learns_later(*variants: str, than: str = TAUGHT) -> Evidence:
    return both(*(lab.later(variant, than) for variant in variants))


def at_bar(variant: str) -> int:
    return int((lab.final(variant) >= lab.runs(variant)["bar"]).sum())


def first_180_000(variant: str) -> np.ndarray:
    """The mean training return over the first 180,000 steps, one number a seed."""
    runs = lab.runs(variant)
    return np.array(runs["returns"])[:, np.array(runs["steps"]) <= 180_000].mean(axis=1)


def still_below(variant: str) -> int:
    """How many of these seeds are there in the last stretch of their training, too."""
    curves = np.array(lab.runs(variant)["returns"])
    return int((curves[lab.falls_back(variant) > 0, -1] < 400).sum())


def four_fall_back(*variants: str) -> Evidence:
    fall, taught = [lab.falls_back(each) for each in variants], lab.falls_back(TAUGHT)
    counts = [int(each.sum()) for each in fall]
    ps = [permutation_test(each, taught) for each in fall]
    said = f"{counts} against {taught.sum():.0f}, p = {ps[0]:.3f}"
    return said, not taught.any() and set(counts) == {4} and LEVEL <= min(ps) <= max(ps) < 0.095


def values() -> Evidence:
    """With the cut taken for an end the critic says 0.88 of a start, as taught 1.00."""
    mistaken, taught = lab.value("truncation as termination"), lab.value(TAUGHT)
    said, holds = higher(taught, mistaken, 0.001)
    medians = np.median(mistaken), np.median(taught)
    return f"medians {medians[0]:.3f}, {medians[1]:.3f}; means {said}", (
        holds and abs(medians[0] - 0.88) < 0.005 and abs(medians[1] - 1) < 0.005
    )


def seconds(study: str) -> float:
    return float(np.median(seconds_of(study)))


def seconds_in_all() -> float:
    """The three trainings, and three seeds under "Now you"."""
    book, fast, twin = map(seconds, STUDIES)
    return book + fast + twin + 3 * fast


def steps_a_second(study: str) -> float:
    record = load_results(study)
    return record["settings"]["steps"] / seconds(study)


def on_pendulum(policy: Callable) -> float:
    return evaluate(policy, "Pendulum-v1", episodes=100).mean


def by_hand(kind: str) -> np.ndarray:
    """The advantages of the worked example: terminated, truncated, or with one mask too few."""
    rewards, values = np.array([1.0, 1, 0, 1]), np.array([5.0, 5, 10, 5, 10])
    end, none = np.array([False, True, False, False]), np.zeros(4, dtype=bool)
    terminated, truncated = {
        "terminated": (end, none),
        "truncated": (none, end),
        "sum runs on": (none, none),
    }[kind]
    columns = (each[:, None] for each in (rewards, values, terminated, truncated))
    return gae(*columns, gamma=0.8, lam=0.5)[:, 0]


def advantages_are(row: int, **said: float) -> Evidence:
    return both(*(near(by_hand(kind)[row], a, 1e-9) for kind, a in said.items()))


def random_torques() -> float:
    rng = np.random.default_rng(0)
    return on_pendulum(lambda obs: rng.uniform(-2, 2, 1))


NO_BASELINE, NO_CRITIC = "by the book, no baseline", "by the book, no critic"
SUMMED = "by the book, summed over the episode"
ALIKE = (
    "lambda 1",
    "no entropy bonus",
    "no decay",
    "filler rows learned",
    "advantages run over the end",
)

NEITHER = "one critic step, not scaled"


def seeds_at_bar(count: int, *variants: str) -> Evidence:
    there = [at_bar(variant) for variant in variants]
    return str(there), sum(there) == count


def times_the_steps(variant: str, times: float) -> Evidence:
    return near(
        np.median(lab.first_times(variant)) / np.median(lab.first_times(TAUGHT)), times, 0.1
    )
