"""Timing contenders in turns: what slows a shared machine down then slows all of them."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from benchmarks.workers import Missing, Run, Worker, choose_core


@dataclass(frozen=True)
class Contender:
    """One who takes part: `prepare`, which can be pickled, builds and returns what is timed.

    With `against`, the name of another one before it, a ratio is shown: how many times as long this
    one takes as that one, and both take turns.
    """

    name: str
    prepare: Callable[[], Run]
    against: str | None = None


@dataclass(frozen=True)
class Benchmark:
    """Contenders that do the same work, `steps` pieces of it in each round."""

    title: str
    contenders: Sequence[Contender]
    steps: int


def measure(benchmark: Benchmark, rounds: int) -> list[dict]:
    """A row for each contender, in their order. One round more, the first, does not count."""
    rows = []
    for group in groups(benchmark.contenders):
        turns, missing = take_turns(group, rounds, benchmark.steps)
        for each in group:
            if each.name in missing:
                rows.append(not_measured(each, missing[each.name]))
            else:
                rows.append(summary(each, turns))
    return rows


def groups(contenders: Sequence[Contender]) -> list[list[Contender]]:
    """Those that are compared with each other, each group begun by the one without `against`."""
    found: list[list[Contender]] = []
    for contender in contenders:
        if contender.against is None:
            found.append([])
        found[-1].append(contender)
    return found


def take_turns(
    group: Sequence[Contender], rounds: int, steps: int
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """By name the turns that count, and why there are none."""
    workers, missing, core = {}, {}, choose_core()
    with ExitStack() as stack:
        for contender in group:
            try:
                worker = Worker(contender.prepare, core)
            except Missing as error:
                missing[contender.name] = str(error)
            else:
                workers[contender.name] = stack.enter_context(closing(worker))
        turns: dict[str, list[float]] = {name: [] for name in workers}
        for _ in range(rounds + 1):
            for name, worker in workers.items():
                turns[name].append(worker.turn(steps))
    return {name: each[1:] for name, each in turns.items()}, missing


def summary(contender: Contender, turns: dict[str, list[float]]) -> dict:
    """Steps a second and ratio: medians over the rounds, and all rounds beside them.

    A ratio is taken within each round: two medians may come from rounds of different busyness.
    """
    own = turns[contender.name]
    figures = [1 / seconds for seconds in own]
    other = turns.get(contender.against or "")
    ratios = other and [mine / its for mine, its in zip(own, other, strict=True)]
    ratio = statistics.median(ratios) if ratios else None
    return not_measured(contender) | {
        "figure": round(statistics.median(figures), 3),
        "ratio": ratio and round(ratio, 4),
        "figures": [round(each, 3) for each in figures],
        "ratios": ratios and [round(each, 4) for each in ratios],
    }


def not_measured(contender: Contender, why: str | None = None) -> dict:
    """The row of a contender without figures."""
    empty = dict.fromkeys(["figure", "ratio", "figures", "ratios"])
    return {
        "name": contender.name,
        "against": contender.against,
        "missing": why,
        **empty,
    }


HEAD = ("steps/s", "as long", "lowest to highest")


def cells(row: dict) -> tuple[str, ...]:
    """A row as a table shows it: the name, and what `HEAD` says."""
    if row["missing"]:
        return row["name"], "", "", "not measured"
    ratios = row["ratios"]
    return (
        row["name"],
        short(row["figure"]),
        f"{short(row['ratio'])} x" if ratios else "",
        _range(ratios or row["figures"]),
    )


def table(rows: Sequence[dict]) -> str:
    """The rows of one benchmark in Markdown, aligned for a terminal, and why some are empty."""
    lines = [("", *HEAD), ("---", *["--:"] * len(HEAD)), *map(cells, rows)]
    first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
    aligned = ([name.ljust(first), *map(str.rjust, rest, others)] for name, *rest in lines)
    missing = {row["missing"] for row in rows if row["missing"]}
    return "\n\n".join(["\n".join(f"| {' | '.join(line)} |" for line in aligned), *sorted(missing)])


def short(value: float) -> str:
    """Three digits: 1,234 and 123 and 12.3 and 1.23."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _range(values: Sequence[float]) -> str:
    return f"{short(min(values))} to {short(max(values))}" if len(values) > 1 else ""
