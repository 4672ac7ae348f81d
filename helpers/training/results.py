"""What long runs have measured: data/results/, a JSON file a study, each with its command."""

import json
from pathlib import Path
from typing import Any

from helpers.files import replaced_whole

DATA = Path(__file__).resolve().parents[2] / "data"
RESULTS = DATA / "results"


def load_results(name: str) -> dict[str, Any]:
    """A stored result, such as `load_results("01_break_it")`. Raises `FileNotFoundError`."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def write_json(path: Path, content: Any, rows: str | None = None) -> None:
    """Write a JSON file that appears whole or not at all; makes its folder.

    With `rows`, the list of that name in `content` has a line for each of its entries, and what
    JSON does not know is written as its text. Raises `OSError`; the old file is then still there.
    """
    if rows is None:
        text = json.dumps(content)
    else:
        text = json.dumps(content | {rows: []}, indent=1, default=str)
        lines = ",\n".join("  " + json.dumps(row) for row in content[rows])
        text = text.replace(f'"{rows}": []', f'"{rows}": [\n{lines}\n ]')
    with replaced_whole(path) as file:
        file.write_text(text + "\n", encoding="utf-8", newline="\n")
