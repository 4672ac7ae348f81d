"""Lesson 05: learners of several libraries, over steps and over seconds, as they were measured."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from helpers.show.colours import COLOURS, INK
from helpers.show.figures.drawing import bar_line, header
from helpers.show.plotting import band, label, legend_above, new_figure


def plot_side_by_side(record: Mapping[str, Any]) -> Figure:
    """Learners with the same number of steps: returns over the steps, and over the time they took.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals. On the right
    each curve ends at its learner's median time, its points spread evenly over it; above the
    curves a dot is that median and a line goes from the fastest seed to the slowest. The time axis
    is logarithmic.

    Args:
        record: as `benchmarks.learning` stores it: "steps" `(points,)`, "bar", and "results", rows
            with "learner", "seed", "seconds" and "returns" `(points,)`; 1 to 6 learners, the first
            of which the headline compares with the others; and "clock", rows with "learner" and
            "seconds", which were measured in turn.
    """
    steps = np.asarray(record["steps"])
    learners: dict[str, list[Mapping[str, Any]]] = {}
    for row in record["results"]:
        learners.setdefault(row["learner"], []).append(row)
    colours = dict(zip(learners, COLOURS, strict=False))
    seconds = {
        name: np.array([row["seconds"] for row in record["clock"] if row["learner"] == name])
        for name in learners
    }
    returns = {name: np.array([r["returns"] for r in rows]) for name, rows in learners.items()}
    fig, (left, right) = new_figure(2, height=3.7, layout=None, sharey=True)
    header(fig, _how_long(steps[-1], seconds), colours)
    heights = _room_above(left, returns.values(), record["bar"])
    right.set_xscale("log")
    for name, height in zip(learners, heights, strict=True):
        median = float(np.median(seconds[name]))
        band(left, steps, returns[name], color=colours[name])
        band(right, steps / steps[-1] * median, returns[name], color=colours[name])
        _draw_seconds(right, seconds[name], height, colours[name])
    for ax in (left, right):
        bar_line(ax, record["bar"])
    _label_axes(left, right, steps[-1])
    return fig


def _room_above(ax: Axes, curves: Collection[NDArray], bar: float) -> list[float]:
    """Limits that leave a line of type above the curves for each of them, and its height there."""
    middle = [np.percentile(each, [25, 75], axis=0) for each in curves]
    low, high = min(map(np.min, middle)), max(max(map(np.max, middle)), bar)
    assert isinstance(ax.figure, Figure)
    inches = ax.get_position().height * ax.figure.get_figheight()
    share = 0.145 / inches  # a line of type, 0.145 inch
    line = share * (high - low) / (1 - share * (len(curves) + 2))  # the same as a return
    ax.set_ylim(low - line, high + line * (len(curves) + 1))
    return [high + line * (len(curves) - i) for i in range(len(curves))]


def _draw_seconds(ax: Axes, times: NDArray, height: float, colour: str) -> None:
    """A line from the fastest seed to the slowest, with a dot and a number at their median."""
    median = float(np.median(times))
    ax.plot([times.min(), times.max()], [height] * 2, color=colour, lw=2)
    ax.plot([median], [height], "o", ms=6, mew=0, color=colour)
    ax.text(
        times.min() / 1.15, height, f"{median:.3g} s", fontsize=8.5, color=INK, ha="right",
        va="center",
    )  # fmt: skip


def _label_axes(left: Axes, right: Axes, steps: int) -> None:
    left.set_xlim(0, 1.02 * steps)
    left.xaxis.set_major_locator(MaxNLocator(4))
    right.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    right.xaxis.set_minor_locator(NullLocator())
    label(left, x="environment steps", y="return in evaluation")
    label(right, x="seconds of training, logarithmic")
    marks: dict = {"median": {"marker": "o", "ls": ""}, "fastest to slowest seed": {"lw": 2}}
    legend_above(right, [Line2D([], [], color=INK, label=k, **m) for k, m in marks.items()])


def _how_long(steps: int, seconds: Mapping[str, NDArray]) -> str:
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    first, *others = medians
    said = f"{steps:,} steps take {first} {medians[first]:.3g} s"
    ratios = [f"{name} {medians[name] / medians[first]:.2g} times as long" for name in others]
    seeds = len(seconds[first])
    of = f"medians of {seeds} seeds" if seeds > 1 else "one seed"
    return "; ".join([said, *ratios]) + f" ({of})."
