"""Between [-1, 1] and the environment's units."""

import gymnasium as gym
import numpy as np
import pytest
from environments import LOPSIDED, TORQUE, AnySpace, make
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import one_sentence

from helpers.agents import A2C
from helpers.envs.units import (
    check_bounded,
    check_widths,
    observation_bounds,
    to_env_units,
    to_scaled,
)

quick = settings(deadline=None, max_examples=60, derandomize=True)


@st.composite
def bounded(draw):
    """Bounds (n,) of several sizes, and a batch of actions (3, n) in [-1, 1]."""
    n = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3, n)
    width = rng.uniform(0.1, 10, n) * 10.0 ** rng.integers(-2, 3, n)
    return low, low + width, rng.uniform(-1, 1, (3, n))


@quick
@given(bounded())
def test_there_and_back_again_changes_nothing(drawn):
    low, high, action = drawn
    inside = to_env_units(action, low, high)
    assert inside.shape == action.shape
    np.testing.assert_allclose(to_scaled(inside, low, high), action, atol=1e-6)
    np.testing.assert_allclose(to_env_units(to_scaled(inside, low, high), low, high), inside)


@quick
@given(bounded())
def test_each_dimension_goes_straight_from_its_low_to_its_high(drawn):
    low, high, action = drawn
    size = np.abs([low, high]).max()
    for number, bound in (
        (-1, low),
        (0, (low + high) / 2),
        (1, high),
        (0.5, low / 4 + high * 3 / 4),
    ):
        there = to_env_units(np.full_like(low, number), low, high)
        np.testing.assert_allclose(there, bound, atol=1e-9 * size)
        np.testing.assert_allclose(to_scaled(bound, low, high), number, atol=1e-6)
    one_by_one = [
        [to_env_units(a, lo, hi) for a, lo, hi in zip(row, low, high, strict=True)]
        for row in action
    ]
    np.testing.assert_allclose(to_env_units(action, low, high), one_by_one)


@pytest.mark.parametrize(
    "space",
    [TORQUE, LOPSIDED, spaces.Box(-0.1, 0.3, (2, 3), np.float64), spaces.Box(5, 6, ())],
    ids=str,
)
def test_gymnasiums_wrapper_agrees(space):
    wrapper = gym.wrappers.RescaleAction(
        make(AnySpace, action_space=space), space.dtype.type(-1), space.dtype.type(1)
    )
    wrapper.action_space.seed(0)
    for _ in range(20):
        action = wrapper.action_space.sample()
        ours = to_env_units(action, space.low, space.high)
        np.testing.assert_allclose(ours, wrapper.action(action), atol=1e-5)


# ---- observations --------------------------------------------------------------------------------

inf, largest = np.inf, float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("space", "low", "high"),
    [
        (spaces.Box(np.float32([-1, -8]), np.float32([3, 8])), [-1, -8], [3, 8]),
        (spaces.Box(0, 255, (1, 2, 2), np.uint8), [0] * 4, [255] * 4),
        (spaces.Box(-7, 5, (), np.int64), [-7], [5]),
        (spaces.Box(-inf, inf, (2, 1)), [-1, -1], [1, 1]),
        (spaces.Box(-1e6, 1e6, (1,)), [-1], [1]),
        (spaces.Box(-largest, largest, (1,)), [-1], [1]),  # as CartPole says of its speeds
        (spaces.Box(np.float32([0, 0, 5]), np.float32([inf, 4, 5])), [-1, 0, -1], [1, 4, 1]),
    ],
    ids=str,
)
def test_observation_bounds_are_those_that_say_something(space, low, high):
    bounds = observation_bounds(space)
    assert [bound.tolist() for bound in bounds] == [low, high]
    assert {bound.dtype for bound in bounds} == {np.dtype(np.float64)}


def test_observations_without_a_range_stay_as_they_are():
    low, high = observation_bounds(spaces.Box(-inf, inf, (4,)))
    for size in (1e-3, 1.0, 1e6):
        values = size * np.array([-1, 0.1, 3, -7])
        np.testing.assert_allclose(to_scaled(values, low, high), values, rtol=1e-9)


# ---- what is refused -----------------------------------------------------------------------------

FREE = [
    spaces.Box(-np.inf, np.inf, (2,)),
    spaces.Box(-np.inf, 1, (1,)),
    spaces.Box(-1, np.inf, (1,)),
    spaces.Box(np.float32([-1, -np.inf]), np.float32([1, 1])),
    spaces.Box(np.float32([[-1, -1]]), np.float32([[1, np.inf]])),
]


@pytest.mark.parametrize("space", FREE, ids=str)
def test_actions_without_bounds_are_one_sentence(space):
    with one_sentence(ValueError, "needs bounds on every action", "DDPG", "inf", "TransformAction"):
        check_bounded("DDPG", space)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-largest, largest, (2,)),
        spaces.Box(-largest, largest, (2,), np.float64),
        spaces.Box(np.finfo(np.float16).min, np.finfo(np.float16).max, (2,), np.float16),
    ],
    ids=str,
)
def test_the_largest_numbers_are_no_bounds(space):
    with one_sentence(ValueError, "needs bounds on every action"):
        check_bounded("DDPG", space)
    with one_sentence(ValueError, "as far apart", "A2C", "infinity"):
        A2C(make(AnySpace, action_space=space))


@pytest.mark.parametrize("space", [*FREE, TORQUE, spaces.Box(-1e30, 1e30, (1,))], ids=str)
def test_no_bounds_or_such_as_have_a_width_pass_where_none_are_needed(space):
    check_widths("A2C", space)


@pytest.mark.parametrize(
    "space", [spaces.Box(1, 1, (1,)), spaces.Box(np.float32([-1, 2]), np.float32([1, 2]))], ids=str
)
def test_actions_without_a_choice_are_one_sentence(space):
    with one_sentence(ValueError, "low < high", "DDPG", " ".join(str(space).split())):
        check_bounded("DDPG", space)


@pytest.mark.parametrize("space", [TORQUE, LOPSIDED, spaces.Box(0, 1e-3, ())], ids=str)
def test_bounded_actions_pass(space):
    check_bounded("DDPG", space)
