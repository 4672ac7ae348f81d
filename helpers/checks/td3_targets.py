"""Lesson 03's estimates: exercises 3.1 `double_estimate` and 3.3 `clipped_double_q_target`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents.td3 import clipped_double_q_target
from helpers.checks.ddpg_losses import (
    ANOTHER,
    BROADCAST,
    INFERENCE,
    NO_TENSOR,
    batch_of,
    floats,
    same,
)
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import gradient, no_mutation
from helpers.checks.td3_losses import SmallTwin, random_twin
from helpers.memory.buffers import Batch
from helpers.training.overestimation import double_estimate

# --- 3.1 double_estimate --------------------------------------------------------------------------


def estimate_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(rows: int, actions: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.normal(size=actions)
        first, second = truth + rng.normal(size=(2, rows, actions))
        return np.round(first, 2), np.round(second, 2)

    return [
        Case((np.array([[1.0, 3.0, 2.0]]), np.array([[5.0, 4.0, 6.5]])), note="one row"),
        Case(
            (
                np.array([[1.0, 3.0, 2.0], [7.0, -1.0, 0.0]]),
                np.array([[5.0, 4.0, 6.5], [-2.0, 8.0, 1.0]]),
            ),
            note="two rows",
        ),
        Case(drawn(3, 3), note="as many rows as actions"),
        Case(drawn(5, 2), note="more rows than actions"),
        Case(drawn(4, 1), note="only one action"),
        Case((-2 - drawn(3, 5)[0] ** 2, drawn(3, 5)[1]), note="all chosen from is negative"),
        Case(drawn(200, 8)),
    ]


def at(rows: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Entry `best[i]` of row i."""
    return rows[np.arange(len(rows)), best]


def chosen_by(choose: Callable):
    """A wrong version: `choose(choosing, judging)` gives an action for each row."""
    return lambda choosing, judging: at(judging, choose(choosing, judging))


def best_of(choosing: np.ndarray) -> np.ndarray:
    return choosing.argmax(axis=1)


def without_the_last_row(choosing, judging):
    return np.array([judging[i, choosing[i].argmax()] for i in range(len(choosing) - 1)])


def last_row_left_at_0(choosing, judging):
    values = np.zeros(len(choosing))
    for i in range(len(choosing) - 1):
        values[i] = judging[i, choosing[i].argmax()]
    return values


def first_row_left_out(choosing, judging):
    return np.array([judging[i, choosing[i].argmax()] for i in range(1, len(choosing))])


def return_in_the_loop(choosing, judging):
    for chosen, judged in zip(choosing, judging, strict=True):
        return judged[chosen.argmax()]


OWN_JUDGE = (
    "You read the value off the very estimates that chose. An action is often chosen just because "
    "its error is large and positive, and with that error its value is too high: ask `judging`, "
    "whose errors had no say."
)
OFF_BY_ONE = (
    "`range` leaves its end out by itself, so `len(choosing)` is right as it is: with one less the "
    "last row is never looked at."
)
FIRST_ROW = (
    "All your values come from the first row of `judging`. Each row is a case of its own: the "
    "action that row 3 chose is judged in row 3."
)

DOUBLE_ESTIMATE = Exercise(
    id="3.1",
    lesson="03_td3",
    reference=double_estimate,
    card=Card(
        title="One chooses, the other judges",
        what="Write `double_estimate(choosing, judging)`: from two sets of estimates `(n, "
        "actions)`, for each row the value that `judging` gives to the action that looks best to "
        "`choosing`, shape `(n,)`.",
        why="The largest of several noisy numbers is too high on average, however fair each of "
        "them is. Two sets of estimates with errors of their own take that bias away, and TD3 "
        "is built on the idea.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "In every row one column is picked. Which of the two tables picks it, and from which is "
        "the number read? And what does numpy give for `table[:, columns]`: an entry a row, or "
        "all these columns of every row?",
        "Take the `argmax` of `choosing` along the axis of the actions. Then index `judging` with "
        "two lists at once, the row numbers 0, 1, 2, ... and these columns: numpy pairs them up.",
    ),
    cases=estimate_cases,
    misconceptions=[
        Misconception("chosen and judged alike", lambda c, j: c.max(axis=1), OWN_JUDGE),
        Misconception(
            "the largest that judging has",
            lambda c, j: j.max(axis=1),
            "You took the largest value of `judging`, so it chooses as well, and the largest of "
            "noisy numbers is too high. Which action is judged is for `choosing` to say.",
        ),
        Misconception(
            "roles exchanged",
            lambda c, j: at(c, best_of(j)),
            "The two have changed places: `judging` chooses in your version, and `choosing` says "
            "what it is worth. The bias would be gone as well, but the names tell who does what.",
        ),
        Misconception(
            "the lower of the two maxima",
            lambda c, j: np.minimum(c.max(axis=1), j.max(axis=1)),
            "You took the maximum of each set and then the lower one. Both maxima are too high, "
            "and so is the lower of them; nobody is judged by somebody else.",
        ),
        Misconception(
            "the lower of both about the chosen action",
            lambda c, j: np.minimum(c.max(axis=1), at(j, best_of(c))),
            "You took the lower of both values of the chosen action. That is what TD3 will do, "
            "and it errs downwards; the double estimator takes what `judging` says, high or low.",
        ),
        Misconception(
            "the higher of the two maxima",
            lambda c, j: np.maximum(c.max(axis=1), j.max(axis=1)),
            "You took the higher of the two maxima, which is the largest of even more noisy "
            "numbers, and further off than either. One set chooses, the other judges.",
        ),
        Misconception(
            "mean of both maxima",
            lambda c, j: (c.max(axis=1) + j.max(axis=1)) / 2,
            "You averaged the two maxima. Both are too high, so their mean is as well: the "
            "judge must be asked about an action that the other one chose.",
        ),
        Misconception(
            "mean of both about the chosen action",
            lambda c, j: (c.max(axis=1) + at(j, best_of(c))) / 2,
            "You averaged what both say about the chosen action. Half of the bias is left, since "
            "the set that chose has a say: only `judging` is asked.",
        ),
        Misconception(
            "the largest of the means",
            lambda c, j: ((c + j) / 2).max(axis=1),
            "You averaged both sets and took the maximum. That makes the noise smaller, but it is "
            "again one set of numbers that chooses and judges at once.",
        ),
        Misconception(
            "both directions averaged",
            lambda c, j: (at(j, best_of(c)) + at(c, best_of(j))) / 2,
            "You did it in both directions and took the mean. That is without bias, too, and even "
            "less noisy, but one direction is asked for: `choosing` chooses, `judging` judges.",
        ),
        Misconception(
            "the worst action",
            chosen_by(lambda c, j: c.argmin(axis=1)),
            "You look for the action that looks worst (`argmin`, or the first of a sorted list). "
            "The best one is meant.",
        ),
        Misconception(
            "the largest without its sign",
            chosen_by(lambda c, j: np.abs(c).argmax(axis=1)),
            "You compare sizes without their sign, so a very bad action may look best. Take the "
            "estimates as they are.",
        ),
        Misconception(
            "argmax over the rows",
            lambda c, j: np.take_along_axis(j, c.argmax(axis=0)[None], axis=0)[0],
            "You look for the best row of every action (`axis=0`). It is the other way round: the "
            "best action of every row, along `axis=1`.",
        ),
        Misconception(
            "argmax over the rows, columns picked",
            lambda c, j: at(j, c.argmax(axis=0)),
            "`argmax(axis=0)` goes down the rows and gives a number for every action. You want the "
            "best action of every row, which is the `argmax` along `axis=1`.",
        ),
        Misconception(
            "one action out of the whole table",
            lambda c, j: j.ravel()[c.argmax()],
            "Without an axis, `argmax` looks for the largest number of the whole table. Each row "
            "has a best action of its own: `axis=1`.",
        ),
        Misconception(
            "the same action in all rows",
            lambda c, j: j[:, c.mean(axis=0).argmax()],
            "You chose the action that is best on average and took it in all rows. Each row is a "
            "case of its own, with its own best action.",
        ),
        Misconception(
            "the first row's action in all rows",
            lambda c, j: j[:, c[0].argmax()],
            "You took the first row's best action in all rows. Each row is a case of its own, with "
            "its own best action.",
        ),
        Misconception(
            "all chosen columns of every row",
            lambda c, j: j[:, best_of(c)],
            "`judging[:, best]` gives all these columns of every row, a table `(n, n)`. To take "
            "one entry a row, hand over the row numbers as well, or pick along the axis.",
        ),
        Misconception(
            "rows in place of columns",
            lambda c, j: j[best_of(c)],
            "The chosen numbers are columns, but you index the rows with them, the first axis. "
            "Say both: which row, and which column of it.",
        ),
        Misconception("all from the first row", lambda c, j: j[0, best_of(c)], FIRST_ROW),
        Misconception(
            "keeps the axis",
            lambda c, j: np.take_along_axis(j, best_of(c)[:, None], axis=1),
            "The numbers are right, but in a column `(n, 1)`. Drop the last axis, so that there is "
            "one number a row, shape `(n,)`.",
        ),
        Misconception(
            "numbers of the actions",
            lambda c, j: best_of(c),
            "You return which action was chosen. Asked for is what it is worth to `judging`.",
        ),
        Misconception(
            "averaged over the rows",
            lambda c, j: at(j, best_of(c)).mean(),
            "You averaged over the rows. Return one value for each, shape `(n,)`; the mean is "
            "taken later, where the bias is measured.",
        ),
        Misconception("the last row forgotten", without_the_last_row, OFF_BY_ONE),
        Misconception("the last row left at 0", last_row_left_at_0, OFF_BY_ONE),
        Misconception(
            "the first row forgotten",
            first_row_left_out,
            "Your loop begins at 1, so row 0 is never looked at. Python counts from 0.",
        ),
        Misconception(
            "return inside the loop",
            return_in_the_loop,
            "A `return` inside the loop ends it after the first row. Collect the values, and "
            "return them after the loop.",
        ),
        Misconception(
            "the last action never chosen",
            chosen_by(lambda c, j: c[:, :-1].argmax(axis=1) if c.shape[1] > 1 else best_of(c)),
            "The last action is never chosen: a slice or a `range` ends one too early.",
        ),
        Misconception(
            "how far the two differ",
            lambda c, j: at(j, best_of(c)) - c.max(axis=1),
            "You return the difference between what both say. Asked for is the judge's value "
            "alone.",
        ),
    ],
    properties=[no_mutation(estimate_cases)],
)


# --- 3.3 clipped_double_q_target ------------------------------------------------------------------


def observe_clipped_target(
    function, obs, action, reward, next_obs, terminated, truncated,
    next_action, target_critic, gamma,
):  # fmt: skip
    parts = obs, action, reward, next_obs, terminated, truncated
    copied = Batch(*(part.clone() for part in parts))
    again = function(copied, next_action.clone(), target_critic, gamma)
    target = function(Batch(*parts), next_action, target_critic, gamma)
    return target if same(target, again) else ANOTHER


def clipped_target_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(*next_obs: float, flag: str = "") -> tuple:
        """The critics say 6.25 and 3.75 where `next_obs` is 2, -2.75 and 0.75 where it is -1."""
        size = len(next_obs)
        now = torch.ones(size, 1), -torch.ones(size, 1), torch.ones(size)
        flags = (torch.full((size,), float(flag == name)) for name in ("terminated", "truncated"))
        later, next_action = floats(next_obs).unsqueeze(-1), torch.full((size, 1), 0.5)
        return *now, later, *flags, next_action, SmallTwin([3.0, 1.0], [1.0, 4.0]), 0.5

    def drawn(obs_size: int, action_dim: int, gamma: float, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        next_action = floats(rng.uniform(-1, 1, size=(len(flags), action_dim)))
        return *batch, next_action, random_twin(rng, obs_size, action_dim), gamma

    return [
        Case(by_hand(2.0), note="a batch of one, in the middle of an episode"),
        Case(by_hand(2.0, flag="terminated"), note="a batch of one that terminated"),
        Case(by_hand(2.0, flag="truncated"), note="a batch of one that was truncated"),
        Case(by_hand(2.0, -1.0), note="two steps, in each another critic is lower"),
        Case(drawn(2, 1, 0.9, "", "terminated", "truncated", ""), note="four steps"),
        Case(drawn(3, 2, 0.9, "both", ""), note="terminated and truncated in the same step"),
        Case(drawn(3, 2, 0.0, "", "truncated"), note="gamma 0, where only the reward counts"),
        Case(drawn(2, 2, 1.0, "", "terminated"), note="gamma 1, nothing is discounted"),
        Case(drawn(4, 3, 0.99, *["", "", "terminated", "truncated"] * 4)),
    ]


def checked_target(function) -> Callable:
    return lambda rng: (
        observe_clipped_target(function, *case.args) for case in clipped_target_cases(rng)
    )


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked_target(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked_target(function)(rng))


def target_is_no_list(function, rng):
    return not any(isinstance(target, list | tuple) for target in checked_target(function)(rng))


def rewards_stay(function, rng):
    for case in clipped_target_cases(rng):
        reward = case.args[2]
        before = reward.clone()
        observe_clipped_target(function, *case.args)
        if not torch.equal(reward, before):
            return False
    return True


def target_can_be_learned_from(function, rng):
    """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
    for target in checked_target(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


def answers(batch, next_action, critic):
    return critic(batch.next_obs, next_action)


def lower(batch, next_action, critic):
    return torch.minimum(*answers(batch, next_action, critic))


def of_both(together: Callable):
    """A wrong version: `together(q1, q2)` in place of the lower one."""
    return torch.no_grad()(
        lambda batch, next_action, critic, gamma: (
            batch.reward
            + gamma * (1 - batch.terminated) * together(*answers(batch, next_action, critic))
        )
    )


def about(ask: Callable):
    """A wrong version: `ask(critic, batch, next_action)` in place of the next pairs."""
    return torch.no_grad()(
        lambda batch, next_action, critic, gamma: (
            batch.reward
            + gamma * (1 - batch.terminated) * torch.minimum(*ask(critic, batch, next_action))
        )
    )


def put_together(formula: Callable):
    """A wrong version: `formula(reward, gamma, terminated, lower q)`."""
    return torch.no_grad()(
        lambda batch, next_action, critic, gamma: formula(
            batch.reward, gamma, batch.terminated, lower(batch, next_action, critic)
        )
    )


def masked(mask: Callable):
    """A wrong version: another mask."""
    return torch.no_grad()(
        lambda batch, next_action, critic, gamma: (
            batch.reward + gamma * mask(batch) * lower(batch, next_action, critic)
        )
    )


def with_gradient(batch, next_action, critic, gamma):
    return batch.reward + gamma * (1 - batch.terminated) * lower(batch, next_action, critic)


def one_for_all_rows(q1, q2):
    return q1 if q1.mean() < q2.mean() else q2


@torch.no_grad()
def td_error(batch, next_action, critic, gamma):
    target = clipped_double_q_target(batch, next_action, critic, gamma)
    return target - critic.q1(batch.obs, batch.action)


@torch.no_grad()
def added_to_the_rewards(batch, next_action, critic, gamma):
    batch.reward.add_(gamma * (1 - batch.terminated) * lower(batch, next_action, critic))
    return batch.reward


@torch.no_grad()
def flags_inverted(batch, next_action, critic, gamma):
    goes_on = batch.terminated.neg_().add_(1)
    return batch.reward + gamma * goes_on * lower(batch, next_action, critic)


def in_a_list(batch, next_action, critic, gamma):
    return list(clipped_double_q_target(batch, next_action, critic, gamma))


def in_numpy(batch, next_action, critic, gamma):
    return clipped_double_q_target(batch, next_action, critic, gamma).numpy()


ONLY_ONE = (
    "critic, as DDPG does with its single one: where that errs upwards, so does the target, and "
    "the actor runs after the error. Ask both, and believe the lower one."
)
ROW_BY_ROW = (
    "Each step has its own two estimates: compare them row by row, which `torch.minimum` does with "
    "two tensors of the same shape."
)
A_LIST = (
    "The numbers are right, but in a Python list, and the critics' loss needs one tensor `(B,)`. "
    "Torch calculates with all rows at once, so no loop is needed; after a loop, `torch.stack` "
    "makes a tensor of them."
)
REWARDS_CHANGED = (
    "The numbers are right, but you wrote them into `batch.reward` itself, which whoever made the "
    "batch may still need. Build a new tensor."
)
A_SINGLE_NUMBER = (
    "`.item()` makes a plain number of a tensor, which works for a batch of one only. Every row "
    "has its own target: stay with tensors `(B,)`."
)
TARGET_GRADIENT = (
    "The numbers are right, but your target carries a gradient: the critics' loss would flow back "
    "into the target networks. A target holds still: compute it under `torch.no_grad()`, or "
    "`.detach()` it."
)
TRUNCATION = (
    "A time limit cuts off the recording, but the world would have gone on, and its future was "
    "worth something: only `terminated` sets it to 0."
)

CLIPPED_DOUBLE_Q_TARGET = Exercise(
    id="3.3",
    lesson="03_td3",
    reference=clipped_double_q_target,
    card=Card(
        title="Believe the lower of the two",
        what="Write `clipped_double_q_target(batch, next_action, target_critic, gamma)`: $y = r + "
        r"\gamma\,(1 - \text{terminated})\,\min(Q_1', Q_2')(s', a')$, shape `(B,)`, without "
        "gradient. A `Batch` holds `obs`, `action`, `reward`, `next_obs`, `terminated` and "
        "`truncated`, a step a row; the next actions come in ready made, and `target_critic`, "
        "called with observations and actions, gives two values `(B,)`.",
        why="The paper calls it clipped double Q-learning. Row by row the minimum takes the "
        "estimate that promises less, and an overestimate that only one critic believes in is not "
        "handed on.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "All but one line is lesson 02's target. The critic now gives two answers: how do you take "
        "them apart, and which function compares two tensors entry by entry?",
        "Unpack what `target_critic` says about `batch.next_obs` and `next_action` into two names, "
        "put `torch.minimum` around them, and go on as for one critic: `gamma`, a factor that is 0 "
        "after a termination, the reward. No gradient on the way.",
    ),
    cases=clipped_target_cases,
    observe=observe_clipped_target,
    misconceptions=[
        Misconception(
            "the higher of the two",
            of_both(torch.maximum),
            "You took the higher of the two values, which makes the overestimation worse than with "
            "one critic. The one that promises less is to be believed: the minimum.",
        ),
        Misconception(
            "the mean of the two",
            of_both(lambda q1, q2: (q1 + q2) / 2),
            "You took the mean of the two values. That has less noise, but it is as much too high "
            "as they are: only the lower one keeps an overestimate from being handed on.",
        ),
        Misconception(
            "only the first critic",
            of_both(lambda q1, q2: q1),
            f"You asked the first {ONLY_ONE}",
        ),
        Misconception(
            "only the second critic",
            of_both(lambda q1, q2: q2),
            f"You asked the second {ONLY_ONE}",
        ),
        Misconception(
            "the sum of the two",
            of_both(torch.add),
            "You added the two values. Both estimate the same thing, so the sum is about twice too "
            "large: take the lower one.",
        ),
        Misconception(
            "their difference",
            of_both(torch.sub),
            "You subtracted one value from the other. How far they disagree is not what the future "
            "is worth: take the lower one.",
        ),
        Misconception(
            "the one nearer to 0",
            of_both(lambda q1, q2: torch.where(q1.abs() < q2.abs(), q1, q2)),
            "You took the value that is nearer to 0. With negative values, as Pendulum's are, that "
            "is the higher of the two: compare them with their signs.",
        ),
        Misconception(
            "the lowest of the whole batch",
            of_both(lambda q1, q2: torch.minimum(q1, q2).min()),
            f"You took the lowest value of the whole batch for all of its rows. {ROW_BY_ROW}",
        ),
        Misconception(
            "the lowest of each critic",
            of_both(lambda q1, q2: torch.stack([q1, q2]).min(dim=1).values),
            "You took the minimum along the batch, so there is one number for each critic in place "
            "of one for each row. The other axis is meant, the one along which the two critics "
            "stand.",
        ),
        Misconception(
            "one critic for the whole batch",
            of_both(one_for_all_rows),
            "You decided once for the whole batch which critic is lower. In some rows it is the "
            f"other one. {ROW_BY_ROW}",
        ),
        Misconception(
            "one yes or no for all rows",
            of_both(min),
            "You asked a whole tensor for a single yes or no (by `if`, `not`, `and` or Python's "
            "own `min`), which only a batch of one can answer. Each row has its own answer: "
            "`torch.minimum` compares row by row, and a factor of 0 or 1 masks row by row.",
        ),
        Misconception(
            "a single number",
            put_together(lambda r, gamma, end, q: (r + gamma * (1 - end) * q).item()),
            A_SINGLE_NUMBER,
        ),
        Misconception(
            "a single number for the future",
            of_both(lambda *q: torch.minimum(*q).item()),
            A_SINGLE_NUMBER,
        ),
        Misconception(
            "never above 0",
            of_both(lambda *q: torch.minimum(*q).clamp(max=0)),
            "You cut all values above 0 off. Pendulum's returns are never above 0, but other "
            "environments' are: a value is whatever the lower critic says.",
        ),
        Misconception(
            "the pair as a value",
            torch.no_grad()(
                lambda batch, next_action, critic, gamma: (
                    batch.reward
                    + gamma * (1 - batch.terminated) * answers(batch, next_action, critic)
                )
            ),
            "You calculated with a pair as if it were one tensor. The critic's answer is one, and "
            "so is that of `torch.min` with a `dim`, values and where they stood: unpack it, and "
            "go on with the values of the lower one.",
        ),
        Misconception(
            "where it stood, not what it was",
            of_both(lambda q1, q2: torch.stack([q1, q2]).argmin(dim=0)),
            "You took the number of the critic that is lower (`argmin`, or the second thing that "
            "`torch.min` gives), 0 or 1, in place of its value.",
        ),
        Misconception(
            "a target for each critic",
            of_both(lambda q1, q2: torch.stack([q1, q2])),
            "You made a target for each critic from its own values. Then each believes its own "
            "errors, as two DDPG agents would: there is one target, from the lower of the two, and "
            "both learn it.",
        ),
        Misconception(
            "truncation taken for termination",
            masked(lambda b: (1 - b.terminated) * (1 - b.truncated)),
            f"You stop bootstrapping where an episode was truncated as well. {TRUNCATION}",
        ),
        Misconception(
            "truncation taken for termination, the flags added",
            masked(lambda b: 1 - (b.terminated + b.truncated)),
            "You take truncated steps for terminated ones, and where both flags are set your "
            f"factor becomes -1. {TRUNCATION}",
        ),
        Misconception(
            "truncated in place of terminated",
            masked(lambda b: 1 - b.truncated),
            "You set the future to 0 where the step was truncated. It is the other flag: after a "
            "termination there is nothing more to earn, after a time limit there would have been.",
        ),
        Misconception(
            "no mask",
            masked(lambda b: 1.0),
            "You bootstrap from steps that terminated, too. After them there is no future: the "
            "target is the reward alone, so multiply the future by 1 minus `terminated`.",
        ),
        Misconception(
            "mask inverted",
            masked(lambda b: b.terminated),
            "Your mask is the wrong way round: it keeps the future just where there is none. "
            "`terminated` is 1 at the end, so the factor is 1 minus it.",
        ),
        Misconception(
            "one end for the whole batch",
            masked(lambda b: 1 - b.terminated.max()),
            "One step that terminated takes the future from the whole batch. Each row has a flag "
            "of its own: multiply entry by entry.",
        ),
        Misconception(
            "inverts with a tilde",
            masked(lambda b: ~b.terminated),
            "`~` inverts booleans, but these flags are the numbers 0.0 and 1.0: subtract them from "
            "1.",
        ),
        Misconception(
            "no discount",
            put_together(lambda r, gamma, end, q: r + (1 - end) * q),
            "`gamma` is missing: what comes one step later counts `gamma` times as much.",
        ),
        Misconception(
            "gamma always 0.99",
            put_together(lambda r, gamma, end, q: r + 0.99 * (1 - end) * q),
            "Your discount is always 0.99. That is only the usual choice: take the argument "
            "`gamma`.",
        ),
        Misconception(
            "reward missing",
            put_together(lambda r, gamma, end, q: gamma * (1 - end) * q),
            "The reward is missing: a target without it has nothing to do with the task.",
        ),
        Misconception(
            "the reward alone",
            put_together(lambda r, gamma, end, q: r),
            "Your target is the reward alone, so the critics would look no further than one step. "
            "Add the discounted value of what comes next.",
        ),
        Misconception(
            "reward discounted",
            put_together(lambda r, gamma, end, q: gamma * (r + (1 - end) * q)),
            "You discounted the reward as well. It was earned by this very step; only what comes "
            "after it is multiplied by `gamma`.",
        ),
        Misconception(
            "reward masked, too",
            put_together(lambda r, gamma, end, q: (1 - end) * (r + gamma * q)),
            "You set the reward to 0 as well where the episode terminated. The last reward was "
            "really earned, and often it is the one that matters: the mask belongs to the future "
            "only.",
        ),
        Misconception(
            "reward in the minimum",
            put_together(lambda r, gamma, end, q: torch.minimum(r, gamma * (1 - end) * q)),
            "You compared the reward with the future and took the lower one. The minimum is about "
            "the two critics; reward and future are added.",
        ),
        Misconception(
            "future subtracted",
            put_together(lambda r, gamma, end, q: r - gamma * (1 - end) * q),
            "You subtracted the future, or your factor is `terminated` minus 1 in place of 1 minus "
            "`terminated`. The future comes on top of the reward: plus.",
        ),
        Misconception(
            "brackets missing",
            put_together(lambda r, gamma, end, q: r + gamma * 1 - end * q),
            "Without brackets around 1 minus `terminated`, `gamma` is added as a number of its own "
            "and the future counts only at the end: multiplication comes before subtraction.",
        ),
        Misconception(
            "discounted twice",
            put_together(lambda r, gamma, end, q: r + gamma**2 * (1 - end) * q),
            "You discounted the future twice. The next observation is one step away: `gamma`, "
            "once.",
        ),
        Misconception(
            "the action of the batch",
            about(lambda critic, b, a: critic(b.next_obs, b.action)),
            "You asked what the action of the batch is worth in the next state. That one was taken "
            "before; what comes next is handed to you as `next_action`.",
        ),
        Misconception(
            "the present observation",
            about(lambda critic, b, a: critic(b.obs, a)),
            "You asked what the next action is worth in `batch.obs`, where the step began. It will "
            "be taken where the step led to: `batch.next_obs`.",
        ),
        Misconception(
            "the step itself",
            about(lambda critic, b, a: critic(b.obs, b.action)),
            "You bootstrap from the very pair that the target is for. The future begins one step "
            "later: at `batch.next_obs`, with `next_action`.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            about(lambda critic, b, a: critic(a, b.next_obs)),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "noise on the next action",
            about(lambda critic, b, a: critic(b.next_obs, a + 0.1 * torch.randn_like(a))),
            "Called twice with the same batch, your function gives two targets: there is noise in "
            "it. `next_action` comes in smoothed already, which is the business of "
            "`smoothed_target_action`.",
        ),
        Misconception(
            "every reward with every future",
            put_together(lambda r, gamma, end, q: r.unsqueeze(-1) + gamma * (1 - end) * q),
            BROADCAST,
        ),
        Misconception(
            "every future with every reward",
            put_together(lambda r, gamma, end, q: r + gamma * (1 - end) * q.unsqueeze(-1)),
            BROADCAST,
        ),
        Misconception(
            "a column",
            put_together(lambda r, gamma, end, q: (r + gamma * (1 - end) * q).unsqueeze(-1)),
            "The numbers are right, but in a column `(B, 1)`. The critics' values have shape "
            "`(B,)`, and the two would be broadcast to a matrix: leave the axis out.",
        ),
        Misconception(
            "averaged over the batch",
            put_together(lambda r, gamma, end, q: (r + gamma * (1 - end) * q).mean()),
            "You averaged over the batch. Every step has a target of its own, shape `(B,)`.",
        ),
        Misconception(
            "TD error instead of target",
            td_error,
            "You subtracted Q of the present step: that is the TD error, how far off the critic "
            "is. What is asked for is the target itself; the loss takes the difference.",
        ),
        Misconception(
            "added to the rewards in place",
            added_to_the_rewards,
            REWARDS_CHANGED,
        ),
        Misconception(
            "flags inverted in place",
            flags_inverted,
            "The numbers are right, but you inverted `batch.terminated` itself: a method whose "
            "name ends in `_` changes its tensor. Whoever uses the batch next finds ends where "
            "there are none; build a new tensor.",
        ),
        Misconception("with gradient", with_gradient, TARGET_GRADIENT),
        Misconception("in a list", in_a_list, A_LIST),
        Misconception("in numpy", in_numpy, NO_TENSOR),
        Misconception("in inference mode", torch.inference_mode()(with_gradient), INFERENCE),
    ],
    properties=[
        Property("a list of targets", target_is_no_list, A_LIST),
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        Property("changes the rewards", rewards_stay, REWARDS_CHANGED),
        no_mutation(clipped_target_cases, observe_clipped_target),
    ],
)
