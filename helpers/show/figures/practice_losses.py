"""Lesson 05: training and validation losses of a pretraining."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from helpers.show.figures.drawing import headline, short
from helpers.show.plotting import (
    BLUE,
    DASHES,
    INK,
    VERMILLION,
    label,
    legend_above,
    margins,
    new_figure,
)


def plot_losses(train: ArrayLike, validation: ArrayLike, best: int) -> Figure:
    """Training and validation loss after each epoch, and the epoch whose weights are kept.

    The vertical axis is logarithmic where the losses differ more than tenfold and none is 0.

    Args:
        train, validation: one loss for each epoch, none negative; equally many. Number 0 is before
            any training, as in `PretrainingResult`.
        best: number of the epoch that is kept.
    """
    train, validation = np.asarray(train, float), np.asarray(validation, float)
    if train.ndim != 1 or train.shape != validation.shape or not len(train):
        raise ValueError(
            "train and validation need one loss for each epoch, "
            f"not {train.shape} and {validation.shape}."
        )
    if not 0 <= best < len(train):
        raise ValueError(f"best must lie between 0 and {len(train) - 1}, not {best}.")
    epochs = np.arange(len(train))
    fig, ax = new_figure(height=3.3, layout=None)
    margins(fig, left=0.8, top=0.85)
    marker = "o" if len(train) < 40 else None
    for losses, name, colour in ((train, "training", BLUE), (validation, "validation", VERMILLION)):
        ax.plot(epochs, losses, color=colour, lw=2, label=name, marker=marker, ms=3.5)
    _scale_losses(ax, np.r_[train, validation])
    ax.axvline(best, color=INK, lw=1.2, ls=DASHES, label=f"kept: epoch {best}")
    ax.plot(best, validation[best], "o", ms=9, mew=1.8, mec=VERMILLION, color="white", zorder=4)
    ax.set_xlim(-0.5, len(train) - 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    label(ax, x="epoch", y="loss")
    legend_above(ax)
    headline(fig, _overfitting(train, validation, best))
    return fig


def _scale_losses(ax: Axes, losses: NDArray) -> None:
    """A logarithmic axis where the losses differ more than tenfold, else one from 0 on."""
    if losses.min() > 0 and losses.max() > 10 * losses.min():
        ax.set_yscale("log")
        few = losses.max() < 300 * losses.min()
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.set_ylim(0, 1.06 * losses.max() or 1.0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))


def _overfitting(train: NDArray, validation: NDArray, best: int) -> str:
    lowest = int(validation.argmin())
    said = f"The validation loss is lowest after epoch {lowest}: {short(validation[lowest])}"
    if validation[best] > validation[lowest]:
        said += f" (kept is epoch {best}: {short(validation[best])})"
    ratio = f"{validation[-1] / train[-1]:.2g} times " if train[-1] else "beside "
    said += f".\nAt the end, after epoch {len(train) - 1}, it is {short(validation[-1])}, {ratio}"
    return f"{said}the training loss of {short(train[-1])}."
