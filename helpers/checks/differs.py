"""The last rule: nothing names the mistake, and the smallest case that differs is shown."""

import inspect

from helpers.checks.compare import Difference, Leaf, is_numeric, leaves, snapshot
from helpers.checks.context import Context, Diagnosis
from helpers.checks.errors import on_types, stops_elsewhere
from helpers.checks.exercise import Case, Exercise
from helpers.checks.repair import wrong_method
from helpers.checks.words import plural, short, subject, verb_of

_WHETHER = "answer to whether "


def differs(c: Context) -> Diagnosis:
    """None of the above: the case speaks for itself."""
    case, failed, total = c.exercise.inputs[c.failing[0]], len(c.failing), len(c.found)
    on = "every case" if failed == total else f"{failed} of {total} cases"
    if case.note:
        on += f": {case.note}" if failed == 1 else f", first on: {case.note}"
    sentences = [*stops_elsewhere(c), _difference(c.first, on), *_where(c)]
    sentences += _whatever_the_values(c)
    small = _by_hand(c.exercise, case, c.first.expected)
    work_out = "Work out the case below by hand and compare."
    sentences.append(work_out if small else "Compare the case below.")
    return Diagnosis(None, " ".join(sentences))


def _difference(first: Difference, on: str) -> str:
    """What differs, and where; an answer to whether something is so, said outright."""
    if both := _both_told(first):
        return both
    if not first.where.startswith(_WHETHER) or first.kind != "value":
        ones = f"one{'s' * plural(first)}"
        return f"{subject(first, 'differs')} from the expected {ones} on {on}."
    what = first.where.removeprefix(_WHETHER)
    if first.got.value:
        return f"In your version {what}, and this should not be so: on {on}."
    return f"It should be so that {what}, but in your version it is not: on {on}."


def _both_told(first: Difference) -> str | None:
    """What a part should be and what it is, where that is a word or a number or two."""
    if not first.where or first.kind != "value" or first.expected.kind == "object":
        return None
    many = first.expected.numeric and first.expected.value.size > 2
    if many or first.where.startswith(_WHETHER):
        return None
    want, have = (
        f"`{x.value or 'none'}`" if x.kind == "text" else short(x).split(" (")[0]
        for x in (first.expected, first.got)
    )
    yours = f"yours {verb_of(first, 'is')} {have}"
    return f"{subject(first, 'should')} be {want}, but {yours}." if want != have else None


def _where(c: Context) -> list[str]:
    """Of a class of several methods that which is wrong."""
    method = wrong_method(c)
    if method is None:
        return []
    return [f"With the course's `{method}` instead of yours all cases are right: look there."]


def _by_hand(exercise: Exercise, case: Case, wanted: object) -> bool:
    """Whether a person can work a case out: few numbers, and no layers that start by chance."""
    given = list(leaves(snapshot(list(case.args))))
    few = sum(leaf.value.size for leaf in given if leaf.numeric) <= 24
    made = str(inspect.signature(exercise.reference).return_annotation)
    hidden = inspect.isclass(exercise.reference) or "torch.nn" in made
    return few and not hidden and is_numeric(wanted) and wanted.value.size <= 6


def _whatever_the_values(c: Context) -> list[str]:
    """What holds of the right output and not of this one, whatever the numbers are."""
    broken = [name for name, e in c.got.broken.items() if e is None and name.startswith("changes")]
    said = [each.message for each in c.exercise.properties if each.name in broken]
    have = c.first.got
    if isinstance(have, Leaf) and have.kind == "text":
        said += on_types(str(have.value))
    wrong = {d.where for _, d in c.all_differences()}
    seen = c.got.observations[c.failing[0]]
    if wrong == {"loss"} and isinstance(seen, dict) and any("gradient" in key for key in seen):
        said.append("Its gradients are right: only the number itself differs.")
    return said
