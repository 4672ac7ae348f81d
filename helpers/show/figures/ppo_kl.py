"""Lesson 07: how far the policy is from its rollout's in each last epoch, through a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.figures.drawing import header
from helpers.show.plotting import COLOURS, DASHES, GREY, label, new_figure

FLOOR = 1e-5  # nats: what is below is drawn here


def rolling_median(values: Sequence[float], window: int) -> NDArray[np.float64]:
    """The median of the last `window` values, of fewer at the beginning; shape `(values,)`."""
    return np.array([np.median(values[max(0, i - window + 1) : i + 1]) for i in range(len(values))])


def plot_kl(
    histories: Mapping[str, Sequence[tuple[int, float]]],
    target: float | None = None,
    window: int = 10,
) -> Figure:
    """The approximate KL noted of each iteration, logarithmic: medians over `window` of them.

    Args:
        histories: name -> `agent.history["approx_kl"]`, (step, KL) of each iteration.
        target: a KL that is drawn as a dashed line, such as the one at which updates stop.
    """
    if len(histories) > len(COLOURS):
        raise ValueError(f"histories can hold {len(COLOURS)} trainings at most.")
    fig, ax = new_figure(height=3.4, layout=None)
    medians = {name: np.median([kl for _, kl in each]) for name, each in histories.items()}
    said = ", ".join(f"{kl:.2g} ({name})" for name, kl in medians.items())
    colours = dict(zip(histories, COLOURS, strict=False))
    header(fig, f"Median KL of last epochs: {said}.", colours)
    for name, history in histories.items():
        steps, kls = np.array(history).T
        seen = np.maximum(rolling_median(kls, window), FLOOR)
        ax.plot(steps, seen, color=colours[name], lw=1.6)
    if target is not None:
        ax.axhline(target, color=GREY, lw=1.2, ls=DASHES)
    ax.set_yscale("log")
    label(ax, "", "environment steps", f"KL (nats), median of {window}")
    return fig
