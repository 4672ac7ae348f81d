"""What several figures draw alike: a headline, notes, panels at places in inches, numbers."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle, PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from helpers.show.colours import DARK, DASHES, GREY, INK
from helpers.show.plotting import WIDTH, margins, new_figure

TOP = 0.6  # inches above a panel: the headline, and a legend or a title
Place = tuple[float, float]


def headline(fig: Figure, sentence: str) -> None:
    """What is to be seen, in one line above all panels."""
    fig.suptitle(sentence, x=0.012, y=0.98, ha="left", va="top", fontsize=10.5, color=INK)


def header(fig: Figure, sentence: str, colours: Mapping[str, str]) -> None:
    """The headline, below it which colour is which, and the margins that this takes."""
    sentence = textwrap.fill(sentence, 92)
    headline(fig, sentence)
    below = 0.08 + 0.19 * (1 + sentence.count("\n"))  # inches from the top
    handles = [Line2D([], [], color=c, lw=2.4, label=name) for name, c in colours.items()]
    place = 0.004, 1 - below / fig.get_figheight()
    fig.legend(
        handles=handles, loc="upper left", bbox_to_anchor=place, ncols=6,
        frameon=False, fontsize=9, labelcolor=INK, handlelength=1.4, columnspacing=1.4,
    )  # fmt: skip
    margins(fig, left=0.75, top=below + 0.54)


def panels(
    height: float, *places: tuple[float, float, float, float], width: float = WIDTH, **subplots: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel at each place: left, bottom, width and height, all in inches."""
    fig, axes = new_figure(len(places), width=width, height=height, layout=None, **subplots)
    axes = [*np.ravel(axes)]
    for ax, place in zip(axes, places, strict=True):
        ax.set_position(np.divide(place, (width, height, width, height)))
    return fig, axes


def sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure without axes to be seen, whose places are inches from the lower left corner."""
    fig, [ax] = panels(height, (0, 0, width, height), width=width)
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.set_axis_off()
    return fig, ax


def box(ax: Axes, place: Place, size: Place, colour: str, share: float) -> None:
    """A box with round corners around its middle, filled with that share of its colour."""
    path = round_box(*place, *size)
    ax.add_patch(PathPatch(path, facecolor=tint(colour, share), edgecolor=colour))


def arrow(ax: Axes, start: Place, end: Place, colour: str = GREY, **look: Any) -> None:
    """An arrow all the way from `start` to `end`."""
    style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 1}
    ax.annotate("", end, start, arrowprops=style | look)


def bar_line(ax: Axes, bar: float | None) -> None:
    """A dashed line at the return from which a task counts as learned; None draws nothing."""
    if bar is not None:
        ax.axhline(bar, color=GREY, lw=1.2, ls=DASHES)


def note(ax: Axes, x: float, y: float, text: str, colour: str = INK, ha: str = "left") -> None:
    """A line of text at a place given in parts of the panel, readable above lines."""
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
    ax.text(
        x, y, text, transform=ax.transAxes, ha=ha, va="center", fontsize=9,
        color=DARK.get(colour, colour), bbox=box,
    )  # fmt: skip


def say(
    ax: Axes, x: float, y: float, text: str, size: float, colour: str = INK, ha: str = "center"
) -> None:
    """A line of text with its middle at that height of the panel, in the panel's own units."""
    ax.text(x, y, text, fontsize=size, color=DARK.get(colour, colour), ha=ha, va="center")


def limit_to_middle(ax: Axes, curves: Sequence[NDArray], *also: float) -> None:
    """Room for the middle half of the seeds of each curve: one that went astray moves nothing."""
    middle = [np.percentile(np.nan_to_num(curve), [25, 75], axis=0) for curve in curves]
    low, high = min(part.min() for part in middle), max(part.max() for part in middle)
    low, high = min([low, *also]), max([high, *also])
    room = 0.12 * (high - low) or 0.5
    ax.set_ylim(low - room, high + room)


@lru_cache(maxsize=256)
def round_box(x: float, y: float, width: float, height: float, radius: float = 0.08) -> Path:
    """A box with round corners around its middle."""
    corner = x - width / 2, y - height / 2
    return BoxStyle.Round(pad=0, rounding_size=radius)(*corner, width, height, 1)


@lru_cache(maxsize=64)
def tint(colour: str, share: float) -> str:
    """That share of the colour, the rest white."""
    r, g, b = (1 - share * (1 - part) for part in to_rgb(colour))
    return to_hex((r, g, b))


def signed(value: float, decimals: int = 2) -> str:
    """+0.25, −0.25 with a real minus, or 0.00 without a sign."""
    rounded = round(value, decimals)
    return minus(f"{rounded:+.{decimals}f}" if rounded else f"{0:.{decimals}f}")


def short(value: float, sign: str = "") -> str:
    """Three digits at most, and a small number as 7.5e−4: few characters whatever its size."""
    if value == 0 or abs(value) >= 0.001:
        return minus(f"{value:{sign}.3g}")
    mantissa, exponent = f"{value:.1e}".split("e")
    return minus(f"{float(mantissa):{sign}g}e{int(exponent)}")


def with_commas(value: float, decimals: int = 0) -> str:
    """The number with a real minus, and without one for what rounds to 0."""
    return minus(f"{round(value, decimals) + 0:,.{decimals}f}")


def minus(text: str) -> str:
    """The text with a real minus for each hyphen."""
    return text.replace("-", "−")
