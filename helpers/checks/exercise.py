"""What an exercise is made of, and where the exercises are found."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any
from zlib import crc32

import numpy as np

from helpers.checks.compare import ATOL, RTOL
from helpers.checks.edits import Code, Diff, Edit, apply, edited, source_of_reference


def call(function: Callable, *args: Any) -> Any:
    """The plainest observation: what the function returns."""
    return function(*args)


@dataclass(frozen=True)
class Card:
    """What a student reads above the blank. `difficulty` from 1 to 5, `minutes` for a first try."""

    title: str
    what: str
    why: str
    difficulty: int
    minutes: int


@dataclass(frozen=True)
class Mistake:
    """A wrong version that somebody could write, and what to tell them.

    `spellings` are lists of edits of the reference: each is a way to make the mistake. They need
    not do the same.
    """

    name: str
    message: str
    reference: Callable
    spellings: list[list[Edit | Diff | Code]] = field(default_factory=list)

    @cached_property
    def function(self) -> Callable:
        """The wrong version. Raises `EditError` if an edit cannot be made."""
        return self.spelled(0)

    def spelled(self, number: int) -> Callable:
        """The wrong version in one of its spellings."""
        return edited(self.reference, self.spellings[number], self.name)


@dataclass(frozen=True)
class Case:
    """One input of an exercise. `note` names what is special about it ("batch of one")."""

    args: tuple
    note: str = ""


Test = Callable[[Callable, np.random.Generator], bool]


@dataclass(frozen=True)
class Property:
    """What values cannot show: `test(function, rng)` is true when it holds.

    An error counts as false. `name` says what is wrong when it does not hold.
    """

    name: str
    test: Test
    message: str


@dataclass(frozen=True, eq=False)  # eq=False: an exercise is itself, so that it can key a cache
class Exercise:
    """A blank in a lesson: the right version, inputs to try it on, and known ways to get it wrong.

    Args:
        id: "1.2", the second exercise of lesson 01.
        lesson: the lesson's file name without its ending, "01_a2c".
        reference: the course's version: a function or a class.
        hints: two of them; the first points at the idea, the second almost gives the line.
        cases: `cases(rng)` lists the inputs, smallest first.
        observe: `observe(function, *args)` turns a function and a case into what is compared: a
            number, string, array or tensor, or dicts, tuples and lists of them. The keys of a dict
            are printed ("gradient to the logits"). It gets its own copy of the inputs. The default
            calls the function.
        output: where `observe` gives a dict, its keys that together are what the function returns,
            in that order: right values in another type (lists) are then made those of the
            reference (arrays) for later cells.
        rtol, atol: see `helpers.checks.compare`.
        bug: the mistake that the student is to find: the cell holds it, in place of a blank.
    """

    id: str
    lesson: str
    reference: Callable
    card: Card
    hints: tuple[str, str]
    cases: Callable[[np.random.Generator], Iterable[Case]]
    mistakes: Sequence[Mistake] = ()
    right: Sequence[Mistake] = ()  # other right answers
    observe: Callable[..., Any] = call
    output: tuple[str, ...] = ()
    properties: Sequence[Property] = ()
    rtol: float = RTOL
    atol: float = ATOL
    bug: str = ""

    @property
    def broken(self) -> str:
        """The reference's source with the bug in it."""
        mistake = next(each for each in self.mistakes if each.name == self.bug)
        return apply(source_of_reference(self.reference), mistake.spellings[0])

    @property
    def name(self) -> str:
        """The name of the function or class to write."""
        return self.reference.__name__

    @property
    def seed(self) -> int:
        """The same in every session: Python's own `hash` of a string is not."""
        return crc32(self.id.encode())

    @cached_property
    def inputs(self) -> list[Case]:
        """The cases, the same ones every time. Take a copy before a function is tried on one."""
        return list(self.cases(np.random.default_rng(self.seed)))


# --- The catalogue: whatever exercises the modules in `helpers/exercises` define ------------------


@cache
def _by_id() -> dict[str, Exercise]:
    package = importlib.import_module("helpers.exercises")
    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    contents = [vars(importlib.import_module(info.name)) for info in modules]
    defined = [each for names in contents for each in names.values()]
    found: dict[str, Exercise] = {}
    for each in defined:
        if isinstance(each, Exercise) and found.setdefault(each.id, each) is not each:
            raise ValueError(f"Two exercises are {each.id}: {found[each.id].name}, {each.name}.")
    return {name: found[name] for name in sorted(found, key=lambda x: [*map(int, x.split("."))])}


def exercises(lesson: str = "") -> list[Exercise]:
    """Every exercise of the course, or of a lesson ("01_a2c"), in the order of the lessons."""
    return [each for each in _by_id().values() if lesson in ("", each.lesson)]


def find(exercise_id: str) -> Exercise:
    """The exercise called `exercise_id`.

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
    if exercise_id not in _by_id():
        known = ", ".join(_by_id())
        raise ValueError(f"There is no exercise {exercise_id!r}; the course has {known}.")
    return _by_id()[exercise_id]
