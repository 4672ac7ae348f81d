"""Lesson 05: learners of several libraries, over steps and over seconds, as they were measured."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from helpers.show.colours import COLOURS
from helpers.show.figures.drawing import bar_line, header, limit_to_middle
from helpers.show.plotting import band, label, new_figure


def plot_side_by_side(record: Mapping[str, Any]) -> Figure:
    """Learners with the same number of steps: returns over the steps, and over the time they took.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals. On the right
    each curve ends at its learner's median time, its points spread evenly over it; the names say
    it too. The time axis is logarithmic.

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
        name: float(np.median([r["seconds"] for r in record["clock"] if r["learner"] == name]))
        for name in learners
    }
    returns = {name: np.array([r["returns"] for r in rows]) for name, rows in learners.items()}
    fig, (left, right) = new_figure(2, height=3.7, layout=None, sharey=True)
    named = {f"{name}: {seconds[name]:.3g} s": colour for name, colour in colours.items()}
    header(fig, _how_long(steps[-1], seconds, len(record["clock"]) // len(learners)), named)
    limit_to_middle(left, [*returns.values()], record["bar"])
    right.set_xscale("log")
    for name in learners:
        band(left, steps, returns[name], color=colours[name])
        band(right, steps / steps[-1] * seconds[name], returns[name], color=colours[name])
    for ax in (left, right):
        bar_line(ax, record["bar"])
    _label_axes(left, right, steps[-1])
    return fig


def _label_axes(left: Axes, right: Axes, steps: int) -> None:
    left.set_xlim(0, 1.02 * steps)
    left.xaxis.set_major_locator(MaxNLocator(4))
    right.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    right.xaxis.set_minor_locator(NullLocator())
    label(left, x="environment steps", y="return in evaluation")
    label(right, x="seconds of training, logarithmic")


def _how_long(steps: int, medians: Mapping[str, float], seeds: int) -> str:
    first, *others = medians
    said = f"{steps:,} steps take {first} {medians[first]:.3g} s"
    ratios = [f"{name} {medians[name] / medians[first]:.2g} times as long" for name in others]
    of = f"medians of {seeds} seeds" if seeds > 1 else "one seed"
    return "; ".join([said, *ratios]) + f" ({of})."
