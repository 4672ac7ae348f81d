"""Lesson 02: Ornstein-Uhlenbeck noise beside independent noise, and what both push."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.agents.noise import GaussianNoise, OUNoise
from helpers.show.colours import BLUE, FAINT, GREY, INK, ORANGE
from helpers.show.figures.drawing import TOP, headline, note
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure

STEPS = 200  # an episode of Pendulum-v1
FRICTION = 0.1  # of the speed, lost in a step
REACH = 2.5  # of the left panel: 2.5 times the widest noise


def plot_ou(theta: float = 0.15, sigma: float = 0.2, seed: int = 1) -> Figure:
    """Ornstein-Uhlenbeck noise beside independent noise of the same width, and what both push.

    Left: 200 steps of `OUNoise` after a reset, and of `GaussianNoise` with the same standard
    deviation. Right: each as the force on a mass that loses a tenth of its speed in a step: the
    path of its place, and a band of one standard deviation, computed exactly. The unit is how far
    independent pushes typically carry the mass in 200 steps.

    Args:
        theta: how strongly the process is pulled back to 0, above 0 and below 2.
        sigma: how strongly it is pushed about.
        seed: another one gives other paths, and the same bands.
    """
    rng, ou = np.random.default_rng(seed), OUNoise(sigma, theta)
    correlated = np.concatenate([ou.sample((1,), rng) for _ in range(STEPS)])
    independent = GaussianNoise(ou.std).sample((STEPS,), rng)
    bands = carried(theta, sigma)
    fig, (left, right) = new_figure(2, height=3.3, layout=None, width_ratios=[1.35, 1])
    margins(fig, top=TOP)
    _draw_noise(left, correlated, independent, ou)
    _draw_pushed(right, pushed(correlated), pushed(independent), *bands)
    headline(fig, _memory(theta, bands))
    return fig


def pushed(force: NDArray) -> NDArray[np.float64]:
    """Where a mass at rest is after each of the pushes `force`, shape `(steps,)`."""
    speed, speeds = 0.0, []
    for push in force.tolist():
        speed = (1 - FRICTION) * speed + push
        speeds.append(speed)
    return np.cumsum(speeds)


def carried(theta: float, sigma: float) -> tuple[NDArray, NDArray]:
    """The standard deviation of the mass's place after each step: pushed by OU, by Gaussian noise.

    The place is a sum over all pushes so far, each times what it has done since; independent
    pushes add up in squares.
    """
    response = pushed(np.eye(1, STEPS)[0])  # to a single push at the first step
    memory = (1 - theta) ** np.arange(STEPS)
    chain = np.convolve(memory, response)[:STEPS]  # what one push of the OU process does over time
    white, ou = (np.sqrt(np.cumsum(r**2)) for r in (response, chain))
    return sigma * ou, OUNoise(sigma, theta).std * white


def _draw_noise(ax: Axes, correlated: NDArray, independent: NDArray, ou: OUNoise) -> None:
    steps = np.arange(1, STEPS + 1)
    ax.axhline(0, color=FAINT, lw=1)
    (dots,) = ax.plot(steps, independent, "o", ms=3, mew=0, color=ORANGE, label="independent")
    (line,) = ax.plot(steps, correlated, color=BLUE, lw=1.7, label="Ornstein-Uhlenbeck")
    memory = 1 / ou.theta
    ax.plot([6, 6 + memory], [-0.85 * REACH] * 2, color=INK, lw=3, solid_capstyle="butt")
    note(ax, 0.03, 0.95, f"both have std {ou.std:.2f}")
    note(ax, 0.03, 0.14, f"1 / θ_OU = {_steps(memory)}")
    ax.set(xlim=(0, STEPS + 1), ylim=(-REACH, REACH))
    ax.set(xticks=[0, 100, 200], yticks=[-2, -1, 0, 1, 2])
    label(ax, x="step", y="added to actions in [−1, 1]")
    legend_above(ax, [line, dots])


def _steps(count: float) -> str:
    text = f"{count:,.0f}" if count >= 10 else f"{count:.2g}"
    return f"{text} step{'s' * (text != '1')}"


def _draw_pushed(ax: Axes, ou: NDArray, white: NDArray, band: NDArray, narrow: NDArray) -> None:
    steps, unit = np.arange(1, STEPS + 1), narrow[-1]
    for place, std, colour in ((ou, band, BLUE), (white, narrow, ORANGE)):
        ax.fill_between(steps, -std / unit, std / unit, color=colour, alpha=0.2, lw=0)
        ax.plot(steps, place / unit, color=colour, lw=1.7)
    ax.set(xlim=(0, STEPS + 1), ylim=(-10, 10), xticks=[0, 100, 200], yticks=[-5, 0, 5])
    note(ax, 0.03, 0.14, "bands: ± one std", GREY)
    note(ax, 0.03, 0.06, "1: where the narrow band ends", GREY)
    label(ax, "the mass that each pushes", "step", "place", size=9.5)


def _memory(theta: float, bands: tuple[NDArray, NDArray]) -> str:
    if theta == 1:
        return "θ_OU = 1: each step undoes all of the past, and OU noise is independent noise."
    times = f"OU noise pushes a mass {bands[0][-1] / bands[1][-1]:.1f} times as far"
    return f"Correlated over {_steps(1 / theta)}: {times} as independent noise does."


def ou_explorer() -> None:
    """`plot_ou` with sliders for theta, sigma and the seed."""
    explore(
        plot_ou,
        alt="Correlated noise wanders and carries a mass far; independent noise of the same size "
        "mostly cancels out.",
        theta=Slider(0.05, 1.0, 0.15, 0.05, "θ_OU (pull to 0)"),
        sigma=Slider(0.05, 0.3, 0.2, 0.05, "σ (pushes)"),
        seed=Slider(0, 20, 1, 1, "seed"),
    )
