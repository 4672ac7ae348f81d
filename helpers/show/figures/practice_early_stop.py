"""Lesson 05: early stopping, where patience ends a training whose losses are noisy."""

from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.figures.drawing import headline, tint
from helpers.show.figures.explore import Slider, explore
from helpers.show.plotting import (
    BLUE,
    GREEN,
    GREY,
    VERMILLION,
    label,
    legend_above,
    margins,
    new_figure,
)

EPOCHS = 80
CURVES = 300  # noisy validation curves behind the right panel
PATIENCES = np.arange(1, 21)


def plot_early_stop(patience: int = 5, noise: float = 0.03, seed: int = 0) -> Figure:
    """A validation loss with noise, and where patience ends the training.

    Training stops after `patience` epochs in a row without a new lowest loss; the epoch with the
    lowest so far is kept. The curves are made up: the true loss of `true_loss`, and independent
    normal noise on each epoch. Left: one training. Right: the mean over 300 of them for each
    patience from 1 to 20: how long they train, and how much the kept epoch's true loss lies above
    the lowest there is.

    Args:
        patience: from 1 to 20 epochs.
        noise: its standard deviation, from 0 on.
        seed: of the noise, 0 to 299.
    """
    if not 1 <= patience <= PATIENCES[-1]:
        raise ValueError(f"patience must lie between 1 and {PATIENCES[-1]}, not {patience}.")
    if noise < 0 or not 0 <= seed < CURVES:
        raise ValueError(f"noise must be 0 or more, and seed between 0 and {CURVES - 1}.")
    curve = true_loss() + noise * standard_noise()[seed]
    [stop], [kept] = early_stop(curve[None], patience)
    fig, (left, right) = new_figure(2, height=3.6, layout=None, width_ratios=[1.35, 1])
    margins(fig, left=0.65, top=0.85, between=0.75)
    _draw_training(left, curve, stop, kept)
    means = _bargains(noise)
    right.plot(*means.T, "o-", ms=4, mew=0, lw=1.5, color=GREY)
    right.plot(*means[patience - 1], "o", ms=9, mew=0, color=VERMILLION)
    right.set(xlim=(0, EPOCHS + 1), ylim=(-0.02, 0.6))
    title = f"patience 1 to 20, mean of {CURVES} trainings"
    label(right, title, "epochs trained", "true loss − lowest", size=9.5)
    headline(fig, _patience_sentence(patience, stop, kept, *means[patience - 1]))
    return fig


def _draw_training(ax: Axes, curve: NDArray, stop: int, kept: int) -> None:
    """The true loss, what was measured until the stop, and in pale what would have come."""
    epochs, truth = np.arange(1, EPOCHS + 1), true_loss()
    ax.plot(epochs, truth, color=GREEN, lw=2, label="true loss, lowest at ▲")
    ax.plot(epochs[stop:], curve[stop:], color=tint(BLUE, 0.3), lw=1.2)
    ax.plot(epochs[: stop + 1], curve[: stop + 1], color=BLUE, lw=1.6, label="measured")
    ax.plot(epochs[stop], curve[stop], "s", ms=8, mew=0, color=VERMILLION, label="stop")
    look: dict = {"ms": 9, "mew": 1.8, "mec": BLUE, "color": "white", "ls": ""}
    ax.plot(epochs[kept], curve[kept], "o", label="kept", **look)
    ax.plot(epochs[truth.argmin()], -0.03, "^", ms=8, mew=0, color=GREEN)
    ax.set(xlim=(0, EPOCHS + 1), ylim=(-0.06, 1.15))
    label(ax, x="epoch", y="validation loss")
    legend_above(ax)


def _patience_sentence(patience: int, stop: int, kept: int, trained: float, above: float) -> str:
    ends, truth = "stops" if stop < EPOCHS - 1 else "ends", true_loss()
    return (
        f"Patience {patience}: {ends} after epoch {stop + 1}, keeps epoch {kept + 1}, whose true "
        f"loss is {truth[kept] - truth.min():.3f} above the lowest.\n"
        f"Over {CURVES} such trainings, on average: {trained:.0f} epochs, {above:.3f} above it."
    )


def true_loss() -> NDArray[np.float64]:
    """Falls at first, and rises slowly from epoch 35 or so on, shape `(80,)`."""
    epochs = np.arange(EPOCHS)
    return 0.8 * np.exp(-epochs / 9) + 0.12 + 0.0015 * epochs


def early_stop(curves: NDArray, patience: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The last epoch trained and the epoch kept, as indices, of each curve `(curves, epochs)`.

    The last epoch trained is the first that makes `patience` epochs in a row without a new lowest
    loss, or the last there is.
    """
    epochs = np.arange(curves.shape[1])
    lowest = np.minimum.accumulate(curves, axis=1)
    new = np.diff(lowest, axis=1, prepend=np.inf) < 0
    best = np.maximum.accumulate(np.where(new, epochs, 0), axis=1)  # the epoch of the lowest so far
    enough = epochs - best >= patience
    stops = np.where(enough.any(axis=1), enough.argmax(axis=1), curves.shape[1] - 1)
    return stops, best[np.arange(len(curves)), stops]


@lru_cache(maxsize=1)
def standard_noise() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(CURVES, EPOCHS))


@lru_cache(maxsize=32)
def _bargains(noise: float) -> NDArray[np.float64]:
    """For each patience: epochs trained, and true loss above the lowest; means, shape `(20, 2)`."""
    truth = true_loss()
    ends = [early_stop(truth + noise * standard_noise(), int(each)) for each in PATIENCES]
    above = truth - truth.min()
    return np.array([(stops.mean() + 1, above[kept].mean()) for stops, kept in ends])


def early_stop_explorer() -> None:
    """`plot_early_stop` with sliders for patience and noise, and another training."""
    explore(
        plot_early_stop,
        alt="A noisy validation loss that falls and then rises: with a patience of five epochs the "
        "training stops before the lowest true loss is reached.",
        patience=Slider(1, int(PATIENCES[-1]), 5, 1, "patience, epochs"),
        noise=Slider(0.0, 0.06, 0.03, 0.005, "noise"),
        seed=Slider(0, 20, 0, 1, "another training"),
    )
