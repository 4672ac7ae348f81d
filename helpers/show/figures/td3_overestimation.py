"""Lesson 03: the values of critics and what was obtained, as it was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from helpers.show.colours import COLOURS, DASHES, INK, SHORT
from helpers.show.figures.drawing import header, limit_to_middle
from helpers.show.plotting import band, label, legend_above, new_figure
from helpers.training.statistics import interquartile_mean


def plot_overestimation(results: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Figure:
    """The values of critics and what is obtained, through training, over several seeds.

    Left: the critic's mean value and the discounted return really obtained. Right: the difference.
    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals.

    Args:
        results: variant -> {"steps": `(points,)`, "estimated": `(seeds, points)`,
            "obtained": `(seeds, points)`}, such as `values_and_returns` in
            helpers/training/overestimation.py measures.
        names: the variants that are drawn, 6 at most.
    """
    runs = {name: _points(results[name]) for name in names}
    colours = dict(zip(runs, COLOURS, strict=False))
    bias = {name: values - obtained for name, (_, values, obtained) in runs.items()}
    fig, (left, right) = new_figure(2, height=3.6, layout=None)
    header(fig, _sentence(bias), colours)
    _draw_values(left, runs, colours)
    right.axhline(0, color=INK, lw=1.1, ls=DASHES)
    for name in names:
        band(right, runs[name][0], bias[name], color=colours[name])
    limit_to_middle(right, [*bias.values()], 0.0)
    label(right, "value − return obtained", "environment steps", size=9.5)
    for ax in (left, right):
        ax.xaxis.set_major_locator(MaxNLocator(5))
    return fig


def _draw_values(
    ax: Axes, runs: Mapping[str, Sequence[NDArray]], colours: Mapping[str, str]
) -> None:
    """Values and returns obtained of each variant, in the colour of that variant."""
    for name, (steps, values, obtained) in runs.items():
        band(ax, steps, values, color=colours[name])
        band(ax, steps, obtained, color=colours[name])
        ax.lines[-1].set_linestyle(SHORT)
    limit_to_middle(ax, [part for _, *parts in runs.values() for part in parts])
    label(ax, x="environment steps", y="discounted return")
    kinds = {"critic's value": "-", "return obtained": SHORT}
    legend_above(ax, [Line2D([], [], color=INK, ls=ls, label=k) for k, ls in kinds.items()])


def _points(entry: Mapping[str, Any]) -> list[NDArray]:
    """Steps (points,), values and returns obtained (seeds, points)."""
    return [np.asarray(entry[key], dtype=np.float64) for key in ("steps", "estimated", "obtained")]


def _sentence(bias: Mapping[str, NDArray]) -> str:
    """By how much each critic is off, in the mean over the points drawn."""
    said: list[str] = []
    for name, of_seeds in bias.items():
        mean = float(interquartile_mean(of_seeds.mean(axis=1)))
        size = f"{abs(mean):.1f}" if abs(mean) >= 1 else f"{abs(mean):.2g}"
        said.append(f"{size} too {'high' if mean > 0 else 'low'} ({name})")
    return f"Mean over the training: values {', '.join(said)}."
