"""Long trainings of several seeds each, in one file, as lessons 05 and 06 show them.

    python course.py train td3 Hopper-v5 --steps 250000 --seeds 0-1 --evaluate-every 5000 --out td3
    python course.py train sac Hopper-v5 --steps 250000 --seeds 0-1 --evaluate-every 5000 --out sac
    python -m data.measure.robots 06_hopper td3 sac

writes data/results/06_hopper.json, as far as all of them have come. A training takes one core for
an hour. (Those that are stored had been started with 300,000 steps, and were cut.)
"""

import json
import sys
from pathlib import Path
from typing import Any

from helpers.training.results import RESULTS, write_json

KEPT = ("settings", "date", "versions", "machine")


def main(name: str, folders: list[Path]) -> None:
    found = {folder.name: evaluations(folder) for folder in folders}
    length = min(len(run["curve"]) for runs in found.values() for run in runs)
    record = {agent: collected(runs, length) for agent, runs in found.items()}
    command = f"python -m data.measure.robots {name} {' '.join(found)}"
    write_json(RESULTS / f"{name}.json", {"command": command, **record})


def evaluations(folder: Path) -> list[dict[str, Any]]:
    """What `course.py train --seeds` has written, a record for each seed."""
    files = sorted(folder.glob("seed_*/evaluations.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def collected(runs: list[dict[str, Any]], length: int) -> dict[str, Any]:
    """The means of so many evaluations of each seed, (seeds, length), and their circumstances."""
    return {key: runs[0][key] for key in KEPT} | {
        "seeds": [run["settings"]["seed"] for run in runs],
        "steps": [row["step"] for row in runs[0]["curve"][:length]],
        "returns": [[round(row["mean"], 1) for row in run["curve"][:length]] for run in runs],
    }


if __name__ == "__main__":
    main(sys.argv[1], [Path(name) for name in sys.argv[2:]])
