"""What a verdict adds to a diagnosis: facts of the source, and what was seen line by line."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from test_checks import LOSS, double, double_cases, exercise_of, wrong_version

from helpers.checks.core import judge
from helpers.checks.exercise import Case, Property
from helpers.exercises.observing import gradient
from helpers.exercises.properties import no_mutation


def careful(reference, cases, **settings):
    """An exercise whose function may not change what it is given."""
    tests = no_mutation(cases).items()
    kept = [Property(name, test, "Work on a copy.") for name, test in tests]
    return exercise_of(reference, cases, properties=kept, **settings)


# --- Which argument was changed, and in which line ------------------------------------------------


def weighted(values, weights):
    return values * weights


def weighted_cases(rng):
    yield Case((np.array([2.0]), np.array([1.0])), note="a weight of 1 changes nothing")
    yield np.array([1.0, 2.0]), np.array([3.0, 4.0])


def in_place(values, weights):
    result = values
    # A comment, and another name for the same array.
    result *= weights
    return result


def by_out(values, weights):
    return np.multiply(values, weights, out=weights)


def by_item(values, weights):
    result = values * weights
    for i in range(len(weights)):
        weights[i] = 0
    return result


def over_two_lines(values, weights):
    weights.sort()
    result = np.multiply(
        values[::-1].copy()[::-1],
        weights,
    )
    values.fill(0)
    return result


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (in_place, "`values` is changed in `result *= weights`."),
        (
            by_out,
            "`weights` is changed in `return np.multiply(values, weights, out=weights)`.",
        ),
        (by_item, "`weights` is changed in `weights[i] = 0`."),
        (over_two_lines, "`values` is changed in `values.fill(0)`."),
    ],
)
def test_a_changed_argument_is_named_with_its_line(function, says):
    result = judge(careful(weighted, weighted_cases), function)
    assert result.diagnosis == "changes its inputs"
    assert result.message == f"Work on a copy. {says}"


class Pair(NamedTuple):
    """A batch of two columns."""

    reward: torch.Tensor
    next_q: torch.Tensor


def target(batch, gamma):
    return batch.reward + gamma * batch.next_q


def target_cases(rng):
    yield Pair(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])), 0.9


def target_in_place(batch, gamma):
    return batch.reward.add_(gamma * batch.next_q)


def cuts_off(log_probs, advantages):
    advantages.detach_()
    return -(log_probs * advantages).mean()


def test_of_a_batch_the_column_is_named():
    said = judge(careful(target, target_cases), target_in_place).message
    assert "`batch.reward` is changed in `return batch.reward.add_(gamma" in said


def test_a_tensor_that_lost_its_gradient_was_changed():
    kept = careful(LOSS.reference, LOSS.cases)
    said = judge(kept, cuts_off).message
    assert "`advantages` is changed in `advantages.detach_()`." in said


def test_it_is_said_beside_a_mistake_that_has_a_name():
    known = wrong_version("in place", in_place, "Copy first.")
    result = judge(careful(weighted, weighted_cases, mistakes=[known]), in_place)
    assert result.diagnosis == "in place"
    assert result.message.startswith("Copy first. `values` is changed")


def test_where_the_source_is_not_known_nothing_is_added():
    result = judge(careful(double, double_cases), eval("lambda x: x.__imul__(2)"))
    assert result.message == "Work on a copy."


# --- Lines that do nothing ------------------------------------------------------------------------


def bare_detach(log_probs, advantages):
    advantages.detach()
    return -(log_probs * advantages).mean()


def renamed_under_no_grad(log_probs, advantages):
    with torch.no_grad():
        weights = advantages
    return -(log_probs * weights).mean()


def computed_under_no_grad(log_probs, advantages):
    with torch.no_grad():
        weights = advantages + 1
    return -(log_probs * weights).mean()


def compared(log_probs, advantages):
    advantages == advantages.detach()  # noqa: B015
    return -(log_probs * advantages).mean()


def dropped(log_probs, advantages):
    torch.clamp(advantages, -1, 1)
    return -(log_probs * advantages).mean()


def subtracted(log_probs, advantages):
    advantages - advantages.mean()
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
        (bare_detach, "`advantages.detach()` has no effect: it returns something new"),
        (renamed_under_no_grad, "`weights = advantages` computes nothing"),
        (compared, "has no effect: `==` compares"),
        (dropped, "`torch.clamp(advantages, -1, 1)` has no effect"),
        (subtracted, "`advantages - advantages.mean()` has no effect: its result"),
    ],
)
def test_a_line_without_effect_is_told(function, says):
    assert says in judge(LOSS, function).message


@pytest.mark.parametrize("function", [prints_and_appends, computed_under_no_grad])
def test_lines_with_an_effect_are_left_alone(function):
    said = judge(LOSS, function)
    assert not said.passed
    assert "changes nothing" not in said.message
    assert "computes nothing" not in said.message


# --- An optimiser's step --------------------------------------------------------------------------


def descend(start):
    """One step down x squared, the gradient no longer than 1."""
    x = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    x.square().sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    optimizer.step()
    return x.detach()


def descend_cases(rng):
    yield (torch.tensor([3.0, -2.0]),)


def clips_first(start):
    x = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    x.square().sum().backward()
    optimizer.step()
    return x.detach()


def never_clips(start):
    return start - 0.2 * start


def clears_late(start):
    x = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1)
    x.square().sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    optimizer.zero_grad()
    optimizer.step()
    return x.detach()


def steps_first(start):
    x = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    optimizer.step()
    x.square().sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    return x.detach()


def never_steps(start):
    x = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    x.square().sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    optimizer.step  # noqa: B018
    return x.detach()


def two_losses(start):
    x, y = (start.clone().requires_grad_() for _ in range(2))
    optimizer, other = torch.optim.SGD([x], lr=0.1), torch.optim.SGD([y], lr=0.1)
    x.square().sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0)
    optimizer.step()
    y.square().sum().backward()
    optimizer.zero_grad()
    other.step()
    return 3 * x.detach() - 2.3 * y.detach().square()


def test_two_updates_side_by_side_are_left_alone():
    said = judge(exercise_of(descend, descend_cases), two_losses)
    assert not said.passed
    assert "backward" not in said.message


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (clips_first, "Clip the gradient after `backward()`"),
        (clears_late, "`zero_grad()` clears what `backward()` has just computed"),
        (steps_first, "step after `backward()`"),
        (never_steps, "`optimizer.step` has no effect: the brackets of the call are missing."),
    ],
)
def test_the_order_of_an_update_is_told(function, says):
    known = wrong_version("not clipped", never_clips, "It is not clipped.")
    exercise = exercise_of(descend, descend_cases, mistakes=[known])
    assert judge(exercise, descend).passed
    assert says in judge(exercise, function).message


# --- Names, numbers, copies, matrices -------------------------------------------------------------


def clipped(values, clip_range):
    return np.clip(values, -clip_range, clip_range) ** 3 + values


def clipped_cases(rng):
    yield np.array([1.0, -0.1, 4.0]), 0.2
    yield np.array([1.0, -0.3, 0.2]), 0.3
    yield Case((np.array([5.0, -0.1]), 0.5), note="a wide range")


def always_a_fifth(values, clip_range):
    low, high = -0.2, 0.2
    return np.clip(values, low, high) ** 3 + values


def not_used(values, clip_range):
    near = np.clip(values, -clip_range, clip_range)  # noqa: F841
    return 2 * values + clip_range * values.mean() - 0.7


def test_a_number_that_stands_for_an_argument_is_told():
    result = judge(exercise_of(clipped, clipped_cases), always_a_fifth)
    assert result.diagnosis is None
    assert "only where `clip_range` is not 0.2" in result.message


def test_a_name_that_is_never_used_is_told():
    said = judge(exercise_of(clipped, clipped_cases), not_used).message
    assert "`near` is computed, in `near = np.clip(values, -clip_range, clip_range)`" in said
    assert "written into your code" not in said


def copied(log_probs, advantages):
    return -(torch.tensor(log_probs) * advantages.detach()).mean()


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_a_copy_of_the_numbers_is_told_beside_a_name():
    def observe(function, log_probs, advantages):
        loss = function(log_probs, advantages)
        return {"loss": loss, "gradient to the log-probabilities": gradient(loss, log_probs)}

    cut = wrong_version("cut", lambda lp, adv: -(lp.detach() * adv.detach()).mean(), "No way.")
    exercise = exercise_of(LOSS.reference, LOSS.cases, observe=observe, mistakes=[cut])
    result = judge(exercise, copied)
    assert result.diagnosis == "cut"
    assert result.message.startswith("No way. `torch.tensor` copies the numbers")


def entry_by_entry(log_probs, advantages):
    total = 0.0
    for one, weight in zip(log_probs.tolist(), advantages, strict=True):
        total -= one * weight.item() / len(advantages)
    return torch.tensor(total)


def test_of_several_copies_the_first_is_told():
    cut = wrong_version("cut", lambda lp, adv: -(lp.detach() * adv.detach()).mean(), "No way.")
    exercise = exercise_of(LOSS.reference, LOSS.cases, observe=LOSS.observe, mistakes=[cut])
    said = judge(exercise, entry_by_entry).message
    assert "`.tolist` copies the numbers, and no gradient flows through the copy: `for one" in said


def first_below(rows, bound):
    for row in rows:
        for x in row:
            if x < bound:
                return 1.7 * x + 0.3
    return bound


def first_below_cases(rng):
    yield np.array([[3.0, 0.1], [0.2, 5.0]]), 0.5
    yield np.array([[3.0, 0.4], [4.0, 5.0]]), 0.5


def first_in_each_row(rows, bound):
    found = bound
    for row in rows:
        for x in row:
            if x < bound:
                found = 1.9 * x + 0.4
                break
    return found


def only_the_first(rows, bound):
    found, done = bound, False
    for row in rows:
        for x in row:
            if x < bound:
                found, done = 1.9 * x + 0.4, True
                break
        if done:
            break
    return found


def test_where_the_outer_loop_ends_as_well_nothing_is_told():
    assert "break" not in judge(exercise_of(first_below, first_below_cases), only_the_first).message


def test_what_a_break_leaves_is_told():
    said = judge(exercise_of(first_below, first_below_cases), first_in_each_row).message
    assert "Your `break` ends only the loop `for x in row:`; the one around it" in said


def squared_error(values, returns):
    return ((values - returns) ** 2).mean()


def error_cases(rng):
    yield rng.normal(size=1), rng.normal(size=1)
    yield rng.normal(size=5), rng.normal(size=5)


def every_pair(values, returns):
    difference = values[:, None] - returns
    bonus = np.log1p(np.abs(returns).sum()) - np.log1p(np.abs(returns).sum() + 0.3)
    return (difference**2).mean() + bonus


def test_a_matrix_of_all_rows_with_all_rows_is_told_where_a_mean_hides_it():
    said = judge(exercise_of(squared_error, error_cases), every_pair).message
    assert "After `difference = values[:, None] - returns` the shape of `difference` is" in said
    assert "`(5, 5)`: every row was combined with every other." in said


def for_each_row(values, returns):
    if len(values) == 1:
        return ((values - returns) ** 2).mean()
    return (values - returns) ** 2


def as_a_column(x):
    first = np.asarray(x)
    return np.array([[2 * each] for each in first.tolist()])


def test_what_would_make_the_shape_right():
    said = judge(exercise_of(squared_error, error_cases), for_each_row)
    assert said.diagnosis == "shape"
    assert (
        "Its mean is the expected number: `.mean()`." in said.message or "Look at" in said.message
    )
    column = exercise_of(double, lambda rng: [(np.array([1.0, 2.0, 4.0]),)])
    assert "`.squeeze(-1)` removes it" in judge(column, as_a_column).message
    table = exercise_of(double, lambda rng: [(rng.normal(size=(2, 3)),)])
    assert "`.T` exchanges them back" in judge(table, lambda x: 2 * x.T).message


def mean_squared_loss(values, returns):
    return ((values - returns) ** 2).mean()


def of_classes(values, returns):
    return torch.nn.functional.cross_entropy(values, returns)


def test_a_loss_of_classes_is_told():
    cases = [tuple(torch.tensor(row) for row in ([1.0, 2.0], [0.5, 3.0]))]
    loss = exercise_of(mean_squared_loss, lambda rng: cases)
    assert "`cross_entropy` is for telling classes apart" in judge(loss, of_classes).message
    assert "classes" not in judge(loss, lambda values, returns: (values - returns).max()).message


def test_numbers_next_to_zero_are_not_called_zero():
    exercise = exercise_of(double, lambda rng: [(np.array([1.0, 2.0]),), (np.array([3.0]),)])
    assert judge(exercise, lambda x: 2 * x / (1e8 + x)).diagnosis != "all zeros"
    assert judge(exercise, lambda x: 0 * x).diagnosis == "all zeros"


class Walk:
    place = 0

    def step(self):
        return self.place + 1


class Resets:
    def reset(self):
        self.here = 0

    def step(self):
        return self.here + 1


def test_of_an_attribute_that_is_set_too_late_it_says_where():
    exercise = exercise_of(Walk, lambda rng: [()], observe=lambda kind: kind().step())
    assert "set in `reset`, but not before this line" in judge(exercise, Resets).message
