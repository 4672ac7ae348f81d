"""Lesson 05's validation: exercise 5.6 `split_episodes`.

Right versions draw in different ways. So what is looked at is what every split has to be, and what
many splits show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor
from traceback import walk_tb

import numpy as np

from helpers.agents.cloning import some_episodes, split_episodes
from helpers.checks.exercise import Case, Property, exercise
from helpers.demos.files import ARRAYS, Demos

# --- What is looked at ----------------------------------------------------------------------------

DRAWS = 60
PAIR = "a pair of demonstrations"
IN_BOTH = "number of episodes that are in both parts"
TWICE = "number of episodes that are twice in one part"
LOST = "number of episodes that are lost"
ENOUGH = "as many as they should be"


def demos_of(lengths: list[int]) -> Demos:
    """Episodes of these lengths. The reward of a step is its row's number."""
    count = sum(lengths)
    ends = np.isin(np.arange(count) + 1, np.cumsum(lengths))
    number = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    obs = (number + within / 100)[:, None].astype(np.float32)
    following = (number + (within + 1) / 100)[:, None].astype(np.float32)
    return Demos(
        env_id="Walk-v0",
        maker="a test",
        obs=obs,
        action=-obs,
        reward=np.arange(count, dtype=np.float32),
        next_obs=following,
        terminated=ends & (number % 2 == 0),
        truncated=ends & (number % 2 == 1),
    )


def observe_split(function, lengths, validation):
    demos = demos_of(lengths)
    recorded, drawn, disturbed = list(demos.episodes), False, False
    splits = []
    for i in range(DRAWS):
        rng = np.random.default_rng(i)
        before = rng.bit_generator.state
        try:
            splits.append(function(demos, validation, rng))
        except IndexError as error:
            tell_of_steps(error, demos)
            raise
        drawn |= rng.bit_generator.state != before
        disturbed |= demos.episodes != recorded
        demos.episodes[:] = recorded
    if all(given is None for given in splits):
        return None
    form = form_of(splits[0])
    seen = dict.fromkeys(PARTS) | {"form of the result": form}
    if form != PAIR:
        return seen
    seen[CALLERS] = "shuffled" if disturbed else "as it was"
    seen[DRAWN] = "yes" if drawn else "no"
    train, aside = ([numbers_in(demos, split[i]) for split in splits] for i in range(2))
    whole = all(part is not None for part in [*train, *aside])
    seen["form of the parts"] = "whole episodes" if whole else "not whole episodes"
    if not whole:
        return seen
    n, pairs = len(lengths), list(zip(train, aside, strict=True))
    seen[TWICE] = steady(len(part) - len(set(part)) for part in [*train, *aside])
    seen[IN_BOTH] = steady(len({*a} & {*b}) for a, b in pairs)
    seen[LOST] = steady(n - len({*a, *b}) for a, b in pairs)
    low, high = max(1, floor(validation * n)), min(n - 1, ceil(validation * n))
    right = all(low <= len(part) <= high for part in aside)
    seen["number of episodes set aside"] = (
        ENOUGH if right else f"{span(len(part) for part in aside)} of {n}"
    )
    seen["choice of those set aside"] = choice(aside, n)
    same = True
    for i in range(10):
        again = function(demos, validation, np.random.default_rng(i))[1]
        demos.episodes[:] = recorded
        same &= numbers_in(demos, again) == aside[i]
    seen["split with the same generator"] = "the same" if same else "another one"
    return seen


CALLERS = "the caller's own list of episodes"
DRAWN = "whether anything is drawn from `rng`"
PARTS = (
    "form of the result",
    CALLERS,
    DRAWN,
    "form of the parts",
    IN_BOTH,
    TWICE,
    LOST,
    "number of episodes set aside",
    "choice of those set aside",
    "split with the same generator",
)


def tell_of_steps(error: IndexError, demos: Demos) -> None:
    """Note on the error if episodes were asked for by numbers that only steps have."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    asked = next((f.f_locals for f in frames if f.f_code is some_episodes.__code__), {})
    n = len(demos.episodes)
    # With few steps a number of one could as well be an episode's, counted from 1.
    if "numbers" in asked and len(demos) > 4 * n and max(asked["numbers"]) > n:
        error.add_note("numbers of steps")


def span(counts: Iterable[int]) -> str:
    """Of all draws."""
    counts = sorted(set(counts))
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def steady(counts: Iterable[int]) -> str:
    """How far chance goes is nobody's mistake."""
    text = span(counts)
    return text if text.isdigit() else "now more, now fewer"


def choice(aside: list[list[int]], n: int) -> str:
    if all(sorted(part) == sorted(aside[0]) for part in aside):
        count = len(aside[0])
        firsts = {
            tuple(range(count)): "the first ones",
            tuple(range(n - count, n)): "the last ones",
        }
        return f"always {firsts.get(tuple(sorted(aside[0])), 'the same ones')}"
    never = set(range(n)) - {number for part in aside for number in part}
    return f"never {', '.join(map(str, sorted(never)))}" if never else "by chance"


def form_of(given) -> str:
    if isinstance(given, tuple | list) and len(given) == 2:
        if all(isinstance(part, Demos) for part in given):
            return PAIR
        return f"a pair of {' and '.join(form_of_part(part) for part in given)}"
    return f"something of type {type(given).__name__}"


def form_of_part(part) -> str:
    kinds = {type(entry) for entry in part} if isinstance(part, list | tuple | np.ndarray) else {}
    if kinds == {slice}:
        return "slices"
    if kinds == {Demos}:
        return "lists of Demos"
    if kinds and all(issubclass(kind, int | np.integer) for kind in kinds):
        return "numbers"
    return type(part).__name__


def numbers_in(demos: Demos, part: Demos) -> list[int] | None:
    """Which whole episodes these are, in their order; None if anything else is in it."""
    rows = part.reward.astype(int)
    known = (rows >= 0).all() and (rows < len(demos)).all()
    if not known or not all(
        np.array_equal(getattr(part, x), getattr(demos, x)[rows]) for x in ARRAYS
    ):
        return None
    starts = {rows.start: i for i, rows in enumerate(demos.episodes)}
    found, at = [], 0
    while at < len(rows):
        number = starts.get(rows[at])
        if number is None:
            return None
        whole = demos.episodes[number]
        end = at + whole.stop - whole.start
        if not np.array_equal(rows[at:end], np.arange(whole.start, whole.stop)):
            return None
        found.append(number)
        at = end
    return found


def split_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case(([2, 1], 0.5), note="two episodes, half of them"),
        Case(([1, 3, 2], 0.1), note="three episodes, a tenth of them: less than one"),
        Case(([3, 1, 2, 2], 0.9), note="four episodes, nearly all of them"),
        Case(([2, 4, 1, 3, 2], 0.2), note="five episodes, a fifth of them"),
        Case(([1, 2, 30, 2, 1, 2, 1, 2, 2, 1], 0.3), note="ten episodes, one of them long"),
        Case(([3] * 12, 0.25), note="twelve episodes of equal length, a quarter of them"),
    ]


# --- What it has to refuse ------------------------------------------------------------------------


def refuses(lengths: list[int], *shares: float) -> Callable:
    def test(function, rng) -> bool:
        for share in shares:
            try:
                function(demos_of(lengths), share, np.random.default_rng(0))
            except ValueError:
                continue
            return False
        return True

    return test


def env_and_maker_stay(function, rng):
    parts = function(demos_of([1, 2, 3, 2]), 0.5, rng)
    return all((part.env_id, part.maker) == ("Walk-v0", "a test") for part in parts)


SPLIT_EPISODES = exercise(
    __file__,
    "5.6",
    reference=split_episodes,
    cases=split_cases,
    observe=observe_split,
    properties=[
        Property(
            "takes any share",
            refuses([1, 2, 1], 0.0, 1.0, -0.5, 20.0),
            "The splits are right, but a share that is not between 0 and 1 is a mistake of the "
            "caller, such as 20 for 20 %. Stop with a `ValueError` that says so.",
        ),
        Property(
            "takes a single episode",
            refuses([4], 0.5),
            "The splits are right, but with a single episode there is nothing to split. Stop with "
            "a `ValueError` that asks for more.",
        ),
        Property(
            "env_id and maker",
            env_and_maker_stay,
            "Each part says where and by whom it was recorded: `env_id` and `maker` stay as they "
            "are in `demos`.",
        ),
    ],
)
