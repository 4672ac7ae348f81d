"""What long runs have measured: data/results/, a JSON file a study, each with its command."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "data"
RESULTS = DATA / "results"


def load_results(name: str) -> dict[str, Any]:
    """A stored result, such as `load_results("01_break_it")`. Raises `FileNotFoundError`."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in RESULTS.glob("*.json"))) or "none"
        raise FileNotFoundError(f"There are no stored results {name!r}; there are: {known}.")
    return json.loads(path.read_text(encoding="utf-8"))
