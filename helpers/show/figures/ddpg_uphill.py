"""Lesson 02: the deterministic policy gradient, an action that moves uphill on Q.

Blue is the critic, vermillion the actor, orange the slope, and green where steps along it lead.
"""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.show.colours import BLUE, DASHES, FAINT, GREEN, GREY, ORANGE, VERMILLION
from helpers.show.figures.drawing import TOP, headline, note, signed
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure

HILLS = ((1.0, 0.35, 0.32), (0.6, -0.6, 0.2))  # height, place, width of each hill of the toy Q
ERROR = (1.2, 0.85, 0.35)  # the hill that a wrong critic adds
FURTHEST = 20  # steps


def toy_q(action: ArrayLike, error: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Q(s, a) of one imagined state and its slope dQ/da, both of the shape of `action`.

    A hill at 0.35, a lower one at -0.6; `error` times a third one at 0.85, which is not there.
    """
    action = np.asarray(action, dtype=np.float64)
    q, slope = np.zeros_like(action), np.zeros_like(action)
    for height, place, width in (*HILLS, (error * ERROR[0], *ERROR[1:])):
        z = (action - place) / width
        hill = height * np.exp(-(z**2))
        q, slope = q + hill, slope - 2 * z / width * hill
    return q, slope


def ascend(action: float, step: float, steps: int, error: float = 0.0) -> NDArray[np.float64]:
    """The actions of `steps` steps of gradient ascent on the toy Q, shape `(steps + 1,)`."""
    path = [float(action)]
    for _ in range(steps):
        path.append(float(np.clip(path[-1] + step * toy_q(path[-1], error)[1], -1, 1)))
    return np.array(path)


def plot_uphill(
    action: float = 0.0, step: float = 0.04, steps: int = 5, error: float = 0.0
) -> Figure:
    """The deterministic policy gradient in one picture: the action moves uphill on the critic.

    An actor that knows one state only, and no network: its parameter is the action itself, so
    that a step of gradient ascent is a <- a + step dQ/da, clipped to [-1, 1]. (In a real actor the
    step goes through the weights, and a tanh keeps the action in bounds.)

    Args:
        action: where the actor is now, in [-1, 1].
        step: the step size (learning rate).
        steps: how many steps to take, 1 to 20.
        error: how wrong the critic is: 0 is right, 1 adds a hill that is not there.
    """
    path = ascend(action, step, steps, error)
    fig, ax = new_figure(height=3.9, layout=None)
    margins(fig, left=0.75, top=TOP)
    headline(fig, _verdict(path, step, error))
    _draw_hill(ax, path, step, error)
    _draw_track(ax, path)
    ax.set(xlim=(-1.02, 1.02), ylim=(_depth(FURTHEST + 2), 1.5), xticks=[-1, -0.5, 0, 0.5, 1])
    q, depths = [0, 0.5, 1, 1.5], [0, 10, 20]
    names = ["0", "0.5", "1", "1.5", "start", "after 10", "after 20"]
    ax.set_yticks([*q, *map(_depth, depths)], names)
    label(ax, x="action a")
    return fig


def _depth(step: float) -> float:
    """Where a step is drawn: the track of actions runs downwards below the hill."""
    return -0.2 - 0.032 * step


def _draw_hill(ax: Axes, path: NDArray, step: float, error: float) -> None:
    actions = np.linspace(-1, 1, 161)
    (truth,) = ax.plot(actions, toy_q(actions)[0], color=GREY, lw=1.3, ls=DASHES, label="true Q")
    name = "critic's Q(s, a)"
    (critic,) = ax.plot(actions, toy_q(actions, error)[0], color=BLUE, lw=2.2, label=name)
    q, slope = toy_q(path, error)
    reach = 0.25 / math.hypot(1, slope[0] * 0.6)  # of even length on the page
    ends = path[0] + np.array([-reach, reach])
    (line,) = ax.plot(
        ends, q[0] + slope[0] * (ends - path[0]), color=ORANGE, lw=2, label="gradient"
    )
    _draw_dots(ax, path, q)
    note(ax, 0.015, 0.95, f"gradient ∂Q/∂a = {signed(slope[0])}", ORANGE)
    held = ", held at the bound" if abs(path[0] + step * slope[0]) > 1 else ""
    text = f"first update: {step:g} · ({signed(slope[0])}) = {signed(step * slope[0], 3)}{held}"
    note(ax, 0.015, 0.88, text, GREEN)
    legend_above(ax, [critic, truth, line])


def _draw_track(ax: Axes, path: NDArray) -> None:
    ax.axhline(-0.1, color=FAINT, lw=0.8)
    depths = np.array([_depth(k) for k in range(len(path))])
    ax.plot(path, depths, color=GREEN, lw=1.3)
    _draw_dots(ax, path, depths)


def _draw_dots(ax: Axes, x: NDArray, y: NDArray) -> None:
    """Where the actor was, small; where it is in the end; where it began."""
    ax.plot(x[1:-1], y[1:-1], "o", ms=4, mew=0, color=GREEN, alpha=0.6)
    ax.plot(x[-1:], y[-1:], "o", ms=7.5, mew=0, color=GREEN)
    ax.plot(x[:1], y[:1], "o", ms=8.5, mew=0, color=VERMILLION)


def _verdict(path: NDArray, step: float, error: float) -> str:
    """What became of the actor, in one sentence."""
    if step == 0:
        return "Updates of size 0: whatever the gradient says, the actor stays where it is."
    q, slope = toy_q(path, error)
    moves, end = np.diff(path), f"a = {signed(path[-1])}"
    many = "One update uphill" if len(moves) == 1 else f"{len(moves)} updates uphill"
    # Down is possible only across a top, though the slope may have one sign before and after it.
    jumped = (slope[:-1] * slope[1:] < -1e-3) | (np.diff(q) < -0.05)
    if jumped[-1] and abs(moves[-1]) > 0.05:
        if jumped[-4:].sum() > 1:
            return "The updates are too large: the actor leaps to and fro across a top."
        lower = ", and lands lower than it stood" if q[-1] < q[-2] else ""
        return f"An update too far: it jumps across a top, to {end}{lower}."
    first, last = (f"{q[i]:.2f}" for i in (0, -1))
    change = f"{'rises' if q[-1] > q[0] else 'falls'} from {first} to {last}"
    change = f"stays near {last}" if first == last else change
    was, truth = (float(toy_q(a)[0]) for a in path[[0, -1]])
    if q[-1] > q[0] and truth < was - 0.1:
        return f"Misled: the critic's Q {change}, the true Q falls from {was:.2f} to {truth:.2f}."
    if abs(moves[-1]) > 0.01 or abs(slope[-1]) > 0.2:
        if q[-1] < q[0] and first != last:
            return f"The updates are too large: to {end}, and the critic's Q {change}."
        return f"{many}: to {end}; the critic's Q {change}."
    highest = float(toy_q(np.linspace(-1, 1, 201), error)[0].max())
    if q[-1] - truth > 0.1:
        who = "Misled" if truth < 0.95 else "Near the true top"
        return f"{who}: the critic says Q = {q[-1]:.2f} at {end}. In truth it is {truth:.2f}."
    if q[-1] > highest - 0.02:
        return f"Arrived: hardly any gradient is left at {end}, the highest point."
    if q[-1] > 0.5:
        return f"Trapped on a lower hill, Q = {q[-1]:.2f}: no gradient leads to {highest:.2f}."
    return f"Hardly any gradient at {end}: nothing tells the actor which way is up."


def uphill_explorer() -> None:
    """`plot_uphill` with sliders: action, step size, number of steps, the critic's error."""
    explore(
        plot_uphill,
        alt="A hill of Q over the action: five updates along the gradient lead to its top.",
        action=Slider(-1.0, 1.0, 0.0, 0.02, "action now"),
        step=Slider(0.0, 0.3, 0.04, 0.01, "size of an update"),
        steps=Slider(1, FURTHEST, 5, 1, "updates"),
        error=Slider(0.0, 1.0, 0.0, 0.05, "critic's error"),
    )
