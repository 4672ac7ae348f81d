"""An agent acts on a machine that has not what it was trained in."""

import re
from collections import OrderedDict
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from sentences import one_sentence
from wholes import tiny

from helpers.agents import A2C, TD3
from helpers.envs.plain_spaces import describe_space, space_from
from helpers.evaluation import evaluate
from helpers.training.callbacks import Evaluate

A2C_TINY = {"n_envs": 3, "n_steps": 4, "hidden": 4}


@pytest.fixture
def robot(monkeypatch):
    """The id of an environment whose package is there; `robot()` takes it away."""
    spec = gym.spec("Pendulum-v1")
    gym.register("Robot-v0", spec.entry_point, max_episode_steps=50)

    def absent():
        gym.registry["Robot-v0"].entry_point = "no_such_simulator.envs:Robot"

    yield absent
    del gym.registry["Robot-v0"]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(TD3, tiny), (A2C, A2C_TINY)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_without_its_package_it_acts_and_learning_says_what_is_missing(
    robot, kind, settings, tmp_path
):
    agent = kind("Robot-v0", seed=0, **settings).learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    robot()
    loaded = kind.load(tmp_path / "a.pt")
    batch = np.stack([agent.observation_space.sample() for _ in range(5)])
    np.testing.assert_array_equal(loaded.predict(batch), agent.predict(batch))
    for use in (
        lambda: loaded.learn(10),
        lambda: evaluate(loaded, episodes=1),
        lambda: loaded.learn(10, Evaluate(every=5)),
    ):
        with one_sentence(ValueError, "Robot-v0 needs a package", "no_such_simulator"):
            use()
    # Saved again it still knows where it belongs, and elsewhere it learns.
    loaded.save(tmp_path / "b.pt")
    assert torch.load(tmp_path / "b.pt")["env_id"] == "Robot-v0"
    assert loaded.set_env("Pendulum-v1").learn(20).steps >= agent.steps + 20


SPACES = [
    spaces.Box(-1, 1, (3,)),
    spaces.Box(np.float32([-np.inf, 0, -0.1]), np.float32([np.inf, 2.5, 1e30])),
    spaces.Box(0, 255, (2, 8, 8), np.uint8),
    spaces.Box(-(2**62), 2**62, (2,), np.int64),
    spaces.Box(0, 1, (4,), np.bool_),
    spaces.Box(-1, 1, ()),
    spaces.Discrete(4, start=-2),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiBinary((2, 3)),
    spaces.Dict({"a": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (1,))))}),
    spaces.Dict(OrderedDict(z=spaces.Discrete(2), a=spaces.Discrete(3))),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_comes_back_from_plain_values(space, tmp_path):
    torch.save(describe_space(space), tmp_path / "space.pt")
    again = space_from(torch.load(tmp_path / "space.pt", weights_only=True))
    assert again == space
    assert str(again) == str(space)
    assert again.dtype == space.dtype
    assert describe_space(again) == describe_space(space)


def test_a_table_of_parts_is_read_as_before_version_6():
    parts = {"z": describe_space(spaces.Discrete(2)), "a": describe_space(spaces.Discrete(3))}
    assert list(space_from({"kind": "Dict", "of": parts})) == ["z", "a"]


def test_other_spaces_are_described_by_nothing():
    assert describe_space(spaces.Text(4)) == {}
    with pytest.raises(ValueError, match="no space"):
        space_from({})


def test_the_round_that_the_docs_show_runs(tmp_path, monkeypatch):
    """Create, learn, save, delete, load, step and render."""
    using = Path("USING.md").read_text(encoding="utf-8")
    [code] = [each for each in re.findall(r"```python\n(.*?)```", using, re.S) if "render" in each]
    monkeypatch.chdir(tmp_path)
    there: dict = {}
    exec(code.replace("20_000", "300"), there)
    assert (tmp_path / "td3.pt").exists()
    assert there["frame"].ndim == 3
    assert there["agent"].steps == 300
