"""Lesson 03: the whole of TD3 as a picture of its data flow, step by step."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from helpers.show.colours import GREY, INK, SHORT
from helpers.show.figures.drawing import headline, round_box, sheet, tint
from helpers.show.figures.explore import Slider, explore
from helpers.show.figures.td3_steps import (
    ARROWS,
    BADGES,
    BOXES,
    ENTRIES,
    FLOW,
    JOINTS,
    REMARKS,
    STEPS,
    Box,
)


def plot_data_flow(step: int = 0) -> Figure:
    """TD3 as a picture of what goes where, in the order in which it happens.

    Vermillion is the actor, blue the critics, dashed their target networks, grey the data, orange
    the noise, green what the critics learn from.

    Args:
        step: what happens at this step stands out, what comes later is faint; 0 shows all
            fifteen alike.
    """
    fig, ax = sheet(*FLOW)
    once = "TD3: 1 and 2 happen once, 3 at every step, 4 to 15 are one update."
    headline(fig, f"{step} of {len(STEPS)}. {STEPS[step - 1].sentence}" if step else once)
    _draw_caption(ax, step)
    _draw_boxes(ax, [box for box in BOXES if box.group], step)
    _draw_arrows(ax, step)
    _draw_boxes(ax, [box for box in BOXES if not box.group], step)
    _draw_words(ax, step)
    _draw_badges(ax, step)
    return fig


def state_of(steps: Sequence[int], step: int) -> str:
    """How a thing that takes part in `steps` is drawn at `step`."""
    if step == 0:
        return "past"
    return "now" if step in steps else "past" if min(steps) < step else "ahead"


def _draw_boxes(ax: Axes, boxes: Sequence[Box], step: int) -> None:
    frames, fills, edges, widths, dashes = [], [], [], [], []
    for box in boxes:
        state = state_of(box.steps, step)
        light = 0.75 if box.dashed else 1.0
        line = {"now": 1.0, "past": light, "ahead": 0.25}[state]
        fill = {"now": 0.3, "past": 0.11, "ahead": 0.03}[state] * (0.35 if box.group else light)
        frames.append(round_box(box.x, box.y, box.width, box.height))
        fills.append(tint(box.colour, fill))
        edges.append(tint(box.colour, line))
        widths.append(2.4 if state == "now" and not box.group else 1.3)
        dashes.append((0, (4, 2.2)) if box.dashed else "-")
        y = box.y - box.height / 2 + 0.2 if box.group else box.y
        _say(ax, box.x, y, box.text, 8.5 if box.group else 10, state)
    _add(ax, PathCollection(frames, facecolors=fills, edgecolors=edges, lw=widths, ls=dashes))


def _add(ax: Axes, collection: Collection) -> None:
    """In the order of the calls, and not lines above patches."""
    ax.add_collection(collection, autolim=False)
    collection.set_zorder(2)


def _draw_arrows(ax: Axes, step: int) -> None:
    lines, heads, looks = [], [], []
    for arrow in ARROWS:
        state = state_of(arrow.steps, step)
        colour = tint(arrow.colour, 0.22) if state == "ahead" else arrow.colour
        wide, size = (2.8, 0.12) if state == "now" else (1.4, 0.09)  # points; inches
        points = np.array(arrow.points)
        first, way = (v / np.hypot(*v) for v in (points[1] - points[0], points[-1] - points[-2]))
        aside = np.array([-way[1], way[0]]) * 0.45 * size
        tip, back = points[-1].copy(), points[-1] - size * way
        heads.append([tip, back + aside, back - aside])
        points[-1] -= 0.9 * size * way
        bare = points.copy()
        bare[0] += 0.05 * first
        # In white first: a bridge over what the arrow crosses, but not over the box it leaves.
        lines += [bare, points]
        looks += [("white", wide + 3, "-"), (colour, wide, SHORT if arrow.dashed else "-")]
        if arrow.text:
            _say(ax, *arrow.at, arrow.text, 8.5, state)
    colours, widths, dashes = zip(*looks, strict=True)
    strokes = LineCollection(lines, colors=colours, lw=widths, ls=dashes, capstyle="butt")
    _add(ax, strokes)
    _add(ax, PolyCollection(heads, facecolors=colours[1::2], lw=0))


def _say(
    ax: Axes, x: float, y: float, text: str, size: float, state: str = "past", **more: Any
) -> None:
    colour = INK if state != "ahead" else tint(GREY, 0.4)
    look: dict = {"color": colour, "ha": "center", "va": "center", "linespacing": 1.25} | more
    ax.text(x, y, text, fontsize=size, **look)


def _draw_words(ax: Axes, step: int) -> None:
    for text, y in ENTRIES:
        _say(ax, 1.66, y, text, 9.5, state_of((4,), step), ha="right")
    for text, place, size, steps in REMARKS:
        _say(ax, *place, text, size, state_of(steps, step))
    for place, colour, steps in JOINTS:
        state = state_of(steps, step)
        edge = tint(colour, 0.25) if state == "ahead" else colour
        wide = 2.2 if state == "now" else 1.3
        ax.plot(*place, "o", ms=19, mew=wide, mec=edge, color="white")
        ax.plot(*place, "+", ms=9, mew=1.4, color=edge)


def _draw_badges(ax: Axes, step: int) -> None:
    for state, size, fill, edge, ink in (
        ("now", 17, INK, INK, "white"),
        ("past", 14.5, "white", GREY, INK),
        ("ahead", 14.5, "white", tint(GREY, 0.3), tint(GREY, 0.4)),
    ):
        shown = [badge for badge in BADGES if state_of(badge[:1], step) == state]
        places = np.array([place for _, *place in shown]).reshape(-1, 2)
        ax.plot(*places.T, "o", ms=size, mew=1, mec=edge, color=fill)
        for number, x, y in shown:
            _say(ax, x, y, str(number), 8, color=ink, linespacing=1)


def _draw_caption(ax: Axes, step: int) -> None:
    x, y = 7.1, 4.35
    _add(ax, PathCollection([round_box(x, y, 4.4, 0.98)], facecolors="#F5F6F8", lw=0))
    if step == 0:
        text = "actor and critics learn by gradients\ndashed: target networks, which follow them"
        _say(ax, x, y, text, 9.5, linespacing=1.7)
        return
    now = STEPS[step - 1]
    _add(ax, PathCollection([_formula(now.formula, x, y + 0.12)], facecolors=INK, lw=0))
    _say(ax, x, y - 0.31, now.code, 8.5, color=GREY, family="monospace")


@lru_cache(maxsize=len(STEPS))
def _formula(text: str, x: float, y: float) -> Path:
    """As outlines, in inches: matplotlib reads a formula anew for each figure, which takes long."""
    path = TextPath((0, 0), text, size=14 / 72, prop=FontProperties(math_fontfamily="cm"))
    points = path.vertices[path.codes != Path.CLOSEPOLY]  # a letter's extremes are among them
    shift = np.array([x, y]) - (points.min(axis=0) + points.max(axis=0)) / 2
    return Path(path.vertices + shift, path.codes)


def data_flow_explorer() -> None:
    """`plot_data_flow` with a slider and buttons that walk through the fifteen steps."""
    explore(
        plot_data_flow,
        alt="The data flow of TD3: networks and their copies, acting, replay, smoothed and clipped "
        "targets, the critics' loss, the delayed actor and the soft updates, in fifteen steps.",
        step=Slider(0, len(STEPS), 0, 1, "step", buttons=True),
    )
