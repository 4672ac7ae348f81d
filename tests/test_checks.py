"""The checks: mistakes are named, and whatever is right is accepted."""

import inspect
import random
import textwrap
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.checks.compare import convert, differences, snapshot, types
from helpers.checks.core import judge
from helpers.checks.edits import compiled
from helpers.checks.exercise import Card, Case, Exercise, exercises
from helpers.exercises.observing import gradient

EXERCISES = exercises()


def wrong_version(name, function, message):
    """A mistake that is a function, as a test can make one."""
    return SimpleNamespace(name=name, function=function, message=message, spellings=[])


def written(reference, text):
    """What somebody wrote in place of `reference`: the body of the function, or all of it."""
    if not text.startswith(("def ", "class ")):
        head = f"def {reference.__name__}{inspect.signature(reference)}:\n"
        text = head + textwrap.indent(text, "    ") + "\n"
    return compiled(reference, text, "an answer")


# --- Exercises like those of later lessons, to try the framework on -------------------------------

CARD = Card("Title", "what `f` is", "why", difficulty=1, minutes=1)


def exercise_of(reference, cases, **settings):
    """`cases(rng)` gives cases, or their arguments alone."""

    def whole(rng):
        return [each if isinstance(each, Case) else Case(each) for each in cases(rng)]

    return Exercise("99.1", "99_test", reference, CARD, ("a", "b"), whole, **settings)


def double(x):
    return 2 * x


def double_cases(rng):
    yield Case((np.array([1.0]),), note="one number")
    yield Case((np.array([1.0, -2.0, 3.0]),))
    yield Case((rng.normal(size=(4, 2)),))


DOUBLE = exercise_of(double, double_cases)


def actor_loss(log_probs, advantages):
    return -(log_probs * advantages.detach()).mean()


def loss_and_gradients(function, log_probs, advantages):
    loss = function(log_probs, advantages)
    return {
        "loss": loss,
        "gradient to the log-probabilities": gradient(loss, log_probs),
        "gradient to the advantages": gradient(loss, advantages),
    }


def loss_cases(rng):
    for size in (1, 5):
        log_probs = torch.tensor(rng.normal(size=size), dtype=torch.float32, requires_grad=True)
        advantages = torch.tensor(rng.normal(size=size), dtype=torch.float32, requires_grad=True)
        yield log_probs, advantages


LOSS = exercise_of(
    actor_loss,
    loss_cases,
    observe=loss_and_gradients,
    mistakes=[
        wrong_version("kept", lambda lp, adv: -(lp * adv).mean(), "Detach the advantages."),
    ],
)


# --- What passes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: (2 * x).tolist(),
        lambda x: [torch.tensor(2 * row) for row in x],
        lambda x: 2 * torch.tensor(x, dtype=torch.float32),
    ],
)
def test_the_type_of_an_output_does_not_matter(answer):
    result = judge(DOUBLE, answer)
    assert result.passed, str(result)
    output = result.version(np.array([1.0, 2.0]))
    assert isinstance(output, np.ndarray)
    np.testing.assert_allclose(output, [2, 4])


def test_a_right_function_comes_back_itself():
    def mine(x):
        return x * 2

    assert judge(DOUBLE, mine).version is mine


def test_arrays_become_tensors_and_lists_of_tensors_keep_their_gradient():
    in_torch = exercise_of(
        lambda x: 2 * x, lambda rng: [(torch.tensor([1.0, 2.0], requires_grad=True),)]
    )
    version = judge(in_torch, lambda x: [2 * entry for entry in x]).version
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    version(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    detached = judge(in_torch, lambda x: 2 * x.detach().numpy())
    assert detached.diagnosis == "no gradient"
    assert "The numbers are right" in detached.message

    two = exercise_of(
        lambda x: {"first": 2 * x, "second": 3 * x},
        lambda rng: [(torch.tensor([1.0, 2.0], requires_grad=True),)],
    )
    wrong = judge(two, lambda x: {"first": (2 * x).detach(), "second": 4 * x})
    assert wrong.diagnosis == "no gradient"
    assert "numbers are right" not in wrong.message

    plain = exercise_of(lambda x: 2 * x, lambda rng: [(torch.tensor([1.0, 2.0]),)])
    version = judge(plain, lambda x: 2.0 * x.double().numpy()).version
    assert version(torch.ones(2)).dtype == torch.float32


def test_tuples_named_tuples_and_dataclasses():
    class Pair(NamedTuple):
        low: np.ndarray
        high: np.ndarray

    both = exercise_of(lambda x: (x, x + 1), double_cases)
    assert judge(both, lambda x: [x, x + 1]).passed
    assert judge(both, lambda x: Pair(x, x + 1)).passed
    assert judge(both, lambda x: np.stack([x, x + 1])).passed
    version = judge(both, lambda x: (x.tolist(), x + 1)).version
    assert all(isinstance(part, np.ndarray) for part in version(np.ones(2)))
    result = judge(both, lambda x: (x, x + 2))
    assert "second of the two outputs" in result.message

    @dataclass
    class Named:
        low: float

    named = exercise_of(lambda x: {"low": x}, lambda rng: [(1.5,)])
    assert judge(named, lambda x: Named(x)).passed


def test_masks_come_back_as_masks():
    mask = exercise_of(lambda x: x > 0, double_cases)
    version = judge(mask, lambda x: (x > 0).astype(int)).version
    assert version(np.array([1.0, -1.0])).dtype == bool


def test_an_error_can_be_the_right_answer():
    def strict(x):
        if x < 0:
            raise ValueError("x must not be negative")
        return x

    exercise = exercise_of(strict, lambda rng: [(1.0,), (-1.0,)])
    assert judge(exercise, lambda x: strict(x)).passed
    assert judge(exercise, lambda x: x).diagnosis == "no error"


def test_where_the_reference_always_raises_nothing_is_right():
    """Any answer that raises would be like it."""

    def broken(x):
        raise ValueError("not here")

    with pytest.raises(RuntimeError, match=r"99\.1 does not work here .*not here"):
        judge(exercise_of(broken, double_cases), broken)


def test_a_check_leaves_the_notebooks_random_numbers_alone():
    def drawing(x):
        random.random(), np.random.rand(), torch.rand(1)  # noqa: NPY002
        return 2 * x

    def following():
        return random.random(), np.random.rand(), torch.rand(1).item()  # noqa: NPY002

    random.seed(0), np.random.seed(0), torch.manual_seed(0)  # noqa: NPY002
    expected = following()
    random.seed(0), np.random.seed(0), torch.manual_seed(0)  # noqa: NPY002
    assert judge(DOUBLE, drawing).passed
    assert following() == expected


# --- Comparing ------------------------------------------------------------------------------------

ARRAYS = hnp.arrays(
    np.float64,
    hnp.array_shapes(max_dims=3, max_side=4),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)
quick = settings(max_examples=60, deadline=None)


def kinds(want, have):
    return [difference.kind for difference in differences(snapshot(want), snapshot(have))]


@quick
@given(ARRAYS)
def test_the_same_numbers_agree_in_every_type(array):
    versions = [
        array,
        array.tolist(),
        torch.tensor(array),
        array.astype(np.float32),
        torch.tensor(array, dtype=torch.float32),
        [torch.tensor(row) for row in array],
    ]
    for want in versions[:1] + versions[2:3]:
        for have in versions:
            assert kinds(want, have) == []
            changed = convert(have, snapshot(want))
            assert types(snapshot(want)) == types(snapshot(changed))
            assert kinds(want, changed) == []


@quick
@given(ARRAYS, st.data())
def test_one_wrong_entry_is_found(array, data):
    place = data.draw(st.tuples(*(st.integers(0, side - 1) for side in array.shape)))
    scale = max(1.0, np.abs(array).max())
    changed = array.copy()
    changed[place] += data.draw(st.sampled_from([-1, 1])) * 1e-3 * scale
    assert kinds(array, changed) == ["value"]
    changed[place] = np.nan
    assert kinds(array, changed) == ["nan"]
    assert kinds(changed, changed) == []


@quick
@given(ARRAYS)
def test_another_shape_is_found(array):
    assert kinds(array, array[None]) == ["reshaped"]
    assert kinds(array, np.append(array.ravel(), 1.0)) == ["shape"]
    assert kinds({"part": array}, {"other": array}) == ["type"]
    assert kinds((array, "text"), (array, "texts")) == ["value"]
    assert kinds((array, 1.0), (array,)) == ["type"]


def test_no_gradient_agrees_with_a_gradient_of_zeros_but_a_missing_output_does_not():
    zeros = torch.zeros(3)
    assert kinds({"gradient": None}, {"gradient": zeros}) == []
    assert kinds({"gradient": None}, {"gradient": zeros + 1}) == ["unexpected"]
    assert kinds({"gradient": zeros}, {"gradient": None}) == ["none"]
    assert kinds(np.zeros(3), None) == ["none"]


def test_special_values():
    inf = np.array([np.inf, -np.inf, 1.0])
    assert kinds(inf, inf.copy()) == []
    assert kinds(inf, -inf) == ["value"]
    assert kinds(np.array([1.0]), np.array([np.inf])) == ["value"]
    assert kinds(np.zeros((0, 2)), np.zeros((0, 2))) == []
    assert kinds(np.zeros(2), np.zeros(0)) == ["shape"]
    assert kinds(1.0, np.float32(1.0)) == []
    assert kinds(1.0, torch.tensor(1.0)) == []
    assert kinds(True, np.bool_(True)) == []
    assert kinds(torch.float32, torch.float32) == []
    assert kinds(torch.ones(2, dtype=torch.bfloat16), [1, 1]) == []
    assert kinds(np.ones(2), ["one", "two"]) == ["type"]
    assert kinds(np.ones(2), object()) == ["type"]
    assert kinds(np.ones(2), [10**400, 1]) == ["type"]
