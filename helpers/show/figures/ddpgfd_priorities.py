"""Lesson 04: prioritized replay, how often a transition is sampled and what it then counts for."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.memory.buffers import importance_weights, sampling_probabilities
from helpers.show.colours import BLUE, DASHES, GREEN, INK, ORANGE
from helpers.show.figures.drawing import headline, note, panels
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import WIDTH, label

TD_ERRORS = (
    4.0, 2.6, 1.9, 1.5, 1.2, 0.98, 0.81, 0.68, 0.57, 0.48,
    0.4, 0.34, 0.28, 0.23, 0.19, 0.15, 0.12, 0.09, 0.06, 0.03,
)  # fmt: skip
EPS = 0.01


def plot_priorities(alpha: float = 0.6, beta: float = 0.4) -> Figure:
    """What alpha does to how often a transition is sampled, and beta to what it then counts for.

    Twenty transitions, a few with large TD errors and many with small ones; a priority is
    |TD error| + 0.01 (Schaul et al. 2016: "proportional"). Upper panel: P, the probability of being
    drawn. Middle: w, the importance weight of what was drawn. Lower panel: P w, what a transition
    counts for on average, as its share of all. At beta = 1 these shares are those of uniform
    sampling, whatever alpha is.

    Args:
        alpha, beta: from 0 to 1.
    """
    p, weights = drawn_and_weighted(alpha, beta)
    shares = p * weights / (p @ weights)
    top = 105 * drawn_and_weighted(1.0, 0.0)[0].max()
    fig, axes = panels(4.7, *((0.55, bottom, WIDTH - 0.7, 0.86) for bottom in (3.28, 1.96, 0.64)))
    drawn = (
        ("how often a transition is sampled: P, in %", 100 * p, BLUE, top),
        ("what it counts for when it is sampled: the weight w", weights, ORANGE, 1.35),
        ("what it counts for on average: its share of all P w, in %", 100 * shares, GREEN, top),
    )
    for ax, bars in zip(axes, drawn, strict=True):
        _draw_transitions(ax, *bars)
    for ax in axes[::2]:
        ax.axhline(100 / len(p), color=INK, lw=1.1, ls=DASHES)
        ax.set_yticks([0, 10, 20])
    axes[1].set_yticks([0, 0.5, 1])
    named = (*range(0, len(p) - 2, 2), len(p) - 1)
    axes[2].set_xticks(named, [f"{TD_ERRORS[i]:g}" for i in named], fontsize=8.5)
    axes[2].tick_params(axis="x", length=0)
    label(axes[2], x="|TD error| of twenty transitions in the buffer")
    _note_extremes(axes, p, weights, shares)
    headline(fig, _priority_sentence(alpha, beta, p, shares))
    return fig


def drawn_and_weighted(alpha: float, beta: float) -> tuple[NDArray, NDArray]:
    """Probabilities and importance weights of the twenty transitions, each (20,)."""
    p = sampling_probabilities(np.array(TD_ERRORS) + EPS, alpha)
    return p, importance_weights(p, p.min(), len(p), beta)


def _draw_transitions(ax: Axes, title: str, values: NDArray, colour: str, top: float) -> None:
    ax.vlines(range(len(values)), 0, values, color=colour, lw=18, alpha=0.85)
    ax.set(xlim=(-0.6, len(values) - 0.4), ylim=(0, top), xticks=[])
    ax.grid(axis="x", visible=False)
    label(ax, title, size=9.5)


def _note_extremes(axes: Sequence[Axes], p: NDArray, weights: NDArray, shares: NDArray) -> None:
    """In each panel, how large its largest and its smallest bar are."""
    note(axes[0], 0.99, 0.86, _extremes(p), BLUE, ha="right")
    mean = f"the largest error's {weights[0]:.2g}; the mean of all samples {p @ weights:.2g}"
    note(axes[1], 0.01, 0.9, mean, ORANGE)
    both = f"{_extremes(shares)}; dashed: uniform sampling, {_percent(1 / len(p))}"
    note(axes[2], 0.99, 0.86, both, GREEN, ha="right")


def _extremes(shares: NDArray) -> str:
    return f"the largest {_percent(shares[0])}, the smallest {_percent(shares[-1])}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _priority_sentence(alpha: float, beta: float, p: NDArray, shares: NDArray) -> str:
    """The largest error beside the smallest."""
    if alpha == 0:
        return "α = 0: all are sampled alike, and β has nothing to correct: every weight is 1."
    often, much = (_times(values[0] / values[-1]) for values in (p, shares))
    if beta == 0:
        return f"β = 0, no correction: the largest error counts {much} as much as the smallest."
    if beta == 1:
        return f"β = 1: the largest error is sampled {often} as often; on average all count alike."
    return (
        f"The largest error is sampled {often} as often as the smallest, and counts {much} as much."
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 9.5 else f"{ratio:.{2 + (ratio < 1.05)}g} times"


def priority_explorer() -> None:
    """`plot_priorities` with sliders for alpha and beta."""
    explore(
        plot_priorities,
        alt="Twenty transitions by the size of their TD error: large errors are sampled more "
        "often and count less each time; at beta 0.4 they still count more on average.",
        alpha=Slider(0.0, 1.0, 0.6, 0.05, "α (by priority)"),
        beta=Slider(0.0, 1.0, 0.4, 0.05, "β (correction)"),
    )
