"""Lesson 01: GAE beside n-step advantages."""

import numpy as np
from matplotlib.figure import Figure

from helpers.show.colours import BLUE, DARK, INK, VERMILLION
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure

STEPS = 30  # steps ahead that are drawn


def plot_gae_weights(gamma: float = 0.99, lam: float = 0.9, n: int = 5) -> Figure:
    """Two ways to look at GAE(lambda): weights of TD errors, weights of n-step advantages.

    Left: GAE gives the TD error delta_{t+l} the weight (gamma lambda)^l; the n-step advantage
    gives gamma^l for l < n and nothing beyond. Right: GAE is the mean of all n-step advantages,
    each with weight (1 - lambda) lambda^(n-1). Source: Schulman et al. 2016, equation 16.
    """
    fig, (left, right) = new_figure(2, height=2.9, layout=None)
    margins(fig, between=0.85)
    ell, thick = np.arange(STEPS), 0.6 * 72 * 3 / STEPS
    left.vlines(ell, 0, np.power(gamma * lam, ell), color=BLUE, lw=thick, label=f"GAE, λ = {lam:g}")
    edges = np.r_[np.arange(n) - 0.5, n - 0.5, n - 0.5]
    heights = np.r_[gamma ** np.arange(n), gamma ** (n - 1), 0]
    left.step(edges, heights, where="post", color=VERMILLION, lw=1.8, label=f"{n}-step advantage")
    left.set(xlim=(-1, STEPS), ylim=(0, 1.05))
    label(left, "", "steps ahead, l", "weight of the TD error δ(t+l)")
    legend_above(left)

    ks = np.arange(1, STEPS + 1)
    mixture = (1 - lam) * np.power(float(lam), ks - 1)
    right.vlines(ks, 0, mixture, color=np.where(ks == n, VERMILLION, BLUE), lw=thick)
    right.set(xlim=(0, STEPS + 1), ylim=(0, max(0.05, 1.15 * mixture.max())))
    label(right, "GAE as a mix of n-step advantages", "n", "weight (1 − λ) λⁿ⁻¹")
    mean = "all weight on n → ∞" if lam == 1 else f"mean n = 1 / (1 − λ) = {1 / (1 - lam):.1f}"
    for y, text, colour in (
        (0.9, mean, INK),
        (0.79, f"n = {n} has {100 * (1 - lam) * lam ** (n - 1):.1f} %", DARK[VERMILLION]),
    ):
        right.text(0.97, y, text, transform=right.transAxes, ha="right", fontsize=9.5, color=colour)
    return fig


def gae_explorer() -> None:
    """`plot_gae_weights` with sliders for gamma, lambda and n."""
    explore(
        plot_gae_weights,
        alt="GAE's weights fade smoothly with the distance; an n-step advantage cuts off at n.",
        lam=Slider(0.0, 1.0, 0.9, 0.01, "GAE's λ"),
        n=Slider(1, STEPS, 5, 1, "n of n-step"),
        gamma=Slider(0.8, 1.0, 0.99, 0.01, "discount γ"),
    )
