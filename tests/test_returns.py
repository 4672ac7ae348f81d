"""Discounted returns."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.algorithms.reinforce import discounted_returns

quick = settings(max_examples=60, deadline=None)


@quick
@given(hnp.arrays(np.float64, st.integers(0, 30), elements=st.floats(-10, 10)), st.floats(0, 1))
def test_discounted_returns_follow_the_recursion(rewards, gamma):
    returns = discounted_returns(rewards, gamma)
    assert returns.shape == rewards.shape
    assert returns.dtype == np.float64
    following = np.append(returns[1:], 0.0)[: len(returns)]
    np.testing.assert_allclose(returns, rewards + gamma * following)


def test_discounted_returns_by_hand():
    np.testing.assert_allclose(discounted_returns(np.array([1, 2, 3]), 0.5), [2.75, 3.5, 3])
    np.testing.assert_allclose(discounted_returns([1, 2, 3], 0.5), [2.75, 3.5, 3])
