"""Going on after `load` equals never having stopped: bit for bit, from any step."""

from functools import partial

import numpy as np
import pytest
import torch
from environments import TORQUE, AnySpace, Constant, Probe, make
from sentences import assert_one_sentence, one_sentence
from wholes import AGENTS, at, everything, tiny

from helpers.agents import A2C, DDPG, TD3
from helpers.agents.off_policy import OffPolicyAgent
from helpers.envs import resumable
from helpers.envs.resumable import Resumable

EVERY = pytest.mark.parametrize("new", AGENTS.values(), ids=AGENTS.keys())


def reloaded(agent, path):
    """The agent that comes out of the file."""
    agent.save(path, replay=True)
    return type(agent).load(path)


# ---- never having stopped ------------------------------------------------------------------------


@EVERY
def test_going_on_equals_never_having_stopped_from_any_step(new, tmp_path):
    """Saved at every step of a training: each of these files leads to the same end."""
    files = []

    def save(agent):
        files.append(tmp_path / f"{len(files)}.pt")
        agent.save(files[-1], replay=True)

    whole = new()
    steps = 36 if isinstance(whole, OffPolicyAgent) else 120
    expected = everything(whole.learn(steps, save))
    assert len(files) >= 5
    for file in files[:: max(1, len(files) // 7)]:
        agent = type(whole).load(file)
        if agent.steps < whole.steps:
            agent.learn(whole.steps - agent.steps)
        assert everything(agent) == expected, agent.steps
        assert agent.history == whole.history


@pytest.mark.parametrize("new", [AGENTS[name] for name in ("td3-ou", "ddpgfd-ou", "a2c", "book")])
def test_a_training_in_many_sittings_is_one_training(new, tmp_path):
    """Saved and loaded time after time: before its first step, and twice in a row as well."""
    agent, path = new(), tmp_path / "a.pt"
    for part in (1, 1, 5, 4, 7, 13):
        agent = reloaded(reloaded(agent, path).learn(part), path)
    assert everything(agent) == everything(new().learn(agent.steps))
    batch = np.stack([agent.observation_space.sample() for _ in range(9)])
    agent.predict(batch, deterministic=False)
    both = agent, reloaded(agent, path)
    np.testing.assert_array_equal(*(each.predict(batch, deterministic=False) for each in both))


def test_a_walking_robot_goes_on_in_mid_stride(tmp_path):
    pytest.importorskip("mujoco")
    new = partial(TD3, "Walker2d-v5", seed=0, **tiny)
    whole = new().learn(60)
    agent = reloaded(new().learn(27), tmp_path / "a.pt")
    assert len(agent.env.steps) > 1
    assert everything(agent.learn(33)) == everything(whole)


def test_an_interrupted_step_is_a_new_episode_for_both(tmp_path, capsys):
    """Saved in that state, the loaded agent starts the same new episode as the one that stayed."""
    agent = AGENTS["td3-ou"]().learn(15)
    agent.obs = None  # as a step leaves it that was stopped halfway
    loaded = reloaded(agent, tmp_path / "a.pt")
    assert everything(loaded.learn(20)) == everything(agent.learn(20))
    assert capsys.readouterr().out == ""


# ---- an environment that cannot be brought back --------------------------------------------------


class Moody(Probe):
    """Its observations come from a generator of its own, which no reset brings back."""

    action_space = TORQUE
    moods = np.random.default_rng(0)

    def observe(self):
        return self.moods.normal(size=1).astype(np.float32)

    def play(self, action):
        return 1.0, self.t == 30, False


class Paid(Constant):
    """Gives more and more; what it shows is always the same."""

    action_space = TORQUE
    given = 0

    def play(self, action):
        Paid.given += 1
        return float(Paid.given), self.t == 30, False


@pytest.mark.parametrize("env", [make(Moody), make(Paid, ending="terminated")])
def test_where_the_way_leads_elsewhere_a_sentence_says_so(env, tmp_path, capsys):
    agent = DDPG(env, seed=0, **tiny).learn(19)
    while agent.obs is None:
        agent.learn(1)
    agent.save(tmp_path / "a.pt", replay=True)
    capsys.readouterr()
    loaded = DDPG.load(tmp_path / "a.pt", env=env)
    out = capsys.readouterr().out.strip()
    assert_one_sentence(out, "new episode", f"step {agent.steps}")
    assert (len(loaded.buffer), loaded.updates) == (len(agent.buffer), agent.updates)
    assert loaded.learn(8).steps == agent.steps + 8


def test_vector_environments_that_are_elsewhere_start_anew_together(tmp_path, capsys):
    agent = A2C(make(Moody), seed=0, n_envs=3, n_steps=5, hidden=4).learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = A2C.load(tmp_path / "a.pt", env=agent.env_source)
    assert_one_sentence(capsys.readouterr().out.strip(), "new episode")
    assert loaded.learn(30).steps >= 60


def test_an_episode_without_end_is_not_remembered_for_ever(tmp_path, capsys, monkeypatch):
    env = make(Constant, ending="never", action_space=TORQUE)
    monkeypatch.setattr(resumable, "LONGEST", 40)
    agents = [DDPG(env, seed=0, **tiny).learn(39)]
    with pytest.warns(UserWarning, match="has taken 40 steps: if nothing ends it, give it a limit"):
        agents.append(DDPG(env, seed=0, **tiny).learn(70))
    assert len(agents[1].env.steps) == 40
    assert agents[1].env.episode_return == 70
    for agent in agents:
        agent.save(tmp_path / "a.pt", replay=True)
        DDPG.load(tmp_path / "a.pt", env=env).learn(5)
    assert capsys.readouterr().out.count("new episode begins") == 1


# ---- what a file may not hold --------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of agents by name; each is trained once."""
    folder = tmp_path_factory.mktemp("saved")

    def save(name):
        path = folder / f"{name}.pt"
        if not path.exists():
            AGENTS[name]().learn(19).save(path, replay=True)
        return path

    return save


def damaged(saved, name, change, path):
    """The agent's class, and its file after a change of what is under way."""
    content = torch.load(saved(name), weights_only=True)
    change(content["under_way"])
    torch.save(content, path)
    return type(AGENTS[name]()), path


BUFFER = ("memories", "buffer")
MEMORIES = {
    "no memories": at("memories", value=KeyError),
    "no episode": at("episode", value=KeyError),
    "an episode of another kind": at("episode", value="nonsense"),
    "no buffer": at(*BUFFER, value=KeyError),
    "a part too many": at(*BUFFER, "steps", value=lambda steps: [*steps, steps[0]]),
    "parts of other lengths": at(*BUFFER, "steps", 2, value=lambda part: part[:-1]),
    "observations of another size": at(*BUFFER, "steps", 0, value=lambda part: part[:, :1]),
    "too many steps": at(
        *BUFFER, "steps", value=lambda steps: [torch.cat([part] * 100) for part in steps]
    ),
    "no noise": at("memories", "noise", value=KeyError),
}
PRIORITIES = {
    "no priorities": at(*BUFFER, "priorities", value=KeyError),
    "too few": at(*BUFFER, "priorities", value=lambda p: p[:-1]),
    "not numbers": at(*BUFFER, "priorities", value=lambda p: p * np.nan),
    "endless": at(*BUFFER, "priorities", value=lambda p: p * np.inf),
    "other ends": at(*BUFFER, "ends", value=lambda ends: ends[1:]),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(pytest.param("td3-ou", change, id=what) for what, change in MEMORIES.items()),
        *(pytest.param("ddpgfd", change, id=what) for what, change in PRIORITIES.items()),
    ],
)
def test_a_memory_that_cannot_be_is_one_sentence(saved, name, change, tmp_path):
    kind, path = damaged(saved, name, change, tmp_path / "a.pt")
    with one_sentence(ValueError, str(path), match=r"cannot be loaded|not an agent"):
        kind.load(path)


WAYS = {
    "no way": at("episode", "trace", value=None),
    "no start": at("episode", "trace", "start", value=KeyError),
    "another start": at("episode", "trace", "start", value=7),
    "no action": at("episode", "trace", "actions", value=lambda actions: actions[:0]),
    "actions of another size": at("episode", "trace", "actions", value=torch.zeros(3, 5)),
    "another place": at("episode", "trace", "obs", value=lambda obs: obs + 1),
    "another return": at("episode", "trace", "return", value=12.0),
    "an end": at("episode", "trace", "over", value=True),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(pytest.param("td3", change, id=what) for what, change in WAYS.items()),
        *(
            pytest.param("a2c", at("episode", "trace", value=trace), id=str(trace))
            for trace in (None, [None] * 3, [None] * 7, "three ways")
        ),
    ],
)
def test_a_way_that_leads_nowhere_is_a_new_episode(saved, name, change, capsys, tmp_path):
    kind, path = damaged(saved, name, change, tmp_path / "a.pt")
    loaded = kind.load(path)
    assert_one_sentence(capsys.readouterr().out.strip(), "new episode")
    loaded.learn(30)


# ---- environments of all sorts -------------------------------------------------------------------


def test_actions_are_remembered_as_they_were_given():
    """Also if the environment writes into them."""

    class Writing(AnySpace):
        def play(self, action):
            result = super().play(action.copy())
            action[:] = 99
            return result

    env = Resumable(make(Writing, action_space=TORQUE))
    env.reset(seed=0)
    env.step(np.float32([0.5]))
    assert env.trace()["actions"].tolist() == [[0.5]]


# ---- without replay ------------------------------------------------------------------------------


def test_without_replay_it_acts_by_its_policy_while_the_memory_fills_again(tmp_path):
    agent = TD3("Short-v0", seed=0, **tiny, noise=None).learn(30)
    agent.save(tmp_path / "a.pt")
    loaded = TD3.load(tmp_path / "a.pt")
    assert (loaded.updates, len(loaded.buffer), loaded.env) == (agent.updates, 0, None)
    loaded.learn(9)
    assert loaded.updates == agent.updates
    for obs, action in zip(
        loaded.buffer.tensors.obs[:9], loaded.buffer.arrays.action, strict=False
    ):
        np.testing.assert_array_equal(action, agent.actor(obs).detach().clamp(-1, 1))
    assert loaded.learn(1).updates == agent.updates + 1


def test_saved_in_its_warm_up_it_warms_up_again(tmp_path):
    """The actor knows nothing yet: its actions are no better, and all alike."""
    new = tiny | {"noise": None, "learning_starts": 20}
    agent = TD3("Short-v0", seed=0, **new).learn(15)
    agent.save(tmp_path / "a.pt")
    loaded = TD3.load(tmp_path / "a.pt").learn(20)
    assert loaded.updates == 1
    assert loaded.buffer.arrays.action[:20].std() > 0.4
    assert np.ptp(loaded.learn(3).buffer.arrays.action[20:23]) < 0.1


def test_a_file_without_replay_is_small_and_with_it_no_larger_than_its_steps(tmp_path):
    agent = DDPG("Pendulum-v1", seed=0, hidden=4, buffer_size=100_000, batch_size=4).learn(1500)
    sizes = []
    for replay in (False, True):
        agent.save(tmp_path / "a.pt", replay)
        sizes.append((tmp_path / "a.pt").stat().st_size)
    step = 4 * (3 + 1 + 1 + 3 + 1 + 1)
    assert sizes[0] < 60_000
    assert 1500 * step < sizes[1] - sizes[0] < 1500 * step + 20_000
