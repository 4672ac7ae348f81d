"""`course.py study`, on a training that takes no time."""

import json
import shlex
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import torch
from sentences import one_sentence

from helpers.agents.noise import OUNoise
from helpers.training import study
from helpers.training.settings import Setting


class Agent:
    """Knows its seed; reaches 500 on even seeds and 400 on odd ones."""

    def __init__(self, seed, stop_at=None):
        self.seed, self.stop_at = seed, stop_at
        self.steps = 0

    def learn(self, steps):
        self.threads = torch.get_num_threads()
        self.steps = 10 if self.seed == self.stop_at else steps  # at Ctrl-C `learn` ends quietly
        return self


@dataclass(frozen=True)
class FakeSetting(Setting):
    stop_at: int | None = None

    def make(self, seed):
        return Agent(seed, self.stop_at)


PARAMS = {"gamma": 0.99, "noise": OUNoise(sigma=0.3)}
FAKE = FakeSetting("a2c", "CartPole-v1", "01_a2c", 1000, 475.0, PARAMS)


def fake_evaluate(agent, episodes, seed):
    assert agent.threads == 1
    returns = [500.0 - 100 * (agent.seed % 2)] * episodes
    return SimpleNamespace(returns=returns, mean=returns[0])


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    def ask(options):
        if options.algorithm != "a2c":
            raise ValueError(f"Unknown algorithm '{options.algorithm}'; there is: a2c.")
        return FAKE

    monkeypatch.setattr(study, "evaluate", fake_evaluate)
    monkeypatch.setattr(study, "ask", ask)
    monkeypatch.setattr(study, "make_agent", lambda setting, seed: setting.make(seed))


@pytest.mark.parametrize(
    ("text", "seeds"), [("0-2,7", [0, 1, 2, 7]), ("7, 1-2,2", [1, 2, 7]), ("3", [3])]
)
def test_seeds_are_written_as_ranges(text, seeds):
    assert study.parse_seeds(text) == seeds
    for wrong in ("", "a", "5-3", "1-", "1,,2"):
        with pytest.raises(ValueError, match="written as 0-9"):
            study.parse_seeds(wrong)


def test_a_line_a_seed_and_a_summary(capsys, tmp_path):
    out = tmp_path / "a2c.json"
    assert study.main(["a2c", "CartPole-v1", "--seeds", "10-13", "--out", str(out)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["10", "11", "12", "13"]
    assert ["not passed" in line for line in lines] == [False, True, False, True]
    assert last == "study a2c CartPole-v1: 2/4 seeds >= 475, median 0.0 s, worst 0.0 s"

    record = json.loads(out.read_text())
    assert record["command"] == (
        f"python course.py study a2c CartPole-v1 --seeds 10-13 --out {shlex.quote(str(out))}"
    )
    assert record["settings"]["bar"] == 475
    noise = "OUNoise(sigma=0.3, theta=0.15, dt=1.0)"  # which says all about it
    assert record["settings"]["params"] == {"gamma": 0.99, "noise": noise}
    assert set(record["versions"]) == {"python", "torch", "numpy", "gymnasium"}
    assert set(record["machine"]) == {"cpus", "system", "processor"}
    assert record["date"].startswith("20")
    assert record["summary"] == last
    assert not record["stopped"]
    row = record["results"][1]
    assert (row["seed"], row["steps"], row["mean"], row["passed"]) == (11, 1000, 400, False)
    assert row["returns"] == [400] * 20
    assert row["seconds"] >= 0
    assert 0 <= row["cpu_seconds"] < 60
    assert list(tmp_path.iterdir()) == [out]


def test_ctrl_c_keeps_what_is_done(tmp_path, capsys):
    """The seed whose training it ended is not counted."""
    out = tmp_path / "a2c.json"
    record = study.study(replace(FAKE, stop_at=2), range(5), "", out=out)
    assert [row["seed"] for row in record["results"]] == [0, 1]
    assert json.loads(out.read_text())["stopped"]
    *_, stopped, last = capsys.readouterr().out.splitlines()
    assert stopped == "Stopped after 2 of 5 seeds."
    assert last.startswith("study a2c CartPole-v1: 1/2 seeds")
    assert study.study(replace(FAKE, stop_at=0), range(5), "")["stopped"]
    assert capsys.readouterr().out.splitlines()[-1] == "study a2c CartPole-v1: no seed finished"


def test_a_study_that_was_killed_goes_on(tmp_path, capsys, monkeypatch):
    """Its rows stay as they are, and only the seeds that are left are trained."""
    out, trained = tmp_path / "a2c.json", []
    run_seed = study.run_seed

    def run(setting, seed):
        if seed == 3 and 3 not in trained:
            trained.append(seed)
            raise MemoryError("as good as kill -9: nothing is written after the last row")
        trained.append(seed)
        return run_seed(setting, seed)

    monkeypatch.setattr(study, "run_seed", run)
    with pytest.raises(MemoryError):
        study.study(FAKE, range(5), "", out=out)
    before = json.loads(out.read_text())["results"]
    record = study.study(FAKE, range(5), "", out=out)
    assert trained == [0, 1, 2, 3, 3, 4]
    assert f"Going on: {out} has 3 of 5 seeds." in capsys.readouterr().out
    assert record["results"][:3] == before
    assert [row["seed"] for row in record["results"]] == [0, 1, 2, 3, 4]
    assert json.loads(out.read_text())["results"] == record["results"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"settings": {}}, "other settings"),
        ({"settings": {}, "versions": {"torch": "0"}}, "other settings and versions"),
        ({"evaluation": {"episodes": 1, "seed": 0}}, "other evaluation"),
        ({"results": [{"seed": 0}, {"seed": 1}, {"seed": 2}]}, "it is finished"),
        ({"results": [{"seed": 3}]}, "other seeds"),
        ({"results": None}, "no study"),
    ],
)
def test_another_study_or_a_finished_one_is_not_written_over(tmp_path, change, told):
    out = tmp_path / "a2c.json"
    record = study.header(FAKE, "") | {"results": [{"seed": 0}]}
    plain = json.loads(json.dumps(record, default=str))
    out.write_text(json.dumps(plain))
    assert study.finished_before(out, record, [0, 1, 2]) == [{"seed": 0}]
    for text, why in [(json.dumps(plain | change), told), ("", "no study")]:
        out.write_text(text)
        with one_sentence(study.Refused, str(out), why, "delete it"):
            study.study(FAKE, [0, 1, 2], "", out=out)
        assert out.read_text() == text


def a_row(setting, seed):
    row = {"seed": seed, "steps": 1, "seconds": 0.5, "cpu_seconds": 0.5, "mean": 500.0}
    return row | {"passed": True, "returns": []}


def test_jobs_side_by_side_give_the_same_rows(monkeypatch):
    monkeypatch.setattr(study, "run_seed", a_row)
    record = study.study(FAKE, range(6), "", jobs=2)
    assert record["results"] == [a_row(None, seed) for seed in range(6)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sac", "CartPole-v1"], "there is: a2c"),
        (["a2c", "CartPole-v1", "--seeds", "9-0"], "written as"),
        (["a2c", "CartPole-v1", "--jobs", "two"], "--jobs"),
        (["a2c"], "environment"),
    ],
)
def test_bad_usage_is_one_sentence(arguments, told, capsys):
    assert status(arguments) == 2
    out, err = capsys.readouterr()
    assert told in err
    assert (out, len(err.splitlines())) == ("", 1)


def status(arguments):
    try:
        return study.main(arguments)
    except SystemExit as stop:
        return stop.code


def test_a_file_that_cannot_be_written_is_said_before_anything_trains(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert study.main(["a2c", "CartPole-v1", "--out", str(tmp_path / "file" / "a.json")]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert str(tmp_path) in err
