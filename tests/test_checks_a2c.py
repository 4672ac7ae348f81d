"""Lesson 01's checks name mistakes as students write them, not only as the catalogue has them."""

import math
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


def swapped_sizes(obs_size, n_outputs, hidden=64):
    first, second = nn.Linear(obs_size, n_outputs), nn.Linear(n_outputs, n_outputs)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(n_outputs, hidden))


class SqueezingCritic(SoftmaxActor):
    def __init__(self, obs_size, hidden=64):
        super().__init__(obs_size, 1, hidden)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x).squeeze()


def dropped_axis(logits, actions):
    return Categorical(logits=logits).log_prob(actions.unsqueeze(0)).squeeze()


def loop_from_zero(rewards, final_value, gamma):
    returns, following = [], 0
    for reward in rewards[::-1]:
        following = reward + gamma * following
        returns.append(following)
    returns[0] += gamma * final_value
    return returns[::-1]


def future_first(rewards, final_value, gamma):
    returns, following = [], 0
    for reward in [*rewards[::-1], final_value]:
        following = reward + gamma * following
        returns.append(following)
    return returns[::-1]


def scaled(advantages):
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


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


INVERTED, BOTH_INVERTED = "~end.astype(int)", "~(end | cut).astype(int)"


def gae_of(
    start="0",
    bootstrap="1 - end",
    delta="r + gamma * after * mask - v",
    go_on="1 - (end | cut)",
    step="delta + gamma * lam * ({go_on}) * last",
):
    """GAE from the lines of somebody's loop."""
    source = f"""
def gae(rewards, values, terminated, truncated, gamma, lam):
    advantages, last = np.zeros(rewards.shape), {start}
    for t in reversed(range(len(rewards))):
        r, v, after, end, cut = rewards[t], values[t], values[t + 1], terminated[t], truncated[t]
        mask = {bootstrap}
        delta = {delta}
        advantages[t] = last = {step.format(go_on=go_on)}
    return advantages
"""
    scope = {"np": np}
    exec(source, scope)
    return scope["gae"]


def by_hand(mean, std, actions, subtracted):
    squares = (actions - mean) ** 2 / (2 * std**2)
    return (-squares - subtracted - math.log(math.sqrt(2 * math.pi))).sum(-1)


def drawn_entropy(logits):
    actions = torch.distributions.Categorical(logits=logits).sample()
    return F.cross_entropy(logits, actions, reduction="none")


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("1.1", softmax_actor, "softmax at the end"),
        ("1.1", linear_actor, "no activations"),
        ("1.1", lambda o, n, h=64: nn.Sequential([nn.Linear(o, h)]), "a list inside Sequential"),
        ("1.1", swapped_sizes, "hidden and n_outputs exchanged"),
        ("1.2", dropped_axis, "shape"),
        ("1.2", lambda z, a: None, "no return"),
        ("1.2", lambda z, a: z.log_softmax(-1).detach()[range(len(a)), a], "no gradient"),
        ("1.2", lambda z, a: np.log(F.softmax(z, -1).numpy())[:, a], "by way of numpy"),
        ("1.2", lambda z, a: Categorical(logits=z.softmax(-1)).log_prob(a), "softmax twice"),
        ("1.2", lambda z, a: torch.log_softmax(z, -1).gather(1, a), "gather without an axis"),
        ("1.3", loop_from_zero, "only the last return"),
        ("1.3", lambda r, v, g: future_first(r, v, g)[1:], "final value ignored"),
        ("1.3", lambda r, v, g: future_first(r, v, g)[:-1], "final value before the rewards"),
        ("1.3", future_first, "final value before the rewards, and one return too many"),
        ("1.4", lambda lp, adv: (lp * adv).mean(), "minus missing"),
        ("1.4", lambda lp, adv: -(lp * adv).sum(), "sum instead of mean"),
        ("1.4", lambda lp, adv: (-lp * adv).mean(), "advantages not detached"),
        ("1.4", lambda lp, adv: -(lp * adv.detach()).mean().item(), "a plain number"),
        ("1.4", lambda lp, adv: -(lp * adv).mean().detach().numpy(), "a plain number"),
        ("1.4", lambda lp, adv: -(lp * adv.detach()).mean().detach(), "log-probabilities detached"),
        ("1.4", lambda lp, adv: None, "no return"),
        ("1.4", lambda lp, adv: -(lp * scaled(adv).detach()).mean(), "standardised advantages"),
        ("1.4", column_times_row, "each with every other"),
        ("1.6", lambda v, obs, g: F.mse_loss(v(obs), g), "every value against every return"),
        ("1.6", lambda v, obs, g: F.mse_loss(v(obs), g[:, None]), "returns not detached"),
        ("1.6", lambda v, obs, g: 0.5 * F.mse_loss(v(obs)[:, 0], g), "half the squared error"),
        ("1.6", values_without_grad, "values detached"),
        ("1.6", lambda v, obs, g: ((v(obs)[:, 0] - g) ** 2).mean().item(), "a plain number"),
        ("1.6", lambda v, obs, g: None, "no return"),
        ("1.7", lambda d, before: np.logical_not(d), "drops the rows that end an episode"),
        ("1.7", lambda d, before: np.roll(~d, 1, 0), "wraps around"),
        ("1.8", one_mask_for_both, "truncation taken for termination"),
        ("1.8", resets_with_if, "an if for all environments"),
        ("1.8", gae_of(start="values[-1]"), "starts at the last value"),
        ("1.8", gae_of(delta="r + (gamma * after - v) * (1 - end)"), "the baseline masked"),
        ("1.8", gae_of(step="(delta + gamma * lam * last) * ~(end | cut)"), "advantage zeroed at"),
        ("1.8", gae_of(step="(delta + gamma * lam * last) * ~end"), "advantage zeroed at a term"),
        ("1.8", gae_of(delta="r + gamma * v * (1 - end) - after"), "values exchanged"),
        ("1.8", gae_of(delta="r + gamma * v - after * (1 - end)"), "values exchanged"),
        ("1.8", gae_of(bootstrap=INVERTED, go_on=BOTH_INVERTED), "both masks invert whole"),
        ("1.8", gae_of(bootstrap=INVERTED), "the TD error's mask inverts whole"),
        ("1.8", gae_of(go_on=BOTH_INVERTED), "the sum's mask inverts whole"),
        ("1.9", drawn_entropy, "surprise of a sampled action"),
        ("1.9", lambda z: Categorical(logits=z).entropy().mean(), "averaged over the batch"),
        ("1.10", lambda m, s, a: Normal(m, s.exp() ** 2).log_prob(a).sum(-1), "variance as std"),
        ("1.10", lambda m, s, a: Normal(m, s.exp()).log_prob(a), "one entry a dimension"),
        ("1.10", lambda m, s, a: by_hand(m, s.exp(), a, s.exp()), "std subtracted in place"),
        ("1.10", lambda m, s, a: by_hand(m, s, a, s.log()), "log_std taken for the std through"),
        ("1.10", lambda m, s, a: by_hand(m, s, a, (s**2).log() / 2), "log_std taken for the std, "),
        ("1.10", lambda m, s, a: by_hand(m, s, a, s), "log_std taken for the std"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:std")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert not result.passed
    assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_the_std_is_named_as_exp_of_its_logarithm():
    result = grade("1.10", lambda m, s, a: by_hand(m, s, a, s.log()))
    assert "`exp`" in result.message


def test_gae_of_is_right_as_it_stands():
    assert grade("1.8", gae_of()).passed


def test_a_wrong_shape_of_values_is_shown_on_a_small_batch():
    result = grade("1.5", SqueezingCritic)
    assert result.diagnosis == "shape"
    assert "(2, 3)" in str(result)


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
