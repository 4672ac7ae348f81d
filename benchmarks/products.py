"""The matrix products of an update, and nothing else: what no way of writing it can do without."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from benchmarks.workers import Run

OBS_SIZE, ACTION_SIZE = 3, 1  # Pendulum's
Arrays = tuple[np.ndarray, np.ndarray]  # the two factors


def products(kind: str, hidden: int, batch: int) -> tuple[list[Arrays], list[Arrays]]:
    """The factors of an update's products: of the critics, and of the actor with one critic."""
    make = partial(factors, batch)
    actor = (OBS_SIZE, hidden, hidden, ACTION_SIZE)
    critic = (OBS_SIZE + ACTION_SIZE, hidden, hidden, 1)
    critics = [
        *make(actor, "forward"),  # the target actor's
        *2 * [*make(critic, "forward")],  # the target critic's, and the critic's own
        *make(critic, "weights"),
        *make(critic[1:], "inputs"),
    ]
    if kind == "TD3":  # two critics; the target actor is asked once
        critics += critics[3:]
    ascent = [
        *make(actor, "forward"),
        *make(critic, "forward"),
        *make(critic, "inputs"),
        *make(actor, "weights"),
        *make(actor[1:], "inputs"),
    ]
    return critics, ascent


def factors(batch: int, widths: Sequence[int], what: str) -> Iterator[Arrays]:
    """For each layer the two factors of a product, laid out as torch has them.

    Forward x W^T, for the weights' gradient g^T x, for the inputs' gradient g W.
    """
    rng = np.random.default_rng(0)
    for n_in, n_out in pairwise(widths):
        x, g, weight = (
            rng.standard_normal(shape, dtype=np.float32)
            for shape in ((batch, n_in), (batch, n_out), (n_out, n_in))
        )
        yield {"forward": (x, weight.T), "weights": (g.T, x), "inputs": (g, weight)}[what]


def prepare_products(library: str, kind: str, hidden: int, batch: int) -> Run:
    """By "torch" or "numpy", into results that are there. TD3's actor moves every second time."""
    critics, ascent = ([*map(LIBRARIES[library], each)] for each in products(kind, hidden, batch))
    delay = 2 if kind == "TD3" else 1

    def run(steps: int) -> None:
        for step in range(steps):
            for product in critics:
                product()
            if step % delay == 0:
                for product in ascent:
                    product()

    return run


def _by_torch(pair: Arrays) -> Callable:
    a, b = map(torch.from_numpy, pair)
    return partial(torch.mm, a, b, out=a @ b)


def _by_numpy(pair: Arrays) -> Callable:
    a, b = pair
    return partial(np.matmul, a, b, out=a @ b)


LIBRARIES: dict[str, Callable[[Arrays], Callable]] = {"torch": _by_torch, "numpy": _by_numpy}
