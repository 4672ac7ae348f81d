"""Lesson 04: how a reward is passed on along a chain with n-step returns."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from helpers.memory.buffers import n_step_return
from helpers.show.colours import BLUE, FAINT, GREEN, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import headline, panels, say, tint
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.plotting import WIDTH, label, legend_above

STATES = 12
REWARDS = np.tile(np.eye(STATES)[-1], 2)  # two episodes in a row, as a memory holds them
ENDS = REWARDS == 1
AHEAD = 3  # states of the next episode that are drawn


def plot_n_step(n: int = 3, sweeps: int = 2, gamma: float = 0.9, cut: bool = True) -> Figure:
    """How far the news of one reward has travelled along a chain of twelve states.

    The agent walks from state 0 to state 11 and on to the end, where it earns its only reward, 1.
    All values are 0 at first. A sweep sets each of them to its n-step target, computed from the
    values before the sweep: the rewards of up to n steps, and gamma^n times the value of the state
    after them, at the ring. Above: the values. Below: the window of each state's target; a square
    is the end of the episode, with nothing to come. Green is what the last sweep has changed.

    Args:
        n: how many steps a target looks ahead, 1 to 12.
        sweeps: how many there have been, 0 to 12.
        gamma: the discount, above 0, at most 1.
        cut: whether windows stop at the end of the episode. If not they run into the next one that
            the memory holds (vermillion), and values become too large: a common mistake.
    """
    truth = gamma ** np.arange(STATES - 1, -1, -1)
    before = values = np.zeros(STATES)
    last = n_step_sweep(values, n, gamma, cut)[1]
    for _ in range(sweeps):
        before, values = values, n_step_sweep(values, n, gamma, cut)[0]
    wrong = values > truth + 1e-9
    colours = np.select([wrong, values != before, values > 0], [VERMILLION, GREEN, BLUE], FAINT)
    wide = WIDTH - 0.72
    fig, (upper, lower) = panels(4.5, (0.62, 2.65, wide, 1.3), (0.62, 0.5, wide, 1.85))
    for ax in (upper, lower):
        ax.set_xlim(-0.6, STATES + AHEAD + 0.6)
        ax.axvspan(STATES - 1, STATES, color=tint(ORANGE, 0.2), lw=0, zorder=0)
        ax.axvspan(STATES + 0.5, 99, color="#F1F2F4", lw=0, zorder=0.1)
    _draw_values(upper, values, truth, colours)
    _draw_windows(lower, last, np.where(last >= STATES, VERMILLION, colours))
    headline(fig, _news(n, sweeps, values, truth, bool((last >= STATES).any())))
    return fig


def n_step_sweep(
    values: NDArray, n: int, gamma: float, cut: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The n-step target of each state (12,) from the values (12,), and the last step that it saw.

    Steps are counted along the memory: step i of the first episode leaves state i, and from 12 on
    they belong to the next episode.
    """
    states = np.arange(STATES)
    window = states[:, None] + np.arange(n)
    returns, lengths = n_step_return(REWARDS[window], ENDS[window] & cut, gamma)
    last = states + lengths - 1
    rest = np.where(ENDS[last], 0.0, values[(last + 1) % STATES])
    return returns + gamma**lengths * rest, last


def _draw_values(ax: Axes, values: NDArray, truth: NDArray, colours: NDArray) -> None:
    states = np.arange(STATES)
    ax.vlines(states, 0, values, color=colours, lw=22)
    marks = ax.hlines(truth, states - 0.38, states + 0.38, color=INK, lw=1.6, label="true value")
    kinds = {"new": GREEN, "older": BLUE, "too large": VERMILLION}
    handles = [Line2D([], [], color=c, lw=6, label=name) for name, c in kinds.items()]
    legend_above(ax, [marks, *handles])
    ax.set(ylim=(0, 1.5), xticks=[], yticks=[0, 0.5, 1])
    label(ax, y="value")
    middle = STATES + 0.5 + 0.5 * AHEAD
    say(ax, middle, 0.75, "the next episode\nin the buffer", 8.5, GREY)


def _draw_windows(ax: Axes, last: NDArray, colours: NDArray) -> None:
    """From each state to the one whose value is asked, or to the end."""
    states, ended = np.arange(STATES), ENDS[last]
    stops = last + 1 + (last >= STATES)  # the end takes a place between two episodes
    thick = np.where(colours == FAINT, 1.4, 3.0)
    ax.hlines(states, states, stops, color=colours, lw=thick)
    ax.scatter(stops[ended], states[ended], marker="s", s=26, color=colours[ended], zorder=3)
    rings = {"s": 26, "facecolors": "white", "edgecolors": colours[~ended], "lw": 1.6}
    ax.scatter(stops[~ended], states[~ended], marker="o", zorder=3, **rings)
    ax.set(ylim=(STATES - 0.4, -0.6))
    names = [*states, "end", *range(AHEAD)]
    ax.set_xticks(range(len(names)), names, fontsize=8.5)
    ax.tick_params(axis="x", length=0)
    ax.set_yticks([0, 3, 6, 9, 11])
    title = "each target: the rewards along the line, then the value at the ring"
    say(ax, STATES - 0.5, -1.25, "reward 1", 8.5, ORANGE)
    label(ax, title, "state", "target of state", size=9.5)


def _news(n: int, sweeps: int, values: NDArray, truth: NDArray, run_on: bool) -> str:
    if sweeps == 0:
        return "No sweep yet: the reward is in the buffer, and no value knows of it."
    done = f"After {sweeps} sweep{'s' * (sweeps > 1)}"
    worst = int(np.argmax(values - truth))
    if values[worst] > truth[worst] + 1e-9:
        said = f"state {worst} is said to be worth {values[worst]:.2f}, not {truth[worst]:.2f}"
        return f"Windows run into another episode. {done} {said}."
    if run_on:
        return f"Windows run into another episode. {done} no value shows it yet."
    done += f" of {n}-step targets"
    reached = int((values > 0).sum())
    if reached == STATES:
        alone = "" if n == 1 else f"; 1-step targets take {STATES} sweeps"
        return f"{done} all values are right{alone}."
    alone = "" if n == 1 else f"; 1-step targets reach {sweeps}"
    know = "knows" if reached == 1 else "know"
    return f"{done} {reached} of {STATES} values {know} of the reward{alone}."


def n_step_explorer() -> None:
    """`plot_n_step` with sliders for n, the number of sweeps and gamma, and a choice of windows."""
    explore(
        plot_n_step,
        alt="A chain of twelve states with a reward at its end: after two sweeps of 3-step targets "
        "the six states nearest to it have their true value, the others still have 0.",
        n=Slider(1, STATES, 3, 1, "n (steps)"),
        sweeps=Slider(0, STATES, 2, 1, "sweeps"),
        gamma=Slider(0.5, 1.0, 0.9, 0.05, "discount γ"),
        cut=Choice({"stop at the end": True, "run on": False}, True, "windows"),
    )
