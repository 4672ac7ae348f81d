"""What `course.py train` and `study` can be asked for: every agent, every environment."""

import json

import pytest
from sentences import assert_one_sentence
from sometimes import always_on

import helpers.agents
from helpers.training import study, train
from helpers.training.asked import TAUGHT
from helpers.training.settings import ALGORITHMS

DEMOS = "data/demos/sparse_pendulum.npz"
TINY = {
    "a2c": ("Acrobot-v1", "n_envs=2", "n_steps=5", "hidden=4"),
    "reinforce": ("CartPole-v1", "hidden=4"),
    "ppo": ("Acrobot-v1", "n_envs=2", "n_steps=5", "hidden=4"),
    "ddpg": ("MountainCarContinuous-v0", "hidden=4", "learning_starts=5", "batch_size=4"),
    "td3": ("KnockedPendulum-v0", "hidden=(4, 3)", "noise=GaussianNoise([0.3])"),
    "sac": ("KnockedPendulum-v0", "hidden=(4, 3)", "learn_temperature=False"),
    "ddpgfd": ("SparsePendulum-v0", "hidden=4", "pretraining=5", "batch_size=4"),
    "bc": ("SparsePendulum-v0", "hidden=4", "batch_size=4"),
    "td3bc": ("SparsePendulum-v0", "hidden=4", "batch_size=4"),
    "rlpd": ("SparsePendulum-v0", "hidden=(4, 3)", "learning_starts=5", "batch_size=4"),
}
EVERY = pytest.mark.parametrize("algorithm", ALGORITHMS)


def line(algorithm, *more):
    env, *settings = TINY[algorithm]
    demos = ["--demos", DEMOS] if algorithm in TAUGHT else []
    return [algorithm, env, "--steps", "60", "--set", *settings, *demos, *map(str, more)]


def test_every_agent_can_be_asked_for():
    assert set(ALGORITHMS.values()) == set(helpers.agents.__all__)


@pytest.mark.parametrize("algorithm", always_on("a2c", "td3", of=ALGORITHMS))
def test_every_agent_is_studied(algorithm, tmp_path, capsys):
    out = tmp_path / "study.json"
    assert study.main(line(algorithm, "--seeds", "3", "--out", out)) == 0
    assert len(json.loads(out.read_text())["results"][0]["returns"]) == study.EPISODES


@EVERY
def test_every_agent_is_trained_and_goes_on(algorithm, tmp_path, capsys):
    words = line(algorithm, "--out", tmp_path / "run", "--episodes", "1")
    assert train.main(words) == 0
    more = ["90" if word == "60" else word for word in words]
    assert train.main(more) == 0
    assert "Going on at step" in capsys.readouterr().out
    curve = json.loads((tmp_path / "run" / "evaluations.json").read_text())
    assert curve["steps"] >= 90
    assert ("--demos" in curve["command"]) == (algorithm in TAUGHT)


CANNOT = "cannot be trained on Pendulum-v1 as asked"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dqn", "Pendulum-v1"], "There is no 'dqn' to train; there are: a2c"),
        (["td3", "Pendulum-v7", "--steps", "10"], "td3 cannot be trained on Pendulum-v7"),
        (["td3", "Pendulum-v1", "--jobs", "0"], "--jobs must be above 0"),
        (["td3", "Pendulum-v1", "--set", "speed=3"], f"td3 {CANNOT}: TD3 takes no speed: "),
        (["bc", "Pendulum-v1", "--steps", "10"], "bc needs demonstrations, --demos FILE.npz"),
        (["td3", "Pendulum-v1", "--demos", DEMOS], "td3 takes none"),
        (["bc", "Pendulum-v1", "--steps", "10", "--demos", "no.npz"], f"bc {CANNOT}: There is no"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(words, told, tmp_path, capsys):
    for main in (study.main, train.main):
        assert main([*words, "--out", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err.strip()
        assert_one_sentence(said)
        assert said.startswith(told)
