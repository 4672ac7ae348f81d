"""Lesson 05's early stop: exercise 5.7 `early_stopping`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from helpers.agents.cloning import early_stopping
from helpers.checks.exercise import Card, Case, Exercise, Misconception

# --- What is looked at ----------------------------------------------------------------------------

PAIR = "a pair"


def observe_stop(function, losses, patience):
    given = function(losses, patience)
    if given is None:
        return None
    form = PAIR if isinstance(given, tuple | list) and len(given) == 2 else "no pair"
    if form != PAIR:
        return {"form of the result": form, "answer": None, "best epoch": None}
    stop, best = given
    if stop is ... or best is ...:
        return ...
    known = isinstance(stop, bool | np.bool_ | int)
    words = {0: "go on", 1: "stop"}.get(int(stop), "neither") if known else "neither"
    return {"form of the result": form, "answer": words, "best epoch": best}


def loss_cases(rng: np.random.Generator) -> list[Case]:
    noisy = (1 / np.arange(1, 13) + rng.normal(0, 0.05, 12)).round(3).tolist()
    return [
        Case(([5.0], 1), note="before the first epoch"),
        Case(([5.0, 6.0], 1), note="one worse epoch, a patience of one"),
        Case(([5.0, 3.0, 4.0], 2), note="one worse epoch, a patience of two"),
        Case(([5.0, 3.0, 4.0, 3.5], 2), note="two worse epochs, the second less than the first"),
        Case(([5.0, 4.0, 3.0, 2.0], 2), note="always better"),
        Case(([5.0, 3.0, 4.0, 6.0, 7.0], 2), note="three worse epochs, a patience of two"),
        Case(([5.0, 2.0, 2.0, 2.0], 2), note="as good as the best, twice"),
        Case(([5.0, 2.0, 2.0, 3.0], 2), note="as good as the best, then worse"),
        Case(([4.0, 6.0, 5.0, 3.0, 3.5], 2), note="worse twice, then better than ever"),
        Case(([4.0, 3.0, 3.5, 2.0, 2.5, 1.0, 1.5], 3), note="up and down, and better each time"),
        Case(([9.0, 1.0, 8.0, 7.0, 6.0], 3), note="one lucky epoch, then better step by step"),
        Case(([2.0, 3.0, 4.0, 5.0, 6.0], 10), note="nothing but worse, with much patience"),
        Case(([1.0, 3.0, 2.5, 2.0, 1.5], 4), note="training only made it worse"),
        Case(([-1.0, -3.0, -2.0, -2.5], 2), note="negative losses, as minus a log-density can be"),
        Case((noisy, 4), note="twelve epochs"),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


def lowest(losses: Sequence[float]) -> int:
    return int(np.argmin(losses))


def stopping(
    stop: Callable = lambda losses, best, patience: len(losses) - 1 - best >= patience,
    best: Callable = lowest,
    result: Callable = lambda stop, best, losses: (stop, best),
):
    """A wrong version: some steps replaced."""

    def decide(losses, patience):
        found = best(losses)
        return result(bool(stop(losses, found, patience)), found, losses)

    return decide


def latest_lowest(losses) -> int:
    return len(losses) - 1 - int(np.argmin(losses[::-1]))


def in_a_row(worse: Callable) -> Callable:
    """Whether the last `patience` epochs were all worse, by `worse(losses, i)`."""

    def stop(losses, best, patience):
        tail = range(len(losses) - patience, len(losses))
        return len(losses) > patience and all(worse(losses, i) for i in tail)

    return stop


def ever(losses, best, patience):
    """As a count that is never set back."""
    worse = sum(losses[i] >= min(losses[:i]) for i in range(1, len(losses)))
    return worse >= patience


def rises(losses, best, patience):
    return sum(losses[i] > losses[i - 1] for i in range(1, len(losses))) >= patience


def stays_stopped(losses, best, patience):
    """As whoever leaves a loop over the epochs at the first stop."""
    return any(n - 1 - lowest(losses[:n]) >= patience for n in range(1, len(losses) + 1))


def without_the_last(losses) -> int:
    return lowest(losses[:-1] or losses)


def without_the_first(losses) -> int:
    return 1 + lowest(losses[1:]) if len(losses) > 1 else 0


PATIENCE = "Stop when `patience` epochs have come after the best one and none was better"

EARLY_STOPPING = Exercise(
    id="5.7",
    lesson="05_td3_in_practice",
    reference=early_stopping,
    card=Card(
        title="When to stop imitating",
        what="Write `early_stopping(losses, patience)`: from the validation loss of each epoch so "
        "far (number 0 is before any training), return whether to stop now, and the number of the "
        "best epoch: the one with the lowest loss, the earliest of several. Stop when `patience` "
        "epochs or more have come since.",
        why="The loss on what was learned from falls for ever; the one on episodes that were set "
        "aside rises again when the network begins to know its examples by heart. It is noisy, "
        "too, so one bad epoch means nothing.",
        difficulty=1,
        minutes=6,
    ),
    hints=(
        "Two questions: which epoch was the best, and how many have come since? Nothing has to be "
        "remembered between calls: all losses are there each time.",
        "The number of the last epoch is one less than how many losses there are. A list's "
        "`.index` finds the first place of a value, and `min` its lowest one.",
    ),
    cases=loss_cases,
    observe=observe_stop,
    misconceptions=[
        # The best
        Misconception(
            "the latest of several",
            stopping(best=latest_lowest),
            "Of several epochs with the lowest loss you take the latest. As good as the best is "
            "not better: the earliest counts, and patience runs from there.",
        ),
        Misconception(
            "the highest loss",
            stopping(best=lambda losses: int(np.argmax(losses))),
            "You take the epoch with the highest loss. A loss is to be low.",
        ),
        Misconception(
            "the last epoch",
            stopping(best=lambda losses: len(losses) - 1),
            "For you the last epoch is the best, always. The best has the lowest loss.",
        ),
        Misconception(
            "counted from 1",
            stopping(
                result=lambda stop, best, losses: (stop, best + 1),
            ),
            "You number the epochs from 1. Number 0 is the loss before any training, and "
            "`losses[best]` is to be the lowest.",
        ),
        Misconception(
            "without number 0",
            stopping(best=without_the_first),
            "You leave out the first loss, the one before any training. If training only makes it "
            "worse, that is the best one: compare all.",
        ),
        Misconception(
            "without the last",
            stopping(best=without_the_last),
            "You look for the best without the last loss, the newest one. It may be the best: "
            "compare all.",
        ),
        Misconception(
            "counted backwards",
            stopping(result=lambda stop, best, losses: (stop, len(losses) - 1 - best)),
            "You return how many epochs have come since the best one. Its own number is asked for.",
        ),
        Misconception(
            "the loss itself",
            stopping(result=lambda stop, best, losses: (stop, losses[best])),
            "You return the lowest loss. The number of its epoch is asked for: weights are kept "
            "epoch by epoch.",
        ),
        Misconception(
            "the loss for its number",
            stopping(best=min),
            "For the best epoch you take its loss, and count with that. Where the lowest loss "
            "stands in the list is asked for.",
        ),
        # When to stop
        Misconception(
            "one epoch too late",
            stopping(lambda losses, best, patience: len(losses) - 1 - best > patience),
            f"You stop one epoch too late. {PATIENCE}: `patience` of them are enough.",
        ),
        Misconception(
            "one epoch too early",
            stopping(lambda losses, best, patience: len(losses) - best >= patience),
            "You stop one epoch too early: the number of the last epoch is one less than how many "
            f"losses there are. {PATIENCE}.",
        ),
        Misconception(
            "exactly then",
            stopping(lambda losses, best, patience: len(losses) - 1 - best == patience),
            "You stop only when exactly `patience` epochs have come since the best one. Whoever "
            "asks later has to hear it as well: or more.",
        ),
        Misconception(
            "at the first worse one",
            stopping(lambda losses, best, patience: len(losses) - 1 > best),
            f"You stop at the first epoch that is no better, without patience. {PATIENCE}.",
        ),
        Misconception(
            "at the first rise",
            stopping(lambda losses, best, patience: len(losses) > 1 and losses[-1] > losses[-2]),
            f"You stop as soon as the loss rises from one epoch to the next. It is noisy. "
            f"{PATIENCE}.",
        ),
        Misconception(
            "rises in a row",
            stopping(in_a_row(lambda losses, i: losses[i] > losses[i - 1])),
            "You stop after `patience` rises in a row. A loss can be worse than the best for ever "
            f"without that. {PATIENCE}.",
        ),
        Misconception(
            "no falls in a row",
            stopping(in_a_row(lambda losses, i: losses[i] >= losses[i - 1])),
            "You stop after `patience` epochs in a row in which the loss did not fall. A loss can "
            f"be worse than the best for ever and still fall now and then. {PATIENCE}.",
        ),
        Misconception(
            "worse ones in all",
            stopping(ever),
            "You count all epochs that were no better, and a better one in between does not set "
            f"the count back. {PATIENCE}.",
        ),
        Misconception(
            "stays stopped",
            stopping(stays_stopped),
            "You stop where patience ran out at any time before, though a better epoch has come "
            f"since. {PATIENCE}.",
        ),
        Misconception(
            "rises in all",
            stopping(rises),
            f"You count all rises of the loss, however long ago. {PATIENCE}.",
        ),
        Misconception(
            "after so many epochs",
            stopping(lambda losses, best, patience: len(losses) > patience),
            f"You stop after `patience` epochs in any case, also if each was better. {PATIENCE}.",
        ),
        Misconception(
            "after so many losses",
            stopping(lambda losses, best, patience: len(losses) >= patience),
            "You stop as soon as there are `patience` losses, also if each was better. "
            f"{PATIENCE}.",
        ),
        Misconception(
            "compared with one of them",
            stopping(
                lambda losses, best, patience: (
                    len(losses) > patience and losses[-1] >= losses[-1 - patience]
                )
            ),
            f"You compare the last loss with the one `patience` epochs before. {PATIENCE}: what "
            "counts is the best so far.",
        ),
        Misconception(
            "as good is no worse",
            stopping(
                lambda losses, best, patience: (
                    sum(loss > losses[best] for loss in losses[best:]) >= patience
                )
            ),
            "An epoch that is as good as the best does not count for you, and patience waits. It "
            f"is not better, so it counts. {PATIENCE}.",
        ),
        Misconception(
            "the last one has to be worse",
            stopping(
                lambda losses, best, patience: (
                    len(losses) - 1 - best >= patience and losses[-1] > losses[best]
                )
            ),
            f"Where the last epoch is as good as the best you go on. It is not better: {PATIENCE}.",
        ),
        Misconception(
            "the last one worse",
            stopping(lambda losses, best, patience: losses[-1] > losses[best]),
            f"You stop at the first epoch that is worse than the best, without patience. "
            f"{PATIENCE}.",
        ),
        Misconception(
            "worse ones before it",
            stopping(
                lambda losses, best, patience: (
                    sum(loss > losses[best] for loss in losses) >= patience
                )
            ),
            "You count all epochs that are worse than the best, those before it among them. "
            f"{PATIENCE}.",
        ),
        Misconception(
            "never",
            stopping(lambda losses, best, patience: False),
            f"You never stop. {PATIENCE}.",
        ),
        Misconception(
            "go on and stop exchanged",
            stopping(lambda losses, best, patience: len(losses) - 1 - best < patience),
            "You stop where you should go on, and go on where you should stop: the first part says "
            "whether to stop.",
        ),
        # What is returned
        Misconception(
            "how many since",
            stopping(result=lambda stop, best, losses: (len(losses) - 1 - best, best)),
            "First you return how many epochs have come since the best one. Whether to stop is "
            "asked for: compare that with `patience`.",
        ),
        Misconception(
            "best first",
            stopping(result=lambda stop, best, losses: (best, stop)),
            "Your pair is the other way round: first whether to stop, then the best epoch.",
        ),
        Misconception(
            "whether alone",
            stopping(result=lambda stop, best, losses: stop),
            "You return one thing. A pair is asked for: whether to stop, and the best epoch.",
        ),
    ],
)
