"""Timing contenders in turns: what slows a shared machine down then slows all of them."""

import operator
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from benchmarks.workers import Missing, Run, Worker, choose_core


@dataclass(frozen=True)
class Unit:
    """How what a turn gave is shown: `figure` makes the number of seconds."""

    name: str
    figure: Callable[[float], float]


STEPS_PER_SECOND = Unit("steps/s", lambda seconds: 1 / seconds)
MICROSECONDS = Unit("µs", lambda seconds: seconds * 1e6)


@dataclass(frozen=True)
class Bar:
    """What is to be reached, such as `Bar(">=", 8)`."""

    sign: str
    value: float

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"

    def reached(self, figure: float) -> bool:
        return {">=": operator.ge, "<=": operator.le}[self.sign](figure, self.value)


@dataclass(frozen=True)
class Contender:
    """One who takes part: `prepare`, which can be pickled, builds and returns what is timed.

    With `against`, the name of another one before it, a ratio is shown: how many times as long this
    one takes as that one, and both take turns. The bar is for the ratio if there is one, otherwise
    for the figure.
    """

    name: str
    prepare: Callable[[], Run]
    against: str | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Benchmark:
    """Contenders that do the same work, `steps` pieces of it in each of `rounds` rounds.

    There is one round more, at the start, that does not count.
    """

    title: str
    unit: Unit
    contenders: Sequence[Contender]
    steps: int
    rounds: int = 9


def measure(benchmark: Benchmark, rounds: int, steps: int) -> list[dict]:
    """A row for each contender, in their order."""
    rows = []
    for group in groups(benchmark.contenders):
        turns, missing = take_turns(group, rounds, steps)
        for each in group:
            if each.name in missing:
                rows.append(not_measured(each, benchmark.unit, missing[each.name]))
            else:
                rows.append(summary(each, benchmark.unit, turns))
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


def summary(contender: Contender, unit: Unit, turns: dict[str, list[float]]) -> dict:
    """Figure and ratio of one contender: medians over the rounds, and all rounds beside them.

    A ratio is taken within each round: two medians may come from rounds of different busyness.
    """
    own = turns[contender.name]
    figures = [unit.figure(seconds) for seconds in own]
    other = turns.get(contender.against or "")
    ratios = other and [mine / its for mine, its in zip(own, other, strict=True)]
    figure = statistics.median(figures)
    ratio = statistics.median(ratios) if ratios else None
    row, bar = not_measured(contender, unit), contender.bar
    return row | {
        "figure": round(figure, 3),
        "ratio": ratio and round(ratio, 4),
        "reached": bar.reached(figure if ratio is None else ratio) if bar else None,
        "figures": [round(each, 3) for each in figures],
        "ratios": ratios and [round(each, 4) for each in ratios],
    }


def not_measured(contender: Contender, unit: Unit, why: str | None = None) -> dict:
    """The row of a contender without figures."""
    empty = dict.fromkeys(["figure", "ratio", "reached", "figures", "ratios"])
    return {
        "name": contender.name,
        "unit": unit.name,
        "against": contender.against,
        "bar": str(contender.bar) if contender.bar else None,
        "missing": why,
        **empty,
    }


HEAD = ("as long", "lowest to highest", "bar", "")


def cells(row: dict) -> tuple[str, ...]:
    """A row as a table shows it: name, figure, and what `HEAD` says."""
    if row["missing"]:
        return row["name"], "", "not measured", "", "", ""
    ratios = row["ratios"]
    verdict = {True: "reached", False: "not reached", None: ""}[row["reached"]]
    return (
        row["name"],
        short(row["figure"]),
        f"{short(row['ratio'])} x" if ratios else "",
        _range(ratios or row["figures"]),
        row["bar"] or "",
        verdict,
    )


def table(rows: Sequence[dict]) -> str:
    """The rows of one benchmark as text."""
    lines = [("", rows[0]["unit"], *HEAD), *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = []
    for (name, *others), said in zip(lines, ["", *(row["missing"] for row in rows)], strict=True):
        aligned = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        shown.append("  " + "   ".join([name.ljust(widths[0]), *aligned]).rstrip())
        shown += [f"    {said}"] if said else []
    return "\n".join(shown)


def short(value: float) -> str:
    """Three digits: 1,234 and 123 and 12.3 and 1.23."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _range(values: Sequence[float]) -> str:
    return f"{short(min(values))} to {short(max(values))}" if len(values) > 1 else ""
