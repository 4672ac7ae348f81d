"""Lesson 05: what a pixel agent sees, and how motion shows in it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import DARK, DIVERGING, FAINT, VERMILLION
from helpers.show.figures.drawing import headline
from helpers.show.plotting import WIDTH, label, margins, new_figure


def plot_frames(frames: NDArray[np.uint8]) -> Figure:
    """The stacked frames of one observation, and what changed from the oldest to the newest.

    Args:
        frames: shape `(k, H, W)`, uint8 from 0 (black) to 255 (white), the newest last.
    """
    k = len(frames)
    # As int: uint8 would wrap around, and 10 - 20 be 246.
    change = frames[-1].astype(int) - frames[0]
    between, edge = 0.18, 0.12  # inches
    size = min(2.0, (WIDTH - 2 * edge - k * between) / (k + 1))
    fig, axes = new_figure(k + 1, height=size + 1.05, layout=None)
    right = WIDTH - edge - (k + 1) * size - k * between
    margins(fig, left=edge, right=right, bottom=0.36, top=0.69, between=between)
    ages = [f"t − {age}" if age else "t, the newest" for age in range(k - 1, -1, -1)]
    for ax, frame, age in zip(axes, frames, ages, strict=False):
        ax.imshow(frame, cmap="gray", vmin=0, vmax=255)
        label(ax, age, size=9.5)
    axes[-1].imshow(change, cmap=DIVERGING, vmin=-255, vmax=255)
    label(axes[-1], "newest − oldest", size=9.5)
    for ax in axes:
        ax.grid(False)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set(visible=True, color=FAINT)
    _name_the_colours(axes[-1])
    headline(fig, _motion(change))
    return fig


def _name_the_colours(ax: Axes) -> None:
    for x, text, colour in ((0, "darker", DIVERGING(0.0)), (1, "brighter", DARK[VERMILLION])):
        ax.text(
            x, -0.03, text, transform=ax.transAxes, fontsize=8, color=colour, va="top",
            ha="right" if x else "left",
        )  # fmt: skip


def _motion(change: NDArray) -> str:
    moved = int(np.count_nonzero(change))
    if not moved:
        return "The oldest and the newest frame are alike: no motion shows."
    said = f"{moved:,} of {change.size:,} pixels differ between oldest and newest frame"
    return f"{said}: that is where motion shows."
