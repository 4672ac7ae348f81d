"""Lesson 04's formulas: exercises 4.8 `priorities`, 4.11 `weighted_critic_loss`, 4.10
`n_step_target`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents.ddpgfd import n_step_target, priorities, weighted_critic_loss
from helpers.checks.a2c_losses import PLAIN_NUMBER, gives_tensors, leaf, with_backward
from helpers.checks.ddpg_losses import (
    ANOTHER,
    INFERENCE,
    NO_TENSOR,
    TARGET_GRADIENT,
    SmallActor,
    SmallCritic,
    floats,
    networks,
    same,
)
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import gradient, no_mutation
from helpers.checks.per_sampling import CARET
from helpers.memory.buffers import PrioritizedBatch

# --- 4.8 priorities -------------------------------------------------------------------------------


def priority_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, action_dim: int, *numbers: float) -> tuple:
        slope, is_demo = rng.normal(size=(size, action_dim)), rng.permutation(size) % 2
        return floats(2 * rng.normal(size=size)), floats(slope), floats(is_demo), *numbers

    def by_hand(is_demo: float) -> tuple:
        return floats([-2.0]), floats([[1.0, 3.0]]), floats([is_demo]), 0.5, 0.25, 4.0

    return [
        Case(by_hand(0.0), note="a step of the agent's own"),
        Case(by_hand(1.0), note="the same step, demonstrated"),
        Case(
            (floats([0.0, 0.0]), floats([[0.0], [0.0]]), floats([0.0, 1.0]), 1.0, 0.25, 4.0),
            note="nothing left to learn",
        ),
        Case(drawn(4, 1, 1.0, 0.001, 1.0), note="one action dimension"),
        Case(drawn(3, 3, 0.5, 0.1, 2.0), note="as many action dimensions as steps"),
        Case(drawn(5, 2, 0.0, 0.1, 0.0), note="lambda_3 and the bonus are 0"),
        Case(drawn(12, 4, 2.0, 0.01, 0.5)),
    ]


class Terms:
    """What a priority is made of, each part (B,) or a number."""

    def __init__(self, td_error, action_gradient, is_demo, gradient_weight, eps, demo_bonus):
        self.td, self.grad, self.demo = td_error, action_gradient, is_demo
        self.weight, self.eps, self.bonus = gradient_weight, eps, demo_bonus

    @property
    def error(self) -> torch.Tensor:
        return self.td**2

    @property
    def slope(self) -> torch.Tensor:
        return (self.grad**2).sum(dim=1)

    @property
    def rest(self) -> torch.Tensor:
        return self.eps + self.bonus * self.demo


def put_together(formula: Callable[[Terms], torch.Tensor]):
    """A wrong version by another formula."""
    return lambda *args: formula(Terms(*args))


def with_error(measure: Callable[[Terms], torch.Tensor]):
    """A wrong version: another first term."""
    return put_together(lambda t: measure(t) + t.weight * t.slope + t.rest)


def with_slope(measure: Callable[[Terms], torch.Tensor]):
    """A wrong version: another second term."""
    return put_together(lambda t: t.error + measure(t) + t.rest)


def with_rest(measure: Callable[[Terms], torch.Tensor]):
    """A wrong version: something else is added at the end."""
    return put_together(lambda t: t.error + t.weight * t.slope + measure(t))


def errors_squared_in_place(*args):
    terms = Terms(*args)
    terms.td.pow_(2)
    return terms.td + terms.weight * terms.slope + terms.rest


def an_if_for_the_whole_batch(*args):
    terms = Terms(*args)
    priority = terms.error + terms.weight * terms.slope + terms.eps
    return priority + terms.bonus if terms.demo else priority


SLOPE = (
    "It is the squared length of the slope: each entry squared, added up over the dimensions of "
    "the action."
)
EPS = "`eps` is for every step: without it a step whose error is 0 would never be drawn again."
BONUS = "The bonus is for demonstrations only: `is_demo` is 1 for these, and 0 for all others."
OWN_ROWS = "Every step has a priority of its own, shape `(B,)`."

PRIORITIES = Exercise(
    id="4.8",
    lesson="04_ddpgfd",
    reference=priorities,
    card=Card(
        title="What is left to learn",
        what="Write `priorities(td_error, action_gradient, is_demo, gradient_weight, eps, "
        r"demo_bonus)`: for each step of a batch $p = \delta^2 + \lambda_3\,|\nabla_a Q|^2 + "
        r"\epsilon + \epsilon_D$, shape `(B,)`. The slope has shape `(B, action_dim)`, and "
        r"$\epsilon_D$ is for demonstrations only.",
        why="Two learners ask for a step: the critic where it errs, the actor where the critic "
        "still says which way is up. In some published code the second term became $Q^2$, which is "
        "large wherever the values are: then what is drawn is what is good, not what is unlearned.",
        difficulty=2,
        minutes=7,
    ),
    hints=(
        "Go term by term, and ask of each: which shape has it? A slope over two motors is an arrow "
        "with two entries, and what counts is its length, squared. `is_demo` is a number, so it "
        "can switch something on and off without an `if`.",
        "Square the TD error. Square the slope entry by entry, add up along axis 1, and take "
        "`gradient_weight` times that. `eps` is added everywhere, and `demo_bonus` multiplied with "
        "`is_demo`.",
    ),
    cases=priority_cases,
    misconceptions=[
        # delta^2
        Misconception(
            "absolute TD error",
            with_error(lambda t: t.td.abs()),
            "You took the absolute TD error, as plain prioritized replay does. Here it is squared, "
            "like the slope that it is added to.",
        ),
        Misconception("^ for a power", with_error(lambda t: t.td ^ 2), CARET),
        Misconception(
            "TD error not squared",
            with_error(lambda t: t.td),
            "You added the TD error with its sign, so a step that the critic overrates gets a low "
            "or even negative priority. An error counts in both directions: square it.",
        ),
        Misconception(
            "mean of the squared TD errors",
            with_error(lambda t: t.error.mean()),
            f"You averaged the TD errors over the batch. {OWN_ROWS}",
        ),
        Misconception(
            "TD error left out",
            with_error(lambda t: 0.0),
            "The TD error is missing, and with it everything that the critic has to learn.",
        ),
        Misconception(
            "TD error weighted, too",
            with_error(lambda t: t.weight * t.error),
            "You weighted the TD error with `gradient_weight`, too. Lambda_3 says how much the "
            "slope counts beside it.",
        ),
        Misconception(
            "the weight on the TD error",
            put_together(lambda t: t.weight * t.error + t.slope + t.rest),
            "You weighted the TD error. `gradient_weight` is lambda_3, and it stands in front of "
            "the slope.",
        ),
        Misconception(
            "TD error raised to the fourth power",
            with_error(lambda t: t.error**2),
            "You squared the TD error twice. It comes as it is, with its sign: once is enough.",
        ),
        # |grad_a Q|^2
        Misconception(
            "length of the slope, not squared",
            with_slope(lambda t: t.weight * t.grad.norm(dim=1)),
            "You took the length of the slope. It is to be squared: leave the root out.",
        ),
        Misconception(
            "absolute slopes added up",
            with_slope(lambda t: t.weight * t.grad.abs().sum(dim=1)),
            f"You added up the absolute entries of the slope. {SLOPE}",
        ),
        Misconception(
            "slope not squared",
            with_slope(lambda t: t.weight * t.grad.sum(dim=1)),
            f"The slope is not squared: up in one dimension and down in another cancel. {SLOPE}",
        ),
        Misconception(
            "mean of the slope, not squared",
            with_slope(lambda t: t.weight * t.grad.mean(dim=1)),
            f"You took the mean entry of the slope, so up and down cancel. {SLOPE}",
        ),
        Misconception(
            "mean over the dimensions",
            with_slope(lambda t: t.weight * (t.grad**2).mean(dim=1)),
            "You took the mean over the dimensions of the action. The squared length of an arrow "
            "is the sum: with the mean, every further motor makes the slope look smaller.",
        ),
        Misconception(
            "sum squared",
            with_slope(lambda t: t.weight * t.grad.sum(dim=1) ** 2),
            f"You added up first and squared afterwards, so up and down cancel. {SLOPE}",
        ),
        Misconception(
            "only the first dimension",
            with_slope(lambda t: t.weight * t.grad[:, 0] ** 2),
            f"You took the first dimension of the slope only. {SLOPE}",
        ),
        Misconception(
            "only the steepest dimension",
            with_slope(lambda t: t.weight * (t.grad**2).amax(dim=1)),
            f"You took the steepest dimension only. {SLOPE}",
        ),
        Misconception(
            "slope of the whole batch",
            with_slope(lambda t: t.weight * (t.grad**2).sum()),
            f"You added up the slopes of the whole batch. {OWN_ROWS} Add along axis 1 only.",
        ),
        Misconception(
            "mean slope of the batch",
            with_slope(lambda t: t.weight * (t.grad**2).sum(dim=1).mean()),
            f"You averaged the slopes over the batch. {OWN_ROWS}",
        ),
        Misconception(
            "mean of all squares",
            with_slope(lambda t: t.weight * (t.grad**2).mean()),
            f"You averaged the squared slopes over everything. {OWN_ROWS} Add along axis 1.",
        ),
        Misconception(
            "added along the batch",
            with_slope(lambda t: t.weight * (t.grad**2).sum(dim=0)),
            "You added along axis 0, over the steps of the batch, so each number belongs to a "
            "motor and not to a step. The action's dimensions are axis 1.",
        ),
        Misconception(
            "added along the batch, squared afterwards",
            with_slope(lambda t: t.weight * (t.grad.sum(dim=0) ** 2).sum()),
            f"You added up the slopes of all steps, whose directions cancel. {OWN_ROWS}",
        ),
        Misconception(
            "slope not added up",
            put_together(lambda t: t.error[:, None] + t.weight * t.grad**2 + t.rest[:, None]),
            "You return a number for each dimension of the action. A step has one priority: add "
            "the squares up along axis 1.",
        ),
        Misconception(
            "slope not added up, broadcast",
            with_slope(lambda t: t.weight * t.grad**2),
            "You did not add up the dimensions of the slope: `(B, action_dim)` does not fit to "
            "`(B,)`, or, where the two numbers are alike, fits in the wrong way.",
        ),
        Misconception(
            "an axis kept",
            with_slope(lambda t: t.weight * (t.grad**2).sum(dim=1, keepdim=True)),
            "You kept the axis along which you added up: `(B, 1)` and `(B,)` are broadcast to a "
            "matrix, every error with every slope.",
        ),
        Misconception(
            "weight missing",
            with_slope(lambda t: t.slope),
            "`gradient_weight` is missing: it says how much the slope counts beside the TD error.",
        ),
        Misconception(
            "weight squared",
            with_slope(lambda t: ((t.weight * t.grad) ** 2).sum(dim=1)),
            "You squared `gradient_weight` along with the slope. It stands in front of the square.",
        ),
        Misconception(
            "slope left out",
            with_slope(lambda t: 0.0),
            "The slope is missing. The critic may have learned a step by heart while the actor "
            "still has a way to go there.",
        ),
        Misconception(
            "slope subtracted",
            with_slope(lambda t: -t.weight * t.slope),
            "You subtracted the slope, so a step becomes rarer the more the actor can learn from "
            "it. Both terms are reasons to draw it: plus.",
        ),
        Misconception(
            "error times slope",
            put_together(lambda t: t.error * t.weight * t.slope + t.rest),
            "You multiplied error and slope: where one of them is 0, the other would no longer "
            "count. Either is a reason to draw a step: add them.",
        ),
        # eps and eps_D
        Misconception(
            "eps missing", with_rest(lambda t: t.bonus * t.demo), f"You left out `eps`. {EPS}"
        ),
        Misconception(
            "bonus missing",
            with_rest(lambda t: t.eps),
            "Demonstrations have no bonus. They are few among many: without `demo_bonus` they are "
            "soon drawn no more often than anything else.",
        ),
        Misconception(
            "neither of them",
            with_rest(lambda t: 0.0),
            "Both small numbers at the end are missing: `eps` for every step, `demo_bonus` for "
            "demonstrations.",
        ),
        Misconception(
            "bonus for all",
            with_rest(lambda t: t.eps + t.bonus),
            f"Every step has the bonus in your version. {BONUS}",
        ),
        Misconception(
            "bonus for the agent's own steps",
            with_rest(lambda t: t.eps + t.bonus * (1 - t.demo)),
            f"Your bonus goes to the agent's own steps. {BONUS}",
        ),
        Misconception(
            "1 for demonstrations",
            with_rest(lambda t: t.eps + t.demo),
            "Your bonus is always 1, what `is_demo` says. How large it is, `demo_bonus` says: "
            "multiply the two.",
        ),
        Misconception(
            "eps for demonstrations only",
            with_rest(lambda t: (t.eps + t.bonus) * t.demo),
            f"You multiplied `eps` with `is_demo`, too. {EPS}",
        ),
        Misconception(
            "eps or bonus",
            with_rest(lambda t: torch.where(t.demo > 0, t.bonus, t.eps)),
            f"Demonstrations have the bonus in place of `eps` in your version. {EPS} The bonus "
            "comes on top.",
        ),
        Misconception(
            "eps and bonus exchanged",
            with_rest(lambda t: t.bonus + t.eps * t.demo),
            f"`eps` and `demo_bonus` have changed places. {BONUS}",
        ),
        Misconception(
            "bonus multiplied",
            put_together(lambda t: (t.error + t.weight * t.slope + t.eps) * (1 + t.bonus * t.demo)),
            "You multiplied by the bonus. It is added, so that a demonstration is drawn even when "
            "there is nothing left to learn from it.",
        ),
        Misconception(
            "times bonus and is_demo",
            put_together(lambda t: (t.error + t.weight * t.slope + t.eps) * t.bonus * t.demo),
            "You multiplied everything by `is_demo`: the agent's own steps would never be drawn "
            "again. The bonus is added.",
        ),
        Misconception(
            "bonus in place of the priority",
            put_together(
                lambda t: torch.where(t.demo > 0, t.bonus, t.error + t.weight * t.slope) + t.eps
            ),
            "For demonstrations you return the bonus in place of the rest. It comes on top: among "
            "them, too, there are some to learn more from.",
        ),
        Misconception(
            "eps as a floor",
            put_together(
                lambda t: (t.error + t.weight * t.slope).clamp(min=t.eps) + t.bonus * t.demo
            ),
            "You took the larger of `eps` and the rest. It is added, to every step.",
        ),
        Misconception(
            "eps and bonus weighted",
            put_together(lambda t: t.error + t.weight * (t.slope + t.rest)),
            "Your brackets close too late: `gradient_weight` multiplies `eps` and the bonus, too. "
            "It belongs to the slope alone.",
        ),
        Misconception(
            "an if for the whole batch",
            an_if_for_the_whole_batch,
            "An `if` decides once, but every row of the batch has its own `is_demo`. Multiply the "
            "bonus with it, row by row.",
        ),
        # What is returned
        Misconception(
            "root of it all",
            put_together(lambda t: (t.error + t.weight * t.slope + t.rest).sqrt()),
            "You took the square root of it all. How strongly priorities count is decided by "
            "`alpha`, in the memory; here they are wanted as they are.",
        ),
        Misconception(
            "shares of the sum",
            put_together(
                lambda t: (
                    (t.error + t.weight * t.slope + t.rest)
                    / (t.error + t.weight * t.slope + t.rest).sum()
                )
            ),
            "You divided by the sum, which makes probabilities. Those are about all steps in the "
            "memory, not about a batch: give it the priorities themselves.",
        ),
        Misconception(
            "one for the batch",
            put_together(lambda t: (t.error + t.weight * t.slope + t.rest).mean()),
            f"You return one number for the whole batch. {OWN_ROWS}",
        ),
        Misconception(
            "a column",
            put_together(lambda t: (t.error + t.weight * t.slope + t.rest)[:, None]),
            "The numbers are right, but in a column `(B, 1)`. The memory wants one for each index, "
            "shape `(B,)`: leave the axis out.",
        ),
        Misconception(
            "errors squared in place",
            errors_squared_in_place,
            "The numbers are right, but you wrote the squares into `td_error` itself, which "
            "whoever called you may still need. Build a new tensor.",
        ),
    ],
    properties=[no_mutation(priority_cases)],
)


# --- 4.11 weighted_critic_loss --------------------------------------------------------------------


def observe_weighted_loss(function, q, target, n_target, weights, n_step_weight):
    q = q.clone().requires_grad_()
    loss = function(q, target, n_target, weights, n_step_weight)
    return {"loss": loss, "gradient to q": gradient(loss, q)}


def weighted_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, n_step_weight: float) -> tuple:
        parts = 2 * rng.normal(size=(3, size))
        return *map(floats, parts), floats(rng.uniform(0.1, 1, size)), n_step_weight

    return [
        Case((*map(floats, ([1.0], [3.0], [4.0], [0.5])), 0.5), note="batch of one"),
        Case(
            (*map(floats, ([1.0, 2.0], [3.0, 2.0], [1.0, -2.0], [1.0, 0.25])), 0.5),
            note="two steps, each with an error of one kind only",
        ),
        Case(drawn(5, 0.25), note="five steps"),
        Case(drawn(6, 0.0), note="lambda_1 is 0: one step ahead only"),
        Case(drawn(6, 2.0), note="lambda_1 above 1"),
        Case(drawn(32, 1.0)),
    ]


def loss_is_a_tensor(function, rng):
    def of_leaf(q, *rest):
        return function(leaf(q), *rest)

    return gives_tensors(weighted_loss_cases).test(of_leaf, rng)


def from_errors(measure: Callable):
    """A wrong version: `measure(one, n, w, lam)` of both differences."""
    return lambda q, y, yn, w, lam: measure(q - y, q - yn, w, lam)


def by_squares(measure: Callable):
    """A wrong version: `measure(one, n, w, lam)` of both squared differences."""
    return lambda q, y, yn, w, lam: measure((q - y) ** 2, (q - yn) ** 2, w, lam)


def with_each(error: Callable):
    """A wrong version: another error in place of the square."""
    return from_errors(lambda one, n, w, lam: (w * (error(one) + lam * error(n))).mean())


def huber(x):
    return F.smooth_l1_loss(x, torch.zeros_like(x), reduction="none")


def written_into_the_weights(q, target, n_target, weights, n_step_weight):
    return weights.mul_((q - target) ** 2 + n_step_weight * (q - n_target) ** 2).mean()


BOTH = "A step's weight is about the whole step: it multiplies the sum of both errors."
LAMBDA = "`n_step_weight` is lambda_1, and it stands in front of the n-step error alone."

WEIGHTED_CRITIC_LOSS = Exercise(
    id="4.11",
    lesson="04_ddpgfd",
    reference=weighted_critic_loss,
    card=Card(
        title="Two targets, weighted steps",
        what="Write `weighted_critic_loss(q, target, n_target, weights, n_step_weight)`: for each "
        "step the squared error against the target of one step plus `n_step_weight` times the one "
        "against the target of n steps; multiplied with the step's importance weight; the mean of "
        "it. All tensors are `(B,)`, the result is a scalar.",
        why="Steps are drawn unevenly on purpose, and the weights are what keeps the critic honest "
        "about it. Square them, normalise them once more in the batch, or forget them on one of "
        "the two errors, and it learns the average of a world that does not exist.",
        difficulty=2,
        minutes=5,
    ),
    hints=(
        "Two errors make up what a step says, and the weight is about the step. So which of the "
        "three operations comes first: adding the errors, multiplying by the weight, or the mean?",
        "Square `q` minus each of the two targets, add them with `n_step_weight` in front of the "
        "second, multiply by `weights`, still `(B,)`, and take the plain mean at the very end.",
    ),
    cases=weighted_loss_cases,
    observe=observe_weighted_loss,
    misconceptions=[
        # Weights
        Misconception(
            "weights missing",
            by_squares(lambda one, n, w, lam: (one + lam * n).mean()),
            "The importance weights are missing. Steps with high priority are drawn more often "
            "than they happen, and without weights the critic learns as if they happened as often.",
        ),
        Misconception(
            "weights squared",
            by_squares(lambda one, n, w, lam: (w**2 * (one + lam * n)).mean()),
            "Your weights are squared: did you multiply the differences by them, before squaring? "
            "They multiply the squared errors.",
        ),
        Misconception(
            "root of the weights",
            by_squares(lambda one, n, w, lam: (w.sqrt() * (one + lam * n)).mean()),
            "You took the root of the weights. How strongly they correct was decided by `beta`, in "
            "the memory: take them as they are.",
        ),
        Misconception(
            "divided by the weights",
            by_squares(lambda one, n, w, lam: ((one + lam * n) / w).mean()),
            "You divided by the weights. They are small where a step is drawn too often already: "
            "multiply.",
        ),
        Misconception(
            "one minus the weights",
            by_squares(lambda one, n, w, lam: ((1 - w) * (one + lam * n)).mean()),
            "You multiplied by 1 minus the weights. They are small where a step is drawn too often "
            "already: multiply by them as they are.",
        ),
        Misconception(
            "weights on the one-step error only",
            by_squares(lambda one, n, w, lam: (w * one + lam * n).mean()),
            f"Your weights reach only the error of one step. {BOTH}",
        ),
        Misconception(
            "weights on the n-step error only",
            by_squares(lambda one, n, w, lam: (one + w * lam * n).mean()),
            f"Your weights reach only the n-step error. {BOTH}",
        ),
        Misconception(
            "mean before the weights",
            by_squares(lambda one, n, w, lam: w * (one + lam * n).mean()),
            "You took the mean of the errors and multiplied it by all weights, which gives one "
            "number for each step again. First each step by its own weight, then the mean.",
        ),
        Misconception(
            "mean of the weights outside",
            by_squares(lambda one, n, w, lam: w.mean() * (one + lam * n).mean()),
            "Every step counts the same in your version: it is the mean error times the mean "
            "weight (or every weight with every error, by an axis too many). Each step has its own "
            "weight: multiply row by row, and take the mean at the end.",
        ),
        Misconception(
            "sum of the weights outside",
            by_squares(lambda one, n, w, lam: w.sum() * (one + lam * n).mean()),
            "You multiplied the mean error by the sum of the weights, so every step counts the "
            "same. Each has its own weight: multiply before you take the mean.",
        ),
        Misconception(
            "divided by the sum of the weights",
            by_squares(lambda one, n, w, lam: (w * (one + lam * n)).sum() / w.sum()),
            "You divided by the sum of the weights, or them by their mean. Then a batch of steps "
            "that are all drawn too often would count in full: weights are there to make such an "
            "update smaller. Take the plain mean.",
        ),
        Misconception(
            "weights divided by their largest",
            by_squares(lambda one, n, w, lam: (w / w.max() * (one + lam * n)).mean()),
            "You divided the weights by the largest of the batch. They are normalised already, by "
            "the largest of the whole memory, so that a step counts the same in every batch.",
        ),
        # lambda_1
        Misconception(
            "lambda_1 missing",
            by_squares(lambda one, n, w, lam: (w * (one + n)).mean()),
            f"`n_step_weight` is missing, so both errors count the same. {LAMBDA}",
        ),
        Misconception(
            "lambda_1 on the one-step error",
            by_squares(lambda one, n, w, lam: (w * (lam * one + n)).mean()),
            f"You weighted the error of one step. {LAMBDA}",
        ),
        Misconception(
            "lambda_1 on both",
            by_squares(lambda one, n, w, lam: (w * lam * (one + n)).mean()),
            f"You weighted both errors with `n_step_weight`. {LAMBDA}",
        ),
        Misconception(
            "lambda_1 squared",
            by_squares(lambda one, n, w, lam: (w * (one + lam**2 * n)).mean()),
            f"You squared `n_step_weight` along with the difference. {LAMBDA}",
        ),
        Misconception(
            "a share of each",
            by_squares(lambda one, n, w, lam: (w * ((1 - lam) * one + lam * n)).mean()),
            "You gave the two errors shares that add up to 1. Here the n-step error comes on top "
            "of the other, which always counts in full.",
        ),
        Misconception(
            "divided by both shares",
            by_squares(lambda one, n, w, lam: (w * (one + lam * n)).mean() / (1 + lam)),
            "You divided by 1 plus `n_step_weight`. Here the n-step error comes on top of the "
            "other, which always counts in full.",
        ),
        Misconception(
            "lambda_1 always 0.5",
            by_squares(lambda one, n, w, lam: (w * (one + 0.5 * n)).mean()),
            "Your n-step error always counts half. How much it does, `n_step_weight` says.",
        ),
        # Errors
        Misconception(
            "only one step ahead",
            by_squares(lambda one, n, w, lam: (w * one).mean()),
            "The n-step error is missing: it is what carries a reward at the end of an episode "
            "back to its beginning within a few updates.",
        ),
        Misconception(
            "only n steps ahead",
            by_squares(lambda one, n, w, lam: (w * lam * n).mean()),
            "The error of one step is missing. It is the one that counts in full; the other comes "
            "on top.",
        ),
        Misconception(
            "only n steps ahead, in full",
            by_squares(lambda one, n, w, lam: (w * n).mean()),
            "You compare with the target of n steps only. The error of one step counts in full, "
            "and this one comes on top, `n_step_weight` times.",
        ),
        Misconception(
            "one step ahead twice",
            by_squares(lambda one, n, w, lam: (w * (one + lam * one)).mean()),
            "You compare with the target of one step twice. The second error is about `n_target`.",
        ),
        Misconception(
            "targets mixed",
            lambda q, y, yn, w, lam: (w * (q - (y + lam * yn) / (1 + lam)) ** 2).mean(),
            "You mixed the two targets and compared with the mixture. That pulls the same way, but "
            "two errors are asked for: compare with each of them.",
        ),
        Misconception(
            "targets added",
            lambda q, y, yn, w, lam: (w * (q - (y + lam * yn)) ** 2).mean(),
            "You added the two targets and compared with their sum, which is far too much: each is "
            "an estimate of the whole value. Add the errors.",
        ),
        Misconception(
            "differences added",
            from_errors(lambda one, n, w, lam: (w * (one + lam * n) ** 2).mean()),
            "You added the two differences and squared their sum, so that an error up and one down "
            "cancel. Square each of them first.",
        ),
        Misconception(
            "target against target",
            lambda q, y, yn, w, lam: (w * ((q - y) ** 2 + lam * (y - yn) ** 2)).mean(),
            "You compare the two targets with each other. Both are fixed, so nothing can be "
            "learned from that: each is compared with `q`.",
        ),
        Misconception(
            "errors subtracted",
            by_squares(lambda one, n, w, lam: (w * (one - lam * n)).mean()),
            "You subtracted the n-step error, so Q is driven away from that target. Both are to "
            "become smaller: add them.",
        ),
        Misconception(
            "the smaller error",
            by_squares(lambda one, n, w, lam: (w * torch.minimum(one, lam * n)).mean()),
            "In every row only the smaller error counts in your version. Add the two.",
        ),
        Misconception(
            "the larger error",
            by_squares(lambda one, n, w, lam: (w * torch.maximum(one, lam * n)).mean()),
            "In every row only the larger error counts in your version. Add the two.",
        ),
        Misconception(
            "absolute errors",
            with_each(torch.abs),
            "You took the absolute errors. They pull the values towards the median of the targets, "
            "but Q is an expectation, the mean: that is what the squared error leads to.",
        ),
        Misconception(
            "smooth absolute errors",
            with_each(huber),
            "You took the smooth L1 (Huber) loss. It is a common and robust choice, less moved by "
            "outliers, but squared errors are asked for here.",
        ),
        Misconception(
            "not squared",
            with_each(lambda x: x),
            "The differences are not squared, so errors up and down cancel, and the loss can be "
            "made ever smaller by lowering all values.",
        ),
        Misconception(
            "half the squared errors",
            with_each(lambda x: x**2 / 2),
            "You return half of it. Many books do so, because the gradient then has no factor 2, "
            "but the squared errors themselves are asked for.",
        ),
        Misconception(
            "root of each step",
            by_squares(lambda one, n, w, lam: (w * (one + lam * n).sqrt()).mean()),
            "You took the root of each step's error. The squared errors themselves are weighted "
            "and averaged.",
        ),
        Misconception(
            "root",
            by_squares(lambda one, n, w, lam: (w * (one + lam * n)).mean().sqrt()),
            "You took the square root of the mean. That reads well in a report, but the mean "
            "itself is asked for.",
        ),
        # What is returned
        Misconception(
            "sum instead of mean",
            by_squares(lambda one, n, w, lam: (w * (one + lam * n)).sum()),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many steps there are in it.",
        ),
        Misconception(
            "no mean",
            by_squares(lambda one, n, w, lam: w * (one + lam * n)),
            "You return one number for each step. A loss is a single number, which `backward()` "
            "can start from: take the mean.",
        ),
        Misconception(
            "a pair of losses",
            by_squares(lambda one, n, w, lam: ((w * one).mean(), lam * (w * n).mean())),
            "You return two losses. The optimiser goes down a single number: add them.",
        ),
        Misconception(
            "minus sign",
            by_squares(lambda one, n, w, lam: -(w * (one + lam * n)).mean()),
            "The minus belongs to the actor, which wants more of something. The critic's error is "
            "to become smaller, which is what an optimiser does anyway.",
        ),
        Misconception(
            "values detached",
            lambda q, *rest: weighted_critic_loss(q.detach(), *rest),
            "You detached the critic's values, so no gradient reaches the critic and it never "
            "learns. The targets are the side that holds still, and they come without gradient.",
        ),
        Misconception(
            "n-step error detached",
            from_errors(lambda one, n, w, lam: (w * (one**2 + lam * n.detach() ** 2)).mean()),
            "The number is right, but you detached the n-step error, so that nothing is learned "
            "from it. Both differences hold the critic's values: let the gradient pass.",
        ),
        Misconception(
            "a plain number", lambda *args: weighted_critic_loss(*args).item(), PLAIN_NUMBER
        ),
        Misconception(
            "written into the weights",
            written_into_the_weights,
            "The loss is right, but you wrote into `weights` (`*=`), which belong to the batch. "
            "Build a new tensor.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(weighted_critic_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: the agent computes the gradient and takes the step.",
        ),
    ],
    properties=[
        Property("no tensor", loss_is_a_tensor, PLAIN_NUMBER),
        no_mutation(weighted_loss_cases, observe_weighted_loss),
    ],
)


# --- Batches n steps ahead ------------------------------------------------------------------------


def n_step_batch(
    rng: np.random.Generator, obs_size: int, action_dim: int, gamma: float, *windows: str
) -> tuple:
    """A batch, part by part. Each of `windows` is as long as a row's window: "..t" is one of three
    steps that (t)erminates with its last, "..c" one that is (c)ut off there, "..b" both, ".." just
    two.

    What belongs to the first step and to the last one of a window is the same where it is one.
    """
    size = len(windows)
    lengths = np.array([len(window) for window in windows])
    one = lengths == 1
    ended, limited = (np.array([w[-1] in kind for w in windows]) for kind in ("tb", "cb"))

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=(size, *shape)).round(2)

    reward, next_obs = numbers(), numbers(obs_size)
    return (
        floats(numbers(obs_size)),
        floats(rng.uniform(-1, 1, (size, action_dim)).round(2)),
        floats(reward),
        floats(next_obs),
        floats(ended & one),
        floats(limited & one),
        floats(np.where(one, reward, reward + 2 * numbers())),
        floats(np.where(one[:, None], next_obs, numbers(obs_size))),
        floats(ended),
        floats(gamma**lengths),
        floats(rng.uniform(0.1, 1, size).round(2)),
        floats(rng.permutation(size) % 2),
        torch.from_numpy(rng.permutation(2 * size)[:size]),
    )


# --- 4.10 n_step_target ---------------------------------------------------------------------------


def observe_n_step_target(
    function, obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs,
    n_terminated, n_discount, weights, is_demo, indices, target_actor, target_critic,
):  # fmt: skip
    parts = (
        obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs,
        n_terminated, n_discount, weights, is_demo, indices,
    )  # fmt: skip
    copies = PrioritizedBatch(*(part.clone() for part in parts))
    again = function(copies, target_actor, target_critic)
    target = function(PrioritizedBatch(*parts), target_actor, target_critic)
    return target if same(target, again) else ANOTHER


def n_target_cases(rng: np.random.Generator) -> list[Case]:
    def one(window: str) -> tuple:
        return *n_step_batch(rng, 1, 1, 0.5, window), SmallActor([[0.5]]), SmallCritic([3.0, 1.0])

    def drawn(obs_size: int, action_dim: int, gamma: float, *windows: str) -> tuple:
        batch = n_step_batch(rng, obs_size, action_dim, gamma, *windows)
        return *batch, *networks(rng, obs_size, action_dim)

    return [
        Case(one(".."), note="a batch of one, two steps ahead"),
        Case(one("..t"), note="a batch of one that terminates at the third step"),
        Case(one("c"), note="a batch of one that is cut off after the first step"),
        Case(drawn(2, 1, 0.9, "...", ".t", "..c", "."), note="windows of different lengths"),
        Case(drawn(3, 2, 0.99, "t", "." * 10, "....c"), note="up to ten steps ahead"),
        Case(drawn(1, 2, 0.9, "b", ".b", "."), note="terminated and cut off in the same step"),
        Case(drawn(2, 2, 1.0, "...", "..t"), note="gamma 1, nothing is discounted"),
        Case(drawn(4, 3, 0.95, *["..", "..t", "...c", "t", "...."] * 3)),
    ]


def checked(function) -> Callable:
    return lambda rng: (observe_n_step_target(function, *c.args) for c in n_target_cases(rng))


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked(function)(rng))


def target_can_be_learned_from(function, rng):
    """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
    for target in checked(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


def future(batch, actor, critic):
    return critic(batch.n_next_obs, actor(batch.n_next_obs))


def from_parts(formula: Callable):
    """A wrong version by another formula: `formula(batch, future)`."""
    return torch.no_grad()(
        lambda batch, actor, critic: formula(batch, future(batch, actor, critic))
    )


def rewarded(reward: Callable):
    """A wrong version with other rewards."""
    return from_parts(lambda b, q: reward(b) + b.n_discount * (1 - b.n_terminated) * q)


def masked(mask: Callable):
    """A wrong version with another mask."""
    return from_parts(lambda b, q: b.n_reward + b.n_discount * mask(b) * q)


def discounted(discount: Callable):
    """A wrong version with another discount."""
    return from_parts(lambda b, q: b.n_reward + discount(b) * (1 - b.n_terminated) * q)


def bootstrapped(value: Callable):
    """A wrong version with another estimate of the future: `value(batch, actor, critic)`."""
    return torch.no_grad()(
        lambda b, actor, critic: (
            b.n_reward + b.n_discount * (1 - b.n_terminated) * value(b, actor, critic)
        )
    )


def with_gradient(batch, actor, critic):
    return batch.n_reward + batch.n_discount * (1 - batch.n_terminated) * future(
        batch, actor, critic
    )


@torch.no_grad()
def an_if_about_the_end(batch, actor, critic):
    if batch.n_terminated:
        return batch.n_reward
    return batch.n_reward + batch.n_discount * future(batch, actor, critic)


@torch.no_grad()
def added_in_place(batch, actor, critic):
    batch.n_reward.add_(batch.n_discount * (1 - batch.n_terminated) * future(batch, actor, critic))
    return batch.n_reward


WINDOW_END = (
    "Where the window ends, `batch.n_terminated` says; `terminated` is about its first step only"
)
BEHIND = (
    "All k rewards have been counted, so the future begins behind the last of them: at "
    "`batch.n_next_obs`, for actor and critic"
)
EACH_K = (
    "Windows differ in length, and `batch.n_discount` has the right power of gamma for each row "
    "already."
)
LIMIT = (
    "A time limit cuts off the recording, but the world would have gone on: only a termination "
    "takes the future away."
)

N_STEP_TARGET = Exercise(
    id="4.10",
    lesson="04_ddpgfd",
    reference=n_step_target,
    card=Card(
        title="A target n steps ahead",
        what="Write `n_step_target(batch, target_actor, target_critic)`: what $Q(s, a)$ should be "
        r"by the rewards of up to n steps, $y_n = \sum_{i<k} \gamma^i r_i + \gamma^k\,(1 - "
        r"\text{terminated})\,Q'(s_k, \mu'(s_k))$, shape `(B,)`, without gradient. The batch has "
        "what belongs to a window under names with `n_`.",
        why="With a reward at the very end, one-step targets carry the news back one state at a "
        "time; this one carries it n states at once. It mixes easily: a reward of one step with a "
        "discount of ten, an end of the first step with a state of the last. All of it trains.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "It is lesson 02's target with a longer first step. Which parts of the batch are about the "
        "step itself, and which about the window that begins with it? Nothing from the two groups "
        "may be mixed.",
        "Ask both target networks about `batch.n_next_obs`. Multiply what the critic says with "
        "`batch.n_discount`, which is gamma^k already, and with a factor that is 0 where "
        "`batch.n_terminated` is 1; add `batch.n_reward`, whose rewards are discounted already.",
    ),
    cases=n_target_cases,
    observe=observe_n_step_target,
    misconceptions=[
        # Rewards
        Misconception(
            "reward of the first step",
            rewarded(lambda b: b.reward),
            "You took `batch.reward`, which is the first step's alone, and left out the rest of "
            "the window. `batch.n_reward` has all of them.",
        ),
        Misconception(
            "first reward twice",
            rewarded(lambda b: b.reward + b.n_reward),
            "You added `batch.reward` to `batch.n_reward`, which begins with it.",
        ),
        Misconception(
            "rewards discounted again",
            from_parts(lambda b, q: b.n_discount * (b.n_reward + (1 - b.n_terminated) * q)),
            "You discounted the rewards once more. In `batch.n_reward` each of them has its power "
            "of gamma already; `n_discount` is for what comes after the window.",
        ),
        Misconception(
            "the discount on the rewards only",
            from_parts(lambda b, q: b.n_discount * b.n_reward + (1 - b.n_terminated) * q),
            "You discounted the rewards and not the future. The rewards have their powers of gamma "
            "already; `n_discount` is for what comes after the window.",
        ),
        Misconception(
            "rewards masked, too",
            from_parts(lambda b, q: (1 - b.n_terminated) * (b.n_reward + b.n_discount * q)),
            "You set the rewards to 0 as well where the window terminated. They were really "
            "earned, and on a sparse task the last one is what everything is about: the mask "
            "belongs to the future only.",
        ),
        Misconception(
            "rewards missing",
            rewarded(lambda b: 0.0),
            "The rewards are missing: a target without them has nothing to do with the task.",
        ),
        Misconception(
            "rewards alone",
            from_parts(lambda b, q: b.n_reward),
            "Your target ends with the window, as if there were nothing after it. Add the "
            "discounted value of what comes next.",
        ),
        Misconception(
            "importance weights in the target",
            from_parts(
                lambda b, q: b.weights * (b.n_reward + b.n_discount * (1 - b.n_terminated) * q)
            ),
            "You multiplied the target by the importance weights. They say how much an error "
            "counts, not what the value should be: they belong to the loss.",
        ),
        # Discount
        Misconception(
            "no discount",
            discounted(lambda b: 1.0),
            "The discount is missing: what comes after k steps counts gamma^k times as much, which "
            "is `batch.n_discount`.",
        ),
        Misconception(
            "discount squared",
            discounted(lambda b: b.n_discount**2),
            f"You squared the discount. {EACH_K}",
        ),
        Misconception(
            "discount to the power of ten",
            discounted(lambda b: b.n_discount**10),
            f"You raised the discount to the power of ten. {EACH_K}",
        ),
        Misconception(
            "always 0.99",
            discounted(lambda b: 0.99),
            f"Your discount is always 0.99, as for one step. {EACH_K}",
        ),
        Misconception(
            "always 0.99 to the power of ten",
            discounted(lambda b: 0.99**10),
            f"Your discount is that of ten steps in every row. {EACH_K}",
        ),
        Misconception(
            "one minus the discount",
            discounted(lambda b: 1 - b.n_discount),
            "You took 1 minus the discount. `batch.n_discount` is gamma^k itself, what the future "
            "counts.",
        ),
        Misconception(
            "mean discount of the batch",
            discounted(lambda b: b.n_discount.mean()),
            f"You took the mean discount of the batch. {EACH_K}",
        ),
        # Ends
        Misconception(
            "end of the first step",
            masked(lambda b: 1 - b.terminated),
            f"You look at the end of the wrong step. {WINDOW_END}, so you bootstrap from terminal "
            "states whenever the window is longer than that.",
        ),
        Misconception(
            "truncated in place of terminated",
            masked(lambda b: 1 - b.truncated),
            f"You set the future to 0 where the step was truncated. {LIMIT}",
        ),
        Misconception(
            "truncation taken for termination",
            masked(lambda b: (1 - b.n_terminated) * (1 - b.truncated)),
            f"You set the future to 0 where the step was truncated as well. {LIMIT}",
        ),
        Misconception(
            "truncation taken for termination, the flags added",
            masked(lambda b: 1 - b.n_terminated - b.truncated),
            f"You take truncated steps for terminated ones. {LIMIT}",
        ),
        Misconception(
            "no mask",
            masked(lambda b: 1.0),
            "You bootstrap from windows that terminated, too. After them there is no future: "
            "multiply it by 1 minus `batch.n_terminated`.",
        ),
        Misconception(
            "mask inverted",
            masked(lambda b: b.n_terminated),
            "Your mask is the wrong way round: it keeps the future just where there is none. "
            "`n_terminated` is 1 at the end, so the factor is 1 minus it.",
        ),
        Misconception(
            "inverts with a tilde",
            masked(lambda b: ~b.n_terminated),
            "`~` inverts booleans, but these flags are the numbers 0.0 and 1.0: subtract them from "
            "1.",
        ),
        Misconception(
            "an if for the whole batch",
            an_if_about_the_end,
            "An `if` decides once, but every row of the batch has its own `n_terminated`. Multiply "
            "with a factor that is 0 or 1 row by row.",
        ),
        Misconception(
            "one end for the whole batch",
            masked(lambda b: 1 - b.n_terminated.max()),
            "One window that terminated takes the future from the whole batch. Each row has a flag "
            "of its own: multiply entry by entry.",
        ),
        Misconception(
            "brackets missing",
            from_parts(lambda b, q: b.n_reward + b.n_discount * 1 - b.n_terminated * q),
            "Without brackets around 1 minus `n_terminated`, the discount is added as a number of "
            "its own and the future counts only at the end: multiplication comes before "
            "subtraction.",
        ),
        # The future
        Misconception(
            "one step ahead",
            bootstrapped(lambda b, actor, critic: critic(b.next_obs, actor(b.next_obs))),
            f"You bootstrap from `batch.next_obs`, one step ahead. {BEHIND}.",
        ),
        Misconception(
            "the actor asked one step ahead",
            bootstrapped(lambda b, actor, critic: critic(b.n_next_obs, actor(b.next_obs))),
            f"You asked the target actor about `batch.next_obs`. {BEHIND}.",
        ),
        Misconception(
            "the critic asked one step ahead",
            bootstrapped(lambda b, actor, critic: critic(b.next_obs, actor(b.n_next_obs))),
            "The action is right, but you asked the critic what it is worth in `batch.next_obs`. "
            f"{BEHIND}.",
        ),
        Misconception(
            "one step ahead, with its end",
            torch.no_grad()(
                lambda b, actor, critic: (
                    b.n_reward
                    + b.n_discount * (1 - b.terminated) * critic(b.next_obs, actor(b.next_obs))
                )
            ),
            "Rewards and discount are the window's, but observation and end are those of its first "
            f"step. {BEHIND}, and its end is `batch.n_terminated`.",
        ),
        Misconception(
            "the one-step target",
            torch.no_grad()(
                lambda b, actor, critic: (
                    b.reward
                    + b.n_discount * (1 - b.terminated) * critic(b.next_obs, actor(b.next_obs))
                )
            ),
            "All but the discount is that of one step. What belongs to the window has names with "
            "`n_`: reward, next observation and end.",
        ),
        Misconception(
            "the present observation",
            bootstrapped(lambda b, actor, critic: critic(b.obs, actor(b.obs))),
            f"You bootstrap from `batch.obs`, where the window began. {BEHIND}.",
        ),
        Misconception(
            "the action of the batch",
            bootstrapped(lambda b, actor, critic: critic(b.n_next_obs, b.action)),
            "You asked what the action of the batch is worth after the window. That one was taken "
            "at its beginning; what comes next is the policy's own choice, so ask the target "
            "actor.",
        ),
        Misconception(
            "the step itself",
            bootstrapped(lambda b, actor, critic: critic(b.obs, b.action)),
            f"You bootstrap from the very pair that the target is for. {BEHIND}.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            bootstrapped(lambda b, actor, critic: critic(actor(b.n_next_obs), b.n_next_obs)),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "noise on the next action",
            bootstrapped(
                lambda b, actor, critic: critic(
                    b.n_next_obs, actor(b.n_next_obs) + 0.1 * torch.randn_like(b.action)
                )
            ),
            "Called twice with the same batch, your function gives two targets: there is noise on "
            "the next action. Smoothing is TD3's idea; here the target actor itself is asked.",
        ),
        Misconception(
            "future subtracted",
            masked(lambda b: b.n_terminated - 1),
            "You subtracted the future, or your factor is `n_terminated` minus 1 in place of 1 "
            "minus `n_terminated`. The future comes on top of the rewards: plus.",
        ),
        # Shapes and what values do not show
        Misconception(
            "a column",
            from_parts(
                lambda b, q: (b.n_reward + b.n_discount * (1 - b.n_terminated) * q).unsqueeze(-1)
            ),
            "The numbers are right, but in a column `(B, 1)`. The critic's values have shape "
            "`(B,)`, and the two would be broadcast to a matrix: leave the axis out.",
        ),
        Misconception(
            "every reward with every future",
            from_parts(
                lambda b, q: b.n_reward.unsqueeze(-1) + b.n_discount * (1 - b.n_terminated) * q
            ),
            "`(B, 1)` and `(B,)` were broadcast to a matrix `(B, B)`: every reward meets every "
            "future. Everything here has shape `(B,)` already, so no `unsqueeze` is needed.",
        ),
        Misconception(
            "every future with every reward",
            from_parts(
                lambda b, q: b.n_reward + b.n_discount * (1 - b.n_terminated) * q.unsqueeze(-1)
            ),
            "`(B, 1)` and `(B,)` were broadcast to a matrix `(B, B)`: every future meets every "
            "reward. The critic's values have shape `(B,)` already, so no `unsqueeze` is needed.",
        ),
        Misconception(
            "averaged over the batch",
            from_parts(lambda b, q: (b.n_reward + b.n_discount * (1 - b.n_terminated) * q).mean()),
            "You averaged over the batch. Every step has a target of its own, shape `(B,)`.",
        ),
        Misconception(
            "added to the rewards in place",
            added_in_place,
            "The numbers are right, but you wrote them into `batch.n_reward` itself, which whoever "
            "made the batch may still need. Build a new tensor.",
        ),
        Misconception("with gradient", with_gradient, TARGET_GRADIENT),
        Misconception("in numpy", lambda *args: n_step_target(*args).numpy(), NO_TENSOR),
        Misconception("in inference mode", torch.inference_mode()(with_gradient), INFERENCE),
    ],
    properties=[
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        no_mutation(n_target_cases, observe_n_step_target),
    ],
)
