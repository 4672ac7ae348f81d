"""The figures of lesson 07, and lesson 00's map of the course: the numbers behind them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers.algorithms.ppo import clipped_surrogate
from helpers.show.figures.course_map import ENTRIES, LED_TO, plot_course_map
from helpers.show.figures.ppo_clip import clipped_objective, has_slope, plot_clip
from helpers.show.figures.ppo_kl import plot_kl, rolling_median
from helpers.show.figures.ppo_ratios import outside, plot_ratios
from helpers.show.plotting import BLUE
from tests.figures import apart, curve, sentence


@pytest.mark.parametrize("clip", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("advantage", [-1.5, -0.3, 0.4, 2.0])
def test_the_objective_drawn_is_the_one_that_is_learned(clip, advantage):
    ratios = np.linspace(0.013, 2, 60)
    ours = clipped_objective(ratios, advantage, clip)
    for ratio, drawn in zip(ratios, ours, strict=True):
        leaf = torch.tensor([ratio], requires_grad=True)
        objective = clipped_surrogate(leaf, torch.tensor([advantage]), clip)
        assert drawn == pytest.approx(objective.item())
        [slope] = torch.autograd.grad(objective, leaf)
        assert has_slope(ratio, advantage, clip) == bool(slope)


@pytest.mark.parametrize("clip", [0.05, 0.3, 0.5])
def test_the_thick_line_is_the_lower_of_the_two_products(clip):
    fig = plot_clip(0.5, 1.0, clip)
    for ax in fig.axes:
        drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
        both = drawn["ratio · A"], drawn["clip(ratio) · A"]
        lower = drawn["the lower one: it counts"]
        np.testing.assert_allclose(lower, np.minimum(*both))
        assert all((lower < product - 0.1).any() for product in both)


@pytest.mark.parametrize("clip", [0.05, 0.2, 0.5])
def test_the_regions_are_named_by_the_slope_there(clip):
    for ax, sign in zip(plot_clip(1.0, 1.0, clip).axes, (1, -1), strict=True):
        names = {text.get_text(): text.get_position()[0] for text in ax.texts}
        assert not has_slope(names["no slope"], sign, clip)
        assert has_slope(names["pushed back"], sign, clip)
        assert all(abs(names[name] - 1) > clip for name in ("no slope", "pushed back"))


def test_ratios_are_counted_on_both_sides_of_the_range():
    ratios = np.array([[1.0, 1.0, 1.0, 1.0], [0.7, 1.3, 1.1, 0.9]])
    np.testing.assert_allclose(outside(ratios, 0.2), [0, 0.5])
    fig = plot_ratios({"clipped": ratios}, np.array([-1.0, 1, 2, -2]), epoch=1)
    assert sentence(fig) == "Clipped, after 1 epoch: 50% out of range, ratios from 0.70 to 1.30."
    np.testing.assert_allclose(curve(fig.axes[1], BLUE)[:, 1], [0, 0.5])


@pytest.mark.parametrize(("out", "said"), [(0, "0%"), (2, "under 1%"), (998, "over 99%")])
def test_few_ratios_out_of_range_are_not_called_none(out, said):
    ratios = np.ones((2, 1000))
    ratios[1, :out] = 1.3
    fig = plot_ratios({"clipped": ratios}, np.linspace(-1, 1, 1000))
    assert f"1 epoch: {said} out of range" in sentence(fig)


def test_kl_figure_has_a_median_for_each_training():
    kls = [0.01, 0.03, 0.02, 10.0, 0.02]
    assert rolling_median(kls, 3) == pytest.approx([0.01, 0.02, 0.02, 0.03, 0.02])
    taught = [(100 * i, kl) for i, kl in enumerate(kls)]
    histories = {"as taught": taught, "not clipped": [(s, 9 * kl) for s, kl in taught]}
    fig = plot_kl(histories, target=0.015)
    assert sentence(fig) == "Median KL of last epochs: 0.02 (as taught), 0.18 (not clipped)."
    assert len(fig.axes[0].lines) == 3
    apart(fig)


def test_no_arrow_of_the_course_map_leads_back_in_time():
    years = {entry.name: entry.years for entry in ENTRIES}
    for one, other in LED_TO:
        assert min(years[one]) <= max(years[other]), (one, other)
    assert {name for pair in LED_TO for name in pair} == set(years)
    columns = sorted((entry.place[0], max(entry.years)) for entry in ENTRIES)
    assert [year for _, year in columns] == sorted(year for _, year in columns)
    apart(plot_course_map())
