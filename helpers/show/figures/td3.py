"""The figures of lesson 03: the bias of a maximum, smoothing, the whole of TD3, what was measured.

As in `explore.py`, each explorer is a plain function `plot_...(...) -> Figure` with sliders in
front. `plot_overestimation` and `plot_comparison` draw stored results and have no sliders.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.figures.ddpg import DASHES, TOP, headline, note, signed
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import (
    BLUE,
    COLOURS,
    DPI,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    WIDTH,
    band,
    label,
    legend_above,
    margins,
    new_figure,
    thousands,
)
from helpers.training.overestimation import double_estimate
from helpers.training.statistics import bootstrap_interval, interquartile_mean

__all__ = [
    "bias_explorer", "data_flow_explorer", "plot_bias", "plot_comparison", "plot_data_flow",
    "plot_overestimation", "plot_smoothing", "smoothing_explorer",
]  # fmt: skip
SHORT = (0, (3, 1.6))  # dashes


# --- The bias of a maximum --------------------------------------------------------------------

MOST, DRAWS = 50, 4000  # actions; repetitions behind the distributions
COUNTS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50)  # numbers of actions along the right panel
ESTIMATORS = {"maximum": VERMILLION, "double": GREEN, "clipped": BLUE}


def plot_bias(
    actions: int = 10, noise: float = 1.0, spread: float = 0.0, shared: float = 0.0, seed: int = 2
) -> Figure:
    """What the best action seems to be worth when values are estimated with noise.

    Two critics estimate the values of all actions; their errors are Gaussian with mean 0. The first
    critic chooses the action that looks best to it. "Maximum" is what it says about that action
    itself, "double" what the second one says, "clipped" the lower of the two (the target of TD3,
    whose actor follows the first critic).

    Left: one draw; rings mark what each estimator reads off. Middle: each over many draws, on the
    same axis; the bar and the number are the exact mean of estimate minus truth. Right: that bias
    for other numbers of actions.

    Args:
        actions: how many there are, 1 to 50.
        noise: standard deviation of each estimate's error.
        spread: the true values lie evenly between -spread and 0; at 0 all actions are equal.
        shared: correlation of the two critics' errors. At 0 they know nothing of each other; at 1
            they are the same.
        seed: another one gives another draw on the left.
    """
    _check_bias(actions, noise, spread, shared)
    reach = max(5.4, 4.5 * noise, spread + 2.8 * noise)
    exact = {n: expected_bias(n, noise, spread, shared) for n in sorted({*COUNTS, actions})}
    fig, axes = new_figure(3, height=3.6, layout=None)
    for ax, left, width in zip(axes, (0.55, 3.2, 5.67), (2.5, 1.95, 1.78), strict=True):
        ax.set_position([left / WIDTH, 0.5 / 3.6, width / WIDTH, (3.6 - 0.5 - TOP) / 3.6])
    one = estimates(actions, noise, spread, shared, np.random.default_rng(seed).normal(size=PAIR))
    _draw_draw(axes[0], *one)
    many = estimates(actions, noise, spread, shared, _normals())
    _draw_distributions(axes[1], many, exact[actions], reach)
    _draw_bias(axes[2], exact, actions, max(3.0, 2.5 * noise))
    for ax in axes[:2]:
        ax.set_ylim(-reach, reach)
        if reach == 5.4:
            ax.set_yticks([-4, -2, 0, 2, 4])
    axes[1].tick_params(axis="y", labelleft=False, length=0)
    headline(fig, _bias_sentence(actions, noise, exact[actions]))
    return fig


PAIR = (2, 1, MOST)  # two critics, one draw


def _check_bias(actions: int, noise: float, spread: float, shared: float) -> None:
    if not 1 <= actions <= MOST:
        raise ValueError(f"actions must lie between 1 and {MOST}, not {actions}.")
    if noise < 0 or spread < 0:
        raise ValueError(f"noise and spread must not be negative, not {noise} and {spread}.")
    if not 0 <= shared <= 1:
        raise ValueError(f"shared must lie between 0 and 1, not {shared}.")


def true_values(actions: int, spread: float) -> NDArray[np.float64]:
    """The best is worth 0, the others evenly less, shape `(actions,)`."""
    return np.linspace(0, -spread, actions)


@lru_cache(maxsize=1)
def _normals() -> NDArray[np.float32]:
    """The same for every setting: a moving slider changes the picture by its own effect only."""
    return np.random.default_rng(1).standard_normal((2, DRAWS, MOST), dtype=np.float32)


def estimates(
    actions: int, noise: float, spread: float, shared: float, normals: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """The true values (actions,), and what two critics say about them, each (n, actions).

    Args:
        normals: shape `(2, n, at least actions)`, independent and of standard deviation 1.
    """
    first, own = normals[..., :actions]
    second = shared * first + math.sqrt(1 - shared**2) * own
    truth = true_values(actions, spread)
    return truth, truth + noise * first, truth + noise * second


def three_estimates(first: NDArray, second: NDArray) -> dict[str, NDArray]:
    """What each estimator says the best action is worth, each (n,), from (n, actions)."""
    double = double_estimate(first, second)
    maximum = first.max(axis=1)
    values = (maximum, double, np.minimum(maximum, double))
    return dict(zip(ESTIMATORS, values, strict=True))


def expected_bias(actions: int, noise: float, spread: float, shared: float) -> dict[str, float]:
    """The mean of each estimate minus the true best value, by quadrature, without any sampling.

    The first critic's maximum is x at action k with density f_k(x) prod_{j != k} F_j(x). Given
    both, the second critic's error is `shared` times the first one's, plus noise of its own.
    """
    if noise == 0:
        return dict.fromkeys(ESTIMATORS, 0.0)
    truth = torch.from_numpy(true_values(actions, spread))[:, None]
    x = torch.linspace(-8, 8, 161, dtype=torch.float64) * noise  # around the best: 0
    z = (x - truth) / noise
    below = torch.special.log_ndtr(z)  # log F_j
    weight = torch.exp(below.sum(0) - below - z**2 / 2)
    weight /= weight.sum()
    judged = truth + shared * (x - truth)
    lead, own = x - judged, max(noise * math.sqrt(1 - shared**2), 1e-12)
    # The mean of a Gaussian's positive part: by how much the second is lower, where it is.
    u = lead / own
    lower = lead * torch.special.ndtr(u) + own * torch.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
    values = (x, judged, x - lower)
    return {n: float((weight * v).sum()) for n, v in zip(ESTIMATORS, values, strict=True)}


def _draw_draw(ax: Axes, truth: NDArray, first: NDArray, second: NDArray) -> None:
    n = len(truth)
    x, chosen = (np.arange(n) + 0.5) / n, int(first.argmax())
    size = float(np.interp(n, (10, 50), (6.5, 3.5)))
    ax.axhline(0, color=INK, lw=1.1, ls=DASHES)
    ax.axvline(x[chosen], color="#FCE9C8", lw=max(9.0, 2.6 * size), zorder=0.5)
    half = min(0.4 / n, 0.05)
    bars = ax.hlines(truth, x - half, x + half, color=GREY, lw=2.2, label="truth")
    (own,) = ax.plot(x, first[0], "o", ms=size, mew=0, color=INK, label="critic 1")
    style = {"ms": size, "mew": 1.1, "mec": INK, "color": "white"}
    (other,) = ax.plot(x, second[0], "o", label="critic 2", **style)
    for (name, colour), ring in zip(ESTIMATORS.items(), (5.5, 5.5, 11), strict=True):
        y = three_estimates(first, second)[name]
        ax.plot(x[chosen], y, "o", ms=size + ring, mew=2, mec=colour, color="none")
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([])
    label(ax, x=f"one draw: {n} action{'s' * (n > 1)}", y="value")
    legend_above(ax, [bars, own, other])


def _draw_distributions(
    ax: Axes, many: tuple[NDArray, ...], means: dict[str, float], reach: float
) -> None:
    edges = np.linspace(-reach, reach, 72)
    middle = (edges[1:] + edges[:-1]) / 2
    ax.axhline(0, color=INK, lw=1.1, ls=DASHES)
    for i, (name, values) in enumerate(three_estimates(*many[1:]).items()):
        colour = ESTIMATORS[name]
        counts, _ = np.histogram(values, edges)
        wide = 0.43 * counts / counts.max()
        ax.fill_betweenx(middle, i - wide, i + wide, color=colour, alpha=0.28, lw=0)
        ax.plot([i - 0.36, i + 0.36], [means[name]] * 2, color=colour, lw=2.4)
    ax.set_xlim(-0.55, 2.55)
    names = [f"{name}\n{signed(mean)}" for name, mean in means.items()]
    ax.set_xticks(range(3), names, fontsize=8.5)
    ax.grid(axis="x", visible=False)
    for tick, colour in zip(ax.get_xticklabels(), ESTIMATORS.values(), strict=True):
        tick.set_color(colour)
    label(ax, f"{DRAWS:,} draws, and the means", size=9.5)


def _draw_bias(ax: Axes, exact: dict[int, dict[str, float]], actions: int, top: float) -> None:
    ax.axhline(0, color=INK, lw=1.1, ls=DASHES)
    x = np.log10(list(exact))  # a logarithmic axis by hand: matplotlib's takes long
    for name, colour in ESTIMATORS.items():
        ax.plot(x, [biases[name] for biases in exact.values()], color=colour, lw=2)
        place = math.log10(actions), exact[actions][name]
        ax.plot(*place, "o", ms=6.5, mew=0, color=colour, clip_on=False)
    ax.set(xlim=(0, math.log10(MOST) * 1.02), ylim=(-top / 3, top))
    ticks = (1, 2, 5, 10, 20, 50)
    ax.set_xticks(np.log10(ticks), [str(t) for t in ticks])
    if top == 3:
        ax.set_yticks([-1, 0, 1, 2, 3])
    label(ax, "mean bias", "number of actions", size=9.5)


def _bias_sentence(actions: int, noise: float, bias: dict[str, float]) -> str:
    if noise == 0:
        return "Without noise all three are right: nothing looks better than it is."

    def off(value: float) -> str:
        if abs(value) < 0.005:
            return "unbiased"
        return f"{abs(value):.2f} too {'high' if value > 0 else 'low'}"

    maximum, double, clipped = map(off, bias.values())
    if actions == 1:
        return f"One action, no choice: each critic is unbiased, the lower of the two {clipped}."
    return f"{actions} actions: the maximum is {maximum}, double {double}, clipped {clipped}."


def bias_explorer() -> None:
    """`plot_bias` with sliders: number of actions, noise, spread, correlation, another draw."""
    explore(
        plot_bias,
        alt="Ten equal actions with noisy values: the largest estimate is 1.5 too high on average, "
        "the double estimate is right, the lower of two critics a little too low.",
        actions=Slider(1, MOST, 10, 1, "actions"),
        noise=Slider(0.0, 1.2, 1.0, 0.1, "noise"),
        spread=Slider(0.0, 2.0, 0.0, 0.1, "true spread"),
        shared=Slider(0.0, 0.9, 0.0, 0.1, "errors in common"),
        seed=Slider(0, 20, 2, 1, "another draw"),
    )


# --- Smoothing --------------------------------------------------------------------------------

HILL = (0.8, -0.35, 0.4)  # height, place, width: the true Q
PEAK = 0.5  # where the critic's error stands


def plot_smoothing(
    target_noise: float = 0.2, noise_clip: float = 0.5, peak: float = 1.0, width: float = 0.05
) -> Figure:
    """A critic with a narrow false peak, and what is left of it after target policy smoothing.

    Q(a) of one imagined state is a broad hill, which is there, and a peak, which is not. The
    smoothed Q(a) is the mean of Q over the actions that TD3's targets use around a: Gaussian noise,
    cut at the clip, added, and the sum cut to [-1, 1]. Below, the noise on the same scale: its
    density, and as stems the parts that the cut gathers at either end.

    Args:
        target_noise: standard deviation of the noise.
        noise_clip: where it is cut.
        peak: the height of the false peak.
        width: its width; at this distance from the top 37 % of the height are left.
    """
    if target_noise < 0 or noise_clip < 0:
        raise ValueError(
            "target_noise and noise_clip must not be negative, "
            f"not {target_noise} and {noise_clip}."
        )
    if width <= 0:
        raise ValueError(f"width must be above 0, not {width}.")
    a = np.linspace(-1, 1, 401)
    truth, q = toy_critic(a, 0.0, width), toy_critic(a, peak, width)
    smooth = smoothed(a, target_noise, noise_clip, peak, width)
    fig, (upper, lower) = new_figure(nrows=2, height=4.3, layout=None, sharex=True)
    for ax, bottom, height in ((upper, 1.45, 2.25), (lower, 0.5, 0.7)):
        ax.set_position([0.55 / WIDTH, bottom / 4.3, (WIDTH - 0.7) / WIDTH, height / 4.3])
    _draw_curves(upper, a, truth, q, smooth, max(1.7, peak + 0.2))
    _draw_kernel(lower, target_noise, noise_clip)
    hill = smoothed(a, target_noise, noise_clip, 0.0, width)
    headline(fig, _smoothing_sentence(a, truth, q, smooth, hill))
    return fig


def toy_critic(action: ArrayLike, peak: float, width: float) -> NDArray[np.float64]:
    """The hill, and a false peak of that height and width, at each action."""
    action = np.asarray(action, dtype=np.float64)
    heights = ((HILL[0], *HILL[1:]), (peak, PEAK, width))
    return sum(h * np.exp(-(((action - place) / w) ** 2)) for h, place, w in heights)


@lru_cache(maxsize=1)
def _nodes() -> tuple[NDArray, NDArray]:
    return np.polynomial.legendre.leggauss(160)


def smoothed(
    action: NDArray, target_noise: float, noise_clip: float, peak: float, width: float
) -> NDArray[np.float64]:
    """E[Q(clip(a + clip(noise)))] at each action (n,), by quadrature.

    Both cuts together leave the noisy action b between L = max(-1, a - c) and H = min(1, a + c):
    Gaussian between them, and what would lie beyond gathers at L and at H.
    """
    if target_noise == 0 or noise_clip == 0:
        return toy_critic(action, peak, width)
    low, high = np.maximum(-1, action - noise_clip), np.minimum(1, action + noise_clip)
    below, above = (_ndtr(z / target_noise) for z in (low - action, action - high))
    # Between the cuts: Gauss-Legendre, where the Gaussian is not zero anyway.
    x, weight = _nodes()
    start = np.maximum(low, action - 8 * target_noise)[:, None]
    half = (np.minimum(high, action + 8 * target_noise)[:, None] - start) / 2
    b = start + half * (x + 1)
    z = (b - action[:, None]) / target_noise
    density = np.exp(-(z**2) / 2) / (target_noise * math.sqrt(2 * math.pi))
    between = (half * weight * density * toy_critic(b, peak, width)).sum(axis=1)
    ends = below * toy_critic(low, peak, width) + above * toy_critic(high, peak, width)
    return between + ends


def _ndtr(z: ArrayLike) -> NDArray[np.float64]:
    """The normal distribution function."""
    return torch.special.ndtr(torch.as_tensor(z, dtype=torch.float64)).numpy()


def _draw_curves(
    ax: Axes, a: NDArray, truth: NDArray, q: NDArray, smooth: NDArray, top: float
) -> None:
    (dashed,) = ax.plot(a, truth, color=GREY, lw=1.4, ls=DASHES, label="true Q")
    (thin,) = ax.plot(a, q, color=BLUE, lw=1.6, label="critic's Q")
    (bold,) = ax.plot(a, smooth, color=GREEN, lw=2.6, label="smoothed Q")
    tops = (0.95, "critic's Q", q, BLUE), (0.86, "smoothed Q", smooth, GREEN)
    for y, name, values, colour in tops:
        best = int(values.argmax())
        ax.plot([a[best]] * 2, [values[best], truth[best]], color=colour, lw=1.3, ls=(0, (1, 1.5)))
        ax.plot(a[best], truth[best], "o", ms=6, mew=1.6, mec=colour, color="white")
        ax.plot(a[best], values[best], "o", ms=7.5, mew=0, color=colour)
        text = f"top of the {name}: a = {signed(a[best])}, in truth worth {truth[best]:.2f}"
        note(ax, 0.012, y, text, colour)
    ax.set(xlim=(-1.02, 1.02), ylim=(-0.08, top))
    ax.tick_params(axis="x", labelbottom=False, length=0)
    if top == 1.7:
        ax.set_yticks([0, 0.5, 1, 1.5])
    legend_above(ax, [dashed, thin, bold])


def _draw_kernel(ax: Axes, target_noise: float, noise_clip: float) -> None:
    ax.set(ylim=(0, 1.6))
    ax.set_yticks([])
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
    label(ax, x="action a, and noise ε on the same scale")
    ax.set_ylabel("noise ε", fontsize=9.5, color=GREY)
    if target_noise == 0 or noise_clip == 0:
        ax.plot([0, 0], [0, 1], color=ORANGE, lw=2.5, solid_capstyle="butt")
        note(ax, 0.012, 0.86, "none", ORANGE)
        return
    x = np.linspace(-min(noise_clip, 1.02), min(noise_clip, 1.02), 121)
    height = np.exp(-((x / target_noise) ** 2) / 2)
    ax.fill_between(x, 0, height, color=ORANGE, alpha=0.3, lw=0)
    ax.plot(x, height, color=ORANGE, lw=1.6)
    gathered = float(_ndtr(-noise_clip / target_noise))
    ax.plot(
        np.array([[-1, 1], [-1, 1]]) * noise_clip,
        [[0, 0], [2 * gathered] * 2],
        color=ORANGE, lw=3, solid_capstyle="butt",
    )  # fmt: skip
    share = f"{100 * gathered:.2g}" if gathered >= 0.0005 else "less than 0.1"
    note(ax, 0.012, 0.86, f"{share} % gathered at each end", ORANGE)


def _smoothing_sentence(
    a: NDArray, truth: NDArray, q: NDArray, smooth: NDArray, hill: NDArray
) -> str:
    """What smoothing leaves of the peak and of the hill, and where it leads. `hill`: smoothed."""
    raw, best = int(q.argmax()), int(smooth.argmax())
    misled, still = (truth[i] < 0.5 * truth.max() for i in (raw, best))
    place = f"a = {signed(a[best])}"
    if (smooth == q).all():
        if misled:
            return f"No smoothing: the highest point, at {place}, is the false peak's."
        return f"No smoothing, and none needed: the highest point, at {place}, is the hill's."
    high = (q - truth).max()
    peak = f"{100 * (smooth - hill).max() / high:.0f} % of the peak and " if high else ""
    left = np.ptp(hill) / np.ptp(truth)
    what = f"smoothing leaves {peak}{100 * left:.0f} % of the hill"
    if left < 0.5 or still:
        wrong = f", and leads to {place}" if still else ""
        return f"Too {'much' if left < 0.5 else 'little'}: {what}{wrong}."
    away = "away from the peak" if misled else "both lead to the hill"
    return f"S{what[1:]}: {away}, to {place}."


def smoothing_explorer() -> None:
    """`plot_smoothing` with sliders: noise, clip, height and width of the false peak."""
    explore(
        plot_smoothing,
        alt="A critic with a broad hill and a narrow false peak; averaged over noisy actions the "
        "peak vanishes and the hill stays.",
        target_noise=Slider(0.0, 1.0, 0.2, 0.02, "target_noise"),
        peak=Slider(0.0, 1.5, 1.0, 0.1, "height of the peak"),
        noise_clip=Slider(0.0, 1.0, 0.5, 0.05, "noise_clip"),
        width=Slider(0.02, 0.3, 0.05, 0.01, "width of the peak"),
    )


# --- The whole of TD3 -------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One of the fifteen: what happens, as a formula, and which code does it."""

    sentence: str
    formula: str
    code: str


STEPS = (
    Step(
        "The actor chooses an action; Gaussian noise is added, so that it explores.",
        r"$a = \mathrm{clip}(\mu(s) + \sigma\,\mathcal{N}(0, I), -1, 1)$",
        "OffPolicyAgent.act",
    ),
    Step(
        "The environment answers, and the step goes into the replay buffer.",
        r"$(s, a, r, s', \mathrm{terminated}) \to \mathrm{buffer}$",
        "ReplayBuffer.add",
    ),
    Step(
        "A batch of old and new steps is drawn from the buffer at random.",
        r"$(s, a, r, s', \mathrm{terminated})_{1 \ldots B} \sim \mathrm{buffer}$",
        "ReplayBuffer.sample",
    ),
    Step(
        "The target actor says what it would do next, in the next states of the batch.",
        r"$a' = \mu'(s')$",
        "smoothed_target_action",
    ),
    Step(
        "Smoothing: every sample and every dimension gets noise of its own, cut at the clip.",
        r"$\varepsilon = \mathrm{clip}(\tilde\sigma\,\mathcal{N}(0, I), -c, c)$",
        "smoothed_target_action",
    ),
    Step(
        "The noise is added, and the sum is kept within the possible actions.",
        r"$\tilde{a} = \mathrm{clip}(a' + \varepsilon, -1, 1)$",
        "smoothed_target_action",
    ),
    Step(
        "Two target critics say what the next state and that action are worth.",
        r"$q'_1 = Q'_1(s', \tilde{a}) \qquad q'_2 = Q'_2(s', \tilde{a})$",
        "clipped_double_q_target",
    ),
    Step(
        "The lower of the two counts, for every row of the batch.",
        r"$q'_{\min} = \min(q'_1, q'_2)$",
        "clipped_double_q_target",
    ),
    Step(
        "The target: the reward, and the discounted future unless the episode terminated.",
        r"$y = r + \gamma\,(1 - \mathrm{terminated})\,q'_{\min}$",
        "clipped_double_q_target",
    ),
    Step(
        "Both critics say what the batch's states and actions are worth.",
        r"$q_1 = Q_1(s, a) \qquad q_2 = Q_2(s, a)$",
        "twin_critic_loss",
    ),
    Step(
        "The loss: how far both are from the same target y, one mean squared error each.",
        r"$L = \frac{1}{B}\sum\,(q_1 - y)^2 + \frac{1}{B}\sum\,(q_2 - y)^2$",
        "twin_critic_loss",
    ),
    Step(
        "One gradient step of both critics, downhill on the loss. No gradient goes through y.",
        r"$\theta_i \leftarrow \theta_i - \alpha\,\nabla_{\!\theta_i} L \qquad i = 1, 2$",
        "gradient_step",
    ),
    Step(
        "At every second update: the first critic says what the actor's own actions are worth.",
        r"$J = \frac{1}{B}\sum\,Q_1(s, \mu(s))$",
        "actor_loss_by_q1",
    ),
    Step(
        "One gradient step of the actor, uphill: through the critic, which stays as it is.",
        r"$\varphi \leftarrow \varphi + \alpha\,\nabla_{\!\varphi} J$",
        "gradient_step",
    ),
    Step(
        "Three soft updates: target actor and both target critics move a little way.",
        r"$\varphi' \leftarrow (1 - \tau)\,\varphi' + \tau\,\varphi \qquad "
        r"\theta'_i \leftarrow (1 - \tau)\,\theta'_i + \tau\,\theta_i$",
        "polyak_update",
    ),
)
FLOW = (9.5, 5.3)  # inches; the places below are inches too, from the lower left corner


@dataclass(frozen=True)
class Box:
    """A thing that has a name; `steps` are those that it takes part in."""

    text: str
    x: float
    y: float  # its middle
    width: float
    height: float
    colour: str
    steps: tuple[int, ...]
    dashed: bool = False
    group: bool = False  # holds other boxes, and has its name at the bottom


@dataclass(frozen=True)
class Arrow:
    """A line along `points` with a head at its end, and a word beside it."""

    points: tuple[tuple[float, float], ...]
    colour: str
    steps: tuple[int, ...]
    text: str = ""
    at: tuple[float, float] = (0.0, 0.0)
    dashed: bool = False


BOXES = (
    Box("environment", 1.0, 4.55, 1.5, 0.46, GREY, (1, 2)),
    Box("replay buffer", 1.0, 3.72, 1.5, 0.42, GREY, (2, 3)),
    Box("", 1.0, 1.67, 1.5, 3.02, GREY, (3,)),
    Box("actor μ", 3.0, 3.2, 1.1, 0.56, VERMILLION, (1, 13, 14, 15)),
    Box("target\nactor μ′", 3.0, 0.98, 1.1, 0.56, VERMILLION, (4, 15), dashed=True),
    Box("critics", 5.85, 3.0, 1.9, 1.06, BLUE, (10, 11, 12, 15), group=True),
    Box("Q₁", 5.4, 3.2, 0.78, 0.46, BLUE, (10, 12, 13, 14, 15)),
    Box("Q₂", 6.3, 3.2, 0.78, 0.46, BLUE, (10, 12, 15)),
    Box("target critics", 5.85, 1.22, 1.9, 1.06, BLUE, (7, 15), dashed=True, group=True),
    Box("Q₁′", 5.4, 1.42, 0.78, 0.46, BLUE, (7, 15), dashed=True),
    Box("Q₂′", 6.3, 1.42, 0.78, 0.46, BLUE, (7, 15), dashed=True),
    Box("noise ε,\ncut at ± c", 4.2, 1.76, 0.96, 0.5, ORANGE, (5, 6)),
    Box("min", 7.45, 1.22, 0.6, 0.46, GREEN, (8,)),
    Box("target y", 8.75, 1.22, 1.1, 0.56, GREEN, (9, 11)),
    Box("loss", 8.75, 3.0, 1.1, 0.56, GREEN, (11, 12)),
)
ARROWS = (
    Arrow(((1.75, 4.45), (2.72, 4.45), (2.72, 3.48)), GREY, (1,), "s", (2.2, 4.32)),
    Arrow(((3.3, 3.48), (3.3, 4.7), (1.75, 4.7)), VERMILLION, (1,), "a", (2.2, 4.82)),
    Arrow(((1.0, 4.32), (1.0, 3.93)), GREY, (2,), "s, a, r, s′, terminated", (1.77, 4.1)),
    Arrow(((1.0, 3.51), (1.0, 3.18)), GREY, (3,)),
    Arrow(((1.75, 0.98), (2.45, 0.98)), GREY, (4,)),
    Arrow(((3.55, 0.98), (4.06, 0.98)), VERMILLION, (4, 6), "a′", (3.76, 1.1), dashed=True),
    Arrow(((4.2, 1.51), (4.2, 1.12)), ORANGE, (5, 6)),
    Arrow(((4.34, 0.98), (4.9, 0.98)), GREY, (6, 7), "s′, ã", (4.58, 1.1)),
    Arrow(((6.8, 1.22), (7.15, 1.22)), BLUE, (7, 8), dashed=True),
    Arrow(((7.75, 1.22), (8.2, 1.22)), GREEN, (8, 9)),
    Arrow(((1.75, 0.34), (8.75, 0.34), (8.75, 0.94)), GREY, (9,)),
    Arrow(((1.75, 2.68), (4.9, 2.68)), GREY, (10,)),
    Arrow(((6.8, 2.85), (8.2, 2.85)), BLUE, (10, 11), "q₁, q₂", (7.5, 2.72)),
    Arrow(((8.75, 1.5), (8.75, 2.72)), GREEN, (11,), "y", (8.88, 2.1)),
    Arrow(((8.2, 3.16), (6.8, 3.16)), BLUE, (12,), "gradient", (7.5, 3.42)),
    Arrow(((1.75, 3.06), (2.45, 3.06)), GREY, (13,)),
    Arrow(((3.55, 3.06), (5.01, 3.06)), VERMILLION, (13,), "μ(s)", (3.95, 2.93)),
    Arrow(((5.01, 3.33), (3.55, 3.33)), VERMILLION, (14,), "gradient", (4.62, 3.46)),
    Arrow(((3.0, 2.92), (3.0, 1.26)), VERMILLION, (15,), dashed=True),
    Arrow(((5.4, 2.47), (5.4, 1.75)), BLUE, (15,), dashed=True),
    Arrow(((6.3, 2.47), (6.3, 1.75)), BLUE, (15,), dashed=True),
)
ENTRIES = (("s", 3.06), ("s, a", 2.68), ("s′", 0.98), ("r, terminated", 0.34))  # of the batch
REMARKS = (  # text, place, size, steps
    ("batch", (0.56, 3.0), 9.5, (3,)),
    ("noise", (3.68, 4.08), 8.5, (1,)),
    ("every second update", (4.22, 3.72), 8.5, (13, 14)),
    ("soft updates, at\nevery second update", (4.05, 2.32), 8.5, (15,)),
)
JOINTS = (((3.3, 4.08), VERMILLION, (1,)), ((4.2, 0.98), ORANGE, (6,)))  # where noise is added
BADGES = (
    (1, 3.3, 4.48), (2, 0.72, 4.12), (3, 0.72, 3.34), (4, 2.45, 1.26), (5, 3.72, 2.01),
    (6, 4.2, 0.66), (7, 4.9, 1.75), (8, 7.15, 1.45), (9, 8.2, 1.5), (10, 4.9, 2.47),
    (11, 9.3, 3.28), (12, 7.5, 3.16), (13, 4.4, 3.06), (14, 4.1, 3.33), (15, 3.0, 2.1),
    (15, 5.85, 2.11),
)  # fmt: skip


def plot_data_flow(step: int | None = 15) -> Figure:
    """TD3 as a picture of who gives what to whom, in the order in which it happens.

    Vermillion is the actor, blue the critics, dashed their target networks, grey the data, orange
    the noise, green what the critics learn from.

    Args:
        step: what happens at this step stands out, what comes later is faint; None shows all
            fifteen alike.
    """
    if step is not None and not 1 <= step <= len(STEPS):
        raise ValueError(f"step must lie between 1 and {len(STEPS)}, or be None, not {step}.")
    fig = Figure(figsize=FLOW, dpi=DPI, facecolor="white")  # no axes: places are inches
    _draw_caption(fig, step)
    _draw_boxes(fig, [box for box in BOXES if box.group], step)
    _draw_arrows(fig, step)
    _draw_boxes(fig, [box for box in BOXES if not box.group], step)
    _draw_words(fig, step)
    for number, x, y in BADGES:
        _draw_badge(fig, number, x, y, step)
    return fig


def _state(steps: Sequence[int], step: int | None) -> str:
    """How a thing that takes part in `steps` is drawn at `step`."""
    if step is None:
        return "past"
    return "now" if step in steps else "past" if min(steps) < step else "ahead"


@lru_cache(maxsize=64)
def tint(colour: str, share: float) -> str:
    """That share of the colour, the rest white."""
    return to_hex([1 - share * (1 - part) for part in to_rgb(colour)])


@lru_cache(maxsize=32)
def _frame(x: float, y: float, width: float, height: float) -> Path:
    """A box with round corners around its middle."""
    corner = x - width / 2, y - height / 2
    return BoxStyle.Round(pad=0, rounding_size=0.08)(*corner, width, height, 1)


def _draw_boxes(fig: Figure, boxes: Sequence[Box], step: int | None) -> None:
    frames, fills, edges, widths, dashes = [], [], [], [], []
    for box in boxes:
        state = _state(box.steps, step)
        light = 0.75 if box.dashed else 1.0
        line = {"now": 1.0, "past": light, "ahead": 0.25}[state]
        fill = {"now": 0.3, "past": 0.11, "ahead": 0.03}[state] * (0.35 if box.group else light)
        frames.append(_frame(box.x, box.y, box.width, box.height))
        fills.append(tint(box.colour, fill))
        edges.append(tint(box.colour, line))
        widths.append(2.4 if state == "now" and not box.group else 1.3)
        dashes.append((0, (4, 2.2)) if box.dashed else "-")
        y = box.y - box.height / 2 + 0.2 if box.group else box.y
        _say(fig, box.x, y, box.text, 8.5 if box.group else 10, state)
    _add(fig, PathCollection(frames, facecolors=fills, edgecolors=edges, lw=widths, ls=dashes))


def _add(fig: Figure, artist: Any) -> None:
    artist.set_transform(fig.dpi_scale_trans)
    fig.add_artist(artist)


def _draw_arrows(fig: Figure, step: int | None) -> None:
    lines, heads, looks = [], [], []
    for arrow in ARROWS:
        state = _state(arrow.steps, step)
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
            _say(fig, *arrow.at, arrow.text, 8.5, state)
    colours, widths, dashes = zip(*looks, strict=True)
    strokes = LineCollection(lines, colors=colours, lw=widths, ls=dashes, capstyle="butt")
    _add(fig, strokes)
    _add(fig, PolyCollection(heads, facecolors=colours[1::2], lw=0))


def _say(
    fig: Figure, x: float, y: float, text: str, size: float, state: str = "past", **more: Any
) -> None:
    colour = INK if state != "ahead" else tint(GREY, 0.4)
    look = {"color": colour, "ha": "center", "va": "center", "linespacing": 1.25} | more
    fig.text(x, y, text, fontsize=size, transform=fig.dpi_scale_trans, **look)


def _draw_words(fig: Figure, step: int | None) -> None:
    for text, y in ENTRIES:
        _say(fig, 1.66, y, text, 9.5, _state((3,), step), ha="right")
    for text, place, size, steps in REMARKS:
        _say(fig, *place, text, size, _state(steps, step))
    for place, colour, steps in JOINTS:
        state = _state(steps, step)
        edge = tint(colour, 0.25) if state == "ahead" else colour
        _dot(fig, *place, 19, 2.2 if state == "now" else 1.3, edge)
        _add(fig, Line2D(*np.array([place]).T, marker="+", ms=9, mew=1.4, color=edge))


def _dot(
    fig: Figure, x: float, y: float, size: float, wide: float, edge: str, fill: str = "white"
) -> None:
    _add(fig, Line2D([x], [y], marker="o", ms=size, mew=wide, mec=edge, color=fill))


def _draw_badge(fig: Figure, number: int, x: float, y: float, step: int | None) -> None:
    state = _state((number,), step)
    size, fill, edge, ink = {
        "now": (17, INK, INK, "white"),
        "past": (14.5, "white", GREY, INK),
        "ahead": (14.5, "white", tint(GREY, 0.3), tint(GREY, 0.4)),
    }[state]
    _dot(fig, x, y, size, 1, edge, fill)
    _say(fig, x, y, str(number), 8, color=ink, linespacing=1)


def _draw_caption(fig: Figure, step: int | None) -> None:
    x, y = 7.1, 4.35
    _add(fig, PathCollection([_frame(x, y, 4.4, 0.98)], facecolors="#F5F6F8", lw=0))
    if step is None:
        headline(fig, "TD3: steps 1 and 2 are one step in the environment, 3 to 15 are one update.")
        text = "solid frame: learns by gradient steps\ndashed frame: a target network, follows"
        _say(fig, x, y, text, 9.5, linespacing=1.7)
        return
    now = STEPS[step - 1]
    headline(fig, f"{step} of {len(STEPS)}. {now.sentence}")
    formula = _formula(now.formula)
    shift = np.array([x, y + 0.12]) - formula.get_extents().get_points().mean(axis=0)
    placed = Path(formula.vertices + shift, formula.codes)
    _add(fig, PathCollection([placed], facecolors=INK, lw=0))
    _say(fig, x, y - 0.31, now.code, 8.5, color=GREY, family="monospace")


@lru_cache(maxsize=len(STEPS))
def _formula(text: str) -> Path:
    """As outlines, in inches: matplotlib reads a formula anew for each figure, which takes long."""
    return TextPath((0, 0), text, size=14 / 72, prop=FontProperties(math_fontfamily="cm"))


def data_flow_explorer() -> None:
    """`plot_data_flow` with a slider that walks through the fifteen steps."""
    explore(
        plot_data_flow,
        alt="The data flow of TD3: acting, replay, smoothed and clipped targets, the critics' "
        "loss, the delayed actor and the soft updates, as fifteen numbered steps.",
        step=Slider(1, len(STEPS), len(STEPS), 1, "step"),
    )


# --- What was measured ------------------------------------------------------------------------


def plot_overestimation(
    results: Mapping[str, Mapping[str, Any]],
    pair: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    from_step: int = 0,
) -> Figure:
    """What critics promise and what is obtained, through training, over several seeds.

    Left: for two variants the critic's mean value and the discounted return really obtained.
    Right: the difference, for all variants. Lines are interquartile means over seeds, bands their
    95 % bootstrap intervals.

    Args:
        results: variant -> {"steps": `(points,)`, "estimated": `(seeds, points)`,
            "obtained": `(seeds, points)`}, such as
            `helpers.training.overestimation.values_and_returns` measures. Other entries are passed over.
        pair: the two variants on the left; by default the first two of `names`.
        names: the variants on the right, 6 at most; by default all.
        from_step: leave out what was measured before: early values are near 0 whatever is true.
    """
    measured = {
        name: entry
        for name, entry in results.items()
        if isinstance(entry, Mapping) and "obtained" in entry
    }
    names = list(measured) if names is None else list(names)
    pair = names[:2] if pair is None else list(pair)
    unknown = [name for name in (*names, *pair) if name not in measured]
    if unknown or not 1 <= len(names) <= len(COLOURS):
        asked = ", ".join(map(str, unknown or names)) or "none"
        raise ValueError(
            f"names and pair must be 1 to {len(COLOURS)} of the variants that were measured "
            f"({', '.join(measured) or 'none'}), not {asked}."
        )
    runs = {name: _points(measured[name], from_step) for name in dict.fromkeys((*names, *pair))}
    colours = dict(zip(runs, COLOURS, strict=False))
    bias = {name: values - obtained for name, (_, values, obtained) in runs.items()}
    fig, (left, right) = new_figure(2, height=3.6, layout=None)
    header(fig, _promise({name: bias[name] for name in pair}, from_step), colours)
    for name in pair:
        steps, values, obtained = runs[name]
        band(left, steps, values, color=colours[name])
        band(left, steps, obtained, color=colours[name])
        left.lines[-1].set_linestyle(SHORT)
    right.axhline(0, color=INK, lw=1.1, ls=DASHES)
    for name in names:
        band(right, runs[name][0], bias[name], color=colours[name])
    _limit(left, [part for name in pair for part in runs[name][1:]])
    _limit(right, [bias[name] for name in names], 0.0)
    for ax in (left, right):
        thousands(ax)
        ax.xaxis.set_major_locator(MaxNLocator(5))
    label(left, x="environment steps", y="discounted return")
    label(right, "value − return obtained", "environment steps", size=9.5)
    kinds = {"critic's value": "-", "return obtained": SHORT}
    legend_above(left, [Line2D([], [], color=INK, ls=ls, label=k) for k, ls in kinds.items()])
    return fig


def _points(entry: Mapping[str, Any], from_step: int) -> tuple[NDArray, NDArray, NDArray]:
    """Steps (points,), values and returns obtained (seeds, points), from `from_step` on."""
    steps = np.asarray(entry["steps"])
    late = steps >= from_step
    if not late.any():
        raise ValueError(f"from_step must be at most {steps.max()}, the last step measured.")
    parts = (np.asarray(entry[key], dtype=np.float64) for key in ("estimated", "obtained"))
    return steps[late], *(part[:, late] for part in parts)


def _limit(ax: Axes, curves: Sequence[NDArray], *also: float) -> None:
    """Room for the middle half of the seeds of each curve: one that went astray moves nothing."""
    middle = [np.percentile(np.nan_to_num(curve), [25, 75], axis=0) for curve in curves]
    low, high = min(part.min() for part in middle), max(part.max() for part in middle)
    low, high = min([low, *also]), max([high, *also])
    room = 0.12 * (high - low) or 0.5
    ax.set_ylim(low - room, high + room)


def header(fig: Figure, sentence: str, colours: Mapping[str, str]) -> None:
    """The headline, below it which colour is which, and the margins that this takes."""
    sentence = textwrap.fill(sentence, 92)
    headline(fig, sentence)
    below = 0.08 + 0.19 * (1 + sentence.count("\n"))  # inches from the top
    columns = 3 if sum(len(name) + 8 for name in colours) > 105 else 6
    handles = [Line2D([], [], color=c, lw=2.4, label=name) for name, c in colours.items()]
    place = 0.004, 1 - below / fig.get_figheight()
    fig.legend(
        handles=handles, loc="upper left", bbox_to_anchor=place, ncols=columns,
        frameon=False, fontsize=9, labelcolor=INK, handlelength=1.4, columnspacing=1.4,
    )  # fmt: skip
    margins(fig, left=0.75, top=below + 0.35 + 0.19 * math.ceil(len(colours) / columns))


def _promise(bias: Mapping[str, NDArray], from_step: int) -> str:
    """By how much each critic is off, in the mean over the points drawn."""
    said = []
    for name, of_seeds in bias.items():
        mean = float(interquartile_mean(of_seeds.mean(axis=1)))
        promises = "" if said else "promises "
        size = f"{abs(mean):.1f}" if abs(mean) >= 1 else f"{abs(mean):.2g}"
        said.append(f"{name} {promises}{size} too {'much' if mean > 0 else 'little'}")
    late = f" (from step {from_step:,} on)" if from_step else ""
    return f"{', '.join(said)}{late}."


def plot_comparison(
    results: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, str | Mapping[str, Any]]],
    what: str = "training return",
) -> Figure:
    """Learning curves of several algorithms, one panel for each environment.

    Lines are interquartile means over seeds, bands their 95 % bootstrap intervals. The headline
    compares the last tenth of the training, and calls ahead only what is so with all of its
    interval.

    Args:
        results: name -> {"steps": `(points,)`, "returns": `(seeds, points)` of training,
            "bar": the return at which the task counts as learned, a dashed line; or none}.
        groups: title of a panel -> {label of a line: a name in `results`, or such an entry}. A
            label has the same colour in all panels.
        what: what the returns are, at the vertical axis.
    """
    panels = {
        title: {name: results[e] if isinstance(e, str) else e for name, e in lines.items()}
        for title, lines in groups.items()
    }
    labels = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if not labels or len(labels) > len(COLOURS):
        raise ValueError(
            f"groups must hold 1 to {len(COLOURS)} labels of lines, not {len(labels)}."
        )
    colours = dict(zip(labels, COLOURS, strict=False))
    fig, axes = new_figure(len(panels), height=3.5, layout=None, squeeze=False)
    header(fig, _who_is_ahead(panels), colours)
    for ax, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for name, entry in lines.items():
            band(ax, entry["steps"], entry["returns"], color=colours[name])
        bars = {entry["bar"] for entry in lines.values() if entry.get("bar") is not None}
        for bar in bars:
            ax.axhline(bar, color=GREY, lw=1.2, ls=DASHES)
        curves = [np.asarray(entry["returns"], dtype=np.float64) for entry in lines.values()]
        _limit(ax, curves, *bars)
        thousands(ax)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        label(ax, title, "environment steps", size=9.5)
    label(axes[0, 0], y=what)
    return fig


def _who_is_ahead(panels: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """In the last tenth of the training; "ahead" where the intervals over seeds do not overlap."""
    ahead: dict[str, list[str]] = {}
    for title, lines in panels.items():
        intervals = {name: bootstrap_interval(_late(entry)) for name, entry in lines.items()}
        winner = max(intervals, key=lambda name: intervals[name][0])
        others = [high for name, (_, high) in intervals.items() if name != winner]
        clear = others and intervals[winner][0] > max(others)
        ahead.setdefault(f"{winner} ahead" if clear else "no clear difference", []).append(title)
    order = sorted(ahead, key="no clear difference".__eq__)  # what is clear comes first
    said = [f"{who} on {' and '.join(ahead[who])}" for who in order]
    return f"At the end: {', '.join(said)}."


def _late(entry: Mapping[str, Any]) -> NDArray[np.float64]:
    """The mean return of each seed in the last tenth of the training, shape `(seeds,)`."""
    steps, returns = np.asarray(entry["steps"]), np.asarray(entry["returns"], dtype=np.float64)
    return returns[:, steps > 0.9 * steps[-1]].mean(axis=1)
