"""Lesson 04's view ahead: exercise 4.9 `n_step_return`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.observing import no_mutation
from helpers.memory.buffers import n_step_return

# --- Cases ----------------------------------------------------------------------------------------


def n_step_cases(rng: np.random.Generator) -> list[Case]:
    def given(rewards: list, ends: list[str], gamma: float) -> tuple:
        """Ends are written row by row, E for an end and a dot for any other step."""
        flags = [[letter == "E" for letter in row] for row in ends]
        return np.array(rewards, np.float32), np.array(flags), gamma

    def drawn(rows: int, n: int, often: float, gamma: float) -> tuple:
        rewards = np.round(3 * rng.normal(size=(rows, n)), 1).astype(np.float32)
        return rewards, rng.random((rows, n)) < often, gamma

    return [
        Case(given([[2.0]], ["."], 0.5), note="one row, one step"),
        Case(given([[1.0, 2.0, 4.0]], ["..."], 0.5), note="no end"),
        Case(given([[1.0, 2.0, 4.0]], [".E."], 0.5), note="the episode ends in between"),
        Case(given([[1.0, 2.0, 4.0]], ["E.."], 0.5), note="the first step is the end"),
        Case(given([[1.0, 2.0, 4.0]], ["..E"], 0.5), note="the last step is the end"),
        Case(given([[1.0, 2.0, 4.0, 8.0]], [".EE."], 0.5), note="two ends"),
        Case(
            given([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 10.0, 0.0]], ["....", "...E"], 0.9),
            note="hardly any rewards",
        ),
        Case(drawn(3, 3, 0.2, 0.9), note="as many rows as steps"),
        Case(drawn(6, 4, 0.25, 0.0), note="gamma 0, where only the first reward counts"),
        Case(drawn(6, 4, 0.25, 1.0), note="gamma 1, nothing is discounted"),
        Case(drawn(40, 10, 0.1, 0.99), note="many rows"),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


def lengths_of(ends: np.ndarray) -> np.ndarray:
    """The number of steps up to the first end in each row."""
    stops = ends.copy()
    stops[:, -1] = True
    return stops.argmax(axis=1) + 1


def powers(rewards: np.ndarray, gamma: float) -> np.ndarray:
    return float(gamma) ** np.arange(rewards.shape[1])


def up_to(rewards: np.ndarray, lengths: np.ndarray, gamma: float) -> np.ndarray:
    """The discounted sums of the first `lengths` rewards of each row."""
    counted = np.arange(rewards.shape[1]) < np.reshape(lengths, (-1, 1))
    return (rewards * counted) @ powers(rewards, gamma)


def stops_at(lengths: Callable, told: Callable | None = None):
    """A wrong version: sums of the first `lengths(ends)` rewards, and `told(ends)` as their number.

    Without `told`, the number is that of the rewards in the sum.
    """
    return lambda rewards, ends, gamma: (
        up_to(rewards, lengths(ends), gamma), (told or lengths)(ends),
    )  # fmt: skip


def tells(number: Callable):
    """A wrong version: the right sums, and `number(ends)` for how many rewards they have."""
    return stops_at(lengths_of, number)


def weighted(sums: Callable):
    """A wrong version: `sums(counted, gamma, lengths)` of rewards that are 0 beyond the end."""

    def version(rewards, ends, gamma):
        lengths = lengths_of(ends)
        counted = rewards * (np.arange(rewards.shape[1]) < lengths[:, None])
        return sums(counted, gamma, lengths), lengths

    return version


def masked(mask: Callable, told: Callable = lengths_of):
    """A wrong version: sums of all the rewards times `mask(ends)`."""
    return lambda rewards, ends, gamma: (
        (rewards * mask(ends)) @ powers(rewards, gamma), told(ends),
    )  # fmt: skip


def all_steps(ends: np.ndarray) -> np.ndarray:
    return np.full(len(ends), ends.shape[1])


def without_the_end(ends: np.ndarray) -> np.ndarray:
    """One less where there is an end."""
    return lengths_of(ends) - ends.any(axis=1)


def after_the_end(ends: np.ndarray) -> np.ndarray:
    """One more, if there is one more."""
    return np.minimum(lengths_of(ends) + 1, ends.shape[1])


def last_end(ends: np.ndarray) -> np.ndarray:
    n = ends.shape[1]
    return np.where(ends.any(axis=1), n - ends[:, ::-1].argmax(axis=1), n)


def a_step_early(ends: np.ndarray) -> np.ndarray:
    """Each step has the flag of the one after it."""
    return np.column_stack([ends[:, 1:], np.zeros(len(ends), bool)])


def beyond_the_end(ends: np.ndarray) -> np.ndarray:
    return np.arange(ends.shape[1]) >= lengths_of(ends)[:, None]


def backwards(counted, gamma, lengths):
    ahead = lengths[:, None] - 1 - np.arange(counted.shape[1])
    return (counted * float(gamma) ** np.maximum(ahead, 0)).sum(axis=1)


def begins_again(rewards, ends, gamma):
    """The discount starts over after an end."""
    total = np.zeros(len(rewards))
    for row in range(len(rewards)):
        weight = 1.0
        for reward, end in zip(rewards[row], ends[row], strict=True):
            total[row] += weight * reward
            weight = 1.0 if end else weight * gamma
    return total, lengths_of(ends)


def in_the_callers_array(rewards, ends, gamma):
    ends[:, -1] = True
    lengths = ends.argmax(axis=1) + 1
    return up_to(rewards, lengths, gamma), lengths


OVERWRITES = (
    "The numbers are right, but you change the caller's arrays: `ends` has ends, or `rewards` has "
    "zeros, that were not there before. Work on a copy."
)
END_COUNTS = (
    "The end's own reward is missing from your sum. The step that ends an episode belongs to it, "
    "and on a sparse task its reward is often the only one there is: only what comes after does "
    "not count."
)
HOW_MANY = (
    "The sums are right, but the number of rewards in them is not. What follows a return of k "
    "rewards is worth gamma to the power k: a wrong k discounts the future too much or too little."
)
EARLY = (
    "You read the flags a step too early, so a return stops before its episode's end. A flag "
    "belongs to its own step, whose reward still counts."
)
LATE = (
    "Your returns go one step too far: the reward after an end is that of the next episode's first "
    "step, which has nothing to do with this one."
)

N_STEP_RETURN = Exercise(
    id="4.9",
    lesson="04_ddpgfd",
    reference=n_step_return,
    card=Card(
        title="Looking ahead, but not beyond the end",
        what="Write `n_step_return(rewards, ends, gamma)`: for each row of `rewards` `(B, n)`, the "
        r"discounted sum $r_0 + \gamma r_1 + \dots + \gamma^{k-1} r_{k-1}$ up to the first end of "
        "an episode, that step included, or of all n. Return the sums `(B,)` and the numbers `k` "
        "of rewards in them `(B,)`.",
        why="With one-step targets a rare reward moves back one step at a time; n steps carry it "
        "back n at once. But the next row of the memory may be another episode: a window that "
        "runs over the end hands out rewards that nobody earned.",
        difficulty=3,
        minutes=12,
    ),
    hints=(
        "Three steps with rewards 1, 2 and 4, gamma a half, and an end at the second one: what is "
        "the sum, and how many rewards are in it? And without any end? If you look for the first "
        "end with `argmax`, what does it say about a row that has none?",
        "In a copy of `ends`, make the last column true, so that each row has an end: the `argmax` "
        "of a row is then its last step, and the number of steps is one more. With `np.arange(n)` "
        "you get both: which columns lie below that number, and the powers of gamma.",
    ),
    cases=n_step_cases,
    misconceptions=[
        # Where to stop
        Misconception(
            "over the end",
            stops_at(all_steps),
            "Your returns run over an episode's end. What follows in the memory is another "
            "episode, with rewards that this one never earned: stop at the first end.",
        ),
        Misconception(
            "sum over the end",
            stops_at(all_steps, lengths_of),
            "The numbers k are right, but your sums run over the episode's end. Whatever follows "
            "it belongs to another episode and does not count.",
        ),
        Misconception("always n", tells(all_steps), HOW_MANY),
        Misconception(
            "the end's own reward left out",
            stops_at(without_the_end, lengths_of),
            END_COUNTS,
        ),
        Misconception("stops before the end", stops_at(without_the_end), END_COUNTS),
        Misconception(
            "the end's own reward left out, always n",
            stops_at(without_the_end, all_steps),
            END_COUNTS,
        ),
        Misconception(
            "one step too short",
            stops_at(lambda ends: lengths_of(ends) - 1),
            "All your returns are one reward short: `argmax` gives the number of the last step, "
            "and steps are counted from 0. The last step counts, too.",
        ),
        Misconception("one step too far", stops_at(after_the_end), LATE),
        Misconception("sum one step too far", stops_at(after_the_end, lengths_of), LATE),
        Misconception(
            "the end's flag a step early",
            stops_at(lambda ends: lengths_of(a_step_early(ends))),
            EARLY,
        ),
        Misconception(
            "no end taken for one at once",
            stops_at(lambda ends: ends.argmax(axis=1) + 1),
            "In a row without any end you stop after the first step: `argmax` of nothing but False "
            "is 0. Such a row has all n rewards.",
        ),
        Misconception(
            "number wrong where there is no end",
            tells(lambda ends: ends.argmax(axis=1) + 1),
            "The sums are right, but where a row has no end, your k is 1: `argmax` of nothing but "
            "False is 0. Such a row has all n rewards.",
        ),
        Misconception(
            "no reward where there is no end",
            stops_at(lambda ends: np.where(ends.any(axis=1), lengths_of(ends), 0)),
            "In a row without any end you count nothing. Its episode just goes on: it has all n "
            "rewards.",
        ),
        Misconception(
            "the last end",
            stops_at(last_end),
            "Where a row has two ends you stop at the last one. The first ends the episode.",
        ),
        Misconception(
            "up to the second end",
            masked(
                lambda ends: ends.cumsum(axis=1) <= 1,
                lambda ends: (ends.cumsum(axis=1) <= 1).sum(axis=1),
            ),
            "You go on to the second end: where the running count of ends is 1, the first one is "
            "there already, and perhaps long ago. What counts is how many ends lie before a step.",
        ),
        Misconception(
            "sum up to the second end",
            masked(lambda ends: ends.cumsum(axis=1) <= 1),
            "Your sums go on to the second end: where the running count of ends is 1, the first "
            "one is there already, and perhaps long ago. What counts is how many ends lie before a "
            "step.",
        ),
        Misconception(
            "only the ends left out, and not counted",
            masked(np.logical_not, lambda ends: (~ends).sum(axis=1)),
            "You leave out the rewards of the ends and keep what comes after them. It is the other "
            "way round: an end's own reward counts, and nothing behind it does.",
        ),
        Misconception(
            "only the ends left out",
            masked(np.logical_not),
            "You leave out the rewards of the ends and keep what comes after them. It is the other "
            "way round: an end's own reward counts, and nothing behind it does.",
        ),
        Misconception(
            "only the ends left out, always n",
            masked(np.logical_not, all_steps),
            "You leave out the rewards of the ends and keep what comes after them. It is the other "
            "way round: an end's own reward counts, and nothing behind it does.",
        ),
        Misconception(
            "only the ends",
            masked(lambda ends: ends),
            "You multiply with `ends`, so that only the ends' rewards are left. All rewards up to "
            "the first end count.",
        ),
        Misconception(
            "only what lies beyond",
            masked(beyond_the_end),
            "Your mask is turned over: you sum what lies beyond the end. Up to the end rewards "
            "count, and no further.",
        ),
        Misconception(
            "one end for all rows",
            stops_at(lambda ends: lengths_of(np.tile(ends.any(axis=0), (len(ends), 1)))),
            "An end in one row stops all of them. Each row is a stretch of its own: look for its "
            "first end along `axis=1`.",
        ),
        Misconception(
            "begins again after an end",
            begins_again,
            "After an end your discount begins anew, and the next episode's rewards are added. "
            "Whatever follows the end belongs to another episode and does not count.",
        ),
        # How much a reward counts
        Misconception(
            "no discount",
            weighted(lambda counted, gamma, k: counted.sum(axis=1)),
            "Your sum has no discount. A reward that comes i steps later is worth gamma to the "
            "power i of itself.",
        ),
        Misconception(
            "gamma always 0.99",
            lambda rewards, ends, gamma: n_step_return(rewards, ends, 0.99),
            "Your discount is always 0.99. That is only the usual choice: take the argument "
            "`gamma`.",
        ),
        Misconception(
            "discounted from the first on",
            weighted(lambda counted, gamma, k: gamma * (counted @ powers(counted, gamma))),
            "You discount the first reward, too. It comes at once and counts in full: the powers "
            "begin at 0.",
        ),
        Misconception(
            "discounted backwards",
            weighted(backwards),
            "Your discount runs backwards: the last reward counts in full, and the first one "
            "least. The nearest counts most.",
        ),
        Misconception(
            "the last of n in full",
            weighted(lambda counted, gamma, k: counted @ powers(counted, gamma)[::-1]),
            "Your powers of gamma are in the reverse order: the last column counts in full, and "
            "the first one least. The nearest reward counts most.",
        ),
        Misconception(
            "one discount for all later rewards",
            weighted(lambda counted, gamma, k: counted[:, 0] + gamma * counted[:, 1:].sum(axis=1)),
            "You multiply all the later rewards with gamma once. Each step makes a reward worth a "
            "little less: gamma, then gamma squared, and so on.",
        ),
        Misconception(
            "gamma times the number of steps",
            weighted(lambda counted, gamma, k: counted @ (gamma * np.arange(counted.shape[1]))),
            "You multiply gamma with the number of steps, so what is far away counts most. It is a "
            "power: gamma times itself, once a step.",
        ),
        Misconception(
            "gamma to the power k for all",
            weighted(lambda counted, gamma, k: counted.sum(axis=1) * float(gamma) ** k),
            "You give all rewards the same weight, gamma to the power k. That is what comes after "
            "the k rewards; the i-th of them has its own power, i.",
        ),
        Misconception(
            "gamma to the power n for all",
            weighted(
                lambda counted, gamma, k: counted.sum(axis=1) * float(gamma) ** counted.shape[1]
            ),
            "You give all rewards the same weight, gamma to the power n. Each has its own: the "
            "i-th is worth gamma to the power i.",
        ),
        Misconception(
            "the mean",
            weighted(lambda counted, gamma, k: counted @ powers(counted, gamma) / k),
            "You divided by the number of rewards. A return is a sum.",
        ),
        Misconception(
            "only the last reward",
            weighted(lambda counted, gamma, k: counted[np.arange(len(k)), k - 1]),
            "You return the last reward alone. All rewards up to the end are added, each with its "
            "discount.",
        ),
        Misconception(
            "only the last reward, discounted",
            weighted(
                lambda counted, gamma, k: (
                    float(gamma) ** (k - 1) * counted[np.arange(len(k)), k - 1]
                )
            ),
            "You return the last reward alone. All rewards up to the end are added, each with its "
            "discount.",
        ),
        Misconception(
            "the first reward left out",
            weighted(lambda counted, gamma, k: counted[:, 1:] @ powers(counted, gamma)[1:]),
            "The first reward is missing: a loop or a slice begins at 1. Python counts from 0, and "
            "the step's own reward counts in full.",
        ),
        Misconception(
            "the last column left out",
            stops_at(lambda ends: np.minimum(lengths_of(ends), ends.shape[1] - 1)),
            "The last of the n rewards is never added: a loop or a slice ends one too early. "
            "`range(n)` leaves out n by itself.",
        ),
        Misconception(
            "summed over the batch",
            weighted(lambda counted, gamma, k: (counted * powers(counted, gamma)).sum(axis=0)),
            "You summed down the rows, over the whole batch. Each row is a return of its own: sum "
            "along `axis=1`.",
        ),
        Misconception(
            "one sum for all",
            weighted(lambda counted, gamma, k: (counted * powers(counted, gamma)).sum()),
            "You summed everything, over the whole batch as well. Each row is a return of its own: "
            "sum along `axis=1`.",
        ),
        # How many there are
        Misconception(
            "the number of the last step",
            tells(lambda ends: lengths_of(ends) - 1),
            "The sums are right, but in place of how many rewards there are you return the number "
            "of the last one. Steps are counted from 0, so that is one less.",
        ),
        Misconception("one too many", tells(lambda ends: lengths_of(ends) + 1), HOW_MANY),
        Misconception(
            "number without the end",
            tells(without_the_end),
            HOW_MANY,
        ),
        Misconception(
            "steps that are no ends",
            tells(lambda ends: (~ends).sum(axis=1)),
            "The sums are right, but as their number you count the steps that are no ends, those "
            "behind the first end as well. It is how many steps there are up to the end, that one "
            "included.",
        ),
        Misconception(
            "rewards that are not 0",
            lambda rewards, ends, gamma: (
                up_to(rewards, lengths_of(ends), gamma),
                (rewards * ~beyond_the_end(ends) != 0).sum(axis=1),
            ),
            "You count the rewards that are not 0. A reward of 0 is one as well, and takes a step "
            "of time: on a sparse task nearly all of them are.",
        ),
        Misconception(
            "the discount in place of the number",
            lambda rewards, ends, gamma: (
                up_to(rewards, lengths_of(ends), gamma),
                float(gamma) ** lengths_of(ends),
            ),
            "Your second part is the discount already, gamma to the power k. Asked for is k "
            "itself: whoever calls needs it to find the last step as well.",
        ),
        Misconception(
            "number of the longest",
            tells(lambda ends: lengths_of(ends).max()),
            "You return a single number of rewards for the whole batch. Each row has its own.",
        ),
        # What is returned
        Misconception(
            "sum and number exchanged",
            lambda rewards, ends, gamma: n_step_return(rewards, ends, gamma)[::-1],
            "Both parts are right, but in the wrong order: first the sums, then the numbers.",
        ),
        Misconception(
            "the number missing",
            lambda rewards, ends, gamma: n_step_return(rewards, ends, gamma)[0],
            "The sums are right, but how many rewards they have is missing. Return both: what "
            "comes after them is discounted by it.",
        ),
        Misconception(
            "only the first row",
            lambda rewards, ends, gamma: tuple(
                part[0] for part in n_step_return(rewards, ends, gamma)
            ),
            "Only the first row comes back: does a `return` stand inside your loop? Collect the "
            "numbers of all rows, and return them after it.",
        ),
        Misconception("computed in the caller's array", in_the_callers_array, OVERWRITES),
    ],
    properties=[no_mutation(n_step_cases, message=OVERWRITES)],
)
