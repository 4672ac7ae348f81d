"""Learning curves and tables of several seeds: variants of one algorithm, or several algorithms."""

import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.figures.drawing import bar_line, header, limit_to_middle, with_commas
from helpers.show.figures.explore import Choice, explore
from helpers.show.plotting import BLUE, COLOURS, INK, VERMILLION, band, label, margins, new_figure
from helpers.show.table import Table
from helpers.training.statistics import LEVEL, interquartile_mean, permutation_test

NO_DIFFERENCE = "no difference shown"


def plot_results(
    results: Mapping[str, Mapping[str, Any]],
    variant: str | None = None,
    baseline: str | None = None,
    bar: float | None = None,
) -> Figure:
    """One variant beside the baseline: learning curves, final scores of every seed, a sentence.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals (Agarwal et al.
    2021); a dot on the right is one seed's evaluation after training.

    Args:
        results: variant -> {"steps": `(points,)`, "returns": `(seeds, points)` of training,
            "evaluations": `(seeds,)`, "explanation": a sentence}. Other entries (the command that
            made the file, ...) are passed over.
        variant, baseline: keys of `results`; by default the second and the first.
        bar: the return at which the task counts as learned: a dashed line.
    """
    runs = _runs(results)
    names = list(runs)
    baseline = names[0] if baseline is None else baseline
    variant = next((n for n in names if n != baseline), baseline) if variant is None else variant
    shown = list(dict.fromkeys([baseline, variant]))
    fig, (curves, finals) = new_figure(2, height=3.8, layout=None, width_ratios=[2.6, 1])
    margins(fig, bottom=1.2, between=0.55)
    for i, name in enumerate(shown):
        colour = BLUE if name == baseline else VERMILLION
        band(curves, runs[name]["steps"], runs[name]["returns"], name, colour)
        _draw_finals(finals, i, np.asarray(runs[name]["evaluations"]), colour)
    for ax in (curves, finals):
        bar_line(ax, bar)
    seeds = len(runs[variant]["returns"])
    label(curves, f"training return, {seeds} seeds", "environment steps", legend=True)
    label(finals, "evaluation at the end", "a dot is a seed")
    finals.set(xlim=(-0.6, 1.6), ylim=curves.set_ylim(_limits(runs, bar)), xticks=[])
    sentence = _lines(str(runs[variant].get("explanation", "")))
    fig.text(0.085, 0.16, sentence, fontsize=9.5, color=INK, va="top", linespacing=1.4)
    return fig


def _lines(sentence: str) -> str:
    """At most three of them; none ends within "p < 0.05"."""
    whole = re.sub(r"\bp ([<=]) ", "p\u00a0\\1\u00a0", sentence)
    return textwrap.fill(whole, 98, max_lines=3)


def _draw_finals(ax: Any, place: int, scores: NDArray, colour: str) -> None:
    spread = np.linspace(-0.2, 0.2, len(scores)) if len(scores) > 1 else np.zeros(1)
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


def results_explorer(
    results: Mapping[str, Mapping[str, Any]], baseline: str | None = None, bar: float | None = None
) -> None:
    """`plot_results` with a choice of the variant that is compared with the baseline."""
    names = list(_runs(results))
    baseline = names[0] if baseline is None else baseline
    others = [n for n in names if n != baseline] or [baseline]
    explore(
        partial(plot_results, results, baseline=baseline, bar=bar),
        alt=f"Learning curves of {baseline} and {others[0]}, several seeds each.",
        variant=Choice(others, label=f"{baseline} against"),
    )


def results_table(
    results: Mapping[str, Mapping[str, Any]], **more: Callable[[Mapping[str, Any]], object]
) -> str:
    """A row for each variant: seeds at the bar, returns after and in training, p beside the first.

    "mean" and "worst" are of the seeds' evaluations after training, "training" is the mean of the
    learning curves. The two p are `permutation_test`'s, of the seeds' means in training and of
    their evaluations.

    Args:
        results: as in `plot_results`, each with its "bar".
        more: further columns: head -> what it says of a variant's entry.
    """
    runs = _runs(results)
    against = next(iter(runs.values()))
    heads = ["", "at the bar", "mean", "worst", "training", "p train", "p after", *more]
    rows = [heads] + [
        [name, *_measured(each, against), *(str(say(each)) for say in more.values())]
        for name, each in runs.items()
    ]
    width = max(map(len, runs))
    return "\n".join(f"{name:{width}s}" + "".join(f"{c:>11s}" for c in row) for name, *row in rows)


def _measured(runs: Mapping[str, Any], against: Mapping[str, Any]) -> list[str]:
    """Its columns in `results_table`; beside itself there is nothing to test."""
    scores = np.asarray(runs["evaluations"])
    training, others = (np.mean(each["returns"], axis=1) for each in (runs, against))
    p = permutation_test(training, others), permutation_test(scores, against["evaluations"])
    return [
        f"{np.sum(scores >= runs['bar'])} of {len(scores)}",
        *(f"{number:.1f}" for number in (scores.mean(), scores.min(), training.mean())),
        *("" if runs is against else f"{each:.2g}" for each in p),
    ]


def effects_table(
    results: Mapping[str, Mapping[str, Any]], **more: Callable[[Mapping[str, Any]], ArrayLike]
) -> Table:
    """What each variant changes, beside the first one: better, worse, or no difference shown.

    "training" is the mean of the learning curves, "at the end" the mean of the evaluations; each
    is tested by a permutation test over seeds. A difference counts below 0.05 divided by the
    number of tests in the table (Bonferroni), and is set in bold.

    Args:
        results: as in `plot_results`, each with its "bar".
        more: further measures, tested as well: head -> one number for each seed of a variant.
    """
    runs = _runs(results)
    measures: dict[str, Callable[[Mapping[str, Any]], ArrayLike]] = {
        "training": lambda each: np.mean(each["returns"], axis=1),
        "at the end": lambda each: each["evaluations"],
        **more,
    }
    words = dict.fromkeys(measures, ("higher {}", "lower {}"))
    words |= {"training": ("better in training", "worse in training")}
    words |= {"at the end": ("better at the end", "worse at the end")}
    first, *others = runs
    tests = len(others) * len(measures)
    rows, marked = [], set()
    for row, (name, each) in enumerate(runs.items()):
        scores = np.asarray(each["evaluations"])
        cells, effects = [f"{np.sum(scores >= each['bar'])} of {len(scores)}"], []
        for column, (what, measure) in enumerate(measures.items(), start=2):
            mine, base = np.asarray(measure(each)), np.asarray(measure(runs[first]))
            mean = mine.mean()
            cells.append(with_commas(mean) if abs(mean) >= 100 else f"{mean:.3g}")
            if name != first and permutation_test(mine, base) * tests < LEVEL:
                marked.add((row, column))
                effects.append(words[what][int(mine.mean() < base.mean())].format(what))
        rows.append([name, *cells, "" if name == first else ", ".join(effects) or "not shown"])
    said = f"{len(scores)} seeds each. Bold: p < 0.05 / {tests}, a permutation test over seeds."
    return Table(["", "at the threshold", *measures, "effect"], rows, said, marked)


def plot_comparison(
    results: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, str | Mapping[str, Any]]],
    what: str = "training return",
) -> Figure:
    """Learning curves of several algorithms, one panel for each environment.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals. The headline
    compares the last tenth of the curves, and calls ahead only what is so by a permutation test
    over seeds.

    Args:
        results: name -> {"steps": `(points,)`, "returns": `(seeds, points)` of training,
            "bar": the return at which the task counts as learned, a dashed line; or none}.
        groups: title of a panel -> {label of a line: a name in `results`, or such an entry}. A
            label has the same colour in all panels.
        what: what the returns are, at the vertical axis.
    """
    panels = {
        title: {name: results[e] if isinstance(e, str) else e for name, e in lines.items()}
        for title, lines in groups.items()
    }
    labels = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if not labels or len(labels) > len(COLOURS):
        raise ValueError(
            f"groups must hold 1 to {len(COLOURS)} labels of lines, not {len(labels)}."
        )
    colours = dict(zip(labels, COLOURS, strict=False))
    fig, axes = new_figure(len(panels), height=3.5, layout=None, squeeze=False)
    header(fig, _who_is_ahead(panels), colours)
    for ax, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for name, entry in lines.items():
            band(ax, entry["steps"], entry["returns"], color=colours[name])
        _draw_bars_of(ax, lines.values())
        ax.xaxis.set_major_locator(MaxNLocator(4))
        label(ax, title, "environment steps", size=9.5)
    label(axes[0, 0], y=what)
    return fig


def _draw_bars_of(ax: Axes, entries: Collection[Mapping[str, Any]]) -> None:
    """Their bars, and limits with room for these and for the curves."""
    bars = {entry["bar"] for entry in entries if entry.get("bar") is not None}
    for bar in bars:
        bar_line(ax, bar)
    curves = [np.asarray(entry["returns"], dtype=np.float64) for entry in entries]
    limit_to_middle(ax, curves, *bars)


def _who_is_ahead(panels: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Of the last tenth of the training; "ahead" with p < 0.05 against each of the others."""
    ahead: dict[str, list[str]] = {}
    for title, lines in panels.items():
        late = {name: _late(entry) for name, entry in lines.items()}
        winner = max(late, key=lambda name: late[name].mean())
        others = [scores for name, scores in late.items() if name != winner]
        shown = others and all(permutation_test(late[winner], each) < LEVEL for each in others)
        ahead.setdefault(f"{winner} ahead" if shown else NO_DIFFERENCE, []).append(title)
    order = sorted(ahead, key=NO_DIFFERENCE.__eq__)  # what is shown comes first
    said = [f"{who} on {' and '.join(ahead[who])}" for who in order]
    return f"Last tenth of the curves: {', '.join(said)}."


def _late(entry: Mapping[str, Any]) -> NDArray[np.float64]:
    """The mean return of each seed in the last tenth of the training, shape `(seeds,)`."""
    steps, returns = np.asarray(entry["steps"]), np.asarray(entry["returns"], dtype=np.float64)
    return returns[:, steps > 0.9 * steps[-1]].mean(axis=1)
