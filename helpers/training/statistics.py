"""Statistics for a handful of training runs: interquartile mean, bootstrap interval, power, test.

Source: Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
(the paper behind the `rliable` library).
"""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05  # the course's rule: a smaller p-value shows a difference


def interquartile_mean(values, axis=0):
    """Mean of the middle half: the lowest and the highest quarter are left out.

    One seed that failed, or one that was lucky, hardly moves it, and it wastes less data than the
    median. As in `rliable`, `floor(n / 4)` values are dropped at either end: none of 3 seeds, one
    of 5, two of 10.

    Args:
        values: any shape; `axis` is the one that holds the runs (seeds).

    Returns:
        `values` without `axis`.

    Raises:
        ValueError: there are no runs to average.
    """
    # 1. The runs in order, from the lowest to the highest; `values` itself stays as it is.
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=axis)
    n = ordered.shape[axis]
    if n == 0:
        raise ValueError("interquartile_mean needs at least one value along its axis.")
    # 2. A quarter of the runs, rounded down, goes at either end.
    cut = n // 4
    # 3. The mean of those in between.
    return np.take(ordered, range(cut, n - cut), axis=axis).mean(axis=axis)


def bootstrap_interval(
    values, statistic=interquartile_mean, confidence=0.95, resamples=2000, rng=0
):
    """How far `statistic` could be off, had other seeds been trained: percentile bootstrap.

    Args:
        values: shape `(seeds, ...)`. A run is drawn whole: the points of a curve stay together.
        statistic: called as `statistic(array, axis=1)` on `(resamples, seeds, ...)`.
        confidence: the share of the resampled answers inside the interval.
        rng: a generator, or a seed for one; the default gives the same interval every time.

    Returns:
        `(low, high)`, each of shape `values.shape[1:]`.

    Raises:
        ValueError: there are no runs.
    """
    values, rng = np.asarray(values, dtype=np.float64), np.random.default_rng(rng)
    # 1. Imaginary studies: each draws as many runs as there are, with replacement.
    rows = rng.integers(0, len(values), size=(resamples, len(values)))
    # 2. What each of them would have reported.
    answers = statistic(values[rows], axis=1)
    # 3. The middle of these answers, with equal tails on both sides.
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(answers, [tail, 100 - tail], axis=0)
    return low, high


def power(one, other, seeds, studies=200, rng=0):
    """How often a study with few seeds would show that two settings differ: from 0 to 1.

    It does when the p of a permutation test is below 0.05.

    Args:
        one, other: what many seeds of each setting gave, one number a run.
        seeds: how many runs of each setting a study can afford.
        studies: how many imaginary studies are made.
        rng: a generator, or a seed for one.
    """
    rng, shown = np.random.default_rng(rng), 0
    for _ in range(studies):
        # 1. A study draws its runs from those of each setting, with replacement.
        a, b = rng.choice(one, seeds), rng.choice(other, seeds)
        # 2. It shows a difference if its test does.
        shown += permutation_test(a, b, draws=1000) < 0.05
    # 3. The share of the studies that do.
    return shown / studies


def permutation_test(first: ArrayLike, second: ArrayLike, draws: int = 100_000) -> float:
    """How often chance alone makes two groups of runs differ by as much as they do: p, two-sided.

    If the two settings were the same, every way of sorting the runs into two groups would be as
    likely as the one that happened. p is the share of those ways whose means differ at least as
    much. All are counted if there are at most twice `draws`, otherwise `draws` of them are drawn.

    Args:
        first, second: one number a run, for example the final return of each seed.

    Raises:
        ValueError: a group is empty, or is not a list of numbers.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or b.ndim != 1 or len(a) == 0 or len(b) == 0:
        raise ValueError("permutation_test needs two lists of numbers, one number a run.")
    seen = abs(a.mean() - b.mean())
    differences = _regroupings(a, b, draws)
    return float(np.mean(np.abs(differences) >= seen - 1e-9 * max(1.0, seen)))


def _regroupings(a: NDArray, b: NDArray, draws: int) -> NDArray:
    """The difference of the means for every way of sorting the runs into two groups."""
    together, n = np.concatenate([a, b]), len(a)
    if comb(len(together), n) <= 2 * draws:
        chosen = _all_choices(len(together), n)
    else:
        rng = np.random.default_rng(0)
        chosen = rng.permuted(np.tile(np.arange(len(together)), (draws, 1)), axis=1)[:, :n]
        chosen[0] = np.arange(n)  # the way that happened is one of them: p is never 0
    sums = together[chosen].sum(axis=1)
    return sums / n - (together.sum() - sums) / len(b)


@cache
def _all_choices(count: int, n: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(count), n)))
