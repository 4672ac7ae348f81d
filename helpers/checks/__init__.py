"""Exercises that teach: a check names the mistake.

    from helpers.checks import check, grade, exercises
    compute_returns = check("1.2", compute_returns)  # shows the verdict; gives what to go on with
    grade("1.2", candidate)  # the same, not shown: .passed .message .diagnosis
    exercises()              # all of them: .id .lesson .name .reference .card .hints

The exercises themselves stand in `helpers/exercises`; this package knows none of them. `exercise`
says what one is made of, `edits` makes a wrong version out of the right one, `running`
runs a function, `compare` compares what it gave, `diagnose` names the mistake, first by the
exercise's own, then by `rules` for any function, last by `repair`; `display` shows the verdict.
"""

from helpers.checks.core import CheckFailed, Result, begin, check, checker, grade
from helpers.checks.exercise import exercises, find
from helpers.checks.predicting import predict, predictions

__all__ = [
    "CheckFailed", "Result", "begin", "check", "checker", "exercises", "find", "grade", "predict",
    "predictions",
]  # fmt: skip
