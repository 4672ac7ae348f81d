"""Answers whose verdict must not hang on what they happen to draw."""

import dataclasses
import math
from unittest.mock import patch

import numpy as np
import pytest
import torch

from helpers.algorithms import sac
from helpers.algorithms.shared import OUNoise
from helpers.checks import find, grade
from helpers.checks.core import judge
from helpers.memory.replay import ReplayBuffer


@pytest.mark.parametrize("seed", range(4))
def test_chance_decides_about_no_noise_and_no_buffer(seed):
    """Right ones pass whatever numbers they happen to draw."""

    class Noise(OUNoise):
        def sample(self, shape, rng):
            rng.random(seed)
            return super().sample(shape, rng)

    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            self.rng.random(seed)
            return super().sample(batch_size)

    for exercise_id, right in (("2.11", Noise), ("2.6", Buffer)):
        result = grade(exercise_id, right)
        assert result.passed, str(result)


def redrawn(smooth, number):
    """The same smoothing with other random numbers."""

    def later(target_actor, next_obs, target_noise, noise_clip, rng):
        rng.random(number)
        return smooth(target_actor, next_obs, target_noise, noise_clip, rng)

    return later


def test_a_right_smoothing_passes_whatever_it_draws():
    exercise = find("3.2")
    for number in range(1, 4):
        for right in (exercise.reference, *(answer.function for answer in exercise.right)):
            result = judge(exercise, redrawn(right, number))
            assert result.passed, str(result)


@pytest.mark.parametrize("wrong", find("3.2").mistakes[::5], ids=lambda wrong: wrong.name)
def test_a_wrong_smoothing_has_its_name_whatever_it_draws(wrong):
    result = judge(find("3.2"), redrawn(wrong.function, 7))
    assert result.diagnosis == wrong.name, str(result)


def test_a_sample_without_a_way_through_is_named_however_it_is_written():
    def by_sample(mean, log_std, noise):
        with torch.no_grad():
            u = mean + log_std.exp() * noise
        log_prob = torch.distributions.Normal(mean, log_std.exp()).log_prob(u)
        return torch.tanh(u), (log_prob - sac.log_tanh_slope(u)).sum(dim=-1)

    assert judge(find("6.3"), by_sample).diagnosis == "not through the draw"


def test_an_update_may_sample_in_any_order_and_not_elsewhere():
    def sampling_first(agent, batch, s, rng):
        rng.standard_normal(7)
        return sac.update(agent, batch, s, rng)

    def elsewhere(agent, batch, s, rng):
        return sac.update(agent, batch, s, np.random.default_rng(0))

    assert judge(find("6.7"), sampling_first).passed
    assert not judge(find("6.7"), elsewhere).passed


def test_the_temperature_runs_away_as_the_table_of_exercise_6_6_says():
    bug = next(each for each in find("6.6").mistakes if each.name == find("6.6").bug)
    settings = dataclasses.replace(sac.PENDULUM, steps=1200)
    with patch.object(sac, "temperature_loss", bug.function):
        history = sac.train(settings).history
    assert history["temperature"][-1][1] == pytest.approx(math.exp(0.2), abs=0.03)
    assert np.mean(history["entropy"][-3:], axis=0)[1] > 0.6  # of at most log 2
