"""Lesson 06's actor: exercise 6.1 `SquashedGaussianActor`.

Mean and log of the std may come out of one last layer or of two. So the rows of the last layers get
known weights by what they give, not by where they stand.
"""

import numpy as np
import torch
from torch import nn

from helpers.algorithms.sac import SquashedGaussianActor
from helpers.checks.exercise import Case
from helpers.exercises.lesson_02_ddpg.networks import start_properties
from helpers.exercises.observing import fill_parameters, gradient, sizes_of, steady, what_runs
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn

HIDDEN = "sizes of the hidden layers"
FORM = "form of the output"

# --- What is looked at ----------------------------------------------------------------------------


def observe_actor(function, obs, action_dim, hidden, scale):
    """`scale` is the size of the last layer's weights: with a large one the log is cut off."""
    network = function(obs.shape[-1], action_dim, hidden)
    body, heads = parts(network, obs)
    fill_parameters(network, obs)
    given = network(obs)
    if given is None:
        return None
    if not body:
        return {HIDDEN: "none that torch knows of"}
    seen = {HIDDEN: sizes_of(body), FORM: described(given)}
    if seen[FORM] != "two tensors":
        return seen | {"mean": None, "log_std": None}
    fill_heads(heads, given, scale)
    mean, log_std = network(obs)
    again = [network(obs) for _ in range(4)]
    return seen | {
        "mean": steady(mean, *(each[0] for each in again)),
        "log_std": steady(log_std, *(each[1] for each in again)),
    }


def described(given) -> str:
    if isinstance(given, torch.Tensor):
        return "one tensor"
    if isinstance(given, torch.distributions.Distribution):
        return "a distribution"
    tensors = isinstance(given, tuple | list) and all(isinstance(x, torch.Tensor) for x in given)
    return {2: "two tensors"}.get(len(given), f"{len(given)} tensors") if tensors else "no tensors"


def parts(network: nn.Module, obs: torch.Tensor) -> tuple[list[nn.Linear], list[nn.Linear]]:
    """The hidden layers, and the last ones: all that take what the very last one takes."""
    known = {*network.modules()}
    runs = [each for each in what_runs(network, obs) if each[0] in known]
    arrived = {layer: given[0] for layer, given in runs if isinstance(layer, nn.Linear)}
    ran = list(arrived)
    last = arrived[ran[-1]] if ran else None
    heads = [layer for layer in ran if last is not None and torch.equal(arrived[layer], last)]
    return [layer for layer in ran if layer not in heads], heads


def fill_heads(heads: list[nn.Linear], given, scale: float) -> None:
    """Known weights for the row of a last layer that makes the j-th mean, or the j-th log_std."""
    found = []
    for kind, output in enumerate(given):
        for j in range(output.shape[-1] if output.ndim else 0):
            for layer in heads:
                slope = gradient(output[..., j], layer.bias)
                found += [(layer, row, kind, j) for row in rows_of(slope)]
    for layer, row, kind, j in found:
        rng = np.random.default_rng([kind, j])
        numbers = scale * rng.normal(size=layer.weight.shape[1] + 1)
        layer.weight.data[row], layer.bias.data[row] = map(
            torch.as_tensor, (numbers[1:], numbers[0])
        )


def rows_of(slope: torch.Tensor | None) -> list[int]:
    return [] if slope is None else slope.nonzero().flatten().tolist()


def actor_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((drawn(rng, 1, 3), 1, 5, 0.3), note="a batch of one, Pendulum's sizes"),
        Case((drawn(rng, 4, 3), 2, 5, 0.3), note="four observations, two action dimensions"),
        Case((drawn(rng, 3), 1, 5, 0.3), note="one observation without a batch, as while acting"),
        Case((drawn(rng, 6, 2), 1, 64, 0.3), note="MountainCarContinuous' sizes"),
        Case((drawn(rng, 40, 3), 3, 8, 300.0), note="a log_std far out on either side"),
        Case((drawn(rng, 3, 2, 4), 5, 8, 0.3), note="observations of shape (3, 2, 4)"),
    ]


SQUASHED_GAUSSIAN_ACTOR = exercise(
    __file__, "6.1", SquashedGaussianActor, actor_cases, observe_actor,
    properties=start_properties((3,), parts),
)  # fmt: skip
