"""What the page "Try it" says that settings do: each trained on twenty seeds, in this Python.

    python -m tools.try_it

One training takes some three seconds. What the file has already is kept.
"""

import json
import platform
from typing import Any

import numpy as np

from helpers.algorithms import td3_numpy
from helpers.algorithms.td3_numpy import Settings
from helpers.training.results import RESULTS, write_json
from helpers.training.statistics import LEVEL, permutation_test
from tools.try_it_driver import Run

BAR = -200
SEEDS = range(100, 120)
FILE = RESULTS / "try_it.json"
COURSE = "TD3 as in the course"
# The table's rows, beside whose words stands the button that races them.
VARIANTS: dict[str, dict[str, float]] = {
    COURSE: {},
    "one critic: no lower of two": {"critics": 1},
    "no delay: the actor moves at every update": {"policy_delay": 1},
    "no smoothing of the target's action": {"target_noise": 0.0},
    "no target networks: tau is 1": {"tau": 1.0},
    "a learning rate of 0.01": {"learning_rate": 0.01},
    "no exploration after 500 steps": {"exploration": 0.0},
}
TABLE_LEVEL = LEVEL / (2 * (len(VARIANTS) - 1))  # Bonferroni: so many tests stand in the table
KEYS = ("mean", "promised", "obtained")


def measure(name: str, seed: int, steps: int = Settings.steps) -> dict[str, Any]:
    """One training; `evaluations` has a row of KEYS for every 500 steps."""
    run = Run(td3_numpy, VARIANTS[name] | {"steps": steps}, seed)
    rows = []
    while not (news := run.advance()).get("finished"):
        rows.append([round(news[key], 2) for key in KEYS])
    return {"name": name, "seed": seed, "evaluations": rows}


def table(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each setting: seeds at the bar, mean return over the training, and what the critic
    promises above what is obtained in its second half; the last two compared with the course's.
    """
    runs = {
        name: np.array([row["evaluations"] for row in results if row["name"] == name])
        for name in VARIANTS
    }
    measured = {
        name: {
            "return": each[:, :, 0].mean(1),
            "bias": (each[:, 10:, 1] - each[:, 10:, 2]).mean(1),
        }
        for name, each in runs.items()
    }
    rows = []
    for name, numbers in measured.items():
        row: dict[str, Any] = {"name": name, "settings": VARIANTS[name]}
        row["at the bar"] = int((runs[name][:, -1, 0] >= BAR).sum())
        for key, values in numbers.items():
            row[key] = {"mean": round(float(values.mean()), 1)}
            if name != COURSE:
                p = permutation_test(values, measured[COURSE][key])
                row[key] |= {"p": p, "shown": p < TABLE_LEVEL}
        rows.append(row)
    return rows


def main() -> None:
    kept = json.loads(FILE.read_text("utf-8"))["results"] if FILE.exists() else []
    content: dict[str, Any] = {
        "command": "python -m tools.try_it",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "results": kept,
    }
    done = {(row["name"], row["seed"]) for row in kept}
    for seed, name in ((seed, name) for seed in SEEDS for name in VARIANTS):
        if (name, seed) not in done:
            content["results"].append(measure(name, seed))
            write_json(FILE, content, rows="results")
    found = {"seeds": len(SEEDS), "level": TABLE_LEVEL, "table": table(content["results"])}
    write_json(FILE, content | found, rows="results")


if __name__ == "__main__":
    main()
