"""`course.py train`: long trainings that survive whatever happens to them."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from wholes import flat

from helpers.agents import TD3, checkpoint
from helpers.agents.noise import OUNoise
from helpers.agents.schedules import LinearSchedule
from helpers.evaluation import Evaluation
from helpers.training import train
from helpers.training.callbacks import Evaluate

ROOT = Path(__file__).resolve().parent.parent
SMALL = ["hidden=4", "batch_size=4", "learning_starts=20", "buffer_size=300"]
SMALL += ["noise=OUNoise(0.3)", "actor_learning_rate=LinearSchedule(1e-3, 1e-4, 400)"]


def arguments(out, *more, steps=450, algorithm="td3", env="Pendulum-v1"):
    """A training of half a second. Its evaluations come at 100, 200, 300, 400 and at the end."""
    line = [algorithm, env, "--steps", str(steps), "--out", str(out), "--episodes", "1"]
    return [*line, "--evaluate-every", "100", "--set", *SMALL, *more]


def outcome(out):
    """All that a training leaves behind, but for the time it took."""
    content = torch.load(out / "checkpoint.pt", weights_only=True)
    del content["run"]["seconds"]
    best = checkpoint.read(out / "best.pt")
    return flat(content), flat(best), json.loads((out / "evaluations.json").read_text())["curve"]


def steps_in(out):
    path = out / "checkpoint.pt"
    return torch.load(path, weights_only=True)["steps"] if path.exists() else 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a training that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert train.main(arguments(out)) == 0
    return out


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


def crashed(monkeypatch, out, step):
    """What a power cut leaves: nothing happens after that step, no last checkpoint."""

    def crash(self, agent):
        if agent.steps == step:
            raise SystemExit("the power is cut")

    with monkeypatch.context() as patch:
        patch.setattr(train.Interrupt, "__call__", crash)
        with pytest.raises(SystemExit, match="the power is cut"):
            train.main(arguments(out))


# ---- from beginning to end -----------------------------------------------------------------------


def test_a_training_leaves_its_results(whole):
    assert {path.name for path in whole.iterdir()} >= {
        "best.pt", "checkpoint.pt", "evaluations.json", "lock",
    }  # fmt: skip
    record = json.loads((whole / "evaluations.json").read_text())
    assert [row["step"] for row in record["curve"]] == [100, 200, 300, 400, 450]
    means = {row["step"]: row["mean"] for row in record["curve"]}
    best = record["best"]["step"]
    assert means[best] == max(means.values()) == record["best"]["mean"]
    assert TD3.load(whole / "best.pt").steps == best
    agent = TD3.load(whole / "checkpoint.pt")
    assert (agent.steps, len(agent.buffer), agent.noise) == (450, 300, OUNoise(0.3))
    assert record["steps"] == 450
    assert record["settings"]["noise"] == checkpoint.as_plain(OUNoise(0.3))
    assert record["versions"].keys() >= {"python", "torch", "gymnasium"}


def test_it_is_the_training_that_learn_does(whole):
    params = {"hidden": 4, "batch_size": 4, "learning_starts": 20, "buffer_size": 300}
    params |= {"noise": OUNoise(0.3), "actor_learning_rate": LinearSchedule(1e-3, 1e-4, 400)}
    params |= {"reward_scale": 0.1, "tau": 0.02}  # the lesson's
    agent = TD3("Pendulum-v1", seed=0, **params).learn(450)
    loaded = TD3.load(whole / "checkpoint.pt")
    contents = [checkpoint.contents(each, replay=True) for each in (agent, loaded)]
    assert flat(contents[0]) == flat(contents[1])


def test_the_command_in_the_results_is_the_one_that_was_given(whole, monkeypatch):
    plans = []
    monkeypatch.setattr(train, "train", plans.append)
    train.main(arguments(whole))
    line = json.loads((whole / "evaluations.json").read_text())["command"]
    assert line.startswith("python course.py train ")
    train.main(shlex.split(line)[3:])
    assert plans[0] == plans[1]


def test_a_finished_training_says_so_and_how_to_go_on(whole, capsys):
    before = outcome(whole)
    assert train.main(arguments(whole)) == 0
    said = capsys.readouterr().out
    assert "Finished: 450 steps" in said
    assert "more --steps" in said
    assert f'TD3.load("{(whole / "best.pt").as_posix()}")' in said
    assert outcome(whole) == before


def test_with_more_steps_it_goes_on(whole, out):
    assert train.main(arguments(out, steps=230)) == 0
    assert train.main(arguments(out)) == 0
    (grown, *_, curve), (expected, *_, other) = outcome(out), outcome(whole)
    assert [row["step"] for row in curve] == [100, 200, 230, 300, 400, 450]
    assert [row for row in curve if row["step"] != 230] == other
    for content in (grown, expected):
        del content["run"]
    assert grown == expected


# ---- whatever stops it ---------------------------------------------------------------------------

KILLER = """\
import os, random, signal, sys, time
from helpers.training import train

# Also where seconds are short; and slow, so that each process is killed before it ends.
train.Keep._is_due = lambda self, agent: time.sleep(0.005) or agent.steps % 30 == 0
seed, out, *arguments = sys.argv[1:]
chance, checkpoint, kills = random.Random(int(seed)), out + "/checkpoint.pt", 0
changed = lambda: os.stat(checkpoint).st_mtime_ns if os.path.exists(checkpoint) else 0
while kills < 5:
    before, child = changed(), os.fork()
    if not child:
        train.main(arguments)
        os._exit(0)
    while changed() == before and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.1))
    try:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    except (ChildProcessError, ProcessLookupError):
        break
    if not os.WIFSIGNALED(status):
        break
    kills += 1
print("killed", kills)
"""


@pytest.mark.skipif(os.name == "nt", reason="kills as POSIX does")
def test_kill_9_at_random_moments_changes_nothing(whole, out):
    """Each process is killed some time after it has written a checkpoint, perhaps in the next."""
    seed = str(time.time_ns())
    command = [sys.executable, "-c", KILLER, seed, str(out), *arguments(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    kills = int(re.search(r"killed (\d)", done.stdout)[1])
    assert kills >= 2, f"seed {seed}: {done.stdout}"
    assert train.main(arguments(out)) == 0
    assert outcome(out) == outcome(whole)
    assert not list(out.glob("*.unfinished"))


def test_what_came_after_the_checkpoint_is_forgotten(whole, out, monkeypatch):
    """A crash at 350; the only checkpoint is that of the beginning."""
    crashed(monkeypatch, out, 350)
    assert len(json.loads((out / "evaluations.json").read_text())["curve"]) == 3
    assert (out / "best.pt").exists()
    assert steps_in(out) == 0
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(train, "go_on", lambda run, _: seen.extend(os.listdir(out)))
        train.main(arguments(out))
    assert "best.pt" not in seen
    assert json.loads((out / "evaluations.json").read_text())["curve"] == []
    assert train.main(arguments(out)) == 0
    assert outcome(out) == outcome(whole)


def test_the_best_is_that_of_the_checkpoint(out, monkeypatch):
    """A crash at 250, a checkpoint at 150: the best of step 200 is not there yet."""
    monkeypatch.setattr(train.Keep, "_is_due", lambda self, agent: agent.steps == 150)
    monkeypatch.setattr(Evaluate, "evaluate", better_and_better)
    crashed(monkeypatch, out, 250)
    assert checkpoint.read(out / "best.pt")["steps"] == 200
    monkeypatch.setattr(train, "go_on", lambda run, _: None)
    train.main(arguments(out))
    assert checkpoint.read(out / "best.pt")["steps"] == 100
    record = json.loads((out / "evaluations.json").read_text())
    assert [row["step"] for row in record["curve"]] == [100]
    assert record["best"] == {"step": 100, "mean": 100.0}


def better_and_better(self, agent):
    result = Evaluation(np.array([float(agent.steps)]), np.array([1]))
    self.curve.append((agent.steps, result))
    self.best, self.best_contents = self.curve[-1], checkpoint.contents(agent, replay=False)


def stop_after(monkeypatch, calls, times=1):
    """Ctrl-C, once or several times, within that call of the progress line."""
    show, counted = train.ProgressLine.__call__, []

    def interrupted(self, agent):
        counted.append(agent.steps)
        if len(counted) == calls:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return show(self, agent)

    monkeypatch.setattr(train.ProgressLine, "__call__", interrupted)


def test_ctrl_c_writes_a_checkpoint_and_leaves(whole, out, monkeypatch, capsys):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for steps in (131, 262):
        stop_after(monkeypatch, 130)
        assert train.main(arguments(out)) == train.STOPPED
        monkeypatch.undo()
        assert f"Stopped at step {steps}; the same command goes on" in capsys.readouterr().out
        assert steps_in(out) == steps
    assert train.main(arguments(out)) == 0
    assert outcome(out) == outcome(whole)
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


def test_a_second_ctrl_c_leaves_at_once_and_keeps_the_checkpoint(whole, out, monkeypatch, capsys):
    stop_after(monkeypatch, 130, times=2)
    assert train.main(arguments(out)) == train.STOPPED
    assert "Left at once: the checkpoint of step 0 stays." in capsys.readouterr().out
    monkeypatch.undo()
    assert train.main(arguments(out)) == 0
    assert outcome(out) == outcome(whole)


def test_sigterm_is_a_stop_as_well(out, monkeypatch):
    monkeypatch.setattr(train.signal, "SIGINT", signal.SIGTERM)  # stop_after then sends it
    stop_after(monkeypatch, 50)
    assert train.main(arguments(out)) == train.STOPPED
