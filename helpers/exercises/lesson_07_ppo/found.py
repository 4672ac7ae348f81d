"""Lesson 07's bug to find, exercise 7.6: an actor's loss in the style of much code on the web."""

import numpy as np
import torch

from helpers.checks.exercise import Case
from helpers.exercises.lesson_07_ppo.losses import asked_unless_flat
from helpers.exercises.observing import gradients_to
from helpers.exercises.text import exercise
from helpers.exercises.toys import floats, leaf


def found_loss(
    log_probs: torch.Tensor, old_log_probs: torch.Tensor, advantages: torch.Tensor, clip: float
) -> torch.Tensor:
    """The actor's loss, to be minimised. A scalar; all inputs (B,).

    Source: Schulman et al. 2017, equation 7, with the minus sign inside both products.
    """
    # 1. The ratio, and normalised advantages.
    ratio = (log_probs - old_log_probs).exp()
    adv = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    # 2. Two losses.
    loss1 = -adv * ratio
    loss2 = -adv * torch.clamp(ratio, 1 - clip, 1 + clip)
    # 3. One of them in each row.
    return torch.max(loss1, loss2).mean()


def loss_cases(rng: np.random.Generator) -> list[Case]:
    def moved(log_ratios: list[float], advantages: list[float], clip: float, note: str) -> Case:
        old = -rng.exponential(size=len(log_ratios)).round(1)
        return Case((leaf(old + log_ratios), floats(old), floats(advantages), clip), note=note)

    return [
        moved([0.1, -0.1], [1.0, -1.0], 0.2, "both within the range"),
        moved([0.5, 0.5], [2.0, -2.0], 0.2, "both likelier than they were"),
        moved([-0.5, -0.5], [2.0, -2.0], 0.2, "both rarer than they were"),
        moved([0.6, -0.4, 0.2, 0.0], [1.0, 3.0, -2.0, 5.0], 0.3, "four actions, wider range"),
        moved([*rng.normal(0, 0.4, 16)], [*rng.normal(1, 2, 16)], 0.1, "sixteen actions"),
    ]


FOUND_LOSS = exercise(
    __file__, "7.6", found_loss, loss_cases,
    gradients_to({"the log-probabilities": 0}, asked_unless_flat),
)  # fmt: skip
