"""Lesson 07: what each further epoch over one rollout does to the ratios of its actions."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DASHES, GREEN, GREY, VERMILLION
from helpers.show.figures.drawing import header
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.plotting import label, margins, new_figure

LOW, HIGH = 0.25, 4.0  # ratios beyond are drawn at the edge
CLIP = 0.2  # epsilon: the range that is shaded


def outside(ratios: NDArray) -> NDArray[np.float64]:
    """The share of ratios outside [1 - CLIP, 1 + CLIP] after each epoch, (epochs + 1,)."""
    return (np.abs(ratios - 1) > CLIP).mean(axis=1)


def plot_ratios(runs: Mapping[str, NDArray], advantages: NDArray, epoch: int, run: str) -> Figure:
    """Left the ratio of each action after so many epochs, right the share that is out of range.

    Args:
        runs: name -> ratios (epochs + 1, B); the first row, before the first epoch, is all 1.
        advantages: (B,), normalised, of the same actions.
        epoch: which row of ratios is drawn.
        run: whose ratios are drawn on the left.
    """
    ratios = runs[run][epoch]
    fig, (left, right) = new_figure(2, height=3.6, layout=None, width_ratios=[1.7, 1])
    share = outside(runs[run])[epoch]
    after = "1 epoch" if epoch == 1 else f"{epoch} epochs"
    spread = f"ratios from {ratios.min():.2f} to {ratios.max():.2f}"
    colours = {"better than average": GREEN, "worse": VERMILLION}
    name = run[:1].upper() + run[1:]
    header(fig, f"{name}, after {after}: {_percent(share)} out of range, {spread}.", colours)
    margins(fig, top=0.95, between=0.7)
    _scatter(left, ratios, advantages)
    _shares(right, runs, run, epoch)
    return fig


def _percent(share: float) -> str:
    """In whole percent, but neither none nor all where it is only near to it."""
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _scatter(ax: Axes, ratios: NDArray, advantages: NDArray) -> None:
    good = advantages > 0
    for rows, colour in ((good, GREEN), (~good, VERMILLION)):
        seen = np.clip(ratios[rows], LOW, HIGH)
        ax.plot(seen, advantages[rows], "o", ms=3.5, mew=0, alpha=0.5, color=colour)
    ax.axvspan(1 - CLIP, 1 + CLIP, color=BLUE, alpha=0.08, lw=0)
    ax.axvline(1, color=GREY, lw=1, ls=DASHES)
    ax.set_xscale("log")
    ax.set(xlim=(0.95 * LOW, 1.05 * HIGH), ylim=1.08 * np.array([-1, 1]) * np.abs(advantages).max())
    ax.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    ax.minorticks_off()
    x, y = "ratio, on a logarithmic scale", "normalised advantage"
    label(ax, "Every dot is an action", x, y, size=9.5)


def _shares(ax: Axes, runs: Mapping[str, NDArray], run: str, epoch: int) -> None:
    for name, ratios in runs.items():
        shares = outside(ratios)
        chosen = name == run
        ax.plot(shares, color=BLUE if chosen else GREY, lw=2 if chosen else 1.2, label=name)
        if chosen:
            ax.plot([epoch], shares[epoch : epoch + 1], "o", color=BLUE, ms=7, clip_on=False)
    ax.set(xlim=(-0.3, len(runs[run]) - 0.7), ylim=(0, 1))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    label(ax, f"Outside 1 ± {CLIP:g}", "epoch", legend="upper left", size=9.5)


def ratio_explorer(runs: Mapping[str, NDArray], advantages: NDArray) -> None:
    """`plot_ratios` with a slider over the epochs and a choice of the run."""
    last = min(map(len, runs.values())) - 1
    explore(
        partial(plot_ratios, runs, advantages),
        alt=f"Ratios after {last} epochs, {next(iter(runs))}, and the range around 1, shaded.",
        epoch=Slider(0, last, last, 1, "epoch"),
        run=Choice(list(runs), next(iter(runs)), "run"),
    )
