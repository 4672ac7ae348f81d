"""Lesson 01: a softmax policy, the payoffs of its actions, and an update uphill."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.colours import BLUE, FAINT, GREEN, INK, ORANGE, SKY
from helpers.show.figures.drawing import signed, with_commas
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.plotting import label, legend_above, margins, new_figure


def softmax(logits: NDArray) -> NDArray[np.float64]:
    """Probabilities in proportion to exp(logits), shape `(actions,)`."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def policy_gradient(logits: NDArray, payoffs: NDArray) -> NDArray[np.float64]:
    """dJ/dlogits of J = sum_a pi(a) Q(a): pi(a) (Q(a) - sum_b pi(b) Q(b)), shape `(actions,)`.

    It sums to zero, and a constant added to all payoffs drops out: a baseline is free.
    Source: Sutton and Barto 2018, chapter 13 (softmax in action preferences, baselines).
    """
    pi = softmax(logits)
    return pi * (payoffs - pi @ payoffs)


def plot_policy_gradient(
    logits: ArrayLike = (0.0, 0.0, 0.0), payoffs: ArrayLike = (1.0, 0.0, -1.0), step: float = 1.0
) -> Figure:
    """A softmax policy over a few actions, their payoffs, and one update uphill.

    Args:
        logits: shape `(actions,)`, the policy's parameters.
        payoffs: shape `(actions,)`, Q(a).
        step: the learning rate of the update drawn.
    """
    logits, payoffs = np.asarray(logits, float), np.asarray(payoffs, float)
    gradient = policy_gradient(logits, payoffs)
    pi, after = softmax(logits), softmax(logits + step * gradient)
    fig, axes = new_figure(3, height=2.9, layout=None)
    margins(fig, left=0.4, right=0.1, bottom=0.42, between=0.4)
    _draw_payoffs(axes[0], payoffs, pi)
    _draw_gradient(axes[1], gradient)
    _draw_policies(axes[2], pi, after)
    for ax in axes:
        ax.set_xlim(-0.6, len(pi) - 0.4)
        ax.set_xticks(range(len(pi)), [f"action {a + 1}" for a in range(len(pi))])
        ax.grid(axis="x", visible=False)
    return fig


def _draw_payoffs(ax: Axes, payoffs: NDArray, pi: NDArray) -> None:
    actions = range(len(payoffs))
    ax.vlines(actions, 0, payoffs, color=ORANGE, lw=22)
    ax.axhline(0, color=FAINT, lw=1)
    mean = float(pi @ payoffs)
    said = f"mean Σ π Q = {with_commas(mean, 2)}"
    ax.axhline(mean, color=INK, lw=1.3, ls=(0, (4, 3)), label=said)
    ax.set_ylim(-5.5, 7)
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    label(ax, "payoff Q(a)", legend="upper right")


def _draw_gradient(ax: Axes, gradient: NDArray) -> None:
    ax.axhline(0, color=FAINT, lw=1)
    reach = max(0.5, 1.35 * np.abs(gradient).max())
    actions = np.arange(len(gradient))
    ax.vlines(actions, 0, gradient, color=GREEN, lw=3)
    moved = np.sign(np.round(gradient, 2))  # what reads as 0.00 points nowhere
    # Markers: a FancyArrow takes ten times as long.
    for sign, head in ((1, "^"), (-1, "v"), (0, "o")):
        a = actions[moved == sign]
        ax.plot(a, gradient[a], head, ms=9, mew=0, color=GREEN)
    for a, g in enumerate(gradient):
        text, above = signed(g), g > 0
        place = g + (0.09 if above else -0.09) * reach
        ax.text(a, place, text, ha="center", va="bottom" if above else "top", fontsize=9, color=INK)
    ax.set_ylim(-reach, reach)
    ax.tick_params(axis="y", length=0, labelleft=False)  # the numbers stand at the arrows
    label(ax, "∂J/∂logit = π(a) (Q(a) − Σ π Q)")


def _draw_policies(ax: Axes, before: NDArray, after: NDArray) -> None:
    actions = np.arange(len(before))
    ax.vlines(actions - 0.18, 0, before, color=SKY, lw=15, alpha=0.6, label="π(a) now")
    ax.vlines(actions + 0.18, 0, after, color=BLUE, lw=15, label="after one update")
    for a, p in enumerate(np.maximum(before, after)):
        text = f"{100 * after[a]:.0f} %"
        ax.text(a + 0.18, p + 0.02, text, ha="center", fontsize=9, color=INK)
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.5, 1])
    legend_above(ax)


def softmax_explorer() -> None:
    """`plot_policy_gradient` with sliders: three payoffs, a constant added to all, the step."""

    def draw(
        policy: Sequence[float], q1: float, q2: float, q3: float, constant: float, step: float
    ) -> Figure:
        return plot_policy_gradient(policy, np.array([q1, q2, q3]) + constant, step)

    policies = {
        "undecided": (0.0, 0.0, 0.0),
        "prefers action 1": (1.2, 0.0, 0.0),
        "nearly sure of action 1": (3.5, 0.0, 0.0),
    }
    explore(
        draw,
        alt="A policy of three actions: an update raises the logits of those above the mean.",
        policy=Choice(policies, policies["undecided"], "policy now"),
        q1=Slider(-2.0, 2.0, 1.0, 0.1, "payoff 1"),
        step=Slider(0.0, 5.0, 1.0, 0.1, "size of the update"),
        q2=Slider(-2.0, 2.0, 0.0, 0.1, "payoff 2"),
        constant=Slider(-3.0, 3.0, 0.0, 0.1, "add to all"),
        q3=Slider(-2.0, 2.0, -1.0, 0.1, "payoff 3"),
    )
