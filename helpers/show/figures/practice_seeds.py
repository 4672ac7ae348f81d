"""Lesson 05: how many seeds a claim needs, by imaginary studies with few of them."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DASHES, FAINT, GREEN, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import headline, with_commas
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure
from helpers.training.results import load_results
from helpers.training.statistics import interquartile_mean

REPORTS: dict[str, Callable[..., NDArray | np.floating]] = {
    "best": np.max,
    "mean": np.mean,
    "median": np.median,
    "interquartile mean": interquartile_mean,
}
IMAGINED = 1000  # studies: a share of them is off by 1.6 % of all, or less (one standard error)
MOST = 20  # seeds in an imaginary study
MIDDLE = (2.5, 97.5)  # percentiles: between them lie 95 % of all
# Whole names: course.py pack finds by them what a notebook needs.
STUDIES = {
    "DDPG, sparse Pendulum": "ddpg_SparsePendulum-v0",
    "cloning, sparse Pendulum": "bc_SparsePendulum-v0",
    "DDPGfD, sparse Pendulum": "ddpgfd_SparsePendulum-v0",
    "TD3, Pendulum": "td3_Pendulum-v1",
}
REPORT_COLOURS = dict(zip(REPORTS, (VERMILLION, BLUE, GREEN, ORANGE), strict=True))
BINS = 40
STRIP = (1.2, 1.72)  # where the dots of the seeds are, above bars whose tallest is 1 high


def plot_seeds(
    study: str = "ddpg_SparsePendulum-v0", seeds: int = 3, report: str = "mean"
) -> Figure:
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
    scores, bar = stored_scores(study)
    imagined = imaginary_studies(tuple(scores))
    fig, (left, right) = new_figure(2, height=3.6, layout=None, width_ratios=[1.12, 1])
    margins(fig, left=0.75, top=0.85, between=0.75)
    left.grid(axis="y", visible=False)
    _draw_reports(left, scores, bar, imagined[report][seeds - 1], report)
    widths = spreads(tuple(scores))
    _draw_by_seeds(right, widths, seeds, report)
    top = max(width.max() for width in widths.values()) or 1.0
    right.set(ylim=(-0.02 * top, 1.06 * top))
    label(right, x="seeds of a study", y="spread of the reports (95 %)")
    headline(fig, _claims(scores, bar, imagined[report][seeds - 1], seeds, report))
    return fig


@lru_cache(maxsize=16)
def stored_scores(study: str) -> tuple[NDArray[np.float64], float]:
    """What `course.py study` stored: each seed's return `(seeds,)`, and the threshold."""
    record = load_results(study)
    scores = np.array([row["mean"] for row in record["results"]], dtype=np.float64)
    return scores, record["settings"]["bar"]


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


@lru_cache(maxsize=16)
def spreads(scores: tuple[float, ...]) -> dict[str, NDArray[np.float64]]:
    """How wide the middle 95 % of each report are with 1, 2, ... seeds, `(20,)`."""
    return {
        name: np.ptp(np.percentile(rows, MIDDLE, axis=1), axis=0)
        for name, rows in imaginary_studies(scores).items()
    }


def _draw_reports(ax: Axes, scores: NDArray, bar: float, reported: NDArray, report: str) -> None:
    """The stored results as dots, and below them what the imaginary studies report."""
    span, colour = np.ptp(scores) or 1.0, REPORT_COLOURS[report]
    edges = np.linspace(scores.min(), scores.min() + span, BINS + 1)
    _draw_shares(ax, reported, edges, colour)
    order = np.linspace(*STRIP, len(scores))
    ax.plot(scores, order, "o", ms=5, mew=0, alpha=0.65, color=INK)
    middle = np.percentile(reported, MIDDLE)
    ax.plot(middle, [-0.1, -0.1], color=colour, lw=5, solid_capstyle="butt")
    whole = float(REPORTS[report](scores))
    ax.plot([whole], [-0.2], "^", ms=7, mew=0, color=INK)
    all_seeds = f"{report} of all {len(scores)}: {with_commas(whole, _decimals(scores))}"
    marks = [
        Line2D([], [], color=colour, lw=5, label="middle 95 %"),
        Line2D([], [], color=INK, marker="^", ms=7, mew=0, ls="", label=all_seeds),
    ]
    ends = [edges[0], edges[-1]]
    if edges[0] - 0.2 * span < bar < edges[-1] + 0.2 * span:
        marks.append(ax.axvline(bar, color=GREY, lw=1.2, ls=DASHES, label="threshold"))
        ends.append(bar)
    legend_above(ax, marks)
    ax.set(
        xlim=(min(ends) - 0.04 * span, max(ends) + 0.04 * span),
        ylim=(-0.3, 1.82),
        yticks=[0.5, np.mean(STRIP)],
        yticklabels=["imagined\nstudies", f"the {len(scores)}\nseeds"],
    )
    ax.xaxis.set_major_locator(MaxNLocator(5))
    label(ax, x="return in evaluation after training")


def _claims(scores: NDArray, bar: float, reported: NDArray, seeds: int, report: str) -> str:
    """What the imaginary studies say, and how many would call the task solved."""
    low, high = (with_commas(end, _decimals(scores)) for end in np.percentile(reported, MIDDLE))
    solved, solving = int((reported >= bar).sum()), int((scores >= bar).sum())
    return (
        f"With {seeds} seed{'s' * (seeds > 1)} the middle 95 % of studies report {low} to {high} "
        f"as the {report}.\n"
        f"{solved:,} of {IMAGINED:,} would call the task solved ({with_commas(bar)} or more); "
        f"{solving} of the {len(scores)} seeds do solve it."
    )


def _draw_shares(ax: Axes, values: NDArray, edges: NDArray, colour: str) -> None:
    """A histogram whose tallest bar is 1 high, with that bar's share written above it."""
    counts = np.histogram(values, edges)[0]
    tallest = int(counts.argmax())
    ax.stairs(counts / counts.max(), edges, fill=True, color=colour, lw=0)
    place = np.clip(edges[tallest : tallest + 2].mean(), edges[1], edges[-2])
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
        look: dict = {"lw": 2.6, "zorder": 3} if now else {"lw": 1.5, "alpha": 0.75}
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


def _decimals(scores: NDArray) -> int:
    """How many decimals tell these scores apart."""
    span = np.ptp(scores) or 1.0
    return 0 if span >= 20 else 1 if span >= 2 else 2


def seeds_explorer() -> None:
    """`plot_seeds` with a choice of study and report, and a slider for the number of seeds."""
    explore(
        plot_seeds,
        alt="Twenty seeds of DDPG on the sparse pendulum, most at 0 and two above the threshold. "
        "The middle 95 % of imagined studies with three of them report means from 0 to 89.",
        study=Choice(STUDIES, "ddpg_SparsePendulum-v0", "study"),
        seeds=Slider(1, MOST, 3, 1, "seeds, n"),
        report=Choice(list(REPORTS), "mean", "reported"),
    )
