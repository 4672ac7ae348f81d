"""What the tests of figures share: how to find things in a figure, and whether its texts fit."""

from __future__ import annotations

import itertools
from functools import cache
from types import SimpleNamespace

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from helpers.agents import DDPG
from helpers.show.colours import GREY
from helpers.show.figures.drawing import tint

RESULTS = {  # as a lab stores them
    "made by": "course.py study",
    "full": {
        "steps": [0, 1000, 2000],
        "returns": [[0, 50, 100], [0, 60, 90], [10, 40, 95], [0, 50, 100]],
        "evaluations": [100, 90, 95, 100],
        "explanation": "Everything on.",
    },
    "no target": {
        "steps": [0, 1000, 2000],
        "returns": [[0, 5, 10], [0, 6, 9], [1, 4, 30], [0, 5, 10]],
        "evaluations": [10, 9, 30, 10],
        "explanation": "The critic chases its own tail. " * 8,
    },
    "no noise": {"steps": [0, 2000], "returns": [[0, 70], [0, 80]], "evaluations": [70, 80]},
}


@cache
def fresh() -> DDPG:
    """An untrained agent: its values are small numbers, which are long texts."""
    return DDPG("Pendulum-v1", seed=0)


@cache
def lively() -> DDPG:
    """Untrained, with weights so large that actions and values differ from state to state."""
    agent = DDPG("Pendulum-v1", seed=0)
    for network in (agent.actor, agent.critic):
        torch.nn.init.uniform_(network.output.weight, -0.5, 0.5, generator=torch.manual_seed(1))
    return agent


def imagined(place: float = 0.3, action: float = 0.1, critic=None):
    """An agent whose critic is -2 (a - place)^2 - 5 everywhere, and whose actor does not care."""

    def parabola(obs, a):
        return -2 * (a[:, 0] - place) ** 2 - 5 + 0 * obs[:, 0]

    def actor(obs):
        return torch.full((len(obs), 1), action)

    return SimpleNamespace(actor=actor, critic=critic or parabola)


def sentence(fig: Figure) -> str:
    """The headline."""
    return fig.get_suptitle()


def curve(ax: Axes, colour: str) -> np.ndarray:
    """The longest line of that colour, shape (points, 2)."""
    return max((line.get_xydata() for line in ax.lines if line.get_color() == colour), key=len)


def dot(ax: Axes, colour: str, size: float) -> np.ndarray:
    """The place of the one marker of that colour and size."""
    [line] = [
        line
        for line in ax.lines
        if colour in (line.get_color(), line.get_markeredgecolor())
        and line.get_markersize() == size
        and line.get_marker() == "o"
    ]
    return line.get_xydata()[0]


def heights(collection) -> np.ndarray:
    """The upper ends of vertical lines."""
    return np.array(collection.get_segments())[:, 1, 1]


def texts(fig: Figure) -> list[Text]:
    """All texts that are drawn."""
    legends, found = [*fig.legends], [*fig.texts]
    for ax in fig.axes:
        found += [child for child in ax.get_children() if isinstance(child, Text)]
        legends += [ax.get_legend()] if ax.get_legend() else []
        if ax.axison:
            found += [ax.xaxis.label, ax.yaxis.label, *tick_labels(ax)]
    found += [text for legend in legends for text in legend.get_texts()]
    return [text for text in found if text.get_text() and text.get_visible()]


def tick_labels(ax: Axes) -> list[Text]:
    """Labels of the ticks within the limits: the others are not drawn."""
    return [
        text
        for axis, place in ((ax.xaxis, 0), (ax.yaxis, 1))
        for text in axis.get_ticklabels()
        if abs(text.get_position()[place] - np.mean(axis.get_view_interval()))
        <= np.ptp(axis.get_view_interval()) / 2
    ]


AHEAD = tint(GREY, 0.4)  # steps of the data flow that are yet to come: not to be read now


def contrast(text: Text) -> float:
    """Of a text's colour on white, as WCAG 2 counts it: 1 is nothing to be seen, 4.5 reads well."""
    parts = np.array(to_rgb(text.get_color()))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)


def apart(fig: Figure) -> None:
    """No text leaves the figure, touches another or is too pale (white stands on dark boxes)."""
    fig.draw_without_rendering()  # legends and ticks find their places
    renderer, boxes = FigureCanvasAgg(fig).get_renderer(), []
    for text in texts(fig):
        pale = contrast(text) < 4.5 and contrast(text) >= 1.1 and text.get_color() != AHEAD
        assert not pale, (sentence(fig), text)
        box = text.get_window_extent(renderer)
        assert fig.bbox.x0 <= box.x0, (sentence(fig), text)
        assert box.x1 <= fig.bbox.x1 + 1, (sentence(fig), text)
        assert fig.bbox.y0 <= box.y0, (sentence(fig), text)
        assert box.y1 <= fig.bbox.y1, (sentence(fig), text)
        boxes.append((text, box))
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), (sentence(fig), one, other)
