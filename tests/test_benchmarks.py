"""`course.py bench`: what is timed and what is said about it; never how fast this machine is."""

import importlib
import json
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from sentences import assert_one_sentence

import course
from benchmarks import bench, learning, prioritized, replay, training
from benchmarks.measure import (
    MICROSECONDS,
    STEPS_PER_SECOND,
    Bar,
    Benchmark,
    Contender,
    measure,
    summary,
    table,
)
from benchmarks.peers import installed
from helpers.memory.segment_tree import SumTree
from helpers.training.settings import Setting, get_setting

ROW = {
    "name", "figure", "unit", "against", "ratio", "bar", "reached", "figures", "ratios",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _few_items(monkeypatch):
    monkeypatch.setattr(replay, "ITEMS", 500)
    monkeypatch.setattr(prioritized, "ITEMS", 500)


# Taking turns


def test_contenders_take_turns_and_the_first_round_does_not_count():
    turns = []

    def prepare(name: str) -> Callable:
        assert torch.get_num_threads() == 1
        return lambda steps: turns.append((name, steps, torch.get_num_threads()))

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    contenders = [Contender(name, lambda name=name: prepare(name)) for name in "ABC"]
    rows = measure(Benchmark("", MICROSECONDS, contenders, steps=9), rounds=2, steps=7)
    assert turns == [(name, 7, 1) for name in "ABC"] * 3
    assert [row["name"] for row in rows] == ["A", "B", "C"]
    assert all(len(row["figures"]) == 2 for row in rows)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)


def test_ratios_are_taken_within_each_round():
    """In the third round everything took ten times as long: no ratio sees that."""
    seconds = {"ours": [0.001, 0.002, 0.01], "theirs": [0.002, 0.006, 0.02]}
    row = summary(Contender("theirs", None, "ours", Bar(">=", 2)), STEPS_PER_SECOND, seconds)
    assert set(row) == ROW
    assert row["ratios"] == [2, 3, 2]
    assert (row["ratio"], row["bar"], row["reached"]) == (2, ">= 2", True)
    assert row["figures"] == [500, 166.667, 50]
    assert row["figure"] == 166.667


@pytest.mark.parametrize(
    ("unit", "bar", "reached"),
    [
        (MICROSECONDS, Bar("<=", 25), True),
        (MICROSECONDS, Bar("<=", 19), False),
        (STEPS_PER_SECOND, Bar(">=", 49_999), True),
        (STEPS_PER_SECOND, Bar(">=", 50_001), False),
        (STEPS_PER_SECOND, None, None),
    ],
)
def test_without_another_one_the_bar_is_for_the_figure(unit, bar, reached):
    row = summary(Contender("ours", None, bar=bar), unit, {"ours": [2e-5]})
    assert row["ratio"] is None
    assert row["reached"] is reached


def test_the_table_has_a_line_for_each_and_says_what_is_reached():
    seconds = {"ours": [0.001, 0.001], "large": [0.009, 0.013], "same": [0.0015, 0.0015]}
    contenders = [
        Contender("ours", None),
        Contender("large", None, "ours", Bar(">=", 8)),
        Contender("same", None, "ours", Bar(">=", 2)),
    ]
    rows = [summary(contender, STEPS_PER_SECOND, seconds) for contender in contenders]
    lines = [line.split() for line in table(rows).splitlines()]
    assert lines[0] == ["steps/s", "as", "long", "lowest", "to", "highest", "bar"]
    assert lines[1] == ["ours", "1,000"]
    assert lines[2] == ["large", "94.0", "11.0", "x", "9.00", "to", "13.0", ">=", "8", "reached"]
    assert lines[3][-4:] == [">=", "2", "not", "reached"]


# The benchmarks themselves


@pytest.mark.parametrize("name", bench.BENCHMARKS)
def test_every_benchmark_runs_at_a_tiny_size(name, capsys, tmp_path):
    out = tmp_path / "bench.json"
    assert bench.main([name, "--rounds", "1", "--steps", "20", "--json", str(out)]) == 0
    title, how, head, *lines = capsys.readouterr().out.rstrip().splitlines()
    assert title.startswith(f"{name}: ")
    assert how.strip() == "one thread, in turns, 20 at a time; rounds that count: 1"
    assert max(map(len, [title, head, *lines])) <= 110

    record = json.loads(out.read_text(encoding="utf-8"))
    assert (
        record["command"] == f"python course.py bench {name} --rounds 1 --steps 20 --json FILE.json"
    )
    assert record["date"].startswith("20")
    assert set(record["versions"]) == {"python", "torch", "numpy", "gymnasium", *installed()}
    assert set(record["machine"]) == {"cpus", "system", "processor"}
    assert len(lines) == len(record["results"]) > 1
    ours = {row["name"] for row in record["results"] if row["against"] is None}
    assert record["results"][0]["name"] in ours
    assert {row["against"] for row in record["results"]} == {None, *ours}
    assert any(row["bar"] for row in record["results"])
    for line, row in zip(lines, record["results"], strict=True):
        assert line.strip().startswith(row["name"])
        assert set(row) == {"benchmark", "rounds", "steps"} | ROW
        assert (row["benchmark"], row["rounds"], row["steps"]) == (name, 1, 20)
        assert row["figure"] > 0
        assert (row["bar"] is None) == (row["reached"] is None)


def test_every_timed_step_of_ours_contains_an_update(monkeypatch):
    agents, make = [], Setting.make
    monkeypatch.setattr(
        Setting, "make", lambda self, seed: agents.append(make(self, seed)) or agents[0]
    )
    run = training.prepare_ours(get_setting("ddpg", "Pendulum-v1"))
    before = agents[0].updates
    run(20)
    assert agents[0].updates == before + 20


def test_so_does_every_timed_step_of_stable_baselines3():
    _, large, same = training.ddpg().contenders
    models = []
    for contender in (large, same):
        run = contender.prepare()
        run(5)
        models.append(run.func.__self__)
        before = models[-1]._n_updates
        run(20)
        assert models[-1]._n_updates == before + 20
    at_defaults, as_ours = models
    assert at_defaults.policy.net_arch == [400, 300]  # as its name in the report says
    assert at_defaults.batch_size == 256
    ours = get_setting("ddpg", "Pendulum-v1").make(seed=0)
    assert as_ours.policy.net_arch == [ours.hyperparameters["hidden"]] * 2
    assert as_ours.batch_size == ours.batch_size
    assert as_ours.learning_starts == ours.learning_starts
    weights = [sum(p.numel() for p in net.parameters()) for net in (as_ours.actor, as_ours.critic)]
    assert weights == [
        sum(p.numel() for p in net.parameters()) for net in (ours.actor, ours.critic)
    ]


def test_all_replay_buffers_give_a_batch_of_the_same_numbers():
    widths = []
    for contender in replay.replay().contenders:
        sample = contender.prepare().args[0]
        fields = [field for field in sample() if field is not None]
        assert all(field.dtype == torch.float32 for field in fields)
        assert {len(field) for field in fields} == {replay.BATCH}
        widths.append(sum(field[0].numel() for field in fields))
    assert widths == [10, 10, 10, 9]  # SB3 gives `done` in place of `terminated` and `truncated`


def test_all_prioritized_buffers_give_a_batch_of_the_same_numbers_with_weights():
    widths = []
    for contender in prioritized.prioritized().contenders:
        sample_and_update = contender.prepare().args[0]
        fields = sample_and_update()
        assert all(field.dtype in (torch.float32, torch.int64) for field in fields)
        assert {len(field) for field in fields} == {prioritized.BATCH}
        widths.append(sum(field[0].numel() for field in fields))
        weights = fields.weights if hasattr(fields, "weights") else fields[6]
        assert (weights.reshape(-1) > 0).all()
        assert (weights.reshape(-1) <= 1.001).all()
        assert len(set(weights.flatten().tolist())) > 20
    # Ours: the n-step view, which steps are demonstrations, and the indices as well.
    assert widths == [11 + 6 + 1 + 1] * 2 + [11] * (len(widths) - 2)


def test_the_python_trees_do_what_ours_does():
    values = np.random.default_rng(0).integers(1, 9, 64).astype(float)
    ours, theirs = SumTree(64), prioritized.TutorialTree(64)
    sums = prioritized.ListTree(64, operator.add, 0.0)
    minima = prioritized.ListTree(64, min, float("inf"))
    for i, value in enumerate(values):
        ours[i] = sums[i] = minima[i] = value
        theirs.add(value, ("step", i))
    assert ours.total == theirs.total() == sums.reduce() == values.sum()
    assert minima.reduce(20, 40) == values[20:40].min()
    assert sums.reduce(3, 62) == values[3:62].sum()
    for prefix_sum in np.arange(ours.total) + 0.5:
        (place,) = ours.retrieve([prefix_sum])
        assert sums.find(prefix_sum) == place
        assert theirs.get(prefix_sum)[1:] == (values[place], ("step", place))


def test_costs_by_size_are_rows_for_a_plot():
    rows = prioritized.by_size(sizes=(50, 300), rounds=1, steps=2)
    names = [contender.name for contender in prioritized.prioritized(50).contenders]
    assert [(row["items"], row["name"]) for row in rows] == [
        (items, name) for items in (50, 300) for name in names
    ]
    assert all(row["microseconds"] > 0 for row in rows)


def test_where_cpprb_has_no_packages_the_others_take_part(monkeypatch):
    monkeypatch.setattr(prioritized, "installed", lambda: ["stable-baselines3"])
    benchmark = prioritized.prioritized()
    assert benchmark.title.endswith("cpprb is not installed")
    assert len(benchmark.contenders) == 4
    assert not any("cpprb" in each.name for each in benchmark.contenders)


# The command


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["speed"], ["'speed'", *bench.BENCHMARKS]),
        (["replay", "--rounds", "0"], ["--rounds", "0"]),
        (["replay", "--steps", "-3"], ["--steps", "-3"]),
        (["replay", "--json", "no/such/folder/a.json"], ["folder", "--json"]),
    ],
)
def test_bad_usage_is_one_sentence(arguments, told, capsys):
    assert bench.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert_one_sentence(err.strip(), *told)


def test_odd_arguments_are_one_sentence(capsys):
    with pytest.raises(SystemExit) as stop:
        bench.main(["--rounds", "many"])
    assert stop.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_library_is_said_before_anything_runs(monkeypatch, capsys):
    def missing(name):
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", missing)
    assert bench.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert_one_sentence(err.strip(), "stable-baselines3", "python course.py bench")


def test_without_names_all_run_and_a_name_counts_once(monkeypatch):
    monkeypatch.setattr(bench, "BENCHMARKS", {"a": lambda: 1, "b": lambda: 2})
    assert bench.choose([]) == {"a": 1, "b": 2}
    assert bench.choose(["b", "b"]) == {"b": 2}


def test_ctrl_c_keeps_what_is_finished(monkeypatch, capsys, tmp_path):
    def fine():
        return Benchmark("", MICROSECONDS, [Contender("ours", lambda: lambda steps: None)], steps=1)

    def stopped(steps):
        raise KeyboardInterrupt

    def interrupted():
        return Benchmark("", MICROSECONDS, [Contender("ours", lambda: stopped)], steps=1)

    monkeypatch.setattr(bench, "BENCHMARKS", {"a": fine, "b": interrupted})
    out = tmp_path / "bench.json"
    assert bench.main(["--json", str(out)]) == 130
    assert capsys.readouterr().out.splitlines()[-1].startswith("Stopped")
    assert [row["benchmark"] for row in json.loads(out.read_text())["results"]] == ["a"]


def test_ctrl_c_within_our_training_is_not_taken_for_a_fast_one(monkeypatch):
    run = training.prepare_ours(get_setting("ddpg", "Pendulum-v1"))

    def train_step(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("helpers.agents.ddpg.DDPG.train_step", train_step)
    with pytest.raises(KeyboardInterrupt):
        run(20)


# Learning beside a peer


@pytest.mark.parametrize("name", learning.LEARNERS)
def test_every_learner_is_evaluated_through_its_training(name):
    if name != "the course's TD3":
        pytest.importorskip("stable_baselines3", reason="a development requirement")
    setting = replace(get_setting("td3", "Pendulum-v1"), steps=24)
    row = learning.run(name, setting, seed=1)
    assert (row["learner"], row["seed"]) == (name, 1)
    assert len(row["returns"]) == learning.POINTS
    assert all(-2000 < mean < 0 for mean in row["returns"])
    assert row["seconds"] >= 0


def test_the_clock_takes_the_learners_in_turn(monkeypatch, tmp_path):
    def fake(name, setting, seed):
        return {"learner": name, "seed": seed, "seconds": 1.0, "returns": []}

    monkeypatch.setattr(learning, "run", fake)
    monkeypatch.setattr(learning, "stable_baselines3", lambda: None)
    out = tmp_path / "beside.json"
    out.write_text('{"steps": [1], "results": []}')
    assert learning.main(["--clock", "--seeds", "100-109", "--out", str(out)]) == 0
    record = json.loads(out.read_text())
    assert record["steps"] == [1]
    names = list(learning.LEARNERS)
    assert [(row["learner"], row["seed"]) for row in record["clock"]] == [
        (name, seed) for seed in (100, 101) for name in names
    ]


def test_the_small_peer_has_our_sizes_and_rates():
    pytest.importorskip("stable_baselines3", reason="a development requirement")
    setting = get_setting("td3", "Pendulum-v1")
    agent, (peer, _) = setting.make(seed=0), learning.theirs_as_small(setting, seed=0)
    rates = agent.actor_optimizer, agent.critic_optimizer
    assert {each.param_groups[0]["lr"] for each in rates} == {peer.learning_rate}
    assert (peer.tau, peer.gamma, peer.batch_size) == (agent.tau, agent.gamma, agent.batch_size)
    assert peer.policy_delay == agent.policy_delay
    assert peer.learning_starts == agent.learning_starts
    assert peer.policy.net_arch == [agent.hyperparameters["hidden"]] * 2


def test_learning_refuses_unknown_seeds_in_one_sentence(capsys):
    assert learning.main(["--seeds", "some"]) == 2
    assert "Seeds are written as" in capsys.readouterr().err


def test_the_courses_help_names_all_benchmarks():
    assert course.COMMANDS["bench"].text.endswith(f": {', '.join(bench.BENCHMARKS)}.")
