"""Lesson 02: a target network's weight, which follows the online weight slowly."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DASHES, ORANGE, PURPLE, VERMILLION
from helpers.show.figures.drawing import TOP, headline, note
from helpers.show.figures.explore import Scale, Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure

UPDATES, JUMP = 2000, 800
TAUS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def plot_tau(tau: float = 0.005, noise: float = 0.15) -> Figure:
    """One weight of an online network, and the same weight of the target network that follows it.

    Left: the online weight learns, is noisy, and jumps once; at each update the target moves a
    fraction tau towards it (`helpers.algorithms.ddpg.polyak_update`). A difference fades as
    (1 - tau)^updates: half of it is left after log(1/2) / log(1 - tau), about 0.69 / tau updates,
    and 37 % after about 1 / tau. Right: what a smaller tau buys and what it costs. Of independent
    noise a part sqrt(tau / (2 - tau)) passes through (standard deviations); behind a steady change
    the target stays (1 - tau) / tau updates.

    Args:
        tau: above 0, at most 1.
        noise: standard deviation of the online weight around its trend.
    """
    steps = np.arange(UPDATES + 1)
    online = trend(steps) + noise * np.random.default_rng(0).standard_normal(UPDATES + 1)
    online[0] = 0.0
    fig, (left, right) = new_figure(2, height=3.3, layout=None, width_ratios=[1.75, 1])
    margins(fig, bottom=0.65, top=TOP)
    headline(fig, _follows(tau))
    _draw_target(left, online, follow(online, tau), tau)
    _draw_bargain(right, tau)
    return fig


def trend(steps: NDArray) -> NDArray[np.float64]:
    """Where the online weight is going: it learns, and at `JUMP` it leaps to where it stays."""
    return np.where(steps < JUMP, 1 - np.exp(-steps / 200), 1.8)


def follow(online: NDArray, tau: float) -> NDArray[np.float64]:
    """The target's path beside `online` (updates,), both starting at the same place."""
    target = [float(online[0])]
    for weight in online[1:].tolist():
        target.append(target[-1] + tau * (weight - target[-1]))
    return np.array(target)


def half_life(tau: float) -> float:
    """After how many updates half of a difference is left: log(1/2) / log(1 - tau), 0 at tau 1."""
    return math.log(0.5) / math.log1p(-tau) if tau < 1 else 0.0


def passes(tau: float | NDArray) -> NDArray[np.float64]:
    """Which part of independent noise the target shows, in standard deviations."""
    return np.sqrt(tau / (2 - tau))


def _draw_target(ax: Axes, online: NDArray, target: NDArray, tau: float) -> None:
    steps = np.arange(len(online))
    ax.plot(steps, online, color=ORANGE, lw=0.7, alpha=0.75, label="online weight")
    ax.plot(steps, target, color=BLUE, lw=2, label="target weight")
    # After the jump the trend is constant, so that these two points stand on the target's own path.
    marks = ("half-life", half_life(tau), VERMILLION, 0.94), ("1 / τ", 1 / tau, PURPLE, 0.85)
    for name, after, colour, y in marks:
        x, height = JUMP + after, np.interp(JUMP + after, steps, target)
        ax.plot([x, x], [-0.5, height], color=colour, lw=1.2, ls=DASHES)
        ax.plot(x, height, "o", ms=6.5, mew=0, color=colour)
        count = f"{after:,.0f}" if after >= 10 or after == round(after) else f"{after:.1f}"
        note(ax, 0.02, y, f"{name}: {count} update{'s' * (count != '1')}", colour)
    ax.set(xlim=(0, UPDATES), ylim=(-0.5, 2.5), xticks=[0, JUMP, UPDATES], yticks=[0, 1, 2])
    label(ax, x="updates", y="weight")
    legend_above(ax)


def _draw_bargain(ax: Axes, tau: float) -> None:
    exponents = np.linspace(-3, 0, 60)  # a logarithmic axis by hand: matplotlib's takes long
    ax.plot(exponents, 100 * passes(10**exponents), color=BLUE, lw=2)
    ax.plot(math.log10(tau), 100 * passes(tau), "o", ms=8, mew=0, color=VERMILLION, clip_on=False)
    ax.set(xlim=(-3, 0), ylim=(0, 104), yticks=[0, 50, 100])
    ax.set_xticks([-3, -2, -1, 0], ["0.001\n999", "0.01\n99", "0.1\n9", "1\n0"])
    label(ax, "noise that comes through, in %", "τ, below it the updates behind", size=9.5)


def _follows(tau: float) -> str:
    """What this target is good for, in one sentence."""
    if tau == 1:
        return "τ = 1: the target is the online weight itself. There is no target network."
    lag, part = (1 - tau) / tau, 100 * float(passes(tau))
    behind = f"{lag:,.0f} update{'s' * (round(lag) != 1)}"
    return f"τ = {tau:g}: the target is {behind} behind and lets {part:.0f} % of the noise through."


def tau_explorer() -> None:
    """`plot_tau` with a slider for tau, in steps that grow with it."""
    explore(
        plot_tau,
        alt="A noisy weight that jumps; the target weight follows it late and smoothly.",
        tau=Scale(TAUS, 0.005, "τ"),
        noise=Slider(0.0, 0.25, 0.15, 0.05, "noise"),
    )
