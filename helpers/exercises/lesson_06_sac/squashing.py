"""Lesson 06's draw: exercises 6.2 `log_tanh_slope` and 6.3 `squashed_sample`.

Each is seen by its values and by the gradients that a loss would send back through them.
"""

import numpy as np

from helpers.algorithms.sac import log_tanh_slope, squashed_sample
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case
from helpers.exercises.observing import asked, gradient, gradients_to, steady
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import floats, leaf


def observe_slope(function, u):
    """Where the output no longer changes far out, at which number it stops says no more."""
    seen = gradients_to({"u": 0}, asked, "output")(function, u)
    if u.abs().max() > 10 and not falls_far_out(function):
        return dict.fromkeys(seen, "the same, however large u is")
    return seen


def slope_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((leaf([[0.5]]),), note="one number"),
        Case((leaf([[0.3, -1.2], [2.0, -0.7]]),), note="two actions of two dimensions"),
        Case((leaf([0.25, -0.5, 1.5]),), note="one action without a batch"),
        Case((leaf(rng.normal(size=(3, 3))),), note="as many actions as dimensions"),
        Case((leaf([[0.0]]),), note="u = 0"),
        Case((leaf([[6.5, -7.5]]),), note="far out, where 1 - tanh(u)^2 loses its digits"),
        Case((leaf([[12.0, -25.0]]),), note="u where tanh(u) rounds to 1"),
        Case((leaf([[95.0, -95.0]]),), note="u where e^u overflows"),
    ]


def falls_far_out(function):
    """Or does something else than stay at one number, which would be one's own mistake."""
    near, far = (float(function(floats([u])).sum()) for u in (20.0, 30.0))
    return not (near == far and -1000 < near < -1)


LOG_TANH_SLOPE = exercise(
    __file__, "6.2", log_tanh_slope, slope_cases, observe_slope,
    properties=no_mutation(slope_cases),
)  # fmt: skip


def observe_sample(function, mean, log_std, noise):
    given, again = (asked(function, mean, log_std, noise) for _ in range(2))
    if given is None:
        return None
    if not (isinstance(given, tuple | list) and len(given) == 2):
        return {"form of the output": f"{type(given).__name__}, not a pair"}
    action, log_prob = (steady(*pair) for pair in zip(given, again, strict=True))
    if action is ANOTHER or log_prob is ANOTHER:
        return {"action": action, "log_prob": log_prob}
    into = {"the mean": mean, "log_std": log_std}
    slopes = {
        f"gradient from {name} to {to}": gradient(output, x)
        for name, output in (("action", action), ("log_prob", log_prob))
        for to, x in into.items()
    }
    return {"form of the output": "a pair", "action": action, "log_prob": log_prob, **slopes}


def sample_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(*shape: int, log_std: float = -0.5) -> tuple:
        mean, noise = 0.7 * rng.normal(size=(2, *shape))
        return leaf(mean), leaf(log_std + 0.3 * rng.normal(size=shape)), floats(noise)

    one = leaf([[0.25]]), leaf([[-0.5]]), floats([[1.5]])
    flat = leaf([[9.0, -11.0]]), leaf([[0.5, 1.0]]), floats([[1.2, -0.8]])
    sure = leaf([[0.3, -0.2]]), leaf([[-4.0, -5.0]]), floats([[-1.5, 0.5]])
    return [
        Case(one, note="a batch of one"),
        Case((leaf([[0.25]]), leaf([[-0.5]]), floats([[0.0]])), note="no noise"),
        Case(drawn(4, 1), note="one action dimension"),
        Case(drawn(3, 2, log_std=0.4), note="two action dimensions, wide"),
        Case(drawn(3, 3), note="as many actions as dimensions"),
        Case(drawn(3), note="one action without a batch, as while acting"),
        Case(flat, note="where the tanh is flat"),
        Case(sure, note="a very narrow policy"),
    ]


SQUASHED_SAMPLE = exercise(
    __file__, "6.3", squashed_sample, sample_cases, observe_sample, output=("action", "log_prob"),
    properties=no_mutation(sample_cases),
)  # fmt: skip
