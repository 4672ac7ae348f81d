"""Lesson 06: what the temperature makes of a policy where Q has two humps."""

import math
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, GREY, ORANGE, PURPLE
from helpers.show.figures.drawing import headline, note, panels, signed
from helpers.show.figures.explore import Scale, Slider, explore
from helpers.show.figures.sac_squash import gaussian, log_slope
from helpers.show.plotting import WIDTH, label, legend_above

LEFT, RIGHT, WIDE = -0.55, 0.5, 0.22  # where the humps of Q stand, and how wide they are
TEMPERATURES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
ACTIONS = np.linspace(-1, 1, 2002)[:-1] + 0.0005  # the middles of cells, none at a bound
# Of Gauss-Hermite quadrature: where to ask, in standard deviations, and what each answer counts.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS /= math.sqrt(2 * math.pi)


def plot_temperature(temperature: float = 0.2, second: float = 0.8) -> Figure:
    """Q of one imagined state, the policy that is best at this temperature, and the best Gaussian.

    Best is what has the largest mean Q plus `temperature` times entropy. Among all policies that is
    exp(Q / temperature), divided by its area; among SAC's, squashed Gaussians, the nearest to it.

    Args:
        temperature: what a nat of entropy is worth, above 0.
        second: the height of the right hump; the left one is 1 high.
    """
    best, (mean, std) = best_density(temperature, second), best_gaussian(temperature, second)
    squashed = squashed_density(ACTIONS, mean, std)
    places = (0.6, 2.4, WIDTH - 0.75, 1.35), (0.6, 0.5, WIDTH - 0.75, 1.5)
    fig, (upper, lower) = panels(4.3, *places, sharex=True)
    _draw_q(upper, second)
    _draw_policies(lower, best, squashed)
    headline(fig, _sentence(temperature, second, best, squashed))
    return fig


def humps(action: NDArray, second: float) -> NDArray[np.float64]:
    """Q of the imagined state at each action: a hump of height 1, and another."""
    one, other = (np.exp(-(((action - place) / WIDE) ** 2)) for place in (LEFT, RIGHT))
    return one + second * other


def best_density(temperature: float, second: float) -> NDArray[np.float64]:
    """exp(Q / temperature) at each of the ACTIONS, divided by its area."""
    q = humps(ACTIONS, second)
    density = np.exp((q - q.max()) / temperature)
    return density / (density.mean() * 2)


def squashed_density(action: NDArray, mean: float, std: float) -> NDArray[np.float64]:
    """The density of tanh(u) at each action, where u is Gaussian."""
    return gaussian(np.arctanh(action), mean, std) / (1 - action**2)


@lru_cache(maxsize=128)
def best_gaussian(temperature: float, second: float) -> tuple[float, float]:
    """Mean and standard deviation, before the tanh, of the squashed Gaussian that is worth most.

    Climbed to from either hump and from between them, on grids that get finer.
    """
    found = [_climb(start, temperature, second) for start in (-0.6, 0.0, 0.55)]
    _, mean, log_std = max(found)
    return mean, math.exp(log_std)


def _climb(mean: float, temperature: float, second: float) -> tuple[float, float, float]:
    """The best point near a mean: what it is worth, the mean, the log of the std."""
    log_std, wide, tall, top = -1.5, 0.3, 2.5, -math.inf
    for _ in range(5):
        means = mean + wide * np.linspace(-1, 1, 13)
        log_stds = log_std + tall * np.linspace(-1, 1, 13)
        worth = _worth(means[:, None], np.exp(log_stds), temperature, second)
        i, j = np.unravel_index(worth.argmax(), worth.shape)
        mean, log_std, top = float(means[i]), float(log_stds[j]), float(worth[i, j])
        wide, tall = wide / 3, tall / 3
    return top, mean, log_std


def _worth(mean: NDArray, std: NDArray, temperature: float, second: float) -> NDArray[np.float64]:
    """Mean Q plus temperature times entropy, by Gauss-Hermite quadrature."""
    u = mean[..., None] + std[..., None] * NODES
    entropy = np.log(std) + 0.5 * math.log(2 * math.pi * math.e) + log_slope(u) @ WEIGHTS
    return humps(np.tanh(u), second) @ WEIGHTS + temperature * entropy


def mean_and_entropy(density: NDArray, second: float) -> tuple[float, float]:
    """The mean Q of a policy given by its density at the ACTIONS, and its entropy in nats."""
    share = density / density.sum()
    logs = np.log(np.maximum(density, 1e-300))
    return float(share @ humps(ACTIONS, second)), float(-(share @ logs))


def _draw_q(ax: Axes, second: float) -> None:
    q = humps(ACTIONS, second)
    ax.plot(ACTIONS, q, color=GREY, lw=1.8)
    top = int(q.argmax())
    ax.plot(ACTIONS[top], q[top], "o", ms=7, mew=0, color=ORANGE)
    note(ax, 0.988, 0.9, f"a deterministic actor: a = {signed(ACTIONS[top])}", ORANGE, "right")
    ax.set(xlim=(-1.02, 1.02), ylim=(-0.08, 1.45), yticks=[0, 0.5, 1])
    ax.tick_params(axis="x", labelbottom=False, length=0)
    label(ax, y="Q(s, a)")


def _draw_policies(ax: Axes, best: NDArray, squashed: NDArray) -> None:
    ax.fill_between(ACTIONS, 0, best, color=BLUE, alpha=0.25, lw=0)
    ax.plot(ACTIONS, best, color=BLUE, lw=1.6, label="best of all policies")
    ax.plot(ACTIONS, squashed, color=PURPLE, lw=2.2, label="best squashed Gaussian")
    ax.set(ylim=(0, 4.5))
    label(ax, x="action a", y="density of π(a|s)")
    legend_above(ax)


def _sentence(temperature: float, second: float, best: NDArray, squashed: NDArray) -> str:
    """Mean Q and entropy of both, and over how many humps the Gaussian lies."""
    (q, entropy), (own_q, own) = (mean_and_entropy(d, second) for d in (best, squashed))
    left = float(squashed[ACTIONS < (LEFT + RIGHT) / 2].sum() / squashed.sum())
    wide = "over both" if second else "wider than the hump"
    where = "on one hump" if min(left, 1 - left) < 0.1 else wide
    return (
        f"α = {temperature:g}: the best policy has a mean Q of {q:.2f} and an entropy of "
        f"{signed(entropy)};\nthe best Gaussian {own_q:.2f} and {signed(own)}, {where}."
    )


def temperature_explorer() -> None:
    """`plot_temperature` with sliders: the temperature, and the height of the second hump."""
    explore(
        plot_temperature,
        alt="Q with two humps, and below it the policy that is best at this temperature: the "
        "higher the temperature, the flatter.",
        temperature=Scale(TEMPERATURES, 0.2, "temperature α"),
        second=Slider(0.0, 1.2, 0.8, 0.1, "second hump"),
    )
