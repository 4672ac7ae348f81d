"""What a verdict says of arguments and results in each other's place, and of an error's cause."""

import math

import numpy as np
import pytest
import torch
from test_checks import exercise_of
from torch import nn

from helpers.checks.core import judge


def scaled(x, by):
    return [entry * by + 1 for entry in x]


def swaps_two_arguments(x, by):
    return scaled(by, x)


def digits(x):
    rest, whole = np.modf(x)
    return np.arange(9)[whole.astype(int)] + rest


def digits_the_other_way_round(x):
    whole, rest = np.modf(x)
    return np.arange(9)[whole] + rest


def test_arguments_in_each_others_place_are_told():
    exercise = exercise_of(scaled, lambda rng: [([1.0, 2.5], 3.0), ([0.5, 4.0, -1.5], 1.5)])
    message = judge(exercise, swaps_two_arguments).message
    assert "You swapped `x` and `by` in `scaled(by, x)`." in message


def test_results_unpacked_in_another_order_are_told():
    exercise = exercise_of(digits, lambda rng: [(np.array([1.5, 3.25]),), (np.array([7.75]),)])
    message = judge(exercise, digits_the_other_way_round).message
    assert "`np.modf` gives `rest` and `whole` in this order" in message


# --- What an error mostly means -------------------------------------------------------------------


def halved(x):
    return x / 2


def takes_an_array(x):
    return torch.pow(x.numpy(), 1.0)


def turns_numbers_round(x):
    return ~x


def no_brackets(x):
    return x > 1 & x < 3


def gradient_of_many(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(x**2, x)[0] / 4


def gradient_of_a_constant(x):
    (x.sum() / 2).backward()
    return x.grad


def gradient_of_a_number(x):
    x = x.clone().requires_grad_()
    loss = x.sum().detach()
    loss.backward()
    return x.grad


def gradient_twice(x):
    x = x.clone().requires_grad_()
    loss = (x**2).sum()
    loss.backward()
    loss.backward()
    return x.grad


def gradient_for_a_constant(x):
    weight = torch.ones(3, requires_grad=True)
    return torch.autograd.grad((weight * x).sum(), x)[0]


def log_for_the_width(x):
    # `validate_args`: importing stable_baselines3 turns this off for the whole process.
    return torch.distributions.Normal(x, math.log(0.5), validate_args=True).mean / 2


class Layer(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(1, 1)


@pytest.mark.parametrize(
    ("wrong", "says"),
    {
        takes_an_array: "This function of torch takes tensors",
        turns_numbers_round: "these are numbers: subtract",
        no_brackets: "put each comparison in brackets",
        gradient_of_many: "take the sum or the mean first",
        gradient_of_a_constant: "No gradient reaches what it is taken of: something cuts it off",
        gradient_of_a_number: "taken of: `detach` lets none through, in `loss = x.sum().detach()`",
        gradient_twice: "`retain_graph=True` in all but the last",
        gradient_for_a_constant: "Call `requires_grad_()` on what the gradient is taken for",
        log_for_the_width: "is this its logarithm?",
        lambda x: Layer(): "`__init__` has to begin with `super().__init__()`",
    }.items(),
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_an_error_means_is_told(wrong, says):
    exercise = exercise_of(halved, lambda rng: [(torch.tensor([1.0, 2.0, 5.0]),)])
    assert says in judge(exercise, wrong).message
