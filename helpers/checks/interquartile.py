"""Lesson 05's statistic: exercise 5.2 `interquartile_mean`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import no_mutation
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
        Case((np.array([12, 3, 50, 8, 1]),), note="whole numbers"),
        Case((drawn(5, 3),), note="five runs, three points each"),
        Case((drawn(3, 8), 1), note="the runs along axis 1"),
        Case((drawn(2, 6, 3), 1), note="three axes, the runs along the middle one"),
        Case((drawn(4, 2, 9), -1), note="three axes, the runs along the last one, called -1"),
    ]


# --- What other inputs show -----------------------------------------------------------------------


def refuses_no_runs(function, rng):
    for values, axis in [(np.zeros(0), 0), (np.zeros((3, 0)), 1)]:
        try:
            function(values, axis)
        except ValueError:
            continue
        return False
    return True


def takes_lists(function, rng):
    return np.isclose(function([12, 3, 50, 8, 1]), 23 / 3)


# --- Wrong versions -------------------------------------------------------------------------------


def ordered(values, axis) -> np.ndarray:
    return np.sort(np.asarray(values, dtype=float), axis=axis)


def quarter(n: int) -> int:
    return n // 4


def between(array: np.ndarray, start: int, stop: int, axis: int) -> np.ndarray:
    return np.take(array, range(start, stop), axis=axis)


def refuse_none(values, axis=0) -> None:
    if np.shape(values)[axis] == 0:
        raise ValueError("There are no runs.")


def averaging(
    order: Callable = ordered,
    low: Callable = quarter,
    high: Callable = quarter,
    result: Callable = lambda kept, axis: kept.mean(axis=axis),
):
    """A wrong version: some steps replaced. `low(n)` and `high(n)` go at either end."""

    def mean(values, axis=0):
        refuse_none(values, axis)
        array = order(values, axis)
        n = array.shape[axis]
        return result(between(array, low(n), n - high(n), axis), axis)

    return mean


def both_ends(cut: Callable[[int], int]):
    return averaging(low=cut, high=cut)


def giving(statistic: Callable):
    """A wrong version: `statistic(array, axis)` of all runs."""

    def mean(values, axis=0):
        refuse_none(values, axis)
        return statistic(np.asarray(values, dtype=float), axis)

    return mean


def middle_sum(array, axis) -> np.ndarray:
    n = array.shape[axis]
    return between(ordered(array, axis), quarter(n), n - quarter(n), axis).sum(axis)


def kept_where(keep: Callable):
    """A wrong version: the mean of those for which `keep(array, axis)` is true."""
    return giving(lambda a, axis: np.nanmean(np.where(keep(a, axis), a, np.nan), axis=axis))


def quartiles(array, axis) -> np.ndarray:
    return np.percentile(array, [25, 75], axis=axis, keepdims=True)


def within(array, axis):
    low, high = quartiles(array, axis)
    return (array >= low) & (array <= high)


def strictly_within(array, axis):
    low, high = quartiles(array, axis)
    return (array > low) & (array < high)


def unlike_those_that_go(array, axis):
    """Everything goes that equals one of those that go."""
    n, array_in_order = array.shape[axis], np.sort(array, axis=axis)
    if quarter(n) == 0:
        return np.ones_like(array, dtype=bool)
    low = between(array_in_order, quarter(n) - 1, quarter(n), axis)
    high = between(array_in_order, n - quarter(n), n - quarter(n) + 1, axis)
    return (array > low) & (array < high)


def moved_to_the_border(array, axis):
    n, array = array.shape[axis], np.sort(array, axis=axis)
    low = between(array, quarter(n), quarter(n) + 1, axis)
    high = between(array, n - 1 - quarter(n), n - quarter(n), axis)
    return np.clip(array, low, high).mean(axis=axis)


def in_part(array, axis):
    """Exactly a quarter goes: of the value at the border, a part counts."""
    n = array.shape[axis]
    position = np.arange(n)
    inside = np.minimum(position + 1, 0.75 * n) - np.maximum(position, 0.25 * n)
    weights = np.clip(inside, 0, 1)
    array = np.moveaxis(np.sort(array, axis=axis), axis, -1)
    return (array * weights).sum(axis=-1) / weights.sum()


def mean_sliced_by_minus_cut(values, axis=0):
    refuse_none(values, axis)
    array = ordered(values, axis)
    n = array.shape[axis]
    stop = n - quarter(n) if quarter(n) else 0  # as [0:-0] does it
    return between(array, quarter(n), stop, axis).mean(axis=axis)


def first_axis_sliced_by_minus_cut(values, axis=0):
    refuse_none(values, axis)
    array = ordered(values, axis)
    cut = quarter(array.shape[axis])
    return array[cut:-cut].mean(axis=axis)


def sorted_in_place(values, axis=0):
    refuse_none(values, axis)
    array = np.asarray(values, dtype=float)
    array.sort(axis=axis)
    n = array.shape[axis]
    return between(array, quarter(n), n - quarter(n), axis).mean(axis=axis)


def always_along(own: int):
    """A wrong version: `axis` plays no part."""

    def mean(values, axis=0):
        refuse_none(values, own)
        return interquartile_mean(values, own)

    return mean


def all_in_one(values, axis=0):
    return interquartile_mean(np.ravel(values))


def with_and_without_axis(name: str, wrong: Callable, message: str) -> list[Misconception]:
    """A wrong version, and the same of all the numbers in one row."""
    return [
        Misconception(name, wrong, message),
        Misconception(
            f"{name}, flattened",
            lambda values, axis=0: wrong(np.ravel(values)),
            f"{message} And `axis` plays no part: it says along which axis the runs lie.",
        ),
    ]


def by_order_alone(values, axis=0):
    refuse_none(values, axis)
    array = np.argsort(np.asarray(values), axis=axis)
    n = array.shape[axis]
    return between(array, quarter(n), n - quarter(n), axis).mean(axis=axis)


def moved_then_sorted(values, axis=0):
    refuse_none(values, axis)
    array = np.sort(np.moveaxis(np.asarray(values, dtype=float), axis, 0))
    return array[quarter(len(array)) : len(array) - quarter(len(array))].mean(axis=0)


def taken_from_all(mean_axis: Callable):
    """A wrong version: `np.take` without its axis."""

    def mean(values, axis=0):
        refuse_none(values, axis)
        array = ordered(values, axis)
        n = array.shape[axis]
        return np.take(array, range(quarter(n), n - quarter(n))).mean(axis=mean_axis(axis))

    return mean


def only_rows(values, axis=0):
    refuse_none(values)
    array = np.sort(np.asarray(values, dtype=float))
    return array[quarter(len(array)) : len(array) - quarter(len(array))].mean()


def cut_along_the_first(values, axis=0):
    """As `ordered[cut : n - cut]` does it."""
    refuse_none(values, axis)
    array = ordered(values, axis)
    n = array.shape[axis]
    return array[quarter(n) : n - quarter(n)].mean(axis=axis)


def counted_by(count: Callable):
    """A wrong version: the number of runs is `count(array)`."""

    def mean(values, axis=0):
        refuse_none(values, axis)
        array = ordered(values, axis)
        n = count(array)
        cut = [slice(None)] * array.ndim
        cut[axis] = slice(quarter(n), n - quarter(n))
        return array[tuple(cut)].mean(axis=axis)

    return mean


def not_refused(values, axis=0):
    array = ordered(values, axis)
    n = array.shape[axis]
    return between(array, quarter(n), n - quarter(n), axis).mean(axis=axis)


def asked_of_the_list(values, axis=0):
    n = values.shape[axis]
    if n == 0:
        raise ValueError("There are no runs.")
    return interquartile_mean(values, axis)


FLOOR = "`floor(n / 4)` values go at either end: none of 3, one of 4 to 7, two of 8 to 11"
AXIS = (
    "`axis` says along which axis the runs lie; the other axes, such as the points of a curve, stay"
)

NOT_REFUSED = (
    "The numbers are right, but without any runs your function does not stop with a `ValueError`. "
    "Numpy's mean of nothing is NaN, which spreads through everything that is worked out from it: "
    "raise the error yourself, with a sentence that says what is missing."
)
NO_LIST = (
    "Arrays work, but `values` may be a plain list, too, and that has neither a `.shape` nor an "
    "axis. `np.asarray` makes an array of whatever is like one."
)

INTERQUARTILE_MEAN = Exercise(
    id="5.2",
    lesson="05_td3_in_practice",
    reference=interquartile_mean,
    card=Card(
        title="The middle half",
        what="Write `interquartile_mean(values, axis=0)`: along `axis` lie the results of n runs. "
        "Leave out the `floor(n / 4)` lowest and as many of the highest, and return the mean of "
        "the rest, without that axis. With no runs, raise a `ValueError`.",
        why="A handful of seeds is all that most papers have, and one that failed, or was lucky, "
        "moves their mean by more than the idea under test. The median is calm, but looks at one "
        "or two runs only.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "Who is among the lowest is easy to say once the runs are in order. How many go at either "
        "end, as a whole number? Then all that is left lies between two places, and a mean of it "
        "is one call.",
        "`np.sort` takes an `axis` and gives a new array; `//` divides and rounds down; `np.take` "
        "with a `range` of places takes some of them along any axis. Look at the number of runs "
        "before you take a mean of none.",
    ),
    cases=runs_cases,
    misconceptions=[
        # What is averaged
        *with_and_without_axis(
            "mean of all",
            giving(lambda a, axis: a.mean(axis=axis)),
            "That is the mean of all runs. A quarter of them goes at either end first, so that one "
            "failure does not decide.",
        ),
        *with_and_without_axis(
            "median",
            giving(lambda a, axis: np.median(a, axis=axis)),
            "That is the median, which looks at the one or two runs in the middle. Here half of "
            "them count: take the mean of what lies between the two quarters.",
        ),
        Misconception(
            "standard deviation",
            averaging(result=lambda kept, axis: kept.std(axis=axis)),
            "You return how far the middle runs are spread (`std`). How good they are on average "
            "is asked for: their mean.",
        ),
        Misconception(
            "sum",
            averaging(result=lambda kept, axis: kept.sum(axis=axis)),
            "You return the sum of the middle runs. Their mean is asked for: divide by how many "
            "are left, not by how many there were.",
        ),
        Misconception(
            "divided by all",
            giving(lambda a, axis: middle_sum(a, axis) / a.shape[axis]),
            "You divide the sum of the middle runs by the number of all. Those that went are not "
            "in the sum: divide by how many are left.",
        ),
        Misconception(
            "divided by half of all",
            giving(lambda a, axis: middle_sum(a, axis) / (a.shape[axis] / 2)),
            "You divide the sum of the middle runs by half of their number, and what is left is "
            "more than half wherever n is no multiple of 4. Divide by how many are left.",
        ),
        Misconception(
            "not averaged",
            averaging(result=lambda kept, axis: kept),
            "You return the middle runs themselves. Their mean along `axis` is asked for.",
        ),
        Misconception(
            "distance of the quartiles",
            giving(lambda a, axis: np.subtract(*np.percentile(a, [75, 25], axis=axis))),
            "That is the interquartile range: how far the quartiles lie apart. The mean of the "
            "runs between them is asked for.",
        ),
        Misconception(
            "mean of the two quartiles",
            giving(lambda a, axis: np.percentile(a, [25, 75], axis=axis).mean(axis=0)),
            "You average the two quartiles, two numbers at the border. All the runs between them "
            "count.",
        ),
        Misconception(
            "moved to the border",
            giving(moved_to_the_border),
            "You move the runs at either end to the border instead of leaving them out (that is "
            "called a winsorized mean). Here they go, and the mean is that of the rest alone.",
        ),
        # Their order
        *with_and_without_axis(
            "not sorted",
            averaging(order=lambda values, axis: np.asarray(values, dtype=float)),
            "You leave out the first and the last runs as they stand. The lowest and the highest "
            "have to go: sort first.",
        ),
        Misconception(
            "sorted along the last axis",
            averaging(order=lambda values, axis: ordered(values, -1)),
            "`np.sort` without `axis` sorts along the last one, so that numbers of one run are "
            "mixed among its points. Sort along `axis`.",
        ),
        Misconception(
            "sorted along the first axis",
            averaging(order=lambda values, axis: ordered(values, 0)),
            "You sort along axis 0 whatever `axis` is. Sort along `axis`.",
        ),
        Misconception(
            "sorted along the last axis once moved",
            moved_then_sorted,
            "You move the axis of the runs to the front, and then `np.sort` sorts along the last "
            "one: for a single axis that is the same, for several it is not. Sort along the axis "
            "where the runs are now.",
        ),
        Misconception(
            "places for values",
            by_order_alone,
            "`np.argsort` gives the places of the values in their order, and you average places. "
            "`np.sort` gives the values themselves.",
        ),
        Misconception(
            "sorted in place",
            sorted_in_place,
            "The numbers are right, but you sort the caller's own array: an array's `.sort()` "
            "works in place, and `np.asarray` makes no copy of an array. Whoever called finds the "
            "runs in another order: `np.sort` gives a new one.",
        ),
        # How many go
        Misconception(
            "highest stay",
            averaging(high=lambda n: 0),
            "Only the lowest quarter goes, so lucky runs count in full and failures do not: the "
            "result is too good. Leave out as many at the other end.",
        ),
        Misconception(
            "lowest stay",
            averaging(low=lambda n: 0),
            "Only the highest quarter goes, so failures count in full: the result is too bad. "
            "Leave out as many at the other end.",
        ),
        Misconception(
            "rounded up",
            both_ends(lambda n: -(-n // 4) if n > 2 else 0),
            f"Where n is no multiple of 4 you leave out one run too many at either end. {FLOOR}: "
            "round down, as `//` does.",
        ),
        Misconception(
            "rounded up, whatever is left",
            both_ends(lambda n: -(-n // 4)),
            "Where n is no multiple of 4 you leave out one run too many at either end, and of a "
            f"single run nothing is left. {FLOOR}: round down, as `//` does.",
        ),
        Misconception(
            "rounded to the nearest",
            both_ends(lambda n: round(n / 4)),
            f"You round n / 4 to the nearest whole number. {FLOOR}: round down, as `//` does.",
        ),
        Misconception(
            "rounded to the nearest, halves up",
            both_ends(lambda n: int(n / 4 + 0.5)),
            f"You round n / 4 to the nearest whole number. {FLOOR}: round down, as `//` does.",
        ),
        Misconception(
            "half at either end",
            both_ends(lambda n: n // 2),
            "You leave out half of the runs at either end, so that one is left, or none (the mean "
            "of nothing is NaN). A quarter goes at either end, and the middle half stays.",
        ),
        Misconception(
            "a third at either end",
            both_ends(lambda n: n // 3),
            "You leave out a third of the runs at either end. It is a quarter: the middle half "
            "stays.",
        ),
        Misconception(
            "a quarter in all",
            both_ends(lambda n: n // 8),
            "You leave out a quarter of the runs in all, an eighth at either end. A quarter goes "
            "at each end, and the middle half stays.",
        ),
        *with_and_without_axis(
            "one at either end",
            both_ends(lambda n: 1 if n > 2 else 0),
            "You leave out one run at either end, however many there are. It is a quarter of them, "
            f"rounded down: {FLOOR[FLOOR.index('none') :]}.",
        ),
        Misconception(
            "one at either end, whatever is left",
            both_ends(lambda n: 1),
            "You leave out one run at either end, however many there are, and of a single one "
            f"nothing is left. It is a quarter, rounded down: {FLOOR[FLOOR.index('none') :]}.",
        ),
        *with_and_without_axis(
            "a slice to minus 0",
            mean_sliced_by_minus_cut,
            "Where nothing goes (fewer than four runs) your slice ends at -0, which is 0, and "
            "holds nothing: the mean of nothing is NaN. Let it stop at n less the quarter.",
        ),
        Misconception(
            "a slice of axis 0 to minus 0",
            first_axis_sliced_by_minus_cut,
            "Where nothing goes (fewer than four runs) your slice ends at -0, which is 0, and "
            "holds nothing: the mean of nothing is NaN. Let it stop at n less the quarter; and "
            "where the runs lie along another axis than the first, a plain slice cuts the wrong "
            "one.",
        ),
        Misconception(
            "one too many at the upper end",
            averaging(high=lambda n: quarter(n) + 1),
            "You leave out one run more at the upper end than at the lower one. A slice, like a "
            "`range`, does not hold its end: there is nothing to subtract.",
        ),
        Misconception(
            "one too many at the lower end",
            averaging(low=lambda n: quarter(n) + 1),
            "You leave out one run more at the lower end than at the upper one. Places count from "
            "0: the first that stays has the number of those that go.",
        ),
        Misconception(
            "at least one at either end",
            both_ends(lambda n: max(1, n // 4) if n > 2 else 0),
            f"You leave out at least one run at either end. {FLOOR}.",
        ),
        Misconception(
            "at least one at either end, whatever is left",
            both_ends(lambda n: max(1, n // 4)),
            "You leave out at least one run at either end, and of a single one nothing is left. "
            f"{FLOOR}.",
        ),
        Misconception(
            "three quarters rounded down",
            averaging(high=lambda n: n - 3 * n // 4),
            "Your upper end is three quarters of n, rounded down, and so one run more goes there "
            "than at the lower end wherever n is no multiple of 4. As many go at either end: stop "
            "at n less the quarter.",
        ),
        Misconception(
            "up to three times the quarter",
            averaging(high=lambda n: n - 3 * (n // 4)),
            "Your upper end is three times the rounded quarter, and too many go there wherever n "
            "is no multiple of 4. As many go at either end: stop at n less the quarter.",
        ),
        # By value
        *with_and_without_axis(
            "between the percentiles",
            kept_where(within),
            "You keep what lies between the 25th and the 75th percentile, which fall between runs: "
            "another number of them goes, and among equal runs all or none. "
            f"{FLOOR}: count places, not values.",
        ),
        *with_and_without_axis(
            "strictly between the percentiles",
            kept_where(strictly_within),
            "You keep what lies strictly between the 25th and the 75th percentile, so a run that "
            f"is one of them goes too (a single run among them). {FLOOR}: count places, not "
            "values.",
        ),
        Misconception(
            "equal runs go together",
            kept_where(unlike_those_that_go),
            "A run that equals one of those that go, you drop as well, and with many equal ones "
            "little is left. Count places in the order, not values.",
        ),
        Misconception(
            "a part of the run at the border",
            giving(in_part),
            "You count the runs at the border in part, so that exactly a quarter goes; there is "
            f"such a definition. Here, as in the paper's library, whole runs go: {FLOOR}.",
        ),
        # The axis
        Misconception(
            "always axis 0",
            always_along(0),
            f"You work along axis 0 whatever `axis` is. {AXIS}.",
        ),
        Misconception(
            "always the last axis",
            always_along(-1),
            f"You work along the last axis whatever `axis` is. {AXIS}.",
        ),
        Misconception(
            "flattened",
            all_in_one,
            f"You treat all numbers as one row of runs. {AXIS}.",
        ),
        Misconception(
            "mean over all axes",
            averaging(result=lambda kept, axis: kept.mean()),
            "Your mean at the end is over all axes, so that one number is left. Average along "
            "`axis` alone; the other axes, such as the points of a curve, stay.",
        ),
        Misconception(
            "taken from the flattened array",
            taken_from_all(lambda axis: axis),
            "`np.take` without `axis` counts through all the numbers in one row. Give it the axis.",
        ),
        Misconception(
            "taken from the flattened array, mean over all",
            taken_from_all(lambda axis: None),
            "`np.take` without `axis` counts through all the numbers in one row. Give it the axis, "
            "and the mean as well.",
        ),
        Misconception(
            "rows cut, the rest averaged away",
            only_rows,
            f"For several axes you sort along the last one, cut the first one and average over "
            f"all. {AXIS}.",
        ),
        Misconception(
            "cut along axis 0",
            cut_along_the_first,
            "A plain slice of the array cuts its first axis, and your runs may lie along another "
            "one. `np.take` takes places along any axis.",
        ),
        Misconception(
            "length of the first axis",
            counted_by(len),
            "`len` is the length of the first axis. How many runs there are says the shape at "
            "`axis`.",
        ),
        Misconception(
            "number of all entries",
            counted_by(np.size),
            "You count all the numbers (`size`) as if each were a run. How many runs there are "
            "says the shape at `axis`.",
        ),
        Misconception(
            "axis kept",
            averaging(result=lambda kept, axis: kept.mean(axis=axis, keepdims=True)),
            "The numbers are right, but the axis of the runs is still there, with the length 1. "
            "Whoever plots the result expects it gone: leave `keepdims` out.",
        ),
        # What it is given
        Misconception("no runs, no error", not_refused, NOT_REFUSED),
        Misconception("asks a list for its shape", asked_of_the_list, NO_LIST),
    ],
    properties=[
        Property("no error without runs", refuses_no_runs, NOT_REFUSED),
        Property("no plain lists", takes_lists, NO_LIST),
        no_mutation(
            lambda rng: [case for case in runs_cases(rng) if np.size(case.args[0])],
            message="The numbers are right, but your function changes the array that it was given, "
            "and whoever called still needs the runs as they were. Sort a copy: `np.sort` makes "
            "one.",
        ),
    ],
)
