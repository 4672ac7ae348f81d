"""Right but for a length: a sum in place of a mean, a mean along another axis, and the like.

The output then is what it should be, times a number that changes from case to case as the length of
an input does. `outputs` tells of one that does not change.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from helpers.checks.compare import Snapshot, leaves
from helpers.checks.context import Context, Diagnosis
from helpers.checks.exercise import Case
from helpers.checks.running import expected
from helpers.checks.words import subject

NEAR = 1e-3  # of a ratio: those of lengths below 30 are further apart
LARGE = "did you take a sum instead of a mean, or divide by too little?"
SMALL = "did you take a mean instead of a sum, or divide by too much?"


def off_by_a_length(c: Context) -> Diagnosis | None:
    """By which length of an input all is off, on every case."""
    if any(d.kind != "value" or not d.got.numeric for _, d in c.all_differences()):
        return None
    wanted = expected(c.exercise).observations
    ratios = [_ratio(*pair) for pair in zip(wanted, c.got.observations, strict=True)]
    known = [number for number, ratio in enumerate(ratios) if ratio is not None]
    by_case = np.array([ratios[number] for number in known], dtype=float)
    off = np.abs(by_case - 1) > NEAR
    if np.isnan(by_case).any() or len({*by_case.round(3)}) < 2 or off.sum() < 2:
        return None
    start = f"On every case {subject(c.first, 'is', 'the')} as many times too"
    found = [dict(_counted(c.exercise.reference, c.exercise.inputs[number])) for number in known]
    for what in (each for each in found[0] if all(case.get(each) for case in found)):
        lengths = np.array([case[what] for case in found])
        if np.allclose(by_case, lengths, NEAR):
            return Diagnosis("a length", f"{start} large as there are {what}: {LARGE}")
        if np.allclose(by_case, 1 / lengths, NEAR):
            return Diagnosis("a length", f"{start} small as there are {what}: {SMALL}")
    return None


def _ratio(want: Snapshot, got: Snapshot) -> float | None:
    """What all numbers of a case are multiplied with; NaN where there is no such number, None
    where any would do, since all of them are 0.
    """
    wanted, given = (
        np.concatenate([np.zeros(0), *(x.value.ravel() for x in leaves(seen) if x.numeric)])
        for seen in (want, got)
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


def _counted(reference: Any, case: Case) -> Iterator[tuple[str, int]]:
    """The lengths of the inputs' axes, by what one counts there: "rows of `obs`"."""
    try:
        bound = inspect.signature(reference).bind(*case.args)
    except (TypeError, ValueError):
        return
    for name, value in bound.arguments.items():
        parts: dict[str, Any] = getattr(value, "_asdict", dict)()  # a batch's
        for part, entry in {name: value, **{f"{name}.{k}": v for k, v in parts.items()}}.items():
            if isinstance(entry, np.ndarray | torch.Tensor) and entry.ndim:
                yield f"entries of `{part}`", int(np.prod(entry.shape))
                if entry.ndim == 2:
                    yield f"rows of `{part}`", entry.shape[0]
                    yield f"columns of `{part}`", entry.shape[1]
