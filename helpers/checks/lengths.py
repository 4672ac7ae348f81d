"""Right but for a length: a sum in place of a mean, a mean along another axis, and the like.

The output then is what it should be, times a number that changes from case to case as the length of
an input does. It is said only where it holds on every case and the number does change; `rules`
tells of one that does not.
"""

import inspect
import itertools
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import torch

from helpers.checks.compare import Snapshot, leaves
from helpers.checks.context import Context, Diagnosis
from helpers.checks.exercise import Case
from helpers.checks.running import Raised, expected
from helpers.checks.words import subject

NEAR = 1e-3  # of a ratio: those of lengths below 30 are further apart
LARGE = "did you take a sum instead of a mean, or divide by too little?"
SMALL = "did you take a mean instead of a sum, or divide by too much?"
OTHER = "did you take a mean along another axis, or divide by another length?"


def off_by_a_length(c: Context) -> Diagnosis | None:
    """By which length of an input all is off, on every case."""
    wanted = expected(c.exercise).observations
    ratios = [_ratio(*pair) for pair in zip(wanted, c.got.observations, strict=True)]
    known = [number for number, ratio in enumerate(ratios) if ratio is not None]
    by_case = np.array([ratios[number] for number in known], dtype=float)
    off = np.abs(by_case - 1) > NEAR
    if np.isnan(by_case).any() or len({*by_case.round(3)}) < 2 or off.sum() < 2:
        return None
    named = _lengths(c.exercise.reference, [c.exercise.inputs[number] for number in known])
    told = next(chain(_known(by_case, named), _whole(by_case)), None)
    start = f"On every case {subject(c.first, 'is', 'the')}"
    return Diagnosis("a length", f"{start} {told}") if told else None


def _known(by_case: np.ndarray, named: dict[str, np.ndarray]) -> Iterator[str]:
    for what, lengths in named.items():
        if np.allclose(by_case, lengths, NEAR):
            yield f"as many times too large as there are {what}: {LARGE}"
        if np.allclose(by_case, 1 / lengths, NEAR):
            yield f"as many times too small as there are {what}: {SMALL}"
    for (what, lengths), (other, its) in itertools.permutations(named.items(), 2):
        if np.allclose(by_case, lengths / its, NEAR):
            yield f"off by a factor, the number of {what} over that of {other}: {OTHER}"


def _whole(ratios: np.ndarray) -> Iterator[str]:
    """The length may be one that is in no input: that of what a network gives."""
    for by_case, word, question in ((ratios, "large", LARGE), (1 / ratios, "small", SMALL)):
        rounded = by_case.round()
        if np.allclose(by_case, rounded, NEAR) and len({*rounded[rounded > 1]}) > 1:
            times = ", ".join(f"{number:.0f}" for number in dict.fromkeys(rounded))
            yield (
                f"too {word} by a whole number that changes from case to case ({times}), as the "
                f"length of an axis does: {question}"
            )


def of_another_length(reference: Any, cases: list[Case], lengths: list[tuple]) -> Iterator[str]:
    """What one row of numbers should have been as long as, and what it is as long as."""
    named = _lengths(reference, cases).items() if cases else ()
    for (what, wanted), (other, seen) in itertools.permutations(named, 2):
        if lengths == [*zip(wanted, seen, strict=True)]:
            yield f"There should be as many numbers as there are {what}, not {other}."
            return


def _ratio(want: Snapshot | Raised, got: Snapshot | Raised) -> float | None:
    """What all numbers of a case are multiplied with; NaN where there is no such number, None
    where any would do, since all of them are 0.
    """
    pairs = [*zip(leaves(want), leaves(got), strict=False)]
    if not pairs or _form(want) != _form(got):
        return np.nan
    wanted, given = (
        np.concatenate([np.zeros(0), *(each.value.ravel() for each in row if each.numeric)])
        for row in zip(*pairs, strict=True)
    )
    if not (np.isfinite(wanted).all() and np.isfinite(given).all()):
        return np.nan
    if not wanted.any():
        return np.nan if given.any() else None
    largest = np.abs(wanted).argmax()
    ratio = float(given[largest] / wanted[largest])
    size = abs(ratio * wanted[largest])
    alike = np.allclose(given, ratio * wanted, rtol=NEAR, atol=1e-4 * size)
    return ratio if alike and ratio > 0 else np.nan


def _form(seen: Snapshot | Raised) -> list:
    """What is no number, and of the others the shapes."""
    if isinstance(seen, Raised):
        return [seen]
    return [each.value.shape if each.numeric else each.value for each in leaves(seen)]


def _lengths(reference: Any, cases: list[Case]) -> dict[str, np.ndarray]:
    """The lengths of the inputs' axes, by what one counts there: "rows of `obs`"."""
    found = [dict(_counted(reference, case)) for case in cases]
    return {what: np.array([each[what] for each in found]) for what in found[0] if _in(what, found)}


def _in(what: str, found: list[dict[str, int]]) -> bool:
    return all(each.get(what) for each in found)


def _counted(reference: Any, case: Case) -> Iterator[tuple[str, int]]:
    try:
        bound = inspect.signature(reference).bind(*case.args, **case.kwargs)
    except (TypeError, ValueError):
        return
    for name, value in bound.arguments.items():
        parts: dict[str, Any] = getattr(value, "_asdict", dict)()  # a batch's
        for part, entry in {name: value, **{f"{name}.{k}": v for k, v in parts.items()}}.items():
            if isinstance(entry, np.ndarray | torch.Tensor):
                yield from _axes(part, tuple(entry.shape))


def _axes(name: str, shape: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    if len(shape) == 1:
        yield f"entries of `{name}`", shape[0]
    if len(shape) == 2:
        yield f"rows of `{name}`", shape[0]
        yield f"columns of `{name}`", shape[1]
    if len(shape) > 1:
        yield f"entries of `{name}`", int(np.prod(shape))
