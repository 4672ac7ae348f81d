"""Exercises that teach: a check names the mistake.

    from helpers.checks import check, grade, exercises
    compute_returns = check("1.2", compute_returns)  # shows the verdict; gives what to go on with
    grade("1.2", candidate)  # the same, not shown: .passed .message .diagnosis
    exercises()              # all of them: .id .lesson .name .reference .card .hints

A lesson's exercises stand in `lessonNN.py`, in a list called `EXERCISES`; adding the file is
enough. The rest of this package is how they are tried: `running` runs a function, `compare`
compares what it gave, `diagnose` names the mistake, `display` shows it, and `observing` helps to
write exercises. `tests/test_checks.py` has a small one of each kind: a function, a loss with
gradients, a network, a class.
"""

from helpers.checks.core import CheckFailed, Result, check, grade
from helpers.checks.exercise import (
    Card,
    Case,
    Exercise,
    Misconception,
    Property,
    call,
    exercises,
    find,
)
from helpers.checks.observing import fill_parameters, gradient, no_mutation

__all__ = [
    "Card",
    "Case",
    "CheckFailed",
    "Exercise",
    "Misconception",
    "Property",
    "Result",
    "call",
    "check",
    "exercises",
    "fill_parameters",
    "find",
    "grade",
    "gradient",
    "no_mutation",
]
