"""The figures of lessons 00 and 01: the numbers behind them."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.show.figures.a2c_gae import plot_gae_weights
from helpers.show.figures.a2c_policy_gradient import plot_policy_gradient, policy_gradient, softmax
from helpers.show.figures.a2c_rollout import plot_rollout
from helpers.show.figures.discount import plot_discount
from tests.figures import heights

# --- The numbers behind the figures -----------------------------------------------------------


def test_discount_marks_the_effective_horizon():
    fig = plot_discount(0.9)
    assert "next 10 steps carry 65 %" in fig.axes[0].get_title(loc="left")  # 1 - 0.9**10
    assert fig.axes[0].get_xlim()[1] == 60


def test_policy_gradient_is_the_derivative_of_the_expected_payoff():
    rng = np.random.default_rng(0)
    for _ in range(20):
        logits, payoffs = rng.normal(size=(2, 4))
        numeric = [
            (softmax(logits + h) @ payoffs - softmax(logits - h) @ payoffs) / 2e-5
            for h in 1e-5 * np.eye(4)
        ]
        np.testing.assert_allclose(policy_gradient(logits, payoffs), numeric, atol=1e-8)


def test_policy_figure_shows_probabilities_after_the_step():
    fig = plot_policy_gradient((0, 0, 0), (1, 0, -1), step=0)
    texts = [t.get_text() for t in fig.axes[2].texts]
    assert texts == ["33 %"] * 3
    fig = plot_policy_gradient((0, 0, 0), (-1.5, 0, 1.5))
    assert [t.get_text() for t in fig.axes[1].texts] == ["−0.50", "0.00", "+0.50"]
    assert fig.axes[0].get_legend().get_texts()[0].get_text() == "mean Σ π Q = 0.00"


@pytest.mark.parametrize(("gamma", "lam", "n"), [(0.99, 0.9, 5), (1.0, 0.0, 1), (0.9, 1.0, 30)])
def test_gae_weights_are_the_mixture_of_n_step_weights(gamma, lam, n):
    """Both panels tell the same: mixing the n-step weights gives (gamma lambda)^l."""
    left, right = plot_gae_weights(gamma, lam, n).axes
    np.testing.assert_allclose(heights(left.collections[0]), (gamma * lam) ** np.arange(30.0))
    [stairs] = left.lines
    assert stairs.get_drawstyle() == "steps-post"  # each TD error's weight, over its whole bar
    np.testing.assert_allclose(stairs.get_xdata()[:n], np.arange(n) - 0.5)
    np.testing.assert_allclose(stairs.get_ydata()[:n], gamma ** np.arange(n))
    mixture = heights(right.collections[0])
    np.testing.assert_allclose(mixture, (1 - lam) * lam ** np.arange(30.0))
    if lam < 1:  # delta_{t+l} counts in every n-step advantage with n > l
        tail = 1 - np.cumsum(mixture)  # all weight of n > l + 1
        from_mix = gamma ** np.arange(30) * np.r_[1, tail[:-1]]
        np.testing.assert_allclose(from_mix, heights(left.collections[0]), atol=1e-12)


def test_no_arrow_of_the_rollout_leads_into_another_episode():
    arrows = {
        tuple(text.xy) for text in plot_rollout().axes[0].texts if getattr(text, "arrow_patch", 0)
    }
    assert len(arrows) == 3 * 7 - 2
    assert not arrows & {(4 + 0.38, 0), (2 + 0.38, 1)}
