"""The files of `helpers/algorithms`: they learn, and do what the library and the lessons do."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from types import SimpleNamespace
from typing import ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box

from benchmarks import thresholds
from helpers import agents
from helpers.agents import noise as library_noise
from helpers.algorithms import ddpg, ddpgfd, rlpd, sac, shared, td3, td3_bc
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate
from helpers.memory.buffers import Batch, PrioritizedBatch
from helpers.training.settings import get_setting

FILES = {  # as they are taught
    "ddpg": ddpg, "td3": td3, "ddpgfd": ddpgfd, "sac": sac, "td3bc": td3_bc, "rlpd": rlpd,
}  # fmt: skip
CLASSES = {
    "ddpg": agents.DDPG, "td3": agents.TD3, "ddpgfd": agents.DDPGfD, "sac": agents.SAC,
    "td3bc": agents.TD3BC, "rlpd": agents.RLPD,
}  # fmt: skip
TAUGHT = ["reinforce", "policies", "a2c", "ddpg", "td3", "ddpgfd", "cloning", "sac", "ppo"]
TAUGHT += ["td3_bc", "rlpd"]
ALL = pytest.mark.parametrize("name", FILES)
ACTING = pytest.mark.parametrize("name", [name for name in FILES if name != "td3bc"])
GAMMA, SCALE, AIM = 0.8, 0.5, np.array([0.5, -0.25])
# Room -> where it leads, reward, terminated, truncated; in room 1 the reward is for the action.
ROOMS = {
    0.0: (0.3, 0.0, False, False),
    0.3: (-1.0, 1.0, True, False),
    0.6: (0.6, 1.0, False, True),
    1.0: (-1.0, None, True, False),
}
VALUES = [GAMMA, 1.0, 1 / (1 - GAMMA), 1.0]  # an episode that is cut off would have gone on


class Rooms(gym.Env):
    """Four rooms of known value. Units are not those of networks: 3 is the action 1, and the
    observation 10 the room 1."""

    observation_space, action_space = Box(-10, 10, (1,)), Box(-3, 3, (2,))
    taken: ClassVar[list] = []  # actions

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room = self.np_random.choice([0.0, 0.6, 1.0])
        return np.array([10 * self.room], np.float32), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.taken.append(action)
        self.room, reward, terminated, truncated = ROOMS[self.room]
        if reward is None:
            reward = 1 - ((action / 3 - AIM) ** 2).sum()
        return np.array([10 * self.room], np.float32), reward, terminated, truncated, {}


gym.register("AlgorithmsRooms-v0", Rooms)


def demonstrated(steps=60):
    """Random steps in the rooms, as a file of demonstrations has them."""
    env, rows = gym.make("AlgorithmsRooms-v0"), []
    env.action_space.seed(0)
    obs, _ = env.reset(seed=0)
    over = False
    while len(rows) < steps or not over:
        action = env.action_space.sample()
        next_obs, reward, *ends, _ = env.step(action)
        rows.append((obs, action, reward, next_obs, *ends))
        over = any(ends)
        obs = env.reset()[0] if over else next_obs
    return dict(zip(Batch._fields, map(np.array, zip(*rows, strict=True)), strict=True))


@pytest.fixture
def settings(name, tmp_path):
    """For the rooms; what one algorithm alone has is set for it."""
    np.savez(tmp_path / "demos.npz", **demonstrated())
    wanted = {
        "env_id": "AlgorithmsRooms-v0", "steps": 1200, "learning_starts": 200, "batch_size": 64,
        "gamma": GAMMA, "tau": 0.05, "reward_scale": SCALE, "noise": shared.GaussianNoise(0.3),
        "actor_learning_rate": 3e-3, "critic_learning_rate": 3e-3, "temperature": 1e-3,
        "temperature_learning_rate": 0.0, "demos": tmp_path / "demos.npz", "pretraining": 100,
        "gradient_steps": 1, "n_steps": 3, "bc_alpha": 20.0,
    }  # fmt: skip
    if name == "td3bc":  # from data of chance alone, which have to be many
        np.savez(tmp_path / "demos.npz", **demonstrated(300))
        wanted["steps"] = 2500
    has = {field.name for field in dataclasses.fields(FILES[name].Settings)}
    return FILES[name].Settings(**{key: each for key, each in wanted.items() if key in has})


@ALL
def test_it_learns_what_the_rooms_are_worth(name, settings):
    agent = FILES[name].train(settings, seed=1)
    rooms = np.array([[room] for room in ROOMS], np.float32)
    actions = agent.act(rooms)
    with torch.no_grad():
        q = agent.critic(torch.from_numpy(rooms), torch.from_numpy(actions))
    values = (q[0] if isinstance(q, tuple) else q).numpy() / SCALE
    np.testing.assert_allclose(values, VALUES, rtol=0.15)
    np.testing.assert_allclose(actions[-1], AIM, atol=0.2)
    np.testing.assert_allclose(agent.predict(10 * rooms), 3 * actions, rtol=1e-5)
    assert evaluate(agent, settings.env_id, episodes=5).mean == pytest.approx(1, abs=0.1)
    kept = {"critic_loss", "actor_loss"} | ({"return"} if name != "td3bc" else set())
    assert kept <= agent.history.keys()
    assert all(0 < step <= settings.steps for name in kept for step, _ in agent.history[name])


@ALL
def test_a_seed_is_a_training(name, settings):
    few = dataclasses.replace(settings, steps=230)
    np.random.seed(5)  # noqa: NPY002  (which nothing here may touch)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    runs = [FILES[name].train(few, seed) for seed in (3, 3, 4)]
    first, again, other = ([*run.actor.parameters(), *run.critic.parameters()] for run in runs)
    assert all(map(torch.equal, first, again))
    assert not any(map(torch.equal, first, other))
    assert runs[0].history == runs[1].history
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@ALL
def test_watched_it_takes_the_steps_that_it_is_handed(name, settings):
    def two(steps, agent, history):
        assert agent.history is history
        assert steps == range(1, settings.steps + 1)
        yield from steps[:2]

    assert not FILES[name].train(settings, watch=two).history.keys() - {"return"}


@ACTING
def test_it_explores(name, settings):
    """An actor that does not learn does nearly the same everywhere: what differs is noise."""
    assert (np.std(actions_without_learning(name, settings)[-50:], axis=0) > 0.3).all()


class Ramp:
    """No noise, but a memory: it grows with every step."""

    value = 0.0

    def sample(self, shape, rng):
        self.value += 0.1
        return np.full(shape, self.value)


@pytest.mark.parametrize("name", ["ddpg", "td3", "ddpgfd", "sac"])
def test_noise_begins_anew_with_an_episode(name, settings):
    """None of the rooms' episodes has more than two steps."""
    ramps = {each: Ramp() for each in ("noise", "warm_up_noise") if hasattr(settings, each)}
    taken = actions_without_learning(name, dataclasses.replace(settings, **ramps))
    assert np.max(taken[:200] if name == "sac" else taken) == pytest.approx(3 * 0.2, abs=0.05)


def actions_without_learning(name, settings):
    rates = {"actor_learning_rate": 0.0, "critic_learning_rate": 0.0}
    Rooms.taken.clear()
    FILES[name].train(dataclasses.replace(settings, steps=250, **rates))
    return np.array(Rooms.taken)


def test_from_a_data_set_alone_no_step_is_taken(tmp_path):
    np.savez(tmp_path / "demos.npz", **demonstrated())
    Rooms.taken.clear()
    s = td3_bc.Settings("AlgorithmsRooms-v0", tmp_path / "demos.npz", steps=20)
    agent = td3_bc.train(s)
    assert not Rooms.taken
    assert agent.actor_optimizer.state_dict()["state"][0]["step"] == 10  # every second update


@pytest.mark.parametrize("name", ["ddpgfd"])
def test_demonstrations_are_studied_before_the_first_step(settings):
    agent = ddpgfd.train(settings, watch=lambda *_: [])
    for optimizer in (agent.actor_optimizer, agent.critic_optimizer):
        assert optimizer.state_dict()["state"][0]["step"] == settings.pretraining
        assert optimizer.param_groups[0]["weight_decay"] == settings.weight_decay


def test_a_training_is_printed(capsys):
    history = {}
    for step in shared.printed(range(1, 3001), None, history):
        if step % 500 == 0:
            shared.log(history, step, {"return": step})
    assert capsys.readouterr().out.splitlines() == [
        "   1,000 steps: mean of the last 2 returns    750.0",
        "   2,000 steps: mean of the last 4 returns   1250.0",
        "   3,000 steps: mean of the last 6 returns   1750.0",
    ]


# ---- file and library ----------------------------------------------------------------------------


def some_batch(rows, rng):
    """A batch, a third of whose rows are terminated, with all that a PrioritizedBatch has."""
    wide = {"obs": 4, "next_obs": 4, "n_next_obs": 4, "action": 3}
    parts = {
        field: rng.uniform(-1, 1, (rows, wide[field]) if field in wide else rows)
        for field in PrioritizedBatch._fields
    }
    flags = {field: np.arange(rows) % 3 == 0 for field in ("terminated", "n_terminated", "is_demo")}
    weights = {"weights": rng.uniform(0.1, 1, rows), "truncated": np.zeros(rows)}
    parts |= flags | weights | {"n_discount": 0.9 ** rng.integers(1, 5, rows)}
    tensors = {field: torch.tensor(part, dtype=torch.float32) for field, part in parts.items()}
    return PrioritizedBatch(**tensors | {"indices": torch.arange(rows)})


class Spaces(gym.Env):
    observation_space, action_space = Box(-1, 1, (4,)), Box(-1, 1, (3,))


def call_update(name, agent, batch, s, number, rng):
    """The file's update. Gives the new priorities too, where there are some."""
    told = {}
    memory = SimpleNamespace(update_priorities=lambda _, new: told.update(new=new))
    own = {"ddpg": (), "sac": (rng,), "rlpd": (rng,), "ddpgfd": (memory,)}.get(name, (number, rng))
    update = sac.update if name == "rlpd" else FILES[name].update
    return update(agent, batch, s, *own), told.get("new")


@ALL
def test_an_update_is_the_librarys(name):
    torch.manual_seed(0)
    delayed, warm = {"policy_delay": 3}, {"temperature": 0.3}
    own = {"td3": delayed, "td3bc": delayed, "sac": warm, "rlpd": warm}.get(name, {})
    world = "SparsePendulum-v0" if name in ("td3bc", "rlpd") else "Pendulum-v1"
    s = dataclasses.replace(thresholds.FILES[name, world][1], gamma=0.9, tau=0.1, **own)
    agent = FILES[name].Agent(Spaces(), s)
    if name == "ddpgfd":
        for optimizer in (agent.actor_optimizer, agent.critic_optimizer):
            optimizer.param_groups[0]["weight_decay"] = s.weight_decay
    elsewhere = ("env_id", "steps", "demos", "noise", "warm_up_noise")
    given = {key: each for key, each in vars(s).items() if key not in elsewhere}
    library = CLASSES[name](Spaces, seed=0, **given)
    networks = [each for each, part in vars(agent).items() if isinstance(part, torch.nn.Module)]
    with torch.no_grad():  # targets that differ, and last layers that are not small
        for weights in (p for network in networks for p in getattr(agent, network).parameters()):
            weights += 0.1 * torch.randn_like(weights)
    states = {network: getattr(agent, network).state_dict() for network in networks}
    library.set_parameters(states, exact=False)
    kept = {}
    library.buffer.update_priorities = lambda _, new: kept.update(new=new)
    rng, library.rng = np.random.default_rng(7), np.random.default_rng(7)
    for number in range(1, 7):
        full = some_batch(32, np.random.default_rng(number))
        batch = full if name == "ddpgfd" else Batch(*full[:6])
        library.updates = number
        losses, new = call_update(name, agent, batch, s, number, rng)
        expected = library.update(batch)
        assert losses.keys() <= expected.keys()
        for key, loss in losses.items():
            torch.testing.assert_close(loss, expected[key].detach(), rtol=1e-5, atol=1e-6)
        if name == "ddpgfd":
            torch.testing.assert_close(new, kept["new"], rtol=1e-5, atol=1e-6)
        assert ("actor_loss" in losses) == ("policy_delay" not in own or number % 3 == 0)
        after = library.get_parameters()
        for network in networks:
            states = getattr(agent, network).state_dict()
            torch.testing.assert_close(states, dict(after[network]), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [("UniformNoise", (0.7,)), ("GaussianNoise", (0.2,)), ("OUNoise", (0.3, 0.1))],
)
def test_a_noise_is_the_librarys(kind, sizes):
    ours, theirs = (getattr(module, kind)(*sizes) for module in (shared, library_noise))
    rngs = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(5):
        np.testing.assert_allclose(ours.sample((2,), rngs[0]), theirs.sample((2,), rngs[1]))


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "SparsePendulum-v0"])
def test_demonstrations_are_remembered_as_by_the_library(env_id):
    s = thresholds.FILES["ddpgfd", env_id][1]
    env = shared.scaled_env(s.env_id)
    memory = ddpgfd.PrioritizedReplayBuffer(s.buffer_size, (3,), (1,), n_steps=s.n_steps)
    ddpgfd.remember(memory, env, s)
    library = get_setting("ddpgfd", env_id).make(seed=0).buffer
    assert memory.demos == library.demos == len(load_demos(s.demos))
    for part, expected in zip(memory.arrays, library.arrays, strict=True):
        np.testing.assert_allclose(part[: memory.demos], expected[: memory.demos], atol=1e-6)


@pytest.mark.parametrize("key", [key for key in thresholds.FILES if key[0] in FILES], ids=" ".join)
def test_settings_are_the_lessons(key):
    """Those that lessons train the library's agents with."""
    _, s = thresholds.FILES[key]
    setting = get_setting(*key)
    expected = setting.make(seed=0).hyperparameters
    for name, value in vars(s).items():
        if name not in ("env_id", "steps", "demos"):
            assert repr(value) == repr(expected[name]).replace(", dt=1.0", ""), name
    assert s.steps == setting.steps
    assert s.env_id.split(":")[-1] == setting.env_id
    assert getattr(s, "demos", None) is None or s.demos.stem == setting.demos


def test_a_file_needs_only_what_was_taught_before_it():
    known = {"helpers.memory.buffers", "helpers.memory.replay", "helpers.algorithms"}
    for name in TAUGHT:
        file = importlib.import_module(f"helpers.algorithms.{name}")
        nodes = ast.walk(ast.parse(inspect.getsource(file)))
        modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        assert {module for module in modules if module.startswith("helpers")} <= known, name
        known.add(file.__name__)


# ---- the tool that studies them ------------------------------------------------------------------


def test_a_study_goes_on_where_it_was_stopped(monkeypatch, tmp_path, capsys):
    few = dataclasses.replace(td3.PENDULUM, steps=20, learning_starts=10)
    monkeypatch.setitem(thresholds.FILES, ("td3", "Pendulum-v1"), (td3, few))
    out = tmp_path / "deep" / "study.json"
    command = ["td3", "Pendulum-v1", "--out", str(out), "--seeds"]
    assert thresholds.main([*command, "3"]) == 0
    written = out.read_text()
    assert thresholds.main([*command, "2,3"]) == 0
    assert written.splitlines()[-3].strip(" ,") in out.read_text()
    assert capsys.readouterr().out.count("seed   3") == 1
    assert "0/2 seeds >= -200" in out.read_text()
    assert "python -m benchmarks.thresholds td3 Pendulum-v1 --out" in out.read_text()
