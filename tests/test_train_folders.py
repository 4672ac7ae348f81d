"""`course.py train`: long trainings that survive whatever happens to them."""

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import pytest
import torch
from environments import TORQUE, Log
from sentences import assert_one_sentence
from test_train import arguments, out, outcome, steps_in, stop_after, whole  # noqa: F401

from helpers.agents.noise import OUNoise
from helpers.training import train
from helpers.training.callbacks import Evaluate
from helpers.training.runs import claimed
from helpers.training.settings import LONG, MUJOCO

# ---- a full disk ---------------------------------------------------------------------------------


def full(monkeypatch, where, first=1):
    """From the call number `first` on, files of that name cannot be written."""
    save, calls = torch.save, []

    def refuse(content, path):
        if path.name == where + ".unfinished":
            calls.append(path)
            if len(calls) >= first:
                path.write_bytes(b"half of it")
                raise RuntimeError("unexpected pos 704 vs 598")  # as torch says it
        save(content, path)

    monkeypatch.setattr(torch, "save", refuse)


def test_a_full_disk_does_not_end_the_training(whole, out, monkeypatch, capsys):
    """Full after the checkpoint of step 100, and still so at the end; then there is room again."""
    monkeypatch.setattr(train.Keep, "_is_due", lambda self, agent: agent.steps % 100 == 0)
    full(monkeypatch, "checkpoint.pt", first=3)
    assert train.main(arguments(out)) == 1
    said = capsys.readouterr()
    told = "(perhaps the disk is full): the one of step 100 stays, and training goes on."
    assert said.out.count(told) == 3
    assert_one_sentence(said.err.strip(), "step 100", "goes on")
    assert steps_in(out) == 100
    assert not list(out.glob("*.unfinished"))
    monkeypatch.undo()
    assert train.main(arguments(out)) == 0
    assert outcome(out) == outcome(whole)


def test_a_disk_too_full_for_the_best_agent_does_not_end_the_training(
    whole, out, monkeypatch, capsys
):
    full(monkeypatch, "best.pt")
    assert train.main(arguments(out)) == 0
    assert "it is kept in memory, and training goes on" in capsys.readouterr().out
    monkeypatch.undo()
    assert train.main(arguments(out)) == 0  # finished; the best agent is in the checkpoint
    assert outcome(out) == outcome(whole)


def test_no_room_at_all_is_one_sentence(out, monkeypatch, capsys):
    full(monkeypatch, "checkpoint.pt")
    assert train.main(arguments(out)) == 1
    said = capsys.readouterr()
    assert_one_sentence(said.err.strip(), str(out))
    assert not (out / "checkpoint.pt").exists()


# ---- what it refuses -----------------------------------------------------------------------------


def refused(capsys, *line):
    assert train.main([str(word) for word in line]) == 2
    said = capsys.readouterr().err.strip()
    assert_one_sentence(said)
    return said


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ddpg Acrobot-v1", "--steps 100000"),
        ("td3 Pendulum-v1 --steps 0", "--steps must be above 0"),
        ("td3 Pendulum-v1 --seed -1", "seed"),
        ("td3 Pendulum-v1 --seeds two", "0-9"),
        ("td3 Pendulum-v1 --checkpoint-minutes 0", "--checkpoint-minutes"),
        ("td3 Pendulum-v1 --set tau", "gamma=0.98"),
        ("td3 Pendulum-v1 --set seed=3", "seed=3"),
        ("td3 Pendulum-v1 --set hidden='wide'", "hidden must be"),
        ("td3 Pendulum-v1 --set noise=0.1", "GaussianNoise(0.1)"),
        ("td3 Pendulum-v1 --set noise=OUNoise(size=1)", "OUNoise"),
        ("td3 Pendulum-v1 --set noise=print(1)", "not a value"),
        ("td3 Pendulum-v1 --set tau=__import__('os')", "not a value"),
    ],
)
def test_a_wrong_command_is_one_sentence(line, told, tmp_path, capsys):
    assert told in refused(capsys, *line.split(), "--out", tmp_path / "run")
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_other_settings_in_the_same_folder_are_refused(whole, capsys):
    before = outcome(whole)
    for more, told in (
        (["tau=0.5"], "tau is 0.02 there, 0.5 here"),
        (["--seed", "1"], "seed is 0 there, 1 here"),
        (["--episodes", "3"], "episodes is 1 there, 3 here"),
    ):
        assert told in refused(capsys, *arguments(whole, *more))
    other = arguments(whole, algorithm="ddpg")
    assert "holds a TD3 agent" in refused(capsys, *other)
    assert outcome(whole) == before


DAMAGED = {
    "an agent": lambda content: content.pop("run"),
    "another agent": lambda content: content.update(agent="A2C"),
    "a newer one": lambda content: content.update(version=99),
    "NaN": lambda content: content["state"]["actor"]["output.bias"].fill_(torch.nan),
    "a training in words": lambda content: content.update(run="far"),
    "no settings": lambda content: content["run"].update(settings=None),
    "evaluations in words": lambda content: content["run"].update(evaluations="good"),
    "an evaluation too short": lambda content: content["run"].update(evaluations=[[1]]),
    "seconds in words": lambda content: content["run"].update(seconds="many"),
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_checkpoint_is_one_sentence_and_stays(whole, out, change, capsys):
    shutil.copytree(whole, out)
    path = out / "checkpoint.pt"
    content = torch.load(path)
    change(content)
    torch.save(content, path)
    broken = path.read_bytes()
    assert str(path) in refused(capsys, *arguments(out))
    assert path.read_bytes() == broken
    assert (out / "best.pt").read_bytes() == (whole / "best.pt").read_bytes()


def test_results_without_a_checkpoint_are_not_overwritten(whole, out, capsys):
    shutil.copytree(whole, out)
    (out / "checkpoint.pt").unlink()
    assert "no checkpoint" in refused(capsys, *arguments(out))
    assert (out / "best.pt").exists()


def test_two_processes_do_not_share_a_folder(out, capsys):
    with claimed(out):
        assert "Another process" in refused(capsys, *arguments(out))
    assert train.main(arguments(out, steps=30)) == 0


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert train.main(arguments(tmp_path / "file" / "run")) == 1
    assert_one_sentence(capsys.readouterr().err.strip(), "cannot be written")


def test_without_mujoco_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for name in [name for name in sys.modules if name.startswith("gymnasium.envs.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    said = refused(capsys, "td3", "Walker2d-v5", "--out", tmp_path / "run")
    assert "gymnasium[mujoco]" in said


def test_a_training_that_meets_nan_keeps_its_checkpoint(out, monkeypatch, capsys):
    faulty = {"fault": "reward", "at": 45, "steps": Log(), "length": 10, "action_space": TORQUE}
    monkeypatch.setattr(gym.registry["Faulty-v0"], "kwargs", faulty)
    line = [*arguments(out, env="Faulty-v0"), "--checkpoint-minutes", "1e-6"]
    assert "nan" in refused(capsys, *line)
    assert steps_in(out) == 44


# ---- settings ------------------------------------------------------------------------------------


def plan(*line):
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "train", lambda plan: seen.append(plan) or 0)
        train.main([str(word) for word in line])
    return seen[0]


def test_a_lessons_setting_is_taken_and_may_be_changed():
    values = ["tau=0.5", "hidden=8", "noise=OUNoise(sigma=0.3, dt=2)", "--set", "gamma=-1e-3"]
    made = plan("ddpg", "Pendulum-v1", "--set", *values)
    given = {"tau": 0.5, "hidden": 8, "noise": OUNoise(0.3, dt=2), "gamma": -1e-3}
    assert made.setting.params | given | {"reward_scale": 0.1} == made.setting.params
    assert (made.setting.steps, made.setting.bar) == (12_000, -200)
    assert (made.every, made.seed, made.out) == (600, 0, Path("runs/ddpg_Pendulum-v1_0"))


def test_robots_have_settings_of_their_own():
    walker = plan("td3", "Walker2d-v5")
    assert (walker.setting.steps, walker.every, walker.setting.params) == (1_000_000, 5000, MUJOCO)
    assert plan("ddpg", "Hopper-v5", "--steps", 5).setting.params == MUJOCO
    assert plan("sac", "Hopper-v5", "--steps", 5).setting.params["noise"] is None
    assert plan("a2c", "Hopper-v5", "--steps", 5).setting.params == {}
    assert plan("td3", "Acrobot-v1", "--steps", 5).setting.params == {}
    pytest.importorskip("mujoco")
    for setting in LONG.values():
        agent = setting.make(seed=0, hidden=8)
        assert setting.params | {"hidden": 8} | agent.hyperparameters == agent.hyperparameters


# ---- progress ------------------------------------------------------------------------------------


@pytest.fixture
def line(monkeypatch):
    """A progress line, an agent, and a clock to be moved by hand."""
    now = [0.0]
    monkeypatch.setattr(train.time, "monotonic", lambda: now[0])
    evaluations = Evaluate(100)
    progress = train.ProgressLine(10_000, evaluations)
    agent = SimpleNamespace(steps=1000, history={})
    progress.start(agent, 9000)

    def after(seconds, steps):
        now[0] += seconds
        agent.steps += steps
        progress(agent)

    return SimpleNamespace(progress=progress, agent=agent, after=after, evaluations=evaluations)


def test_progress_in_a_log_is_a_line_every_minute(line, capsys):
    for _ in range(20):
        line.after(seconds=5, steps=10)
    line.agent.history["return"] = [(i, float(i)) for i in range(20)]
    line.evaluations.best = (100, SimpleNamespace(mean=1234.56))
    line.after(seconds=100, steps=100)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "1,020 of 10,000 steps (10 %) · 1:14:50 left · 2 steps/s",
        "1,140 of 10,000 steps (11 %) · 1:13:50 left · 2 steps/s",
        "1,300 of 10,000 steps (13 %) · 1:57:49 left · 1 steps/s · last returns 14.5 · "
        "best evaluation 1,234.6",
    ]


def test_progress_on_a_terminal_is_one_line(line, capsys, monkeypatch):
    monkeypatch.setattr(train.shutil, "get_terminal_size", lambda **_: os.terminal_size((40, 24)))
    line.progress.live = True
    line.after(seconds=20, steps=10)
    line.after(seconds=0.1, steps=10)  # too soon
    line.after(seconds=1, steps=10)
    line.progress.say("An evaluation.")
    line.after(seconds=1, steps=10)
    line.progress.stop(line.agent)
    said = capsys.readouterr().out
    shown = [part for part in said.split("\r") if part.startswith("1,0")]
    assert [part[:5] for part in shown] == ["1,010", "1,030", "1,040"]
    assert all(len(part) < 40 for part in said.split("\r"))  # it never wraps
    assert [part for part in said.split("\r") if "\n" in part] == ["An evaluation.\n"]
    assert said.endswith("\r")
