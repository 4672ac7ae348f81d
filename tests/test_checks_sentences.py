"""What a check says of mistakes and errors that any function may have."""

import numpy as np
import pytest
import torch
from test_checks import exercise_of, wrong_version
from torch import nn

from helpers.checks.advice import both
from helpers.checks.core import judge
from helpers.exercises.observing import gradient


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


def a_module_as_a_function(x, by):
    return nn.ReLU(torch.tensor(x)) * by + 1


def a_module_without_a_call(x, by):
    positive = nn.Softplus(torch.tensor(x))
    return torch.relu(positive)


def a_loss_as_a_function(x, by):
    return nn.HuberLoss(torch.tensor(x), torch.tensor(x))


def a_list_asked_by_name(x, by):
    return x["reward"]


def a_number_of_a_tensor(x, by):
    return torch.maximum(torch.tensor(x), 0) * by


def places_in_a_tuple(x, by):
    return np.where(np.array(x)) + 1


def both_of_a_pair(x, by):
    return 1.5 * torch.tensor([x]).max(dim=1)


def a_mask_of_numbers(x, by):
    return torch.tensor(x)[torch.tensor([1.0, 0.0])] * by


def while_for_many(x, by):
    x = np.array(x)
    while x < 3:
        x = x * by
    return x


def stops_later(x, by):
    return [entry * by + 1.25 + 10 / (x[0] - 0.5) for entry in x]


def joins_a_number(x, by):
    return np.concatenate([np.array(x), by])


def changes_what_is_not_set(x, by):
    for entry in x:
        total += entry * by  # noqa: F821, F841
    return x


def its_own_error(x, by):
    if by > 0 or len(x) < 9 or by == x:
        raise ValueError("by is too small")
    return x


def one_entry_too_far(x, by):
    return [x[7] - x[8] ** by]


def by_another_ones_weights(x, by):
    weight, other = (torch.tensor(by, requires_grad=True) for _ in range(2))
    return torch.autograd.grad((torch.tensor(x) * weight).sum(), other)


def a_pair_for_a_tensor(x, by):
    return torch.abs((torch.tensor(x), torch.tensor(x)))


def a_name_of_another_program(x, by):
    return [entry * gamma + 1 for entry in x]  # noqa: F821


def a_slip_in_a_name(x, by):
    product = [entry * by for entry in x]
    return prodct + product[0]  # noqa: F821


def calls_an_array(x, by):
    return np.array(x)(0) * by


def a_float_as_an_index(x, by):
    return np.array(x)[by / 2]


def appends_two(x, by):
    result = []
    result.append(x[0], by)
    return result


def loops_over_a_range_of_a_list(x, by):
    return [x[i] * by + 1 for i in range(x)]


def numpys_sum_of_a_tensor(x, by):
    return np.sum(torch.tensor(x), axis=0, dtype=float) * by


def a_slip_in_a_module(x, by):
    return torch.tensr(x) * by + 1


def a_letter_too_few(x, by):
    return [entri * by + 1 for entry in x]  # noqa: F821


def a_letter_too_few_of_a_tensor(x, by):
    return torch.tensor(x).unsqeeze(0)


def other_capitals(x, by):
    return nn.relu()(torch.tensor(x))


def numpys_function_as_a_method(x, by):
    return np.array(x).append(by)


def less_a_mask(x, by):
    return -(np.array(x) > 0)


def counts_without_a_range(x, by):
    return [x[i] * by + 1 for i in reversed(len(x))]


def a_class_for_an_object(x, by):
    return nn.Tanh.modules()


def too_wide(x, by):
    return nn.Linear(5, 1)(torch.ones(2, 4))


def a_network_for_its_output(x, by):
    return nn.functional.mse_loss(Doubles(), torch.tensor(x))


class Doubles(nn.Module):
    def forward(self, x):
        return 2 * x


def two_unlike_things(x, by):
    return "a", by


SENTENCES = {
    calls_an_array: "entries are taken with square ones, `x[...]`",
    a_float_as_an_index: "Is it a float, or a pair that is not unpacked?",
    appends_two: "A pair needs brackets of its own",
    loops_over_a_range_of_a_list: "`range` takes a number, such as the list's `len`.",
    numpys_sum_of_a_tensor: "for a tensor use its own",
    a_slip_in_a_module: "Did you mean `torch.tensor`?",
    changes_what_is_not_set: "`total` has no value in this function before this line",
    its_own_error: "Your own `raise` stops it here: look at its condition.",
    one_entry_too_far: "The list has fewer entries than that",
    by_another_ones_weights: "did you pass another network's optimiser",
    a_pair_for_a_tensor: "unpack them (`a, b = ...`)",
    a_name_of_another_program: "Your function is given `x` and `by` alone.",
    a_slip_in_a_name: "Did you mean `product`?",
    two_unlike_things: "yours is a tuple or list of 2 parts",
    a_letter_too_few: "Did you mean `entry`?",
    a_letter_too_few_of_a_tensor: "Did you mean `.unsqueeze`?",
    other_capitals: "Did you mean `nn.ReLU`?",
    numpys_function_as_a_method: "`np.append` is a function, not a method",
    less_a_mask: "`~` turns booleans round",
    counts_without_a_range: "`reversed(range(n))` counts down",
    a_class_for_an_object: "A class stands where an object of it is needed",
    too_wide: "Each row of the first has 4 numbers, but the second",
    a_network_for_its_output: "A `Doubles` is no tensor",
    joins_a_number: "a number has none (`[x]` gives it one)",
    a_module_as_a_function: "`nn.ReLU` is a module: it is made first and then called",
    a_module_without_a_call: "`nn.Softplus` is a module: it is made first and then called",
    a_loss_as_a_function: "`nn.HuberLoss` is a module: it is made first and then called",
    a_list_asked_by_name: "the parts of a batch are attributes",
    a_number_of_a_tensor: "`x.clamp(min=0)` compares a tensor with one",
    places_in_a_tuple: "What stands before the `+` is a tuple",
    both_of_a_pair: "take the one you need",
    a_mask_of_numbers: "`> 0` turns the numbers 0.0 and 1.0 into a mask",
    while_for_many: "`if`, `while`, `and`",
    stops_later: "On another case it stops with `ZeroDivisionError",
    returns_at_once: "`return result` is inside a loop, so the function ends in the loop's first",
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


def every_row_meets_every_other(x, by):
    x = np.array(x)
    return (x[:, None] * by + 1) * np.ones(len(x))


def a_table_of_something_else(x, by):
    return np.outer(x, x) * by


@pytest.mark.parametrize(
    ("wrong", "said"), [(every_row_meets_every_other, True), (a_table_of_something_else, False)]
)
def test_rows_that_were_broadcast_have_met_themselves(wrong, said):
    exercise = exercise_of(scaled, lambda rng: [([1.5, 2.5, -0.7], 3.0), ([0.3, 4.1], 2.0)])
    message = judge(exercise, wrong).message
    assert "shape" in message
    assert ("were broadcast against each other" in message) == said


def takes_what_comes(*given):
    return [3 * entry**2 - 0.3 for entry in given[0]]


def test_arguments_under_another_name_are_not_asked_for():
    assert "never uses" not in judge(exercise_of(scaled, scaled_cases), takes_what_comes).message


class ScalesWithoutSelf:
    def __init__(self, by, plus):
        self.by, self.plus = by, plus

    def scale(self, x):
        return [entry * by + self.plus for entry in x]  # noqa: F821


class KeepsAPlainName:
    def __init__(self, by, plus):
        self.by = by
        offset = plus  # noqa: F841

    def scale(self, x):
        return [self.by(entry) + self.offset for entry in x]


def test_what_is_kept_in_the_object_needs_self():
    def said(kind):
        def observe(kind, x):
            return kind(lambda entry: 2 * entry, 1.0).scale(x)

        exercise = exercise_of(Scaler, lambda rng: [([1.5, 2.5],)], observe=observe)
        return judge(exercise, kind).message

    assert "write `self.by`" in said(ScalesWithoutSelf)
    assert "write `self.offset = ...`" in said(KeepsAPlainName)


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


class ScalerWithoutSelf:
    def __init__(self, by, plus):
        self.by, self.plus = by, plus

    def scale(self, x):
        return [self.by(entry) + plus for entry in x]  # noqa: F821


class ScalerWithoutACall(ScalerWithoutPlus):
    def __init__(self, by, plus):
        super.__init__()


def test_what_is_called_is_used():
    """Only `plus` is never looked at."""

    def observe(kind, x):
        return kind(lambda entry: 3 * entry, 1.25).scale(x)

    exercise = exercise_of(Scaler, lambda rng: [([1.0, 2.5],), ([0.3],)], observe=observe)
    assert "Your version never uses `self.plus`." in judge(exercise, ScalerWithoutPlus).message
    assert "`super().__init__()`" in judge(exercise, ScalerWithoutACall).message
    message = judge(exercise, ScalerWithoutSelf).message
    assert "What belongs to the object needs `self.`: write `self.plus`." in message


def one_with_gradient(rng):
    return [(torch.tensor([1.0, 2.5], requires_grad=True),)]


def doubled(x):
    return 2 * x


def cut_in_two_places(x):
    kept = x.detach()
    return kept + x.data


def cut_once(x):
    return 2 * x.float().detach()


def cut_by_a_function(x):
    return 2 * cut_once(x) / 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (cut_once, "`detach` lets none through, in `return 2 * x.float().detach()`"),
        (cut_in_two_places, "output: `detach` and `data` let none through."),
        (cut_by_a_function, "something cuts it off, such as"),
    ],
)
def test_where_a_gradient_stops(wrong, says):
    assert says in judge(exercise_of(doubled, one_with_gradient), wrong).message


def test_what_the_reference_does_too_is_not_said_to_stop_a_gradient():
    def doubled_beside_a_target(x):
        return 2 * x + 0 * x.detach()

    def switched_off(x):
        with torch.set_grad_enabled(False):
            return 2 * x + 0 * x.detach()

    exercise = exercise_of(doubled_beside_a_target, one_with_gradient)
    assert "something cuts it off, such as" in judge(exercise, switched_off).message


def layers(n) -> nn.Module:
    return nn.Linear(n, 1)


class Things:
    def __init__(self, n):
        self.bias = n


def layers_in_a_tuple(n):
    return (nn.Linear(n, 1),)


def test_another_type_than_a_check_can_use_is_named():
    def observe(function, n):
        return next(function(n).parameters())

    exercise = exercise_of(layers, lambda rng: [(2,), (3,)], observe=observe)
    said = judge(exercise, layers_in_a_tuple).message
    assert "A `Module`, or a part of it, is needed where yours has a `tuple`. A comma" in said
    anything = exercise_of(Things, lambda rng: [(2,)], observe=lambda kind, n: kind(n).bias)
    assert "needed" not in judge(anything, layers_in_a_tuple).message


def test_no_gradient_of_a_list_is_asked_for():
    def observe(function, x):
        output = function(x)
        return {"output": output, "gradient to x": gradient(output, x)}

    def in_a_list(x):
        return [2 * entry for entry in x]

    exercise = exercise_of(doubled, one_with_gradient, observe=observe)
    assert "`torch.stack` joins a list" in judge(exercise, in_a_list).message


def returns_within_the_loop(x, by):
    for _ in x:
        return [entry * by for entry in x]


def test_a_return_in_a_loop_is_told_beside_a_name():
    forgets = wrong_version("no 1", lambda x, by: [entry * by for entry in x], "You forgot 1.")
    exercise = exercise_of(scaled, scaled_cases, mistakes=[forgets])
    said = judge(exercise, returns_within_the_loop).message
    assert said.startswith("You forgot 1. `return [entry")
    assert "is inside a loop" in said


def test_an_error_on_another_case_is_told_before_what_differs():
    message = judge(exercise_of(scaled, scaled_cases), stops_later).message
    assert message.startswith("On another case it stops with")


def test_of_two_mistakes_neither_is_said_to_be_right_but_for_it():
    said = both("One.", "The numbers are right, but have shape `(B, 1)`.")
    assert said.endswith("Second: The numbers have shape `(B, 1)`.")
