"""The figures of lesson 05: how many seeds a claim needs, long trainings, frames, losses.

As in `explore.py`, each explorer is a plain function `plot_...(...) -> Figure` with sliders in
front. `plot_robot`, `plot_side_by_side`, `plot_frames` and `plot_losses` draw what was measured and
have no sliders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.figures.ddpg import DASHES, DIVERGING, FAINT, headline, minus, short
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.figures.td3 import header, tint
from helpers.show.plotting import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    WIDTH,
    band,
    label,
    legend_above,
    margins,
    new_figure,
    thousands,
)
from helpers.training.results import load_results
from helpers.training.statistics import interquartile_mean

__all__ = [
    "early_stop_explorer", "plot_early_stop", "plot_frames", "plot_losses", "plot_robot",
    "plot_seeds", "plot_side_by_side", "plot_winner", "seeds_explorer", "winner_explorer",
]  # fmt: skip

# --- How many seeds a claim needs -------------------------------------------------------------

REPORTS: dict[str, Callable[..., NDArray]] = {
    "best": np.max,
    "mean": np.mean,
    "median": np.median,
    "interquartile mean": interquartile_mean,
}
REPORT_COLOURS = dict(zip(REPORTS, (VERMILLION, BLUE, GREEN, ORANGE), strict=True))
IMAGINED = 1000  # studies: a share of them is off by 1.6 % of all, or less (one standard error)
MOST = 20  # seeds in an imaginary study
NAMES = {"bc": "cloning", "ddpg": "DDPG", "ddpgfd": "DDPGfD", "td3": "TD3"}
SPARSE, PENDULUM, CAR = "SparsePendulum-v0", "Pendulum-v1", "MountainCarContinuous-v0"
STUDIES = {
    "DDPG, sparse Pendulum": f"ddpg_{SPARSE}",
    "cloning, sparse Pendulum": f"bc_{SPARSE}",
    "DDPGfD, sparse Pendulum": f"ddpgfd_{SPARSE}",
    "TD3, Pendulum": f"td3_{PENDULUM}",
}
PAIRS = {
    "DDPG, cloning: sparse Pendulum": (f"ddpg_{SPARSE}", f"bc_{SPARSE}"),
    "cloning, DDPGfD: sparse Pendulum": (f"bc_{SPARSE}", f"ddpgfd_{SPARSE}"),
    "DDPG, TD3: MountainCar": (f"ddpg_{CAR}", f"td3_{CAR}"),
    "DDPG, TD3: Pendulum": (f"ddpg_{PENDULUM}", f"td3_{PENDULUM}"),
}
BINS = 40
STRIP = (1.2, 1.72)  # where the dots of the seeds are, above bars whose tallest is 1 high


def plot_seeds(study: str = f"ddpg_{SPARSE}", seeds: int = 3, report: str = "mean") -> Figure:
    """What a study with few seeds would have reported, by chance, of a result that is known well.

    1,000 imaginary studies each draw `seeds` of the stored results, with replacement: as if these
    were all the results that there are, each one as likely as any other. That is what a bootstrap
    assumes. Left: the stored results as dots, one for each seed; what the imaginary studies report
    as bars, whose heights are shares (the tallest one's is written above it), and the range
    between their percentiles 2.5 and 97.5 as a thick line. Right: how wide that range is with each
    number of seeds.

    Args:
        study: the name of a file in data/results that `course.py study` wrote.
        seeds: of each imaginary study, from 1 to 20.
        report: what a study reports: "best", "mean", "median" or "interquartile mean".
    """
    _check_study(seeds, report)
    scores, bar, _ = stored_scores(study)
    imagined = imaginary_studies(tuple(scores))
    fig, (left, right) = _seeds_figure()
    span = np.ptp(scores) or 1.0
    edges = np.linspace(scores.min(), scores.min() + span, BINS + 1)
    reported, whole = imagined[report][seeds - 1], float(REPORTS[report](scores))
    colour, say = REPORT_COLOURS[report], partial(_figures, decimals=_decimals(span))
    _draw_shares(left, reported, edges, colour)
    order = np.linspace(*STRIP, len(scores))
    left.plot(scores, order, "o", ms=5, mew=0, alpha=0.65, color=INK)
    low, high = np.percentile(reported, [2.5, 97.5])
    left.plot([low, high], [-0.1, -0.1], color=colour, lw=5, solid_capstyle="butt")
    left.plot([whole], [-0.2], "^", ms=7, mew=0, color=INK)
    seen = edges[0] - 0.2 * span < bar < edges[-1] + 0.2 * span
    if seen:
        left.axvline(bar, color=GREY, lw=1.2, ls=DASHES)
    marks = [
        Line2D([], [], color=colour, lw=5, label="middle 95 %"),
        Line2D([], [], color=INK, marker="^", ms=7, mew=0, ls="", label=f"all seeds: {say(whole)}"),
        *([Line2D([], [], color=GREY, lw=1.2, ls=DASHES, label="bar")] if seen else []),
    ]
    legend_above(left, marks)
    ends = [edges[0], edges[-1], *([bar] if seen else [])]
    left.set(
        xlim=(min(ends) - 0.04 * span, max(ends) + 0.04 * span),
        ylim=(-0.3, 1.82),
        yticks=[0.5, np.mean(STRIP)],
        yticklabels=["imagined\nstudies", f"the {len(scores)}\nseeds"],
    )
    left.xaxis.set_major_locator(MaxNLocator(5))
    label(left, x="return in evaluation after training")
    widths = {
        name: np.ptp(np.percentile(rows, [2.5, 97.5], axis=1), axis=0)
        for name, rows in imagined.items()
    }
    _draw_by_seeds(right, widths, seeds, report)
    top = max(width.max() for width in widths.values()) or 1.0
    right.set(ylim=(-0.02 * top, 1.06 * top))
    label(right, x="seeds of a study", y="width of the middle 95 %")
    headline(
        fig,
        f"With {_count(seeds)} the middle 95 % of studies report {say(low)} to {say(high)} as the "
        f"{report}.\n"
        f"{int((reported >= bar).sum()):,} of {IMAGINED:,} would call the task solved "
        f"({_figures(bar)} or more); {int((scores >= bar).sum())} of the {len(scores)} seeds do "
        "solve it.",
    )
    return fig


def plot_winner(
    pair: Sequence[str] = (f"ddpg_{SPARSE}", f"bc_{SPARSE}"), seeds: int = 3, report: str = "mean"
) -> Figure:
    """How often the worse one of two algorithms looks better, when each is trained with few seeds.

    1,000 imaginary comparisons: for each algorithm `seeds` of its stored results are drawn, with
    replacement (see `plot_seeds`), and what both report is compared. Worse is whose mean over all
    stored results is lower. Left: the better one's report minus the worse one's; what lies below 0,
    in vermillion, are the wrong winners. Right: their share with each number of seeds, for all four
    reports. Equal reports count as no wrong winner.

    Args:
        pair: names of two files in data/results, of the same environment.
        seeds: of each algorithm in each comparison, from 1 to 20.
        report: what is compared: "best", "mean", "median" or "interquartile mean".
    """
    _check_study(seeds, report)
    (worse, _, loser), (better, _, winner) = sorted(
        map(stored_scores, pair), key=lambda study: study[0].mean()
    )
    one, other = (imaginary_studies(tuple(s), seed) for s, seed in ((worse, 0), (better, 1)))
    ahead = {name: other[name] - one[name] for name in REPORTS}
    fig, (left, right) = _seeds_figure()
    reach = max(better.max() - worse.min(), worse.max() - better.min()) or 1.0
    edges = reach / (BINS // 2) * np.arange(-(BINS // 2), BINS // 2 + 1)  # 0 exactly among them
    colours = np.where(np.arange(BINS) < BINS // 2, VERMILLION, BLUE)
    _draw_shares(left, ahead[report][seeds - 1], edges, colours)
    left.axvline(0, color=INK, lw=1.2, ls=DASHES)
    for x, text, colour in ((0.02, loser, VERMILLION), (0.98, winner, BLUE)):
        left.text(
            x, 1.4, f"{text}\nlooks better", transform=left.get_yaxis_transform(), fontsize=9.5,
            color=colour, ha="left" if x < 0.5 else "right", va="center",
        )  # fmt: skip
    left.set(xlim=(-1.04 * reach, 1.04 * reach), ylim=(-0.03, 1.6), yticks=[])
    label(left, x=f"{report} of {winner} minus {report} of {loser}", y="imagined comparisons")
    wrong = {name: 100 * (rows < 0).mean(axis=1) for name, rows in ahead.items()}
    right.axhline(50, color=GREY, lw=1.2, ls=DASHES)
    right.text(MOST + 0.5, 44, "a coin", fontsize=8.5, color=GREY, ha="right", va="center")
    _draw_by_seeds(right, wrong, seeds, report)
    right.set(ylim=(-3, 103), yticks=[0, 25, 50, 75, 100])
    label(right, x="seeds of each algorithm", y="wrong winner, % of comparisons")
    lost, won = _apart(worse.mean(), better.mean())
    headline(
        fig,
        f"With {_count(seeds)} each, {loser}'s {report} is above {winner}'s in "
        f"{int((ahead[report][seeds - 1] < 0).sum()):,} of {IMAGINED:,} comparisons.\n"
        f"Over all {len(worse)} seeds {loser} is the worse one: {lost} on average, {winner} {won}.",
    )
    return fig


def _check_study(seeds: int, report: str) -> None:
    if not 1 <= seeds <= MOST:
        raise ValueError(f"seeds must lie between 1 and {MOST}, not {seeds}.")
    if report not in REPORTS:
        raise ValueError(f"report must be one of {', '.join(REPORTS)}, not {report!r}.")


@lru_cache(maxsize=16)
def stored_scores(study: str) -> tuple[NDArray[np.float64], float, str]:
    """What `course.py study` stored: each seed's return `(seeds,)`, the bar, the algorithm's name.

    Raises `FileNotFoundError` if there is no such study, and `ValueError` if the file is not one.
    """
    record = load_results(study)
    if "settings" not in record or not record.get("results"):
        raise ValueError(f"{study} holds no study: choose a file that course.py study wrote.")
    algorithm, bar = record["settings"]["algorithm"], record["settings"]["bar"]
    scores = np.array([row["mean"] for row in record["results"]], dtype=np.float64)
    return scores, bar, NAMES.get(algorithm, algorithm)


@lru_cache(maxsize=16)
def imaginary_studies(scores: tuple[float, ...], seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """What 1,000 studies report whose seeds are drawn from `scores`, with replacement.

    A study with n seeds has those of the study with n - 1, and one more.

    Returns:
        name of a report -> `(20, 1000)`; row n - 1 holds the studies with n seeds.
    """
    draws = np.random.default_rng(seed).integers(0, len(scores), size=(IMAGINED, MOST))
    drawn = np.array(scores)[draws]
    # Rounded, so that reports of equal results in another order are equal.
    return {
        name: np.stack([report(drawn[:, :n], axis=1) for n in range(1, MOST + 1)]).round(9)
        for name, report in REPORTS.items()
    }


def _seeds_figure() -> tuple[Figure, NDArray]:
    fig, axes = new_figure(2, height=3.6, layout=None, width_ratios=[1.12, 1])
    margins(fig, left=0.75, top=0.85, between=0.75)
    axes[0].grid(axis="y", visible=False)
    return fig, axes


def _draw_shares(ax: Axes, values: NDArray, edges: NDArray, colours: ArrayLike) -> None:
    """A histogram whose tallest bar is 1 high, with that bar's share written above it."""
    counts = np.histogram(values, edges)[0]
    middles, tallest = (edges[1:] + edges[:-1]) / 2, int(counts.argmax())
    ax.bar(middles, counts / counts.max(), np.diff(edges) * 0.9, color=colours, linewidth=0)
    place = np.clip(middles[tallest], edges[1], edges[-2])
    share = f"{100 * counts[tallest] / len(values):.0f} %"
    ax.text(
        place, 1.03, share, fontsize=8.5, color=GREY, ha="center", va="bottom",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )  # fmt: skip


def _draw_by_seeds(ax: Axes, curves: Mapping[str, NDArray], seeds: int, report: str) -> None:
    """One line for each report over 1 to 20 seeds; the present one bold and marked."""
    n = np.arange(1, MOST + 1)
    ax.axvline(seeds, color=FAINT, lw=1.4)
    for name, curve in curves.items():
        now = name == report
        look = {"lw": 2.6, "zorder": 3} if now else {"lw": 1.5, "alpha": 0.75}
        ax.plot(n, curve, color=REPORT_COLOURS[name], label=name, **look)
    ax.plot([seeds], [curves[report][seeds - 1]], "o", ms=8, color=REPORT_COLOURS[report], zorder=4)
    ax.set(xlim=(0.4, MOST + 0.6))
    ax.xaxis.set_major_locator(FixedLocator([1, 3, 5, 10, 15, 20]))
    lines = [line for line in ax.lines if line.get_label() in curves]
    ax.legend(
        handles=lines, loc="lower right", bbox_to_anchor=(1.02, 1.0), ncols=4, frameon=False,
        fontsize=8.5, labelcolor=INK, handlelength=1.1, columnspacing=0.8, handletextpad=0.4,
        borderaxespad=0,
    )  # fmt: skip


def _count(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds > 1)}"


def _decimals(span: float) -> int:
    """Decimals that tell values apart which lie within `span`."""
    return 0 if span >= 20 else 1 if span >= 2 else 2


def _figures(value: float, decimals: int = 0) -> str:
    """The number with a real minus, and without one for what rounds to 0."""
    return minus(f"{round(value, decimals) + 0:,.{decimals}f}")


def _apart(one: float, other: float) -> tuple[str, str]:
    """Both numbers with as few decimals as show a difference."""
    for decimals in range(5):
        texts = _figures(one, decimals), _figures(other, decimals)
        if texts[0] != texts[1]:
            break
    return texts


def seeds_explorer() -> None:
    """`plot_seeds` with a choice of study and report, and a slider for the number of seeds."""
    explore(
        plot_seeds,
        alt="Twenty seeds of DDPG on the sparse pendulum, most of them at 0 and two above the bar. "
        "Imagined studies with three of them report means from 0 to nearly 100.",
        study=Choice(STUDIES, label="study"),
        seeds=Slider(1, MOST, 3, 1, "seeds, n"),
        report=Choice(list(REPORTS), "mean", "reported"),
    )


def winner_explorer() -> None:
    """`plot_winner` with a choice of the pair and the report, and a slider for the seeds."""
    explore(
        plot_winner,
        alt="DDPG and behaviour cloning on the sparse pendulum: with three seeds each, DDPG, the "
        "worse one, has the higher mean in about a twelfth of all comparisons.",
        pair=Choice(PAIRS, label="compared"),
        seeds=Slider(1, MOST, 3, 1, "seeds, n"),
        report=Choice(list(REPORTS), "mean", "reported"),
    )


# --- A long training --------------------------------------------------------------------------


def plot_robot(
    record: Mapping[str, Any],
    published: Mapping[str, tuple[float, float | None]] | None = None,
    bar: float | None = None,
) -> Figure:
    """The evaluations of one long training, and at the right end what others published.

    The line is the mean of an evaluation's episodes, the band goes from the worst of them to the
    best. A published return is a mark at its height, with plus and minus its spread as a thin
    vertical line.

    Args:
        record: of evaluations.json, as `course.py train` writes it: "curve" holds rows with "step",
            "mean" and "returns", and "steps" how far the training is.
        published: name -> (mean return, its spread or None).
        bar: the return at which the task counts as learned: a dashed line.
    """
    rows = record["curve"]
    if not rows:
        raise ValueError("There is no evaluation yet: draw the training when it has gone further.")
    steps, means = (np.array([row[key] for row in rows]) for key in ("step", "mean"))
    lows, highs = (np.array([f(row["returns"]) for row in rows]) for f in (min, max))
    marks = dict(published or {})
    fig, ax = new_figure(height=3.7, layout=None)
    margins(fig, left=0.75, right=1.95 if marks or bar is not None else 0.3, top=0.85)
    ax.fill_between(steps, lows, highs, color=BLUE, alpha=0.16, lw=0, label="worst to best episode")
    ax.plot(steps, means, color=BLUE, lw=1.8, label=f"mean of {len(rows[-1]['returns'])} episodes")
    best = int(means.argmax())
    ax.plot(steps[best], means[best], "o", ms=8, mew=1.6, mec=BLUE, color="white")
    everything = [0.0, *lows, *highs, *([] if bar is None else [bar])]
    everything += [
        mean + side * (spread or 0) for mean, spread in marks.values() for side in (-1, 1)
    ]
    low, high = min(everything), max(everything)
    ax.set(xlim=(0, steps[-1]), ylim=(low - 0.03 * (high - low), high + 0.1 * (high - low)))
    side = "right" if steps[best] > 0.5 * steps[-1] else "left"
    ax.annotate(
        f"best: {_figures(means[best])}", (steps[best], means[best]),
        (-7 if side == "right" else 7, 7), textcoords="offset points", ha=side, va="bottom",
        fontsize=9.5, color=BLUE,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
    if bar is not None:
        ax.axhline(bar, color=GREY, lw=1.2, ls=DASHES)
    _draw_published(ax, marks, bar)
    thousands(ax)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: _figures(v)))
    label(ax, x="environment steps", y="return")
    legend_above(ax)
    headline(fig, _how_far(rows, best))
    return fig


def _how_far(rows: Sequence[Mapping[str, Any]], best: int) -> str:
    last, top = rows[-1], rows[best]
    said = f"Return after {last['step']:,} steps: {_figures(last['mean'])}, the mean of "
    said += f"{len(last['returns'])} episodes"
    if top is last:
        said += ", the best evaluation so far"
    else:
        said += f"; at best {_figures(top['mean'])}, after {top['step']:,} steps"
    return f"{said}.\nThis is one seed, and the best of {len(rows)} evaluations is partly luck."


def _draw_published(
    ax: Axes, marks: Mapping[str, tuple[float, float | None]], bar: float | None
) -> None:
    """Marks beside the panel, and their names as near to them as they do not touch."""
    entries = [
        (
            mean,
            spread,
            f"{name}\n{_figures(mean)}" + (f" ± {_figures(spread)}" if spread else ""),
            c,
        )
        for (name, (mean, spread)), c in zip(marks.items(), _others(len(marks)), strict=True)
    ]
    if bar is not None:
        entries.append((bar, None, f"the bar: {bar:,g}", GREY))
    entries.sort(key=lambda entry: entry[0])
    fig, place = ax.figure, ax.get_yaxis_transform()
    inch = np.ptp(ax.get_ylim()) / (ax.get_position().height * fig.get_figheight())
    heights = spread_out([entry[0] for entry in entries], 0.36 * inch)
    for (mean, spread, text, colour), height in zip(entries, heights, strict=True):
        look = {"transform": place, "clip_on": False, "color": colour}
        if spread:
            ax.plot([1.02, 1.02], [mean - spread, mean + spread], lw=1.2, **look)
        if text.startswith("the bar"):
            ax.plot([1.0, 1.045, 1.075], [mean, mean, height], lw=1, ls=DASHES, **look)
        else:
            ax.plot([1.005, 1.035], [mean, mean], lw=3, solid_capstyle="butt", **look)
            ax.plot([1.045, 1.075], [mean, height], lw=1, **look)
        ax.text(
            1.085, height, text, transform=place, fontsize=8.5, color=INK, va="center",
            linespacing=1.2,
        )  # fmt: skip


def _others(count: int) -> Sequence[str]:
    """Colours for what is not ours."""
    colours = COLOURS[1:]
    if count > len(colours):
        raise ValueError(f"published may hold {len(colours)} returns at most, not {count}.")
    return colours[:count]


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


# --- Beside another library -------------------------------------------------------------------


def plot_side_by_side(record: Mapping[str, Any]) -> Figure:
    """Learners with the same number of steps: returns over the steps, and over the time they took.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals. On the right
    each curve ends at its learner's median time, its points spread evenly over it; above the
    curves a dot is that median and a line goes from the fastest seed to the slowest. The time axis
    is logarithmic.

    Args:
        record: as `benchmarks.learning` stores it: "steps" `(points,)`, "bar", and "results", rows
            with "learner", "seed", "seconds" and "returns" `(points,)`; 1 to 6 learners, the first
            of which the headline compares with the others. Where there is a "clock", the seconds
            are those of its rows, which were measured in turn.
    """
    steps = np.asarray(record["steps"])
    learners: dict[str, list[Mapping[str, Any]]] = {}
    for row in record["results"]:
        learners.setdefault(row["learner"], []).append(row)
    if not 1 <= len(learners) <= len(COLOURS):
        raise ValueError(f"There must be 1 to {len(COLOURS)} learners, not {len(learners)}.")
    colours = dict(zip(learners, COLOURS, strict=False))
    timed = record.get("clock", record["results"])
    seconds = {
        name: np.array([row["seconds"] for row in timed if row["learner"] == name])
        for name in learners
    }
    returns = {name: np.array([r["returns"] for r in rows]) for name, rows in learners.items()}
    fig, (left, right) = new_figure(2, height=3.7, layout=None, sharey=True)
    header(fig, _how_long(steps[-1], seconds), colours)
    middle = [np.percentile(each, [25, 75], axis=0) for each in returns.values()]
    low, high = min(map(np.min, middle)), max(max(map(np.max, middle)), record["bar"])
    share = 0.145 / (left.get_position().height * fig.get_figheight())  # a line of type, 0.145 inch
    line = share * (high - low) / (1 - share * (len(learners) + 2))  # the same as a return
    left.set_ylim(low - line, high + line * (len(learners) + 1))
    right.set_xscale("log")
    for i, name in enumerate(learners):
        times, colour = seconds[name], colours[name]
        median = float(np.median(times))
        band(left, steps, returns[name], color=colour)
        band(right, steps / steps[-1] * median, returns[name], color=colour)
        height = high + line * (len(learners) - i)
        right.plot([times.min(), times.max()], [height] * 2, color=colour, lw=2)
        right.plot([median], [height], "o", ms=6, mew=0, color=colour)
        right.text(
            times.min() / 1.15, height, f"{median:.3g} s", fontsize=8.5, color=INK, ha="right",
            va="center",
        )  # fmt: skip
    for ax in (left, right):
        ax.axhline(record["bar"], color=GREY, lw=1.2, ls=DASHES)
    thousands(left)
    left.set_xlim(0, 1.02 * steps[-1])
    left.xaxis.set_major_locator(MaxNLocator(4))
    right.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    right.xaxis.set_minor_locator(NullLocator())
    label(left, x="environment steps", y="return in evaluation")
    label(right, x="seconds of training, logarithmic")
    marks = {"median": {"marker": "o", "ls": ""}, "fastest to slowest seed": {"lw": 2}}
    legend_above(right, [Line2D([], [], color=INK, label=k, **m) for k, m in marks.items()])
    return fig


def _how_long(steps: int, seconds: Mapping[str, NDArray]) -> str:
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    first, *others = medians
    said = f"{steps:,} steps take {first} {medians[first]:.3g} s"
    ratios = [f"{name} {medians[name] / medians[first]:.2g} times as long" for name in others]
    return "; ".join([said, *ratios]) + " (medians)."


# --- What a pixel agent sees ------------------------------------------------------------------


def plot_frames(frames: NDArray[np.uint8]) -> Figure:
    """The stacked frames of one observation, and what changed from the oldest to the newest.

    Args:
        frames: shape `(k, H, W)`, uint8 from 0 (black) to 255 (white), the newest last; k from 2
            to 4.
    """
    frames = np.asarray(frames)
    if frames.ndim != 3 or not 2 <= len(frames) <= 4 or frames.dtype != np.uint8:
        raise ValueError(
            "frames must be uint8 of shape (2 to 4, H, W), "
            f"not {frames.dtype} of shape {frames.shape}."
        )
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
    for x, text, colour in ((0, "darker", DIVERGING(0.0)), (1, "brighter", DIVERGING(1.0))):
        axes[-1].text(
            x, -0.03, text, transform=axes[-1].transAxes, fontsize=8, color=colour, va="top",
            ha="right" if x else "left",
        )  # fmt: skip
    moved = int(np.count_nonzero(change))
    if moved:
        said = f"{moved:,} of {change.size:,} pixels differ between oldest and newest frame"
        headline(fig, f"{said}: that is where motion shows.")
    else:
        headline(fig, "The oldest and the newest frame are alike: no motion shows.")
    return fig


# --- Training and validation ------------------------------------------------------------------


def plot_losses(train: Sequence[float], validation: Sequence[float], best: int) -> Figure:
    """Training and validation loss after each epoch, and the epoch whose weights are kept.

    The vertical axis is logarithmic where the losses differ more than tenfold and none is 0.

    Args:
        train, validation: one loss for each epoch, none negative; equally many. Number 0 is before
            any training, as in `PretrainingResult`.
        best: number of the epoch that is kept.
    """
    train, validation = np.asarray(train, float), np.asarray(validation, float)
    if train.ndim != 1 or train.shape != validation.shape or not len(train):
        raise ValueError(
            "train and validation need one loss for each epoch, "
            f"not {train.shape} and {validation.shape}."
        )
    if not 0 <= best < len(train):
        raise ValueError(f"best must lie between 0 and {len(train) - 1}, not {best}.")
    epochs = np.arange(len(train))
    fig, ax = new_figure(height=3.3, layout=None)
    margins(fig, left=0.8, top=0.85)
    marker = "o" if len(train) < 40 else None
    for losses, name, colour in ((train, "training", BLUE), (validation, "validation", VERMILLION)):
        ax.plot(epochs, losses, color=colour, lw=2, label=name, marker=marker, ms=3.5)
    both = np.r_[train, validation]
    if both.min() > 0 and both.max() > 10 * both.min():
        ax.set_yscale("log")
        few = both.max() < 300 * both.min()
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.set_ylim(0, 1.06 * both.max() or 1.0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))
    ax.axvline(best, color=INK, lw=1.2, ls=DASHES, label=f"kept: epoch {best}")
    ax.plot(best, validation[best], "o", ms=9, mew=1.8, mec=VERMILLION, color="white", zorder=4)
    ax.set_xlim(-0.5, len(train) - 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    label(ax, x="epoch", y="loss")
    legend_above(ax)
    headline(fig, _overfitting(train, validation, best))
    return fig


def _overfitting(train: NDArray, validation: NDArray, best: int) -> str:
    lowest = int(validation.argmin())
    said = f"The validation loss is lowest after epoch {lowest}: {short(validation[lowest])}"
    if validation[best] > validation[lowest]:
        said += f" (kept is epoch {best}: {short(validation[best])})"
    ratio = f"{validation[-1] / train[-1]:.2g} times " if train[-1] else "beside "
    said += f".\nAt the end, after epoch {len(train) - 1}, it is {short(validation[-1])}, {ratio}"
    return f"{said}the training loss of {short(train[-1])}."


# --- Early stopping ---------------------------------------------------------------------------

EPOCHS = 80
CURVES = 300  # noisy validation curves behind the right panel
PATIENCES = np.arange(1, 21)


def plot_early_stop(patience: int = 5, noise: float = 0.03, seed: int = 0) -> Figure:
    """A validation loss with noise, and where patience ends the training.

    Training stops after `patience` epochs in a row without a new lowest loss; the epoch with the
    lowest so far is kept. The curves are made up: the true loss of `true_loss`, and independent
    normal noise on each epoch. Left: one training. Right: the mean over 300 of them for each
    patience from 1 to 20: how long they train, and how much the kept epoch's true loss lies above
    the lowest there is.

    Args:
        patience: from 1 to 20 epochs.
        noise: its standard deviation, from 0 on.
        seed: of the noise, 0 to 299.
    """
    if not 1 <= patience <= PATIENCES[-1]:
        raise ValueError(f"patience must lie between 1 and {PATIENCES[-1]}, not {patience}.")
    if noise < 0 or not 0 <= seed < CURVES:
        raise ValueError(f"noise must be 0 or more, and seed between 0 and {CURVES - 1}.")
    truth = true_loss()
    curves = truth + noise * _standard_noise()
    curve, lowest = curves[seed], int(truth.argmin())
    [stop], [kept] = early_stop(curve[None], patience)
    fig, (left, right) = new_figure(2, height=3.6, layout=None, width_ratios=[1.35, 1])
    margins(fig, left=0.65, top=0.85, between=0.75)
    epochs = np.arange(1, EPOCHS + 1)
    left.plot(epochs, truth, color=GREEN, lw=2, label="true loss, lowest at ▲")
    left.plot(epochs[stop:], curve[stop:], color=tint(BLUE, 0.3), lw=1.2)
    left.plot(epochs[: stop + 1], curve[: stop + 1], color=BLUE, lw=1.6, label="measured")
    left.plot(epochs[stop], curve[stop], "s", ms=8, mew=0, color=VERMILLION, label="stop")
    look = {"ms": 9, "mew": 1.8, "mec": BLUE, "color": "white", "ls": ""}
    left.plot(epochs[kept], curve[kept], "o", label="kept", **look)
    left.plot(epochs[lowest], -0.03, "^", ms=8, mew=0, color=GREEN)
    left.set(xlim=(0, EPOCHS + 1), ylim=(-0.06, 1.15))
    label(left, x="epoch", y="validation loss")
    legend_above(left)
    means = _bargains(noise)
    right.plot(*means.T, "o-", ms=4, mew=0, lw=1.5, color=GREY)
    right.plot(*means[patience - 1], "o", ms=9, mew=0, color=VERMILLION)
    right.set(xlim=(0, EPOCHS + 1), ylim=(-0.02, 0.6))
    label(
        right,
        f"patience 1 to 20, mean of {CURVES} trainings",
        "epochs trained",
        "true loss − lowest",
        size=9.5,
    )
    trained, above = means[patience - 1]
    ends = "stops" if stop < EPOCHS - 1 else "ends"
    worse = truth[kept] - truth[lowest]
    headline(
        fig,
        f"Patience {patience}: {ends} after epoch {stop + 1}, keeps epoch {kept + 1}, whose true "
        f"loss is {worse:.3f} above the lowest.\n"
        f"Over {CURVES} such trainings, on average: {trained:.0f} epochs, {above:.3f} above it.",
    )
    return fig


def true_loss() -> NDArray[np.float64]:
    """Falls at first, and rises slowly from epoch 35 or so on, shape `(80,)`."""
    epochs = np.arange(EPOCHS)
    return 0.8 * np.exp(-epochs / 9) + 0.12 + 0.0015 * epochs


def early_stop(curves: NDArray, patience: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The last epoch trained and the epoch kept, as indices, of each curve `(curves, epochs)`.

    The last epoch trained is the first that makes `patience` epochs in a row without a new lowest
    loss, or the last there is.
    """
    epochs = np.arange(curves.shape[1])
    lowest = np.minimum.accumulate(curves, axis=1)
    new = np.diff(lowest, axis=1, prepend=np.inf) < 0
    best = np.maximum.accumulate(np.where(new, epochs, 0), axis=1)  # the epoch of the lowest so far
    enough = epochs - best >= patience
    stops = np.where(enough.any(axis=1), enough.argmax(axis=1), curves.shape[1] - 1)
    return stops, best[np.arange(len(curves)), stops]


@lru_cache(maxsize=1)
def _standard_noise() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(CURVES, EPOCHS))


@lru_cache(maxsize=32)
def _bargains(noise: float) -> NDArray[np.float64]:
    """For each patience: epochs trained, and true loss above the lowest; means, shape `(20, 2)`."""
    truth = true_loss()
    ends = [early_stop(truth + noise * _standard_noise(), each) for each in PATIENCES]
    above = truth - truth.min()
    return np.array([(stops.mean() + 1, above[kept].mean()) for stops, kept in ends])


def early_stop_explorer() -> None:
    """`plot_early_stop` with sliders for patience and noise, and another training."""
    explore(
        plot_early_stop,
        alt="A noisy validation loss that falls and then rises: with a patience of five epochs the "
        "training stops before the lowest true loss is reached.",
        patience=Slider(1, int(PATIENCES[-1]), 5, 1, "patience, epochs"),
        noise=Slider(0.0, 0.06, 0.03, 0.005, "noise"),
        seed=Slider(0, 20, 0, 1, "another training"),
    )
