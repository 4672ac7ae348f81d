"""Train with a lesson's settings once for each seed, and record what each seed reached.

`python course.py study a2c CartPole-v1 --seeds 100-119 --jobs 2 --out data/results/a2c.json`
"""

import argparse
import datetime
import json
import math
import os
import platform
import shlex
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import parent_process
from pathlib import Path

from joblib import Parallel, delayed

from helpers.agents.threads import one_thread
from helpers.evaluation import evaluate
from helpers.training.asked import add_arguments, ask, make_agent
from helpers.training.results import write_json
from helpers.training.settings import Setting

EPISODES = 20
ADVICE = "delete it, or name another --out"
EVALUATION_SEED = 10_000  # far from the training's seeds


class Refused(Exception):
    """Why a study cannot begin or go on, and what to do, in one sentence."""


def parse_seeds(text: str) -> list[int]:
    """'0-4,7' -> [0, 1, 2, 3, 4, 7]; a ValueError says how seeds are written."""
    seeds: set[int] = set()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            seeds.update(range(int(first), int(last if dash else first) + 1))
    except ValueError:
        seeds.clear()
    if not seeds:
        raise ValueError(f"Seeds are written as 0-9, as 3 or as 0-4,7, not as '{text}'.")
    return sorted(seeds)


def run_seed(setting: Setting, seed: int) -> dict:
    """Train and evaluate one seed.

    `seconds` are those of the training alone, `cpu_seconds` those in which it computed: on a busy
    machine the rest is waiting. Raises `KeyboardInterrupt` if the training was stopped.
    """
    if parent_process() is not None:  # Ctrl-C is for who started this process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with one_thread():  # seeds run side by side
        agent = setting.make(seed)
        started, cpu_started = time.perf_counter(), time.process_time()
        agent.learn(setting.steps)
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - cpu_started
        if agent.steps < setting.steps:  # at Ctrl-C `learn` ends quietly
            raise KeyboardInterrupt
        result = evaluate(agent, episodes=EPISODES, seed=EVALUATION_SEED)
    return {
        "seed": seed,
        "steps": agent.steps,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "mean": round(float(result.mean), 3),
        "passed": bool(result.mean >= setting.bar) if math.isfinite(setting.bar) else None,
        "returns": [round(float(value), 3) for value in result.returns],
    }


def header(setting: Setting, command: str) -> dict:
    """What one needs to know to run it again: command, settings, versions, kind of machine."""
    return {
        "command": command,
        "settings": {
            "algorithm": setting.algorithm,
            "env_id": setting.env_id,
            "steps": setting.steps,
            "bar": setting.bar if math.isfinite(setting.bar) else None,
            "params": setting.params,
            "demos": setting.demos,
        },
        "evaluation": {"episodes": EPISODES, "seed": EVALUATION_SEED},
        **circumstances(),
    }


def circumstances(*packages: str) -> dict:
    """When, with which versions (also of `packages`, if they are here), on what kind of machine."""
    versions = {"python": platform.python_version()}
    for package in ("torch", "numpy", "gymnasium", *packages):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "machine": {
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "processor": platform.machine(),
        },
    }


def finished_before(path: Path | None, record: dict, seeds: Sequence[int]) -> list[dict]:
    """The rows of a study that did not come to its end, to go on from.

    Raises `Refused` for any other file, and for a finished study: neither is written over.
    """
    if path is None or not path.exists():
        return []
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
        now = json.loads(json.dumps(record, default=str))  # as a file has it
        other = [x for x in ("settings", "evaluation", "versions") if old[x] != now[x]]
        there = {row["seed"] for row in old["results"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(f"{path} holds no study: {ADVICE}.") from error
    if other or not there <= set(seeds):
        what = " and ".join(other or ["seeds"])
        raise Refused(f"{path} holds a study with other {what}: {ADVICE}.")
    if there == set(seeds):
        raise Refused(f"{path} holds this study, and it is finished: {ADVICE}.")
    print(f"Going on: {path} has {len(old['results'])} of {len(seeds)} seeds.", flush=True)
    return old["results"]


def line_of(row: dict) -> str:
    """What is said of a seed."""
    verdict = {True: "passed", False: "not passed", None: ""}[row["passed"]]
    return (
        f"seed {row['seed']:>3}  {row['steps']:,} steps  {row['seconds']:6.1f} s  "
        f"mean {row['mean']:8.1f}  {verdict}"
    )


def describe(setting: Setting, rows: Sequence[dict]) -> str:
    """The last line: how many seeds reached the bar, and how long each computed."""
    name = f"study {setting.algorithm} {setting.env_id}"
    if not rows:
        return f"{name}: no seed finished"
    seconds = [row["cpu_seconds"] for row in rows]
    if math.isfinite(setting.bar):
        passed = sum(row["passed"] for row in rows)
        reached = f"{passed}/{len(rows)} seeds >= {setting.bar:g}"
    else:
        reached = f"mean of {len(rows)} seeds {statistics.mean(row['mean'] for row in rows):.1f}"
    return (
        f"{name}: {reached}, median {statistics.median(seconds):.1f} s, worst {max(seconds):.1f} s"
    )


def study(
    setting: Setting, seeds: Sequence[int], command: str, jobs: int = 1, out: Path | None = None
) -> dict:
    """Run all seeds that `out` does not have yet; it is brought up to date after each of them.

    `command` is kept with the results. Raises `Refused` if `out` holds another study, or cannot be
    written.
    """
    record = header(setting, command) | {"stopped": False, "summary": ""}
    rows = record["results"] = finished_before(out, record, seeds)
    left = sorted(set(seeds) - {row["seed"] for row in rows})

    def keep() -> None:
        record["summary"] = describe(setting, rows)
        if out:
            write_json(out, record, rows="results")

    try:
        keep()  # if it cannot be written, this is said before anything trains
    except OSError as error:
        raise Refused(f"{out} cannot be written ({error.strerror}): name another --out.") from error
    # With one job they are trained in this process.
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs)
    finished = pool(delayed(run_seed)(setting, seed) for seed in left)
    try:
        for row in finished:
            rows.append(row)
            rows.sort(key=lambda each: each["seed"])
            print(line_of(row), flush=True)
            keep()
    except KeyboardInterrupt:
        record["stopped"] = True
        keep()
        print(f"Stopped after {len(rows)} of {len(seeds)} seeds.")
    finally:
        finished.close()
    print(record["summary"])
    return record


class Parser(argparse.ArgumentParser):
    """One sentence in place of usage and error; --help shows the rest."""

    def error(self, message):
        self.exit(2, f"{self.prog.split()[-1]}: {message} (--help explains).\n")

    def command(self, words: Sequence[str]) -> str:
        """The command line with these arguments."""
        return shlex.join([*self.prog.split(), *words])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python course.py study",
        description="Train with the lesson's settings once for each seed and count how many seeds "
        "reach the lesson's threshold for the mean return of 20 evaluation episodes. Any other "
        "environment and other settings can be studied too.",
    )
    add_arguments(parser)
    parser.add_argument("--seeds", default="0-4", help="0-9, 3 or 0-4,7; without it 0-4")
    parser.add_argument("--out", type=Path, help="a .json file; what it has of this is kept")
    words = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(words)
    try:
        setting, seeds = ask(options), parse_seeds(options.seeds)
        make_agent(setting, seeds[0])  # what cannot be is said at once
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    jobs = min(options.jobs, len(seeds))
    try:
        record = study(setting, seeds, parser.command(words), jobs, options.out)
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    return 130 if record["stopped"] else 0


if __name__ == "__main__":
    sys.exit(main())
