"""Lesson 05's validation: exercise 5.6 `split_episodes`.

Right versions draw in different ways. So what is looked at is what every split has to be, and what
many splits show.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil, floor
from traceback import walk_tb

import numpy as np

from helpers.agents.cloning import some_episodes, split_episodes
from helpers.checks.exercise import Case
from helpers.demos.files import ARRAYS, Demos
from helpers.exercises.observing import raises
from helpers.exercises.text import exercise

# --- What is looked at ----------------------------------------------------------------------------

DRAWS, AGAIN = 60, 10
FORM, PAIR = "form of the result", "a pair of demonstrations"
PARTS, CALLERS, DRAWN = "form of the parts", "caller's list of episodes", "use of `rng`"
CUT_THROUGH = "The last step ends no episode", "Within an episode a step must begin"
NUMBERS = (
    "number of episodes in both parts",
    "number of repeated episodes",
    "number of lost episodes",
    "number of episodes set aside",
    "choice of the episodes set aside",
    "second split from the same seed",
)


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
    recorded = list(demos.episodes)

    def draw(seed: int) -> tuple:
        """A split, whether it drew random numbers, and whether it disturbed the episodes."""
        rng = np.random.default_rng(seed)
        before = rng.bit_generator.state
        try:
            given = function(demos, validation, rng)
        except IndexError as error:
            tell_of_steps(error, demos)
            raise
        except ValueError as error:
            if not str(error).startswith(CUT_THROUGH):
                raise
            given = [replace(demos, reward=demos.reward - 1)] * 2  # no whole episodes, either
        done = given, rng.bit_generator.state != before, demos.episodes != recorded
        demos.episodes[:] = recorded
        return done

    draws = [draw(seed) for seed in (*range(DRAWS), *range(AGAIN))]
    splits, drawn, disturbed = zip(*draws, strict=True)
    if all(given is None for given in splits):
        return None
    seen = dict.fromkeys((FORM, CALLERS, DRAWN, PARTS, *NUMBERS)) | {FORM: form_of(splits[0])}
    if seen[FORM] != PAIR:
        return seen
    pairs = [tuple(numbers_in(demos, part) for part in split) for split in splits]
    whole = all(part is not None for pair in pairs for part in pair)
    seen[CALLERS] = "shuffled" if any(disturbed) else "as it was"
    seen[DRAWN] = "drawn from" if any(drawn) else "not drawn from"
    seen[PARTS] = "whole episodes" if whole else "not whole episodes"
    return seen | of_numbers(len(lengths), validation, pairs) if whole else seen


def of_numbers(n: int, validation: float, pairs: list[tuple]) -> dict:
    """What the numbers of the episodes show; the last splits have the seeds of the first."""
    pairs, again = pairs[:DRAWS], pairs[DRAWS:]
    aside = [second for _, second in pairs]
    low, high = max(1, floor(validation * n)), min(n - 1, ceil(validation * n))
    enough = all(low <= len(part) <= high for part in aside)
    values = (
        steady(len({*a} & {*b}) for a, b in pairs),
        steady(len(part) - len({*part}) for pair in pairs for part in pair),
        steady(n - len({*a, *b}) for a, b in pairs),
        f"{span([low, high] if enough else map(len, aside))} of {n}",
        choice(aside, n),
        "the same" if again == pairs[:AGAIN] else "another one",
    )
    return dict(zip(NUMBERS, values, strict=True))


def tell_of_steps(error: IndexError, demos: Demos) -> None:
    """Note on the error if episodes were asked for by numbers that only steps have."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    asked = next((f.f_locals for f in frames if f.f_code is some_episodes.__code__), {})
    n = len(demos.episodes)
    # With few steps a number of one could as well be an episode's, counted from 1.
    if "numbers" in asked and len(demos) > 4 * n and max(asked["numbers"]) > n:
        error.add_note("numbers of steps")


def span(counts: Iterable[int]) -> str:
    counts = sorted(set(counts))
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def steady(counts: Iterable[int]) -> str:
    """How many is chance where it is not always the same number."""
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
    whole = {tuple(range(e.start, e.stop)): i for i, e in enumerate(demos.episodes)}
    found = [tuple(rows[e]) for e in part.episodes]
    return [whole[each] for each in found] if whole.keys() >= set(found) else None


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
        return all(
            raises(ValueError, function, demos_of(lengths), share, np.random.default_rng(0))
            for share in shares
        )

    return test


def asks_rng(function, rng):
    """Where it fails, that says nothing of random numbers."""
    demos, mine = demos_of([1, 2, 3, 2, 1]), np.random.default_rng(0)
    before = mine.bit_generator.state
    if raises(Exception, function, demos, 0.4, mine):
        return True
    return mine.bit_generator.state != before


def env_and_maker_stay(function, rng):
    demos = demos_of([1, 2, 3, 2])
    if raises(Exception, function, demos, 0.5, rng):
        return True  # a split that fails says nothing of them
    parts = function(demos, 0.5, rng)
    return all((part.env_id, part.maker) == ("Walk-v0", "a test") for part in parts)


def as_recorded(function, rng):
    """Where it fails, or single steps are mixed, that says nothing of the order of episodes."""
    demos = demos_of([2, 1, 3, 2, 1, 2])
    if raises(Exception, function, demos, 0.5, rng):
        return True
    orders = [numbers_in(demos, part) for part in function(demos, 0.5, rng)]
    return None in orders or all(numbers == sorted(numbers) for numbers in orders if numbers)


SPLIT_EPISODES = exercise(
    __file__, "5.6", split_episodes, split_cases, observe_split,
    properties={
        "does not draw from rng": asks_rng,
        "takes any share": refuses([1, 2, 1], 0.0, 1.0, -0.5, 20.0),
        "takes a single episode": refuses([4], 0.5),
        "env_id and maker": env_and_maker_stay,
        "another order": as_recorded,
    },
)  # fmt: skip
