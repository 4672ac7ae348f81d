"""The figures of lesson 07, and lesson 00's map of the course: the numbers behind them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers.algorithms.ppo import clipped_surrogate
from helpers.show.colours import BLUE, VERMILLION
from helpers.show.figures.course_map import ENTRIES, LED_TO, plot_course_map
from helpers.show.figures.ppo_clip import clipped_objective, has_gradient, plot_clip
from helpers.show.figures.ppo_line import figure_of_line, mean_return
from helpers.show.figures.ppo_ratios import outside, plot_ratios
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
        assert has_gradient(ratio, advantage, clip) == bool(slope)


@pytest.mark.parametrize("clip", [0.05, 0.2, 0.5])
def test_the_regions_are_named_by_the_gradient_there(clip):
    for ax, sign in zip(plot_clip(1.0, 1.0, clip).axes, (1, -1), strict=True):
        names = {text.get_text(): text.get_position()[0] for text in ax.texts}
        assert not has_gradient(names["gradient 0"], sign, clip)
        assert has_gradient(names["pushed back"], sign, clip)
        assert all(abs(names[name] - 1) > clip for name in ("gradient 0", "pushed back"))


def test_ratios_are_counted_on_both_sides_of_the_range():
    ratios = np.array([[1.0, 1.0, 1.0, 1.0], [0.7, 1.3, 1.1, 0.9]])
    np.testing.assert_allclose(outside(ratios), [0, 0.5])
    fig = plot_ratios({"clipped": ratios}, np.array([-1.0, 1, 2, -2]), 1, "clipped")
    assert sentence(fig) == "Clipped, after 1 epoch: 50% out of range, ratios from 0.70 to 1.30."
    np.testing.assert_allclose(curve(fig.axes[1], BLUE)[:, 1], [0, 0.5])


@pytest.mark.parametrize(("out", "said"), [(0, "0%"), (2, "under 1%"), (998, "over 99%")])
def test_few_ratios_out_of_range_are_not_called_none(out, said):
    ratios = np.ones((2, 1000))
    ratios[1, :out] = 1.3
    fig = plot_ratios({"clipped": ratios}, np.linspace(-1, 1, 1000), 1, "clipped")
    assert f"1 epoch: {said} out of range" in sentence(fig)


@pytest.mark.parametrize("left", [True, False])
def test_the_return_on_the_line_is_that_of_whole_episodes(left):
    """A policy that always pushes to one side keeps the pole up for 8 to 10 steps."""

    class Pushes:
        def sample(self, obs, rng):
            return np.full(len(obs), 0 if left else 1)

    assert 8 <= mean_return(Pushes(), episodes=20) <= 10


def test_a_line_has_objectives_above_and_returns_below():
    places = np.linspace(-1, 3, 5)
    found = np.transpose([places, [0, 1, 3, 2, 1], [10, 20, 30, 20, 10]])
    fig = figure_of_line({"an update": (places, found), "another": (places, found)})
    upper, _, lower, _ = fig.axes
    np.testing.assert_allclose(curve(upper, BLUE)[:, 1], found[:, 1])
    np.testing.assert_allclose(curve(lower, VERMILLION)[:, 1], found[:, 2])


def test_no_arrow_of_the_course_map_leads_back_in_time():
    years = {entry.name: entry.years for entry in ENTRIES}
    for one, other in LED_TO:
        assert min(years[one]) <= max(years[other]), (one, other)
    assert {name for pair in LED_TO for name in pair} == set(years)
    columns = sorted((entry.place[0], max(entry.years)) for entry in ENTRIES)
    assert [year for _, year in columns] == sorted(year for _, year in columns)
    apart(plot_course_map())
