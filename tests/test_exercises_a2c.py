"""Lesson 00's and 01's exercises: what their Markdown files cannot say."""

import pytest
import torch
from torch import nn
from torch.distributions import Normal

from helpers.algorithms.reinforce import make_actor
from helpers.checks import grade


def test_a_wrong_shape_of_values_is_shown_on_a_small_batch():
    def squeezing(obs_size, hidden=64):
        network = make_actor(obs_size, 1, hidden)
        network.register_forward_hook(lambda module, inputs, values: values.squeeze())
        return network

    result = grade("1.5", squeezing)
    assert result.diagnosis == "shape"
    assert "(2, 3)" in str(result)


@pytest.mark.parametrize("place", [0, 2, 5])
def test_dropout_has_its_name_wherever_it_stands(place):
    def dropping(obs_size, n_outputs, hidden=64):
        layers = list(make_actor(obs_size, n_outputs, hidden))
        layers.insert(place, nn.Dropout(0.3))
        return nn.Sequential(*layers)

    assert grade("1.1", dropping).diagnosis == "dropout"
    assert grade("1.5", lambda size, hidden=64: dropping(size, 1, hidden)).diagnosis == "dropout"


def test_no_bound_of_the_outputs_passes():
    def bounded(obs_size, n_outputs, hidden=64):
        return nn.Sequential(make_actor(obs_size, n_outputs, hidden), nn.Hardtanh(-100, 100))

    assert not grade("1.1", bounded).passed
    assert not grade("1.5", lambda obs_size, hidden=64: bounded(obs_size, 1, hidden)).passed


def test_gradients_are_compared_where_values_agree():
    def without_log_std(mean, log_std, actions):
        return Normal(mean, log_std.exp().detach()).log_prob(actions).sum(-1)

    assert "gradient to log_std" in grade("1.11", without_log_std).message

    def entropy_of_fixed_weights(logits):
        log_probs = torch.log_softmax(logits, dim=-1)
        return -(log_probs.exp() * log_probs.detach()).sum(dim=-1)  # the same gradient

    assert grade("1.9", entropy_of_fixed_weights).passed
