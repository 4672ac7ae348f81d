"""Making environments, and saying clearly why one cannot be made or used."""

import os
import subprocess
import sys
import threading
import warnings
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest
from environments import AnySpace, Constant, Needy, Probe, make
from gymnasium import spaces
from gymnasium.wrappers import RecordVideo, TimeLimit
from sentences import assert_one_sentence, one_sentence

from helpers.agents import A2C, ReinforceWithBaseline
from helpers.envs.make import make_env, make_training_env, make_vector_env
from helpers.envs.resumable import wrappers_of

INTEGERS = spaces.Box(np.array([[-1, 0], [2, -3]]), np.array([[5, 6], [7, 8]]), dtype=np.int64)
DICT = spaces.Dict({"image": INTEGERS, "speed": spaces.Box(-1, 1, (2,))})


class Uncopied(Probe):
    def __init__(self):
        super().__init__()
        self.window = threading.Lock()  # which nobody can copy

    def play(self, action):
        return 1.0, True, False


# ---- making them ---------------------------------------------------------------------------------


def test_drawing_looks_for_no_sound_card():
    program = (
        "import os; from helpers.envs.make import make_env; "
        "env = make_env('CartPole-v1', render_mode='rgb_array'); env.reset(); env.render(); "
        "print(os.environ['SDL_AUDIODRIVER'])"
    )
    variables = {k: v for k, v in os.environ.items() if k != "SDL_AUDIODRIVER"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True
    )
    assert done.stdout.split()[-1] == "dummy"
    assert done.stderr == ""


def test_an_instance_is_copied_with_its_arguments_and_wrappers():
    given = gym.wrappers.TimeLimit(make(Constant, ending="never", reward=7.0), 3)
    copy = make_env(given)
    assert copy.unwrapped is not given.unwrapped
    copy.reset(seed=0)
    rewards, ends = zip(*[copy.step(0)[1:4:2] for _ in range(3)], strict=True)
    assert rewards == (7.0, 7.0, 7.0)
    assert ends == (False, False, True)


@pytest.mark.filterwarnings("ignore:.*is out of date")
@pytest.mark.parametrize(
    "env_id", ["CartPol-v1", "CartPole-v99", "Reacher-v1", "", "nowhere/It-v0"]
)
def test_an_unknown_id_is_one_sentence(env_id):
    with pytest.raises(ValueError, match="knows no environment") as error:
        make_env(env_id)
    assert_one_sentence(error.value, repr(env_id), "'CartPole-v1'", "import what registers yours")


def test_a_missing_module_package_or_recipe_is_one_sentence():
    with one_sentence(ValueError, "no_such_module", "no_such_module:It-v0"):
        make_env("no_such_module:It-v0")
    with one_sentence(ValueError, "pip install", Needy.__name__, "unobtainium"):
        A2C("Needy-v0")
    with one_sentence(ValueError, "Uncopied", match=r"register it with gymnasium\.register"):
        make_env(Uncopied())


# ---- several at once -----------------------------------------------------------------------------


def test_copies_are_apart_and_reset_a_step_after_an_episodes_end():
    env = make(Constant, ending="truncated", length=2)
    envs = make_vector_env(env, 3)
    copies = [copy.unwrapped for copy in envs.envs]
    assert len({id(copy) for copy in copies}) == 3
    assert env.unwrapped not in copies
    envs.reset(seed=5)
    rows = [envs.step(np.zeros(3, int)) for _ in range(4)]
    np.testing.assert_array_equal(np.array([row[1] for row in rows])[:, 0], [1, 1, 0, 1])
    np.testing.assert_array_equal(np.array([row[3] for row in rows])[:, 0], [0, 1, 0, 0])
    assert copies[0].seeds == [5, None]
    assert copies[2].seeds == [7, None]


def test_one_environment_that_cannot_be_copied_is_used_itself():
    env = Uncopied()
    assert make_vector_env(env, 1).envs[0].unwrapped is env
    for n_envs, words in ((2, "cannot be copied"), (0, "n_envs")):
        with pytest.raises(ValueError, match=words):
            make_vector_env(env, n_envs)


def test_only_one_environment_of_a_training_records_videos_and_no_other_copy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "moviepy", ModuleType("moviepy"))  # it asks for it

    def make_one():
        drawn = gym.make("CartPole-v1", render_mode="rgb_array")
        return TimeLimit(RecordVideo(drawn, str(tmp_path / "videos"), episode_trigger=bool), 7)

    def records(env):
        return any(isinstance(each, RecordVideo) for each in wrappers_of(env))

    instance = make_one()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of gymnasium's, that videos are written over
        assert not records(make_env(instance))
        assert not records(make_env(make_one))
    for env in (instance, make_one):
        assert records(make_training_env(env))
        copies = make_vector_env(env, 3).envs
        assert [records(copy) for copy in copies] == [True, False, False]
    made = make_env(instance)
    made.reset(seed=0)
    assert [made.step(0)[3] for _ in range(7)] == [False] * 6 + [True]


# ---- what can be learned on ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [spaces.Text(3), spaces.Sequence(INTEGERS), spaces.Dict({"a": spaces.Text(3), "b": INTEGERS})],
    ids=lambda space: type(space).__name__,
)
def test_observations_that_are_no_numbers_are_one_sentence(space):
    with pytest.raises(ValueError, match="take Box observations") as error:
        A2C(make(AnySpace, observation_space=space))
    assert_one_sentence(error.value, f"{type(space).__name__}(", "an array of one length")


@pytest.mark.parametrize("space", [DICT, INTEGERS], ids=lambda space: type(space).__name__)
def test_actions_that_a2c_cannot_take_are_one_sentence(space):
    with one_sentence(ValueError, "A2C takes", f"{type(space).__name__}("):
        A2C(make(AnySpace, action_space=space))


def test_the_book_version_takes_discrete_actions_only():
    with one_sentence(ValueError, "ReinforceWithBaseline takes Discrete actions", "Box(-2.0, 2.0"):
        ReinforceWithBaseline("Pendulum-v1")


def test_the_long_pendulum_has_three_torques_and_is_truncated_after_a_thousand_steps():
    env, plain = make_env("LongPendulum-v0"), make_env("Pendulum-v1")
    for torque in (-2.0, 0.0, 2.0):
        env.reset(seed=1)
        plain.reset(seed=1)
        np.testing.assert_array_equal(
            env.step(int(torque / 2 + 1))[0], plain.step(np.array([torque], np.float32))[0]
        )
    env.reset(seed=0)
    ends = [env.step(1)[2:4] for _ in range(1000)]
    assert ends[-1] == (False, True)
    assert set(ends[:-1]) == {(False, False)}
