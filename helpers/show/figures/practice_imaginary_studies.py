"""Lesson 05: stored results, and what imaginary studies with few of their seeds would report."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from helpers.training.results import load_results
from helpers.training.statistics import interquartile_mean

REPORTS: dict[str, Callable[..., NDArray | np.floating]] = {
    "best": np.max,
    "mean": np.mean,
    "median": np.median,
    "interquartile mean": interquartile_mean,
}
IMAGINED = 1000  # studies: a share of them is off by 1.6 % of all, or less (one standard error)
MOST = 20  # seeds in an imaginary study
MIDDLE = (2.5, 97.5)  # percentiles: between them lie 95 % of all
# Whole names: course.py pack finds by them what a notebook needs.
STUDIES = {
    "DDPG, sparse Pendulum": "ddpg_SparsePendulum-v0",
    "cloning, sparse Pendulum": "bc_SparsePendulum-v0",
    "DDPGfD, sparse Pendulum": "ddpgfd_SparsePendulum-v0",
    "TD3, Pendulum": "td3_Pendulum-v1",
}


@lru_cache(maxsize=16)
def stored_scores(study: str) -> tuple[NDArray[np.float64], float]:
    """What `course.py study` stored: each seed's return `(seeds,)`, and the threshold.

    Raises `FileNotFoundError` if there is no such study.
    """
    record = load_results(study)
    scores = np.array([row["mean"] for row in record["results"]], dtype=np.float64)
    return scores, record["settings"]["bar"]


@lru_cache(maxsize=16)
def imaginary_studies(scores: tuple[float, ...], seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """What 1,000 studies report whose seeds are drawn from `scores`, with replacement.

    A study with n seeds has those of the study with n - 1, and one more.

    Returns:
        name of a report -> `(20, 1000)`; row n - 1 holds the studies with n seeds.
    """
    draws = np.random.default_rng(seed).integers(0, len(scores), size=(IMAGINED, MOST))
    drawn = np.array(scores)[draws]
    # Rounded, so that reports of equal results in another order are equal.
    return {
        name: np.stack([report(drawn[:, :n], axis=1) for n in range(1, MOST + 1)]).round(9)
        for name, report in REPORTS.items()
    }


@lru_cache(maxsize=16)
def spreads(scores: tuple[float, ...]) -> dict[str, NDArray[np.float64]]:
    """How wide the middle 95 % of each report are with 1, 2, ... seeds, `(20,)`."""
    return {
        name: np.ptp(np.percentile(rows, MIDDLE, axis=1), axis=0)
        for name, rows in imaginary_studies(scores).items()
    }
