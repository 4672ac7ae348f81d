"""Lesson 01's checks name mistakes as students write them, not only as the catalogue has them."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Normal
from torch.nn import functional as F

from helpers.checks import exercises, grade

LESSON = [exercise for exercise in exercises() if exercise.lesson == "01_a2c"]


class SoftmaxActor(nn.Module):
    def __init__(self, obs_size, n_outputs, hidden):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Linear(obs_size, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, n_outputs)]
        )

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return F.softmax(self.layers[-1](x), dim=-1)


def softmax_actor(obs_size, n_outputs, hidden=64):
    return SoftmaxActor(obs_size, n_outputs, hidden)


def linear_actor(obs_size, n_outputs, hidden=64):
    return nn.Sequential(
        nn.Linear(obs_size, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, n_outputs)
    )


def dropped_axis(logits, actions):
    return Categorical(logits=logits).log_prob(actions.unsqueeze(0)).squeeze()


def loop_from_zero(rewards, final_value, gamma):
    returns, following = [], 0
    for reward in rewards[::-1]:
        following = reward + gamma * following
        returns.append(following)
    returns[0] += gamma * final_value
    return returns[::-1]


def column_times_row(log_probs, advantages):
    return -(log_probs.view(-1, 1) * advantages).mean()


def values_without_grad(critic, obs, returns):
    with torch.no_grad():
        values = critic(obs).squeeze(-1)
    return F.mse_loss(values, returns.detach())


def one_mask_for_both(rewards, values, terminated, truncated, gamma, lam):
    """As in code written for environments that report a single `done`."""
    done = np.logical_or(terminated, truncated)
    advantages, last = np.zeros(rewards.shape), 0
    for t in reversed(range(rewards.shape[0])):
        going_on = 1.0 - done[t]
        delta = rewards[t] + gamma * values[t + 1] * going_on - values[t]
        advantages[t] = last = delta + gamma * lam * going_on * last
    return advantages


def resets_with_if(rewards, values, terminated, truncated, gamma, lam):
    advantages, last = np.zeros(rewards.shape), 0
    for t in reversed(range(rewards.shape[0])):
        if terminated[t] or truncated[t]:
            last = 0
        future = 0 if terminated[t] else gamma * values[t + 1]
        advantages[t] = last = rewards[t] + future - values[t] + gamma * lam * last
    return advantages


def drawn_entropy(logits):
    actions = torch.distributions.Categorical(logits=logits).sample()
    return F.cross_entropy(logits, actions, reduction="none")


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("1.1", softmax_actor, "softmax at the end"),
        ("1.1", linear_actor, "no activations"),
        ("1.1", lambda o, n, h=64: nn.Sequential([nn.Linear(o, h)]), "a list inside Sequential"),
        ("1.2", dropped_axis, "shape"),
        ("1.2", lambda z, a: z.log_softmax(-1).detach()[range(len(a)), a], "no gradient"),
        ("1.2", lambda z, a: np.log(F.softmax(z, -1).numpy())[:, a], "by way of numpy"),
        ("1.2", lambda z, a: Categorical(logits=z.softmax(-1)).log_prob(a), "softmax twice"),
        ("1.2", lambda z, a: torch.log_softmax(z, -1).gather(1, a), "gather without an axis"),
        ("1.3", loop_from_zero, "only the last return"),
        ("1.4", lambda lp, adv: (lp * adv).mean(), "minus missing"),
        ("1.4", lambda lp, adv: -(lp * adv).sum(), "sum instead of mean"),
        ("1.4", lambda lp, adv: (-lp * adv).mean(), "advantages not detached"),
        ("1.4", lambda lp, adv: -(lp * adv.detach()).mean().item(), "log-probabilities detached"),
        ("1.4", column_times_row, "each with every other"),
        ("1.6", lambda v, obs, g: F.mse_loss(v(obs), g), "every value against every return"),
        ("1.6", lambda v, obs, g: F.mse_loss(v(obs), g[:, None]), "returns not detached"),
        ("1.6", lambda v, obs, g: 0.5 * F.mse_loss(v(obs)[:, 0], g), "half the squared error"),
        ("1.6", values_without_grad, "values detached"),
        ("1.7", lambda d, before: np.logical_not(d), "drops the rows that end an episode"),
        ("1.7", lambda d, before: np.roll(~d, 1, 0), "wraps around"),
        ("1.8", one_mask_for_both, "truncation taken for termination"),
        ("1.8", resets_with_if, "an if for all environments"),
        ("1.9", drawn_entropy, "surprise of a sampled action"),
        ("1.9", lambda z: Categorical(logits=z).entropy().mean(), "averaged over the batch"),
        ("1.10", lambda m, s, a: Normal(m, s.exp() ** 2).log_prob(a).sum(-1), "variance as std"),
        ("1.10", lambda m, s, a: Normal(m, s.exp()).log_prob(a), "one entry a dimension"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert not result.passed
    assert str(result.diagnosis).startswith(diagnosis), str(result)


@pytest.mark.parametrize("exercise", LESSON, ids=lambda exercise: exercise.id)
def test_messages_are_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert "*" not in prose, entry.name
        assert "$" not in prose, entry.name


def test_half_detached_is_not_detached():
    def half(log_probs, advantages):
        return -(log_probs * (advantages + advantages.detach()) / 2).mean()

    assert grade("1.4", half).diagnosis == "advantages not detached"
