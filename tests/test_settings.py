"""The settings that lessons, studies, tests and benchmarks share."""

import gymnasium as gym
import pytest
from sentences import assert_one_sentence

from helpers.training.settings import SETTINGS, get_setting

EVERY = pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: " ".join(name(s)))


def name(setting):
    return setting.algorithm, setting.env_id


@EVERY
def test_in_few_steps_there_is_time_to_learn(setting, monkeypatch):
    monkeypatch.setenv("COURSE_TEST_STEPS", "60")
    short = get_setting(*name(setting))
    assert short.steps * setting.params.get("gradient_steps", 1) == 60
    assert short.bar < -1e6
    agent = short.make(seed=0)
    assert getattr(agent, "learning_starts", 1) <= 15
    assert getattr(agent, "pretraining", 0) <= 6


@EVERY
def test_a_bar_can_be_reached_and_is_not_reached_by_chance(setting):
    worst, best = {
        "CartPole-v1": (0, 500),
        "Acrobot-v1": (-500, -40),
        "Pendulum-v1": (-1500, 0),
        "MountainCarContinuous-v0": (-100, 100),
        "SparsePendulum-v0": (0, 148),
    }[setting.env_id]
    assert worst + 0.8 * (best - worst) < setting.bar < best
    solved = gym.spec(setting.env_id).reward_threshold
    assert solved is None or setting.bar >= solved


@EVERY
def test_a_setting_makes_the_untrained_agent_of_its_lesson(setting):
    assert get_setting(*name(setting)) is setting
    agent, plain = setting.make(seed=57, gamma=0.5), setting.make(57).hyperparameters
    assert (type(agent), agent.env_source) == (setting.kind, setting.env_id)
    assert (agent.seed, agent.steps) == (57, 0)
    assert setting.params.items() <= plain.items()
    assert agent.hyperparameters == plain | {"gamma": 0.5}
    assert 0 < setting.steps <= 1_000_000


@pytest.mark.parametrize(
    ("wanted", "known"),
    [(("a2c", "CartPole-v0"), ["CartPole-v1", "Pendulum-v1"]), (("dqn", "CartPole-v1"), ["td3"])],
)
def test_an_unknown_setting_lists_the_known(wanted, known):
    with pytest.raises(ValueError, match="No lesson trains") as error:
        get_setting(*wanted)
    assert_one_sentence(error.value, *wanted, *known)
