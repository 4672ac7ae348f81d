"""Settings of the lessons, long trainings, callbacks, stored results, statistics, probes."""

from helpers.training import callbacks, probes
from helpers.training.results import load_results
from helpers.training.settings import get_setting
from helpers.training.statistics import permutation_test

__all__ = ["callbacks", "get_setting", "load_results", "permutation_test", "probes"]
