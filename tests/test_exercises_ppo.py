"""Answers to the exercises of lesson 07."""

import numpy as np
import pytest
import torch

from helpers.agents import PPO
from helpers.checks import grade


def orthogonal_init(network, output_gain):
    layers = [m for m in network.modules() if isinstance(m, torch.nn.Linear)]
    for layer in layers:
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.constant_(layer.bias, output_gain)


def minibatches(n_rows, batch_size, rng):
    order = torch.arange(n_rows).flip(0)
    return order.tensor_split(max(1, n_rows // batch_size))


def test_rows_turned_round_are_not_called_cut_and_shuffled():
    result = grade("7.3", minibatches)
    assert result.diagnosis == "in order, backwards or shifted"


def approximate_kl(log_probs, old_log_probs):
    ratio = (log_probs - old_log_probs).exp().detach()
    return ((ratio - 1) - torch.log10(ratio)).mean()


def test_what_is_changed_in_place_is_not_said_to_be_returned():
    def orthogonal_init(network, output_gain):
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.bias.data = torch.zeros(layer.out_features + 1)

    result = grade("7.7", orthogonal_init)
    assert result.diagnosis == "unusable output"
    assert result.message.startswith("The result of `orthogonal_init` could not be used")


def test_a_network_that_was_changed_is_not_called_as_it_was():
    assert grade("7.7", orthogonal_init).diagnosis != "the network is not changed"


def test_another_logarithm_is_found():
    assert "`torch.log10`" in grade("7.4", approximate_kl).message


# --- Errors ---------------------------------------------------------------------------------------


def cuts_equally(n_rows, batch_size, rng):
    return np.split(rng.permutation(n_rows), max(1, n_rows // batch_size))


def goes_through_a_layer(network, output_gain):
    for layer in network:
        torch.nn.init.orthogonal_(layer.weight, output_gain)


def cuts_a_network(network, output_gain):
    for layer in network[:-1]:
        torch.nn.init.orthogonal_(layer.weight, output_gain)


def assigns_weights(network, output_gain):
    for layer in network.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.weight = torch.nn.init.orthogonal_(torch.empty(layer.weight.shape), output_gain)


class LossAlone(PPO):
    def loss(self, batch):
        return super().loss(batch)[0]


@pytest.mark.parametrize(
    ("exercise_id", "wrong", "says"),
    [
        ("7.3", cuts_equally, "`np.array_split` cuts any number"),
        ("7.7", goes_through_a_layer, "take all its layers, `.modules()`"),
        ("7.7", cuts_a_network, "take all its layers, `.modules()`"),
        ("7.7", assigns_weights, "Change weights and biases in place"),
        ("7.8", LossAlone, "does what you call there return all that you need?"),
    ],
)
def test_an_error_is_explained(exercise_id, wrong, says):
    result = grade(exercise_id, wrong)
    assert says in result.message, result.message
    assert "Look at" not in result.message
