"""Lesson 04's formulas of prioritized replay: exercises 4.3 `sampling_probabilities`, 4.4
`importance_weights` and 4.5 `linear_schedule`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property, as_case
from helpers.checks.observing import no_mutation
from helpers.memory.buffers import importance_weights, linear_schedule, sampling_probabilities

# --- 4.3 sampling_probabilities -------------------------------------------------------------------


def probability_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((np.array([3.0]), 0.6), note="a single step"),
        Case((np.array([1.0, 4.0]), 0.5), note="two steps"),
        Case((np.array([2.0, 6.0, 0.5, 1.5]), 1.0), note="alpha 1, in proportion"),
        Case((np.array([2.0, 6.0, 0.5, 1.5]), 0.0), note="alpha 0, all equally likely"),
        Case((np.array([0.01, 0.02, 50.0, 0.03]), 0.6), note="one priority far above the others"),
        Case((np.round(rng.exponential(size=6) + 0.1, 2), 0.3)),
        Case((rng.exponential(size=200), 0.6), note="many steps"),
    ]


def shares(scaled: np.ndarray) -> np.ndarray:
    return scaled / scaled.sum()


def scaled_by(scale: Callable):
    """A wrong version: the shares of `scale(priorities, alpha)`."""
    return lambda priorities, alpha: shares(scale(priorities, alpha))


def divided_by(divisor: Callable):
    """A wrong version: p^alpha divided by `divisor(p^alpha)`."""
    return lambda priorities, alpha: priorities**alpha / divisor(priorities**alpha)


def by_rank(priorities, alpha):
    ranks = np.empty(len(priorities))
    ranks[np.argsort(-priorities)] = np.arange(1, len(priorities) + 1)
    return shares(ranks**-alpha)


def mixed_with_uniform(priorities, alpha):
    return alpha * shares(priorities) + (1 - alpha) / len(priorities)


def newest_never(priorities, alpha):
    scaled = priorities**alpha
    scaled[-1] = 0
    return shares(scaled)


def in_the_callers_array(priorities, alpha):
    priorities **= alpha
    priorities /= priorities.sum()
    return priorities


OVERWRITES = (
    "The numbers are right, but you compute them in the caller's own array, and its priorities are "
    "gone. `**=` and `/=` change an array in place: use `**` and `/`, which make a new one."
)
SOFTMAX = (
    "You took a softmax, and the exponential makes large priorities larger still. Prioritized "
    "replay raises the priorities to a power and takes their shares of the sum."
)

CARET = "`^` is no power in Python: it compares the bits of whole numbers. A power is written `**`."

SAMPLING_PROBABILITIES = Exercise(
    id="4.3",
    lesson="04_ddpgfd",
    reference=sampling_probabilities,
    card=Card(
        title="Who is drawn how often",
        what="Write `sampling_probabilities(priorities, alpha)`: from the priorities `(N,)` of all "
        r"steps in the memory, how likely each of them is drawn, $P(i) = p_i^\alpha / \sum_k "
        r"p_k^\alpha$, shape `(N,)`.",
        why="Where rewards are rare, a few steps teach a lot and most teach nothing. With alpha at "
        "0 all are equally likely, as before; at 1 a step with a hundred times the priority comes "
        "up a hundred times as often. In between, nobody is forgotten.",
        difficulty=1,
        minutes=4,
    ),
    hints=(
        "Take two steps with priorities 1 and 4, and work it out on paper for an alpha of 1, of 0 "
        "and of a half. What do both probabilities sum to, every time?",
        "First raise all priorities to the power `alpha` and give the result a name. Then divide "
        "that by its own sum, not by the sum of the priorities.",
    ),
    cases=probability_cases,
    misconceptions=[
        Misconception(
            "alpha after the shares",
            lambda p, alpha: shares(p) ** alpha,
            "Alpha comes too late: it is the power of the shares, or of the whole sum, so your "
            "numbers no longer sum to 1. First each priority's own power, then the sum of these "
            "powers; dividing is the last thing.",
        ),
        Misconception(
            "alpha not used",
            scaled_by(lambda p, alpha: p),
            "Your probabilities are in proportion to the priorities, whatever alpha is. Alpha says "
            "how much priorities count: raise them to this power first.",
        ),
        Misconception(
            "alpha as a factor",
            scaled_by(lambda p, alpha: alpha * p),
            "You multiply the priorities by alpha. A factor stands above and below the fraction "
            "line and cancels (and at alpha 0 nothing is left to divide): alpha is an exponent.",
        ),
        Misconception(
            "alpha added",
            scaled_by(lambda p, alpha: p + alpha),
            "You add alpha to the priorities. It is an exponent: it bends the priorities, the "
            "large ones most.",
        ),
        Misconception(
            "alpha is the base",
            scaled_by(lambda p, alpha: alpha**p),
            "You raise alpha to the power of the priorities. It is the other way round: priorities "
            "to the power alpha.",
        ),
        Misconception("^ for a power", scaled_by(lambda p, alpha: p ^ alpha), CARET),
        Misconception(
            "divided by the sum of the priorities",
            lambda p, alpha: p**alpha / p.sum(),
            "You divide by the sum of the priorities themselves. Probabilities sum to 1, so the "
            "powers have to be divided by the sum of the powers.",
        ),
        Misconception(
            "power in the sum only",
            lambda p, alpha: p / (p**alpha).sum(),
            "The power stands in the sum, but not above the fraction line. Each priority is raised "
            "to it, and then its share is taken.",
        ),
        Misconception(
            "not divided",
            lambda p, alpha: p**alpha,
            "You return the powers. Probabilities sum to 1: take each one's share of the sum.",
        ),
        Misconception(
            "divided by the largest",
            divided_by(np.max),
            "You divided by the largest, so that it comes out as 1. That is for the importance "
            "weights; probabilities sum to 1, so divide by the sum.",
        ),
        Misconception(
            "divided by the mean",
            divided_by(np.mean),
            "You divided by the mean, so your numbers sum to N. Probabilities sum to 1.",
        ),
        Misconception(
            "divided by their number",
            divided_by(len),
            "You divided by the number of steps. For numbers that sum to 1, divide by their sum.",
        ),
        Misconception(
            "divided by the length of the vector",
            divided_by(np.linalg.norm),
            "You divided by the norm, so the squares sum to 1. The probabilities themselves have "
            "to.",
        ),
        Misconception(
            "1 / alpha",
            scaled_by(lambda p, alpha: p ** (1 / alpha)),
            "You take the root in place of the power, so an alpha below 1 pulls the priorities "
            "apart. It has to bring them together.",
        ),
        Misconception(
            "1 - alpha",
            scaled_by(lambda p, alpha: p ** (1 - alpha)),
            "Your exponent is `1 - alpha`, so alpha 0 is full prioritization and alpha 1 none. It "
            "is the other way round.",
        ),
        Misconception(
            "minus alpha",
            scaled_by(lambda p, alpha: p**-alpha),
            "There is a minus in your exponent, so the least important steps come up most. The "
            "minus belongs to the importance weights, which undo what the probabilities do.",
        ),
        Misconception(
            "alpha always 0.6",
            scaled_by(lambda p, alpha: p**0.6),
            "Your alpha is always 0.6. That is only the usual choice: take the argument.",
        ),
        Misconception("softmax", scaled_by(lambda p, alpha: np.exp(p - p.max())), SOFTMAX),
        Misconception(
            "softmax of alpha times priority",
            scaled_by(lambda p, alpha: np.exp(alpha * (p - p.max()))),
            SOFTMAX,
        ),
        Misconception(
            "softmax of the powers",
            scaled_by(lambda p, alpha: np.exp(p**alpha - (p**alpha).max())),
            SOFTMAX,
        ),
        Misconception(
            "by rank",
            by_rank,
            "You went by the rank of a priority, not by its size. The paper has that as well, its "
            "rank-based variant; here probabilities are in proportion to the powers.",
        ),
        Misconception(
            "mixed with equal chances",
            mixed_with_uniform,
            "You mixed both extremes, alpha parts in proportion and the rest equally likely. The "
            "ends agree, but in between it is a power that is asked for.",
        ),
        Misconception(
            "added up along the way",
            lambda p, alpha: shares(p**alpha).cumsum(),
            "You return running sums, which is what one draws with. Asked for is each step's own "
            "probability.",
        ),
        Misconception(
            "the newest left out of the sum",
            divided_by(lambda scaled: scaled[:-1].sum()),
            "Your sum leaves out the last step, the newest one: a slice or a `range` ends one too "
            "early. All N steps count.",
        ),
        Misconception(
            "the newest never drawn",
            newest_never,
            "The last step, the newest one, has no chance of being drawn in your version. It is "
            "the one that nobody has learned from yet: all N steps count.",
        ),
        Misconception("computed in the caller's array", in_the_callers_array, OVERWRITES),
    ],
    properties=[no_mutation(probability_cases, message=OVERWRITES)],
)


# --- 4.4 importance_weights -----------------------------------------------------------------------


def weight_cases(rng: np.random.Generator) -> list[Case]:
    everywhere = shares(rng.exponential(size=1000) + 0.05)
    drawn = rng.choice(everywhere, size=32)
    return [
        Case((np.array([0.5]), 0.25, 3, 1.0), note="a batch of one"),
        Case((np.array([0.5, 0.25]), 0.25, 3, 1.0), note="the rarest step is in the batch"),
        Case((np.array([0.4, 0.2, 0.2]), 0.1, 5, 1.0), note="the rarest step is not in the batch"),
        Case((np.array([0.4, 0.2, 0.2]), 0.1, 5, 0.5), note="half of the correction"),
        Case((np.array([0.4, 0.2, 0.2]), 0.1, 5, 0.0), note="beta 0, no correction"),
        Case((np.array([0.3, 0.3]), 0.2, 3, 0.4), note="the same step twice"),
        Case((np.array([1.0]), 1.0, 1, 0.7), note="the only step in the buffer"),
        Case((drawn, float(everywhere.min()), 1000, 0.6), note="many steps"),
    ]


def fraction(above: Callable, below: Callable):
    """A wrong version: `above(P, N, beta)` divided by `below(smallest P, N, beta)`."""
    return lambda probabilities, smallest, size, beta: (
        above(probabilities, size, beta) / below(smallest, size, beta)
    )


def power(p, n, beta):
    """The right (N P)^-beta."""
    return (n * p) ** -beta


def scaled_weights(scale: Callable):
    """A wrong version: `scale(weights)` of the weights that nobody has divided yet."""
    return lambda probabilities, smallest, size, beta: scale(power(probabilities, size, beta))


def both(formula: Callable):
    """A wrong version: the same wrong formula above and below the fraction line."""
    return fraction(formula, formula)


def size_of_the_batch(probabilities, smallest, size, beta):
    return power(probabilities, len(probabilities), beta) / power(smallest, size, beta)


def one_minus(probabilities, smallest, size, beta):
    return 1 - np.abs(power(probabilities, size, beta) / power(smallest, size, beta))


WHERE_N_IS = (
    "The number of steps stands on one side of the fraction line and not on the other, so your "
    "weights are off by a factor of N to the power beta. Write both the same way: with it in both, "
    "or in neither."
)

IMPORTANCE_WEIGHTS = Exercise(
    id="4.4",
    lesson="04_ddpgfd",
    reference=importance_weights,
    card=Card(
        title="Drawn more often, counted for less",
        what="Write `importance_weights(probabilities, smallest, size, beta)`: for the steps of a "
        "batch, drawn with these `probabilities` `(B,)`, what each counts for, $w_i = (N "
        r"P(i))^{-\beta} / \max_j (N P(j))^{-\beta}$, shape `(B,)`. The maximum is over all steps "
        "in the buffer: `size` is $N$, their number, and `smallest` the smallest of their "
        "probabilities.",
        why="A critic that sees rare good luck ten times as often believes in it ten times as "
        "much. The weights take that back, at beta 1 completely. Get them upside down, and the "
        "bias is squared; nothing crashes, the values are only wrong.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "Which step has the largest weight of all, the one that is drawn most often or the one "
        "that is drawn least? Its probability is given. And why is the largest of the batch not "
        "the same: would a step's weight then depend on whom it was drawn with?",
        "Write the formula without the maximum, with `size` for N and minus `beta` in the "
        "exponent. Apply it to the batch's probabilities, then once more to `smallest`, and divide "
        "the first by the second.",
    ),
    cases=weight_cases,
    misconceptions=[
        Misconception(
            "not divided by the largest",
            scaled_weights(lambda weights: weights),
            "Your weights are not divided by the largest one, so some are far above 1 and blow up "
            "their step. Weights only ever make an update smaller.",
        ),
        Misconception(
            "neither N nor the largest",
            lambda p, smallest, n, beta: p**-beta,
            "Neither the number of steps nor the largest weight is in your formula, so every "
            "weight is above 1. Divide by the weight of the rarest step.",
        ),
        Misconception(
            "N only in the largest",
            fraction(lambda p, n, beta: p**-beta, power),
            WHERE_N_IS,
        ),
        Misconception(
            "N only in the weights",
            fraction(power, lambda p, n, beta: p**-beta),
            WHERE_N_IS,
        ),
        Misconception(
            "N outside of the power",
            fraction(lambda p, n, beta: n * p**-beta, power),
            "In your weights N stands outside of the power. It is multiplied with the probability "
            "first, and the product is raised to the power: mind the brackets.",
        ),
        Misconception(
            "1 / N outside of the power",
            fraction(lambda p, n, beta: p**-beta / n, power),
            "In your weights 1 / N stands outside of the power. The power is taken of the whole "
            "product of N and the probability: mind the brackets.",
        ),
        Misconception(
            "the size of the batch",
            size_of_the_batch,
            "You took the size of the batch for N. N is how many steps there are in the buffer to "
            "draw from, `size`.",
        ),
        Misconception(
            "the largest of the batch",
            scaled_weights(lambda weights: weights / weights.max()),
            "You divided by the largest weight of the batch, so the same step counts for more in "
            "one batch and for less in another. The largest of the whole buffer belongs to the "
            "step with the probability `smallest`.",
        ),
        Misconception(
            "divided by the smallest weight",
            scaled_weights(lambda weights: weights / weights.min()),
            "You divided by the smallest weight, that of the likeliest step in the batch. The "
            "largest weight belongs to the smallest probability.",
        ),
        Misconception(
            "divided by the largest probability",
            lambda p, smallest, n, beta: power(p, n, beta) / p.max(),
            "You divided the weights by the largest probability. It is the largest weight that you "
            "need, and probabilities are no weights yet.",
        ),
        Misconception(
            "divided by the smallest probability",
            fraction(power, lambda p, n, beta: p),
            "You divided the weights by the probability `smallest` itself. Apply the formula to "
            "it first: what you need is the weight of that step.",
        ),
        Misconception(
            "divided by N times the smallest probability",
            fraction(power, lambda p, n, beta: n * p),
            "In your largest weight the exponent is missing. Apply the very formula of the other "
            "weights to `smallest`.",
        ),
        Misconception(
            "no beta in the largest",
            fraction(power, lambda p, n, beta: 1 / (n * p)),
            "Your largest weight is the one for beta 1. Apply the very formula of the other "
            "weights to `smallest`, with the same beta.",
        ),
        Misconception(
            "no beta in the weights",
            fraction(lambda p, n, beta: 1 / (n * p), power),
            "Beta stands in your largest weight, but not in the weights above the fraction line. "
            "Both are raised to the same power.",
        ),
        Misconception(
            "upside down",
            both(lambda p, n, beta: (n * p) ** beta),
            "Your weights are upside down: whoever is drawn more often counts for more, which "
            "squares the bias in place of taking it back. There is a minus in the exponent (or the "
            "fraction has to be turned over).",
        ),
        Misconception(
            "upside down, and divided by the largest of the batch",
            scaled_weights(lambda weights: 1 / weights / (1 / weights).max()),
            "Your weights are upside down: whoever is drawn more often counts for more, for want "
            "of a minus in the exponent. And the largest weight is that of the whole buffer, "
            "which belongs to the probability `smallest`, not the largest of the batch.",
        ),
        Misconception("^ for a power", both(lambda p, n, beta: (n * p) ^ -beta), CARET),
        Misconception(
            "the minus only in the largest",
            fraction(lambda p, n, beta: (n * p) ** beta, power),
            "In the weights above the fraction line the minus of the exponent is missing: whoever "
            "is drawn more often has to count for less.",
        ),
        Misconception(
            "the minus only in the weights",
            fraction(power, lambda p, n, beta: (n * p) ** beta),
            "You multiply by the largest weight, and it is to be divided by (a minus that is "
            "missing in its exponent does the same). So the rarest step does not count 1, but its "
            "weight squared.",
        ),
        Misconception(
            "beta not used",
            both(lambda p, n, beta: 1 / (n * p)),
            "Your weights are those for beta 1, whatever beta is. Beta says how much of the bias "
            "is taken back, and it is an exponent.",
        ),
        Misconception(
            "beta as a factor",
            both(lambda p, n, beta: 1 / (beta * n * p)),
            "You multiply by beta. A factor stands above and below the fraction line and cancels "
            "(and at beta 0 you divide by 0): beta is an exponent.",
        ),
        Misconception(
            "1 - beta",
            both(lambda p, n, beta: (n * p) ** (beta - 1)),
            "Your exponent has `1 - beta`, so beta 0 is the full correction and beta 1 none. It is "
            "the other way round.",
        ),
        Misconception(
            "1 / beta",
            both(lambda p, n, beta: (n * p) ** (-1 / beta)),
            "You take the root in place of the power. The exponent is beta itself, with a minus.",
        ),
        Misconception(
            "beta always 0.4",
            both(lambda p, n, beta: (n * p) ** -0.4),
            "Your beta is always 0.4. That is only where it often begins: take the argument.",
        ),
        Misconception(
            "divided by the sum",
            scaled_weights(shares),
            "You divided by the sum of the weights, which makes every step of the training smaller "
            "by the size of the batch. Divide by the largest weight.",
        ),
        Misconception(
            "divided by the mean",
            scaled_weights(lambda weights: weights / weights.mean()),
            "You divided by the mean weight, so some steps count for more than 1, and a step's "
            "weight depends on the others in its batch. Divide by the largest weight.",
        ),
        Misconception(
            "cut off at 1",
            scaled_weights(lambda weights: np.minimum(weights, 1)),
            "You cut the weights off at 1. Then all the rare steps count the same, and their "
            "correction is gone: divide by the largest weight, which keeps the proportions.",
        ),
        Misconception(
            "the largest subtracted",
            lambda p, smallest, n, beta: power(p, n, beta) - power(smallest, n, beta),
            "You subtracted the largest weight, as one does before an exponential. Here it is "
            "divided by, so that the proportions stay.",
        ),
        Misconception(
            "1 minus the weights",
            one_minus,
            "You return what is missing to 1. Asked for is the weight itself, 1 for the rarest "
            "step.",
        ),
        Misconception(
            "the largest weight alone",
            lambda p, smallest, n, beta: power(smallest, n, beta),
            "You return the largest weight. It is what the weights of the batch are divided by.",
        ),
        Misconception(
            "probabilities again",
            lambda p, smallest, n, beta: shares(p**beta),
            "This is the formula of the probabilities again. The weights take back what these did: "
            "minus in the exponent, and the largest becomes 1.",
        ),
        Misconception(
            "no correction",
            lambda p, smallest, n, beta: np.ones_like(p),
            "All your weights are 1, so nothing is taken back. The more often a step is drawn, the "
            "less it counts.",
        ),
    ],
    properties=[no_mutation(weight_cases)],
)


# --- 4.5 linear_schedule --------------------------------------------------------------------------


def schedule_cases(rng: np.random.Generator) -> list[tuple | Case]:
    """The first is step 0: there those who count their own calls begin again."""
    return [
        Case((0, 10, 0.4, 1.0), note="the beginning"),
        Case((5, 10, 0.4, 1.0), note="half of the way"),
        Case((10, 10, 0.4, 1.0), note="the end"),
        Case((11, 10, 0.4, 1.0), note="one step after the end"),
        (3, 7, 0.4, 1.0),
        Case((1000, 10, 0.4, 1.0), note="long after the end"),
        Case((2, 8, 1.0, 0.2), note="a schedule that falls"),
        Case((13, 8, 1.0, 0.2), note="a schedule that falls, after its end"),
        Case((5, 20, 2.0, 6.0), note="numbers above 1"),
        Case((1, 4, 0.0, 1.0), note="from 0"),
        Case((2, 5, 0.5, 0.5), note="from a number to itself"),
    ]


def along(way: Callable):
    """A wrong version: `way(step, steps)` is how much of the difference is added."""
    return lambda step, steps, start, end: start + way(step, steps) * (end - start)


def instead(value: int, where: Callable):
    """A wrong version: the right schedule, but `value` where `where(step, steps)`."""
    return lambda step, steps, start, end: (
        value if where(step, steps) else linear_schedule(step, steps, start, end)
    )


def share_done(step, steps):
    return min(step / steps, 1.0)


def compounds(step, steps, start, end):
    """A share of what is left, again and again, as if `start` were the value of the last time."""
    for now in range(1, min(step, 100) + 1):
        start += share_done(now, steps) * (end - start)
    return start


def adds_to_itself(step, steps, start, end):
    """Remembers what it gave last; step 0 begins anew."""
    if step == 0:
        adds_to_itself.value = start
        return start
    adds_to_itself.value += (end - start) / steps
    return adds_to_itself.value


def cut_off_by_itself(step, steps, start, end):
    """As `adds_to_itself`, but never above the end."""
    return min(adds_to_itself(step, steps, start, end), end)


def same_factor(step, steps, start, end):
    return start * (end / start) ** share_done(step, steps)


def always_the_same(function, rng):
    """Asked again and again, in any order: the same answers."""
    asked = [case.args for case in map(as_case, schedule_cases(rng))]
    first = [function(*args) for args in asked]
    back = [function(*args) for args in reversed(asked)][::-1]
    often = [[function(*args) for _ in range(3)][-1] for args in asked]
    return np.allclose(first, back) and np.allclose(first, often)


COMPOUNDS = (
    "Your schedule compounds: it adds to a value that has grown already, so it is nearly at its "
    "end long before `steps` are over. Begin at `start` every time, and add the share of the whole "
    "difference that belongs to this `step`."
)
COUNTS_CALLS = (
    "Your schedule goes on with every call: it remembers what it gave last and adds to that. Then "
    "whoever only looks at beta changes it. `step` says where we are, so nothing has to be "
    "remembered."
)
BENT = (
    "You begin and end in the right places, but go there on a curve. Half of the steps are half of "
    "the way: a straight line."
)

WHOLE = (
    "The line is right, but you make whole numbers of it: `int` and `round` leave no decimals. "
    "Beta is 0.4 at the beginning, so return the number as it is."
)
STAYS = "Once a schedule is at its end it stays there: return `end`."
CLIPPED = (
    "You clip the value between `start` and `end`, which is right only as long as `start` is the "
    "smaller of the two. In a schedule that falls nothing lies between them in this order: stop "
    "the share of the way at 1, not the value."
)

LINEAR_SCHEDULE = Exercise(
    id="4.5",
    lesson="04_ddpgfd",
    reference=linear_schedule,
    card=Card(
        title="On a straight line, and then no further",
        what="Write `linear_schedule(step, steps, start, end)`: a number that is `start` at step "
        "0, `end` at step `steps`, on the straight line between the two in between, and `end` "
        "for good afterwards.",
        why="Beta grows to 1 in this way. Code that adds the share to the value of the last time, "
        "again and again, has come from 0.4 to 0.996 after 1,000 of 100,000 batches; code that "
        "does not stop at the end corrects more than there is to correct.",
        difficulty=1,
        minutes=4,
    ),
    hints=(
        "How much of the way is done at step 5 of 10, as a number from 0 to 1? And at step 15 of "
        "10, when nobody goes on any more? Try your formula with `start` above `end`, too.",
        "Divide `step` by `steps`, and let `min` stop that at 1. Multiply the whole difference "
        "with it, `end` minus `start`, and add it to where it began.",
    ),
    cases=schedule_cases,
    misconceptions=[
        Misconception(
            "goes on after the end",
            along(lambda step, steps: step / steps),
            "Your line goes on after the end, so a beta would grow beyond 1. After `steps` the "
            "whole way is done, and no more than the whole.",
        ),
        Misconception(
            "start and end exchanged",
            lambda step, steps, start, end: end + share_done(step, steps) * (start - end),
            "Yours goes from `end` to `start`: the two have changed places, or you took the share "
            "that is left of the way for the one that is done. At step 0 it has to be `start`.",
        ),
        Misconception(
            "whole numbers only",
            along(lambda step, steps: min(step // steps, 1)),
            "Nothing moves until the end in your version, as if the share of the way had no "
            "decimals: `//` and `int` cut them off. Half of the way is 0.5: divide with `/`.",
        ),
        Misconception(
            "int around the value",
            lambda *args: int(linear_schedule(*args)),
            WHOLE,
        ),
        Misconception(
            "rounded",
            lambda *args: round(linear_schedule(*args)),
            WHOLE,
        ),
        Misconception(
            "0 from the end on",
            instead(0, lambda step, steps: step >= steps),
            f"You return 0 from step `steps` on. {STAYS}",
        ),
        Misconception(
            "0 after the end",
            instead(0, lambda step, steps: step > steps),
            f"You return 0 after the end. {STAYS}",
        ),
        Misconception(
            "1 after the end",
            instead(1, lambda step, steps: step >= steps),
            "You return 1 after the end, which is right for a beta alone. Other schedules end "
            "elsewhere, and some of them fall: once it is there, a schedule stays at `end`.",
        ),
        Misconception(
            "0 at the beginning",
            instead(0, lambda step, steps: step == 0),
            "You return 0 at step 0, and after that your line begins at `start`. It begins there "
            "at step 0 already, so that step needs no branch of its own.",
        ),
        Misconception(
            "max in place of min",
            along(lambda step, steps: max(step / steps, 1.0)),
            "Your share of the way is never below 1: `max` takes the larger of the two. The "
            "smaller one is meant.",
        ),
        Misconception(
            "cut off at 1",
            lambda step, steps, start, end: min(
                along(lambda s, n: s / n)(step, steps, start, end), 1.0
            ),
            "You cut the value off at 1, which is right for a beta alone. Other schedules end "
            "elsewhere, and some of them fall: stop the share of the way at 1, not the value.",
        ),
        Misconception(
            "cut off from above only",
            lambda step, steps, start, end: min(
                along(lambda s, n: s / n)(step, steps, start, end), end
            ),
            "You take the smaller of the value and `end`. A schedule that falls is above its end "
            "from the beginning: stop the share of the way at 1, not the value.",
        ),
        Misconception(
            "cut off from below only",
            lambda step, steps, start, end: max(
                along(lambda s, n: s / n)(step, steps, start, end), end
            ),
            "You take the larger of the value and `end`. A schedule that grows is below its end "
            "from the beginning: stop the share of the way at 1, not the value.",
        ),
        Misconception(
            "clipped between start and end",
            lambda step, steps, start, end: min(
                max(along(lambda s, n: s / n)(step, steps, start, end), start), end
            ),
            CLIPPED,
        ),
        Misconception(
            "clipped between start and end, from above first",
            lambda step, steps, start, end: max(
                min(along(lambda s, n: s / n)(step, steps, start, end), end), start
            ),
            CLIPPED,
        ),
        Misconception(
            "the whole end added",
            lambda step, steps, start, end: start + share_done(step, steps) * end,
            "You add a share of `end`, and arrive at `start + end`. What is missing at the "
            "beginning is the difference of the two.",
        ),
        Misconception(
            "the difference turned over",
            lambda step, steps, start, end: start + share_done(step, steps) * (start - end),
            "Yours goes the wrong way: the difference has the wrong sign. From `start` to `end` it "
            "is `end` minus `start`.",
        ),
        Misconception(
            "the difference without its sign",
            lambda step, steps, start, end: start + share_done(step, steps) * abs(end - start),
            "You took the size of the difference without its sign, so every schedule grows. One "
            "that falls has a negative difference.",
        ),
        Misconception(
            "always towards 1",
            lambda step, steps, start, end: start + share_done(step, steps) * (1.0 - start),
            "Your schedule always ends at 1, as a beta does. It has an argument for where it ends, "
            "`end`.",
        ),
        Misconception(
            "start left out",
            lambda step, steps, start, end: share_done(step, steps) * (end - start),
            "Your schedule begins at 0. The share of the difference is added to `start`.",
        ),
        Misconception(
            "a share of the end",
            lambda step, steps, start, end: share_done(step, steps) * end,
            "Your schedule goes from 0 to `end`. It begins at `start`: what is added to that is a "
            "share of the difference.",
        ),
        Misconception(
            "only the share of the way",
            lambda step, steps, start, end: share_done(step, steps),
            "You return how much of the way is done. Multiply the difference with it, and add that "
            "to `start`.",
        ),
        Misconception(
            "steps not used",
            along(lambda step, steps: min(step, 1.0)),
            "You arrive after a single step. How far step 5 is depends on how many there are: "
            "divide by `steps`.",
        ),
        Misconception(
            "steps not used, nor an end",
            along(lambda step, steps: step),
            "Each of your steps goes the whole way. One step is a small part of it: divide by "
            "`steps`, and stop at the whole.",
        ),
        Misconception(
            "one step ahead",
            along(lambda step, steps: min((step + 1) / steps, 1.0)),
            "You are one step ahead: at step 0 nothing is done yet, and the value is `start`.",
        ),
        Misconception(
            "steps - 1",
            along(lambda step, steps: min(step / (steps - 1), 1.0)),
            "You arrive one step too early. The end is at step `steps`, so divide by that.",
        ),
        Misconception(
            "steps + 1",
            along(lambda step, steps: min(step / (steps + 1), 1.0)),
            "You arrive one step too late. The end is at step `steps`, so divide by that.",
        ),
        Misconception("compounds", compounds, COMPOUNDS),
        Misconception(
            "a share of what is left at every step",
            along(lambda step, steps: 1 - (1 - 1 / steps) ** step),
            "Each of your steps goes the same share of what is left, so they become shorter and "
            "never arrive. On a straight line all steps are equally long.",
        ),
        Misconception(
            "the same factor at every step",
            same_factor,
            "You multiply by the same factor at every step, which is a curve (and cannot leave 0). "
            "On a straight line the same amount is added at every step.",
        ),
        Misconception("adds to what it gave last", adds_to_itself, COUNTS_CALLS),
        Misconception("adds to what it gave last, up to the end", cut_off_by_itself, COUNTS_CALLS),
        Misconception("a curve", along(lambda step, steps: share_done(step, steps) ** 2), BENT),
        Misconception(
            "a wave",
            along(lambda step, steps: (1 - math.cos(math.pi * share_done(step, steps))) / 2),
            BENT,
        ),
        Misconception(
            "begins again",
            along(lambda step, steps: step % steps / steps),
            "After the end yours begins again at `start`. Once it is at its end it stays there.",
        ),
        Misconception(
            "back to the start after the end",
            along(lambda step, steps: step / steps if step <= steps else 0),
            "After the end yours is `start` again. Once it is at its end it stays there.",
        ),
        Misconception(
            "never moves",
            along(lambda step, steps: 0),
            "Yours is `start` for ever. Add a share of the difference that grows with `step`.",
        ),
    ],
    properties=[Property("changes from call to call", always_the_same, COUNTS_CALLS)],
)
