"""Lesson 04's formulas of prioritized replay: exercises 4.3 `sampling_probabilities` and 4.4
`importance_weights`.
"""

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.memory.buffers import importance_weights, sampling_probabilities


def probability_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((np.array([3.0]), 0.6), note="a single transition"),
        Case((np.array([1.0, 4.0]), 0.5), note="two transitions"),
        Case((np.array([2.0, 6.0, 0.5, 1.5]), 1.0), note="alpha 1, in proportion"),
        Case((np.array([2.0, 6.0, 0.5, 1.5]), 0.0), note="alpha 0, all equally likely"),
        Case((np.array([0.01, 0.02, 50.0, 0.03]), 0.6), note="one priority far above the others"),
        Case((np.round(rng.exponential(size=6) + 0.1, 2), 0.3)),
        Case((rng.exponential(size=200), 0.6), note="many transitions"),
    ]


SAMPLING_PROBABILITIES = exercise(
    __file__, "4.3", sampling_probabilities, probability_cases,
    properties=no_mutation(probability_cases),
)  # fmt: skip


def weight_cases(rng: np.random.Generator) -> list[Case]:
    priorities = rng.exponential(size=1000) + 0.05
    everywhere = priorities / priorities.sum()
    drawn = rng.choice(everywhere, size=32)
    return [
        Case((np.array([0.5]), 0.25, 3, 1.0), note="a batch of one"),
        Case((np.array([0.5, 0.25]), 0.25, 3, 1.0), note="the rarest transition is in the batch"),
        Case(
            (np.array([0.4, 0.2, 0.2]), 0.1, 5, 1.0),
            note="the rarest transition is not in the batch",
        ),
        Case((np.array([0.4, 0.2, 0.2]), 0.1, 5, 0.5), note="half of the correction"),
        Case((np.array([0.4, 0.2, 0.2]), 0.1, 5, 0.0), note="beta 0, no correction"),
        Case((np.array([0.3, 0.3]), 0.2, 3, 0.4), note="the same transition twice"),
        Case((np.array([1.0]), 1.0, 1, 0.7), note="the only transition in the buffer"),
        Case((drawn, float(everywhere.min()), 1000, 0.6), note="many transitions"),
    ]


IMPORTANCE_WEIGHTS = exercise(
    __file__, "4.4", importance_weights, weight_cases, properties=no_mutation(weight_cases)
)
