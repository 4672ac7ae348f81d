"""Lesson 03: an actor that climbs its critic's errors, and what the lower of two critics says.

Blue is the critic that the actor climbs, purple a second one, green the lower of both, vermillion
the actor.
"""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.show.colours import BLUE, DASHES, GREEN, GREY, PURPLE, VERMILLION
from helpers.show.figures.drawing import TOP, headline, note
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure

BEST, BROAD = -0.1, 0.9  # place and width of the hill that is the true Q; its height is 1
CENTRES, NARROW = np.linspace(-1.5, 1.5, 31), 0.22  # of the bumps that an error is the sum of
HEIGHT = 1 / np.sqrt((np.exp(-2 * (CENTRES / NARROW) ** 2)).sum())  # errors of deviation 1
STEP, MOST = 0.02, 60  # size of an update; updates


def true_q(action: float | NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The true Q(s, a) of one imagined state and its slope, both of the shape of `action`."""
    z = (action - BEST) / BROAD
    q = np.exp(-(z**2))
    return q, -2 * z / BROAD * q


def error(action: ArrayLike, weights: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A critic's error and its slope: smooth, mean 0, standard deviation 1 over draws of `weights`.

    `weights` (..., 31) are independent and normal. `action` and both results have the shape (...).
    """
    z = (np.asarray(action, dtype=np.float64)[..., None] - CENTRES) / NARROW
    bumps = HEIGHT * np.exp(-(z**2))
    return (weights * bumps).sum(-1), (weights * bumps * -2 * z / NARROW).sum(-1)


def two_errors(shared: float, seed: int) -> NDArray[np.float64]:
    """Weights (2, 31) of two critics' errors; `shared` is their correlation."""
    first, own = np.random.default_rng((3, seed)).normal(size=(2, len(CENTRES)))
    return np.stack([first, shared * first + math.sqrt(1 - shared**2) * own])


def climb(weights: NDArray, size: float, updates: int) -> NDArray[np.float64]:
    """Where an actor goes that starts at the best action: shape `(updates + 1, ...)`.

    It climbs the true Q plus `size` times the error of these `weights` (..., 31).
    """
    path = [np.full(np.shape(weights)[:-1], BEST)]
    for _ in range(updates):
        slope = true_q(path[-1])[1] + size * error(path[-1], weights)[1]
        path.append(np.clip(path[-1] + STEP * slope, -1, 1))
    return np.array(path)


def plot_climb(
    updates: int = 40, size: float = 0.25, shared: float = 0.0, seed: int = 16
) -> Figure:
    """An actor climbs one critic; what that critic, and the lower of two, say about its action.

    One state, and an actor without a network: its parameter is the action. It starts at the best
    action. A critic is the true Q plus a smooth random error, which is 0 on average at each action.

    Left: the actor's updates along the slope of the first critic. Right: the same updates, read by
    a target that takes the lower of two critics (TD3's: the actor climbs the first one there too).

    Args:
        updates: how many, 0 to 60.
        size: standard deviation of the errors.
        shared: correlation of the two critics' errors.
        seed: another one gives another pair of critics.
    """
    weights = two_errors(shared, seed)
    path = climb(weights[0], size, updates)
    fig, (left, right) = new_figure(2, height=3.6, layout=None)
    margins(fig, left=0.55, top=TOP + 0.05, between=0.35)
    said = [true_q(path)[0] + size * error(path, each)[0] for each in weights]
    _draw_one(left, weights[0], size, path, said[0])
    _draw_two(right, weights, size, path, said[0])
    lower = min(said[0][-1], said[1][-1])
    for ax, target, read, colour in (
        (left, "one critic: the target reads Q₁,", said[0][-1], BLUE),
        (right, "two critics: the target reads the lower,", lower, GREEN),
    ):
        _draw_gap(ax, path[-1], read, colour)
        note(ax, 0.02, 0.95, target, colour)
        note(ax, 0.02, 0.88, _off(read, path[-1]), colour)
        ax.set(xlim=(-1.02, 1.02), ylim=(-0.5, 2.3))
        ax.set(xticks=[-1, -0.5, 0, 0.5, 1], yticks=[0, 0.5, 1, 1.5, 2])
        label(ax, x="action a")
    right.tick_params(axis="y", labelleft=False, length=0)
    headline(fig, _climb_sentence(true_q(path)[0], said[0], size))
    return fig


ACTIONS = np.linspace(-1, 1, 161)


def _critic(weights: NDArray, size: float) -> NDArray[np.float64]:
    return true_q(ACTIONS)[0] + size * error(ACTIONS, weights)[0]


def _draw_one(ax: Axes, weights: NDArray, size: float, path: NDArray, said: NDArray) -> None:
    ax.plot(ACTIONS, true_q(ACTIONS)[0], color=GREY, lw=1.4, ls=DASHES, label="true Q")
    ax.plot(ACTIONS, _critic(weights, size), color=BLUE, lw=2.2, label="critic's Q₁")
    ax.plot(path, said, "o", ms=4, mew=0, color=VERMILLION, label="actor")
    legend_above(ax)


def _draw_two(ax: Axes, weights: NDArray, size: float, path: NDArray, said: NDArray) -> None:
    ax.plot(ACTIONS, true_q(ACTIONS)[0], color=GREY, lw=1.4, ls=DASHES)
    q1, q2 = (_critic(each, size) for each in weights)
    (lower,) = ax.plot(
        ACTIONS, np.minimum(q1, q2), color=GREEN, lw=5, alpha=0.4, label="the lower of both"
    )
    (first,) = ax.plot(ACTIONS, q1, color=BLUE, lw=1.5, label="Q₁")
    (second,) = ax.plot(ACTIONS, q2, color=PURPLE, lw=1.5, label="Q₂")
    ax.plot(path, said, "o", ms=4, mew=0, color=VERMILLION)
    legend_above(ax, [first, second, lower])


def _draw_gap(ax: Axes, action: float, read: float, colour: str) -> None:
    """What the target reads at the actor's last action, and how far that is from the truth."""
    ax.plot([action] * 2, [float(true_q(action)[0]), read], color=colour, lw=1.3, ls=(0, (1, 1.5)))
    ax.plot(action, true_q(action)[0], "o", ms=6, mew=1.6, mec=colour, color="white")
    ax.plot(action, read, "o", ms=7.5, mew=0, color=colour)


def _off(read: float, action: float) -> str:
    error = read - float(true_q(action)[0])
    if abs(error) < 0.005:
        return f"{read:.2f}, which is right"
    return f"{read:.2f}: {abs(error):.2f} too {'high' if error > 0 else 'low'}"


def _climb_sentence(truth: NDArray, said: NDArray, size: float) -> str:
    if size == 0:
        return "Without errors the actor stays where it begins, at the best action."
    if len(truth) == 1:
        return "No update yet: the actor is at the best action, and chance says how far Q₁ is off."
    many = "One update" if len(truth) == 2 else f"{len(truth) - 1} updates"
    values = f"Q₁ goes from {said[0]:.2f} to {said[-1]:.2f}, the true Q"
    if f"{truth[-1]:.2f}" == "1.00":
        return f"{many}: {values} stays near 1.00."
    return f"{many} up the gradient of Q₁: {values} from 1.00 down to {truth[-1]:.2f}."


def climb_explorer() -> None:
    """`plot_climb` with sliders: updates, size of the errors, what is in common, another pair."""
    explore(
        plot_climb,
        alt="An actor that starts at the best action climbs a bump of its critic's error, where "
        "the critic is too high; the lower of two critics is not.",
        updates=Slider(0, MOST, 40, 1, "updates"),
        size=Slider(0.0, 0.3, 0.25, 0.05, "critics' errors"),
        shared=Slider(0.0, 0.9, 0.0, 0.1, "errors in common"),
        seed=Slider(0, 20, 16, 1, "another pair"),
    )
