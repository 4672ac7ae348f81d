"""The figures of lesson 06: the numbers behind them, and what their headlines say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from helpers.show.colours import VERMILLION
from helpers.show.figures.sac_gradients import estimates, exact, plot_gradients
from helpers.show.figures.sac_squash import corrections, gaussian, log_slope, plot_squash
from helpers.show.figures.sac_temperature import (
    ACTIONS,
    TEMPERATURES,
    best_density,
    best_gaussian,
    humps,
    mean_and_entropy,
    squashed_density,
)
from tests.figures import sentence

# --- The temperature --------------------------------------------------------------------------


def worth(density, temperature, second):
    q, entropy = mean_and_entropy(density, second)
    return q + temperature * entropy


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_no_policy_is_worth_more_than_the_best(temperature):
    """It is worth temperature * log(area of exp(Q / temperature)), and every other less."""
    best = best_density(temperature, 0.8)
    area = (np.exp((humps(ACTIONS, 0.8) - 1) / temperature)).mean() * 2
    assert worth(best, temperature, 0.8) == pytest.approx(1 + temperature * math.log(area))
    for mean, std in ((0, 0.5), (-0.6, 0.1), best_gaussian(temperature, 0.8)):
        other = squashed_density(ACTIONS, mean, std)
        assert worth(other, temperature, 0.8) < worth(best, temperature, 0.8) + 1e-6


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("second", [0.0, 0.8, 1.2])
def test_the_gaussian_is_the_best_of_its_kind(temperature, second):
    mean, std = best_gaussian(temperature, second)
    top = worth(squashed_density(ACTIONS, mean, std), temperature, second)
    rng = np.random.default_rng(0)
    for _ in range(300):
        other = squashed_density(ACTIONS, rng.uniform(-1.5, 1.5), np.exp(rng.uniform(-3.5, 0.7)))
        assert worth(other, temperature, second) < top + 2e-3


# --- The tanh ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("mean", "std"), [(0.5, 1.0), (-2.0, 2.0), (3.0, 0.1)])
def test_the_numbers_of_the_squash_are_those_of_draws(mean, std):
    normal = torch.distributions.Normal(mean, torch.tensor(std, dtype=torch.float64))
    squashed = torch.distributions.TransformedDistribution(
        normal, torch.distributions.transforms.TanhTransform(cache_size=1)
    )
    generator = torch.Generator().manual_seed(0)
    u = mean + std * torch.randn(100_000, generator=generator, dtype=torch.float64)
    logs = normal.log_prob(u) - torch.from_numpy(log_slope(u.numpy()))
    area = float((1 - torch.tanh(u) ** 2).mean())
    fig = plot_squash(mean, std)
    said = sentence(fig).replace("−", "-").split()
    assert float(said[5]) == pytest.approx(-float(logs.mean()), abs=0.02)
    assert float(fig.axes[1].texts[-1].get_text().split()[-1]) == pytest.approx(area, abs=0.01)
    near = torch.tanh(u[:5].clamp(-4, 4))
    right = gaussian(torch.arctanh(near).numpy(), mean, std) / (1 - near.numpy() ** 2)
    np.testing.assert_allclose(squashed.log_prob(near).exp(), right, rtol=1e-6)


def test_only_the_stable_form_is_right_far_out():
    u = torch.tensor([0.0, 2.0, 7.5, 12.0, 40.0])
    true = torch.from_numpy(log_slope(u.double().numpy())).float()
    plain, lifted, stable = corrections(u).values()
    torch.testing.assert_close(stable, true)
    torch.testing.assert_close(plain[:2], true[:2], rtol=1e-4, atol=1e-6)
    assert plain[3] == -math.inf
    assert lifted[3:] == pytest.approx([math.log(1e-6)] * 2, abs=1e-4)


# --- Two estimators ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [(0.0, 0.4, 0.0), (5.0, 0.4, 0.1), (-10.0, 1.0, 0.2)])
def test_both_estimators_are_unbiased_and_scatter_as_said(settings):
    noise = np.random.default_rng(1).standard_normal(400_000)
    truth, spread = exact(*settings)
    for name, each in estimates(noise, *settings).items():
        error = 4 * spread[name] / math.sqrt(len(noise))
        assert each.mean() == pytest.approx(truth, abs=error), name
        assert each.std() == pytest.approx(spread[name], rel=0.02), name


def test_the_histograms_are_of_all_estimates():
    right = plot_gradients(draws=64).axes[1]
    truth = exact(0.0, 0.4, 0.0)[0]
    assert right.lines[0].get_xdata()[0] == truth
    for patch in right.patches:
        heights, edges, _ = patch.get_data()
        assert heights.sum() > 1980
        middle = heights @ (edges[1:] + edges[:-1]) / 2 / heights.sum()
        assert middle == pytest.approx(truth, abs=0.05)
    assert any(t.get_color() != VERMILLION and "true" in t.get_text() for t in right.texts)
