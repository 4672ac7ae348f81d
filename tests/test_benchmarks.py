"""`course.py bench`: what is timed and what is said about it; never how fast this machine is."""

import json
import os
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from sentences import assert_one_sentence
from sometimes import always_on
from torch.nn.utils import parameters_to_vector

from benchmarks import bench, report, training
from benchmarks import measure as measuring
from benchmarks.measure import Benchmark, Contender, measure, summary, table
from benchmarks.peers import load
from benchmarks.single_file_td3 import SingleFileTD3
from benchmarks.workers import Worker, choose_core, take_turn
from helpers.training.settings import get_setting

ROW = {"name", "figure", "against", "ratio", "figures", "ratios", "missing"}


class Here:
    """A worker without a process of its own: some hundred of those would take minutes."""

    def __init__(self, prepare, core):
        self.run = prepare()

    def turn(self, steps):
        return take_turn(self.run, steps)

    def close(self):
        pass


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(training, "SIZES", ((64, 128),))
    monkeypatch.setattr(measuring, "Worker", Here)
    if os.name == "nt":  # there the clock of computing ticks 64 times a second
        monkeypatch.setattr(time, "process_time", time.perf_counter)


# Taking turns


def told(name, log):
    """A contender that writes down its turns, and where it runs."""

    def run(steps):
        with log.open("a") as file:
            cores = len(os.sched_getaffinity(0)) if choose_core() is not None else 1
            words = name, steps, torch.get_num_threads(), cores, os.environ["OMP_NUM_THREADS"]
            print(*words, os.getpid(), file=file)

    return run


def absent():
    load("sbx.no_such_part")


def test_contenders_take_turns_in_processes_on_one_core(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "Worker", Worker)
    log = tmp_path / "log"
    contenders = [
        Contender("A", partial(told, "A", log)),
        Contender("B", absent, "A"),
        Contender("C", partial(told, "C", log), "A"),
    ]
    rows = measure(Benchmark("", contenders, steps=7), rounds=2)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [line[:5] for line in lines] == [[name, "7", "1", "1", "1"] for name in "AC"] * 3
    assert len({line[5] for line in lines} | {str(os.getpid())}) == 3
    assert [row["name"] for row in rows] == ["A", "B", "C"]
    assert [len(row["figures"] or []) for row in rows] == [2, 0, 2]
    assert rows[1]["missing"].startswith("sbx-rl is not installed here")
    assert "not measured" in table(rows)


def fails():
    raise ZeroDivisionError("of no use")


def test_a_contender_that_fails_says_why():
    with pytest.raises(RuntimeError, match="ZeroDivisionError: of no use"):
        Worker(fails, None)


def test_ratios_are_taken_within_each_round():
    """In the third round everything took ten times as long: no ratio sees that."""
    seconds = {"ours": [0.001, 0.002, 0.01], "theirs": [0.002, 0.006, 0.02]}
    rows = [
        summary(Contender("ours", None), seconds),
        summary(Contender("theirs", None, "ours"), seconds),
    ]
    assert set(rows[1]) == ROW
    assert rows[1]["ratios"] == [2, 3, 2]
    assert rows[1]["figures"] == [500, 166.667, 50]
    assert [row["ratio"] for row in rows] == [None, 2]
    assert table(rows).splitlines() == [
        "|        | steps/s | as long | lowest to highest |",
        "| ---    |     --: |     --: |               --: |",
        "| ours   |     500 |         |      100 to 1,000 |",
        "| theirs |     167 |  2.00 x |      2.00 to 3.00 |",
    ]


# The benchmarks themselves


@pytest.mark.parametrize("name", always_on("a2c", of=bench.BENCHMARKS))
def test_every_benchmark_runs_at_a_tiny_size(name, capsys):
    benchmark = replace(bench.BENCHMARKS[name](), steps=20)
    rows = bench.bench(name, benchmark, rounds=1)
    title, how, head, *lines = capsys.readouterr().out.rstrip().splitlines()
    assert title.startswith(f"{name}: ")
    assert how.strip() == "one core, in turns, 20 at a time; rounds that count: 1"
    assert max(map(len, [title, head, *lines])) <= 110

    ours = {row["name"] for row in rows if row["against"] is None}
    assert {row["against"] for row in rows} - {None} == ours
    for row in rows:
        assert any(line.startswith(f"| {row['name']} ") for line in lines)
        assert set(row) == {"benchmark", "title", "date", "cpu", "rounds", "steps"} | ROW
        assert row["missing"] or row["figure"] > 0


def test_every_timed_step_of_ours_contains_an_update():
    learn = training.prepare_ours(get_setting("ddpg", "Pendulum-v1"))
    before = learn.__self__.updates
    learn(20)
    assert learn.__self__.updates == before + 20


def test_so_does_every_timed_step_of_stable_baselines3(monkeypatch):
    sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
    models, learn = [], sb3.DDPG.learn
    monkeypatch.setattr(
        sb3.DDPG, "learn", lambda self, *a, **k: models.append(self) or learn(self, *a, **k)
    )
    found = {each.name: each for each in training.ddpg().contenders}
    its = [found[name] for name in found if name.startswith("SB3")]
    for contender in its:
        run = contender.prepare()
        before = models[-1]._n_updates
        run(20)
        assert models[-1]._n_updates == before + 20
    as_ours, at_defaults = models[1], models[-1]
    assert at_defaults.policy.net_arch == [400, 300]  # as its name in the report says
    assert at_defaults.batch_size == 256
    ours = get_setting("ddpg", "Pendulum-v1").make(seed=0)
    assert as_ours.policy.net_arch == [ours.hyperparameters["hidden"]] * 2
    assert (as_ours.batch_size, as_ours.learning_starts) == (ours.batch_size, ours.learning_starts)


def test_the_plain_file_is_the_td3_that_it_is_beside():
    """Same networks, same update from the same batch: its critics' loss falls towards targets."""
    ours = get_setting("td3", "Pendulum-v1").make(seed=0)
    single = SingleFileTD3("Pendulum-v1", 0, 64, 128, learning_starts=20)
    weights = [sum(p.numel() for p in net.parameters()) for net in single.online]
    twin = sum(p.numel() for p in ours.critic.parameters())
    assert weights == [sum(p.numel() for p in ours.actor.parameters()), twin // 2, twin // 2]
    single.learn(20)
    networks = single.online + single.targets
    before = [parameters_to_vector(net.parameters()) for net in networks]
    for expected in ([False, True, True, False, False, False], [True] * 6):
        single.learn(1)  # update 21: the critics alone
        after = [parameters_to_vector(net.parameters()) for net in networks]
        assert [not a.equal(b) for a, b in zip(before, after, strict=True)] == expected


# What is written


def test_the_page_has_the_tables_of_the_stored_results():
    record = json.loads(report.RESULT.read_text(encoding="utf-8"))
    text = report.README.read_text(encoding="utf-8")
    assert report.between(text, report.BEGIN, report.END, report.tables(record)) == text
    text, short = report.COURSE.read_text(encoding="utf-8"), report.summary(record["results"])
    assert report.between(text, report.SPEED, report.SPEED_END, short) == text
    assert short.count("\n") > 5
    measured = {row["benchmark"] for row in record["results"]}
    assert measured <= set(bench.BENCHMARKS)
    assert report.FIGURE.exists()


@pytest.mark.long
def test_a_report_keeps_the_other_benchmarks_rows(monkeypatch, tmp_path, capsys):
    for name in ("RESULT", "README", "FIGURE"):
        monkeypatch.setattr(report, name, tmp_path / Path(getattr(report, name)).name)
    monkeypatch.setattr(report, "COURSE", tmp_path / "COURSE.md")
    report.COURSE.write_text(f"Before\n{report.SPEED}\nold\n{report.SPEED_END}\nafter\n")
    report.README.write_text(f"Before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.RESULT.write_text('{"results": []}')
    for make in (training.a2c, training.td3):
        small = replace(make(), steps=1)
        monkeypatch.setitem(bench.BENCHMARKS, make.__name__, lambda small=small: small)
        assert bench.main([make.__name__, "--rounds", "1", "--report"]) == 0
    record = json.loads(report.RESULT.read_text())
    order = list(dict.fromkeys(row["benchmark"] for row in record["results"]))
    assert order == ["td3", "a2c"]
    text = report.README.read_text()
    assert text.startswith("Before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert all(f"**{name}**" in text for name in order)
    assert "| TD3, 64x64, batch 128 |" in report.COURSE.read_text()
    assert len(re.findall(r"^\|.*\|$", text, re.M)) == len(record["results"]) + 4
    assert report.FIGURE.exists()


# The command


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["speed"], ["'speed'", *bench.BENCHMARKS]),
        (["a2c", "--rounds", "0"], ["--rounds", "0"]),
        (["a2c", "--rounds", "x"], ["--rounds", "x"]),
    ],
)
def test_bad_usage_is_one_sentence(arguments, told, capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert_one_sentence(err.strip(), *told)


def test_ctrl_c_keeps_what_is_finished(monkeypatch, capsys):
    def fine():
        return Benchmark("", [Contender("ours", lambda: lambda steps: None)], steps=1)

    def stopped(steps):
        raise KeyboardInterrupt

    def interrupted():
        return Benchmark("", [Contender("ours", lambda: stopped)], steps=1)

    monkeypatch.setattr(bench, "BENCHMARKS", {"a": fine, "b": interrupted})
    kept = []
    monkeypatch.setattr(bench, "write_report", lambda rows, order: kept.extend(rows))
    assert bench.main(["--report"]) == 130
    assert capsys.readouterr().out.splitlines()[-1].startswith("Stopped")
    assert [row["benchmark"] for row in kept] == ["a"]
