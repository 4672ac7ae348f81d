"""Lesson 01: a rollout of several environments, the ends of episodes, and what is masked there."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from helpers.show.colours import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import arrow, say, sheet, tint

STEPS = 8
TERMINATED, TRUNCATED = {(0, 4)}, {(1, 2)}  # (environment, step)
ENVS = 3


def plot_rollout() -> Figure:
    """T = 8 steps of N = 3 environments: a box is a step, an arrow a part of the backward sum."""
    fig, ax = sheet(8.2, 3.2)
    ax.set(xlim=(-2.1, 9.7), ylim=(3.95, -0.85))
    for env in range(ENVS):
        say(ax, -0.5, env, f"environment {env}", 9.5, GREY, ha="right")
        colour = BLUE
        for t in range(STEPS):
            is_end = (env, t) in TERMINATED | TRUNCATED
            kind = VERMILLION if (env, t) in TERMINATED else ORANGE
            edge = kind if is_end else colour
            box = Rectangle((t - 0.36, env - 0.3), 0.72, 0.6, lw=2.2 if is_end else 0.8)
            box.set(facecolor=tint(colour, 0.18), edgecolor=edge)
            ax.add_patch(box)
            say(ax, t, env, f"δ{'₀₁₂₃₄₅₆₇'[t]}", 10.5)
            if is_end:
                colour = GREEN  # the next episode begins in the next column
            elif t + 1 < STEPS:
                arrow(ax, (t + 0.64, env), (t + 0.38, env), lw=1.2, shrinkA=2, shrinkB=2)
    for t in range(STEPS):
        say(ax, t, -0.62, f"t = {t}", 9, GREY)
    say(ax, STEPS - 0.15, 1, "In every row V(s₈)\nstands for the rest", 9, INK, ha="left")
    for y, colour, text in (
        (2.85, VERMILLION, "terminated: the future is worth 0, and the sum stops"),
        (3.25, ORANGE, "truncated: V(final observation) counts in δ, and the sum stops"),
    ):
        ax.add_patch(
            Rectangle((-0.36, y - 0.12), 0.3, 0.24, facecolor="white", edgecolor=colour, lw=2)
        )
        say(ax, 0.1, y, text, 9.5, INK, ha="left")
    say(ax, -0.21, 3.65, "←", 12, GREY)
    added = "the next advantage is added, times γλ; no arrow leads to another episode"
    say(ax, 0.1, 3.65, added, 9.5, INK, ha="left")
    return fig
