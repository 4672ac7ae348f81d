"""A check's rules for a length too many or too few, for loops, and for names that are not there."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from test_checks import DOUBLE, LOSS, double, double_cases, exercise_of
from torch import nn

from helpers.algorithms.ddpg import QNetwork
from helpers.checks import grade
from helpers.checks.core import judge

# --- Off by a length ------------------------------------------------------------------------------


class Pair(NamedTuple):
    obs: torch.Tensor
    reward: torch.Tensor


def mean_square(table):
    return (table**2).mean()


def tables(rng):
    for shape in ((2, 3), (5, 4), (3, 2)):
        yield (rng.normal(size=shape),)


def squares_of_rows(pair):
    return (pair.obs**2).sum(dim=1).mean()


def pairs(rng):
    for rows, columns in ((1, 2), (3, 4), (5, 2)):
        yield (Pair(torch.as_tensor(rng.normal(size=(rows, columns))), torch.zeros(rows)),)


TABLE, PAIR = exercise_of(mean_square, tables), exercise_of(squares_of_rows, pairs)


@pytest.mark.parametrize(
    ("exercise", "wrong", "says"),
    [
        (
            TABLE,
            lambda x: (x**2).sum(),
            "too large as there are entries of `table`: did you take a sum",
        ),
        (TABLE, lambda x: (x**2).mean(axis=0).sum(), "too large as there are columns of `table`"),
        (TABLE, lambda x: (x**2).mean() / len(x), "too small as there are rows of `table`"),
        (PAIR, lambda p: (p.obs**2).sum(), "too large as there are rows of `pair.obs`"),
        (PAIR, lambda p: (p.obs**2).mean(), "too small as there are columns of `pair.obs`"),
    ],
)
def test_off_by_a_length_on_every_case(exercise, wrong, says):
    result = judge(exercise, wrong)
    assert result.diagnosis == "a length", str(result)
    assert says in result.message
    assert result.message.startswith("On every case the output is ")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: 2 * (x**2).mean(),  # the same number everywhere: a factor
        lambda x: (x**2).mean() * (3 if len(x) == 5 else 2 if len(x) == 3 else 1.5),
        lambda x: (x**2).mean() * (5 if len(x) == 5 else 1),  # on one case alone
        lambda x: -(x**2).sum(),
        lambda x: np.abs(x).mean(),
        lambda x: (x**2).mean() * (np.nan if len(x) == 5 else 2),
    ],
)
def test_what_is_no_length_is_not_said_to_be_one(wrong):
    assert judge(TABLE, wrong).diagnosis != "a length"


def test_beside_a_shape_an_error_on_another_case_is_told():
    cases = [(torch.ones(1, 1),), (torch.ones(2, 3),)]
    message = judge(exercise_of(lambda x: 2 * x, lambda rng: cases), lambda x: 2 * x.item()).message
    assert "has shape `()` instead of `(1, 1)`" in message
    assert "On another case it stops with `RuntimeError" in message


def test_all_parts_are_off_by_the_length():
    def observe(function, x):
        return {"sum": function(x), "size": 7}

    exercise = exercise_of(double, double_cases, observe=observe)
    assert judge(exercise, lambda x: 2 * x * len(x)).diagnosis != "a length"


# --- Gradients that are right ---------------------------------------------------------------------


def test_right_gradients_are_told_where_the_loss_is_another_number():
    right = "Its gradients are right"
    assert right in judge(LOSS, lambda lp, adv: 0.3 - (lp * adv.detach()).mean()).message
    assert right not in judge(LOSS, lambda lp, adv: -(lp**2 * adv.detach()).mean()).message
    assert right not in judge(DOUBLE, lambda x: x + 1).message


# --- Names and errors -----------------------------------------------------------------------------


def helper(x):
    return 2 * x


class Doubler:
    factor = 2

    def __init__(self, size):
        self.size = size

    def of(self, x):
        return self.factor * x


def observe_doubler(function, size):
    made = function(size)
    return made.of(np.ones(made.size))


DOUBLER = exercise_of(Doubler, lambda rng: [(1,), (3,)], observe=observe_doubler)


def renamed(made):
    made.__name__ = made.__qualname__ = "Doubler"
    return made


@renamed
class NoSelf:
    factor = 2

    def __init__(self, size):
        self.size = size

    def of(x):
        return 2 * x


@renamed
class NoInit:
    def of(self, x):
        return 2 * x


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (NoSelf, "The exercise has `of(self, x)`, yours begins with `of(x)`."),
        (NoInit, "Your class has no `__init__`, which is called when an object of it is made"),
    ],
)
def test_what_a_class_lacks_is_named(wrong, says):
    result = judge(DOUBLER, wrong)
    assert says in result.message, str(result)


def helper_as_a_method(pair):
    return pair.helper(pair.obs)


def no_such_part(pair):
    return Pair(*pair).done


def out_of_bounds(pair):
    return pair.obs.numpy()[:, 3]


def set_now_and_then(pair):
    if len(pair.reward) > 1:
        total = (pair.obs**2).sum(dim=1).mean()
    return total


def squeezes(pair):
    return torch.cat([pair.obs[:, :1].squeeze(), pair.reward])


def nothing_to_stack(pair):
    return torch.stack([row for row in pair.obs if len(pair.obs) > 1]).sum()


def draws_as_of_old(pair):
    return np.random.default_rng(0).randn(3)


def draws_a_shape_in_parts(pair):
    return np.random.default_rng(0).standard_normal(*pair.obs.shape)


def draws_float32(pair):
    return np.random.default_rng(0).normal(0, 1, 3, dtype=np.float32)


class Twice(nn.Module):
    def forward(self, x):
        return 2 * x


def detaches_a_network(pair):
    return Twice().detach()(pair.obs)


def changes_a_leaf(pair):
    nn.Linear(2, 1).weight.mul_(2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (helper_as_a_method, "`helper` is a function, not a method"),
        (no_such_part, "A `Pair` has `obs` and `reward`."),
        (out_of_bounds, "Axis 1 has length 2 here, so the last index along it is 1"),
        (set_now_and_then, "It gets a value only on some paths"),
        (squeezes, "`squeeze()` without an axis drops every axis of length 1"),
        (nothing_to_stack, "there is nothing to stack"),
        (draws_as_of_old, "`rng.standard_normal(shape)`"),
        (draws_a_shape_in_parts, "A shape is one argument"),
        (draws_float32, "`.astype(np.float32)`"),
        (detaches_a_network, "A `Twice` is no tensor"),
        (changes_a_leaf, "only under `torch.no_grad()`"),
    ],
)
def test_what_an_error_mostly_means(wrong, says):
    result = judge(PAIR, wrong)
    assert result.diagnosis == "error", str(result)
    assert says in result.message, result.message


# --- Two mistakes ---------------------------------------------------------------------------------


class TwinQNetwork(nn.Module):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.first = self.second = QNetwork(obs_size, action_dim)

    def forward(self, obs, action):
        return self.first(obs, action), self.second(obs, action)

    def q1(self, obs, action):
        return self.first(obs, action)


def test_two_mistakes_break_nothing_that_the_answer_does_not():
    """Its outputs are those of two networks of which one is never asked: not so its layers."""
    message = grade("3.2", TwinQNetwork).message
    assert "There are two networks" not in message
    assert "never uses `hidden`" in message


# --- One line that is wrong -----------------------------------------------------------------------


def total(x):
    return (x**2).sum()


def weighted(x):
    penalty = (np.abs(x) ** 3).sum()
    return (x**2).sum() + 1e-3 * penalty


def standardised(some_values):
    return 2 * ((some_values - some_values.mean()) / (some_values.std() + 0.0000001))


def test_what_is_too_small_to_be_seen_is_left_out_as_well():
    """Without `* penalty` 0.001 would be left, within the tolerance of a sum of dozens."""
    exercise = exercise_of(total, lambda rng: [(3 * rng.normal(size=n),) for n in (5, 9, 20)])
    assert "leave out `+ 1e-3 * penalty`" in judge(exercise, weighted).message


def test_of_a_long_part_what_is_to_be_left_is_told():
    message = judge(DOUBLE, standardised).message
    assert "leave only `some_values` of `(some_values - some_values. ... " in message


def doubled_where_positive(x):
    return np.where(x > 0, 2 * x, 0.0)


def doubled_until_it_breaks(x):
    result = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] <= 0:
            break
        result[i] = 2 * x[i]
    return result


def test_a_loop_that_ends_too_early_should_go_on():
    cases = [(np.array([1.0, -2.0, 3.0]),), (np.array([2.0, -1.0, 0.5, -1.5]),)]
    exercise = exercise_of(doubled_where_positive, lambda rng: cases)
    message = judge(exercise, doubled_until_it_breaks).message
    assert "Look at `break`." in message
    assert "go on with the next iteration" in message


def distance_to_the_best(actor, critic, obs):
    q = critic.q1(obs, actor(obs))
    return ((q - q.max().detach()) ** 2).mean()


def test_a_change_that_gives_zeros_leaves_no_known_mistake():
    """With `.mean()` behind `q` it is 0, as it is where the mean was subtracted."""
    assert "subtracted the mean" not in grade("3.6", distance_to_the_best).message


@torch.no_grad()
def one_noise_for_all_rows(target_actor, next_obs, target_noise, noise_clip, rng):
    action = target_actor(next_obs)
    noise = torch.from_numpy(rng.standard_normal(action.shape[1], dtype=np.float32)) * noise_clip
    return (action + noise.clamp(-target_noise, target_noise)).clamp(-1, 1)


def test_noise_that_is_alike_because_it_was_cut_off_is_not_taken_for_one_number():
    assert "a single number" not in grade("3.5", one_noise_for_all_rows).message
