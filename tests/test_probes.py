"""The probes: right agents pass all, and each mistake is caught by the probe that names it."""

import math
import pkgutil
from unittest.mock import patch

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from sentences import one_sentence
from sometimes import always_on

from helpers.agents import A2C, DDPG, PPO, RLPD, SAC, TD3, TD3BC, BehaviourCloning, DDPGfD, td3
from helpers.training.probes import (
    PROBES,
    ProbeResult,
    ProbeResults,
    diagnose,
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


GOES_ON, TERMINATED, TRUNCATED = (False, False), (True, False), (False, True)


@pytest.mark.parametrize(
    ("name", "start", "action", "steps"),
    [
        ("constant", 0, 0.5, [(1, 1, TERMINATED)]),
        ("two steps", -1, 0, [(1, 0, GOES_ON), (0, 1, TERMINATED)]),
        *[("action", 0, action, [(1, reward, TERMINATED)])
          for action, reward in ((2.5, 1.0), (2, 0.75), (4, -1.25), (0, -5.25))],
        ("truncation", 0, 1, [(0, 1, TRUNCATED)]),
    ],
)  # fmt: skip
def test_what_a_probes_environment_shows_and_pays(name, start, action, steps):
    env = gym.make(PROBES[NAMES.index(name)].env_id)
    for _ in range(2):
        assert env.reset(seed=0)[0] == [start]
        for shown, reward, end in steps:
            obs, *row, _ = env.step(np.array([action], np.float32))
            assert (obs, row) == ([shown], [reward, *end])


def test_state_and_action_decide_together():
    env, seen = gym.make("StateActionProbe-v0"), set()
    for seed in range(10):
        for action in 0, 1.5, 2.5:
            shown = float(env.reset(seed=seed)[0][0])
            best = {-1: 1.5, 1: 2.5}[shown]
            obs, *row, _ = env.step(np.array([action], np.float32))
            assert (obs, row) == ([0], [1 - (action - best) ** 2, True, False])
            seen.add(shown)
    assert seen == {-1, 1}


# --- Right agents ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", always_on("TD3", of=[A2C, TD3], name=lambda it: it.__name__))
def test_a_right_agent_passes_all(kind):
    results = probe(quick(kind), seed=0)
    assert [result.name for result in results] == NAMES
    assert results.passed, results
    assert diagnose(results) is None
    assert results.verdict() == "All probes passed."


@pytest.mark.long
@pytest.mark.parametrize("kind", [DDPG, PPO, SAC, DDPGfD])
def test_other_agents_pass_the_last_probe_too(kind):
    """All before it they pass below, with a mistake that only the last one finds."""
    assert probe_once(PROBES[4], quick(kind)).passed


@pytest.mark.parametrize("kind", [TD3BC, RLPD])
def test_agents_with_old_data_of_chance_pass(kind):
    assert probe(quick(kind)).passed


def test_values_are_asked_for_in_the_units_of_rewards():
    make = quick(TD3, reward_scale=0.2, critic_learning_rate=0.002)
    assert probe_once(PROBES[1], make).got == pytest.approx([0.8, 1.0], abs=0.1)
    assert probe_once(PROBES[4], make).got == pytest.approx([5.0], abs=0.5)


def test_the_seed_decides():
    one, again, other = (probe(quick(TD3), seed=seed, steps=100) for seed in (1, 1, 2))
    assert [result.got for result in one] == [result.got for result in again]
    assert [result.got for result in one] != [result.got for result in other]


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


def termination_ignored(original):
    def target(batch, *rest):
        return original(batch._replace(terminated=torch.zeros_like(batch.terminated)), *rest)

    return target


def negative(original):
    return lambda *arguments: -original(*arguments)


def taught_nothing(original):
    """The critic's target is 0, always."""
    return lambda critic, batch, target: original(critic, batch, torch.zeros_like(target))


def detached(original):
    """The critic sees the actor's action, but no gradient comes back."""

    def loss(actor, critic, obs):
        return original(lambda obs: actor(obs).detach(), critic, obs) + 0 * actor(obs).sum()

    return loss


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


def sac_downhill(original):
    return lambda critic, *rest: original(lambda *given: [-q for q in critic(*given)], *rest)


def sac_judged_elsewhere(original):
    return lambda critic, obs, *drawn: original(critic, obs.roll(1, dims=0), *drawn)


def as_they_are(original):
    """Actions in [-1, 1] given to an environment that wants other units."""
    return lambda action, low, high: action


def blind(original):
    """Observations do not reach the network."""
    return lambda self, obs, *rest: original(self, 0 * obs, *rest)


def a2c_taught_nothing(original):
    return lambda critic, obs, returns: original(critic, obs, torch.zeros_like(returns))


def a2c_gamma_of_one(original):
    return lambda *given: original(*given[:5], 1.0, *given[6:])  # the sixth is gamma


def ppo_truncated_ends(original):
    return lambda rewards, values, next_values, ended, cut, *rest: original(
        rewards, values, next_values, ended | cut, cut & False, *rest
    )


def a2c_obs_mixed_up(original):
    return lambda self, obs, actions: original(self, obs.roll(1, dims=0), actions)


CONSTANT, TWO_STEPS, ACTION, STATE_ACTION, TRUNCATION = NAMES
DOUBLE_Q = "helpers.agents.td3.clipped_double_q_target"
SAMPLE = "helpers.memory.buffers.ReplayBuffer.sample"
P_SAMPLE = "helpers.memory.buffers.PrioritizedReplayBuffer.sample"
UNITS = "helpers.envs.units.to_env_units"
POLICY = "helpers.agents.policies.GaussianPolicy"
# The agent, where its mistake is, the mistake made of what is there, and the first probe to fail.
MISTAKES = [
    (TD3, "helpers.agents.td3.twin_critic_loss", taught_nothing, CONSTANT),
    (TD3, DOUBLE_Q, termination_ignored, CONSTANT),
    (TD3, DOUBLE_Q, gamma_of(1.0), TWO_STEPS),
    (TD3, DOUBLE_Q, gamma_of(0.0), TWO_STEPS),
    (TD3, "helpers.agents.td3.actor_loss_by_q1", negative, ACTION),
    (TD3, "helpers.agents.td3.actor_loss_by_q1", detached, ACTION),
    (TD3, UNITS, as_they_are, ACTION),
    (TD3, SAMPLE, mixed_up("action"), ACTION),
    (TD3, SAMPLE, mixed_up("obs"), TWO_STEPS),
    (TD3, "helpers.agents.td3.actor_loss_by_q1", judged_elsewhere, STATE_ACTION),
    (TD3, DOUBLE_Q, truncated_ends, TRUNCATION),
    (DDPG, "helpers.agents.ddpg.critic_loss", taught_nothing, CONSTANT),
    (DDPG, "helpers.agents.ddpg.td_target", gamma_of(1.0), TWO_STEPS),
    (DDPG, "helpers.agents.networks.QNetwork.forward", blind, TWO_STEPS),
    (DDPG, "helpers.agents.ddpg.actor_loss", negative, ACTION),
    (DDPG, "helpers.agents.networks.DeterministicActor.forward", blind, STATE_ACTION),
    (DDPG, "helpers.agents.ddpg.td_target", truncated_ends, TRUNCATION),
    (DDPGfD, "helpers.agents.ddpgfd.weighted_critic_loss", negative, CONSTANT),
    (DDPGfD, "helpers.agents.ddpgfd.td_target", gamma_of(1.0), TWO_STEPS),
    (DDPGfD, "helpers.agents.ddpgfd.actor_loss", detached, ACTION),
    (DDPGfD, P_SAMPLE, mixed_up("obs"), TWO_STEPS),
    (DDPGfD, "helpers.agents.ddpgfd.actor_loss", judged_elsewhere, STATE_ACTION),
    (DDPGfD, "helpers.agents.ddpgfd.td_target", truncated_ends, TRUNCATION),
    (A2C, "helpers.agents.a2c.critic_loss", a2c_taught_nothing, CONSTANT),
    (A2C, "helpers.agents.a2c.gae", a2c_gamma_of_one, TWO_STEPS),
    (A2C, "helpers.agents.a2c.actor_loss", negative, ACTION),
    (A2C, f"{POLICY}.evaluate", a2c_obs_mixed_up, STATE_ACTION),
    (SAC, "helpers.agents.sac.twin_critic_loss", taught_nothing, CONSTANT),
    (SAC, "helpers.agents.sac.soft_td_target", gamma_of(1.0), TWO_STEPS),
    (SAC, SAMPLE, mixed_up("obs"), TWO_STEPS),
    (SAC, "helpers.agents.sac.sac_actor_loss", sac_downhill, ACTION),
    (SAC, "helpers.agents.networks.SquashedGaussianActor.forward", blind, STATE_ACTION),
    (SAC, "helpers.agents.sac.sac_actor_loss", sac_judged_elsewhere, STATE_ACTION),
    (SAC, "helpers.agents.sac.soft_td_target", truncated_ends, TRUNCATION),
    (PPO, "helpers.agents.ppo.ppo_value_loss", negative, CONSTANT),
    (PPO, "helpers.agents.a2c.gae", a2c_gamma_of_one, TWO_STEPS),
    (PPO, "helpers.agents.ppo.clipped_surrogate", negative, ACTION),
    (PPO, f"{POLICY}.evaluate", a2c_obs_mixed_up, STATE_ACTION),
    (PPO, "helpers.agents.a2c.gae", ppo_truncated_ends, TRUNCATION),
]


def label(mistake):
    kind, where, wrong, _ = mistake
    return f"{kind.__name__} {where.rsplit('.', 1)[1]} {wrong.__qualname__.split('.')[0]}"


@pytest.mark.parametrize("mistake", always_on("TD3", of=MISTAKES, name=label))
def test_the_first_probe_to_fail_names_the_suspect(mistake):
    """Of other agents than TD3 only the probe before it is tried too, or all before the last."""
    kind, where, wrong, name = mistake
    steps = 1000 if kind is A2C else 500  # half of what a right agent is given
    last = NAMES.index(name)
    first = 0 if kind is TD3 or name == TRUNCATION else max(last - 1, 0)
    by_autograd = {} if kind is A2C else {"fast": False}  # else its twin in numpy updates
    with patch(where, wrong(pkgutil.resolve_name(where))):
        for one in PROBES[first : last + 1]:
            result = probe_once(one, quick(kind, **by_autograd), steps=steps)
            assert result.passed == (one.name != name), result


def test_what_a_critic_says_tells_more():
    slow = quick(TD3, fast=False)
    with patch(DOUBLE_Q, truncated_ends(td3.clipped_double_q_target)):
        assert probe_once(PROBES[4], slow).got == pytest.approx([1.0], abs=0.1)
    with patch(DOUBLE_Q, gamma_of(1.0)(td3.clipped_double_q_target)):
        assert probe_once(PROBES[1], slow).got == pytest.approx([1.0, 1.0], abs=0.1)


# --- The verdict ----------------------------------------------------------------------------------


def result(name="a", got=(1.0,), expected=(1.0,), suspect="the <critic>"):
    return ProbeResult(name, "value of the start", expected, got, 0.1, suspect)


def test_a_table_in_words_and_on_a_page():
    assert result(got=(1.09, 0.41), expected=(1.0, 0.5)).passed
    table = ProbeResults([result(), result("other", (0.12345, math.nan), (0.5, 1.0))])
    assert repr(table).splitlines() == [
        "probe  asked for           expected    got",
        "a      value of the start  1.00        1.00       passed",
        "other  value of the start  0.50, 1.00  0.12, nan  FAILED",
        "Look first at the <critic>.",
    ]
    assert not table.passed
    page = table._repr_html_()
    assert page.count("<tr>") == 3
    assert "<critic>" not in page
    assert page.count("the &lt;critic&gt;") == 2  # in the row that failed and in the verdict
    assert page.index("passed") < page.index("FAILED")


def test_ddpgfd_is_given_demonstrations():
    agent = quick(DDPGfD)("ActionProbe-v0", 0)
    assert agent.buffer.demos == 50
    done = agent.buffer.arrays.action[:50]
    assert -1 <= done.min() < -0.8
    assert 0.8 < done.max() <= 1


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
