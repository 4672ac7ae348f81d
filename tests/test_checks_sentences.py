"""What a check says of mistakes and errors that any function may have."""

import pytest
import torch
from test_checks import exercise_of

from helpers.checks.core import judge


def scaled(x, by):
    return [entry * by + 1 for entry in x]


def scaled_cases(rng):
    return [([1.0, 2.5], 3.0), ([0.5, 4.0, -1.5], 1.5)]


def returns_at_once(x, by):
    result = []
    for entry in x:
        result.append(entry * by + 1)
        return result


def forgets_by(x, by):
    return [3 * entry**2 - 0.3 for entry in x]


def asks_a_function(x, by):
    return plus_none(x, by)


def plus_none(x, by):
    return [entry + None for entry in x]


def powers(x, by):
    return torch.tensor(x) ^ 2


def calls_itself(x, by):
    return calls_itself(x, by)


def mean_without_brackets(x, by):
    return torch.tensor(x).mean * by


SENTENCES = {
    returns_at_once: "`return result` stands in a loop, so the function ends in the loop's first",
    forgets_by: "Your version never uses `by`.",
    powers: "A power is `**` in Python",
    calls_itself: "The function calls itself",
    mean_without_brackets: "Brackets are missing",
    asks_a_function: "at `return plus_none(x, by)` (line",  # the line of theirs, not of the other's
}


@pytest.mark.parametrize(
    ("wrong", "says"), SENTENCES.items(), ids=lambda each: getattr(each, "__name__", "")
)
def test_what_any_function_may_need_to_be_told(wrong, says):
    result = judge(exercise_of(scaled, scaled_cases), wrong)
    assert says in result.message, result.message


class Scaler:
    def __init__(self, by, plus):
        self.by, self.plus = by, plus

    def scale(self, x):
        return [self.by(entry) + self.plus for entry in x]


class ScalerWithoutPlus:
    def __init__(self, by, plus):
        self.by, self.plus = by, plus

    def scale(self, x):
        return [self.by(entry) * 1.37 - self.by(0.2) for entry in x]


def test_what_is_called_is_used():
    """Only `plus` is never looked at."""

    def observe(kind, x):
        return kind(lambda entry: 3 * entry, 1.25).scale(x)

    exercise = exercise_of(Scaler, lambda rng: [([1.0, 2.5],), ([0.3],)], observe=observe)
    assert "Your version never uses `self.plus`." in judge(exercise, ScalerWithoutPlus).message
