"""Twin critics have one set of names in files, however their numbers are computed."""

import inspect
import shutil
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from wholes import everything, tiny

from helpers.agents import networks, td3
from helpers.agents.adam import LeanAdam
from helpers.agents.faster import NARROW, WIDE, StackedTwin

LIBRARY = td3.TD3


def written_in_a_notebook():
    """The class TD3 that lesson 03 builds: the same source, in a namespace of its own."""
    space = dict(vars(td3)) | {"nn": nn, "torch": torch, "start_small": networks.start_small}
    for thing in (networks.QNetwork, networks.TwinQNetwork, td3.TD3):
        exec(inspect.getsource(thing), space)
    return space["TD3"]


NOTEBOOK = written_in_a_notebook()
WAYS = pytest.mark.parametrize(
    ("writer", "reader"),
    [(NOTEBOOK, LIBRARY), (LIBRARY, NOTEBOOK), (NOTEBOOK, NOTEBOOK)],
    ids=["to the library", "from the library", "within a notebook"],
)
ENVS = pytest.mark.parametrize("env", ["Short-v0", "ShortPixels-v0"])


@WAYS
@pytest.mark.parametrize(
    ("env", "hidden"),
    [("ShortPixels-v0", 8), *(("Short-v0", width) for width in (1, 8, NARROW, WIDE))],
)
def test_a_file_of_one_is_read_by_the_other(writer, reader, env, hidden, tmp_path):
    agent = writer(env, seed=0, **tiny | {"hidden": hidden}).learn(20)
    assert isinstance(stacked(agent), StackedTwin) == (writer is LIBRARY and hidden <= NARROW)
    agent.save(tmp_path / "a.pt", replay=True)
    read = reader.load(tmp_path / "a.pt")
    obs = torch.rand(5, agent.obs_size)
    action = torch.rand(5, 1)
    for name in ("critic", "target_critic"):
        for one, other in zip(
            getattr(agent, name)(obs, action), getattr(read, name)(obs, action), strict=True
        ):
            torch.testing.assert_close(one, other)
    same_states(agent, read)
    for each in (agent, read):
        each.learn(10)
    same_states(agent, read, rtol=1e-3, atol=1e-5)
    read.save(tmp_path / "b.pt")
    assert writer.load(tmp_path / "b.pt").steps == 30


def stacked(agent):
    """Its critic, or the one behind its eyes."""
    return getattr(agent.critic, "critic", agent.critic)


def same_states(one, other, **tolerance):
    tolerance = tolerance or {"rtol": 0, "atol": 0}
    ours, theirs = one.get_parameters(), other.get_parameters()
    assert ours.keys() == theirs.keys()
    for name in ours:
        a, b = (numbers(each[name]) for each in (ours, theirs))
        assert a.keys() == b.keys(), name
        for key in a:
            torch.testing.assert_close(a[key], b[key], msg=f"{name} {key}", **tolerance)


def numbers(state):
    """Every tensor in it, by its name."""
    if "param_groups" not in state:
        return dict(state)
    return {f"{i} {key}": v for i, each in state["state"].items() for key, v in each.items()}


@WAYS
def test_parameters_are_given_from_one_to_the_other(writer, reader):
    agent, heir = writer("Short-v0", seed=0, **tiny).learn(20), reader("Short-v0", seed=1, **tiny)
    heir.set_parameters(agent.get_parameters())
    same_states(agent, heir)
    heir.learn(15)


def test_each_layer_of_a_plain_critic_counts_its_own_steps(tmp_path):
    """Moments that two of its layers share would be moved twice."""
    LIBRARY("Short-v0", seed=0, **tiny).learn(20).save(tmp_path / "a.pt")
    read = NOTEBOOK.load(tmp_path / "a.pt")
    state = read.critic_optimizer.state.values()
    assert len({each["step"].data_ptr() for each in state}) == 12
    assert all(each["exp_avg"].is_contiguous() for each in state)


# ---- files from before ---------------------------------------------------------------------------


def as_version_3(agent, path):
    """What version 3 wrote: stacked, as it is computed."""
    agent.save(path, replay=True)
    content = torch.load(path)
    content["version"] = 3
    for name in ("critic", "target_critic"):
        content["state"][name] = {n: p.detach() for n, p in getattr(agent, name).named_parameters()}
    raw = torch.optim.Adam.state_dict(agent.critic_optimizer)
    content["state"]["critic_optimizer"] = raw
    torch.save(content, path)


@ENVS
@pytest.mark.parametrize("steps", [0, 20])
def test_stacked_critics_of_older_files_are_read_by_both(env, steps, tmp_path):
    new = partial(LIBRARY, env, seed=0, **tiny)
    agent = new().learn(steps) if steps else new()
    as_version_3(agent, tmp_path / "a.pt")
    assert "first" not in str(torch.load(tmp_path / "a.pt")["state"]["critic"].keys())
    read = LIBRARY.load(tmp_path / "a.pt")
    assert everything(read) == everything(agent)
    assert everything(read.learn(10)) == everything(agent.learn(10))
    same_states(NOTEBOOK.load(tmp_path / "a.pt"), LIBRARY.load(tmp_path / "a.pt"))


@pytest.mark.parametrize("name", ["td3_PixelPendulum-v0", "td3_Walker2d-v5"])
def test_the_courses_own_weights_load(name, tmp_path):
    if "Walker" in name:
        pytest.importorskip("mujoco")
    shutil.copy(f"data/weights/{name}.pt", tmp_path / "a.pt")
    agent = LIBRARY.load(tmp_path / "a.pt")
    obs = agent.observation_space.sample()
    expected = agent.predict(obs)
    agent.save(tmp_path / "a.pt")
    np.testing.assert_array_equal(NOTEBOOK.load(tmp_path / "a.pt").predict(obs), expected)


def test_an_optimiser_of_stacked_critics_refuses_anothers_state():
    agent = LIBRARY("Short-v0", seed=0, **tiny)
    with pytest.raises(ValueError, match="6 parameters, not 12"):
        agent.critic_optimizer.load_state_dict(LeanAdam(agent.actor.parameters()).state_dict())
