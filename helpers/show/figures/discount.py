"""Lesson 00: how a discount weighs future rewards."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.show.colours import BLUE, DARK, DASHES, SKY, VERMILLION
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import WIDTH, label, margins, new_figure

HORIZON = 60  # future rewards that are drawn


def plot_discount(gamma: float = 0.9) -> Figure:
    """The weights gamma^k that a return gives to future rewards, and how far it looks.

    All weights together are 1 / (1 - gamma); as many steps, the effective horizon, hold
    1 - gamma^(1 / (1 - gamma)) of them, which is close to 1 - 1/e = 63 % for a gamma near 1.

    Args:
        gamma: in [0, 1).
    """
    exact = 1 / (1 - gamma)
    far = int(exact + 0.5)  # whole steps to speak of
    k = np.arange(HORIZON)
    weights = np.power(float(gamma), k)
    fig, ax = new_figure(height=2.9, layout=None)
    margins(fig)
    thick = 0.72 * 72 * (WIDTH - 0.8) / HORIZON
    ax.vlines(k, 0, weights, color=np.where(k < far, BLUE, SKY), lw=thick, alpha=0.9)
    ax.axvline(exact - 0.5, color=VERMILLION, lw=1.4, ls=DASHES)
    _name_the_horizon(ax, exact)
    steps = "1 step carries" if far == 1 else f"{far} steps carry"
    share = 100 * (1 - gamma**far)
    title = f"γ = {gamma:g}: the next {steps} {share:.0f} % of all weight"
    label(ax, title, "steps into the future, k", "weight γᵏ of that reward")
    ax.set(xlim=(-1, HORIZON), ylim=(0, 1.08))
    return fig


def _name_the_horizon(ax: Axes, exact: float) -> None:
    """What the dashed line is, written on that side of it where there is room."""
    text, far = f"effective horizon 1 / (1 − γ) = {exact:.3g}", int(exact + 0.5)
    if far > HORIZON:
        text += ", beyond the right edge"
    left = far < 0.55 * HORIZON
    ax.text(
        far + 0.2 if left else min(far, HORIZON) - 1.5, 1.03, text,
        color=DARK[VERMILLION], fontsize=9.5, ha="left" if left else "right", va="top",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2},
    )  # fmt: skip


def discount_explorer() -> None:
    """`plot_discount` with a slider for gamma."""
    explore(
        plot_discount,
        alt="Weights of future rewards at discount 0.9: they fall to about a third in ten steps.",
        gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"),
    )
