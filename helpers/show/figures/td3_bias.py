"""Lesson 03: the bias of a maximum over noisy estimates, and two ways to lower it."""

import math
from functools import lru_cache

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DARK, DASHES, GREEN, GREY, INK, VERMILLION
from helpers.show.figures.drawing import TOP, headline, panels, signed
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import label, legend_above
from helpers.training.overestimation import double_estimate

MOST, DRAWS = 50, 4000  # actions; repetitions behind the distributions
COUNTS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50)  # numbers of actions along the right panel
PAIR = (2, 1, MOST)  # two critics, one sample of their errors
REACH = 5.4  # of the axes of values: 4.5 times the largest noise
ESTIMATORS = {"maximum": VERMILLION, "double": GREEN, "clipped": BLUE}


def plot_bias(
    actions: int = 10, noise: float = 1.0, spread: float = 0.0, shared: float = 0.0, seed: int = 2
) -> Figure:
    """What the best action seems to be worth when values are estimated with noise.

    Two critics estimate the values of all actions; their errors are Gaussian with mean 0. The first
    critic chooses the action that looks best to it. "Maximum" is what it says about that action
    itself, "double" what the second one says, "clipped" the lower of the two (the target of TD3,
    whose actor follows the first critic).

    Left: one sample; rings mark what each estimator reads off. Middle: each over many samples, on
    the same axis; the line and the number are the exact mean of estimate minus truth. Right: that
    bias for other numbers of actions.

    Args:
        actions: how many there are, 1 to 50.
        noise: standard deviation of each estimate's error.
        spread: the true values lie evenly between -spread and 0; at 0 all actions are equal.
        shared: correlation of the two critics' errors. At 0 they know nothing of each other; at 1
            they are the same.
        seed: another one gives another sample on the left.
    """
    exact = {n: expected_bias(n, noise, spread, shared) for n in sorted({*COUNTS, actions})}
    tall = 3.6 - 0.5 - TOP
    places = (0.55, 0.5, 2.5, tall), (3.2, 0.5, 1.95, tall), (5.67, 0.5, 1.78, tall)
    fig, axes = panels(3.6, *places)
    one = estimates(actions, noise, spread, shared, np.random.default_rng(seed).normal(size=PAIR))
    _draw_draw(axes[0], *one)
    many = estimates(actions, noise, spread, shared, _normals())
    _draw_distributions(axes[1], many, exact[actions])
    _draw_bias(axes[2], exact, actions)
    for ax in axes[:2]:
        ax.set_ylim(-REACH, REACH)
        ax.set_yticks([-4, -2, 0, 2, 4])
    axes[1].tick_params(axis="y", labelleft=False, length=0)
    headline(fig, _bias_sentence(actions, noise, exact[actions]))
    return fig


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


@lru_cache(maxsize=512)
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
    style: dict = {"ms": size, "mew": 1.1, "mec": INK, "color": "white"}
    (other,) = ax.plot(x, second[0], "o", label="critic 2", **style)
    read = three_estimates(first, second)
    for (name, colour), ring in zip(ESTIMATORS.items(), (5.5, 5.5, 11), strict=True):
        ax.plot(x[chosen], read[name], "o", ms=size + ring, mew=2, mec=colour, color="none")
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([])
    label(ax, x=f"one sample: {n} action{'s' * (n > 1)}", y="value")
    legend_above(ax, [bars, own, other])


def _draw_distributions(ax: Axes, many: tuple[NDArray, ...], means: dict[str, float]) -> None:
    edges = np.linspace(-REACH, REACH, 72)
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
        tick.set_color(DARK.get(colour, colour))
    label(ax, f"{DRAWS:,} samples, and the means", size=9.5)


def _draw_bias(ax: Axes, exact: dict[int, dict[str, float]], actions: int) -> None:
    ax.axhline(0, color=INK, lw=1.1, ls=DASHES)
    x = np.log10(list(exact))  # a logarithmic axis by hand: matplotlib's takes long
    for name, colour in ESTIMATORS.items():
        ax.plot(x, [biases[name] for biases in exact.values()], color=colour, lw=2)
        place = math.log10(actions), exact[actions][name]
        ax.plot(*place, "o", ms=6.5, mew=0, color=colour, clip_on=False)
    ax.set(xlim=(0, math.log10(MOST) * 1.02), ylim=(-1, 3))
    ticks = (1, 2, 5, 10, 20, 50)
    ax.set_xticks(np.log10(ticks), [str(t) for t in ticks])
    ax.set_yticks([-1, 0, 1, 2, 3])
    label(ax, "mean bias", "number of actions", size=9.5)


def _bias_sentence(actions: int, noise: float, bias: dict[str, float]) -> str:
    if noise == 0:
        return "Without noise all three are right: nothing looks better than it is."

    def off(value: float) -> str:
        if abs(value) < 0.005:
            return "unbiased" if abs(value) < 1e-6 else "hardly off"
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
        seed=Slider(0, 20, 2, 1, "another sample"),
    )
