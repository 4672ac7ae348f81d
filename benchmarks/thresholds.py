"""Do the files of `helpers/algorithms` reach the lessons' bars? A greedy evaluation a seed.

`python -m benchmarks.thresholds td3 Pendulum-v1 --seeds 400-419` goes on where it was stopped.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from helpers.algorithms import a2c, ddpg, ddpgfd, ppo, reinforce, rlpd, sac, td3, td3_bc
from helpers.evaluation import evaluate
from helpers.training.results import RESULTS
from helpers.training.settings import get_setting
from helpers.training.study import circumstances, describe, line_of, parse_seeds, save

# (algorithm, environment), as in helpers/training/settings.py -> the file and its settings.
FILES: dict[tuple[str, str], tuple[ModuleType, Any]] = {
    ("reinforce", "CartPole-v1"): (reinforce, reinforce.CARTPOLE),
    ("a2c", "CartPole-v1"): (a2c, a2c.CARTPOLE),
    ("a2c", "Pendulum-v1"): (a2c, a2c.PENDULUM),
    ("ppo", "CartPole-v1"): (ppo, ppo.CARTPOLE),
    ("ppo", "Acrobot-v1"): (ppo, ppo.ACROBOT),
    ("ppo", "Pendulum-v1"): (ppo, ppo.PENDULUM),
    ("ddpg", "Pendulum-v1"): (ddpg, ddpg.PENDULUM),
    ("ddpg", "MountainCarContinuous-v0"): (ddpg, ddpg.MOUNTAIN_CAR),
    ("td3", "Pendulum-v1"): (td3, td3.PENDULUM),
    ("td3", "MountainCarContinuous-v0"): (td3, td3.MOUNTAIN_CAR),
    ("sac", "Pendulum-v1"): (sac, sac.PENDULUM),
    ("sac", "MountainCarContinuous-v0"): (sac, sac.MOUNTAIN_CAR),
    ("ddpgfd", "SparsePendulum-v0"): (ddpgfd, ddpgfd.SPARSE_PENDULUM),
    ("ddpgfd", "Pendulum-v1"): (ddpgfd, ddpgfd.PENDULUM),
    ("td3bc", "SparsePendulum-v0"): (td3_bc, td3_bc.SPARSE_PENDULUM),
    ("rlpd", "SparsePendulum-v0"): (rlpd, rlpd.SPARSE_PENDULUM),
}
EVALUATION = {"episodes": 20, "seed": 10_000}  # the same starts for all; no training begins there


def run_seed(algorithm: str, env_id: str, seed: int) -> dict[str, Any]:
    """Train one seed, on one thread, and evaluate it. Seconds are those of the training alone."""
    file, settings = FILES[algorithm, env_id]
    torch.set_num_threads(1)
    started, cpu_started = time.perf_counter(), time.process_time()
    agent = file.train(settings, seed)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    result = evaluate(agent, settings.env_id, **EVALUATION)
    return {
        "seed": seed,
        "steps": settings.steps,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "mean": round(result.mean, 3),
        "passed": result.mean >= get_setting(algorithm, env_id).bar,
        "returns": [round(float(value), 3) for value in result.returns],
    }


def study(algorithm: str, env_id: str, seeds: Sequence[int], path: Path) -> dict[str, Any]:
    """Run the seeds that `path` has not, and write it after each. Raises `ValueError` if it holds
    a study with other settings or versions."""
    setting = get_setting(algorithm, env_id)
    settings = dataclasses.asdict(FILES[algorithm, env_id][1])
    if "demos" in settings:
        settings["demos"] = settings["demos"].stem  # not where they lie on this machine
    record = {
        "command": f"python -m benchmarks.thresholds {algorithm} {env_id} --seeds SEEDS",
        "settings": settings | {"bar": setting.bar},
        "evaluation": EVALUATION,
        **circumstances(),
        "summary": "",
        "results": [],
    }
    if path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        if any(old[part] != record[part] for part in ("settings", "evaluation", "versions")):
            raise ValueError(f"{path} was made with other settings or versions: move it away.")
        record["results"] = old["results"]
    rows = record["results"]
    for seed in sorted(set(seeds) - {row["seed"] for row in rows}):
        rows.append(run_seed(algorithm, env_id, seed))
        rows.sort(key=lambda row: row["seed"])
        record["summary"] = describe(setting, rows)
        save(path, record)
        print(line_of(next(row for row in rows if row["seed"] == seed)), flush=True)
    print(describe(setting, rows), flush=True)
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.thresholds", description=__doc__)
    parser.add_argument("algorithm", choices=sorted({algorithm for algorithm, _ in FILES}))
    parser.add_argument("env_id")
    parser.add_argument("--seeds", type=parse_seeds, default="0-4", help="0-9, 3 or 0-4,7")
    parser.add_argument("--out", type=Path, help="a .json file; without it in data/results")
    asked = parser.parse_args(arguments)
    name = f"algorithms/{asked.algorithm}_{asked.env_id}.json"
    try:
        study(asked.algorithm, asked.env_id, asked.seeds, asked.out or RESULTS / name)
    except (ValueError, KeyError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
