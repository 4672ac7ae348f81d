"""Lesson 05's early stop: exercise 5.7 `early_stopping`."""

import numpy as np

from helpers.algorithms.cloning import early_stopping
from helpers.checks.exercise import Case
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise


def observe_stop(function, losses, patience):
    given = function(losses, patience)
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 2:
        return {"form of the result": "not a pair", "answer": None, "best epoch": None}
    stop, best = given
    if stop is ... or best is ...:
        return ...
    known = isinstance(stop, bool | np.bool_ | int)
    words = {0: "go on", 1: "stop"}.get(int(stop), "neither") if known else "neither"
    return {"form of the result": "a pair", "answer": words, "best epoch": best}


def loss_cases(rng: np.random.Generator) -> list[Case]:
    noisy = (1 / np.arange(1, 13) + rng.normal(0, 0.05, 12)).round(3).tolist()
    return [
        Case(([5.0], 1), note="before the first epoch"),
        Case(([5.0, 6.0], 1), note="one worse epoch, a patience of one"),
        Case(([5.0, 3.0, 4.0], 2), note="one worse epoch, a patience of two"),
        Case(([5.0, 3.0, 4.0, 3.5], 2), note="two worse epochs, the second less than the first"),
        Case(([5.0, 4.0, 3.999, 3.998], 2), note="always better, at last by little"),
        Case(([2e-8, 1.8e-8, 1.6e-8, 1.5e-8], 2), note="2e-8, 1.8e-8, 1.6e-8, 1.5e-8: each better"),
        Case(([5.0, 3.0, 4.0, 6.0, 7.0], 2), note="three worse epochs, a patience of two"),
        Case(([5.0, 2.0, 2.0, 2.0], 2), note="as good as the best, twice"),
        Case(([2.0, 2.0, 3.0], 2), note="as good as the best, then worse"),
        Case(([4.0, 6.0, 5.0, 3.0, 3.5], 2), note="worse twice, then better than ever"),
        Case(([4.0, 3.0, 3.5, 2.0, 2.5, 1.0, 1.5], 3), note="up and down, and better each time"),
        Case(([9.0, 1.0, 8.0, 7.0, 6.0], 3), note="one lucky epoch, then better step by step"),
        Case(([2.0, 3.0, 4.0, 5.0, 6.0], 10), note="nothing but worse, with much patience"),
        Case(([3.0, 4.0, 5.0, 4.5, 6.0, 5.0], 2), note="five worse epochs, a patience of two"),
        Case(([1.0, 3.0, 2.5, 2.0, 1.5], 4), note="training only made it worse"),
        Case(([-1.0, -3.0, -2.0, -2.5], 2), note="negative losses, as minus a log-density can be"),
        Case((noisy, 4), note="twelve epochs"),
    ]


EARLY_STOPPING = exercise(
    __file__, "5.7", early_stopping, loss_cases, observe_stop, properties=no_mutation(loss_cases)
)
