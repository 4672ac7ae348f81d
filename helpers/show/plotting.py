"""Figures, and learning curves that grow while an agent trains.

Everything is drawn with `matplotlib.figure.Figure`, never pyplot: there is no hidden current
figure, nothing to close, and no global setting is changed.
"""

import time
import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from io import BytesIO
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from helpers.agents.history import EPISODE
from helpers.show.colours import (
    BLUE,
    COLOURS,
    DASHES,
    FAINT,
    FRAME,
    GREEN,
    GREY,
    GRID,
    INK,
    VERMILLION,
)
from helpers.show.notebook import (
    UPDATES_PER_SECOND,
    ProgressBar,
    current_cell,
    drawing,
    in_kernel,
    png_bundle,
    publish,
)
from helpers.training.statistics import bootstrap_interval, interquartile_mean

DPI = 100  # one inch of figure is this many CSS pixels wide on the page
CORNER = 10  # image pixels: the radius of a picture's frame
SCALE = 1.5  # image pixels for each CSS pixel: sharp on a high-density screen, small in the file
WIDTH, HEIGHT = 7.6, 3.1  # inches: what a notebook cell holds beside its margins
EDGE = 0.09  # inches between a figure's texts and its frame
WINDOW = 50  # episodes in the moving average of the return
# Seconds between two pictures of growing curves: one takes some 7 ms, 45 where axes change.
PAUSE = 0.5


# --- Figures --------------------------------------------------------------------------------------


def new_figure(
    ncols: int = 1,
    nrows: int = 1,
    width: float = WIDTH,
    height: float = HEIGHT,
    layout: Literal["constrained"] | None = "constrained",
    **subplots: Any,
) -> tuple[Figure, Any]:
    """A themed figure and its axes: one `Axes`, or an array of them as `plt.subplots` gives.

    Args:
        width, height: in inches; an inch is 100 pixels on the page.
        layout: "constrained" finds the margins by itself; None leaves them to `margins`, which is
            twice as fast and keeps panels where they are from one picture to the next.
        subplots: goes to `Figure.subplots`: `sharex`, `width_ratios`, ...
    """
    engine = ConstrainedLayoutEngine(w_pad=EDGE, h_pad=EDGE) if layout else None
    fig = Figure(figsize=(width, height), dpi=DPI, layout=engine, facecolor="white")
    axes = fig.subplots(nrows, ncols, **subplots)
    for ax in np.ravel(axes):
        style(ax)
    return fig, axes


def style(ax: Axes) -> Axes:
    """Give axes the theme. It is set here and not in rcParams, which other figures share."""
    ax.set_facecolor("white")
    ax.set_prop_cycle(color=COLOURS)
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(labelsize=9, labelcolor=GREY, color=FAINT, length=3)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    return ax


def label(
    ax: Axes,
    title: str = "",
    x: str = "",
    y: str = "",
    legend: str | bool | None = None,
    size: float = 10.5,
) -> Axes:
    """Name a panel, write steps as 20k. `legend`: a place ("lower right") or True for the best."""
    if title:
        # With y given, matplotlib need not look for room: a quarter of the drawing time saved.
        ax.set_title(title, loc="left", fontsize=size, color=INK, pad=8, y=1.0)
    if x:
        ax.set_xlabel(x, fontsize=9.5, color=GREY)
    if x == "environment steps":
        thousands(ax)
    if y:
        ax.set_ylabel(y, fontsize=9.5, color=GREY)
    if legend:
        place: Any = legend if isinstance(legend, str) else "best"
        box = ax.legend(loc=place, fontsize=9, labelcolor=INK, handlelength=1.6)
        box.get_frame().set(facecolor="white", edgecolor="none", alpha=0.8)
    return ax


def legend_above(ax: Axes, handles: Sequence[Any] | None = None, left: bool = False) -> None:
    """A legend in one row above the panel's right or left end, where it hides nothing."""
    ax.legend(
        handles=handles, loc="lower left" if left else "lower right", ncols=4, frameon=False,
        bbox_to_anchor=(-0.01 if left else 1.01, 1.005),
        fontsize=8.5, labelcolor=GREY, handlelength=1.4, columnspacing=1.2, borderaxespad=0,
    )  # fmt: skip


def margins(
    fig: Figure,
    left: float = 0.65,
    right: float = 0.15,
    bottom: float = 0.52,
    top: float = 0.38,
    between: float = 0.6,
) -> None:
    """Fix the margins and the gap between columns, in inches; for figures with `layout=None`."""
    width, height = fig.get_size_inches()
    grid = fig.axes[0].get_gridspec()
    assert grid is not None
    panel = (width - left - right - (grid.ncols - 1) * between) / grid.ncols
    fig.subplots_adjust(
        left / width, bottom / height, 1 - right / width, 1 - top / height, wspace=between / panel
    )


def thousands(ax: Axes) -> None:
    """Write 20000 on the x axis as 20k."""
    ax.xaxis.set_major_formatter(lambda v, _: f"{v / 1000:g}k" if abs(v) >= 1000 else f"{v:g}")


def to_image(fig: Figure, scale: float = SCALE) -> Image.Image:
    """The figure as an image of `width * 100 * scale` pixels, on white."""
    canvas, dpi = FigureCanvasAgg(fig), fig.dpi
    with drawing():
        fig.dpi = dpi * scale
        try:
            canvas.draw()
            return _as_drawn(canvas)
        finally:
            fig.dpi = dpi


def _as_drawn(canvas: FigureCanvasAgg) -> Image.Image:
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def quick_png(image: Image.Image) -> bytes:
    """A PNG that is written quickly, for curves that grow."""
    file = BytesIO()
    _card(image).save(file, "PNG", compress_level=1)
    return file.getvalue()


def quick_webp(image: Image.Image) -> bytes:
    """A lossless WebP, for pictures that follow a slider: half of a PNG's time."""
    file = BytesIO()
    _card(image).save(file, "WEBP", lossless=True, quality=0, method=0)
    return file.getvalue()


def small_png(image: Image.Image) -> bytes:
    """A PNG of 128 colours, a third of the size, for pictures that stay: no difference is seen,
    as the colours of small marks count (MAXCOVERAGE) and those of large areas stay (kmeans)."""
    few = _framed(image).quantize(
        127, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    colours, file = few.getpalette() or [], BytesIO()
    few.putpalette([*colours, 255, 255, 255])
    clear = len(colours) // 3
    few.paste(clear, mask=_within(few.size).point(lambda alpha: 255 * (alpha < 128)))
    few.save(file, "PNG", optimize=True, transparency=clear)
    return file.getvalue()


def _card(image: Image.Image) -> Image.Image:
    """Framed, and clear outside the frame."""
    card = _framed(image)
    card.putalpha(_within(card.size))
    return card


def _framed(image: Image.Image) -> Image.Image:
    """With a frame that has round corners: in a dark theme a card, and no white slab."""
    card = image.copy()
    box = 0, 0, card.width - 1, card.height - 1
    ImageDraw.Draw(card).rounded_rectangle(box, CORNER, outline=FRAME, width=2)
    return card


@lru_cache(maxsize=8)
def _within(size: tuple[int, int]) -> Image.Image:
    """What is opaque of a card of so many pixels: all but its corners."""
    mask = Image.new("L", (2 * size[0], 2 * size[1]))
    box = 0, 0, mask.width - 1, mask.height - 1
    ImageDraw.Draw(mask).rounded_rectangle(box, 2 * CORNER, fill=255)
    return mask.reduce(2)


def show(fig: Figure, alt: str = "") -> None:
    """Display a figure once, with `alt` as its text. Without a Jupyter kernel nothing happens."""
    if in_kernel():
        png = small_png(to_image(fig))
        publish(*png_bundle(png, alt or describe(fig), width=fig.get_figwidth() * DPI))


def describe(fig: Figure) -> str:
    """What stands in a figure's headline, titles and labels: its text where nobody wrote one."""
    said = [fig.get_suptitle()]
    for ax in fig.axes:
        names = [name for name in (ax.get_ylabel(), ax.get_xlabel()) if name]
        said += [ax.get_title(loc="left"), " over ".join(names)]
    words = "; ".join(" ".join(text.split()) for text in said if text)
    return f"A figure: {words.rstrip('.')}." if words else "A figure without a title."


# --- Live learning curves -------------------------------------------------------------------------


class LiveCurves:
    """A training callback that draws learning curves while the agent learns.

        agent.learn(10_000, callback=LiveCurves(bar=-200))

    One picture of fixed size is renewed at most twice a second, one progress bar five times. A
    call that has nothing to draw takes well under a microsecond. Given to `learn` again, the same
    object goes on with the same curves.

    Args:
        bar: the return at which the task counts as learned: a dashed line.
        keys: which entries of `agent.history` to draw. "return" and "length" hold one value for
            each finished training episode; losses and the like one for each update. The first key
            gets the large panel.
        window: how many episodes the moving average of the return takes in; few where a training
            has few episodes.
        x: what a step is, below the large panel.
    """

    def __init__(
        self,
        bar: float | None = None,
        keys: Sequence[str] = ("return",),
        window: int = WINDOW,
        x: str = "environment steps",
    ) -> None:
        if window < 1:
            raise ValueError(f"window is a number of episodes, from 1 on; got {window}.")
        self.bar, self.keys, self.window, self.x = bar, tuple(keys), window, x
        self.agent: Any = None
        self.advice = "call learn again to go on"  # once it was stopped
        self._cell: Any = None
        self._handle: Any = None
        self._progress: Any = None  # until `start`
        self.due = self._picture_due = 0.0

    def start(self, agent: Any, total_steps: int) -> None:
        """Called by `learn` before the first step."""
        if agent is not self.agent:  # another agent: its curves begin at its own first step
            self.agent = agent
            self.figure = _CurvesFigure(self.keys, self.bar, self.window, self.x)
        if self._cell != current_cell():  # on new handles: an old cell's output may be gone
            self._cell, self._handle, self._progress = current_cell(), None, None
        self._first, self._total = agent.steps, total_steps
        bar = self._progress and self._progress.handle
        self._progress = ProgressBar(total_steps, bar, self.x.split()[-1])
        # The first picture waits, too: empty axes cost as much as full ones.
        self._picture_due = time.perf_counter() + PAUSE

    def __call__(self, agent: Any) -> None:
        """Called by `learn` after every update: almost always only a look at the clock."""
        if (now := time.perf_counter()) < self.due:
            return
        self._progress.update(agent.steps - self._first, self._note())
        if now >= self._picture_due:
            self._draw()
            self._picture_due = time.perf_counter() + PAUSE
        self.due = time.perf_counter() + 1 / UPDATES_PER_SECOND

    def stop(self, agent: Any) -> None:
        """Called by `learn` at its end, also when it was interrupted."""
        self._draw(final=True)
        known, missing = {*agent.history}, {*self.keys} - {*EPISODE, *agent.history}
        if missing and known - {*EPISODE}:  # after the first losses
            had = f"no {min(missing)}, only {', '.join(agent.history)}"
            warnings.warn(f"agent.history has {had}.", stacklevel=2)
        self._progress.finish(agent.steps - self._first, self._note(), self.advice)

    def _note(self) -> str:
        returns = self.agent.history.get("return") or []
        last = [value for _, value in returns[-self.window :]]
        return f"average return {np.mean(last):,.1f}" if last else ""

    def _draw(self, final: bool = False) -> None:
        if not in_kernel():
            return
        with drawing():
            self.figure.update(self.agent.history, self._first + self._total, exact=final)
            png = self.figure.png(SCALE if final else 1)
        note = self._note() or "no episode has ended yet"
        alt = f"Learning curves after {self.agent.steps:,} steps: {note}."
        data, metadata = png_bundle(png, alt, self.figure.width * DPI)
        self._handle = publish(data, metadata, self._handle)


class _CurvesFigure:
    """The picture of `LiveCurves`: made once. Axes and texts, most of a picture's time, are drawn
    anew only where an axis has moved; over what is kept of them the curves are drawn.
    """

    width, height = WIDTH, 3.2

    def __init__(self, keys: Sequence[str], bar: float | None, window: int, x: str) -> None:
        self.fig = Figure(figsize=(self.width, self.height), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.fig)
        self.panels: list[_EpisodePanel | _UpdatePanel] = []
        for key, rect in zip(keys, self._rects(len(keys)), strict=True):
            ax = style(self.fig.add_axes(rect))
            for axis in (ax.xaxis, ax.yaxis):  # with no look for room the label is drawn sooner
                axis.set_label_coords(0.5, -0.28 / (rect[3] * self.height))
            if key in EPISODE:
                own_bar = bar if key == "return" else None
                self.panels.append(_EpisodePanel(ax, key, own_bar, window))
            else:
                self.panels.append(_UpdatePanel(ax, key))
            thousands(ax)
            if len(self.panels) > 1:
                _shrink(ax)
        label(self.panels[0].ax, x=x)
        self.kept: tuple[Any, Any] = (None, None)  # limits of the axes, pixels without curves

    def _rects(self, n: int) -> list[tuple[float, float, float, float]]:
        """The first panel large, on the left; the others small, in columns of two beside it."""
        columns = n // 2
        left, right, bottom, top, gap = 0.62, 0.28, 0.5, 0.36, 0.56
        small = 1.6 if columns < 2 else 1.3
        large = self.width - left - right - columns * (small + gap)
        rects = [(left, bottom, large, self.height - bottom - top)]
        for i in range(n - 1):
            column, row = divmod(i, 2)
            x = left + large + gap + column * (small + gap)
            rows = 1 if i == n - 2 and row == 0 else 2  # the last one alone: the full height
            height = (self.height - bottom - top - (rows - 1) * gap) / rows
            y = self.height - top - (row + 1) * height - row * gap
            rects.append((x, y, small, height))
        w, h = self.width, self.height
        return [(x / w, y / h, dx / w, dy / h) for x, y, dx, dy in rects]

    def update(self, history: dict[str, list], last_step: int, exact: bool = False) -> None:
        """Take in what is new. Unless `exact`, an axis has room to spare, and stays as long as its
        curve fills most of it: the picture is calmer, and drawn sooner."""
        for panel in self.panels:
            panel.take(history.get(panel.key) or [])
            panel.ax.set_xlim(0, max(1, last_step))
            (low, high), (bottom, top) = panel.limits(), panel.ax.get_ylim()
            fits = bottom <= low <= high <= top and high - low > 0.6 * (top - bottom)
            if np.isfinite([low, high]).all() and (exact or not fits):
                room = (0.06 if exact else 0.2) * (high - low) or 0.5
                panel.ax.set_ylim(low - room, high + room)

    def png(self, scale: float) -> bytes:
        canvas: Any = self.fig.canvas
        self.fig.dpi = DPI * scale
        limits = [scale, *(tuple(panel.ax.viewLim.extents) for panel in self.panels)]
        if limits != self.kept[0]:
            canvas.draw()
            self.kept = limits, canvas.copy_from_bbox(self.fig.bbox)
        canvas.restore_region(self.kept[1])
        for panel in self.panels:
            for curve in panel.curves:
                panel.ax.draw_artist(curve)
        picture = _as_drawn(canvas)
        return quick_png(picture) if scale == 1 else small_png(picture)


def _shrink(ax: Axes) -> None:
    """Make room: smaller type, fewer ticks, no legend."""
    ax.tick_params(labelsize=8)
    label(ax, ax.get_title(loc="left"), size=9.5)
    ax.xaxis.set_major_locator(MaxNLocator(2))
    ax.yaxis.set_major_locator(MaxNLocator(3))
    if legend := ax.get_legend():
        legend.remove()


class _Panel:
    """Axes and their curves, over as many points as a picture needs."""

    limit: int  # fewer points are drawn: each stands for one entry, for two, for four, ...

    def __init__(self, ax: Axes, key: str) -> None:
        self.ax, self.key, self.entries = ax, key, np.empty((0, 2))
        self.y: list[float] = []  # as drawn

    def take(self, entries: list[tuple[int, float]]) -> None:
        """The history so far, each entry a step and a value, of which only the new is read."""
        if len(entries) > len(self.entries):
            self.entries = np.vstack([self.entries, entries[len(self.entries) :]])
            (x, y), stride = self.entries.T, 1
            while len(self.entries) // stride >= self.limit:
                stride *= 2
            self.draw(x, y, stride)

    def draw(self, x: NDArray, y: NDArray, stride: int) -> None:
        """Set the curves, a point for every `stride` entries."""


class _EpisodePanel(_Panel):
    """A faint dot for each episode, a bold moving average, the bar."""

    limit = 2000

    def __init__(self, ax: Axes, key: str, bar: float | None, window: int) -> None:
        super().__init__(ax, key)
        self.bar, self.window = bar, window
        live = partial(ax.plot, [], [], color=BLUE, animated=True)  # `animated`: drawn by itself
        (self.dots,) = live(marker=".", ls="", ms=4, mew=0, alpha=0.4, label="episode")
        (self.line,) = live(lw=2.2, label=f"mean of last {window}")
        self.curves = [self.dots, self.line]
        if bar is not None:
            ax.axhline(bar, ls=DASHES, lw=1.4, color=VERMILLION, label=f"threshold: {bar:g}")
        label(ax, key)
        narrow = ax.get_position().width * WIDTH < 3.6
        legend_above(ax, [line for line in ax.lines if not (narrow and line is self.dots)])

    def draw(self, x: NDArray, y: NDArray, stride: int) -> None:
        counts = np.minimum(np.arange(1, len(y) + 1), self.window)
        mean = np.convolve(y, np.ones(self.window))[: len(y)] / counts
        seen = slice(stride - 1, None, stride)
        self.y = y[seen].tolist()
        self.dots.set_data(x[seen], self.y)
        self.line.set_data(x[seen], mean[seen])

    def limits(self) -> tuple[float, float]:
        values = [*self.y, *([] if self.bar is None else [self.bar])] or [0, 1]
        return min(values), max(values)


class _UpdatePanel(_Panel):
    """One line, whose points are means of as many updates each."""

    limit = 400

    def __init__(self, ax: Axes, key: str) -> None:
        super().__init__(ax, key)
        (self.line,) = self.curves = ax.plot([], [], lw=1.3, color=GREEN, animated=True)
        label(ax, key.replace("_", " "))

    def draw(self, x: NDArray, y: NDArray, stride: int) -> None:
        whole = len(y) // stride * stride
        self.y = y[:whole].reshape(-1, stride).mean(axis=1).tolist()
        self.line.set_data(x[stride - 1 :: stride], self.y)

    def limits(self) -> tuple[float, float]:
        """All of it; a spike further from the rest than the rest is high does not flatten it."""
        finite = [y for y in self.y if abs(y) < np.inf] or [0, 1]
        low, high = np.percentile(finite, [1, 99])
        return max(min(finite), 2 * low - high), min(max(finite), 2 * high - low)


# --- Several seeds --------------------------------------------------------------------------------


def band(
    ax: Axes,
    x: ArrayLike,
    ys: ArrayLike,
    label: str = "",
    color: str = BLUE,
) -> None:
    """Learning curves of several seeds as one line with a band.

    The line is the interquartile mean over seeds, the band its 95 % bootstrap interval: how far off
    the line could be (Agarwal et al. 2021).

    Args:
        x: shape `(points,)`.
        ys: shape `(seeds, points)`; any other raises `ValueError`.
    """
    x, ys = np.asarray(x), np.asarray(ys, dtype=np.float64)
    if ys.ndim != 2 or ys.shape[1] != len(x):
        raise ValueError(
            f"band needs ys of shape (seeds, {len(x)} points), one row a seed, not {ys.shape}."
        )
    low, high = bootstrap_interval(ys, interquartile_mean, resamples=500)
    ax.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(x, interquartile_mean(ys), color=color, lw=2, label=label)
