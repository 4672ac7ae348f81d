"""`check` and `grade`: try a student's version of an exercise, and say what came of it."""

import ast
import functools
import inspect
import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from typing import Any

from helpers.checks.compare import Snapshot, convert, types
from helpers.checks.diagnose import diagnose, left_blank, not_started
from helpers.checks.display import Report, Result, as_text, report
from helpers.checks.exercise import Exercise, call, exercises, find
from helpers.checks.running import Alarm, Outcome, Raised, expected, run, unlike
from helpers.checks.source import source_of
from helpers.show.notebook import in_kernel

MINE = "Later cells use your version."
PATIENCE = 40  # seconds for all cases of an exercise; the course's versions take up to three
FALLBACK = "Later cells use the course's version until yours passes."
NOT_YOURS = (
    "This is the course's version, which earns no points: write yours into the exercise's cell."
)
NO_NEW_ANSWER = (
    "This is the course's version, which an earlier check gave back. Yours is not there: the "
    "exercise's cell has not run since, or it stopped with an error. Run it, fix the error that "
    "it shows, and then run this cell."
)
NO_ANSWER = (
    "There is no answer. The exercise's cell is empty, or stopped with an error, perhaps because "
    "of a missing colon or import: run it, and fix the error that it shows."
)


class CheckFailed(AssertionError):
    """Raised instead of shown under an autograder."""

    def _render_traceback_(self) -> list[str]:
        """What Jupyter prints of it, and nbgrader's feedback: the verdict, none of our lines."""
        return str(self).splitlines()


def check(exercise_id: str, candidate: Callable) -> Callable:
    """Try a student's version of an exercise, show the verdict, give back what later cells use.

    That is the student's version when it is right and the course's otherwise, so that a notebook
    runs to its end whatever is in its blanks.

    Raises:
        ValueError: no exercise has this id.
        CheckFailed: not passed, under an autograder (`NBGRADER_EXECUTION` is set and not empty).
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return checker(exercise_id, {})(exercise_id, candidate)
    result = grade(exercise_id, candidate)
    if in_kernel():
        from IPython.display import display

        display(result)
    else:
        print(result)
    return result.version


@dataclass(frozen=True)
class Unwritten:
    """What an exercise's name means until its cell has run."""

    exercise_id: str
    name: str

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"`{self.name}` is not written yet: run the cell of exercise {self.exercise_id}, and "
            "then its check."
        )


def begin(lesson: str, namespace: dict[str, Any]) -> None:
    """Give the names of a lesson's exercises a meaning before their cells have run.

    So a check can show its card where such a cell stopped with an error, in place of a NameError.
    """
    for each in exercises(lesson):
        namespace.setdefault(each.name, Unwritten(each.id, each.name))


def checker(exercise_id: str, namespace: dict[str, Any]) -> Callable[[str, Callable], Callable]:
    """`check` for an autograder: it raises `CheckFailed` where the exercise is not passed.

    Before it does, it puts the course's version into `namespace`, so that a mistake costs the
    points of its own exercise and of no later one. All that it needs is loaded already now: the
    hidden lines of an assignment call this while nobody's changes to the modules are in force.
    """
    exercise = find(exercise_id)
    _renew(namespace)
    missing = exercise.name not in namespace  # the answer's cell may have failed
    namespace.setdefault(exercise.name, exercise.reference)

    def check(_: str, candidate: Callable) -> Callable:
        with redirect_stderr(io.StringIO()):  # nbgrader takes a warning for a failure
            result = judge(exercise, candidate)
        if candidate is None:  # what otter-grader gives for a name that is not there
            result = _failed(exercise, "no answer", NO_ANSWER)
        if result.passed and str(getattr(candidate, "__module__", "")).startswith("helpers."):
            why = ("no answer", NO_ANSWER) if missing else ("not yours", NOT_YOURS)
            result = _failed(exercise, *why)
        if not result.passed:
            namespace[exercise.name] = exercise.reference
            raise CheckFailed(as_text(result, footer=False))
        return result.version

    return check


def _renew(namespace: dict[str, Any]) -> None:
    """Let names of the course's functions and classes mean those of the modules loaded now.

    An answer that makes a `Demos` would else make another class than the one its check knows.
    """
    for name, value in list(namespace.items()):
        module = str(getattr(value, "__module__", ""))
        if module.startswith("helpers.") and module in sys.modules and hasattr(value, "__name__"):
            namespace[name] = getattr(sys.modules[module], value.__name__, value)


def grade(exercise_id: str, candidate: Callable) -> Result:
    """Try a student's version of an exercise without showing anything.

    Raises:
        ValueError: no exercise has this id.
    """
    return judge(find(exercise_id), candidate)


def judge(exercise: Exercise, candidate: Callable) -> Result:
    """`grade` for an exercise that need not be in the catalogue."""
    if isinstance(candidate, Unwritten):
        return replace(_failed(exercise, "no answer", NO_ANSWER), status="no answer")
    expected(exercise)  # before the student's code, so that an interrupt below can only be theirs
    if not callable(candidate):
        message = (
            f"`check` was given a value of type `{type(candidate).__name__}` instead of "
            f"`{exercise.name}` itself: pass the name alone, without brackets, and run the cell "
            "that defines it."
        )
        return _failed(exercise, "not callable", message)
    clock = Alarm()
    try:
        with clock, clock.set(PATIENCE):
            got = run(exercise, candidate)
    except KeyboardInterrupt:
        began = (
            f"Your function was still running after {PATIENCE} seconds, so it was stopped."
            if clock.rang
            else "You stopped the check while your function was running."
        )
        message = (
            f"{began} If it does not end by itself, look for a loop whose condition never becomes "
            "false, perhaps only for some inputs: a width of 0, an empty list."
        )
        return _failed(exercise, "endless" if clock.rang else "interrupted", message)
    if not_started(got):
        return _blank(exercise, left_blank(exercise, candidate))
    problem = diagnose(exercise, candidate, got)
    if problem is None:
        return _passed(exercise, candidate, got)
    if problem.name is not None and problem.name == exercise.bug:
        return _bug_still_there(exercise, candidate, problem.message)
    shown = None
    if problem.case is not None:
        found = unlike(exercise, expected(exercise), got)[problem.case]
        case, printed = exercise.inputs[problem.case], got.printed[problem.case]
        shown = report(exercise, case, found[0], printed)
    return _failed(exercise, problem.name, problem.message, shown)


# --- Verdicts -------------------------------------------------------------------------------------


def _passed(exercise: Exercise, candidate: Callable, got: Outcome) -> Result:
    if candidate is exercise.reference:
        return Result(exercise, "not yours", NO_NEW_ANSWER, None, candidate)
    cases = len(got.observations)
    message = f"Right on {'all ' * (cases > 1)}{cases} case{'s' * (cases > 1)}."
    version, footer = _usable(exercise, candidate, got)
    return Result(exercise, "passed", message, None, version, footer=footer)


def _failed(
    exercise: Exercise, diagnosis: str | None, message: str, shown: Report | None = None
) -> Result:
    return Result(exercise, "failed", message, diagnosis, exercise.reference, shown, FALLBACK)


def _blank(exercise: Exercise, left: list[str]) -> Result:
    """Nothing is written yet; or only some of the blanks of a class, and these are `left`."""
    names, s = " and ".join(f"`{name}`" for name in left), "s" * (len(left) == 1)
    begin = f"{names} still raise{s} `NotImplementedError`: write" if left else "Write"
    message = (
        f"{begin} your lines in place of each `...`, delete the line that raises "
        "`NotImplementedError`, and run the cell again."
    )
    if left:
        return _failed(exercise, "unfinished", message)
    return replace(_failed(exercise, "not-started", message), status="not started")


def _bug_still_there(exercise: Exercise, candidate: Callable, message: str) -> Result:
    """Not started where the code stands there as it was given, or cannot be read."""
    source, given = source_of(candidate), ast.parse(exercise.broken).body[0]
    as_given = source is None or ast.dump(source.node) == ast.dump(given)
    status = "not started" if as_given else "not mended"
    return replace(_failed(exercise, exercise.bug, message), status=status)


# --- The right numbers in another type ------------------------------------------------------------


def _usable(exercise: Exercise, candidate: Callable, got: Outcome) -> tuple[Callable, str]:
    """A version whose output later cells can use, and a sentence that says so."""
    watched = exercise.observe is not call and not exercise.output
    if watched or inspect.isclass(candidate):
        return candidate, MINE
    pairs = [
        (_output(exercise, want), _output(exercise, have))
        for want, have in zip(expected(exercise).observations, got.observations, strict=True)
        if not isinstance(want, Raised)
    ]
    template = pairs[0][0]
    follows_its_inputs = any(types(template) != types(want) for want, _ in pairs)
    if follows_its_inputs or all(types(want) == types(have) for want, have in pairs):
        return candidate, MINE

    @functools.wraps(candidate)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return convert(candidate(*args, **kwargs), template)

    return converted, f"{MINE[:-1]}, with its output converted to the types that they expect."


def _output(exercise: Exercise, seen: Snapshot) -> Snapshot:
    """What the function returned, out of what was observed."""
    return [seen[name] for name in exercise.output] if exercise.output else seen
