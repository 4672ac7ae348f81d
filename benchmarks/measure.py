"""Timing contenders in turns: what slows a shared machine down then slows all of them."""

import operator
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from helpers.agents.base import one_thread

Run = Callable[[int], object]  # does that many pieces of work: steps, samples, ...


@dataclass(frozen=True)
class Unit:
    """How the time of one piece of work is shown: `figure` makes the number from seconds."""

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
    """One who takes part: `prepare` builds what is needed and returns what is timed.

    With `against`, the name of another one, a ratio is shown: how many times as long this one takes
    as that one. The bar is for the ratio if there is one, otherwise for the figure.
    """

    name: str
    prepare: Callable[[], Run]
    against: str | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Benchmark:
    """Contenders that do the same work, `steps` pieces of it in each of `rounds` rounds."""

    title: str
    unit: Unit
    contenders: Sequence[Contender]
    steps: int
    rounds: int = 15


def measure(benchmark: Benchmark, rounds: int, steps: int) -> list[dict]:
    """A row for each contender; one round more is run, at the start, that does not count."""
    with one_thread():
        runs = {contender.name: contender.prepare() for contender in benchmark.contenders}
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(1 + rounds):
            for name, run in runs.items():
                started = time.perf_counter()
                run(steps)
                seconds[name].append((time.perf_counter() - started) / steps)
    counted = {name: times[1:] for name, times in seconds.items()}
    return [summary(contender, benchmark.unit, counted) for contender in benchmark.contenders]


def summary(contender: Contender, unit: Unit, seconds: dict[str, list[float]]) -> dict:
    """Figure and ratio of one contender: medians over the rounds, and all rounds beside them.

    A ratio is taken within each round: two medians may come from rounds of different busyness.
    """
    own = seconds[contender.name]
    figures = [unit.figure(each) for each in own]
    ratios = None
    if contender.against is not None:
        other = seconds[contender.against]
        ratios = [mine / theirs for mine, theirs in zip(own, other, strict=True)]
    figure = statistics.median(figures)
    ratio = statistics.median(ratios) if ratios else None
    bar = contender.bar
    return {
        "name": contender.name,
        "figure": round(figure, 3),
        "unit": unit.name,
        "against": contender.against,
        "ratio": ratio and round(ratio, 4),
        "bar": str(bar) if bar else None,
        "reached": bar.reached(figure if ratio is None else ratio) if bar else None,
        "figures": [round(each, 3) for each in figures],
        "ratios": ratios and [round(each, 4) for each in ratios],
    }


def table(rows: Sequence[dict]) -> str:
    """The rows of one benchmark as text."""
    head = ("", rows[0]["unit"], "as long", "lowest to highest", "bar", "")
    cells = [head, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for name, *others in cells:
        aligned = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append("  " + "   ".join([name.ljust(widths[0]), *aligned]).rstrip())
    return "\n".join(lines)


def _cells(row: dict) -> tuple[str, ...]:
    ratios = row["ratios"]
    verdict = {True: "reached", False: "not reached", None: ""}[row["reached"]]
    return (
        row["name"],
        _short(row["figure"]),
        f"{_short(row['ratio'])} x" if ratios else "",
        f"{_short(min(ratios))} to {_short(max(ratios))}" if ratios else "",
        row["bar"] or "",
        verdict,
    )


def _short(value: float) -> str:
    """Three digits: 1,234 and 123 and 12.3 and 1.23."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
