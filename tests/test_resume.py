"""Going on after `load` equals never having stopped: bit for bit, from any step."""

import copy
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, AnySpace, Constant, Counting, Log, Probe, make
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from sentences import assert_one_sentence
from trials import quick
from wholes import AGENTS, everything, flat, tiny

from helpers.agents import A2C, DDPG, TD3
from helpers.agents.off_policy import OffPolicyAgent
from helpers.envs import resumable
from helpers.envs.make import make_env, make_training_env
from helpers.envs.resumable import Resumable
from helpers.memory.buffers import (
    PrioritizedReplayBuffer,
    ReplayBuffer,
    restore_memory,
    stored_memory,
)

EVERY = pytest.mark.parametrize("new", AGENTS.values(), ids=AGENTS.keys())
BOTH = pytest.mark.parametrize("name", ["td3-ou", "ddpgfd-ou"])  # both kinds of memory


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


@EVERY
def test_a_training_in_many_sittings_is_one_training(new, tmp_path):
    """Saved and loaded time after time, twice in a row as well."""
    agent = new()
    for part in (1, 1, 5, 4, 7, 13):
        agent = reloaded(reloaded(agent, tmp_path / "a.pt").learn(part), tmp_path / "a.pt")
    assert everything(agent) == everything(new().learn(agent.steps))


@EVERY
def test_saving_changes_nothing(new, tmp_path):
    agent = new().learn(20, lambda agent: agent.save(tmp_path / "a.pt", replay=True))
    assert everything(agent) == everything(new().learn(20))


@EVERY
def test_what_is_loaded_is_what_was_saved(new, tmp_path):
    agent = new().learn(33)
    loaded = reloaded(agent, tmp_path / "a.pt")
    assert everything(loaded) == everything(agent)
    batch = np.stack([agent.observation_space.sample() for _ in range(9)])
    for _ in range(2):
        explored = [each.predict(batch, deterministic=False) for each in (agent, loaded)]
        np.testing.assert_array_equal(*explored)


@EVERY
def test_an_agent_that_has_not_begun_is_saved_whole(new, tmp_path):
    loaded = reloaded(new(), tmp_path / "a.pt")
    assert everything(loaded.learn(20)) == everything(new().learn(20))


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


class Stubborn(Constant):
    """Refuses to be reset with a random state, or to be led through an episode again."""

    action_space = TORQUE
    steps = 0

    def play(self, action):
        Stubborn.steps += 1
        if Stubborn.steps > 20:
            raise ArithmeticError("enough")
        return super().play(action)


class Paid(Constant):
    """Gives more and more; what it shows is always the same."""

    action_space = TORQUE
    given = 0

    def play(self, action):
        Paid.given += 1
        return float(Paid.given), self.t == 30, False


class Fading(Constant):
    """Ends sooner, the more episodes there were."""

    action_space = TORQUE
    made = 0

    def reset(self, **kwargs):
        Fading.made += 1
        return super().reset(**kwargs)

    def play(self, action):
        return 0.0, self.t * Fading.made >= 30, False


ELSEWHERE = {
    "random": partial(make, Moody),
    "refusing": partial(make, Stubborn, ending="terminated", length=50),
    "paying": partial(make, Paid, ending="terminated"),
    "ending": partial(make, Fading, ending="terminated"),
    "counting": partial(make, Counting, transitions=Log(), action_space=TORQUE),
}


@pytest.mark.parametrize("env", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_where_the_way_leads_elsewhere_a_sentence_says_so(env, tmp_path, capsys):
    env = env()
    agent = DDPG(env, seed=0, **tiny).learn(19)
    while agent.obs is None:
        agent.learn(1)
    agent.save(tmp_path / "a.pt", replay=True)
    capsys.readouterr()
    loaded = DDPG.load(tmp_path / "a.pt", env=env)
    out = capsys.readouterr().out.strip()
    assert_one_sentence(out, "new episode", f"step {agent.steps}")
    assert (len(loaded.buffer), loaded.updates) == (len(agent.buffer), agent.updates)
    Stubborn.steps = 0
    loaded.learn(8)
    assert loaded.steps == agent.steps + 8


def test_another_environment_than_the_one_left_is_a_new_episode(tmp_path, capsys):
    agent = AGENTS["td3"]().learn(25)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = TD3.load(tmp_path / "a.pt", env=gym.make("Pendulum-v1", g=1.0))
    assert "new episode" in capsys.readouterr().out
    assert loaded.obs is None
    assert len(loaded.buffer) == 25
    loaded.learn(10)


def test_vector_environments_that_are_elsewhere_start_anew_together(tmp_path, capsys):
    agent = A2C(make(Moody), seed=0, n_envs=3, n_steps=5, hidden=4).learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = A2C.load(tmp_path / "a.pt", env=agent.env_source)
    assert_one_sentence(capsys.readouterr().out.strip(), "new episode")
    assert loaded.learn(30).steps >= 60


def test_an_episode_without_end_is_not_remembered_for_ever(tmp_path, capsys, monkeypatch):
    env = make(Constant, ending="never", action_space=TORQUE)
    monkeypatch.setattr(resumable, "LONGEST", 40)
    agents = [DDPG(env, seed=0, **tiny).learn(steps) for steps in (39, 70)]
    assert len(agents[1].env.steps) == 40
    assert agents[1].env.episode_return == 70
    for agent in agents:
        agent.save(tmp_path / "a.pt", replay=True)
        DDPG.load(tmp_path / "a.pt", env=env).learn(5)
    assert capsys.readouterr().out.count("new episode begins") == 1


# ---- without replay ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DDPG, TD3])
def test_without_replay_it_acts_by_its_policy_while_the_memory_fills_again(kind, tmp_path):
    agent = kind("Short-v0", seed=0, **tiny, noise=None).learn(30)
    agent.save(tmp_path / "a.pt")
    loaded = kind.load(tmp_path / "a.pt")
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


def test_version_1_loads_as_it_did(tmp_path):
    path = tmp_path / "a.pt"
    AGENTS["td3"]().learn(30).save(path)
    content = torch.load(path)
    for name in ("counts", "predict_rng"):
        del content[name]
    torch.save(content | {"version": 1}, path)
    loaded = TD3.load(path)
    assert loaded.steps == loaded.updates == 30
    loaded.learn(20)
    torch.save(content, path)  # version 2 has them
    with pytest.raises(ValueError, match="not an agent"):
        TD3.load(path)


# ---- what a file may not hold --------------------------------------------------------------------


@pytest.fixture
def saved(name, tmp_path):
    """The class of an agent, and the file it was saved to."""
    agent = AGENTS[name]().learn(19)
    agent.save(tmp_path / "a.pt", replay=True)
    return type(agent), tmp_path / "a.pt"


def refused(kind, path, change):
    content = torch.load(path, weights_only=True)
    change(content["under_way"])
    torch.save(content, path)
    with pytest.raises(ValueError, match=r"cannot be loaded|not an agent") as error:
        kind.load(path)
    assert_one_sentence(error.value, str(path))


@BOTH
def test_the_file_is_read_without_running_code(saved):
    content = torch.load(saved[1], weights_only=True)
    assert content["under_way"]["episode"]["going_on"] is True
    assert len(content["under_way"]["memories"]["buffer"]["steps"]) == 6


def at(*path, value):
    """A change of what stands there; an exception takes it out."""

    def change(content):
        for name in path[:-1]:
            content = content[name]
        if value is KeyError:
            del content[path[-1]]
        else:
            content[path[-1]] = value(content[path[-1]]) if callable(value) else value

    return change


BUFFER = ("memories", "buffer")
DAMAGE = {
    "no memories": at("memories", value=KeyError),
    "memories of another kind": at("memories", value=[1]),
    "no episode": at("episode", value=KeyError),
    "an episode of another kind": at("episode", value="nonsense"),
    "no buffer": at(*BUFFER, value=KeyError),
    "no steps": at(*BUFFER, "steps", value=KeyError),
    "no part": at(*BUFFER, "steps", value=lambda steps: steps[:5]),
    "a part too many": at(*BUFFER, "steps", value=lambda steps: [*steps, steps[0]]),
    "parts of other lengths": at(*BUFFER, "steps", 2, value=lambda part: part[:-1]),
    "observations of another size": at(*BUFFER, "steps", 0, value=lambda part: part[:, :1]),
    "other numbers": at(*BUFFER, "steps", 1, value=lambda part: part.double()),
    "too many steps": at(
        *BUFFER, "steps", value=lambda steps: [torch.cat([part] * 100) for part in steps]
    ),
    "a position beyond": at(*BUFFER, "position", value=10_000),
    "a position before": at(*BUFFER, "position", value=-1),
    "a position between": at(*BUFFER, "position", value=1.5),
    "a position where the next step does not go": at(*BUFFER, "position", value=3),
    "no noise": at("memories", "noise", value=KeyError),
}


@BOTH
@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_memory_that_does_not_fit_is_one_sentence(saved, change):
    refused(*saved, change)


PRIORITIES_DAMAGE = {
    "no priorities": at(*BUFFER, "priorities", value=KeyError),
    "too few": at(*BUFFER, "priorities", value=lambda p: p[:-1]),
    "zero": at(*BUFFER, "priorities", value=lambda p: p * 0),
    "not numbers": at(*BUFFER, "priorities", value=lambda p: p * np.nan),
    "endless": at(*BUFFER, "priorities", value=lambda p: p * np.inf),
    "of another kind": at(*BUFFER, "priorities", value=lambda p: p.float()),
    "other ends": at(*BUFFER, "ends", value=lambda ends: ends[1:]),
    "ends of another kind": at(*BUFFER, "ends", value=lambda ends: ends.float()),
    "more demonstrations than steps": at(*BUFFER, "demos", value=5000),
    "fewer demonstrations than none": at(*BUFFER, "demos", value=-1),
    "a newest step that is not there": at(*BUFFER, "newest", value=5000),
    "a sample count": at(*BUFFER, "samples", value="many"),
    "a largest priority": at(*BUFFER, "max_priority", value=float("nan")),
}


@pytest.mark.parametrize("name", ["ddpgfd"])
@pytest.mark.parametrize("change", PRIORITIES_DAMAGE.values(), ids=PRIORITIES_DAMAGE.keys())
def test_priorities_that_cannot_be_are_one_sentence(saved, change):
    refused(*saved, change)


WAYS = {
    "no way": at("episode", "trace", value=None),
    "no start": at("episode", "trace", "start", value=KeyError),
    "another start": at("episode", "trace", "start", value=7),
    "a start that is none": at("episode", "trace", "start", value={"a": 1}),
    "no action": at("episode", "trace", "actions", value=lambda actions: actions[:0]),
    "actions of another size": at("episode", "trace", "actions", value=torch.zeros(3, 5)),
    "actions of no kind": at("episode", "trace", "actions", value="left, left, right"),
    "another place": at("episode", "trace", "obs", value=lambda obs: obs + 1),
    "a place of another size": at("episode", "trace", "obs", value=torch.zeros(8)),
    "another return": at("episode", "trace", "return", value=12.0),
    "an end": at("episode", "trace", "over", value=True),
}


@pytest.mark.parametrize("name", ["td3"])
@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS.keys())
def test_a_way_that_leads_nowhere_is_a_new_episode(saved, change, capsys):
    kind, path = saved
    content = torch.load(path, weights_only=True)
    change(content["under_way"])
    torch.save(content, path)
    loaded = kind.load(path)
    assert_one_sentence(capsys.readouterr().out.strip(), "new episode")
    assert loaded.obs is None
    loaded.learn(5)


@pytest.mark.parametrize("name", ["a2c"])
@pytest.mark.parametrize("trace", [None, [], [None] * 3, [None] * 7, "three ways"], ids=str)
def test_ways_that_lead_nowhere_are_new_episodes(saved, trace, capsys):
    kind, path = saved
    content = torch.load(path, weights_only=True)
    content["under_way"]["episode"]["trace"] = trace
    torch.save(content, path)
    loaded = kind.load(path)
    assert "new episode" in capsys.readouterr().out
    loaded.learn(30)


# ---- the parts -----------------------------------------------------------------------------------


@quick
@given(capacity=st.integers(4, 12), steps=st.integers(0, 40), demos=st.integers(0, 3))
def test_a_prioritized_memory_comes_back_whole(capacity, steps, demos):
    def new():
        return PrioritizedReplayBuffer(capacity, (2,), (1,), 0, n_steps=3)

    rng, buffer = np.random.default_rng(steps), new()

    def step():
        return (
            rng.normal(size=2),
            rng.normal(size=1),
            1.0,
            rng.normal(size=2),
            rng.random() < 0.2,
            0,
        )

    for _ in range(demos):
        buffer.add_demonstration(*step())
    for i in range(steps):
        buffer.add(*step())
        if i % 3 == 0:
            batch = buffer.sample(4)
            buffer.update_priorities(batch.indices, rng.random(4) + 0.1)
    other = new()
    restore_memory(other, copy.deepcopy(stored_memory(buffer)))
    other.rng.bit_generator.state = buffer.rng.bit_generator.state
    for each in (other, buffer):
        each.add(np.ones(2), np.ones(1), 2.0, np.ones(2), False, True)
    for one, two in zip(buffer.sample(20), other.sample(20), strict=True):
        assert torch.equal(one, two)
    assert flat(stored_memory(buffer)) == flat(stored_memory(other))


def test_stored_memory_is_the_filled_part_and_no_copy():
    buffer = ReplayBuffer(1000, (2,), (1,), 0)
    for _ in range(3):
        buffer.add(np.ones(2), np.ones(1), 1.0, np.ones(2), False, False)
    obs = stored_memory(buffer)["steps"][0]
    assert obs.untyped_storage().nbytes() == 3 * 2 * 4
    assert obs.data_ptr() == buffer.tensors.obs.data_ptr()


def test_an_environment_is_brought_where_another_is():
    env, other = make_training_env("Short-v0"), make_training_env("Short-v0")
    assert env.trace() is None
    env.reset(seed=3)
    for i in range(20):
        obs, *_, over, _ = env.step(np.float32([i % 3 - 1]))
        trace = copy.deepcopy(env.trace())
        assert other.resume(trace)
        assert flat(other.trace()) == flat(trace)
        np.testing.assert_array_equal(other.obs, obs)
        if over:
            starts = [each.reset()[0] for each in (env, other)]
            np.testing.assert_array_equal(*starts)


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


@pytest.mark.parametrize(
    "action_space", [spaces.Discrete(3), spaces.Box(-1, 1, ()), TORQUE], ids=str
)
def test_any_action_can_be_taken_again(action_space):
    """The environments themselves refuse what is none of theirs."""
    env, other = (Resumable(make(Strict, action_space=action_space)) for _ in range(2))
    env.reset(seed=1)
    for _ in range(2):
        env.step(np.asarray(action_space.sample()) if action_space != 3 else 1)
        assert other.resume(env.trace())


class Strict(Probe):
    """Random observations from the generator that gymnasium gives it."""

    def observe(self):
        return self.np_random.normal(size=1).astype(np.float32)

    def play(self, action):
        return float(self.np_random.normal()), False, self.t == 3


class OldStyle(Strict):
    """Its generator keeps arrays in its state."""

    def reset(self, *, seed=None, options=None):
        if seed is not None or self.np_random is None:
            self.np_random = np.random.Generator(np.random.MT19937(seed))
        self.t, self.over = 0, False
        return self.observe(), {}


def test_a_generator_of_another_kind_is_known_by_its_seed_alone():
    env, other = (Resumable(make(OldStyle, action_space=TORQUE)) for _ in range(2))
    env.reset(seed=1)
    env.step(np.float32([0]))
    assert other.resume(env.trace())
    env.reset()
    assert env.trace() is None


def test_the_environment_of_an_agent_is_made_or_the_one_it_was_given():
    env = make_env("Pendulum-v1")
    assert make_training_env(env).env is env
    assert make_training_env("Pendulum-v1").spec.id == "Pendulum-v1"
