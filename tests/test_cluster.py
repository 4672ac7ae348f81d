"""`course.py study --scheduler`: a study's seeds on the workers of a Dask cluster."""

import os
import sys
from dataclasses import replace
from functools import partial

import pytest
from sentences import assert_one_sentence

from helpers.training import cluster, study
from helpers.training.settings import get_setting

SECONDS = {"seconds", "cpu_seconds"}  # all else that a row says is the same anywhere


@pytest.fixture(scope="module")
def scheduler():
    distributed = pytest.importorskip("distributed", reason="requirements-dev.txt has it")
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**workers, processes=True) as local:
        yield local.scheduler_address


@pytest.fixture
def setting():
    return replace(get_setting("td3", "Pendulum-v1"), steps=100, params={"learning_starts": 80})


def without_seconds(rows):
    return [{name: row[name] for name in row.keys() - SECONDS} for row in rows]


def test_two_workers_find_what_one_process_finds(scheduler, setting, capsys, tmp_path):
    out = tmp_path / "study.json"
    there = study.study(setting, range(3), out=out, scheduler=scheduler)["results"]
    assert capsys.readouterr().out.count("seed ") == 3  # a line for each, as it is there
    here = study.study(setting, range(3))["results"]
    assert without_seconds(there) == without_seconds(here)
    assert len({tuple(row["returns"]) for row in there}) == 3


def die_once(folder, seed):
    """A training whose worker is killed in its midst, the first time."""
    mark = folder / str(seed)
    if seed == 1 and not mark.exists():
        mark.touch()
        os._exit(9)
    return seed, os.getpid()


def test_a_killed_workers_seed_begins_anew_elsewhere(scheduler, tmp_path):
    rows = list(cluster.on_cluster(scheduler, partial(die_once, tmp_path), range(5)))
    assert sorted(seed for seed, _ in rows) == [0, 1, 2, 3, 4]
    assert (tmp_path / "1").exists()
    assert os.getpid() not in {pid for _, pid in rows}


def die(seed):
    os._exit(9)


@pytest.mark.long
def test_a_seed_that_kills_every_worker_is_a_sentence(scheduler):
    with pytest.raises(cluster.ClusterError) as error:
        list(cluster.on_cluster(scheduler, die, [0]))
    assert_one_sentence(str(error.value).replace("? The", "; the"), "memory", "goes on")


@pytest.mark.parametrize(
    ("threads", "told"), [({}, "has no workers"), ({"a": 1, "b": 2}, "--nthreads 1")]
)
def test_unfit_workers_are_a_sentence(threads, told):
    with pytest.raises(cluster.ClusterError) as error:
        cluster.check_workers(threads, "tcp://host:8786")
    assert_one_sentence(str(error.value), told)
    cluster.check_workers({"a": 1, "b": 1}, "tcp://host:8786")


def test_no_scheduler_is_a_sentence(monkeypatch, capsys):
    pytest.importorskip("distributed", reason="requirements-dev.txt has it")
    monkeypatch.setattr(cluster, "SECONDS", 0.5)
    asked = ["td3", "Pendulum-v1", "--seeds", "0", "--scheduler", "tcp://127.0.0.1:9"]
    assert study.main(asked) == 2
    assert_one_sentence(capsys.readouterr().err.strip(), "tcp://127.0.0.1:9", "dask scheduler")


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert study.main(["td3", "Pendulum-v1", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert_one_sentence(capsys.readouterr().err.strip(), "distributed", "pip install")
