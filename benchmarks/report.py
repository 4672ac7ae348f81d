"""The stored results as tables in benchmarks/README.md and as a figure beside it."""

import json
import platform
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.measure import table
from benchmarks.peers import PACKAGES
from benchmarks.workers import choose_core
from helpers.show.colours import BLUE, FAINT, GREY, ORANGE, SKY, VERMILLION
from helpers.training.results import RESULTS, write_json
from helpers.training.study import circumstances

RESULT = RESULTS / "bench.json"
README = Path(__file__).with_name("README.md")
FIGURE = README.with_name("steps.png")
COURSE = README.parent.parent / "README.md"
SPEED, SPEED_END = "<!-- begin: speed, by `course.py bench --report` -->", "<!-- end: speed -->"
BEGIN, END = "<!-- begin: tables, by `course.py bench --report` -->", "<!-- end: tables -->"
FLAGS = ("fma", "avx", "avx2", "avx512f", "avx512_bf16", "amx_tile")  # what products are fast by
PRODUCTS = "the products alone"
CONTENDERS = {
    "ours": (VERMILLION, "o"),
    "ours by autograd": (ORANGE, "^"),
    "SB3": (BLUE, "s"),
    "SBX": (SKY, "D"),
    "a plain file": (GREY, "v"),
    PRODUCTS: (FAINT, "|"),
}


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


def write_report(rows: list[dict], order: Sequence[str]) -> None:
    """Store a benchmark's rows in place of its older ones, and bring pages and figure up to date.

    `order` is that of the benchmarks.
    """
    stored = json.loads(RESULT.read_text(encoding="utf-8"))["results"]
    rows = rows + [row for row in stored if row["benchmark"] != rows[0]["benchmark"]]
    record = {
        "command": "python course.py bench --report",
        **circumstances(*PACKAGES.values()),
        "results": sorted(rows, key=lambda row: order.index(row["benchmark"])),
    }
    write_json(RESULT, record, rows="results")
    text = README.read_text(encoding="utf-8")
    README.write_text(between(text, BEGIN, END, tables(record)), encoding="utf-8")
    course = COURSE.read_text(encoding="utf-8")
    short = between(course, SPEED, SPEED_END, summary(record["results"]))
    COURSE.write_text(short, encoding="utf-8")
    figure(record["results"]).savefig(FIGURE, dpi=110)


def between(text: str, begin: str, end: str, new: str) -> str:
    """A page's text with something new between two marks."""
    start = text.index(begin) + len(begin)
    return f"{text[:start]}\n\n{new}\n\n{text[text.index(end) :]}"


def tables(record: dict) -> str:
    """Markdown: with what it ran, and a table for each benchmark: machines may differ."""
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    parts = [f"{record['machine']['cpus']} cores of a shared machine; {packages}."]
    for name, group in groupby(record["results"], lambda row: row["benchmark"]):
        rows = list(group)
        first = rows[0]
        rounds = "1 round" if first["rounds"] == 1 else f"{first['rounds']} rounds"
        processor = first["cpu"]
        parts.append(
            f"**{name}**: {first['title']} ({rounds}, {first['date']}, core {processor['core']} of "
            f"{processor['model']} with {', '.join(processor['flags'])})"
        )
        parts.append(table(rows))
    return "\n\n".join(parts)


def groups(results: Sequence[dict]) -> dict[str, dict[str, dict]]:
    """'TD3, 64x64, batch 128' -> its rows of ours, SB3, SBX ..., all with the same settings."""
    found: dict[str, dict[str, dict]] = {}
    for row in results:
        name, _, size = row["name"].partition(", ")
        _, _, asked = (row["against"] or row["name"]).partition(", ")
        same = size in (asked, "the same rollouts") or name == PRODUCTS
        if row["figures"] and same:
            found.setdefault(f"{row['benchmark'].upper()}, {asked}", {}).setdefault(name, row)
    return found


def summary(results: Sequence[dict]) -> str:
    """Markdown: our steps a second, and how many times as long the others take."""
    others = list(CONTENDERS)[1:]
    lines = [["", "ours", *others], ["---", *["--:"] * (1 + len(others))]]
    for label, rows in groups(results).items():
        ratios = [f"{rows[name]['ratio']:.2f} x" if name in rows else "" for name in others]
        lines.append([label, f"{rows['ours']['figure']:,.0f} steps/s", *ratios])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(results: Sequence[dict]) -> Figure:
    """Steps a second of all contenders, a line for each algorithm and size; lowest to highest."""
    drawn = groups(results)
    canvas = Figure(figsize=(8, 0.42 * len(drawn) + 1.1), layout="constrained")
    axes = canvas.subplots()
    for name, (colour, marker) in CONTENDERS.items():
        at = [i for i, rows in enumerate(drawn.values()) if name in rows]
        rows = [each[name] for each in drawn.values() if name in each]
        lows, highs = ([end(row["figures"]) for row in rows] for end in (min, max))
        axes.hlines(at, lows, highs, color=colour, lw=2)
        medians = [row["figure"] for row in rows]
        axes.plot(medians, at, marker, color=colour, ms=8 if name == "ours" else 6, label=name)
    axes.set_yticks(range(len(drawn)), list(drawn))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("environment steps a second: median, lowest and highest round")
    axes.grid(axis="x", which="both", alpha=0.3)
    canvas.legend(loc="outside upper center", ncols=len(CONTENDERS), frameon=False)
    return canvas
