"""`course.py train --seeds`: several long trainings at once, each in a folder of its own."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from test_train import arguments, outcome

from helpers.training import train

posix = pytest.mark.skipif(os.name == "nt", reason="signals are others there")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Seed 1 trained alone."""
    out = tmp_path_factory.mktemp("alone") / "run"
    assert train.main(arguments(out, "--seed", "1")) == 0
    return outcome(out)


def test_each_seed_is_trained_as_if_alone(whole, tmp_path, capsys):
    assert train.main(arguments(tmp_path, "--seeds", "0-1", "--jobs", "2")) == 0
    assert outcome(tmp_path / "seed_1") == whole
    assert outcome(tmp_path / "seed_0") != whole
    said = capsys.readouterr().out
    assert said.count("seed 0: Finished") == said.count("seed 1: Finished") == 1


@posix
@pytest.mark.long
def test_ctrl_c_stops_them_all_and_the_same_command_goes_on(tmp_path, capsys):
    line = arguments(tmp_path, "--seeds", "0-2", "--jobs", "2")
    command = [sys.executable, "-m", "helpers.training.train", *line]
    command[command.index("450")] = "1000000"
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    marks = [tmp_path / f"seed_{seed}" / "evaluations.json" for seed in (0, 1)]
    while not all(mark.exists() for mark in marks) and child.poll() is None:
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    said, _ = child.communicate()
    assert child.returncode == train.STOPPED
    assert not (tmp_path / "seed_2").exists()  # which waited for its turn
    reached = re.findall(r"seed \d: Stopped at step ([\d,]+);", said)
    assert len(reached) == 2
    steps = max(int(each.replace(",", "")) for each in reached) + 20
    assert train.main(arguments(tmp_path, "--seeds", "0-1", steps=steps)) == 0
    said = capsys.readouterr().out
    for seed in (0, 1):
        assert f"seed {seed}: Going on at step" in said
        assert f"seed {seed}: Finished" in said


@posix
def test_a_seed_that_was_killed_is_no_success(tmp_path, monkeypatch, capsys):
    begun = subprocess.Popen

    def killed(words, **given):
        child = begun(words, **given)
        if words[-1] == "0":
            child.kill()
        return child

    monkeypatch.setattr(train.subprocess, "Popen", killed)
    assert train.main(arguments(tmp_path, "--seeds", "0-1")) == signal.SIGKILL
    assert "seed 1: Finished" in capsys.readouterr().out
