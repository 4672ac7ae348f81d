"""Lesson 04: what a draw by priority costs in memories of several sizes, as it was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from helpers.show.figures.drawing import headline
from helpers.show.plotting import COLOURS, DASHES, GREY, INK, label, margins, new_figure


def plot_cost(by_size: Sequence[Mapping[str, Any]]) -> Figure:
    """What drawing a batch and giving it new priorities costs, in buffers of several sizes.

    Both axes are logarithmic. A dashed line is c log N, with the c that fits that contender best
    (least squares of the logarithms). Grey: in proportion to N, from the first contender's first
    point on, which is what a tree is to avoid.

    Args:
        by_size: rows with "items", "name" and "microseconds", as `benchmarks.prioritized.by_size`
            gives them; at least two sizes, at most six names.
    """
    times: dict[str, list[tuple[int, float]]] = {}
    for row in sorted(by_size, key=lambda row: row["items"]):
        times.setdefault(row["name"], []).append((row["items"], row["microseconds"]))
    sizes = sorted({row["items"] for row in by_size})
    if len(sizes) < 2 or len(times) > len(COLOURS):
        raise ValueError(
            f"plot_cost draws 1 to {len(COLOURS)} names at 2 or more sizes, "
            f"not {len(times)} at {len(sizes)}."
        )
    curves = {name: np.array(points, dtype=np.float64).T for name, points in times.items()}
    fig, ax = new_figure(height=3.7, layout=None)
    margins(fig, left=0.75, right=2.6, top=0.45)
    ax.set(xscale="log", yscale="log")
    for (items, microseconds), colour in zip(curves.values(), COLOURS, strict=False):
        ax.plot(items, microseconds, "o-", ms=5, mew=0, lw=2, color=colour)
        ax.plot(items, fitted_log(items, microseconds), color=colour, lw=1.2, ls=DASHES)
    ours = next(iter(curves.values()))
    ax.plot(ours[0], ours[1, 0] * ours[0] / ours[0, 0], color=GREY, lw=1.2)
    _label_costs(ax, curves, sizes)
    headline(fig, _growth(*next(iter(curves.items()))))
    return fig


def fitted_log(items: NDArray, microseconds: NDArray) -> NDArray[np.float64]:
    """c log N at each N in `items`, with the c whose logarithm fits best (least squares)."""
    log_n = np.log(items)
    return log_n * np.exp(np.mean(np.log(microseconds / log_n)))


def _label_costs(ax: Axes, curves: Mapping[str, NDArray], sizes: Sequence[int]) -> None:
    """Ticks at round numbers; beside the panel the names, in the order of the last points."""
    low, high = ax.get_ylim()
    ticks = [n * 10**power for power in range(-1, 8) for n in (1, 2, 5)]
    ax.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    ax.xaxis.set_major_locator(FixedLocator(sizes))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_locator(NullLocator())
    label(ax, x="transitions in the memory, N", y="µs for a batch and its priorities")
    by_last = sorted(zip(curves.items(), COLOURS, strict=False), key=lambda c: -c[0][1][1, -1])
    handles = [
        Line2D([], [], color=colour, lw=2, marker="o", ms=5, mew=0,
               label=f"{name}\n{times[1, 0]:,.0f} → {times[1, -1]:,.0f} µs")
        for (name, times), colour in by_last
    ]  # fmt: skip
    handles += [
        Line2D([], [], color=INK, lw=1.2, ls=DASHES, label="c log N, fitted"),
        Line2D([], [], color=GREY, lw=1.2, label="in proportion to N"),
    ]
    ax.legend(
        handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5,
        labelcolor=INK, handlelength=1.8, labelspacing=0.7,
    )  # fmt: skip


def _growth(name: str, curve: NDArray) -> str:
    (first, last), (fast, slow) = curve[:, [0, -1]]
    longer, logs = slow / fast, np.log(last) / np.log(first)
    more = f"{last / first:,.3g} times as many"
    return f"{more}: {name} takes {longer:.2g} times as long; log N grows {logs:.2g} times."
