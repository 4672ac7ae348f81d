"""Lesson 05: the evaluations of one long training beside what others published."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from helpers.show.colours import BLUE, COLOURS, DASHES, GREY, INK
from helpers.show.figures.drawing import bar_line, headline, with_commas
from helpers.show.plotting import label, legend_above, margins, new_figure


def plot_robot(
    record: Mapping[str, Any], published: Mapping[str, tuple[float, float | None]], bar: float
) -> Figure:
    """The evaluations of one long training, and at the right end what others published.

    The line is the mean of an evaluation's episodes, the band goes from the worst of them to the
    best. A published return is a mark at its height, with plus and minus its spread as a thin
    vertical line.

    Args:
        record: of evaluations.json, as `course.py train` writes it: "curve" holds rows with "step",
            "mean" and "returns", and "steps" how far the training is.
        published: name -> (mean return, its spread or None); five at most.
        bar: the return at which the task counts as learned: a dashed line.
    """
    rows = record["curve"]
    steps, means = (np.array([row[key] for row in rows]) for key in ("step", "mean"))
    lows, highs = (np.array([f(row["returns"]) for row in rows]) for f in (min, max))
    best = int(means.argmax())
    fig, ax = new_figure(height=3.7, layout=None)
    margins(fig, left=0.75, right=2.2, top=0.85)
    ax.fill_between(steps, lows, highs, color=BLUE, alpha=0.16, lw=0, label="worst to best episode")
    ax.plot(steps, means, color=BLUE, lw=1.8, label=f"mean of {len(rows[-1]['returns'])} episodes")
    ends = [mean + (spread or 0) * np.array([-1, 1]) for mean, spread in published.values()]
    shown = np.concatenate([[0.0, bar], lows, highs, *ends])
    low, high = shown.min(), shown.max()
    ax.set(xlim=(0, steps[-1]), ylim=(low - 0.03 * (high - low), high + 0.1 * (high - low)))
    _mark_the_best(ax, steps[best], means[best])
    bar_line(ax, bar)
    _draw_published(ax, published, bar)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: with_commas(v)))
    label(ax, x="environment steps", y="return")
    legend_above(ax)
    headline(fig, _how_far(rows, best))
    return fig


def _mark_the_best(ax: Axes, step: int, mean: float) -> None:
    """A ring, and the number on that side of it which lies further from the panel's edge."""
    ax.plot(step, mean, "o", ms=8, mew=1.6, mec=BLUE, color="white", clip_on=False)
    side = "right" if step > 0.5 * ax.get_xlim()[1] else "left"
    ax.annotate(
        f"best: {with_commas(mean)}", (step, mean), (-7 if side == "right" else 7, 7),
        textcoords="offset points", ha=side, va="bottom", fontsize=9.5, color=BLUE,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def _how_far(rows: Sequence[Mapping[str, Any]], best: int) -> str:
    last, top = rows[-1], rows[best]
    said = f"Return after {last['step']:,} steps: {with_commas(last['mean'])}, the mean of "
    said += f"{len(last['returns'])} episodes"
    said += f"; at best {with_commas(top['mean'])}, after {top['step']:,} steps"
    return f"{said}.\nThis is one seed, and the best of {len(rows)} evaluations is partly luck."


def _draw_published(
    ax: Axes, published: Mapping[str, tuple[float, float | None]], bar: float
) -> None:
    """Marks beside the panel, and their names as near to them as they do not touch."""
    entries: list[tuple[float, float | None, str, str]] = [
        (bar, None, f"threshold: {bar:,g}", GREY)
    ]
    for (name, (mean, spread)), colour in zip(published.items(), COLOURS[1:], strict=False):
        plus_minus = f" ± {with_commas(spread)}" if spread else ""
        entries.append((mean, spread, f"{name}\n{with_commas(mean)}{plus_minus}", colour))
    entries.sort(key=lambda entry: entry[0])
    fig, place = ax.figure, ax.get_yaxis_transform()
    assert isinstance(fig, Figure)
    inch = np.ptp(ax.get_ylim()) / (ax.get_position().height * fig.get_figheight())
    heights = spread_out([entry[0] for entry in entries], 0.36 * inch)
    places = 1 + 0.02 * np.arange(len(entries), 0, -1)  # beside each other: spreads may overlap
    for (mean, spread, text, colour), height, x in zip(entries, heights, places, strict=True):
        look: dict = {"transform": place, "clip_on": False, "color": colour}
        if spread:
            ax.plot([x, x], [mean - spread, mean + spread], lw=1.2, **look)
        if colour == GREY:
            ax.plot([1.0, 1.13, 1.15], [mean, mean, height], lw=1, ls=DASHES, **look)
        else:
            ax.plot([x - 0.008, x + 0.008], [mean, mean], lw=3, solid_capstyle="butt", **look)
            ax.plot([x + 0.012, 1.15], [mean, height], lw=1, **look)
        ax.text(
            1.16, height, text, transform=place, fontsize=8.5, color=INK, va="center",
            linespacing=1.2,
        )  # fmt: skip


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Places, in rising order, moved as little as makes neighbours `gap` apart (least squares)."""
    blocks: list[list[float]] = []  # of those that touch: the sum and the number
    for i, place in enumerate(places):
        blocks.append([place - i * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] > blocks[-1][0] * blocks[-2][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    level = [total / count for total, count in blocks for _ in range(int(count))]
    return [place + i * gap for i, place in enumerate(level)]
