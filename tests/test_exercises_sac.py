"""Lesson 06's exercises: what chance decides."""

import numpy as np
import pytest
import torch

from helpers.agents.sac import SAC
from helpers.algorithms import sac
from helpers.checks import find
from helpers.checks.core import judge


def with_update(update):
    return type("SAC", (SAC,), {"update": update})


def test_an_update_may_draw_in_any_order():
    def drawing_first(self, batch):
        self.rng.random(7)
        return SAC.update(self, batch)

    assert judge(find("6.7"), with_update(drawing_first)).passed


@pytest.mark.parametrize("draw", [torch.randn_like, lambda mean: torch.zeros_like(mean)])
def test_an_update_that_draws_elsewhere_is_refused(draw):
    def sampled(self, obs, _):
        mean, log_std = self.actor(obs)
        return sac.squashed_sample(mean, log_std, draw(mean))

    def update(self, batch):
        self.sample = lambda obs, rng: sampled(self, obs, rng)
        return SAC.update(self, batch)

    assert not judge(find("6.7"), with_update(update)).passed


def test_a_generator_of_ones_own_is_told_though_the_weights_differ_too():
    def sample(self, obs, rng):  # of its own for the actor alone
        return SAC.sample(self, obs, np.random.default_rng() if torch.is_grad_enabled() else rng)

    result = judge(find("6.7"), type("SAC", (SAC,), {"sample": sample}))
    assert "so a seeded training run cannot be repeated" in result.message


def test_a_sample_without_a_way_through_is_named_however_it_is_written():
    def by_sample(mean, log_std, noise):
        with torch.no_grad():
            u = mean + log_std.exp() * noise
        log_prob = torch.distributions.Normal(mean, log_std.exp()).log_prob(u)
        return torch.tanh(u), (log_prob - sac.log_tanh_slope(u)).sum(dim=-1)

    assert judge(find("6.3"), by_sample).diagnosis == "not through the draw"
