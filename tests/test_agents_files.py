"""What every agent promises: predict, learn, stop and go on, the same seed twice, save and load."""

import copy
import os
import zipfile
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import AnySpace, Constant, Guess, make, some
from gymnasium import spaces
from sentences import one_sentence
from test_agents import EVERY, weights

from helpers import __version__
from helpers.agents import A2C, DDPG, TD3

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


def test_loading_takes_another_environment_with_the_same_spaces(tmp_path):
    A2C("CartPole-v1", hidden=4, seed=0).save(tmp_path / "agent.pt")
    instance = gym.make("CartPole-v1")
    assert A2C.load(tmp_path / "agent.pt", env=instance).env_source is instance


SAVED = {
    A2C: partial(A2C, "CartPole-v1", hidden=4, seed=0),
    DDPG: partial(DDPG, "Pendulum-v1", hidden=4, seed=0),
    TD3: partial(TD3, "Pendulum-v1", hidden=4, seed=0),
}
PARTS = {kind: [*new().parts()] for kind, new in SAVED.items()}
SAVED_KINDS = pytest.mark.parametrize("kind", SAVED, indirect=True)


@pytest.fixture
def kind(request):
    """The class of the saved agent."""
    return getattr(request, "param", A2C)


@pytest.fixture
def path(tmp_path, kind):
    """A saved agent."""
    path = tmp_path / "agent.pt"
    SAVED[kind]().save(path)
    return path


def refused(path, error=ValueError, load=A2C.load, **arguments):
    """The one sentence with which loading refuses the file; it names the file."""
    with one_sentence(error, str(path)) as caught:
        load(path, **arguments)
    return str(caught.value)


@SAVED_KINDS
def test_a_failed_save_leaves_the_old_file(path, kind, monkeypatch):
    def half(content, file):
        with open(file, "wb") as out:
            out.write(b"half")
        raise OSError("no space left")

    before = path.read_bytes()
    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        SAVED[kind]().save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["agent.pt"]


def test_saving_over_a_folder_leaves_the_folder(tmp_path):
    folder = tmp_path / "agents"
    folder.mkdir()
    with pytest.raises(OSError, match="agents"):
        A2C("CartPole-v1", hidden=4, seed=0).save(folder)
    assert os.listdir(tmp_path) == ["agents"]


def test_a_missing_file_is_one_sentence(tmp_path):
    assert "agent.save" in refused(tmp_path / "nothing.pt", FileNotFoundError)


def changed(path, **changes):
    """The saved agent with other content; None takes an entry out."""
    content = torch.load(path)
    content.update(changes)
    torch.save({name: value for name, value in content.items() if value is not ...}, path)


def test_a_newer_version_is_one_sentence(path):
    changed(path, version=99)
    assert f"({__version__}, format 99, this one, {__version__}, reads up to" in refused(path)
    changed(path, course="; rm -rf /")
    assert "(format 99, this one" in refused(path)


ENTRIES = [
    "format", "version", "agent", "env_id", "spaces", "hyperparameters", "steps", "counts",
    "history", "rng", "predict_rng", "state", "described_spaces",
]  # fmt: skip


# The spaces in words are for people; without an environment an agent acts.
UNUSED = {("spaces", "nonsense"), ("env_id", "nonsense"), ("env_id", "None")}


@pytest.mark.parametrize("value", [..., "nonsense", None, 1.5, {"a": 1}], ids=str)
@pytest.mark.parametrize("name", ENTRIES)
def test_entries_that_are_missing_or_wrong_are_one_sentence(path, kind, name, value):
    assert set(torch.load(path)) == {*ENTRIES, "course"}
    changed(path, **{name: value})
    if (name, str(value)) in UNUSED:
        assert kind.load(path).steps == 0
    else:
        refused(path, load=kind.load)


@SAVED_KINDS
def test_a_hyperparameter_that_is_missing_is_the_courses_own(path, kind):
    hyperparameters = torch.load(path)["hyperparameters"]
    del hyperparameters["gamma"]
    changed(path, hyperparameters=hyperparameters)
    assert kind.load(path).gamma == 0.99


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in SAVED for name in PARTS[kind]], indirect=["kind"]
)
@pytest.mark.parametrize("value", [..., {}, None, {"0.weight": 3}], ids=str)
def test_a_state_that_does_not_fit_is_one_sentence(path, kind, name, value):
    state = torch.load(path)["state"]
    state[name] = value
    changed(path, state={name: value for name, value in state.items() if value is not ...})
    refused(path, load=kind.load)


def test_other_spaces_are_one_sentence(path):
    assert "Discrete(2)" in refused(path, env="Pendulum-v1")
    assert "(1,)" in refused(path, env=make(Constant, ending="terminated"))


@pytest.mark.parametrize("kind", [DDPG], indirect=True)
def test_other_bounds_are_one_sentence(path, kind):
    """An action of 1 would mean another torque."""
    env = gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), np.float32(-1), np.float32(1))
    refused(path, load=kind.load, env=env)


def bounded(*bounds):
    """An environment of so many observed numbers, each with a bound of its own."""
    high = np.array(bounds, np.float32)
    return AnySpace(spaces.Box(-high, high), action_space=spaces.Discrete(2))


def test_bounds_that_are_not_printed_are_compared_as_well(path):
    here = np.ones(1500)
    here[0] = 2
    there = here.copy()
    there[700] = 50
    A2C(bounded(*here), n_envs=1, hidden=4, seed=0).save(path)
    assert str(bounded(*here).observation_space) == str(bounded(*there).observation_space)
    assert "in every number" in refused(path, env=bounded(*there))
    assert A2C.load(path, env=bounded(*here)).steps == 0


@pytest.mark.parametrize("options", [{"precision": 3}, {"threshold": 10**9}], ids=str)
def test_how_numpy_prints_is_not_seen_in_a_file(path, options):
    bounds = np.random.default_rng(0).uniform(1, 200, 3000)
    with np.printoptions(**options):
        A2C(bounded(*bounds), n_envs=1, hidden=4, seed=0).save(path)
    for env in (None, bounded(*bounds)):
        assert A2C.load(path, env=env).steps == 0


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiBinary(3), spaces.Box(0, 1, (4,), np.bool_), spaces.Box(-1, 1, ()),
        spaces.Dict({"a": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (1,))))}),
    ],
    ids=str,
)  # fmt: skip
def test_an_agent_of_any_observations_acts_without_an_environment(path, space):
    agent = A2C(AnySpace(space, action_space=spaces.Discrete(2)), n_envs=1, hidden=4, seed=0)
    agent.save(path)
    obs = space.sample()
    assert A2C.load(path).predict(obs) == agent.predict(obs)


def needs_one(path):
    """The agent acts, and to learn it asks for an environment."""
    agent = A2C.load(path)
    assert agent.action_space.contains(agent.predict(agent.observation_space.sample()))
    with one_sentence(ValueError, "env=", str(path)):
        agent.learn(1)


def test_an_agent_of_an_unnamed_environment_needs_one(tmp_path):
    class Nameless(Constant):
        pass

    path = tmp_path / "agent.pt"
    A2C(Nameless("terminated"), n_envs=1, hidden=4, seed=0).learn(20).save(path)
    needs_one(path)
    assert A2C.load(path, env=make(Constant, ending="terminated")).steps >= 20


@pytest.mark.parametrize(
    "env",
    [
        gym.wrappers.ClipReward(gym.make("CartPole-v1"), -1, 1),
        gym.wrappers.TimeLimit(gym.make("CartPole-v1"), 7),
        gym.make("CartPole-v1", sutton_barto_reward=True),
    ],
    ids=["wrapper", "limit", "argument"],
)
def test_an_agent_of_a_changed_environment_is_not_loaded_into_a_bare_one(tmp_path, env):
    path = tmp_path / "agent.pt"
    A2C(env, hidden=4, seed=0).save(path)
    needs_one(path)
    assert A2C.load(path, env=env).env_source is env


def test_an_agent_of_an_instance_made_from_an_id_is_loaded_from_it(tmp_path):
    path = tmp_path / "agent.pt"
    A2C(gym.make("CartPole-v1", render_mode="rgb_array"), hidden=4, seed=0).save(path)
    assert A2C.load(path).env_source == "CartPole-v1"


def test_an_environment_that_no_longer_exists_is_named(path):
    changed(path, env_id="Gone-v3")
    with one_sentence(ValueError, "Gone-v3"):
        A2C.load(path).learn(1)
    assert A2C.load(path, env="CartPole-v1").steps == 0


@SAVED_KINDS
def test_the_file_is_a_plain_archive_of_tensors(path, kind):
    assert zipfile.is_zipfile(path)
    assert path.stat().st_size < 100_000
    content = torch.load(path, weights_only=True)
    assert content["agent"] == kind.__name__
    assert content["env_id"] == SAVED[kind].args[0]
    assert str(path.parent) not in str(content)


def test_guess_is_what_the_learning_tests_think():
    env = make(Guess, action_space=spaces.Discrete(2, start=5), wanted={-1: 5, 1: 6})
    obs, _ = env.reset(seed=0)
    assert env.step(5 if obs[0] < 0 else 6)[1:4] == (0.0, True, False)
