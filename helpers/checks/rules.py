"""Mistakes that any function can have: one rule each, tried in order."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from helpers.checks.advice import ONE, TWO
from helpers.checks.compare import (
    ANOTHER,
    ATOL,
    RTOL,
    Difference,
    Leaf,
    Snapshot,
    close,
    is_broadcast,
    leaves,
    snapshot,
)
from helpers.checks.counts import of_another_length, off_by_a_length, sums
from helpers.checks.display import short
from helpers.checks.edits import source_of_reference
from helpers.checks.exercise import Case, Exercise
from helpers.checks.hints import (
    hints,
    hints_on_names,
    no_init,
    on_types,
    returned,
    what_cuts,
    what_it_needs,
)
from helpers.checks.loops import ends_at_once, only_the_last_iteration
from helpers.checks.repair import explain, wrong_method
from helpers.checks.running import Outcome, Raised, expected
from helpers.checks.source import has_ellipsis, listed, never_read, source_of


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
    """What the rules look at. `failing` are the numbers of the cases that differ."""

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

    def all_differences(self) -> Iterator[tuple[int, Difference]]:
        return ((number, d) for number in self.failing for d in self.found[number])


def _other_arguments(c: Context) -> Diagnosis | None:
    """Called with other arguments than its first line takes."""
    error = c.first.got
    if not (isinstance(error, Raised) and error.type is TypeError and not error.innermost):
        return None
    try:
        own, wanted = inspect.signature(c.function), inspect.signature(c.exercise.reference)
    except (TypeError, ValueError):
        return None
    if list(own.parameters) == list(wanted.parameters):
        return None
    if told := no_init(c.function, c.exercise.reference):
        return Diagnosis("other arguments", told)
    return Diagnosis(
        "other arguments",
        f"{c.name} is called with `({', '.join(wanted.parameters)})`, but yours takes "
        f"`({', '.join(own.parameters)})`: keep the first line of the definition as it was given.",
    )


def _unfinished(c: Context) -> Diagnosis | None:
    """A `...` of the blank is still there."""
    given = c.first.got
    returned = isinstance(given, Leaf) and given.kind == "object" and given.value == "ellipsis"
    if not (returned or has_ellipsis(c.function)):
        return None
    return Diagnosis(
        "unfinished",
        "There is still a `...` in your code: replace it by the line that is missing there.",
    )


def _no_return(c: Context) -> Diagnosis | None:
    """Returned None, seen directly or by what the check could not do with it."""
    first = c.first
    whole = first.kind == "none" and (not first.where or _nothing(c.got.observations[c.failing[0]]))
    error = first.got
    stumbled = isinstance(error, Raised) and error.line is None and "NoneType" in error.text
    if not (whole or stumbled):
        return None
    message = "Your function returned `None`: did you forget `return`?"
    if len(c.failing) < len(c.found):
        message = "On some inputs your function returns `None`: is a `return` missing there?"
    return Diagnosis("no return", message)


def _error(c: Context) -> Diagnosis | None:
    """Stopped with an error, or did not where it should."""
    if c.first.kind == "did not raise":
        want: Raised = c.first.expected
        message = f"Here {c.name} should stop with a `{want.type.__name__}`, but yours goes on."
        return Diagnosis("no error", message)
    if c.first.kind != "raised":
        return None
    error: Raised = c.first.got
    said = hints(error) + hints_on_names(error, c.function, c.exercise.reference)
    name, start = "error", f"Your function stopped with {tell(error)}."
    if error.line is None:
        said = said or returned(error, c.exercise.reference) or what_it_needs(error)
        name, start = "unusable output", f"The result of {c.name} could not be used: {tell(error)}."
    if not said and error.type is not NameError:  # which says all that there is to say
        found = explain(c.exercise, c.function, c.got, c.failing)
        said = [found[1]] if found and found[0] == ONE else what_it_needs(error)
    return Diagnosis(name, " ".join([start, *said]))


def _another_at_each_call(c: Context) -> Diagnosis | None:
    """The check called twice with the same input and saw two outputs, on this case or another."""
    cases = [
        number
        for number, d in c.all_differences()
        if isinstance(d.got, Leaf) and d.got.kind == "text" and d.got.value == ANOTHER
    ]
    if not cases:
        return None
    note = c.exercise.inputs[cases[0]].note
    here = f" ({note})" if note else ""
    return Diagnosis(
        "another output at each call",
        f"Called again with the same input{here}, {c.name} returns something else: there is "
        "randomness in it where there should be none, or it stores something between calls.",
        cases[0],
    )


def _kind_of_output(c: Context) -> Diagnosis | None:
    """Something else than numbers, or other parts than asked for."""
    first = c.first
    if first.kind == "none":
        if "gradient" in first.where:
            return _no_gradient(c, f"{_subject(first, 'is')} missing")
        return Diagnosis("missing part", f"{_subject(first, 'is')} missing.")
    yours = f"yours {_verb(first, 'is')} {short(first.got)}"
    if first.kind == "unexpected":
        return Diagnosis(None, f"{_subject(first, 'should')} be none, but {yours}.")
    if first.kind == "type":
        wanted = f"{_subject(first, 'should')} be {short(first.expected)}"
        return Diagnosis("other type", " ".join([f"{wanted}, but {yours}.", *on_types(yours)]))
    if first.kind == "detached":
        right = all(each.kind == "detached" for _, each in c.all_differences())
        start = "The numbers are right, but no" if right else "No"
        return _no_gradient(c, f"{start} gradient flows back through the output")
    return None


def _no_gradient(c: Context, what: str) -> Diagnosis:
    seen = c.got.observations[c.failing[0]]
    parts = seen.values() if isinstance(seen, dict) else (seen,)
    if any(isinstance(part, list) and any(leaf.grad for leaf in leaves(part)) for part in parts):
        message = "Your function returns several tensors: `torch.stack` joins a list to one."
        return Diagnosis("several tensors", message)
    return Diagnosis("no gradient", f"{what}: {what_cuts(c.function, c.exercise.reference)}.")


def _not_a_number(c: Context) -> Diagnosis | None:
    if c.first.kind != "nan":
        return None
    message = (
        f"{_subject(c.first, 'contains')} NaN, not a number: look for 0 divided by 0 (as the mean "
        "of nothing and `.std()` of one number are), 0 times infinity, the logarithm of a negative "
        "number, or infinity minus or divided by infinity."
    )
    if "gradient" in c.first.where:
        message += " (`torch.where` computes the gradient of the unused branch, too.)"
    return Diagnosis("nan", message)


def _shape(c: Context) -> Diagnosis | None:
    """Another shape; shown on a case where the shape is more than a single number's."""
    shapes = [(i, d) for i, d in c.all_differences() if d.kind in ("shape", "reshaped")]
    if not shapes or c.first.kind not in ("shape", "reshaped"):
        return None
    only_shape = all(d.kind == "reshaped" for _, d in c.all_differences())
    case, shown = max(shapes[:20], key=lambda entry: entry[1].expected.value.size > 1)
    want, have = shown.expected.value.shape, shown.got.value.shape
    if shown.got.kind == "list" and have[1:] == want:
        message = (
            f"{_subject(shown, 'is')} a list or tuple of {have[0]} parts, each of shape "
            f"`{want}`, instead of a single one: values separated by commas make a tuple."
        )
        return Diagnosis("several outputs", message, case)
    if not only_shape:
        message = f"{_subject(shown, 'has')} shape `{have}` instead of `{want}`."
        if is_broadcast(shown.expected.value, shown.got.value):
            message += (
                " Every row was combined with every other: two shapes that did not match were "
                "broadcast against each other, or it is a matrix product."
            )
        rows = [(i, d) for i, d in shapes if d.expected.value.ndim == d.got.value.ndim == 1]
        lengths = [(d.expected.value.size, d.got.value.size) for _, d in rows]
        cases = [c.exercise.inputs[i] for i, _ in rows]
        said = [*of_another_length(c.exercise.reference, cases, lengths), *_stops_elsewhere(c)]
        return Diagnosis("shape", " ".join([message, *said]), case)
    message = f"The numbers are right, but the shape is `{have}` instead of `{want}`."
    if len(c.failing) < len(c.found) and have == tuple(n for n in want if n != 1):
        message += " An axis of length 1 is lost: `squeeze()` drops every such axis."
    return Diagnosis("shape", message, case)


def _whole_numbers(c: Context) -> Diagnosis | None:
    """Integers where the expected numbers have decimals."""
    want, have = c.first.expected, c.first.got
    if not (have.numeric and have.value.dtype.kind in "iu" and want.value.dtype.kind == "f"):
        return None
    # Either nothing but the decimals is missing, or it goes wrong only where there are no floats.
    cut_once = (np.abs(have.value - want.value) < 1).all()
    others = [entry for i, entry in enumerate(c.got.observations) if i not in c.failing]
    floats = [entry.value.dtype.kind == "f" for entry in others if _is_numeric(entry)]
    if not cut_once and not (floats and all(floats)):
        return None
    return Diagnosis(
        "whole numbers",
        f"{_subject(c.first, 'holds')} whole numbers (`{have.dtype}`), so the decimals were cut "
        "off: use a float array.",
    )


def _factor(c: Context) -> Diagnosis | None:
    """Right up to one number that everything is multiplied with, on every case."""
    where = c.first.where
    if any(d.kind != "value" or not d.got.numeric for _, d in c.all_differences()):
        return None
    pairs = [
        (d.expected.value.astype(float), d.got.value.astype(float))
        for _, d in c.all_differences()
        if d.where == where
    ]
    want, have = (
        np.concatenate([each.ravel() for each in row]) for row in zip(*pairs, strict=True)
    )
    if not (np.isfinite(want).all() and np.isfinite(have).all()) or np.ptp(want) == 0:
        return None
    factor = float(want @ have / (want @ want))
    rtol, atol = min(c.exercise.rtol, RTOL), min(c.exercise.atol, ATOL)
    # Each case on its own scale: beside a case of large numbers, any small ones would agree.
    alike = all(close(factor * its, yours, rtol, atol).all() for its, yours in pairs)
    tiny = abs(factor) < 1e-6
    if want.size < 3 or not alike or abs(factor - 1) < 0.01 or (tiny and have.any()):
        return None
    # It must hold where the output happens to be right, too: there it must be all zeros.
    parts = [_part(seen, where) for seen in expected(c.exercise).observations]
    right = [part for i, part in enumerate(parts) if i not in c.failing]
    if any(leaf.numeric and np.any(leaf.value) for leaf in leaves(right)):
        return None
    subject = _subject(c.first, "is")
    it, its, they = ("them", "their", "they") if _plural(c.first) else ("it", "its", "it")
    if tiny:
        return Diagnosis("all zeros", f"{subject} zero everywhere: is anything written into {it}?")
    if abs(factor + 1) < 1e-3:
        return Diagnosis("sign", f"{subject} right except for {its} sign.")
    times = f"{factor:.4g} times what {they} should be"
    on = "" if None in parts else ", on every case"
    return Diagnosis("factor", f"{subject} {times}{on}.")


def _length(c: Context) -> Diagnosis | None:
    """Off by the length of an axis."""
    told = off_by_a_length(c.exercise, expected(c.exercise).observations, c.got.observations)
    start = f"On every case {_subject(c.first, 'is', 'the')}"
    return Diagnosis("a length", f"{start} {told}") if told else None


def _part(seen: Snapshot | Raised, where: str) -> Snapshot | Raised | None:
    """What stands there in a snapshot; None where it has no such part."""
    if not where or not isinstance(seen, dict):
        return None if where else seen
    inside = (
        _part(each, where[len(key) :].removeprefix(", "))
        for key, each in seen.items()
        if f"{where}, ".startswith(f"{key}, ")
    )
    return next(inside, None)


def _draws_elsewhere(c: Context) -> Diagnosis | None:
    """Its random numbers are others: a change of a line that hides this is no explanation."""
    broken = {name for name, error in c.got.broken.items() if error is None}
    said = (x for x in c.exercise.properties if x.name in broken and "not draw from" in x.name)
    return next((Diagnosis(x.name, x.message) for x in said), None)


def _explained(c: Context) -> Diagnosis | None:
    """Two mistakes at once, or one line to look at, beside what any function can have."""
    found = explain(c.exercise, c.function, c.got, c.failing)
    looped = ends_at_once(c.function) or only_the_last_iteration(c.function)
    if looped and (found is None or found[0] != TWO):
        return Diagnosis(*looped)
    plain = next(filter(None, (rule(c) for rule in _OF_VALUES)), None)
    if found is None or plain is None or found[0] == TWO:
        return Diagnosis(*found) if found else plain
    return Diagnosis(plain.name, f"{plain.message} {found[1]}", plain.case)


def _differs(c: Context) -> Diagnosis:
    """None of the above: the case speaks for itself."""
    case, failed, total = c.exercise.inputs[c.failing[0]], len(c.failing), len(c.found)
    on = "every case" if failed == total else f"{failed} of {total} cases"
    if case.note:
        on += f": {case.note}" if failed == 1 else f", first on: {case.note}"
    sentences = [*_stops_elsewhere(c), _difference(c.first, on), *_where(c), *_unused(c)]
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
        ones = f"one{'s' * _plural(first)}"
        return f"{_subject(first, 'differs')} from the expected {ones} on {on}."
    what = first.where.removeprefix(_WHETHER)
    if first.got.value:
        return f"In your version {what}, and this should not be so: on {on}."
    return f"It should be so that {what}, but in your version it is not: on {on}."


_WHETHER = "answer to whether "


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
    yours = f"yours {_verb(first, 'is')} {have}"
    return f"{_subject(first, 'should')} be {want}, but {yours}." if want != have else None


def _where(c: Context) -> list[str]:
    """Of a class of several methods that which is wrong."""
    method = wrong_method(c.exercise, c.function, c.got, c.failing)
    if method is None:
        return []
    return [f"With the course's `{method}` instead of yours all cases are right: look there."]


def _stops_elsewhere(c: Context) -> list[str]:
    """A later case may stop with an error, which says more than a number."""
    for case, d in c.all_differences():
        if d.kind == "raised":
            on = c.exercise.inputs[case].note or "another case"
            return [" ".join([f"On {on} it stops with {tell(d.got)}.", *hints(d.got)])]
    return []


def _unused(c: Context) -> list[str]:
    """What the function is given and never looks at, although the course's version does."""
    source = source_of(c.function)
    if source is None:
        return []
    never = never_read(source.node, ast.parse(source_of_reference(c.exercise.reference)))
    return [f"Your version never uses {listed(never)}."] if never else []


def _by_hand(exercise: Exercise, case: Case, wanted: object) -> bool:
    """Whether a person can work a case out: few numbers, and no layers that start by chance."""
    given = list(leaves(snapshot([*case.args, *case.kwargs.values()])))
    few = sum(leaf.value.size for leaf in given if leaf.numeric) <= 24
    made = str(inspect.signature(exercise.reference).return_annotation)
    hidden = inspect.isclass(exercise.reference) or "torch.nn" in made
    return few and not hidden and _is_numeric(wanted) and wanted.value.size <= 6


def _whatever_the_values(c: Context) -> list[str]:
    """What holds of the right output and not of this one, whatever the numbers are."""
    at_all = ("changes from call", "changes its inputs", "changes the tree")
    broken = [name for name, e in c.got.broken.items() if e is None and name.startswith(at_all)]
    said = [each.message for each in c.exercise.properties if each.name in broken]
    want, have = c.first.expected, c.first.got
    if _is_numeric(want) and _is_numeric(have) and want.value.shape == have.value.shape:
        said += _signs(c, want.value, have.value) + sums(want.value, have.value)
    if isinstance(have, Leaf) and have.kind == "text":
        said += on_types(str(have.value))
    wrong = {d.where for _, d in c.all_differences()}
    seen = c.got.observations[c.failing[0]]
    if wrong == {"loss"} and isinstance(seen, dict) and any("gradient" in key for key in seen):
        said.append("Its gradients are right: only the number itself differs.")
    missing = [d.where for _, d in c.all_differences() if d.kind == "none" and d.where]
    if gradients := [where for where in missing if "gradient" in where]:
        said.append(f"The {gradients[0]} is missing as well.")
    return said


def _signs(c: Context, want: np.ndarray, have: np.ndarray) -> list[str]:
    """Said only where it holds on every case: students take it for a rule."""
    if want.dtype.kind not in "iuf" or not want.any():
        return []
    right = [leaf for each in expected(c.exercise).observations for leaf in leaves(each)]
    return [
        f"The expected output is never {name}, but yours is."
        for sign, name in ((1, "negative"), (-1, "positive"))
        if (sign * have < 0).any()
        and all((sign * leaf.value >= 0).all() for leaf in right if leaf.numeric)
    ]


_OF_VALUES = (_not_a_number, _shape, _whole_numbers, _factor, _length)
RULES = (
    _other_arguments,
    _unfinished,
    _no_return,
    _error,
    _another_at_each_call,
    _kind_of_output,
    _draws_elsewhere,
    _explained,
    _differs,
)


def _is_numeric(entry: object) -> TypeGuard[Leaf]:
    return isinstance(entry, Leaf) and entry.numeric


def _nothing(entry: object) -> bool:
    """Whether all the parts that a check named are missing."""
    parts = entry.values() if isinstance(entry, dict) else ()
    return bool(parts) and all(isinstance(part, Leaf) and part.kind == "none" for part in parts)


def _subject(difference: Difference, verb: str, the: str = "The") -> str:
    """The start of a sentence, with its verb: "The loss is", "The actions are"."""
    return f"{the} {difference.where or 'output'} {_verb(difference, verb)}"


def _verb(difference: Difference, verb: str) -> str:
    return _VERBS.get(verb, verb) if _plural(difference) else verb


_VERBS = {
    "is": "are", "has": "have", "holds": "hold", "contains": "contain", "differs": "differ",
}  # fmt: skip


def _plural(difference: Difference) -> bool:
    """Whether a part's name is a plural: "actions", "layers of both", but not "bias" or "loss"."""
    head = re.split(
        r"[,:]| (?:of|on|to|for|from|in|at|after|where|that|about)\b", difference.where
    )[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "is", "as"))


def tell(error: Raised) -> str:
    place = f" at `{error.source}`" if error.source else ""
    place += f" (line {error.line})" if error.line is not None else ""
    return f"`{_first_clause(str(error))}`{place}"


def _first_clause(text: str) -> str:
    """Without the lists of all that torch would have taken or asked for, and in one line."""
    return re.split(r", but expected one of| \(or directly|\n", text)[0].replace("`", "'").strip()
