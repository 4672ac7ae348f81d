"""What the claims of lesson 01 and of its lab compute."""

from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import torch

from helpers.algorithms import a2c
from helpers.algorithms.a2c import gae
from helpers.checks import find
from helpers.show.figures import effects_table
from helpers.show.table import Table
from helpers.training.results import load_results
from lessons.evidence.shared import Evidence, Lab, both, higher, near, says, seconds_of
from lessons.evidence.shared import seconds_of as seconds

TAUGHT, REINFORCE = "A2C as taught", "REINFORCE with a baseline"
NEITHER = "one critic step, not scaled"
ALIKE = ("lambda 1", "no entropy bonus", "no decay", "advantages run over the end")
lab = Lab("01_break_it")
STUDIES = ("reinforce_CartPole-v1", "a2c_CartPole-v1", "a2c_Pendulum-v1")


@cache
def cartpole_table() -> Table:
    runs = {k: v for k, v in load_results("01_break_it").items() if "REINFORCE" not in k}
    return effects_table(runs, value=lambda each: each["values"])


@cache
def reinforce_table() -> Table:
    return effects_table({k: v for k, v in load_results("01_break_it").items() if "REINFORCE" in k})


def long_pendulum(variant: str, at_threshold: int, effect: str) -> Evidence:
    """A row of the lesson's table."""
    table = effects_table(load_results("01_long_pendulum"))
    row = next(row for row in table.rows if row[0] == variant)
    count = f"{at_threshold} of 10"
    return both(says(table, variant, effect), (str(row[1]), row[1] == count))


def seeds_at_bar(count: int, variant: str) -> Evidence:
    there = int((lab.final(variant) >= lab.runs(variant)["bar"]).sum())
    return str(there), there == count


def first_180_000(variant: str) -> np.ndarray:
    """The mean training return over the first 180,000 steps, one number a seed."""
    runs = lab.runs(variant)
    return np.array(runs["returns"])[:, np.array(runs["steps"]) <= 180_000].mean(axis=1)


def values() -> Evidence:
    """With truncation as termination the critic says 0.88 of a start, as taught 1.00."""
    mistaken, taught = lab.value("truncation as termination"), lab.value(TAUGHT)
    said, holds = higher(taught, mistaken, 0.001)
    medians = np.median(mistaken), np.median(taught)
    return f"medians {medians[0]:.3f}, {medians[1]:.3f}; means {said}", (
        holds and abs(medians[0] - 0.88) < 0.005 and abs(medians[1] - 1) < 0.005
    )


@cache
def with_the_bug() -> tuple[float, float]:
    """The mean of the last 50 returns after 60,000 steps, and V of a pole at rest."""
    s = replace(a2c.CARTPOLE, steps=60_000)
    with patch.object(a2c, "as_rows", find("1.9").mistakes[0].function):
        agent = a2c.train(s, seed=0)
    last = [number for _, number in agent.history["return"][-50:]]
    return float(np.mean(last)), agent.critic(torch.zeros(4)).item()


def steps_a_second(study: str) -> float:
    return load_results(study)["settings"]["steps"] / seconds_of(study)


def by_hand(kind: str) -> np.ndarray:
    """The advantages of the worked example: terminated, truncated, or with one mask too few."""
    rewards, values = np.ones(4), np.full(4, 5.0)
    next_values = np.array([5.0, 10, 5, 10])
    end, none = np.array([False, True, False, False]), np.zeros(4, dtype=bool)
    terminated, truncated = {
        "terminated": (end, none),
        "truncated": (none, end),
        "sum runs on": (none, none),
    }[kind]
    columns = (each[:, None] for each in (rewards, values, next_values, terminated, truncated))
    return gae(*columns, gamma=0.8, lam=0.5)[:, 0]


def advantages_are(row: int, **said: float) -> Evidence:
    return both(*(near(by_hand(kind)[row], a, 1e-9) for kind, a in said.items()))
