"""The page "Try it" of the site: its text, the algorithm's file, and what twenty seeds showed."""

import json
from html import escape
from pathlib import Path
from typing import Any

CODE = "helpers/algorithms/td3_numpy.py"
DRIVER = "tools/try_it_driver.py"
RESULTS = "data/results/try_it.json"
# Pyodide with its numpy; tests take the same version from the Python registry.
PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
HEADS = ("Try", "Changed in B", "Seeds at −200", "Mean return", "Promised above obtained")
BUTTON = '<button type="button" data-race="{}" aria-label="Race: {}">Race</button>'


def try_it(root: Path) -> str:
    """The page, in Markdown for MyST."""
    code = (root / CODE).read_text("utf-8")
    results = json.loads((root / RESULTS).read_text("utf-8"))
    filled = {
        "lines": str(len(code.splitlines())),
        "pyodide": PYODIDE,
        "table": table(results),
        "seeds": str(results["seeds"]),
        "level": f"{results['level']:.4f}",
        "code": escape("\n" + code),  # a textarea drops its first newline
    }
    text = (root / "tools" / "try_it.md").read_text("utf-8")
    for name, value in filled.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def table(results: dict[str, Any]) -> str:
    """A row for each setting that was tried, with a button that races it."""
    rows = "".join(f"<th>{head}</th>" for head in HEADS)
    for row in results["table"]:
        name, changes = escape(row["name"]), row["settings"].items()
        link = "race=1" + "".join(f"&amp;B.{key}={value}" for key, value in changes)
        button = BUTTON.format(link, name) if changes else ""
        rows += f"</tr>\n<tr><td>{button}</td><td>{name}</td>"
        rows += f"<td>{row['at the bar']} of {results['seeds']}</td>"
        rows += "".join(f"<td>{told(row[key])}</td>" for key in ("return", "bias"))
    return f'<div class="try-scroll"><table class="try-table"><tr>{rows}</tr></table></div>'


def told(measured: dict[str, Any]) -> str:
    """A mean, with its p where it shows a difference from TD3's."""
    mean = f"{measured['mean']:,.0f}".replace("-", "−")
    if not measured.get("shown"):
        return mean
    p = measured["p"]
    return f"<b>{mean}</b> (p {f'= {p:.1g}' if p >= 0.001 else '&lt; 0.001'})"
