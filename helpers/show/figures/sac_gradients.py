"""Lesson 06: two ways to estimate how a policy's mean should move, and their variance."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, FAINT, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import headline, minus, note, panels, signed
from helpers.show.figures.explore import Scale, Slider, explore
from helpers.show.plotting import WIDTH, label

MEAN = -0.2  # of the policy, before the tanh
REPEATS = 2000  # batches whose estimates are drawn
DRAWS = (1, 4, 16, 64, 256)
COLOURS = {"reparameterised": BLUE, "score function": VERMILLION}


def plot_gradients(
    offset: float = 0.0, std: float = 0.4, ripples: float = 0.0, draws: int = 16
) -> Figure:
    """Estimates of d E[Q(tanh(u))] / d mean from `draws` actions, 2,000 times with each estimator.

    The policy is a Gaussian u ~ N(mean, std^2) before the tanh; Q of one imagined state is a hill.

    Args:
        offset: added to Q everywhere, which changes nothing that matters.
        std: of the policy before the tanh, above 0.
        ripples: the height of small waves in Q, as a critic's errors may be.
        draws: actions for each estimate.
    """
    noise = np.random.default_rng(0).standard_normal((REPEATS, draws))
    found = {name: g.mean(axis=1) for name, g in estimates(noise, offset, std, ripples).items()}
    truth, spread = exact(offset, std, ripples)
    fig, (left, right) = panels(3.15, (0.6, 0.5, 2.7, 1.95), (3.85, 0.5, WIDTH - 4.0, 1.95))
    _draw_hill(left, noise[0, :64], offset, std, ripples)
    _draw_estimates(right, found, truth, {name: s / math.sqrt(draws) for name, s in spread.items()})
    headline(fig, _sentence(spread, draws))
    return fig


def hill(action: NDArray, offset: float, ripples: float) -> NDArray[np.float64]:
    """Q of the imagined state at each action."""
    return offset - 2 * (action - 0.5) ** 2 + ripples * np.sin(40 * action)


def slope(action: NDArray, ripples: float) -> NDArray[np.float64]:
    """dQ/da at each action."""
    return -4 * (action - 0.5) + 40 * ripples * np.cos(40 * action)


def estimates(noise: NDArray, offset: float, std: float, ripples: float) -> dict[str, NDArray]:
    """What each standard normal draw says about d E[Q] / d mean, by both estimators."""
    action = np.tanh(MEAN + std * noise)
    through = slope(action, ripples) * (1 - action**2)
    score = hill(action, offset, ripples) * noise / std
    return dict(zip(COLOURS, (through, score), strict=True))


def exact(offset: float, std: float, ripples: float) -> tuple[float, dict[str, float]]:
    """The gradient, and the standard deviation of a single draw's estimate, by quadrature."""
    noise = np.linspace(-9, 9, 6001)
    share = np.exp(-(noise**2) / 2)
    share /= share.sum()
    each = estimates(noise, offset, std, ripples)
    truth = float(share @ each["reparameterised"])
    spread = {name: math.sqrt(share @ (g - truth) ** 2) for name, g in each.items()}
    return truth, spread


def _draw_hill(ax: Axes, noise: NDArray, offset: float, std: float, ripples: float) -> None:
    """Q, the actions of the first batch on it, and the slope at each; an offset moves the axis."""
    a = np.linspace(-1, 1, 601)
    ax.plot(a, hill(a, 0, ripples), color=FAINT, lw=3)
    action = np.tanh(MEAN + std * noise)
    value, steep = hill(action, 0, ripples), slope(action, ripples)
    reach = 0.38 / np.sqrt(1 + (steep / 4) ** 2)  # of each little line to either side
    sides = np.array([[-1], [1]]) * reach
    ax.plot(action + sides, value + sides * steep, color=BLUE, lw=0.9)
    ax.plot(action, value, "o", ms=4, mew=0, color=ORANGE)
    ticks = np.arange(-4, 1, 2)
    ax.set_yticks(ticks, [minus(f"{tick + offset:g}") for tick in ticks])
    ax.set(xlim=(-1.02, 1.02), ylim=(-5.2, 1.2))
    label(ax, "Q, sampled actions, gradients there", "action a", size=9.5)


def _draw_estimates(ax: Axes, found: dict, truth: float, spread: dict) -> None:
    """Histograms of the estimates, on a scale on which the wider one can be seen."""
    reach = 3.3 * max(spread.values()) or 1.0
    edges = np.linspace(truth - reach, truth + reach, 90)
    top = 0.0
    for name, colour in COLOURS.items():
        heights, _ = np.histogram(found[name], edges)
        ax.stairs(heights, edges, fill=True, color=colour, alpha=0.45, lw=0)
        top = max(top, heights.max())
    ax.axvline(truth, color=INK, lw=1.2)
    ax.set(xlim=(edges[0], edges[-1]), ylim=(0, 1.12 * top), yticks=[])
    label(ax, f"{REPEATS:,} estimates with each", "dE[Q] / d mean of u", size=9.5)
    for y, name in zip((0.93, 0.83), COLOURS, strict=True):
        note(ax, 0.03, y, f"{name}: ± {spread[name]:.2g}", COLOURS[name])
    note(ax, 0.03, 0.73, f"true: {signed(truth)}", INK)


def _sentence(spread: dict[str, float], draws: int) -> str:
    """How many times the variance the worse estimator has: it needs as many more samples."""
    ratio = (spread["score function"] / spread["reparameterised"]) ** 2
    what = f"{draws} action{'s' * (draws > 1)} for each estimate"
    larger = float(f"{max(ratio, 1 / ratio):.3g}")
    if larger == 1:
        return f"{what}: both estimators have the same variance."
    who = "score function" if ratio > 1 else "reparameterised estimate"
    times = f"{larger:,.0f}" if larger >= 1000 else f"{larger:g}"
    return f"{what}: the {who} has {times} times the variance."


def gradients_explorer() -> None:
    """`plot_gradients` with sliders: an offset of Q, the policy's std, ripples, draws."""
    explore(
        plot_gradients,
        alt="Figure 5: Q with sampled actions and gradients, and histograms of two estimates of "
        "its gradient: the score function's is far wider.",
        offset=Slider(-10.0, 10.0, 0.0, 1.0, "added to Q"),
        std=Slider(0.05, 1.0, 0.4, 0.05, "std of u"),
        ripples=Slider(0.0, 0.2, 0.0, 0.01, "ripples in Q"),
        draws=Scale(DRAWS, 16, "actions sampled"),
    )
