"""Learning curves and tables of several seeds: variants of one algorithm, or several algorithms."""

import re
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.show.colours import BLUE, INK, VERMILLION
from helpers.show.figures.drawing import bar_line
from helpers.show.figures.explore import Choice, explore
from helpers.show.plotting import band, label, legend_above, margins, new_figure
from helpers.show.table import Table
from helpers.training.statistics import LEVEL, interquartile_mean, permutation_test


def plot_results(
    results: Mapping[str, Mapping[str, Any]], variant: str, bar: float | None = None
) -> Figure:
    """One variant beside the first: learning curves, final scores of every seed, a sentence.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals (Agarwal et al.
    2021); a dot on the right is one seed's evaluation after training.

    Args:
        results: variant -> {"steps": `(points,)`, "returns": `(seeds, points)` of training,
            "evaluations": `(seeds,)`, "explanation": a sentence}. Other entries (the command that
            made the file, ...) are passed over.
        variant: a key of `results`.
        bar: the return at which the task counts as learned: a dashed line.
    """
    runs = _runs(results)
    baseline = next(iter(runs))
    shown = list(dict.fromkeys([baseline, variant]))
    fig, (curves, finals) = new_figure(
        2, height=3.8, layout=None, sharey=True, width_ratios=[2.6, 1]
    )
    margins(fig, left=0.8, bottom=1.2, between=0.35)
    for i, name in enumerate(shown):
        colour = BLUE if name == baseline else VERMILLION
        band(curves, runs[name]["steps"], runs[name]["returns"], name, colour)
        _draw_finals(finals, i, np.asarray(runs[name]["evaluations"]), colour)
    for ax in (curves, finals):
        bar_line(ax, bar)
    seeds = len(runs[variant]["returns"])
    label(curves, x="environment steps", y=f"training return, {seeds} seeds")
    legend_above(curves, left=True)
    label(finals, "evaluation at the end", "a dot is a seed")
    finals.set(xlim=(-0.6, 1.6), ylim=_limits(runs, bar), xticks=[])
    sentence = _lines(str(runs[variant].get("explanation", "")))
    fig.text(0.1, 0.16, sentence, fontsize=9.5, color=INK, va="top", linespacing=1.4)
    return fig


def _lines(sentence: str) -> str:
    """At most three of them; none ends within "p < 0.05"."""
    whole = re.sub(r"\bp ([<=]) ", "p\u00a0\\1\u00a0", sentence)
    return textwrap.fill(whole, 98, max_lines=3)


def _draw_finals(ax: Any, place: int, scores: NDArray, colour: str) -> None:
    spread = np.linspace(-0.2, 0.2, len(scores))
    ax.plot(place + spread, scores, "o", ms=5, mew=0, alpha=0.6, color=colour)
    ax.hlines(interquartile_mean(scores), place - 0.3, place + 0.3, color=colour, lw=2)


def _limits(runs: Mapping[str, Mapping[str, Any]], bar: float | None) -> tuple[float, float]:
    """The same for every variant: wide enough for all mean curves and all seeds at the end."""
    found = [interquartile_mean(np.asarray(each["returns"], dtype=float)) for each in runs.values()]
    found += [np.asarray(each["evaluations"]) for each in runs.values()]
    found += [] if bar is None else [np.array([bar])]
    low, high = (end(np.concatenate(found)) for end in (np.min, np.max))
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _runs(results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    runs = {k: v for k, v in results.items() if isinstance(v, Mapping) and "returns" in v}
    if not runs:
        raise ValueError('results needs at least one variant with "steps" and "returns".')
    return runs


def results_explorer(results: Mapping[str, Mapping[str, Any]], bar: float | None = None) -> None:
    """`plot_results` with a choice of the variant that is compared with the first one."""
    baseline, *others = _runs(results)
    explore(
        partial(plot_results, results, bar=bar),
        alt=f"Learning curves of {baseline} and {others[0]}, several seeds each.",
        variant=Choice(others, others[0], f"variant beside {baseline}"),
    )


def effects_table(
    results: Mapping[str, Mapping[str, Any]],
    usual: bool = True,
    **more: Callable[[Mapping[str, Any]], ArrayLike],
) -> Table:
    """What each variant changes, beside the first one: better, worse, or no difference shown.

    "training" is the mean of the learning curves, "at the end" the mean of the evaluations; each
    is tested by a permutation test over seeds. A difference counts below 0.05 divided by the
    number of tests in the table (Bonferroni), and is set in bold.

    Args:
        results: as in `plot_results`, each with its "bar".
        usual: whether "training" and "at the end" are there; a study may have named others.
        more: further measures, tested as well: head -> one number for each seed of a variant.
    """
    runs = _runs(results)
    measures: dict[str, Callable[[Mapping[str, Any]], ArrayLike]] = {
        "training": lambda each: np.mean(each["returns"], axis=1),
        "at the end": lambda each: each["evaluations"],
    }
    measures = (measures if usual else {}) | more
    words = {what: (f"higher {what}", f"lower {what}") for what in measures}
    words["training"] = "better in training", "worse in training"
    words["at the end"] = "better at the end", "worse at the end"
    first, *others = runs
    tests = len(others) * len(measures)
    rows, marked = [], set()
    for row, (name, each) in enumerate(runs.items()):
        scores = np.asarray(each["evaluations"])
        cells, effects = [f"{np.sum(scores >= each['bar'])} of {len(scores)}"], []
        for column, (what, measure) in enumerate(measures.items(), start=2):
            mine, base = np.asarray(measure(each)), np.asarray(measure(runs[first]))
            cells.append(mine.mean())
            if name != first and permutation_test(mine, base) * tests < LEVEL:
                marked.add((row, column))
                effects.append(words[what][int(mine.mean() < base.mean())])
        rows.append([name, *cells, "" if name == first else ", ".join(effects) or "not shown"])
    said = f"{len(scores)} seeds each. Bold: p < 0.05 / {tests}, a permutation test over seeds."
    return Table(["", "at the threshold", *measures, "effect"], rows, said, marked)
