"""What a verdict adds to a diagnosis: facts of the source, and what would make a shape right."""

import numpy as np
import pytest
import torch
from test_checks import LOSS, double, exercise_of

from helpers.checks.core import judge
from helpers.checks.exercise import Case

# --- Lines that do nothing ------------------------------------------------------------------------


def bare_detach(log_probs, advantages):
    advantages.detach()
    return -(log_probs * advantages).mean()


def compared(log_probs, advantages):
    advantages == advantages.detach()  # noqa: B015
    return -(log_probs * advantages).mean()


def dropped(log_probs, advantages):
    torch.clamp(advantages, -1, 1)
    return -(log_probs * advantages).mean()


def subtracted(log_probs, advantages):
    advantages - advantages.mean()
    return -(log_probs * advantages).mean()


def uncalled(log_probs, advantages):
    advantages.detach_  # noqa: B018
    return -(log_probs * advantages).mean()


def prints_and_appends(log_probs, advantages):
    seen = []
    print(advantages.shape)
    seen.append(advantages)
    advantages.shape  # noqa: B018
    return -(log_probs * seen[0]).mean()


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (uncalled, "`advantages.detach_` has no effect: the brackets of the call are missing."),
        (bare_detach, "`advantages.detach()` has no effect: it returns something new"),
        (compared, "has no effect: `==` compares"),
        (dropped, "`torch.clamp(advantages, -1, 1)` has no effect"),
        (subtracted, "`advantages - advantages.mean()` has no effect: its result"),
    ],
)
def test_a_line_without_effect_is_told(function, says):
    assert says in judge(LOSS, function).message


def test_lines_with_an_effect_are_left_alone():
    said = judge(LOSS, prints_and_appends)
    assert not said.passed
    assert "no effect" not in said.message


# --- Names and shapes -----------------------------------------------------------------------------


def clipped(values, clip_range):
    return np.clip(values, -clip_range, clip_range) ** 3 + values


def clipped_cases(rng):
    yield np.array([1.0, -0.1, 4.0]), 0.2
    yield np.array([1.0, -0.3, 0.2]), 0.3
    yield Case((np.array([5.0, -0.1]), 0.5), note="a wide range")


def not_used(values, clip_range):
    near = np.clip(values, -clip_range, clip_range)  # noqa: F841
    return 2 * values + clip_range * values.mean() - 0.7


def test_a_name_that_is_never_used_is_told():
    said = judge(exercise_of(clipped, clipped_cases), not_used).message
    assert "`near` is computed, in `near = np.clip(values, -clip_range, clip_range)`" in said


def test_numbers_next_to_zero_are_not_called_zero():
    exercise = exercise_of(double, lambda rng: [(np.array([1.0, 2.0]),), (np.array([3.0]),)])
    assert judge(exercise, lambda x: 2 * x / (1e8 + x)).diagnosis != "all zeros"
    assert judge(exercise, lambda x: 0 * x).diagnosis == "all zeros"


def test_an_axis_too_many_is_told():
    def as_a_column(x):
        return np.array([[2 * each] for each in x.tolist()])

    column = exercise_of(double, lambda rng: [(np.array([1.0, 2.0, 4.0]),)])
    assert "`.squeeze(-1)` removes it" in judge(column, as_a_column).message
