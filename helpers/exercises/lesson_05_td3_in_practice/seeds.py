"""Lesson 05: exercises 5.2 `interquartile_mean`, 5.3 `bootstrap_interval`, 5.4 `power`."""

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.observing import raises
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.training.statistics import bootstrap_interval, interquartile_mean, power


def runs_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(*shape: int) -> np.ndarray:
        """Returns like a study's, skewed: some seeds fail badly."""
        return (100 - 40 * rng.exponential(size=shape)).round(1)

    return [
        Case((np.array([7.0]),), note="a single run"),
        Case((np.array([5.0, -40.0, 8.0]),), note="three runs: a quarter of them is less than one"),
        Case((np.array([9.0, 1.0, 4.0, -90.0]),), note="four runs"),
        Case((drawn(5),), note="five runs"),
        Case((drawn(6),), note="six runs"),
        Case((drawn(7),), note="seven runs"),
        Case((np.array([3.0, 9.0, 3.0, 3.0, 9.0, 5.0, 9.0, 9.0]),), note="eight runs, many alike"),
        Case((drawn(10),), note="ten runs"),
        Case((drawn(17),), note="seventeen runs"),
        Case((drawn(999),), note="999 runs"),  # up to some 200 np.partition puts all in order
        Case((np.array([12, 3, 50, 8, 1]),), note="whole numbers"),
        Case((np.array([16777217.0, -1e8, 1e8, -16777216.0]),), note="large numbers, four runs"),
        Case((drawn(5, 3),), note="five runs, three points each"),
        Case((drawn(3, 8), 1), note="the runs along axis 1"),
        Case((drawn(2, 6, 3), 1), note="three axes, the runs along the middle one"),
        Case((drawn(4, 2, 9), -1), note="three axes, the runs along the last one, called -1"),
    ]


# --- What other inputs show -----------------------------------------------------------------------


def refuses_no_runs(function, rng):
    none = (np.zeros(0), 0), (np.zeros((3, 0)), 1)
    return all(raises(ValueError, function, values, axis) for values, axis in none)


def takes_lists(function, rng):
    """Where arrays go wrong as well, that says nothing of lists."""
    runs, answer = [12, 3, 50, 8, 1], 23 / 3
    array = np.array(runs)
    wrong = raises(Exception, function, array) or not np.isclose(function(array), answer)
    return wrong or np.isclose(function(runs), answer)


INTERQUARTILE_MEAN = exercise(
    __file__, "5.2", interquartile_mean, runs_cases,
    properties={
        "no error without runs": refuses_no_runs,
        "no plain lists": takes_lists,
        **no_mutation(lambda rng: [case for case in runs_cases(rng) if np.size(case.args[0])]),
    },
)  # fmt: skip

# --- The interval and the power: by chance, so they are compared roughly --------------------------

RUNS = np.array([12.0, 3.0, 50.0, 8.0, 1.0, 95.0, 30.0, 22.0, 5.0, 61.0])


def observe_interval(function, values, statistic, confidence):
    """Both ends in one array, so that how near they must be depends on the larger one."""
    found = function(values, statistic, confidence, 12000, np.random.default_rng(0))
    if not isinstance(found, tuple | list) or len(found) != 2:
        return {"form of the result": "not a pair", "interval": None}
    low, high = map(np.asarray, found)
    if low.shape != high.shape:
        form = f"a pair of the shapes {low.shape} and {high.shape}"
        return {"form of the result": form, "interval": None}
    return {"form of the result": "a pair", "interval": np.stack([low, high])}


def draws_whole_runs(function, rng):
    """Two points that are alike in every run have the same interval, whichever runs are drawn."""
    low, high = function(np.stack([RUNS, RUNS], axis=1), np.mean, 0.9, 200, rng)
    return np.allclose(low[0], low[1]) and np.allclose(high[0], high[1])


def interval_cases(rng: np.random.Generator) -> list[Case]:
    curves = RUNS[:8, None] * [1.0, 0.5] + [0.0, 40.0] * rng.normal(size=(8, 1))
    return [
        Case((RUNS[:6], np.mean, 0.95), note="six runs"),
        Case((RUNS, interquartile_mean, 0.95), note="ten runs, the interquartile mean"),
        Case((RUNS, np.mean, 0.5), note="a confidence of 0.5"),
        Case((curves, np.mean, 0.95), note="eight curves of two points"),
    ]


BOOTSTRAP_INTERVAL = exercise(
    __file__, "5.3", bootstrap_interval, interval_cases, observe_interval, rtol=0, atol=0.04,
    properties={"each point its own runs": draws_whole_runs},
)  # fmt: skip


def power_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((RUNS, RUNS + 500, 4, 30, 1), note="groups that do not overlap, 4 seeds each"),
        Case((RUNS, RUNS + 500, 3, 30, 1), note="the same with 3 seeds each"),
        Case((RUNS[:4], RUNS[:4] + 500, 6, 30, 1), note="6 seeds each, drawn from 4 runs"),
        Case((RUNS, RUNS + 20, 6, 2000, 1), note="groups that overlap, 6 seeds each"),
    ]


POWER = exercise(__file__, "5.4", power, power_cases, rtol=0.2, atol=0.05)
