"""Rules about what an answer gave, whatever its source is: mistakes that any function can have."""

import inspect

import numpy as np

from helpers.checks.compare import (
    ANOTHER,
    ATOL,
    RTOL,
    Leaf,
    Snapshot,
    close,
    is_broadcast,
    is_numeric,
    leaves,
)
from helpers.checks.context import Context, Diagnosis
from helpers.checks.errors import on_types, stops_elsewhere
from helpers.checks.remarks import what_cuts
from helpers.checks.running import Raised, expected
from helpers.checks.source import has_ellipsis
from helpers.checks.words import plural, short, subject, verb_of


def other_arguments(c: Context) -> Diagnosis | None:
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
    if not inspect.isfunction(c.function) and "__init__" not in vars(c.function):
        message = "Your class has no `__init__`, which is called when an object of it is made."
        return Diagnosis("other arguments", message)
    return Diagnosis(
        "other arguments",
        f"{c.name} is called with `({', '.join(wanted.parameters)})`, but yours takes "
        f"`({', '.join(own.parameters)})`: keep the first line of the definition as it was given.",
    )


def unfinished(c: Context) -> Diagnosis | None:
    """A `...` of the blank is still there."""
    given = c.first.got
    returned = isinstance(given, Leaf) and given.kind == "object" and given.value == "ellipsis"
    if not (returned or has_ellipsis(c.function)):
        return None
    return Diagnosis(
        "unfinished",
        "There is still a `...` in your code: replace it by the line that is missing there.",
    )


def no_return(c: Context) -> Diagnosis | None:
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


def another_at_each_call(c: Context) -> Diagnosis | None:
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


def kind_of_output(c: Context) -> Diagnosis | None:
    """Something else than numbers, or other parts than asked for."""
    first = c.first
    if first.kind == "none":
        if "gradient" in first.where:
            return _no_gradient(c, f"{subject(first, 'is')} missing")
        return Diagnosis("missing part", f"{subject(first, 'is')} missing.")
    yours = f"yours {verb_of(first, 'is')} {short(first.got)}"
    if first.kind == "unexpected":
        return Diagnosis(None, f"{subject(first, 'should')} be none, but {yours}.")
    if first.kind == "type":
        wanted = f"{subject(first, 'should')} be {short(first.expected)}"
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
    return Diagnosis("no gradient", f"{what}: {what_cuts(c)}.")


def not_a_number(c: Context) -> Diagnosis | None:
    if c.first.kind != "nan":
        return None
    message = (
        f"{subject(c.first, 'contains')} NaN, not a number: look for 0 divided by 0 (as the mean "
        "of nothing and `.std()` of one number are), 0 times infinity, the logarithm of a negative "
        "number, or infinity minus or divided by infinity."
    )
    if "gradient" in c.first.where:
        message += " (`torch.where` computes the gradient of the unused branch, too.)"
    return Diagnosis("nan", message)


def shape(c: Context) -> Diagnosis | None:
    """Another shape; shown on a case where the shape is more than a single number's."""
    shapes = [(i, d) for i, d in c.all_differences() if d.kind in ("shape", "reshaped")]
    if not shapes or c.first.kind not in ("shape", "reshaped"):
        return None
    only_shape = all(d.kind == "reshaped" for _, d in c.all_differences())
    case, shown = max(shapes[:20], key=lambda entry: entry[1].expected.value.size > 1)
    want, have = shown.expected.value.shape, shown.got.value.shape
    if shown.got.kind == "list" and have[1:] == want:
        message = (
            f"{subject(shown, 'is')} a list or tuple of {have[0]} parts, each of shape "
            f"`{want}`, instead of a single one: values separated by commas make a tuple."
        )
        return Diagnosis("several outputs", message, case)
    if not only_shape:
        message = f"{subject(shown, 'has')} shape `{have}` instead of `{want}`."
        if is_broadcast(shown.expected.value, shown.got.value):
            message += (
                " Every row was combined with every other: two shapes that did not match were "
                "broadcast against each other, or it is a matrix product."
            )
        return Diagnosis("shape", " ".join([message, *stops_elsewhere(c)]), case)
    message = f"The numbers are right, but the shape is `{have}` instead of `{want}`."
    if have == (*want, 1):
        message += (
            " Beside numbers without that last axis the result would be a matrix: `.squeeze(-1)` "
            "removes it."
        )
    if len(c.failing) < len(c.found) and have == tuple(n for n in want if n != 1):
        message += " An axis of length 1 is lost: `squeeze()` drops every such axis."
    return Diagnosis("shape", message, case)


def whole_numbers(c: Context) -> Diagnosis | None:
    """Integers where the expected numbers have decimals."""
    want, have = c.first.expected, c.first.got
    if not (have.numeric and have.value.dtype.kind in "iu" and want.value.dtype.kind == "f"):
        return None
    # Either nothing but the decimals is missing, or it goes wrong only where there are no floats.
    cut_once = (np.abs(have.value - want.value) < 1).all()
    others = [entry for i, entry in enumerate(c.got.observations) if i not in c.failing]
    floats = [entry.value.dtype.kind == "f" for entry in others if is_numeric(entry)]
    if not cut_once and not (floats and all(floats)):
        return None
    return Diagnosis(
        "whole numbers",
        f"{subject(c.first, 'holds')} whole numbers (`{have.dtype}`), so the decimals were cut "
        "off: use a float array.",
    )


def factor(c: Context) -> Diagnosis | None:
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
    start = subject(c.first, "is")
    it, its, they = ("them", "their", "they") if plural(c.first) else ("it", "its", "it")
    if tiny:
        return Diagnosis("all zeros", f"{start} zero everywhere: is anything written into {it}?")
    if abs(factor + 1) < 1e-3:
        return Diagnosis("sign", f"{start} right except for {its} sign.")
    times = f"{factor:.4g} times what {they} should be"
    on = "" if None in parts else ", on every case"
    return Diagnosis("factor", f"{start} {times}{on}.")


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


def draws_elsewhere(c: Context) -> Diagnosis | None:
    """Its random numbers are others: a change of a line that hides this is no explanation."""
    broken = {name for name, error in c.got.broken.items() if error is None}
    said = (x for x in c.exercise.properties if x.name in broken and "not draw from" in x.name)
    return next((Diagnosis(x.name, x.message) for x in said), None)


def _nothing(entry: object) -> bool:
    """Whether all the parts that a check named are missing."""
    parts = entry.values() if isinstance(entry, dict) else ()
    return bool(parts) and all(isinstance(part, Leaf) and part.kind == "none" for part in parts)
