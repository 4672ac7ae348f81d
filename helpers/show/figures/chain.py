"""Lesson 00: values on a chain of five places, from the Bellman equation."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, GREEN, INK, VERMILLION
from helpers.show.figures.drawing import box, headline, say, sheet
from helpers.show.figures.explore import Slider, explore

PLACES = 5  # the last one ends the episode; to step onto it earns 1, all else 0


def chain_values(right: float, gamma: float) -> tuple[NDArray, NDArray]:
    """V (5,) and Q (5, 2) for left and right, of the policy that goes right with that chance.

    At the left end a step to the left stays there. The Bellman equations of the four places are
    linear, V = r + gamma P V, and are solved at once; gamma is below 1.
    """
    places = np.arange(PLACES - 1)
    to = np.stack([np.maximum(places - 1, 0), places + 1], axis=1)
    reward = (to == PLACES - 1).astype(float)
    chance = np.array([1 - right, right])
    moves = np.zeros((PLACES - 1, PLACES))
    for action in (0, 1):
        moves[places, to[:, action]] += chance[action]
    inner = moves[:, :-1]  # from place to place; the last place has no future
    values = np.zeros(PLACES)
    values[:-1] = np.linalg.solve(np.eye(PLACES - 1) - gamma * inner, reward @ chance)
    q = np.zeros((PLACES, 2))
    q[:-1] = reward + gamma * values[to]
    return values, q


def plot_chain(right: float = 1.0, gamma: float = 0.9) -> Figure:
    """The chain, with the value of every place and of every step from it."""
    values, q = chain_values(right, gamma)
    fig, ax = sheet(7.4, 2.3)
    headline(fig, f"Goes right with probability {right:.2f}, discount γ = {gamma:.2f}")
    for place in range(PLACES):
        x, last = 0.85 + 1.42 * place, place == PLACES - 1
        colour = GREEN if last else BLUE
        box(ax, (x, 1.1), (1.0, 0.86), colour, 0.06 + 0.34 * values[place])
        name = "end, reward 1" if last else f"place {place}"
        say(ax, x, 1.34, name, 8.5, colour if last else INK)
        say(ax, x, 0.98, "V = 0" if last else f"V = {values[place]:.2f}", 12, INK)
        if not last:
            say(ax, x, 0.42, f"← {q[place, 0]:.2f}   Q   {q[place, 1]:.2f} →", 9, VERMILLION)
    return fig


def chain_explorer() -> None:
    """`plot_chain` with sliders for the policy and the discount."""
    explore(
        plot_chain,
        alt="Five places in a row; values rise towards the end of the chain.",
        right=Slider(0.0, 1.0, 1.0, 0.05, "probability of going right"),
        gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"),
    )
