"""Lesson 06: a Gaussian before and after the tanh, and the logarithm that corrects its density."""

import math
from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from helpers.show.figures.drawing import headline, note, panels, signed
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import WIDTH, label

EDGE = 0.9995  # how near to -1 and 1 densities are drawn
FAR = 12.0  # how far out the correction is computed
WAYS = {"log(1 − tanh²u)": VERMILLION, "the same + 10⁻⁶": ORANGE, "stable form": GREEN}


def plot_squash(mean: float = 0.5, std: float = 1.0) -> Figure:
    """A Gaussian u, the density of a = tanh(u), and what becomes of it without the correction.

    On the right log(1 - tanh(u)^2), by which both differ, in 32 bits: as it stands, with a small
    number added, and in its stable form.

    Args:
        mean, std: of the Gaussian, before the tanh.
    """
    wide = (WIDTH - 1.75) / 3
    fig, axes = panels(3.15, *((0.5 + i * (wide + 0.55), 0.5, wide, 1.85) for i in range(3)))
    _draw_before(axes[0], mean, std)
    _draw_after(axes[1], mean, std)
    _draw_corrections(axes[2])
    before = math.log(std) + 0.5 * math.log(2 * math.pi * math.e)
    after = before + _mean(log_slope, mean, std)  # what the tanh takes from it
    headline(fig, f"Entropy {signed(before)} before the tanh, {signed(after)} after it.")
    return fig


def gaussian(u: NDArray, mean: float, std: float) -> NDArray[np.float64]:
    """Its density at each u."""
    return np.exp(-(((u - mean) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))


def log_slope(u: NDArray) -> NDArray[np.float64]:
    """log(1 - tanh(u)^2), the logarithm of the derivative of tanh at u."""
    return 2 * (math.log(2) - u - np.logaddexp(0, -2 * u))


def _mean(function: Callable[[NDArray], NDArray], mean: float, std: float) -> float:
    """E[function(u)] of the Gaussian u."""
    u = np.linspace(mean - 8 * std, mean + 8 * std, 2001)
    share = gaussian(u, mean, std)
    return float(share @ function(u) / share.sum())


def _draw_before(ax: Axes, mean: float, std: float) -> None:
    u = np.linspace(-5, 5, 401)
    ax.fill_between(u, 0, gaussian(u, mean, std), color=BLUE, alpha=0.25, lw=0)
    ax.plot(u, gaussian(u, mean, std), color=BLUE, lw=1.8)
    ax.set(xlim=(-5, 5), ylim=(0, 1.5), xticks=[-4, -2, 0, 2, 4])
    label(ax, "before: u", "u", size=9.5)


def _draw_after(ax: Axes, mean: float, std: float) -> None:
    """Both densities over the actions, with the area under the one without the correction."""
    u = np.arctanh(np.linspace(-EDGE, EDGE, 801))
    wrong, right = gaussian(u, mean, std), gaussian(u, mean, std) / np.exp(log_slope(u))
    ax.fill_between(np.tanh(u), 0, right, color=BLUE, alpha=0.25, lw=0)
    ax.plot(np.tanh(u), right, color=BLUE, lw=1.8)
    ax.plot(np.tanh(u), wrong, color=PURPLE, lw=1.6)
    ax.set(xlim=(-1.02, 1.02), ylim=(0, 4), xticks=[-1, 0, 1])
    label(ax, "after: a = tanh(u)", "a", size=9.5)
    note(ax, 0.03, 0.93, "its density", BLUE)
    area = _mean(lambda u: np.exp(log_slope(u)), mean, std)
    note(ax, 0.03, 0.83, f"uncorrected: area {area:.2f}", PURPLE)


def corrections(u: torch.Tensor) -> dict[str, torch.Tensor]:
    """log(1 - tanh(u)^2) in three ways, in the precision of u."""
    slope = 1 - torch.tanh(u) ** 2
    stable = 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
    return dict(zip(WAYS, (slope.log(), (slope + 1e-6).log(), stable), strict=True))


def _draw_corrections(ax: Axes) -> None:
    u = torch.linspace(0, FAR, 481)
    for (way, values), width in zip(corrections(u).items(), (4.5, 2.6, 1.6), strict=True):
        finite = values.isfinite()
        ax.plot(u[finite], values[finite], color=WAYS[way], lw=width, label=way)
    ax.set(xlim=(0, FAR), ylim=(-24.5, 0.8))
    label(ax, "log(1 − tanh²u), 32 bits", "u", size=9.5)
    for y, (way, colour) in zip((0.27, 0.17, 0.07), WAYS.items(), strict=True):
        ax.text(
            0.03, y, way, transform=ax.transAxes, fontsize=8.5, va="center",
            color=DARK.get(colour, GREY),
        )  # fmt: skip


def squash_explorer() -> None:
    """`plot_squash` with sliders: mean and standard deviation before the tanh."""
    explore(
        plot_squash,
        alt="A Gaussian, its density after the tanh with and without the correction, and the "
        "correction computed in three ways.",
        mean=Slider(-3.0, 3.0, 0.5, 0.1, "mean of u"),
        std=Slider(0.1, 3.0, 1.0, 0.1, "std of u"),
    )
