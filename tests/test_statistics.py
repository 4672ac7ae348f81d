"""What intervals, tests and power say of runs; exercises 5.2, 5.3 and 5.4 try the formulas."""

import numpy as np
import pytest

from helpers.training.statistics import bootstrap_interval, permutation_test, power


def test_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    trials = rng.normal(size=(30, 400))  # 400 experiments of 30 seeds, the truth is 0
    low, high = bootstrap_interval(trials, np.mean, resamples=300, rng=rng)
    assert 0.88 < np.mean((low < 0) & (high > 0)) < 0.98


def test_bootstrap_interval_is_reproducible_and_takes_generators():
    values = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(bootstrap_interval(values), bootstrap_interval(values))
    assert bootstrap_interval([3.0]) == (3.0, 3.0)
    one, two = (bootstrap_interval(values, rng=np.random.default_rng(s)) for s in (1, 2))
    assert not np.array_equal(one, two)


# 20 ways of choosing three of six: as they are, and the other way round. With ties more ways count.
@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ([0, 1, 2], [10, 11, 12], 2 / 20),
        ([12, 10, 11], [2, 0, 1], 2 / 20),
        ([0, 1], [5], 1 / 3),
        ([3, 3], [3, 3, 3], 1.0),
        ([0, 0, 1], [1, 1, 1], 8 / 20),
    ],
)
def test_a_permutation_test_counts_every_way(first, second, p):
    assert permutation_test(first, second) == pytest.approx(p)


def test_where_there_are_too_many_ways_some_are_drawn():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=9), rng.normal(0.8, 1, size=9)
    exact = permutation_test(first, second)
    assert 0.001 < exact < 0.9
    assert permutation_test(first, second, draws=20_000) == pytest.approx(exact, abs=0.02)
    assert permutation_test(first, second, draws=20_000) != exact
    assert permutation_test(np.arange(20), 100 + np.arange(20), draws=1000) == 1 / 1000


@pytest.mark.parametrize("bad", [[], [[1, 2]]])
def test_what_are_no_runs_is_a_sentence(bad):
    with pytest.raises(ValueError, match="two lists"):
        permutation_test([1, 2], bad)


def test_power_grows_with_seeds_and_is_the_level_where_nothing_differs():
    low = np.random.default_rng(0).normal(size=20)
    assert power(low, low + 100, 3) == 0  # no p of three against three is below 0.1
    assert power(low, low + 100, 4) == 1
    assert power(low, low + 1, 4) < power(low, low + 1, 12) < 1
    assert power(low, low, 8, studies=400) == pytest.approx(0.05, abs=0.04)
