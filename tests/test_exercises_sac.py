"""Lesson 06's exercises: what chance decides, and the agent with the bug to be found."""

import dataclasses
import math
from unittest.mock import patch

import numpy as np
import pytest
import torch

from helpers.algorithms import sac
from helpers.checks import find
from helpers.checks.core import judge


def test_a_sample_without_a_way_through_is_named_however_it_is_written():
    def by_sample(mean, log_std, noise):
        with torch.no_grad():
            u = mean + log_std.exp() * noise
        log_prob = torch.distributions.Normal(mean, log_std.exp()).log_prob(u)
        return torch.tanh(u), (log_prob - sac.log_tanh_slope(u)).sum(dim=-1)

    assert judge(find("6.3"), by_sample).diagnosis == "not through the draw"


def test_an_update_may_sample_in_any_order():
    def sampling_first(agent, batch, s, rng):
        rng.standard_normal(7)
        return sac.update(agent, batch, s, rng)

    assert judge(find("6.7"), sampling_first).passed


def test_an_update_that_samples_elsewhere_is_refused():
    def update(agent, batch, s, rng):
        return sac.update(agent, batch, s, np.random.default_rng(0))

    assert not judge(find("6.7"), update).passed


def test_the_temperature_runs_away_as_the_table_of_exercise_6_6_says():
    bug = next(each for each in find("6.6").mistakes if each.name == find("6.6").bug)
    settings = dataclasses.replace(sac.PENDULUM, steps=1200)
    with patch.object(sac, "temperature_loss", bug.function):
        history = sac.train(settings).history
    assert history["temperature"][-1][1] == pytest.approx(math.exp(0.2), abs=0.03)
    assert np.mean(history["entropy"][-3:], axis=0)[1] > 0.6  # of at most log 2
