"""Lesson 07: what a rollout promises along the line of an update, and what is really obtained."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DASHES, GREY, INK, VERMILLION
from helpers.show.plotting import label, new_figure, show


@torch.no_grad()
def mean_return(policy: Any, episodes: int = 128) -> float:
    """The mean return of so many CartPole episodes, played at once, with sampled actions."""
    envs = gym.make_vec("CartPole-v1", episodes, "vector_entry_point")
    rng, (obs, _) = np.random.default_rng(0), envs.reset(seed=0)
    total, alive = np.zeros(episodes), np.ones(episodes, bool)
    while alive.any():
        actions = policy.sample(torch.from_numpy(obs), rng)
        obs, rewards, terminated, truncated, _ = envs.step(actions)
        total += alive * rewards  # what comes after the first end belongs to another episode
        alive &= ~(terminated | truncated)
    return float(total.mean())


def plot_line(lines: Mapping[str, tuple[NDArray, NDArray]]) -> None:
    """Objectives above, returns below: `figure_of_line`, shown."""
    alt = "Figure 3: along an update the surrogate rises on, while the return rises and then falls."
    show(figure_of_line(lines), alt=alt)


def figure_of_line(lines: Mapping[str, tuple[NDArray, NDArray]]) -> Figure:
    """Surrogate and clipped objective above, the mean return below; a column for each line.

    Upright lines stand at the old policy and, dotted, at the new one.

    Args:
        lines: name -> places `(P,)`, 0 the old policy and 1 the new one; and at each of them
            surrogate, clipped objective and return, `(P, 3)`.
    """
    fig, axes = new_figure(len(lines), 2, height=4.6, sharex="col", squeeze=False)
    for (upper, lower), (name, (places, found)) in zip(axes.T, lines.items(), strict=True):
        surrogate, clipped, returns = found.T
        upper.plot(places, surrogate, color=INK, ls=DASHES, label="surrogate")
        upper.plot(places, clipped, color=BLUE, label="clipped objective")
        lower.plot(places, returns, color=VERMILLION)
        for ax in (upper, lower):
            ax.axvline(0, color=GREY, lw=1)
            ax.axvline(1, color=GREY, lw=1.4, ls=":")
        label(upper, name)
        label(lower, x="place on the line: 0 old, 1 new")
        lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    named = axes[0, 0].get_legend_handles_labels()
    fig.legend(*named, loc="outside upper left", ncols=2, frameon=False, fontsize=9, labelcolor=INK)
    label(axes[0, 0], y="from the rollout")
    label(axes[1, 0], y="mean return")
    return fig
