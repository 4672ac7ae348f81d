"""The settings of agents: what each can be, and the one sentence for all the rest."""

import math

import numpy as np
import pytest
from sentences import one_sentence

import helpers.agents
from helpers.agents import A2C, PPO, TD3, ReinforceWithBaseline
from helpers.agents.noise import GaussianNoise, UniformNoise

GOOD = {
    "gamma": [0, 1, 0.99, np.float32(0.5)],
    "tau": [1, 1e-9],
    "batch_size": [1, np.int64(3)],
    "buffer_size": [1, 12_000_000],
    "learning_starts": [1, 1e4, np.int64(3)],
    "seed": [None, 0, 7, np.int64(3), 2**40],
    "eps": [1e-9, 3],
    "pretraining": [0, 1e4],
    "noise_clip": [0, math.inf],
    "max_grad_norm": [0.5, None, math.inf],
    "reward_scale": [0.1, -1],
    "hidden": [1, 64, (400, 300), [3], np.int64(4)],
    "noise": [None, GaussianNoise(0.1)],
    "warm_up_noise": [UniformNoise(1.0)],
    "learning_rate": [1e-3],
}
BAD = {
    "gamma": [-0.1, 1.01, math.nan, "0.9", None, True],
    "tau": [0, -0.5, 1.1, math.nan],
    "batch_size": [0, -3, 1.5, 8.0, math.nan, math.inf, "8", False],
    "buffer_size": [1e6, 10**9],
    "seed": [-1, 1.5, 3.0, "0", True],
    "eps": [0, -1, math.inf, math.nan],
    "pretraining": [-1, 0.5, math.inf],
    "noise_clip": [-1e-9, math.nan],
    "max_grad_norm": [0, -1, math.nan],
    "reward_scale": [math.inf, math.nan, "1"],
    "hidden": [0, -1, (), (3, 0), "ab", 2.5, True, [4, "a"], None],
    "noise": [0.1, "GaussianNoise", GaussianNoise],
    "warm_up_noise": [None, 0.1],
    "learning_rate": [0, -1, "1e-3", math.nan, math.inf, None, True, [], print],
    "log_every": [0, 1.5],
    "train_freq": [0, -3],
    "gradient_steps": [0, -3],
    "learning_starts": [0, -3],
    "policy_delay": [0, -2],
    "target_noise": [-0.1, math.nan],
    "temperature": [0.0, -1.0, math.inf],
    "target_entropy": [math.nan],
    "learn_temperature": [None, 1],
    "clip_range": [0, None, math.nan],
    "value_clip_range": [-1],
    "target_kl": [0],
    "n_epochs": [0, 2.0],
    "n_envs": [0, -2],
    "n_steps": [0, -2],
    "value_coef": [-0.1, math.inf],
    "critic_steps": [0],
    "lam": [2, math.nan],
}


KINDS = [getattr(helpers.agents, name) for name in helpers.agents.__all__]


def those_with(name):
    return [kind for kind in KINDS if name in kind.settings]


def pairs(table):
    return [
        pytest.param(kind, name, value, id=f"{kind.__name__}-{name}={value}")
        for name, values in table.items()
        for i, value in enumerate(values)
        for kind in those_with(name)[: 1 if i else None]
    ]


@pytest.mark.parametrize(("kind", "name", "value"), pairs(GOOD))
def test_what_can_be_passes(kind, name, value):
    if (kind, name, value) != (PPO, "batch_size", 1):
        kind.settings[name].checked(value)


@pytest.mark.parametrize(("kind", "name", "value"), pairs(BAD))
def test_what_cannot_be_is_one_sentence_of_one_form(kind, name, value):
    env = "CartPole-v1" if kind is ReinforceWithBaseline else "Pendulum-v1"
    with one_sentence(ValueError, match=rf"^{name} must be .*, got .*\.$"):
        kind(env, **{name: value})


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (TD3, {"learning_starts": 8, "buffer_size": 7}),
        (A2C, {"n_envs": 1, "n_steps": 1}),
        (A2C, {"n_envs": 1, "n_steps": 2}),  # in episodes of one step it would never learn
        (PPO, {"n_epochs": 4, "batch_size": 1}),
    ],
)
def test_settings_that_do_not_fit_each_other_are_a_sentence_of_the_same_form(kind, settings):
    with one_sentence(ValueError, match=r" must be .*, got \d\.$"):
        kind("Pendulum-v1", **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_has_a_form(kind):
    """Except for what its replay memory checks."""
    elsewhere = {"alpha", "beta", "beta_samples"}
    assert {name for name, each in kind.settings.items() if each.check is None} <= elsewhere
