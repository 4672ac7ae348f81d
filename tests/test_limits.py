"""The table of limits: what each setting can be, and the one sentence for all the rest."""

import inspect
import math

import numpy as np
import pytest
import torch
from sentences import assert_one_sentence, one_sentence

import helpers.agents
from helpers.agents import TD3, A2CByTheBook
from helpers.agents.base import Agent
from helpers.agents.limits import LIMITS, check_counts, check_limits
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
    "learning_rate": [0, -1, "fast", math.nan],
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


def pairs(table):
    return [
        pytest.param(name, v, id=f"{name}={v}") for name, values in table.items() for v in values
    ]


@pytest.mark.parametrize(("name", "value"), pairs(GOOD))
def test_what_can_be_passes(name, value):
    check_limits({name: value})


@pytest.mark.parametrize(("name", "value"), pairs(BAD))
def test_what_cannot_be_is_one_sentence_of_one_form(name, value):
    with one_sentence(ValueError, match=rf"^{name} must be .*, got .*\.$"):
        check_limits({name: value})


def test_settings_that_do_not_fit_each_other_are_a_sentence_of_the_same_form():
    check_limits({"learning_starts": 7, "buffer_size": 7})
    for settings in (
        {"learning_starts": 8, "buffer_size": 7},
        {"n_envs": 1, "n_steps": 1},
        {"n_epochs": 4, "batch_size": 1},
    ):
        with one_sentence(ValueError, match=r" must be .*, got \d\.$"):
            check_limits(settings)
    with pytest.raises(ValueError, match=r"^epochs must be a whole number from 1 up, got 0\.$"):
        check_counts(patience=1, epochs=0)


def test_what_is_not_in_the_table_may_be_anything():
    check_limits({"temper": -1, "self": object(), "__class__": int})


KINDS = [getattr(helpers.agents, name) for name in helpers.agents.__all__]


def test_every_number_that_an_agent_takes_is_in_the_table():
    """Except for what its replay memory checks, and what is true or false."""
    elsewhere = {"alpha", "beta", "beta_samples", "layer_norm", "env", "self"}
    owners = {owner for kind in KINDS for owner in kind.__mro__ if issubclass(owner, Agent)}
    for owner in owners:
        for parameter in inspect.signature(owner.__init__).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD:
                assert parameter.name in LIMITS.keys() | elsewhere, (owner, parameter)


@pytest.mark.parametrize("kind", KINDS)
def test_every_agent_asks_the_table(kind):
    env = "CartPole-v1" if kind is A2CByTheBook else "Pendulum-v1"
    for name in inspect.signature(kind).parameters.keys() & LIMITS.keys():
        with one_sentence(ValueError, match=rf"^{name} must be "):
            kind(env, **{name: BAD.get(name, [math.nan])[0]})


def test_networks_of_another_precision_are_refused():
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(ValueError, match="learn in float32") as error:
            TD3("Pendulum-v1")
    finally:
        torch.set_default_dtype(torch.float32)
    assert_one_sentence(error.value, "float32", "torch.float64")
