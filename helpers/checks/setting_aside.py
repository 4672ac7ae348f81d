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
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
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


# --- Wrong versions -------------------------------------------------------------------------------


def refuse(demos, validation) -> None:
    if not 0 < validation < 1 or len(demos.episodes) < 2:
        raise ValueError("This cannot be split.")


def at_least_one(n: int, validation: float) -> int:
    return min(max(1, round(validation * n)), n - 1)


def splitting(
    count: Callable[[int, float], int] = at_least_one,
    order: Callable = lambda n, rng: rng.permutation(n),
    parts: Callable = lambda order, aside: (order[aside:], order[:aside]),
    result: Callable = lambda train, aside: (train, aside),
    refuse: Callable = refuse,
):
    """A wrong version: some steps replaced."""

    def split(demos, validation, rng):
        refuse(demos, validation)
        n = len(demos.episodes)
        chosen = parts(order(n, rng), count(n, validation))
        return result(*(some_episodes(demos, sorted(numbers)) for numbers in chosen))

    return split


def rows_of(demos: Demos, rows) -> Demos:
    """Steps from anywhere, each made an episode of its own: demonstrations allow no gaps."""
    parts = {name: getattr(demos, name)[rows] for name in ARRAYS}
    ends = np.ones(len(parts["reward"]), dtype=bool)
    parts |= {"terminated": ends & parts["terminated"]}
    parts |= {"truncated": ends & ~parts["terminated"]}
    return Demos(demos.env_id, demos.maker, **parts)


def by_steps(demos, validation, rng):
    refuse(demos, validation)
    order = rng.permutation(len(demos))
    aside = at_least_one(len(demos), validation)
    return rows_of(demos, np.sort(order[aside:])), rows_of(demos, np.sort(order[:aside]))


def by_steps_as_they_are(demos, validation, rng):
    """Demonstrations refuse such parts."""
    refuse(demos, validation)
    order = rng.permutation(len(demos))
    aside = at_least_one(len(demos), validation)
    return tuple(
        Demos(demos.env_id, demos.maker, **{x: getattr(demos, x)[rows] for x in ARRAYS})
        for rows in (np.sort(order[aside:]), np.sort(order[:aside]))
    )


def each_by_a_coin(demos, validation, rng):
    refuse(demos, validation)
    chosen = rng.random(len(demos.episodes)) < validation
    if chosen.all() or not chosen.any():
        chosen[0] = not chosen[0]
    both = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    return tuple(some_episodes(demos, numbers) for numbers in both)


def drawn_with_repetition(n: int, rng: np.random.Generator):
    return rng.integers(0, n, n)


def numbers_only(demos, validation, rng):
    order = rng.permutation(len(demos.episodes))
    aside = at_least_one(len(order), validation)
    return order[aside:], order[:aside]


def numbers_of_steps(demos, validation, rng):
    refuse(demos, validation)
    order = rng.permutation(len(demos))
    aside = at_least_one(len(order), validation)
    return some_episodes(demos, order[aside:]), some_episodes(demos, order[:aside])


def shuffled_in_place(demos, validation, rng):
    refuse(demos, validation)
    rng.shuffle(demos.episodes)
    n = len(demos.episodes)
    aside = at_least_one(n, validation)
    return some_episodes(demos, range(aside, n)), some_episodes(demos, range(aside))


def each_as(entry: Callable[[Demos, int], object]):
    """A wrong version: lists in place of demonstrations."""

    def split(demos, validation, rng):
        both = numbers_only(demos, validation, rng)
        return tuple([entry(demos, number) for number in numbers] for numbers in both)

    return split


def another_name(demos, validation, rng):
    train, aside = split_episodes(demos, validation, rng)
    return train, Demos("Elsewhere-v0", "nobody", **{x: getattr(aside, x) for x in ARRAYS})


SEPARATE = (
    "What the network is judged by has to be unknown to it, or it looks good by knowing its "
    "examples by heart"
)
BY_STEPS = (
    "You split steps, and not whole episodes. Neighbouring steps are nearly the same, so what you "
    "judge by has all but been learned from: set whole episodes aside."
)
SORTED = "You sort before the cut, which undoes the shuffle: sort each part by itself after it."
SHARE = "the share `validation` of the episodes is set aside, and the rest is learned from"

SPLIT_EPISODES = Exercise(
    id="5.6",
    lesson="05_td3_in_practice",
    reference=split_episodes,
    card=Card(
        title="Episodes set aside",
        what="Write `split_episodes(demos, validation, rng)`: return two `Demos`, what is learned "
        "from and what is set aside. The second holds about the share `validation` of the "
        "episodes, whole ones that `rng` has chosen, and neither is empty. Raise a `ValueError` "
        "for a share that is not between 0 and 1, and for fewer than two episodes.",
        why="A network can learn its examples by heart, and its loss on them says nothing of what "
        "it would do elsewhere. Who sets single steps aside is fooled all the same: their "
        "neighbours were learned from.",
        difficulty=2,
        minutes=10,
    ),
    hints=(
        "Work with the numbers of the episodes, 0 to n - 1: shuffle them once, and cut the list in "
        "two. How many belong to the shorter part, and what if rounding says none, or all?",
        "`rng.permutation(n)` gives the numbers in random order; `some_episodes(demos, numbers)` "
        "makes `Demos` of some of them. `max` and `min` keep at least one on either side.",
    ),
    cases=split_cases,
    observe=observe_split,
    misconceptions=[
        # What is split
        Misconception("single steps", by_steps, BY_STEPS),
        Misconception("single steps, as they are", by_steps_as_they_are, BY_STEPS),
        Misconception(
            "numbers of steps",
            numbers_of_steps,
            "You number steps: cut the list of episodes. There are `len(demos.episodes)` of "
            "them; `len(demos)` counts steps.",
        ),
        # Both sides
        Misconception(
            "all to learn from",
            splitting(parts=lambda order, aside: (order, order[:aside])),
            f"You learn from all episodes, those that are set aside among them. {SEPARATE}.",
        ),
        Misconception(
            "all set aside",
            splitting(parts=lambda order, aside: (order[aside:], order)),
            f"You judge by all episodes, those that are learned from among them. {SEPARATE}.",
        ),
        Misconception(
            "the same on both sides",
            splitting(parts=lambda order, aside: (order[:aside], order[:aside])),
            f"Both parts hold the same episodes. {SEPARATE}.",
        ),
        Misconception(
            "one lost",
            splitting(parts=lambda order, aside: (order[aside + 1 :], order[:aside])),
            "One episode is in neither part. Where the first slice stops the other one starts: a "
            "slice does not hold its end.",
        ),
        Misconception(
            "one in both",
            splitting(parts=lambda order, aside: (order[max(aside - 1, 0) :], order[:aside])),
            f"One episode is in both parts. {SEPARATE}.",
        ),
        Misconception(
            "the first in both",
            splitting(parts=lambda order, aside: (order[:-aside], order[:aside])),
            "Both of your slices begin at the beginning: some episodes are in both, and as many at "
            "the end in neither. Where one slice stops the other one starts.",
        ),
        Misconception(
            "drawn with repetition",
            splitting(order=drawn_with_repetition),
            "You draw the episodes with repetition (as `rng.integers` and `rng.choice` do), so "
            "that some are there twice and others not at all. `rng.permutation` has each once.",
        ),
        Misconception(
            "two permutations",
            lambda demos, validation, rng: (
                splitting()(demos, validation, rng)[0],
                splitting()(demos, validation, rng)[1],
            ),
            "You shuffle anew for each part, so that some episodes are in both and others in "
            "neither. Shuffle once, and cut.",
        ),
        # Which
        Misconception(
            "always the first",
            splitting(order=lambda n, rng: np.arange(n)),
            "You always set the first episodes aside. People get better while they demonstrate: "
            "let chance decide, `rng.permutation`.",
        ),
        Misconception(
            "always the last",
            splitting(order=lambda n, rng: np.arange(n)[::-1]),
            "You always set the last episodes aside. People get better while they demonstrate: "
            "let chance decide, `rng.permutation`.",
        ),
        Misconception(
            "a generator of its own",
            splitting(order=lambda n, rng: np.random.default_rng(0).permutation(n)),
            "You make a generator of your own, with a fixed seed, so that the split is the same "
            "whatever the caller's seed is. Draw from `rng`.",
        ),
        Misconception(
            "random numbers of everybody",
            splitting(order=lambda n, rng: np.random.permutation(n)),  # noqa: NPY002
            "Your order does not come from `rng`, but from a random stream that the whole process "
            "shares (`np.random`, `random` or `torch`). Then no training can be repeated.",
        ),
        Misconception(
            "sorted before the cut",
            splitting(order=lambda n, rng: sorted(rng.permutation(n))),
            f"{SORTED} The first episodes are always set aside.",
        ),
        Misconception(
            "sorted before the cut, and the last",
            splitting(order=lambda n, rng: sorted(rng.permutation(n))[::-1]),
            f"{SORTED} The last episodes are always set aside.",
        ),
        Misconception(
            "shuffled in place",
            shuffled_in_place,
            "You shuffle `demos.episodes` itself, the caller's own list: shuffle numbers, "
            "`rng.permutation(n)`.",
        ),
        # How many
        Misconception(
            "the share the other way round",
            splitting(parts=lambda order, aside: (order[:aside], order[aside:])),
            "Your parts have changed places, or you set `1 - validation` aside: "
            f"{SHARE}, in this order.",
        ),
        Misconception(
            "perhaps none",
            splitting(count=lambda n, validation: min(round(validation * n), n - 1)),
            "Where the share is less than one episode you set none aside, and there is nothing to "
            "judge by. At least one is: `max`.",
        ),
        Misconception(
            "perhaps all",
            splitting(count=lambda n, validation: max(1, round(validation * n))),
            "Where the share is nearly all you set every episode aside, and there is nothing to "
            "learn from. At least one is left: `min`.",
        ),
        Misconception(
            "perhaps none, perhaps all",
            splitting(count=lambda n, validation: round(validation * n)),
            "Your rounding may set no episode aside, or all of them, and `Demos` need at least "
            "one. Keep one on either side, with `max` and `min`.",
        ),
        Misconception(
            "one only",
            splitting(count=lambda n, validation: 1),
            f"You set one episode aside, however many there are. Here {SHARE}.",
        ),
        Misconception(
            "half",
            splitting(count=lambda n, validation: n // 2),
            f"You set half of the episodes aside, whatever `validation` says. Here {SHARE}.",
        ),
        Misconception(
            "a coin for each",
            each_by_a_coin,
            "You toss a coin for each episode, so that how many are set aside is chance as well, "
            "and with few episodes far from the share. Shuffle, and cut.",
        ),
        # What is returned
        Misconception(
            "numbers",
            numbers_only,
            "You return the numbers of the episodes. `some_episodes(demos, numbers)` makes "
            "demonstrations of them.",
        ),
        Misconception(
            "slices",
            each_as(lambda demos, number: demos.episodes[number]),
            "You return slices, which say where each episode stands. "
            "`some_episodes(demos, numbers)` makes `Demos` of the episodes with these numbers.",
        ),
        Misconception(
            "a list of episodes",
            each_as(lambda demos, number: some_episodes(demos, [number])),
            "You return lists with one entry for each episode. `some_episodes(demos, numbers)` "
            "makes one `Demos` of all of them.",
        ),
        Misconception(
            "what is learned from alone",
            lambda demos, validation, rng: split_episodes(demos, validation, rng)[0],
            "You return one part. A pair is asked for: what is learned from, and what is set "
            "aside.",
        ),
        Misconception(
            "another source",
            another_name,
            "Each part says where and by whom it was "
            "recorded: `env_id` and `maker` stay as they are in `demos`.",
        ),
        Misconception(
            "any share",
            splitting(
                refuse=lambda demos, validation: refuse(demos, 0.5),
            ),
            "A share that is not between 0 and 1 is a mistake of the caller, such as 20 for 20 %. "
            "Stop with a `ValueError` that says so.",
        ),
        Misconception(
            "a single episode",
            splitting(
                count=lambda n, validation: min(max(1, round(validation * n)), max(1, n - 1)),
                refuse=lambda demos, validation: refuse(demos_of([1, 1]), validation),
                parts=lambda order, aside: (
                    (order[aside:], order[:aside]) if len(order) > 1 else (order, order)
                ),
            ),
            "With a single episode there is nothing to split, and yours returns all the same. Stop "
            "with a `ValueError` that asks for more.",
        ),
    ],
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
