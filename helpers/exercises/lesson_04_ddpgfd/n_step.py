"""Lesson 04's view ahead: exercise 4.9 `n_step_return`."""

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.memory.buffers import n_step_return


def observe_n_step_return(function, rewards, ends, gamma):
    """Both parts under their names; anything else than a pair stands for the sums alone."""
    output = function(rewards, ends, gamma)
    pair = isinstance(output, tuple | list) and len(output) == 2
    sums, numbers = output if pair else (output, None)
    return {"discounted sums": sums, "numbers of rewards": numbers}


def n_step_cases(rng: np.random.Generator) -> list[Case]:
    def given(rewards: list, ends: list[str], gamma: float) -> tuple:
        """Ends are written row by row, E for an end and a dot for any other step."""
        flags = [[letter == "E" for letter in row] for row in ends]
        return np.array(rewards, np.float32), np.array(flags), gamma

    def drawn(rows: int, n: int, often: float, gamma: float) -> tuple:
        rewards = np.round(3 * rng.normal(size=(rows, n)), 1).astype(np.float32)
        return rewards, rng.random((rows, n)) < often, gamma

    return [
        Case(given([[2.0]], ["."], 0.1), note="one row, one step"),
        Case(given([[1.0, 2.0, 3.0]], ["..."], 0.1), note="no end"),
        Case(given([[1.0, 2.0, 3.0]], [".E."], 0.1), note="the episode ends in between"),
        Case(given([[1.0, 2.0, 3.0]], ["E.."], 0.1), note="the first step is the end"),
        Case(given([[1.0, 2.0, 3.0]], ["..E"], 0.1), note="the last step is the end"),
        Case(given([[1.0, 2.0, 3.0, 4.0]], [".EE."], 0.1), note="two ends"),
        Case(
            given([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 10.0, 0.0]], ["....", "...E"], 0.9),
            note="hardly any rewards",
        ),
        Case(drawn(3, 3, 0.2, 0.9), note="as many rows as steps"),
        Case(drawn(6, 4, 0.25, 0.0), note="gamma 0, where only the first reward counts"),
        Case(drawn(6, 4, 0.25, 1.0), note="gamma 1, nothing is discounted"),
        Case(drawn(40, 10, 0.1, 0.99), note="many rows"),
    ]


N_STEP_RETURN = exercise(
    __file__, "4.9", n_step_return, n_step_cases, observe_n_step_return,
    output=("discounted sums", "numbers of rewards"), properties=no_mutation(n_step_cases),
)  # fmt: skip
