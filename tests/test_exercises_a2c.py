"""Lesson 00's and 01's exercises: what their Markdown files cannot say."""

import numpy as np
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


@pytest.mark.parametrize(
    "changed",
    [
        lambda log_std: log_std.clamp(-5, 2),
        lambda log_std: log_std.clamp(-10, 10),
        lambda log_std: (log_std.exp() + 1e-6).log(),
        lambda log_std: log_std.exp().clamp(min=1e-3).log(),
    ],
)
def test_no_limit_of_the_std_passes(changed):
    def limited(mean, log_std, actions):
        return Normal(mean, changed(log_std).exp()).log_prob(actions).sum(-1)

    assert not grade("1.11", limited).passed


def test_whole_numbers_are_told_beside_another_mistake():
    def forwards(rewards, gamma):
        returns, following = np.zeros_like(rewards), 0.0
        for t in range(len(rewards)):
            returns[t] = following = rewards[t] + gamma * following
        return returns

    result = grade("0.1", forwards)
    assert result.diagnosis == "looks into the past"
    assert "whole numbers" in result.message


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


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("1.2", lambda z, a: z.log_softmax(-1).detach()[range(len(a)), a], "no gradient"),
        ("1.4", lambda log_probs, advantages: None, "no return"),
        ("1.6", lambda critic, obs, returns: None, "no return"),
        ("1.11", lambda m, s, a: Normal(m.detach(), s.exp()).log_prob(a).sum(-1), "no gradient"),
    ],
)
def test_mistakes_of_any_function(exercise_id, written, diagnosis):
    assert grade(exercise_id, written).diagnosis == diagnosis


def test_gradients_are_compared_where_values_agree():
    def without_log_std(mean, log_std, actions):
        return Normal(mean, log_std.exp().detach()).log_prob(actions).sum(-1)

    assert "gradient to log_std" in grade("1.11", without_log_std).message

    def entropy_of_fixed_weights(logits):
        log_probs = torch.log_softmax(logits, dim=-1)
        return -(log_probs.exp() * log_probs.detach()).sum(dim=-1)  # the same gradient

    assert grade("1.9", entropy_of_fixed_weights).passed


def test_a_loss_is_returned_without_a_backward_pass():
    def actor_loss(log_probs, advantages):
        loss = -(log_probs * advantages.detach()).mean()
        loss.backward(retain_graph=True)
        return loss

    def critic_loss(critic, obs, returns):
        loss = nn.functional.mse_loss(critic(obs).squeeze(-1), returns.detach())
        loss.backward(retain_graph=True)
        return loss

    for key, loss in ("1.4", actor_loss), ("1.6", critic_loss):
        result = grade(key, loss)
        assert not result.passed
        assert "backward" in result.message
