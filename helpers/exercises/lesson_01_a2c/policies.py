"""Lesson 01's policies: exercises 1.2 `log_prob`, 1.8 `entropy` and 1.11 `gaussian_log_prob`.

Each is seen by its values and by the gradients that a loss would send back through them.
"""

import numpy as np
import torch

from helpers.algorithms.policies import entropy, gaussian_log_prob
from helpers.algorithms.reinforce import log_prob
from helpers.checks.exercise import Case
from helpers.exercises.observing import asked, gradients_to
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import floats, leaf

observe_logits = gradients_to({"the logits": 0}, asked, "output")


def log_prob_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((leaf([[1.0, 0.0]]), torch.tensor([1])), note="batch of one"),
        Case(
            (leaf([[0.5, 2.0, 1.0], [3.0, 0.1, 0.4]]), torch.tensor([2, 0])),
            note="two states, three actions",
        ),
        Case(
            (leaf(rng.normal(size=(3, 3))), torch.tensor([2, 0, 0])),
            note="as many states as actions",
        ),
        Case((leaf(rng.normal(size=(6, 4))), torch.tensor([0, 3, 1, 1, 2, 3]))),
        Case(
            (leaf([[100.0, 101.0], [102.0, 101.5]]), torch.tensor([0, 1])),
            note="large logits",
        ),
        Case(
            (leaf([[200.0, 0.0, -200.0], [-150.0, 150.0, 0.0]]), torch.tensor([2, 0])),
            note="actions that are all but impossible",
        ),
        Case((leaf([[200.0, 199.0], [0.0, 1.0]]), torch.tensor([1, 0])), note="one row far above"),
        Case((leaf(rng.normal(size=(4, 3))), torch.tensor([1, 0, 0, 1])), note="one never taken"),
    ]


LOG_PROB = exercise(
    __file__, "1.2", log_prob, log_prob_cases, observe_logits,
    properties=no_mutation(log_prob_cases),
)  # fmt: skip


def entropy_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((leaf([[0.0, 0.0]]),), note="batch of one, undecided"),
        Case((leaf([[0.5, 2.0, 1.0], [3.0, 0.1, 0.4]]),), note="two states, three actions"),
        Case((leaf(rng.normal(size=(3, 3))),), note="as many states as actions"),
        Case((leaf(rng.normal(size=(6, 4))),)),
        Case((leaf([[100.0, 101.0], [102.0, 101.5]]),), note="large logits"),
        Case((leaf([[200.0, 0.0, -200.0], [-150.0, 150.0, 0.0]]),), note="a policy all sure"),
        Case((leaf([[10.0, 0.0], [0.0, 9.0]]),), note="small probabilities"),
        Case((leaf([[200.0, 199.0], [0.0, 1.5]]),), note="one row far above"),
    ]


ENTROPY = exercise(
    __file__, "1.8", entropy, entropy_cases, observe_logits, properties=no_mutation(entropy_cases)
)


def gaussian_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, log_std: list[float]) -> tuple:
        mean = rng.normal(size=(size, len(log_std)))
        actions = mean + np.exp(log_std) * rng.normal(size=mean.shape)
        return leaf(mean), leaf(log_std), floats(actions)

    one = (leaf([[0.0]]), leaf([0.0]), torch.tensor([[1.0]]))
    far = (leaf([[0.0, 1.0]]), leaf([-12.0, 6.0]), torch.tensor([[1e-4, -9999.0]]))
    return [
        Case(one, note="batch of one, std 1, one std from the mean"),
        Case(drawn(3, [-0.7]), note="one action dimension"),
        Case(drawn(1, [0.5, 1.0]), note="two action dimensions, wide"),
        Case(drawn(3, [-1.0, 0.3, 0.8]), note="as many actions as action dimensions"),
        Case(drawn(6, [-2.5, -0.4]), note="a narrow one"),
        Case(far, note="very narrow and very wide, and far from the mean"),
    ]


GAUSSIAN_LOG_PROB = exercise(
    __file__, "1.11", gaussian_log_prob, gaussian_cases,
    gradients_to({"the mean": 0, "log_std": 1}, asked, "output"),
    properties=no_mutation(gaussian_cases),
)  # fmt: skip
