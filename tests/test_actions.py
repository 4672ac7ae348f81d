"""Between [-1, 1] and the environment's units."""

import numpy as np
import pytest
from environments import LOPSIDED, AnySpace, make
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from sentences import one_sentence
from trials import quick

from helpers.agents import A2C, DDPG
from helpers.envs.units import observation_bounds, to_env_units, to_scaled

inf, largest = np.inf, float(np.finfo(np.float32).max)


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
def test_each_dimension_goes_straight_from_its_low_to_its_high_and_back(drawn):
    low, high, action = drawn
    inside = to_env_units(action, low, high)
    share = (action + 1) / 2
    size = np.abs([low, high]).max()
    np.testing.assert_allclose(inside, low * (1 - share) + high * share, atol=1e-9 * size)
    np.testing.assert_allclose(to_scaled(inside, low, high), action, atol=1e-6)


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


# ---- what is refused -----------------------------------------------------------------------------

FREE, ONE = "needs bounds on every action", "low < high"


@pytest.mark.parametrize(
    ("space", "told"),
    [
        (spaces.Box(-inf, inf, (2,)), FREE),
        (spaces.Box(-inf, 1, (1,)), FREE),
        (spaces.Box(np.float32([[-1, -1]]), np.float32([[1, inf]])), FREE),
        (spaces.Box(-largest, largest, (2,)), FREE),
        (spaces.Box(-largest, largest, (2,), np.float64), FREE),
        (spaces.Box(np.finfo(np.float16).min, np.finfo(np.float16).max, (2,), np.float16), FREE),
        (spaces.Box(1, 1, (1,)), ONE),
        (spaces.Box(np.float32([-1, 2]), np.float32([1, 2])), ONE),
        (spaces.Box(0, 1e-3, ()), None),
        (LOPSIDED, None),
    ],
    ids=str,
)
def test_actions_without_bounds_or_choice_are_one_sentence(space, told):
    env = make(AnySpace, action_space=space)
    if told is None:
        DDPG(env)
    else:
        with one_sentence(ValueError, told, "DDPG", "TransformAction" if told == FREE else "Box("):
            DDPG(env)


@pytest.mark.parametrize("most", [inf, 1e30, largest])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_where_no_bounds_are_needed_they_only_must_have_a_width(most, dtype):
    env = make(AnySpace, action_space=spaces.Box(-most, most, (2,), dtype))
    if most == largest:
        with one_sentence(ValueError, "as far apart", "A2C", "infinity"):
            A2C(env)
    else:
        A2C(env)
