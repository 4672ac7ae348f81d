"""Lesson 07: PPO's clipped objective over the ratio, for an action that was good or bad."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DASHES, GREY, INK, ORANGE, SHORT, VERMILLION
from helpers.show.figures.drawing import headline, note, say, signed, tint
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, margins, new_figure

RATIOS = np.linspace(0, 2, 401)
LIMITS = np.array([-0.35, 3.2])  # of the good action's panel; the bad one's is its mirror


def clipped_objective(ratio: NDArray, advantage: float, clip: float) -> NDArray[np.float64]:
    """min(ratio A, clip(ratio, 1 - clip, 1 + clip) A): Schulman et al. 2017, equation 7."""
    return np.minimum(ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage)


def has_gradient(ratio: float, advantage: float, clip: float) -> bool:
    """Whether the gradient of the clipped objective is not 0."""
    return ratio < 1 + clip if advantage > 0 else ratio > 1 - clip


def plot_clip(ratio: float = 1.5, advantage: float = 1.0, clip: float = 0.2) -> Figure:
    """The objective of one action over its ratio: left a good action, right one just as bad.

    Thin lines are the two products; the thick line is the smaller one, which counts.

    Args:
        ratio: how probable the action is now, divided by how probable it was: the dots.
        advantage: how much better than expected the good action turned out, and how much worse the
            bad one; above 0.
        clip: epsilon.
    """
    fig, panels = new_figure(2, height=3.3, layout=None)
    margins(fig, top=0.98, between=0.75)
    gradients = [has_gradient(ratio, sign * advantage, clip) for sign in (1, -1)]
    headline(fig, _what_is_to_be_seen(*gradients))
    for ax, sign, name in zip(panels, (1, -1), ("good", "bad"), strict=True):
        _draw(ax, ratio, sign * advantage, clip)
        label(ax, f"A {name} action, A = {signed(sign * advantage, 1)}", "ratio", size=9.5)
    label(panels[0], y="objective")
    fig.legend(
        *panels[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.004, 0.91),
        ncols=4, frameon=False, fontsize=9, labelcolor=GREY,
    )  # fmt: skip
    return fig


def _draw(ax: Axes, ratio: float, advantage: float, clip: float) -> None:
    ax.axvspan(1 - clip, 1 + clip, color=BLUE, alpha=0.08, lw=0)
    _name_what_is_outside(ax, advantage > 0, clip)
    objective = clipped_objective(RATIOS, advantage, clip)
    ax.plot(RATIOS, objective, color=tint(BLUE, 0.55), lw=4.5, label="the smaller one: it counts")
    ax.plot(RATIOS, RATIOS * advantage, color=INK, lw=1.4, ls=DASHES, label="ratio · A")
    inside = np.clip(RATIOS, 1 - clip, 1 + clip)
    ax.plot(RATIOS, inside * advantage, color=ORANGE, lw=1.4, ls=SHORT, label="clip(ratio) · A")
    height = clipped_objective(np.array(ratio), advantage, clip)
    ax.plot([ratio], [height], "o", color=VERMILLION, ms=8, clip_on=False, label="this action now")
    ax.set(xlim=(0, 2), ylim=LIMITS if advantage > 0 else -LIMITS[::-1])
    gradient = signed(advantage if has_gradient(ratio, advantage, clip) else 0, 1)
    note(ax, 0.05, 0.92 if advantage > 0 else 0.08, f"gradient at the dot: {gradient}")


def _name_what_is_outside(ax: Axes, good: bool, clip: float) -> None:
    """On one side of the range the objective is flat, on the other its gradient leads back."""
    flat, back = ((1 + clip, 2), (0, 1 - clip)) if good else ((0, 1 - clip), (1 + clip, 2))
    ax.axvspan(*flat, color=GREY, alpha=0.12, lw=0)
    below = -0.18 if good else 0.18  # where no line comes
    for side, name in ((flat, "gradient 0"), (back, "pushed back")):
        say(ax, sum(side) / 2, below, name, 8.5)


def _what_is_to_be_seen(good: bool, bad: bool) -> str:
    if good and bad:
        return "Both are pushed on: the good action up, the bad one down."
    if good:
        return "The bad action is rare enough: only the good one is pushed, back up."
    return "The good action is frequent enough: only the bad one is pushed, back down."


def clip_explorer() -> None:
    """`plot_clip` with sliders for ratio, advantage and epsilon."""
    explore(
        plot_clip,
        alt="The clipped objective is flat above 1 + ε if the action is good, below 1 - ε if bad.",
        ratio=Slider(0.0, 2.0, 1.5, 0.05, "ratio"),
        advantage=Slider(0.1, 1.5, 1.0, 0.1, "size of the advantage"),
        clip=Slider(0.05, 0.5, 0.2, 0.05, "ε"),
    )
