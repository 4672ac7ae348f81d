"""Lesson 05's statistic: exercise 5.2 `interquartile_mean`."""

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.observing import raises
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.training.statistics import interquartile_mean

# --- Cases ----------------------------------------------------------------------------------------


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
