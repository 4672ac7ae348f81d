"""TD3 and SAC on a robot, several seeds each, as lesson 06 shows them.

    python course.py train td3 Hopper-v5 --steps 300000 --seeds 0-2 --evaluate-every 5000 --out td3
    python course.py train sac Hopper-v5 --steps 300000 --seeds 0-2 --evaluate-every 5000 --out sac
    python -m lessons.claims.measure_06 td3 sac

writes data/results/06_hopper.json. A training takes one core for about an hour.
"""

import json
import sys
from pathlib import Path
from typing import Any

from helpers.training.results import RESULTS, write_json

KEPT = ("command", "settings", "date", "versions", "machine")


def collected(folder: Path) -> dict[str, Any]:
    """The evaluations of all seeds whose folders lie in this one: (seeds, evaluations)."""
    files = sorted(folder.glob("seed_*/evaluations.json"))
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    first = {key: runs[0][key] for key in KEPT}
    return first | {
        "seeds": [run["settings"]["seed"] for run in runs],
        "minutes": [round(run["seconds"] / 60) for run in runs],
        "steps": [row["step"] for row in runs[0]["curve"]],
        "returns": [[round(row["mean"], 1) for row in run["curve"]] for run in runs],
    }


if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:]]
    write_json(RESULTS / "06_hopper.json", {folder.name: collected(folder) for folder in folders})
