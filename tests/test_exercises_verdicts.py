"""Answers that somebody gave without sight of the catalogue, and what they are told."""

import numpy as np
import pytest

from helpers.checks import find, grade
from helpers.checks.edits import Edit, edited

DRAW, DELAY = "action, log_prob = self.sample(batch.obs, self.rng)", "self.updates % 2 == 0 and "
OWN_TEMPERATURE, NEXT = "temperature_loss(self.temperature.log, log_prob", "next_log_prob"
STEP = "gradient_step(self.actor_optimizer, policy_loss)"
COIN = (
    "order = rng.permutation(n)",
    "own = rng.random(n) < 0.5; own[0] ^= own.all() or not own.any(); "
    "order, aside = np.argsort(~own), own.sum()",
)
CUT = "order.tensor_split(parts)"


@pytest.mark.parametrize(
    ("number", "edits", "diagnosis"),
    [
        ("7.3", [(CUT, "torch.split(order, parts)")], "cut by the size, given the number"),
        (
            "4.6",
            [("(children[:, 0], children[:, 1])", ".reduce(children, axis=0)[0]")],
            "the operation along the batch",
        ),
        ("6.5", [("- lower).mean()", "- lower).sum()")], "sum instead of mean"),
        ("6.5", [("torch.minimum(q1, q2)", "q1 + q2")], "by the sum of both"),
        (
            "6.7",
            [(STEP, DELAY + STEP), ("if self.learn", "if self.updates % 2 == 0 and self.learn")],
            "TD3's delay of actor and temperature",
        ),
        (
            "6.7",
            [("-log_prob.detach()", "log_prob.detach()"), ("loss(self.critic, batch.obs",
                                                           "loss(self.target_critic, batch.obs")],
            "two mistakes",
        ),
        (
            "6.7",
            [(OWN_TEMPERATURE, OWN_TEMPERATURE.replace("log_prob", NEXT)),
             ('"temperature": temperature', '"temperature": self.temperature()')],
            "two mistakes",
        ),
    ],
)  # fmt: skip
def test_it_has_a_name(number, edits, diagnosis):
    exercise = find(number)
    answer = edited(exercise.reference, [Edit(*each) for each in edits], "answer")
    assert grade(number, answer).diagnosis == diagnosis


def test_what_went_wrong_first_is_told_first():
    """Of two updates, in the order in which an update computes: the critics were right."""
    exercise = find("6.7")
    halved = edited(exercise.reference, [Edit("log_prob, temperature)", "log_prob / 2, 0.7)")], "a")
    assert grade("6.7", halved).message.startswith("The `actor_loss` of update 1 should be")


def test_no_placeholder_is_shown_for_a_number():
    exercise = find("5.6")
    answer = edited(exercise.reference, [Edit(*COIN)], "answer")
    assert (
        "set aside should be `1 of 3`, but yours is `1 to 2 of 3`" in grade("5.6", answer).message
    )


def test_why_a_mask_of_integers_is_converted_is_said():
    def learnable_rows(done, done_before):
        return 1 - np.concatenate([done_before[None], done[:-1]]).astype(int)

    assert "zeros and ones are the numbers of two rows" in grade("1.7", learnable_rows).footer
    by_reference = grade("1.7", lambda *given: find("1.7").reference(*given))
    assert "rows" not in by_reference.footer
