"""What an exercise is made of, and where the exercises are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from helpers.checks.compare import ATOL, RTOL
from helpers.checks.text import Mistake, read


def call(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The plainest observation: what the function returns."""
    return function(*args, **kwargs)


@dataclass(frozen=True)
class Card:
    """What a student reads above the blank. `difficulty` from 1 to 5, `minutes` for a first try."""

    title: str
    what: str
    why: str
    difficulty: int
    minutes: int


@dataclass(frozen=True)
class Case:
    """One input of an exercise. `note` names what is special about it ("batch of one")."""

    args: tuple
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def as_case(case: tuple | Case) -> Case:
    """A plain tuple of arguments is a case as well."""
    return case if isinstance(case, Case) else Case(tuple(case))


@dataclass(frozen=True)
class Property:
    """What values cannot show: `test(function, rng)` is true when it holds.

    An error counts as false. `name` says what is wrong when it does not hold.
    """

    name: str
    test: Callable[[Callable, np.random.Generator], bool]
    message: str


@dataclass(frozen=True, eq=False)  # eq=False: an exercise is itself, so that it can key a cache
class Exercise:
    """A blank in a lesson: the right version, inputs to try it on, and known ways to get it wrong.

    Args:
        id: "1.2", the second exercise of lesson 01.
        lesson: the lesson's file name without its ending, "01_a2c".
        reference: the course's version: a function or a class.
        hints: two of them; the first points at the idea, the second almost gives the line.
        cases: `cases(rng)` lists the inputs, smallest first: tuples of arguments, or `Case`s.
        observe: `observe(function, *args, **kwargs)` turns a function and a case into what is
            compared: a number, string, array or tensor, or dicts, tuples and lists of them. The
            keys of a dict are printed ("gradient to the logits"). It gets its own copy of the
            inputs. The default calls the function.
        output: where `observe` gives a dict, its keys that together are what the function returns,
            in that order: right values in another type (lists) are then made those of the
            reference (arrays) for later cells.
        rtol, atol: see `helpers.checks.compare`.
    """

    id: str
    lesson: str
    reference: Callable
    card: Card
    hints: tuple[str, str]
    cases: Callable[[np.random.Generator], Sequence[tuple | Case]]
    mistakes: Sequence[Mistake] = ()
    right: Sequence[Mistake] = ()  # other right answers
    observe: Callable[..., Any] = call
    output: tuple[str, ...] = ()
    properties: Sequence[Property] = ()
    rtol: float = RTOL
    atol: float = ATOL

    @property
    def name(self) -> str:
        """The name of the function or class to write."""
        return self.reference.__name__

    @property
    def seed(self) -> int:
        """The same in every session: Python's own `hash` of a string is not."""
        return crc32(self.id.encode())

    def inputs(self) -> list[Case]:
        """The cases, the same ones every time."""
        return [as_case(case) for case in self.cases(np.random.default_rng(self.seed))]


def exercise(file: str, exercise_id: str, reference: Callable, **how: Any) -> Exercise:
    """The exercise whose card, hints and mistakes stand beside `file` in `<id>_<name>.md`.

    `how` it is tried, `cases`, `observe`, `output`, `properties`, `rtol` and `atol`, is explained
    at `Exercise`.
    """
    folder = Path(file).parent
    text = read(folder / f"{exercise_id}_{reference.__name__}.md", reference)
    return Exercise(
        id=text.id,
        lesson=folder.name.removeprefix("lesson_"),
        reference=reference,
        card=Card(text.title, text.what, text.why, text.difficulty, text.minutes),
        hints=text.hints,
        mistakes=text.mistakes,
        right=text.right,
        **how,
    )


# --- The catalogue: each lesson's folder in `helpers/exercises` has a list called EXERCISES -------


@cache
def _lessons() -> list[str]:
    folder = importlib.import_module("helpers.exercises").__path__
    return sorted(m.name for m in pkgutil.iter_modules(folder) if m.name.startswith("lesson"))


def _catalogue() -> Iterator[Exercise]:
    """Exercise by exercise, importing a lesson's folder only when it is reached."""
    for name in _lessons():
        module: ModuleType = importlib.import_module(f"helpers.exercises.{name}")
        yield from module.EXERCISES


def exercises() -> list[Exercise]:
    """Every exercise of the course, in the order of the lessons."""
    return list(_catalogue())


def find(exercise_id: str) -> Exercise:
    """The exercise called `exercise_id`.

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
    for each in _catalogue():
        if each.id == exercise_id:
            return each
    known = ", ".join(each.id for each in _catalogue())
    raise ValueError(f"There is no exercise {exercise_id!r}; the course has {known}.")
