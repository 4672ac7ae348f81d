"""Lesson 03: target policy smoothing of a critic with a narrow false peak."""

import math

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.show.colours import BLUE, DASHES, GREEN, GREY, ORANGE
from helpers.show.figures.drawing import headline, note, panels, signed
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import WIDTH, label, legend_above

HILL = (0.8, -0.35, 0.4)  # height, place, width: the true Q
PEAK = 0.5  # where the critic's error stands
NODES, WEIGHTS = np.polynomial.legendre.leggauss(160)


def plot_smoothing(
    target_noise: float = 0.2, noise_clip: float = 0.5, peak: float = 1.0, width: float = 0.05
) -> Figure:
    """A critic with a narrow false peak, and what is left of it after target policy smoothing.

    Q(a) of one imagined state is a broad hill, which is there, and a peak, which is not. The
    smoothed Q(a) is the mean of Q over the actions that TD3's targets use around a: Gaussian noise,
    clipped, added, and the sum clipped to [-1, 1]. Below, the noise on the same scale: its
    density, and as stems the parts that clipping gathers at either end.

    Args:
        target_noise: standard deviation of the noise.
        noise_clip: where it is clipped.
        peak: the height of the false peak.
        width: its width; at this distance from the top 37 % of the height are left.
    """
    a = np.linspace(-1, 1, 401)
    truth, q = toy_critic(a, 0.0, width), toy_critic(a, peak, width)
    smooth = smoothed(a, target_noise, noise_clip, peak, width)
    places = (0.55, 1.45, WIDTH - 0.7, 2.25), (0.55, 0.5, WIDTH - 0.7, 0.7)
    fig, (upper, lower) = panels(4.3, *places, sharex=True)
    _draw_curves(upper, a, truth, q, smooth)
    _draw_kernel(lower, target_noise, noise_clip)
    hill = smoothed(a, target_noise, noise_clip, 0.0, width)
    headline(fig, _smoothing_sentence(a, truth, q, smooth, hill))
    return fig


def toy_critic(action: NDArray, peak: float, width: float) -> NDArray[np.float64]:
    """The hill, and a false peak of that height and width, at each action."""
    heights = ((HILL[0], *HILL[1:]), (peak, PEAK, width))
    hill, false = (h * np.exp(-(((action - place) / w) ** 2)) for h, place, w in heights)
    return hill + false


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
    start = np.maximum(low, action - 8 * target_noise)[:, None]
    half = (np.minimum(high, action + 8 * target_noise)[:, None] - start) / 2
    b = start + half * (NODES + 1)
    z = (b - action[:, None]) / target_noise
    density = np.exp(-(z**2) / 2) / (target_noise * math.sqrt(2 * math.pi))
    between = (half * WEIGHTS * density * toy_critic(b, peak, width)).sum(axis=1)
    ends = below * toy_critic(low, peak, width) + above * toy_critic(high, peak, width)
    return between + ends


def _ndtr(z: ArrayLike) -> NDArray[np.float64]:
    """The normal distribution function."""
    return torch.special.ndtr(torch.as_tensor(z, dtype=torch.float64)).numpy()


def _draw_curves(ax: Axes, a: NDArray, truth: NDArray, q: NDArray, smooth: NDArray) -> None:
    ax.plot(a, truth, color=GREY, lw=1.4, ls=DASHES, label="true Q")
    ax.plot(a, q, color=BLUE, lw=1.6, label="critic's Q")
    ax.plot(a, smooth, color=GREEN, lw=2.6, label="smoothed Q")
    tops = (0.95, "critic's Q", q, BLUE), (0.86, "smoothed Q", smooth, GREEN)
    for y, name, values, colour in tops:
        best = int(values.argmax())
        ax.plot([a[best]] * 2, [values[best], truth[best]], color=colour, lw=1.3, ls=(0, (1, 1.5)))
        ax.plot(a[best], truth[best], "o", ms=6, mew=1.6, mec=colour, color="white")
        ax.plot(a[best], values[best], "o", ms=7.5, mew=0, color=colour)
        text = f"top of the {name}: a = {signed(a[best])}, in truth worth {truth[best]:.2f}"
        note(ax, 0.012, y, text, colour)
    ax.set(xlim=(-1.02, 1.02), ylim=(-0.08, 1.7))
    ax.tick_params(axis="x", labelbottom=False, length=0)
    ax.set_yticks([0, 0.5, 1, 1.5])
    legend_above(ax)


def _draw_kernel(ax: Axes, target_noise: float, noise_clip: float) -> None:
    ax.set(ylim=(0, 1.6), yticks=[], xticks=[-1, -0.5, 0, 0.5, 1])
    label(ax, x="action a, and noise ε on the same scale", y="noise ε")
    if target_noise == 0 or noise_clip == 0:
        ax.plot([0, 0], [0, 1], color=ORANGE, lw=2.5, solid_capstyle="butt")
        note(ax, 0.012, 0.86, "none", ORANGE)
        return
    x = np.linspace(-min(noise_clip, 1.02), min(noise_clip, 1.02), 121)
    height = np.exp(-((x / target_noise) ** 2) / 2)
    ax.fill_between(x, 0, height, color=ORANGE, alpha=0.3, lw=0)
    ax.plot(x, height, color=ORANGE, lw=1.6)
    gathered = float(_ndtr(-noise_clip / target_noise))
    for end in (-noise_clip, noise_clip):
        ax.plot([end, end], [0, 2 * gathered], color=ORANGE, lw=3, solid_capstyle="butt")
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
        # Too little leaves the top at the false peak; clipped noise makes copies beside it.
        little = left >= 0.5 and abs(a[best] - a[raw]) < 0.1
        return f"Too {'little' if little else 'much'}: {what}{wrong}."
    way = "the highest point moves to" if misled else "both lead to the hill, to"
    return f"S{what[1:]}: {way} {place}."


def smoothing_explorer() -> None:
    """`plot_smoothing` with sliders: noise, clip, height and width of the false peak."""
    explore(
        plot_smoothing,
        alt="A critic with a broad hill and a narrow false peak; averaged over noisy actions "
        "little of the peak is left, and most of the hill.",
        target_noise=Slider(0.0, 1.0, 0.2, 0.02, "target_noise"),
        peak=Slider(0.0, 1.5, 1.0, 0.1, "height of the peak"),
        noise_clip=Slider(0.0, 1.0, 0.5, 0.05, "noise_clip"),
        width=Slider(0.02, 0.3, 0.05, 0.01, "width of the peak"),
    )
