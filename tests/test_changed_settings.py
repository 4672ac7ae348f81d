"""Settings that are changed on an agent: it obeys, and its file says so, or it refuses."""

import copy
import inspect
import re
import warnings

import gymnasium as gym
import pytest
from sentences import assert_one_sentence, one_sentence
from wholes import AGENTS as WHOLES
from wholes import everything, tiny

from helpers.agents import A2C, TD3
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.noise import GaussianNoise
from helpers.agents.schedules import LinearSchedule

CHANGES = {
    "gamma": 0.5,
    "policy_delay": 1,
    "noise": None,
    "warm_up_noise": GaussianNoise(0.5),
    "actor_learning_rate": 0.02,
    "critic_learning_rate": LinearSchedule(0.05, 0.01, 60),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_setting_is_as_one_given_at_first_and_stands_in_the_file(name, tmp_path):
    agent = TD3("Short-v0", seed=0, **tiny)
    setattr(agent, name, CHANGES[name])
    assert getattr(agent, name) == agent.hyperparameters[name] == CHANGES[name]
    given = TD3("Short-v0", seed=0, **tiny | {name: CHANGES[name]})
    agent.learn(40).save(tmp_path / "a.pt", replay=True)
    assert everything(agent) == everything(given.learn(40))
    loaded = TD3.load(tmp_path / "a.pt")
    assert loaded.hyperparameters == agent.hyperparameters
    assert everything(loaded.learn(20)) == everything(agent.learn(20))


def rates(agent, *names):
    return [getattr(agent, f"{name}_optimizer").param_groups[0]["lr"] for name in names]


def test_a_learning_rate_may_be_changed_in_the_middle_and_replaces_a_schedule():
    agent = TD3("Short-v0", seed=0, **tiny, actor_learning_rate=LinearSchedule(1e-2, 1e-3, 100))
    agent.learn(20).actor_learning_rate = 5e-4
    agent.learn(20)
    assert rates(agent, "actor", "critic") == [5e-4, 1e-3]
    agent.actor_learning_rate = LinearSchedule(1e-2, 1e-3, 100)
    agent.learn(10)
    assert rates(agent, "actor") == [LinearSchedule(1e-2, 1e-3, 100)(50)]
    a2c = WHOLES["a2c"]()
    a2c.learning_rate = 0.25
    assert rates(a2c, "policy", "critic") == [0.25, 0.25]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("gamma", 1.5, "gamma must be a number from 0 to 1, got 1.5."),
        ("actor_learning_rate", -1, "actor_learning_rate must be a number above 0"),
        ("noise", GaussianNoise([0.1, 0.2]), "noise has sizes of shape (2,)"),
        ("learning_starts", 26, "learning_starts must be at most buffer_size (25)"),
    ],
)
def test_what_a_setting_cannot_be_is_refused_as_at_first_and_changes_nothing(name, value, words):
    agent = TD3("Short-v0", seed=0, **tiny)
    before = dict(agent.hyperparameters)
    with one_sentence(ValueError, match="^" + re.escape(words)):
        setattr(agent, name, value)
    assert agent.hyperparameters == before
    assert getattr(agent, name) == before[name]


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (TD3, "hidden", 32),
        (TD3, "buffer_size", 1000),
        (A2C, "n_envs", 2),
        (DDPGfD, "alpha", 0.5),
        (DDPGfD, "gamma", 0.5),  # the memory's too
    ],
)
def test_what_an_agent_is_built_with_cannot_be_changed(kind, name, value):
    with pytest.raises(AttributeError, match=f"^{name} counts when an agent is made") as error:
        setattr(kind("Pendulum-v1", seed=0), name, value)
    assert_one_sentence(error.value, f"{kind.__name__}(...)")


def test_a_normaliser_follows_a_gamma_that_is_changed():
    agent = TD3("Short-v0", seed=0, **tiny, normalize=("rewards",))
    agent.gamma = 0.5
    assert agent.normalizer.gamma == 0.5


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (TD3, "learning_rate", "learning_rate is called actor_learning_rate and critic_learning"),
        (TD3, "action_noise", "action_noise is called noise here"),
        (TD3, "verbose", "TD3 takes no verbose: the callback Print"),
    ],
)
def test_a_name_of_others_is_not_passed_over(kind, name, words):
    agent = kind("Pendulum-v1")
    setattr(agent, name, 1)
    with one_sentence(AttributeError, match="^" + re.escape(words)):
        agent.learn(1)


def test_what_looks_like_a_misspelt_setting_is_warned_of_and_others_are_free():
    agent = TD3("Pendulum-v1")
    agent.learning_strats, agent.notes = 5, "mine"
    assert copy.deepcopy(agent).notes == "mine"
    with pytest.warns(UserWarning, match="nothing reads it: write agent.learning_starts"):
        agent.learn(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(1)  # it was said


def test_the_signature_shows_all_that_can_be_set():
    shown = inspect.signature(TD3).parameters
    assert next(iter(shown)) == "env"
    assert shown.keys() - {"env"} == TD3("Pendulum-v1").hyperparameters.keys()
    assert shown["gamma"].default == 0.99


def test_a_noise_that_is_changed_in_place_stands_in_the_file_as_it_acts(tmp_path):
    agent = TD3("Short-v0", seed=0, **tiny, noise=GaussianNoise(0.1))
    agent.noise.sigma = 0.5
    agent.save(tmp_path / "a.pt")
    assert TD3.load(tmp_path / "a.pt").noise == GaussianNoise(0.5)


def test_an_environment_is_not_exchanged_by_an_attribute():
    agent = TD3("Short-v0")
    agent.env = gym.make("Pendulum-v1")
    with one_sentence(AttributeError, "set_env"):
        agent.learn(1)


def test_an_agent_does_not_load_into_itself(tmp_path):
    """It would stay as it is, and what was loaded be lost."""
    agent = TD3("Short-v0", seed=0, **tiny)
    agent.save(tmp_path / "a.pt")
    with one_sentence(TypeError, "makes a new agent", "agent = TD3.load(path)"):
        agent.load(tmp_path / "a.pt")
