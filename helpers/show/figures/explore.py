"""Figures with sliders, and the ones that the lessons use.

Each explorer is a plain function `plot_...(...) -> Figure` with sliders in front, by `explore`.
Readers without widgets see the figure at its default settings and can call the function.
"""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.notebook import in_kernel, png_bundle, publish
from helpers.show.plotting import (
    BLUE,
    DPI,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SKY,
    VERMILLION,
    WIDTH,
    band,
    label,
    legend_above,
    margins,
    new_figure,
    thousands,
    to_png,
)
from helpers.training.statistics import interquartile_mean

__all__ = [
    "Choice", "Slider", "discount_explorer", "explore", "gae_explorer", "plot_discount",
    "plot_gae_weights", "plot_policy_gradient", "plot_results", "results_explorer",
    "softmax_explorer",
]  # fmt: skip


# --- Any figure with controls -----------------------------------------------------------------


@dataclass(frozen=True)
class Slider:
    """A number between `lo` and `hi`; whole numbers when all four are whole."""

    lo: float
    hi: float
    default: float
    step: float | None = None
    label: str = ""

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        whole = all(isinstance(v, int) for v in (self.lo, self.hi, self.default, self.step or 1))
        step = self.step or (1 if whole else (self.hi - self.lo) / 50)
        if not whole:
            decimals = max(0, math.ceil(-math.log10(step) - 1e-9))
            style["readout_format"] = f".{decimals}f"
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return kind(
            value=self.default,
            min=self.lo,
            max=self.hi,
            step=step,
            description=self.label or name,
            continuous_update=True,
            **style,
        )


@dataclass(frozen=True)
class Choice:
    """One of several: a sequence of values, or a mapping from what is shown to the value."""

    options: Sequence[Any] | Mapping[str, Any]
    default: Any = None
    label: str = ""

    def __post_init__(self) -> None:
        if self.default is None:
            values = self.options.values() if isinstance(self.options, Mapping) else self.options
            object.__setattr__(self, "default", next(iter(values)))

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        options = self.options
        if isinstance(options, Mapping):
            options = list(options.items())
        return ipywidgets.Dropdown(
            options=options, value=self.default, description=self.label or name, **style
        )


def explore(
    draw: Callable[..., Figure],
    alt: str = "A figure at the default settings of its sliders.",
    **controls: Slider | Choice,
) -> None:
    """Show `draw(**settings)` with a control for each setting; moving one draws it again.

        explore(plot_discount, gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"))

    `draw` should take less than about 60 ms, so that the figure follows the hand. Without widgets
    (no kernel state, no ipywidgets) the page shows the figure at the default settings.

    Raises:
        Exception: whatever `draw` raises at the default settings. Later errors are shown below
            the controls.
    """
    figure = draw(**{name: control.default for name, control in controls.items()})
    if not in_kernel():
        return
    png, width = to_png(figure), round(figure.get_figwidth() * DPI)
    data, metadata = png_bundle(png, alt, width)
    with contextlib.suppress(ImportError):  # without ipywidgets the picture is all there is
        data |= view(_controlled(draw, controls, png, width))
    publish(data, metadata)


def view(widget: Any) -> dict[str, Any]:
    """The live half of a bundle. It is written out here since ipywidgets 7 and 8 differ in it."""
    return {
        "application/vnd.jupyter.widget-view+json": {
            "version_major": 2,
            "version_minor": 0,
            "model_id": widget.model_id,
        }
    }


def _controlled(draw: Callable[..., Figure], controls: Mapping, png: bytes, width: int) -> Any:
    """Controls in one or two columns above an image that follows them."""
    import ipywidgets

    each = width // 2 - 12 if len(controls) > 1 else width * 2 // 3
    wide = 18 + 7.5 * max(len(c.label or name) for name, c in controls.items())
    inputs = {
        name: control.widget(
            name,
            style={"description_width": f"{wide:.0f}px"},
            layout=ipywidgets.Layout(width=f"{each}px"),
        )
        for name, control in controls.items()
    }
    image = ipywidgets.Image(
        value=png, format="png", layout=ipywidgets.Layout(width=f"{width}px", max_width="100%")
    )
    problem = ipywidgets.HTML()

    def redraw(_: Any) -> None:
        # Drawn here and now: the page holds back further moves of a slider until this handler
        # returns, and then sends only the newest, so that pictures never queue up.
        try:
            figure = draw(**{name: w.value for name, w in inputs.items()})
            image.value = to_png(figure, compress_level=1)
            problem.value = ""
        except Exception as error:
            text = escape(f"{type(error).__name__}: {error}")
            problem.value = f'<span style="color: {VERMILLION}">{text}</span>'

    for control in inputs.values():
        control.observe(redraw, names="value")
    row = ipywidgets.Layout(flex_flow="row wrap", width=f"{width}px", max_width="100%")
    return ipywidgets.VBox([ipywidgets.Box(list(inputs.values()), layout=row), image, problem])


# --- Discounting ------------------------------------------------------------------------------


def plot_discount(gamma: float = 0.9, horizon: int = 60) -> Figure:
    """The weights gamma^k that a return gives to future rewards, and how far it looks.

    All weights together are 1 / (1 - gamma); as many steps, the effective horizon, hold
    1 - gamma^(1 / (1 - gamma)) of them, close to 1 - 1/e = 63 % whatever gamma is.

    Args:
        gamma: in [0, 1).
        horizon: how many future rewards to draw.
    """
    if not 0 <= gamma < 1:
        raise ValueError(f"gamma must lie in [0, 1), not {gamma}: at 1 all rewards weigh the same.")
    exact = 1 / (1 - gamma)
    far = int(exact + 0.5)  # whole steps to speak of
    k = np.arange(horizon)
    weights = np.power(float(gamma), k)
    fig, ax = new_figure(height=2.9, layout=None)
    margins(fig)
    thick = 0.72 * 72 * (WIDTH - 0.8) / horizon
    ax.vlines(k, 0, weights, color=np.where(k < far, BLUE, SKY), lw=thick, alpha=0.9)
    ax.axvline(exact - 0.5, color=VERMILLION, lw=1.4, ls=(0, (5, 3)))
    steps = "1 step" if far == 1 else f"{far} steps"
    note = f"effective horizon 1 / (1 − γ) = {exact:.3g}"
    if far > horizon:
        note += ", beyond the right edge"
    left = far < 0.55 * horizon
    ax.text(
        far + 0.2 if left else min(far, horizon) - 1.5,
        1.03,
        note,
        color=VERMILLION,
        fontsize=9.5,
        ha="left" if left else "right",
        va="top",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2},
    )
    share = 100 * (1 - gamma**far)
    title = f"γ = {gamma:g}: the next {steps} carry {share:.0f} % of all weight"
    label(ax, title, "steps into the future, k", "weight γᵏ of that reward")
    ax.set(xlim=(-1, horizon), ylim=(0, 1.08))
    return fig


def discount_explorer(horizon: int = 60) -> None:
    """`plot_discount` with a slider for gamma."""

    def draw(gamma: float) -> Figure:
        return plot_discount(gamma, horizon)

    explore(
        draw,
        alt="Weights of future rewards at discount 0.9: they fade within about ten steps.",
        gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"),
    )


# --- The policy gradient ----------------------------------------------------------------------


def softmax(logits: ArrayLike) -> NDArray[np.float64]:
    """Probabilities in proportion to exp(logits), shape `(actions,)`."""
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def policy_gradient(logits: ArrayLike, advantages: ArrayLike) -> NDArray[np.float64]:
    """dJ/dlogits of J = sum_a pi(a) A(a): pi(a) (A(a) - sum_b pi(b) A(b)), shape `(actions,)`.

    It sums to zero, and a constant added to all advantages drops out: a baseline is free.
    Source: Sutton and Barto 2018, chapter 13 (softmax in action preferences, baselines).
    """
    pi, advantages = softmax(logits), np.asarray(advantages, dtype=np.float64)
    return pi * (advantages - pi @ advantages)


def plot_policy_gradient(
    logits: ArrayLike = (0.0, 0.0, 0.0),
    advantages: ArrayLike = (1.0, 0.0, -1.0),
    step: float = 1.0,
) -> Figure:
    """A softmax policy over a few actions, their advantages, and one step of gradient ascent.

    Args:
        logits: shape `(actions,)`, the policy's parameters.
        advantages: shape `(actions,)`, A(a).
        step: the learning rate of the step drawn.
    """
    logits, advantages = np.asarray(logits, float), np.asarray(advantages, float)
    gradient = policy_gradient(logits, advantages)
    pi, after = softmax(logits), softmax(logits + step * gradient)
    fig, axes = new_figure(3, height=2.9, layout=None)
    margins(fig, left=0.4, right=0.1, bottom=0.42, between=0.4)
    _draw_advantages(axes[0], advantages, pi)
    _draw_gradient(axes[1], gradient)
    _draw_policies(axes[2], pi, after)
    for ax in axes:
        ax.set_xlim(-0.6, len(pi) - 0.4)
        ax.set_xticks(range(len(pi)), [f"action {a + 1}" for a in range(len(pi))])
        ax.grid(axis="x", visible=False)
    return fig


def _draw_advantages(ax: Any, advantages: NDArray, pi: NDArray) -> None:
    actions = range(len(advantages))
    ax.vlines(actions, 0, advantages, color=ORANGE, lw=22)
    ax.axhline(0, color="#C4C9CF", lw=1)
    mean = float(pi @ advantages)
    ax.axhline(mean, color=INK, lw=1.3, ls=(0, (4, 3)), label=f"Σ π(b) A(b) = {mean:.2f}")
    reach = max(2.2, 1.1 * np.abs(advantages).max())
    ax.set_ylim(-reach, 1.25 * reach)
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    label(ax, "advantage A(a)", legend="upper right")


def _draw_gradient(ax: Any, gradient: NDArray) -> None:
    ax.axhline(0, color="#C4C9CF", lw=1)
    reach = max(0.5, 1.35 * np.abs(gradient).max())
    actions = np.arange(len(gradient))
    ax.vlines(actions, 0, gradient, color=GREEN, lw=3)
    moved = np.sign(np.round(gradient, 2))  # what reads as 0.00 points nowhere
    # Markers: a FancyArrow takes ten times as long.
    for sign, head in ((1, "^"), (-1, "v"), (0, "o")):
        a = actions[moved == sign]
        ax.plot(a, gradient[a], head, ms=9, mew=0, color=GREEN)
    for a, g in enumerate(gradient):
        text, above = f"{g:+.2f}".replace("-", "−"), g > 0
        place = g + (0.09 if above else -0.09) * reach
        ax.text(a, place, text, ha="center", va="bottom" if above else "top", fontsize=9, color=INK)
    ax.set_ylim(-reach, reach)
    ax.tick_params(axis="y", length=0, labelleft=False)  # the numbers stand at the arrows
    label(ax, "∂J/∂logit = π(a) (A(a) − Σ π A)")


def _draw_policies(ax: Any, before: NDArray, after: NDArray) -> None:
    actions = np.arange(len(before))
    ax.vlines(actions - 0.18, 0, before, color=SKY, lw=15, alpha=0.6, label="π(a) now")
    ax.vlines(actions + 0.18, 0, after, color=BLUE, lw=15, label="after one step")
    for a, p in enumerate(np.maximum(before, after)):
        text = f"{100 * after[a]:.0f} %"
        ax.text(a + 0.18, p + 0.02, text, ha="center", fontsize=9, color=INK)
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.5, 1])
    legend_above(ax)


def softmax_explorer() -> None:
    """`plot_policy_gradient` with sliders: three advantages, a constant added to all, the step."""

    def draw(
        policy: Sequence[float], a1: float, a2: float, a3: float, constant: float, step: float
    ) -> Figure:
        return plot_policy_gradient(policy, np.array([a1, a2, a3]) + constant, step)

    policies = {
        "undecided": (0.0, 0.0, 0.0),
        "prefers action 1": (1.2, 0.0, 0.0),
        "nearly sure of action 1": (3.5, 0.0, 0.0),
    }
    explore(
        draw,
        alt="A policy of three actions: a gradient step makes those with advantage likelier.",
        policy=Choice(policies, label="policy now"),
        a1=Slider(-2.0, 2.0, 1.0, 0.1, "advantage 1"),
        step=Slider(0.0, 5.0, 1.0, 0.1, "step size"),
        a2=Slider(-2.0, 2.0, 0.0, 0.1, "advantage 2"),
        constant=Slider(-3.0, 3.0, 0.0, 0.1, "add to all"),
        a3=Slider(-2.0, 2.0, -1.0, 0.1, "advantage 3"),
    )


# --- GAE --------------------------------------------------------------------------------------


def plot_gae_weights(gamma: float = 0.99, lam: float = 0.9, n: int = 5, steps: int = 30) -> Figure:
    """Two ways to look at GAE(lambda): weights of TD errors, weights of n-step advantages.

    Left: GAE gives the TD error delta_{t+l} the weight (gamma lambda)^l; the n-step advantage
    gives gamma^l for l < n and nothing beyond. Right: GAE is the mean of all n-step advantages,
    each with weight (1 - lambda) lambda^(n-1). Source: Schulman et al. 2016, equation 16.
    """
    fig, (left, right) = new_figure(2, height=2.9, layout=None)
    margins(fig, between=0.85)
    ell, thick = np.arange(steps), 0.6 * 72 * 3 / steps
    left.vlines(ell, 0, np.power(gamma * lam, ell), color=BLUE, lw=thick, label=f"GAE, λ = {lam:g}")
    edges = np.r_[np.arange(n) - 0.5, n - 0.5, n - 0.5]
    heights = np.r_[gamma ** np.arange(n), gamma ** (n - 1), 0]
    left.plot(edges, heights, color=VERMILLION, lw=1.8, label=f"{n}-step advantage")
    left.set(xlim=(-1, steps), ylim=(0, 1.05))
    label(left, "", "steps ahead, l", "weight of the TD error δ(t+l)")
    legend_above(left)

    ks = np.arange(1, steps + 1)
    mixture = (1 - lam) * np.power(float(lam), ks - 1)
    right.vlines(ks, 0, mixture, color=np.where(ks == n, VERMILLION, BLUE), lw=thick)
    right.set(xlim=(0, steps + 1), ylim=(0, max(0.05, 1.15 * mixture.max())))
    label(right, "GAE as a mix of n-step advantages", "n", "weight (1 − λ) λⁿ⁻¹")
    mean = "all weight on n → ∞" if lam == 1 else f"mean n = 1 / (1 − λ) = {1 / (1 - lam):.1f}"
    for y, text, colour in (
        (0.9, mean, INK),
        (0.79, f"n = {n} has {100 * (1 - lam) * lam ** (n - 1):.1f} %", VERMILLION),
    ):
        right.text(0.97, y, text, transform=right.transAxes, ha="right", fontsize=9.5, color=colour)
    return fig


def gae_explorer() -> None:
    """`plot_gae_weights` with sliders for gamma, lambda and n."""
    explore(
        plot_gae_weights,
        alt="GAE's weights fade smoothly with the distance; an n-step advantage cuts off at n.",
        lam=Slider(0.0, 1.0, 0.9, 0.01, "GAE's λ"),
        n=Slider(1, 30, 5, 1, "n of n-step"),
        gamma=Slider(0.8, 1.0, 0.99, 0.01, "discount γ"),
    )


# --- Results of several seeds -----------------------------------------------------------------


def plot_results(
    results: Mapping[str, Mapping[str, Any]],
    variant: str | None = None,
    baseline: str | None = None,
    bar: float | None = None,
) -> Figure:
    """One variant beside the baseline: learning curves, final scores of every seed, a sentence.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals (Agarwal et al.
    2021); a dot on the right is one seed's evaluation after training.

    Args:
        results: variant -> {"steps": `(points,)`, "returns": `(seeds, points)` of training,
            "evaluations": `(seeds,)`, "explanation": a sentence}. Other entries (the command that
            made the file, ...) are passed over.
        variant, baseline: keys of `results`; by default the second and the first.
        bar: the return at which the task counts as learned: a dashed line.
    """
    runs = _runs(results)
    names = list(runs)
    baseline = names[0] if baseline is None else baseline
    variant = next((n for n in names if n != baseline), baseline) if variant is None else variant
    shown = list(dict.fromkeys([baseline, variant]))
    fig, (curves, finals) = new_figure(2, height=3.8, layout=None, width_ratios=[2.6, 1])
    margins(fig, bottom=1.2, between=0.55)
    for i, name in enumerate(shown):
        colour = BLUE if name == baseline else VERMILLION
        band(curves, runs[name]["steps"], runs[name]["returns"], name, colour)
        _draw_finals(finals, i, np.asarray(runs[name]["evaluations"]), colour)
    for ax in (curves, finals):
        if bar is not None:
            ax.axhline(bar, color=GREY, lw=1.2, ls=(0, (5, 3)))
    thousands(curves)
    seeds = len(runs[variant]["returns"])
    label(curves, f"training return, {seeds} seeds", "environment steps", legend=True)
    label(finals, "evaluation at the end", "a dot is a seed")
    finals.set(xlim=(-0.6, 1.6), ylim=curves.get_ylim())
    finals.set_xticks([])
    sentence = textwrap.fill(str(runs[variant].get("explanation", "")), 98, max_lines=3)
    fig.text(0.085, 0.16, sentence, fontsize=9.5, color=INK, va="top", linespacing=1.4)
    return fig


def _draw_finals(ax: Any, place: int, scores: NDArray, colour: str) -> None:
    spread = np.linspace(-0.2, 0.2, len(scores)) if len(scores) > 1 else np.zeros(1)
    ax.plot(place + spread, scores, "o", ms=5, mew=0, alpha=0.6, color=colour)
    ax.hlines(interquartile_mean(scores), place - 0.3, place + 0.3, color=colour, lw=2)


def _runs(results: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    runs = {k: v for k, v in results.items() if isinstance(v, Mapping) and "returns" in v}
    if not runs:
        raise ValueError('results needs at least one variant with "steps" and "returns".')
    return runs


def results_explorer(
    results: Mapping[str, Mapping[str, Any]],
    baseline: str | None = None,
    bar: float | None = None,
) -> None:
    """`plot_results` with a choice of the variant that is compared with the baseline."""
    names = list(_runs(results))
    baseline = names[0] if baseline is None else baseline

    def draw(variant: str) -> Figure:
        return plot_results(results, variant, baseline, bar)

    others = [n for n in names if n != baseline] or [baseline]
    explore(
        draw,
        alt=f"Learning curves of {baseline} and {others[0]}, several seeds each.",
        variant=Choice(others, label=f"{baseline} against"),
    )
