"""What a rule is: it looks at an answer and what came of it, and says what is wrong, or nothing."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from helpers.checks.compare import Difference
from helpers.checks.edits import source_of_reference
from helpers.checks.exercise import Exercise
from helpers.checks.running import Outcome
from helpers.checks.source import Source, source_of


@dataclass(frozen=True)
class Diagnosis:
    """A mistake's name (None where it has none), what to tell, and the case that shows it.

    Without a number it is the first case that differs.
    """

    name: str | None
    message: str
    case: int | None = None


@dataclass(frozen=True)
class Context:
    """What the rules look at.

    Attributes:
        found: what differs, by case; `failing` are the numbers of the cases where something does.
    """

    exercise: Exercise
    function: Callable
    got: Outcome
    found: list[list[Difference]]
    failing: list[int]

    @property
    def first(self) -> Difference:
        return self.found[self.failing[0]][0]

    @property
    def name(self) -> str:
        return f"`{self.exercise.name}`"

    @cached_property
    def source(self) -> Source | None:
        """The answer as it was written."""
        return source_of(self.function)

    @cached_property
    def given(self) -> ast.Module:
        """The course's version, as a tree."""
        return ast.parse(source_of_reference(self.exercise.reference))

    def all_differences(self) -> Iterator[tuple[int, Difference]]:
        return ((number, d) for number in self.failing for d in self.found[number])


Rule = Callable[[Context], Diagnosis | None]
