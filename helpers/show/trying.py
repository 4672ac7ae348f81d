"""A change of the reader's own, beside a lesson's stored seeds.

try_it("tau 0.05", train_faster, lab["TD3 as taught"])
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from helpers.show.colours import VERMILLION
from helpers.show.figures.drawing import bar_line
from helpers.show.notebook import in_kernel, png_bundle, publish
from helpers.show.plotting import band, label, new_figure, small_png, to_image


def try_it(
    name: str,
    train: Callable[[int], Any],
    taught: Mapping[str, Any],
    seeds: Sequence[int] = (0, 1, 2),
    bar: float | None = None,
) -> None:
    """Train with each seed, and draw the returns over the band of `taught` after each of them.

    Args:
        train: seed -> a trained agent, whose `history["return"]` is drawn.
        taught: "steps" `(points,)` and "returns" `(seeds, points)`, as `load_results` gives them.
    """
    runs: list[list[tuple[int, float]]] = []
    handle = None
    for seed in seeds:
        runs.append(train(seed).history["return"])
        fig = plot_tries(name, runs, taught, bar)
        alt = f"{name}, {len(runs)} of {len(seeds)} seeds, over the band of the lesson's own seeds."
        if in_kernel():
            bundle = png_bundle(small_png(to_image(fig)), alt, fig.get_figwidth() * fig.dpi)
            handle = publish(*bundle, handle)


def plot_tries(
    name: str,
    runs: Sequence[Sequence[tuple[int, float]]],
    taught: Mapping[str, Any],
    bar: float | None = None,
) -> Figure:
    """The returns of `runs`, each the mean of three episodes, over the band of `taught`."""
    fig, ax = new_figure()
    band(ax, taught["steps"], taught["returns"], f"as taught, {len(taught['returns'])} seeds")
    for number, run in enumerate(runs):
        steps, returns = zip(*run, strict=True)
        means = [np.mean(returns[max(i - 2, 0) : i + 1]) for i in range(len(returns))]
        ax.plot(steps, means, color=VERMILLION, alpha=0.7, label="" if number else name)
    bar_line(ax, bar)
    label(ax, "Training return", "environment steps", legend="lower right")
    return fig
