"""The probes: right agents pass all, and each mistake is caught by the probe that names it."""

import math
import pkgutil
from dataclasses import replace
from unittest.mock import patch

import gymnasium as gym
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from sentences import one_sentence
from sometimes import always_on

from helpers.agents import A2C, DDPG, PPO, RLPD, SAC, TD3, TD3BC, BehaviourCloning, DDPGfD
from helpers.training.probes import (
    PROBES,
    ProbeResult,
    ProbeResults,
    probe,
    probe_once,
    quick,
    symptoms,
)

NAMES = [one.name for one in PROBES]


# --- The environments -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*symmetric and normalized:UserWarning")
@pytest.mark.parametrize("one", PROBES[:4], ids=NAMES[:4])  # it refuses a truncation after one step
def test_a_probe_keeps_gymnasiums_rules(one):
    check_env(gym.make(one.env_id).unwrapped, skip_render_check=True)


# --- Right agents ---------------------------------------------------------------------------------


KINDS = [TD3, TD3BC, RLPD, A2C, DDPG, PPO, SAC, DDPGfD]


@pytest.mark.parametrize("kind", always_on("TD3", of=KINDS, name=lambda it: it.__name__))
def test_a_right_agent_passes_all(kind):
    results = probe(quick(kind), seed=0)
    assert [result.probe.name for result in results] == NAMES
    assert results.suspect is None, results
    assert repr(results).endswith("All probes passed.")


def test_values_are_asked_for_in_the_units_of_rewards():
    make = quick(TD3, reward_scale=0.2, critic_learning_rate=0.002)
    assert probe_once(PROBES[1], make).got == pytest.approx([0.8, 1.0], abs=0.1)
    assert probe_once(PROBES[4], make).got == pytest.approx([5.0], abs=0.5)


def test_without_settings_it_says_what_to_do():
    with one_sentence(ValueError, "of your own", "BehaviourCloning"):
        quick(BehaviourCloning)


def test_a_gamma_with_which_nothing_can_be_told_is_refused():
    with one_sentence(ValueError, "gamma", "0.99"):
        probe(quick(TD3, gamma=0.99))


# --- Mistakes, each with the probe that must be the first to fail ---------------------------------


def truncated_ends(original):
    """A truncation counts as a termination."""

    def target(batch, *rest):
        over = torch.maximum(batch.terminated, batch.truncated)
        return original(batch._replace(terminated=over), *rest)

    return target


def gamma_of(number):
    def wrong(original):
        return lambda *given: original(*given[:-1], number)

    return wrong


def negative(original):
    return lambda *arguments: -original(*arguments)


def taught_nothing(original):
    """The critic's target is 0, always."""
    return lambda critic, batch, target: original(critic, batch, torch.zeros_like(target))


def mixed_up(part):
    """The rows of one part of a batch are no longer those of the others."""

    def wrong(original):
        def sample(self, batch_size):
            batch = original(self, batch_size)
            return batch._replace(**{part: getattr(batch, part).roll(1, dims=0)})

        return sample

    return wrong


def judged_elsewhere(original):
    """The actor's action goes to the critic together with the observation of another row."""

    def loss(actor, critic, obs):
        return original(lambda shown: actor(shown.roll(1, dims=0)), critic, obs)

    return loss


def as_they_are(original):
    """Actions in [-1, 1] given to an environment that wants other units."""
    return lambda action, low, high: action


def ppo_truncated_ends(original):
    return lambda rewards, values, next_values, ended, cut, *rest: original(
        rewards, values, next_values, ended | cut, cut & False, *rest
    )


CONSTANT, TWO_STEPS, ACTION, STATE_ACTION, TRUNCATION = NAMES
DOUBLE_Q = "helpers.agents.td3.clipped_double_q_target"
SAMPLE = "helpers.memory.buffers.ReplayBuffer.sample"
UNITS = "helpers.envs.units.to_env_units"
# The agent, where its mistake is, the mistake made of what is there, and the first probe to fail.
MISTAKES = [
    (TD3, "helpers.agents.td3.twin_critic_loss", taught_nothing, CONSTANT),
    (TD3, DOUBLE_Q, gamma_of(1.0), TWO_STEPS),
    (TD3, "helpers.agents.td3.actor_loss_by_q1", negative, ACTION),
    (TD3, UNITS, as_they_are, ACTION),
    (TD3, SAMPLE, mixed_up("obs"), TWO_STEPS),
    (TD3, "helpers.agents.td3.actor_loss_by_q1", judged_elsewhere, STATE_ACTION),
    (TD3, DOUBLE_Q, truncated_ends, TRUNCATION),
    (PPO, "helpers.agents.on_policy.gae", ppo_truncated_ends, TRUNCATION),
]


def label(mistake):
    kind, where, wrong, _ = mistake
    return f"{kind.__name__} {where.rsplit('.', 1)[1]} {wrong.__qualname__.split('.')[0]}"


@pytest.mark.parametrize("mistake", always_on("TD3", of=MISTAKES, name=label))
def test_the_first_probe_to_fail_names_the_suspect(mistake):
    kind, where, wrong, name = mistake
    make = quick(kind, fast=False)  # else its twin in numpy updates
    with patch(where, wrong(pkgutil.resolve_name(where))):
        for one in PROBES[: NAMES.index(name) + 1]:
            result = probe_once(one, make, steps=500)  # half of what a right agent is given
            assert result.passed == (one.name != name), result


# --- The verdict ----------------------------------------------------------------------------------


def result(name="a", got=(1.0,), expected=(1.0,), suspect="the critic"):
    return ProbeResult(replace(PROBES[0], name=name, suspect=suspect), expected, got)


def test_a_table_in_words():
    assert result(got=(1.09, 0.41), expected=(1.0, 0.5)).passed
    table = ProbeResults([result(), result("other", (0.12345, math.nan), (0.5, 1.0))])
    assert repr(table).splitlines() == [
        "probe  asked for           expected    got",
        "a      value of the start  1.00        1.00       passed",
        "other  value of the start  0.50, 1.00  0.12, nan  FAILED",
        "Look first at the critic.",
    ]
    assert table.suspect == "the critic"


def test_what_an_agent_shows_of_itself():
    make = quick(TD3)
    agent = make("ConstantProbe-v0", 0).learn(make.steps)
    seen = symptoms(agent)
    assert seen["return"] == seen["obtained"] == 1
    assert seen["value says"] == pytest.approx(1, abs=0.1)
    assert seen["critic loss"] < 0.1
    with torch.no_grad():  # the tanh saturates
        for parameter in agent.actor.parameters():
            parameter.fill_(10)
    assert symptoms(agent)["at a bound"] == 1
