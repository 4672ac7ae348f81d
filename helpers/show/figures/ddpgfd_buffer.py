"""Lesson 04: the replay buffer with its demonstrations, the write pointer and an n-step window."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from helpers.show.colours import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import arrow, say, sheet, tint

DEMOS, PLACES = 6, 18
ENDS = (2, 5, 9, 11, 15)  # no window goes on behind these
POINTER = 12  # the next place to be written
WINDOW = (7, 10)  # of five steps asked for, cut at the end of the episode


def plot_buffer() -> Figure:
    """Eighteen places: six demonstrations, then the agent's own transitions, which go round."""
    fig, ax = sheet(7.4, 2.1)
    ax.set(xlim=(-0.7, PLACES + 0.7), ylim=(-2.0, 2.4))
    for place in range(PLACES):
        colour = GREEN if place < DEMOS else BLUE
        box = Rectangle((place + 0.04, 0), 0.92, 1, facecolor=tint(colour, 0.18), edgecolor=colour)
        ax.add_patch(box)
        say(ax, place + 0.5, 0.5, str(place), 8.5, INK)
    for place in ENDS:
        ax.plot([place + 1] * 2, [-0.12, 1.12], color=INK, lw=2.2)
    _bracket(ax, 0, DEMOS, 1.3, GREEN, "demonstrations: never overwritten")
    _bracket(ax, DEMOS, PLACES, 1.3, BLUE, "the agent's own: the newest replaces the oldest")
    _pointer(ax)
    start, stop = WINDOW
    ax.plot([start, start, stop, stop], [-0.2, -0.45, -0.45, -0.2], color=ORANGE, lw=2)
    say(ax, start, -0.85, "window of place 7: n = 5, k = 3", 9, ORANGE, "left")
    return fig


def _bracket(ax: Axes, start: float, stop: float, y: float, colour: str, words: str) -> None:
    ends = start + 0.1, stop - 0.1
    ax.plot([ends[0], *ends, ends[1]], [y, y + 0.2, y + 0.2, y], color=colour, lw=1.4)
    say(ax, (start + stop) / 2, y + 0.6, words, 9.5, colour)


def _pointer(ax: Axes) -> None:
    """Where the next transition goes, and the way back from the last place."""
    arrow(ax, (POINTER + 0.5, -0.9), (POINTER + 0.5, 0), VERMILLION, lw=1.4)
    say(ax, POINTER + 0.8, -0.7, "write pointer", 9, VERMILLION, "left")
    ax.plot([PLACES - 0.5, PLACES - 0.5, DEMOS + 0.5], [-0.1, -1.75, -1.75], color=GREY, lw=1.2)
    arrow(ax, (DEMOS + 0.5, -1.75), (DEMOS + 0.5, 0), lw=1.4)
    say(ax, 12, -1.45, "after place 17, on to place 6", 8.5, GREY)
