"""Lesson 07's functions of a batch: exercises 7.1, 7.2, 7.5 and 7.7.

What is learned from is seen by its gradients too. Where no gradient may flow is a property, so that
a wrong value has its name whether or not something is detached.
"""

import numpy as np

from helpers.algorithms.policies import approximate_kl
from helpers.algorithms.ppo import clipped_surrogate, ppo_value_loss, probability_ratio
from helpers.checks.exercise import Case
from helpers.exercises.observing import asked, gradient, gradients_to
from helpers.exercises.properties import gives_tensors, no_mutation, on_every_case, spares
from helpers.exercises.text import exercise
from helpers.exercises.toys import leaf


def log_prob_cases(rng: np.random.Generator) -> list[Case]:
    def moved(size: int, by: float) -> tuple:
        old = -rng.exponential(size=size)
        return leaf(old + by * rng.normal(size=size)), leaf(old)

    return [
        Case((leaf([-0.5]), leaf([-1.5])), note="batch of one, an action that became likelier"),
        Case((leaf([-0.7, -1.2]), leaf([-0.7, -1.2])), note="a policy that has not moved"),
        Case((leaf([-2.0, -0.3, -0.1]), leaf([-1.0, -0.8, -0.4])), note="three actions"),
        Case(moved(6, 0.1), note="a policy that has moved a little"),
        Case(moved(32, 1.0), note="a policy that has moved far"),
        Case((leaf([-120.0, -0.1]), leaf([-119.0, -0.2])), note="an all but impossible action"),
        Case((leaf([3.0, 1.5]), leaf([2.5, 2.0])), note="densities above 1, of a narrow Gaussian"),
        Case((leaf([-0.5, -1.0]), leaf([-7.0, -0.8])), note="a rare action that is now likely"),
    ]


PROBABILITY_RATIO = exercise(
    __file__, "7.1", probability_ratio, log_prob_cases,
    gradients_to({"log_probs": 0}, asked, "ratios"),
    properties=spares("old log-probabilities", log_prob_cases, asked)
    | gives_tensors(log_prob_cases, asked)
    | no_mutation(log_prob_cases),
)  # fmt: skip


def kl_without_gradient(function, case):
    return not asked(function, *case.args).requires_grad


APPROXIMATE_KL = exercise(
    __file__, "7.5", approximate_kl, log_prob_cases, asked,
    properties=gives_tensors(log_prob_cases, asked)
    | {"gradient in a report": on_every_case(log_prob_cases, kl_without_gradient)}
    | no_mutation(log_prob_cases),
)  # fmt: skip


def asked_unless_flat(function, *args):
    """A right objective may carry no gradient where it is flat: a clipped ratio is a number."""
    objective = asked(function, *args)
    flowed = gradient(objective, args[0])
    return objective if flowed is None or flowed.any() else objective.detach()


def surrogate_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, clip_range: float) -> tuple:
        ratios = np.exp(0.4 * rng.normal(size=size))
        return leaf(ratios), leaf(1 + 2 * rng.normal(size=size)), clip_range

    def one(ratio: float, advantage: float, note: str) -> Case:
        return Case((leaf([ratio]), leaf([advantage]), 0.2), note=note)

    return [
        one(1.1, 2.0, "a good action within the range"),
        one(1.5, 2.0, "a good action that is likelier already"),
        one(0.5, 2.0, "a good action that has become rarer"),
        one(1.5, -2.0, "a bad action that has become likelier"),
        one(0.5, -2.0, "a bad action that is rarer already"),
        one(9.0, -2.0, "a bad action that has become far likelier"),
        Case((leaf([1.5, 0.5, 1.25]), leaf([1.0, -3.0, 2.0]), 0.3), note="three, wider range"),
        Case(drawn(5, 0.1), note="a narrow range"),
        Case(drawn(32, 0.2)),
    ]


CLIPPED_SURROGATE = exercise(
    __file__, "7.2", clipped_surrogate, surrogate_cases,
    gradients_to({"the ratios": 0}, asked_unless_flat, "objective"),
    properties=spares("advantages", surrogate_cases, asked, place=1)
    | gives_tensors(surrogate_cases, asked)
    | no_mutation(surrogate_cases),
)  # fmt: skip


def value_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, clip_range: float | None) -> tuple:
        old = 2 * rng.normal(size=size)
        values, returns = old + 0.5 * rng.normal(size=size), old + rng.normal(size=size)
        return leaf(values), leaf(old), leaf(returns), clip_range

    def one(value: float, note: str) -> Case:
        return Case((leaf([value]), leaf([3.0]), leaf([4.0]), 0.2), note=note)

    far = leaf([2.0, -1.0]), leaf([0.5, 1.0]), leaf([2.5, -1.5]), None
    return [
        Case((leaf([3.0]), leaf([1.0]), leaf([5.0]), None), note="one value, nothing clipped"),
        one(3.1, "a value that has moved a little, with a range of 0.2"),
        one(2.9, "a value that has moved a little, away from its return"),
        one(3.5, "a value that has moved far, towards its return"),
        one(2.5, "a value that has moved far, away from its return"),
        one(5.5, "a value that has moved far beyond its return"),
        Case(drawn(5, None), note="five values, nothing clipped"),
        Case(far, note="up and down a long way, nothing clipped"),
        Case(drawn(6, 0.3), note="six values, with a range of 0.3"),
        Case(drawn(32, 0.5)),
        Case((leaf([1.5]), leaf([1.0]), leaf([2.0]), 0.0), note="a range of 0, which is not None"),
    ]


PPO_VALUE_LOSS = exercise(
    __file__, "7.7", ppo_value_loss, value_loss_cases, gradients_to({"the values": 0}, asked),
    properties=spares("returns", value_loss_cases, asked, place=2)
    | spares("old values", value_loss_cases, asked, place=1)
    | gives_tensors(value_loss_cases, asked)
    | no_mutation(value_loss_cases),
)  # fmt: skip
