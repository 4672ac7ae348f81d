"""Lesson 04: the recorded episodes of a pendulum."""

from collections.abc import Mapping

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from helpers.demos.files import Demos
from helpers.envs.sparse_pendulum import UPRIGHT
from helpers.show.colours import BLUE, GREEN
from helpers.show.figures.drawing import headline
from helpers.show.plotting import label, margins, new_figure


def plot_swings(demos: Mapping[str, Demos]) -> Figure:
    """How high a pendulum's tip is in each of its episodes: 1 upright, -1 hanging.

    One panel for each entry, side by side; green where a step can earn its reward, if it is slow
    enough; the headline counts the steps that did, on average over the episodes.

    Args:
        demos: name -> episodes in Pendulum or a relative of it.
    """
    fig, axes = new_figure(len(demos), height=2.9, layout=None, squeeze=False, sharey=True)
    margins(fig, top=0.72, between=0.3)
    for ax, (name, each) in zip(axes[0], demos.items(), strict=True):
        heights = [each.next_obs[episode, 0] for episode in each.episodes]
        ax.axhspan(np.cos(UPRIGHT), 1.12, color=GREEN, alpha=0.25, lw=0)
        lines = [np.column_stack([np.arange(len(h)), h]) for h in heights]
        ax.add_collection(LineCollection(lines, colors=BLUE, lw=1.1, alpha=0.6))
        ax.set(xlim=(0, max(map(len, heights))), ylim=(-1.12, 1.12))
        label(ax, name, "step", size=9.5)
    label(axes[0, 0], y="height (green: upright)")
    means = [f"{each.returns.mean():.0f} ({name})" for name, each in demos.items()]
    headline(fig, f"Steps of an episode at which it stood, on average: {', '.join(means)}.")
    return fig
