"""What somebody does who comes from another library: it works, or one sentence says what to do."""

import os
import pickle
import stat
import sys
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, AnySpace, Constant, make
from gymnasium.wrappers import NormalizeReward
from sentences import assert_one_sentence, one_sentence
from torch import nn
from wholes import AGENTS, everything

from helpers.agents import PPO, TD3
from helpers.evaluation import evaluate
from helpers.memory.buffers import ReplayBuffer
from helpers.training.callbacks import Checkpoint, Evaluate


def short(**settings):
    return TD3("Pendulum-v1", seed=0, learning_starts=20, batch_size=4, **settings)


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rate",
    [np.float64(1e-3), np.float32(1e-3), lambda steps: np.float64(1e-3)],
    ids=["float64", "float32", "a function"],
)
def test_a_learning_rate_of_numpys_is_saved_and_loaded(rate, tmp_path):
    agent = PPO("CartPole-v1", seed=0, n_steps=8, batch_size=32, learning_rate=rate).learn(200)
    agent.optimizer.param_groups[0]["eps"] = np.float64(1e-6)
    agent.save(tmp_path / "a.pt")
    other = PPO.load(tmp_path / "a.pt", learning_rate=rate)
    assert type(other.optimizer.param_groups[0]["eps"]) is float


def test_a_list_of_settings_that_its_owner_changes_later_changes_no_file(tmp_path):
    hidden, parts = [8, 6], ["obs"]
    agent = short(hidden=hidden, normalize=parts)
    hidden.append(4)
    parts.append("rewards")
    agent.save(tmp_path / "a.pt")
    loaded = TD3.load(tmp_path / "a.pt").hyperparameters
    assert (loaded["hidden"], loaded["normalize"]) == ([8, 6], ["obs"])


def test_a_compiled_network_is_saved_under_the_names_that_load_knows(tmp_path):
    agent, same = short(), short()
    agent.critic = torch.compile(agent.critic, backend="eager")
    agent.learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    assert everything(TD3.load(tmp_path / "a.pt")) == everything(agent)
    same.set_parameters(agent.get_parameters())
    agent.set_parameters(same.get_parameters())


def test_a_history_of_ones_own_is_loaded_or_refused_at_once(tmp_path):
    agent, path = short(), tmp_path / "a.pt"
    agent.history["mine"] = [(np.int64(3), np.float32(0.5))]
    agent.save(path)
    assert TD3.load(path).history == {"mine": [(3, 0.5)]}
    before = path.read_bytes()
    agent.history["mine"] = [(3, object())]
    with one_sentence(ValueError, "Nothing was saved", "agent.log(name=value)"):
        agent.save(path)
    assert path.read_bytes() == before


def test_a_path_in_the_home_folder_leads_there(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    short().learn(2, Checkpoint("~/runs/b.pt", steps=1)).save("~/runs/a.pt")
    short().save("~draft.pt")
    for path, steps in (("~/runs/a.pt", 2), ("~/runs/b.pt", 2), ("~draft.pt", 0)):
        assert TD3.load(path).steps == steps
    assert {path.name for path in tmp_path.iterdir()} == {"home", "~draft.pt"}


@pytest.mark.skipif(os.name == "nt", reason="links and rights are others there")
def test_a_link_goes_on_leading_to_the_file_which_keeps_its_rights(tmp_path):
    link, file = tmp_path / "latest.pt", tmp_path / "run.pt"
    short().save(file)
    file.chmod(0o600)
    link.symlink_to(file)
    short(gamma=0.5).save(link)
    assert link.is_symlink()
    assert TD3.load(file).gamma == 0.5
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_cannot_be_written_says_why(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot be written: ") as error:
        short().save(tmp_path / "file" / "a.pt")
    assert_one_sentence(str(error.value).replace(".pt", ""), "cannot be written")
    with one_sentence(ValueError, "/dev/null is no file"):
        short().save("/dev/null")
    assert not os.path.isfile("/dev/null")


# ---- evaluation ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (partial(make, Constant, ending="truncated", reward=np.nan), "the reward nan"),
        (partial(make, Constant, ending="truncated", reward=[1.0]), "one finite number"),
        (lambda: NormalizeReward(gym.make("CartPole-v1")), "leave it out"),
    ],
    ids=["reward", "list", "wrapper"],
)
def test_an_evaluation_refuses_what_training_refuses(env, words):
    env = env()
    with one_sentence(ValueError, words):
        evaluate(PPO("CartPole-v1" if words == "leave it out" else env, seed=0), env, episodes=2)


def test_an_evaluation_never_steps_the_environment_that_is_trained_in():
    env = make(Constant, ending="truncated", length=3, action_space=TORQUE)
    agent = TD3(lambda: env, seed=0, learning_starts=20).learn(3)
    for callback in (Evaluate(2, 1), Evaluate(2, 1, env=lambda: env)):
        with one_sentence(ValueError, "must make a new one"):
            agent.learn(2, callback)


def test_an_evaluation_in_an_environment_with_other_actions_is_refused_at_once():
    agent = short()
    with pytest.raises(ValueError, match="with the same actions") as error:
        agent.learn(1, Evaluate(1000, env="MountainCarContinuous-v0"))
    assert_one_sentence(str(error.value).replace("2.", "2").replace("1.", "1"), "(1,)")
    assert agent.steps == 0


def test_one_evaluate_for_several_agents_keeps_the_best_of_each():
    evaluations = Evaluate(20, 1)
    for seed in (0, 1):
        agent = TD3("Pendulum-v1", seed=seed, learning_starts=10).learn(40, evaluations)
        assert [step for step, _ in evaluations.curve] == [20, 40]
        assert evaluations.best_contents["hyperparameters"]["seed"] == seed
    agent.learn(20, evaluations)  # the same one goes on
    assert [step for step, _ in evaluations.curve] == [20, 40, 60]


# ---- other processes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ppo", "td3"])
def test_an_agent_that_is_sent_to_a_process_is_a_copy(name):
    """As `multiprocessing` sends it; torch would let both processes share its weights."""
    agent = AGENTS[name]().learn(30)
    sent = pickle.loads(ForkingPickler.dumps(agent))
    assert not agent.critic.state_dict().popitem()[1].is_shared()
    before = everything(agent)
    assert everything(sent) == before
    assert everything(sent.learn(30)) != before == everything(agent)
    assert everything(agent.learn(30)) == everything(sent)


# ---- what is asked for in another way ------------------------------------------------------------


def test_a_class_of_networks_is_not_set_on_an_agent():
    agent = short()
    agent.actor_class = nn.Linear
    with pytest.raises(AttributeError, match="name it in a subclass"):
        agent.learn(1)


def test_what_is_made_loaded_or_trained_in_inference_mode_learns_as_ever(tmp_path):
    expected = short().learn(40).predict(np.ones(3))
    autograd = type("Own", (TD3,), {})  # which has no twin in numpy
    with torch.inference_mode():
        agents = [short(), autograd("Pendulum-v1", seed=0, learning_starts=20, batch_size=4)]
        agents[0].learn(30).save(tmp_path / "a.pt", replay=True)
        agents[1].learn(30)
        agents.append(TD3.load(tmp_path / "a.pt"))
    with torch.no_grad():
        actions = [agent.learn(10).predict(np.ones(3)) for agent in agents]
    assert actions == [pytest.approx(expected)] * 3


@pytest.mark.parametrize("name", ["maximize", "amsgrad"])
def test_what_is_set_by_hand_in_an_optimiser_is_obeyed(name):
    agents = [short().learn(25) for _ in range(2)]
    for optimizer in (agents[0].actor_optimizer, agents[0].critic_optimizer):
        optimizer.param_groups[0][name] = True
        for state in optimizer.state.values():
            state["max_exp_avg_sq"] = state["exp_avg_sq"].clone()
    first, second = (agent.learn(20).actor.state_dict().values() for agent in agents)
    assert not all(map(torch.equal, first, second))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at Linux's own figures")
def test_a_memory_takes_room_only_where_something_is_stored():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    env = make(AnySpace, observation_space=gym.spaces.Box(-1, 1, (10_000,)), action_space=TORQUE)
    before = resident()
    agent = TD3(env, buffer_size=50_000, hidden=1)
    assert agent.buffer.arrays.obs.nbytes == 2e9
    assert resident() - before < 3e8


def test_a_memory_without_room_is_one_sentence():
    env = make(AnySpace, observation_space=gym.spaces.Box(-1, 1, (10**6,)), action_space=TORQUE)
    with one_sentence(ValueError, "set a smaller buffer_size", "1,000,000 numbers"):
        TD3(env, buffer_size=10**8, hidden=1)


def test_save_and_load_take_a_path(tmp_path):
    with open(tmp_path / "a.pt", "wb") as file, one_sentence(TypeError, "the path of a file"):
        short().save(file)
    with open(tmp_path / "a.pt", "rb") as file, one_sentence(TypeError, "the path of a file"):
        TD3.load(file)


def test_a_memory_of_ones_own_that_learning_would_wait_for_is_refused():
    agent = TD3("Pendulum-v1", seed=0, learning_starts=20, hidden=4)
    agent.buffer = ReplayBuffer(10, (3,), (1,), 0)
    with one_sentence(ValueError, "learning_starts must be at most buffer_size"):
        agent.learn(1)
