"""Demonstrations: recorded, saved, loaded; files that lie or would run code are refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from sentences import one_sentence

from helpers.demos import files as module
from helpers.demos.files import ARRAYS, Demos, load_demos, record_demos, save_demos

PENDULUM = "Pendulum-v1"


# ---- environments and demonstrations of many shapes ----------------------------------------------

OBS_SHAPES = [(1,), (3,), (2, 4), (4, 3, 2), ()]
ACTION_SPACES = [
    spaces.Box(-2, 2, (1,)),
    spaces.Box(np.float32([-1, 0, -5]), np.float32([1, 3, -4])),
    spaces.Box(-1, 1, (2, 2), np.float64),
    spaces.Box(-np.inf, np.inf, (2,)),
    spaces.Box(0, 1, ()),
    spaces.Discrete(3),
    spaces.Discrete(2, start=-1),
]


class Shapes(gym.Env):
    """Its observations are numbers of its own random generator; it ends as it is told to."""

    def __init__(self, obs_shape, action_space, length=3, terminates=False):
        self.observation_space = spaces.Box(-np.inf, np.inf, obs_shape)
        self.action_space, self.length, self.terminates = action_space, length, terminates

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.obs = 0, np.zeros(self.observation_space.shape, np.float32)
        return self.obs, {}

    def step(self, action):
        self.t += 1
        self.obs[...] = self.np_random.normal(size=self.obs.shape)  # the same array each time
        over = self.t == self.length
        return self.obs, self.t, over and self.terminates, over and not self.terminates, {}


KINDS = {
    f"Shapes{i}-v0": (OBS_SHAPES[i % len(OBS_SHAPES)], space)
    for i, space in enumerate(ACTION_SPACES)
}
for name, (obs_shape, action_space) in KINDS.items():
    gym.register(
        name,
        entry_point=Shapes,
        kwargs={"obs_shape": obs_shape, "action_space": action_space},
        disable_env_checker=True,
    )


def some_demos(env_id=PENDULUM, lengths=(3, 2), maker="a test", seed=0) -> Demos:
    """Random numbers that could be demonstrations."""
    rng = np.random.default_rng(seed)
    obs_shape, space = KINDS.get(env_id, ((3,), spaces.Box(-2, 2, (1,))))
    space.seed(seed)
    episodes = []
    for n in lengths:
        obs = rng.normal(size=(n + 1, *obs_shape)).astype(np.float32)
        terminated, truncated = np.zeros((2, n), dtype=bool)
        (terminated if rng.random() < 0.5 else truncated)[-1] = True
        episodes.append(
            {
                "obs": obs[:-1],
                "action": np.stack([space.sample() for _ in range(n)]),
                "reward": rng.normal(size=n),
                "next_obs": obs[1:],
                "terminated": terminated,
                "truncated": truncated,
            }
        )
    return Demos.from_episodes(env_id, maker, episodes)


def assert_same(one: Demos, two: Demos) -> None:
    assert (one.env_id, one.maker) == (two.env_id, two.maker)
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)


def arrays_of(demos: Demos) -> dict[str, np.ndarray]:
    return {name: getattr(demos, name).copy() for name in ARRAYS}


# ---- what they are -------------------------------------------------------------------------------


def test_episodes_returns_words_and_kinds_of_numbers():
    demos = some_demos(lengths=(3, 1, 2))
    assert len(demos) == 6
    assert demos.episodes == [slice(0, 3), slice(3, 4), slice(4, 6)]
    expected = [demos.reward[:3].sum(), demos.reward[3], demos.reward[4:].sum()]
    np.testing.assert_allclose(demos.returns, expected, rtol=1e-6)
    text = str(demos)
    assert text == repr(demos)
    assert text.startswith("3 episodes, 6 steps in Pendulum-v1: returns ")
    assert f"best {max(expected):.1f}" in text
    assert text.endswith("by a test")
    assert str(some_demos(lengths=(1,))).startswith("1 episode, 1 step in Pendulum-v1: return ")
    assert some_demos("Shapes2-v0").action.dtype == np.float32  # of float64
    assert some_demos("Shapes5-v0").action.dtype == np.int64
    assert pickle.loads(pickle.dumps(demos)).episodes == demos.episodes  # on the way to a worker


BAD_ARRAYS = {
    "no steps": (lambda a: {k: v[:0] for k, v in a.items()}, "at least one step"),
    "another length": (lambda a: a | {"action": a["action"][:-1]}, r"action \(4, 1\)"),
    "another shape": (lambda a: a | {"next_obs": a["next_obs"][:, :2]}, r"next_obs \(5, 2\)"),
    "NaN": (lambda a: a | {"obs": a["obs"] * np.nan}, "obs holds NaN"),
    "too large": (lambda a: a | {"action": np.full((5, 1), 1e300)}, "too large"),
    "words": (lambda a: a | {"action": np.array(["left"] * 5)}, "array of numbers"),
    "flags as numbers": (lambda a: a | {"terminated": np.zeros(5)}, "array of bool"),
    "no end": (lambda a: a | {"truncated": a["truncated"] & False,
                              "terminated": a["terminated"] & False}, "truncated to True"),
    "a gap": (lambda a: a | {"next_obs": a["next_obs"] + 1}, "begin where the one before"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero|invalid value")
@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays_that_do_not_fit_together_are_refused(case):
    change, words = BAD_ARRAYS[case]
    with one_sentence(ValueError, match=words):
        Demos(PENDULUM, "a test", **change(arrays_of(some_demos())))


@pytest.mark.parametrize(
    ("env_id", "maker", "words"),
    [
        *((wrong, "a test", "not an environment id")
          for wrong in ("", "os:Name-v0", "a\x1b[31m", 7, "a/../b")),
        *((PENDULUM, wrong, "maker must be") for wrong in ("two\nlines", "x" * 501, None)),
    ],
)  # fmt: skip
def test_words_that_a_page_would_obey_are_refused(env_id, maker, words):
    with pytest.raises(ValueError, match=words) as error:
        Demos(env_id, maker, **arrays_of(some_demos()))
    assert str(error.value).isprintable()


# ---- recording -----------------------------------------------------------------------------------


def test_recording_keeps_what_happened():
    demos = record_demos(lambda obs: [99 * obs[1]], "SparsePendulum-v0", 2, seed=5, maker="me")
    assert demos.env_id == "SparsePendulum-v0"
    assert demos.maker == "me"
    assert [e.stop - e.start for e in demos.episodes] == [200, 200]
    assert np.abs(demos.action).max() == 2  # clipped before it was taken
    env = gym.make("SparsePendulum-v0")
    for i, episode in enumerate(demos.episodes):
        obs, _ = env.reset(seed=5 + i)
        for t in range(200)[episode] if i == 0 else range(200, 400):
            np.testing.assert_array_equal(demos.obs[t], obs)
            obs, reward, terminated, truncated, _ = env.step(demos.action[t])
            np.testing.assert_array_equal(demos.next_obs[t], obs)
            shown = demos.reward[t], demos.terminated[t], demos.truncated[t]
            assert shown == (reward, terminated, truncated)


@pytest.mark.parametrize("env_id", KINDS)
def test_every_kind_is_recorded_saved_and_loaded(env_id, tmp_path):
    space = KINDS[env_id][1]
    space.seed(0)
    recorded = record_demos(lambda obs: space.sample(), env_id, 2)
    assert recorded.returns.tolist() == [6, 6]
    for demos in (recorded, some_demos(env_id, (1, 4, 7), "ä person's", len(env_id))):
        path = tmp_path / "a folder" / "demos.npz"
        save_demos(path, demos)
        loaded = load_demos(str(path), env_id)
        assert_same(loaded, demos)
        loaded.obs[...] = 0  # not a view of read-only memory
        before = path.read_bytes()
        save_demos(path, demos)
        assert path.read_bytes() == before
        assert [p.name for p in path.parent.iterdir()] == ["demos.npz"]


def test_recording_refuses_what_cannot_be_recorded():
    with pytest.raises(ValueError, match="at least one"):
        Demos.from_episodes(PENDULUM, "a test", [])
    with pytest.raises(ValueError, match="at least 1"):
        record_demos(lambda obs: [0.0], PENDULUM, 0)
    gym.register("Many-v0", lambda: Shapes((1,), spaces.MultiBinary(2)))
    with one_sentence(ValueError, "Box or Discrete", "MultiBinary(2)", "FlattenObservation"):
        record_demos(lambda obs: [0, 1], "Many-v0", 1)
    with pytest.raises(ValueError, match="knows no environment"):
        record_demos(lambda obs: [0.0], "Pendulum-v17", 1)
    played = []
    with one_sentence(ValueError, "is not an environment id", "gymnasium.register"):
        record_demos(played.append, lambda: Shapes((1,), ACTION_SPACES[0]), 1)
    assert played == []


# ---- round trips ---------------------------------------------------------------------------------


def test_the_file_reads_with_numpy_and_says_what_it_is(tmp_path):
    demos = some_demos()
    save_demos(tmp_path / "demos.npz", demos)
    with np.load(tmp_path / "demos.npz", allow_pickle=False) as file:
        assert sorted(file.files) == sorted(["about", *ARRAYS])
        np.testing.assert_array_equal(file["obs"], demos.obs)
        about = json.loads(str(file["about"]))
    assert about["env_id"] == PENDULUM
    assert about["maker"] == "a test"
    assert about["version"] == 1
    assert about["lengths"] == [3, 2]
    np.testing.assert_allclose(about["returns"]["each"], demos.returns)
    assert about["returns"]["mean"] == pytest.approx(demos.returns.mean())
    assert about["spaces"]["action"]["low"] == [-2.0]


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "demos.npz"
    save_demos(path, some_demos())
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(KeyboardInterrupt):
        save_demos(path, some_demos(seed=1))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: {"action": d.action * 100}, "lie outside"),
        (lambda d: {"obs": d.obs[:, :2], "next_obs": d.next_obs[:, :2]}, "cannot have"),
    ],
)
def test_what_does_not_fit_is_not_saved(tmp_path, monkeypatch, change, words):
    demos = some_demos()
    demos = Demos(PENDULUM, "a test", **{**arrays_of(demos), **change(demos)})
    with one_sentence(ValueError, match=words):
        save_demos(tmp_path / "demos.npz", demos)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with one_sentence(ValueError, "save fewer"):
        save_demos(tmp_path / "demos.npz", some_demos())
    assert list(tmp_path.iterdir()) == []


# ---- of which environment ------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "demos.npz"
    save_demos(path, some_demos())
    return path


def test_it_is_loaded_for_its_environment(path):
    for env in (None, PENDULUM, gym.make(PENDULUM), gym.make(PENDULUM, max_episode_steps=7)):
        assert_same(load_demos(path, env), some_demos())


def test_it_is_refused_for_another_environment(path):
    with one_sentence(ValueError, "not in SparsePendulum-v0", str(path), PENDULUM):
        load_demos(path, "SparsePendulum-v0")  # the same spaces
    with pytest.raises(ValueError, match="not in CartPole-v1"):
        load_demos(path, gym.make("CartPole-v1"))
    with one_sentence(ValueError, "other spaces", str(path)):
        load_demos(
            path, gym.wrappers.RescaleAction(gym.make(PENDULUM), np.float32(-1), np.float32(1))
        )
    with pytest.raises(ValueError, match="knows no environment"):
        load_demos(path, "Pendulum-v17")
