"""What a check says of an answer: of errors, shapes, gradients, lines without effect."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from test_checks import DOUBLE, LOSS, double, exercise_of, written, wrong_version
from torch import nn

from helpers.checks.core import judge
from helpers.checks.exercise import Case
from helpers.exercises.observing import gradient


class Doubles(nn.Module):
    def forward(self, x):
        return 2 * x


class Pair(NamedTuple):
    obs: torch.Tensor
    reward: torch.Tensor


def helper(x):
    return 2 * x


def pairs(rng):
    for rows, columns in ((1, 2), (3, 4), (5, 2)):
        yield (Pair(torch.as_tensor(rng.normal(size=(rows, columns))), torch.zeros(rows)),)


def scaled(x, by):
    return [entry * by + 1 for entry in x]


def halved(x):
    return x / 2


def squares_of_rows(pair):
    return (pair.obs**2).sum(dim=1).mean()


def clipped(values, clip_range):
    return np.clip(values, -clip_range, clip_range) ** 3 + values


def clipped_cases(rng):
    yield np.array([1.0, -0.1, 4.0]), 0.2
    yield np.array([1.0, -0.3, 0.2]), 0.3
    yield Case((np.array([5.0, -0.1]), 0.5), note="a wide range")


SCALED = exercise_of(scaled, lambda rng: [([1.0, 2.5], 3.0), ([0.5, 4.0, -1.5], 1.5)])
HALVED = exercise_of(halved, lambda rng: [(torch.tensor([1.0, 2.0, 5.0]),)])
PAIR = exercise_of(squares_of_rows, pairs)
CLIPPED = exercise_of(clipped, clipped_cases)

# --- A function's body, and what is said of it ----------------------------------------------------

OF_SCALED = {  # of `x`, a list, and the number `by`
    "return np.array(x)(0) * by": "entries are taken with square ones, `x[...]`",
    "return np.array(x)[by / 2]": "Is it a float, or a pair that is not unpacked?",
    "result = []\nresult.append(x[0], by)": "A pair needs brackets of its own",
    "return [x[i] * by for i in range(x)]": "`range` takes a number, such as the list's `len`.",
    "return np.sum(torch.tensor(x), axis=0, dtype=float) * by": "for a tensor use its own",
    "return torch.tensr(x) * by + 1": "Did you mean `torch.tensor`?",
    "for entry in x:\n    total += entry * by": "`total` has no value in this function before",
    "if by > 0 or len(x) < 9 or by == x:\n    raise ValueError('by is too small')": (
        "Your own `raise` stops it here: look at its condition."
    ),
    "return [x[7] - x[8] ** by]": "The list has fewer entries than that",
    "weight, other = (torch.tensor(by, requires_grad=True) for _ in range(2))\n"
    "return torch.autograd.grad((torch.tensor(x) * weight).sum(), other)": (
        "did you pass another network's optimiser"
    ),
    "return torch.abs((torch.tensor(x), torch.tensor(x)))": "unpack them (`a, b = ...`)",
    "return [entry * gamma + 1 for entry in x]": "Your function is given `x` and `by` alone.",
    "product = [entry * by for entry in x]\nreturn prodct + product[0]": "Did you mean `product`?",
    "return 'a', by": "yours is a tuple or list of 2 parts",
    "return [entri * by + 1 for entry in x]": "Did you mean `entry`?",
    "return torch.tensor(x).unsqueze(0)": "Did you mean `.unsqueeze`?",
    "return nn.relu()(torch.tensor(x))": "Did you mean `nn.ReLU`?",
    "return np.array(x).append(by)": "`np.append` is a function, not a method",
    "return -(np.array(x) > 0)": "`~` turns booleans round",
    "return [x[i] * by for i in reversed(len(x))]": "`reversed(range(n))` counts down",
    "return nn.Tanh.modules()": "A class stands where an object of it is needed",
    "return nn.Linear(5, 1)(torch.ones(2, 4))": "Each row of the first has 4 numbers, but the sec",
    "return nn.functional.mse_loss(Doubles(), torch.tensor(x))": "A `Doubles` is no tensor",
    "return np.concatenate([np.array(x), by])": "a number has none (`[x]` gives it one)",
    "return nn.ReLU(torch.tensor(x)) * by + 1": "`nn.ReLU` is a module: it is made first and then",
    "positive = nn.Softplus(torch.tensor(x))\nreturn torch.relu(positive)": (
        "`nn.Softplus` is a module: it is made first and then called"
    ),
    "return nn.HuberLoss(torch.tensor(x), torch.tensor(x))": "`nn.HuberLoss` is a module: it is",
    "return x['reward']": "the parts of a batch are attributes",
    "return torch.maximum(torch.tensor(x), 0) * by": "`x.clamp(min=0)` compares a tensor with one",
    "return np.where(np.array(x)) + 1": "What stands before the `+` is a tuple",
    "return 1.5 * torch.tensor([x]).max(dim=1)": "take the one you need",
    "return torch.tensor(x)[torch.tensor([1.0, 0.0])] * by": "`> 0` turns the numbers 0.0 and 1.0",
    "x = np.array(x)\nwhile x < 3:\n    x = x * by\nreturn x": "`if`, `while`, `and`",
    "result = []\nfor entry in x:\n    result.append(entry * by + 1)\n    return result": (
        "`return result` is inside a loop, so the function ends in the loop's first"
    ),
    "return [3 * entry**2 - 0.3 for entry in x]": "Your version never uses `by`.",
    "return torch.tensor(x) ^ 2": "A power is `**` in Python",
    "return scaled(x, by)": "The function calls itself",
    "return torch.tensor(x).mean * by": "Brackets are missing",
    # The line of theirs, not of the function that it calls.
    "def plus(x):\n    return [entry + None for entry in x]\n\n\n"
    "def scaled(x, by):\n    return plus(x)": "at `return plus(x)` (line",
}
OF_HALVED = {  # of `x`, a tensor
    "return torch.pow(x.numpy(), 1.0)": "This function of torch takes tensors",
    "return ~x": "these are numbers: subtract",
    "return x > 1 & x < 3": "put each comparison in brackets",
    "x = x.clone().requires_grad_()\nreturn torch.autograd.grad(x**2, x)[0] / 4": (
        "take the sum or the mean first"
    ),
    "(x.sum() / 2).backward()": "No gradient reaches what it is taken of: something cuts it off",
    "x = x.clone().requires_grad_()\nloss = x.sum().detach()\nloss.backward()": (
        "taken of: `detach` lets none through, in `loss = x.sum().detach()`"
    ),
    "x = x.clone().requires_grad_()\nloss = (x**2).sum()\nloss.backward()\nloss.backward()": (
        "`retain_graph=True` in all but the last"
    ),
    "weight = torch.ones(3, requires_grad=True)\n"
    "return torch.autograd.grad((weight * x).sum(), x)[0]": (
        "Call `requires_grad_()` on what the gradient is taken for"
    ),
    # `validate_args`: importing stable_baselines3 turns this off for the whole process.
    "return torch.distributions.Normal(x, -0.69, validate_args=True).mean / 2": (
        "is this its logarithm?"
    ),
    "class Layer(nn.Module):\n    def __init__(self):\n        self.layer = nn.Linear(1, 1)\n\n\n"
    "def halved(x):\n    return Layer()": "`__init__` has to begin with `super().__init__()`",
}
OF_PAIR = {  # of a named tuple of `obs` and `reward`
    "return pair.helper(pair.obs)": "`helper` is a function, not a method",
    "return Pair(*pair).done": "A `Pair` has `obs` and `reward`.",
    "return pair.obs.numpy()[:, 3]": "Axis 1 has length 2 here, so the last index along it is 1",
    "if len(pair.reward) > 1:\n    total = pair.obs.sum()\nreturn total": (
        "It gets a value only on some paths"
    ),
    "return torch.cat([pair.obs[:, :1].squeeze(), pair.reward])": (
        "`squeeze()` without an axis drops every axis of length 1"
    ),
    "return torch.stack([row for row in pair.obs if len(pair.obs) > 1]).sum()": (
        "there is nothing to stack"
    ),
    "return np.random.default_rng(0).randn(3)": "`rng.standard_normal(shape)`",
    "return np.random.default_rng(0).standard_normal(*pair.obs.shape)": "A shape is one argument",
    "return np.random.default_rng(0).normal(0, 1, 3, dtype=np.float32)": "`.astype(np.float32)`",
    "return Doubles().detach()(pair.obs)": "A `Doubles` is no tensor",
    "nn.Linear(2, 1).weight.mul_(2)": "only under `torch.no_grad()`",
}
OF_DOUBLE = {  # of `x`, an array
    "weight = torch.ones(1, requires_grad=True)\nloss = (weight * weight).sum()\n"
    "with torch.no_grad():\n    weight += 1\n"
    "return torch.autograd.grad(loss, weight)[0].numpy() * x": (
        "compute each loss right before its own"
    ),
    "return torch.ones(1, requires_grad=True).numpy() * x": "compute with torch's functions",
}
LOST = "return -(log_probs * advantages).mean()"
OF_LOSS = {  # of `log_probs` and `advantages`; none of these lines detaches anything
    f"advantages.detach_\n{LOST}": "`advantages.detach_` has no effect: the brackets of the call",
    f"advantages.detach()\n{LOST}": "`advantages.detach()` has no effect: it returns something new",
    f"advantages == advantages.detach()\n{LOST}": "has no effect: `==` compares",
    f"torch.clamp(advantages, -1, 1)\n{LOST}": "`torch.clamp(advantages, -1, 1)` has no effect",
    f"advantages - advantages.mean()\n{LOST}": "`advantages - advantages.mean()` has no effect: it",
}
SENTENCES = [
    (exercise, text, says)
    for exercise, sentences in (
        (SCALED, OF_SCALED), (HALVED, OF_HALVED), (PAIR, OF_PAIR), (LOSS, OF_LOSS),
        (DOUBLE, OF_DOUBLE),
        (CLIPPED, {"near = np.clip(values, -clip_range, clip_range)\n"
                   "return 2 * values + clip_range * values.mean() - 0.7": (
            "`near` is computed, in `near = np.clip(values, -clip_range, clip_range)`"
        )}),
    )
    for text, says in sentences.items()
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "text", "says"), SENTENCES)
def test_what_an_answer_may_need_to_be_told(exercise, text, says):
    result = judge(exercise, written(exercise.reference, text))
    assert not result.passed
    assert says in result.message, result.message


def test_lines_with_an_effect_are_left_alone():
    text = "seen = []\nprint(advantages.shape)\nseen.append(advantages)\nadvantages.shape\n"
    said = judge(LOSS, written(LOSS.reference, f"{text}return -(log_probs * seen[0]).mean()"))
    assert not said.passed
    assert "no effect" not in said.message


def test_arguments_under_another_name_are_not_asked_for():
    text = "def scaled(*given):\n    return [3 * entry**2 - 0.3 for entry in given[0]]"
    assert "never uses" not in judge(SCALED, written(scaled, text)).message


def test_an_error_on_another_case_is_told_before_what_differs():
    text = "return [entry * by + 1.25 + 10 / (x[0] - 0.5) for entry in x]"
    message = judge(SCALED, written(scaled, text)).message
    assert message.startswith("On another case it stops with `ZeroDivisionError")


def test_a_return_in_a_loop_is_told_beside_a_name():
    forgets = wrong_version("no 1", lambda x, by: [entry * by for entry in x], "You forgot 1.")
    exercise = exercise_of(scaled, SCALED.cases, mistakes=[forgets])
    text = "for _ in x:\n    return [entry * by for entry in x]"
    said = judge(exercise, written(scaled, text)).message
    assert said.startswith("You forgot 1. `return [entry")
    assert "is inside a loop" in said


# --- Classes --------------------------------------------------------------------------------------


class Scaler:
    def __init__(self, by, plus):
        self.by, self.plus = by, plus

    def scale(self, x):
        return [self.by(entry) + self.plus for entry in x]


TEXT = (
    "class Scaler:\n    def __init__(self, by, plus):\n        {}\n\n    def {}:\n        return {}"
)
KEPT = "self.by, self.plus = by, plus"
SCALERS = {
    TEXT.format(KEPT, "scale(x)", "x"): "The exercise has `scale(self, x)`, yours begins with",
    "class Scaler:\n    def scale(self, x):\n        return x": "Your class has no `__init__`",
    TEXT.format(KEPT, "scale(self, x)", "[by(e) + self.plus for e in x]"): "write `self.by`",
    TEXT.format("self.by = by\n        offset = plus", "scale(self, x)",
                "[self.by(e) + self.offset for e in x]"): "write `self.offset = ...`",
    TEXT.format(KEPT, "scale(self, x)", "[self.by(e) * 1.37 - self.by(0.2) for e in x]"):
        "Your version never uses `self.plus`.",  # what is called is used
    TEXT.format("super.__init__()", "scale(self, x)", "x"): "`super().__init__()`",
    TEXT.format(KEPT, "scale(self, x)", "[self.by(e) + plus for e in x]"):
        "What belongs to the object needs `self.`: write `self.plus`.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), SCALERS.items())
def test_what_is_kept_in_an_object_needs_self(text, says):
    def observe(kind, x):
        return kind(lambda entry: 3 * entry, 1.25).scale(x)

    exercise = exercise_of(Scaler, lambda rng: [([1.0, 2.5],), ([0.3],)], observe=observe)
    message = judge(exercise, written(Scaler, text)).message
    assert says in message, message


# --- Gradients and types --------------------------------------------------------------------------


def doubled(x):
    return 2 * x


def doubled_beside_a_target(x):
    return 2 * x + 0 * x.detach()


def detached(x):
    return x.detach()


def one_with_gradient(rng):
    return [(torch.tensor([1.0, 2.5], requires_grad=True),)]


@pytest.mark.parametrize(
    ("reference", "text", "says"),
    [
        (doubled, "return 2 * x.float().detach()",
         "`detach` lets none through, in `return 2 * x.float().detach()`"),
        (doubled, "kept = x.detach()\nreturn kept + x.data",
         "output: `detach` and `data` let none through."),
        (doubled, "return 2 * detached(x)", "something cuts it off, such as"),
        # What the reference does too is not said to stop it.
        (doubled_beside_a_target,
         "with torch.set_grad_enabled(False):\n    return 2 * x + 0 * x.detach()",
         "something cuts it off, such as"),
    ],
)  # fmt: skip
def test_where_a_gradient_stops(reference, text, says):
    message = judge(exercise_of(reference, one_with_gradient), written(reference, text)).message
    assert says in message, message


def test_right_gradients_are_told_where_the_loss_is_another_number():
    right = "Its gradients are right"
    assert right in judge(LOSS, lambda lp, adv: 0.3 - (lp * adv.detach()).mean()).message
    assert right not in judge(LOSS, lambda lp, adv: -(lp**2 * adv.detach()).mean()).message
    assert right not in judge(DOUBLE, lambda x: x + 1).message


def test_no_gradient_of_a_list_is_asked_for():
    def observe(function, x):
        output = function(x)
        return {"output": output, "gradient to x": gradient(output, x)}

    exercise = exercise_of(doubled, one_with_gradient, observe=observe)
    wrong = written(doubled, "return [2 * entry for entry in x]")
    assert "`torch.stack` joins a list" in judge(exercise, wrong).message


def layers(n) -> nn.Module:
    return nn.Linear(n, 1)


class Things:
    def __init__(self, n):
        self.bias = n


def test_another_type_than_a_check_can_use_is_named():
    def observe(function, n):
        return next(function(n).parameters())

    exercise = exercise_of(layers, lambda rng: [(2,), (3,)], observe=observe)
    in_a_tuple = written(layers, "def layers(n):\n    return (nn.Linear(n, 1),)")
    said = judge(exercise, in_a_tuple).message
    assert "A `Module`, or a part of it, is needed where yours has a `tuple`. A comma" in said
    anything = exercise_of(Things, lambda rng: [(2,)], observe=lambda kind, n: kind(n).bias)
    assert "needed" not in judge(anything, in_a_tuple).message


# --- Shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = np.array(x)\nreturn (x[:, None] * by + 1) * np.ones(len(x))", True),
        ("return np.outer(x, x) * by", False),
    ],
)
def test_rows_that_were_broadcast_have_met_themselves(text, said):
    exercise = exercise_of(scaled, lambda rng: [([1.5, 2.5, -0.7], 3.0), ([0.3, 4.1], 2.0)])
    message = judge(exercise, written(scaled, text)).message
    assert "shape" in message
    assert ("were broadcast against each other" in message) == said


def test_an_axis_too_many_is_told():
    column = exercise_of(double, lambda rng: [(np.array([1.0, 2.0, 4.0]),)])
    message = judge(column, lambda x: np.array([[2 * each] for each in x.tolist()])).message
    assert "`.squeeze(-1)` removes it" in message


def test_beside_a_shape_an_error_on_another_case_is_told():
    cases = [(torch.ones(1, 1),), (torch.ones(2, 3),)]
    message = judge(exercise_of(lambda x: 2 * x, lambda rng: cases), lambda x: 2 * x.item()).message
    assert "has shape `()` instead of `(1, 1)`" in message
    assert "On another case it stops with `RuntimeError" in message
