"""Say what went wrong: by the exercise's own mistakes, then by mistakes of any function.

Diagnosis by simulation: a wrong answer that equals a mistake's on every case has its name.
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from helpers.checks.advice import both
from helpers.checks.context import Context, Diagnosis
from helpers.checks.differs import differs
from helpers.checks.edits import source_of_reference
from helpers.checks.exercise import Exercise
from helpers.checks.rules import RULES, first_of, remarks
from helpers.checks.running import (
    Mistaken,
    Outcome,
    Raised,
    expected,
    mistaken,
    unlike,
    unlike_here,
)
from helpers.checks.words import tell

_STEP = re.compile(r"^\s*# \d+\. ", re.MULTILINE)  # makes a method a blank of the exercise


def not_started(got: Outcome) -> bool:
    """Whether the student's own line raises NotImplementedError, as the blank's last line does.

    Torch raises it as well, and names what it cannot do: "..." not implemented for 'Float'.
    """
    return any(
        isinstance(error, Raised)
        and error.type is NotImplementedError
        and error.innermost
        and "not implemented for" not in error.text
        for error in [*got.observations, *got.broken.values()]
    )


def left_blank(exercise: Exercise, candidate: Callable) -> list[str]:
    """Of a class with several blanks those that still raise, where others are filled in."""
    source = source_of_reference(exercise.reference)
    if not (inspect.isclass(exercise.reference) and inspect.isclass(candidate)):
        return []
    methods = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    texts = {each.name: ast.get_source_segment(source, each) or "" for each in methods}
    blanks = [name for name, text in texts.items() if _STEP.search(text)]
    left = [name for name in blanks if _raises_still(getattr(candidate, name, None))]
    return left if len(left) < len(blanks) else []


def _raises_still(method: object) -> bool:
    code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
    return code is not None and "NotImplementedError" in code.co_names


def diagnose(exercise: Exercise, function: Callable, got: Outcome) -> Diagnosis | None:
    """What is wrong with an outcome, and what else its source tells; None when nothing is."""
    found = unlike(exercise, expected(exercise), got)
    failing = [number for number, here in enumerate(found) if here]
    if not failing and not got.broken:
        return None
    context = Context(exercise, function, got, found, failing)
    told = _diagnosis(context)
    return replace(told, message=" ".join([told.message, *remarks(context, told)]))


def _diagnosis(c: Context) -> Diagnosis:
    exercise, got, failing = c.exercise, c.got, c.failing
    case = failing[0] if failing else None
    if known := _known_mistake(exercise, got, values_differ=bool(failing)):
        # A test that an error stopped has shown nothing.
        more = {name for name, error in got.broken.items() if not error} - known.broken.keys()
        besides = [each for each in exercise.properties if each.name in more]
        message = known.entry.message
        message = both(message, besides[0].message) if besides else message
        return Diagnosis(known.entry.name, message, case)
    if not failing:
        return _broken_property(exercise, got)
    told = first_of(RULES, c) or differs(c)
    return told if told.case is not None else replace(told, case=case)


def _known_mistake(exercise: Exercise, got: Outcome, values_differ: bool) -> Mistaken | None:
    """The first mistake that did the same on all cases and broke the same properties.

    Where values differ from the reference, the same values alone will do.
    """
    alike = [tried for tried in mistaken(exercise) if _did_the_same(exercise, tried, got)]
    exact = (tried for tried in alike if tried.broken.keys() == got.broken.keys())
    return next(chain(exact, alike if values_differ else ()), None)


def _did_the_same(exercise: Exercise, wrong: Mistaken, got: Outcome) -> bool:
    wanted, shown = expected(exercise).observations, []
    for want, did, have in zip(wanted, wrong.observations(), got.observations, strict=True):
        if unlike_here(exercise, did, have):
            return False  # and the other cases are spared
        if unlike_here(exercise, want, did):
            shown.append((did, have))
    # Errors alone are weak evidence: unless a value is wrong as well, they must say the same.
    if not all(isinstance(did, Raised) for did, _ in shown):
        return True
    return all(_says(did) == _says(have) for did, have in shown)


def _says(error: Raised) -> tuple[str, str]:
    """What an error says, whatever index or folder is in it, wherever a recursion was too deep."""
    text = re.sub(r"(?<=recursion depth exceeded) .*|\S+[\\/](?=\w)", "", error.text)
    return re.sub(r"\bindex \d+", "index N", text), error.evidence


def _broken_property(exercise: Exercise, got: Outcome) -> Diagnosis:
    broken = next(p for p in exercise.properties if p.name in got.broken)
    error = got.broken[broken.name]
    stopped = f" (It stopped with {tell(error)}.)" if error else ""
    return Diagnosis(broken.name, broken.message + stopped)
