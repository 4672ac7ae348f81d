"""The stored results as tables in benchmarks/README.md and as a figure beside it."""

import json
import platform
import re
from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.measure import HEAD, below, cells
from benchmarks.workers import choose_core
from helpers.training.results import RESULTS
from helpers.training.study import save

RESULT = RESULTS / "bench.json"
README = Path(__file__).with_name("README.md")
FIGURE = README.with_name("steps.png")
BEGIN, END = "<!-- begin: tables, by `course.py bench --report` -->", "<!-- end: tables -->"
FLAGS = ("fma", "avx", "avx2", "avx512f", "avx512_bf16", "amx_tile")  # what products are fast by
FIGURED = ("td3", "ddpg")


def cpu() -> dict:
    """The processor's name, those of FLAGS that it has, and the core that all are pinned to."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = dict(re.findall(r"^(model name|flags)\s*: (.*)$", text, re.M))
    has = found.get("flags", "").split()
    return {
        "model": found.get("model name") or platform.processor() or "unknown",
        "flags": [flag for flag in FLAGS if flag in has],
        "core": choose_core(),
    }


def rows_before(but: Collection[str]) -> list[dict]:
    """The stored rows of all benchmarks except these."""
    if not RESULT.exists():
        return []
    rows = json.loads(RESULT.read_text(encoding="utf-8"))["results"]
    return [row for row in rows if row["benchmark"] not in but]


def write_report(record: dict, order: Sequence[str]) -> None:
    """Store the rows, in this order of benchmarks, and bring page and figure up to date."""
    record["command"] = "python course.py bench --report"
    record["results"].sort(key=lambda row: order.index(row["benchmark"]))
    save(RESULT, record)
    text = README.read_text(encoding="utf-8")
    README.write_text(with_tables(text, record), encoding="utf-8")
    if any(row["benchmark"] in FIGURED for row in record["results"]):
        figure(record["results"]).savefig(FIGURE, dpi=110)


def with_tables(text: str, record: dict) -> str:
    """A page's text with the tables of this record between its two marks."""
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n\n{tables(record)}\n\n{text[end:]}"


def tables(record: dict) -> str:
    """Markdown: what it ran on, and a table for each benchmark."""
    processor, versions = record["cpu"], record["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts = [
        f"{processor['model']} ({', '.join(processor['flags'])}), {record['machine']['cpus']} "
        f"cores of a shared machine, all pinned to core {processor['core']}; {packages}."
    ]
    for name, group in groupby(record["results"], lambda row: row["benchmark"]):
        rows = list(group)
        first = rows[0]
        rounds = "1 round" if first["rounds"] == 1 else f"{first['rounds']} rounds"
        parts.append(f"**{name}**: {first['title']} ({rounds}, {first['date']})")
        lines = [("", first["unit"], *HEAD), ("---", *["--:"] * 5), *map(_told, rows)]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts)


def _told(row: dict) -> tuple[str, ...]:
    name, *others = cells(row)
    said = below(row)
    return (f"{name}: {said}" if said else name, *others)


def figure(results: Sequence[dict]) -> Figure:
    """Steps a second of every contender, from lowest to highest round, on a logarithmic axis."""
    drawn = [row for row in results if row["benchmark"] in FIGURED and row["figures"]]
    drawn = [row for row in drawn if not row["parts"]]
    canvas = Figure(figsize=(8, 0.24 * len(drawn) + 1), layout="constrained")
    axes = canvas.subplots()
    for i, row in enumerate(drawn):
        ours = row["against"] is None
        colour = (
            "#D55E00" if ours else "#0072B2" if row["name"][:3] in ("SB3", "SBX") else "#555555"
        )
        axes.plot([min(row["figures"]), max(row["figures"])], [i, i], color=colour, lw=2)
        axes.plot(row["figure"], i, "o", color=colour, ms=7 if ours else 5)
    axes.set_yticks(range(len(drawn)), [f"{r['benchmark'].upper()}: {r['name']}" for r in drawn])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("environment steps a second: median, lowest and highest round")
    axes.grid(axis="x", which="both", alpha=0.3)
    return canvas
