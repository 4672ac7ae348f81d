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
    """The returns of `runs`, means over the stretches of steps of `taught`, over its band."""
    fig, ax = new_figure()
    seeds, total, points = len(taught["returns"]), taught["steps"][-1], len(taught["steps"])
    band(ax, taught["steps"], taught["returns"], f"as taught: {seeds} seeds, 95 % interval")
    for run in runs:
        steps, returns = np.array(run).T
        places = (steps - (steps == total)) * points // total  # the last stretch has its end
        stretches = np.unique(places)
        means = [returns[places == stretch].mean() for stretch in stretches]
        ends = (stretches + 1) * total / points
        (line,) = ax.plot(ends, means, color=VERMILLION, alpha=0.7)
    line.set_label(f"{name}: {len(runs)} seed{'s' * (len(runs) > 1)}")
    bar_line(ax, bar)
    label(ax, "Training return", "environment steps", legend="lower right")
    return fig
