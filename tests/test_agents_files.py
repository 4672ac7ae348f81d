"""What every agent promises: predict, learn, stop and go on, the same seed twice, save and load."""

import copy
import os
import zipfile

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, AnySpace, Constant, make, some
from gymnasium import spaces
from sentences import one_sentence
from test_agents import EVERY, weights

from helpers import __version__
from helpers.agents import A2C, TD3

# ---- copying, saving and loading -----------------------------------------------------------------


def assert_same(agent, other):
    assert weights(agent) == weights(other)
    assert (agent.steps, agent.history) == (other.steps, other.history)
    assert agent.hyperparameters == other.hyperparameters
    assert agent.rng.bit_generator.state == other.rng.bit_generator.state
    batch = some(agent.observation_space, 9)
    np.testing.assert_array_equal(agent.predict(batch), other.predict(batch))


@EVERY
def test_a_copy_is_the_same_agent_apart(new):
    agent = new(seed=0).learn(50)
    kept = copy.deepcopy(agent)
    assert_same(agent, kept)
    before = weights(agent)
    kept.learn(50)
    assert weights(agent) == before
    agent.learn(50)
    assert_same(agent, kept)


@EVERY
def test_what_is_saved_is_loaded(new, tmp_path):
    agent = new(seed=0).learn(150)
    path = tmp_path / "new" / "folder" / "agent.pt"
    agent.save(path)
    agent.save(str(path))  # a second time over the first, and from a string
    assert [file.name for file in path.parent.iterdir()] == ["agent.pt"]
    loaded = type(agent).load(path)
    assert_same(agent, loaded)
    assert loaded.env_source == new.args[0]
    stopped = loaded.steps
    loaded.learn(30)
    assert loaded.steps >= stopped + 30
    assert loaded.history["return"][: len(agent.history["return"])] == agent.history["return"]


@pytest.fixture
def path(tmp_path):
    """A saved agent."""
    path = tmp_path / "agent.pt"
    td3().save(path)
    return path


def td3(env="Pendulum-v1"):
    return TD3(env, hidden=4, seed=0)


def a2c(env):
    return A2C(env, n_envs=1, hidden=4, seed=0)


def refused(path, error=ValueError, load=TD3.load, **arguments):
    """The one sentence with which loading refuses the file; it names the file."""
    with one_sentence(error, str(path)) as caught:
        load(path, **arguments)
    return str(caught.value)


def test_a_failed_save_leaves_the_old_file(path, monkeypatch):
    def half(content, file):
        with open(file, "wb") as out:
            out.write(b"half")
        raise OSError("no space left")

    before = path.read_bytes()
    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        td3().save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["agent.pt"]


def test_a_missing_file_is_one_sentence(tmp_path):
    assert "agent.save" in refused(tmp_path / "nothing.pt", FileNotFoundError)


def changed(path, **changes):
    """The saved agent with other entries."""
    torch.save(torch.load(path) | changes, path)


def test_a_newer_version_is_one_sentence(path):
    changed(path, version=99)
    assert f"({__version__}, format 99, this one, {__version__}, reads up to" in refused(path)
    changed(path, course="; rm -rf /")
    assert "(format 99, this one" in refused(path)


def test_a_hyperparameter_that_is_missing_is_the_courses_own(path):
    hyperparameters = torch.load(path)["hyperparameters"]
    del hyperparameters["gamma"]
    changed(path, hyperparameters=hyperparameters)
    assert TD3.load(path).gamma == 0.99


def test_other_spaces_and_bounds_are_one_sentence(path):
    """With other bounds an action of 1 would mean another torque."""
    assert "(1,)" in refused(path, env=make(Constant, ending="terminated", action_space=TORQUE))
    env = gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), np.float32(-1), np.float32(1))
    refused(path, env=env)


def test_bounds_that_are_not_printed_are_compared_as_well(path):
    """However numpy prints numbers."""
    here = np.full(1500, 1.23456)
    here[0] = 2
    there = here.copy()
    there[700] = 50
    with np.printoptions(precision=3):
        a2c(bounded(here)).save(path)
    assert str(bounded(here).observation_space) == str(bounded(there).observation_space)
    assert "in every number" in refused(path, load=A2C.load, env=bounded(there))
    for env in (None, bounded(here)):
        assert A2C.load(path, env=env).steps == 0


def bounded(bounds):
    """An environment of so many observed numbers, each with a bound of its own."""
    high = np.array(bounds, np.float32)
    return AnySpace(spaces.Box(-high, high), action_space=spaces.Discrete(2))


class Nameless(Constant):
    """Nobody made it by an id."""


@pytest.mark.parametrize(
    "env",
    [
        Nameless("terminated"),
        gym.wrappers.ClipReward(gym.make("CartPole-v1"), -1, 1),
        gym.wrappers.TimeLimit(gym.make("CartPole-v1"), 7),
        gym.make("CartPole-v1", sutton_barto_reward=True),
    ],
    ids=["nameless", "wrapper", "limit", "argument"],
)
def test_what_an_id_would_not_make_again_must_be_passed_to_learn(path, env):
    a2c(env).save(path)
    agent = A2C.load(path)
    assert agent.action_space.contains(agent.predict(agent.observation_space.sample()))
    with one_sentence(ValueError, "env=", str(path)):
        agent.learn(1)
    assert A2C.load(path, env=env).env_source is env


def test_an_agent_of_an_instance_made_from_an_id_is_loaded_from_it(path):
    td3(gym.make("Pendulum-v1", render_mode="rgb_array")).save(path)
    assert TD3.load(path).env_source == "Pendulum-v1"


def test_the_file_is_a_plain_archive_of_tensors(path):
    assert zipfile.is_zipfile(path)
    assert path.stat().st_size < 100_000
    content = torch.load(path, weights_only=True)
    assert (content["agent"], content["env_id"]) == ("TD3", "Pendulum-v1")
    assert str(path.parent) not in str(content)
