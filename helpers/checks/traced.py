"""Run somebody's function once more, line by line, to see on which line something happens.

What is looked for: a line that changes an argument, and one whose result is a matrix of every row
with every other.
"""

import inspect
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from types import CodeType, FrameType
from typing import Any

import numpy as np
import torch

from helpers.checks.compare import Snapshot, differences, snapshot
from helpers.checks.exercise import Exercise
from helpers.checks.running import Alarm, isolated, quiet, seed_all
from helpers.checks.source import Source, source_of

MOST_LINES = 3000  # a long loop shows in its first iterations what it does
LONGEST = 5.0  # seconds for one case: a function may be endless this time alone
Seen = Callable[[FrameType, int], None]  # called after every line, with that line's number
BEGIN = 0  # in its place, where a call begins


def changed_argument(exercise: Exercise, function: Callable) -> str | None:
    """Which argument somebody's function changes, and in which line; None where none is seen."""
    source = source_of(function)
    if source is None:
        return None
    for number in range(len(exercise.inputs)):
        watch = _Arguments()
        in_time = _traced(exercise, function, number, source, watch)
        if watch.changed:
            name, line = watch.changed
            first, _ = source.statement(line)
            return f"`{name}` is changed in `{source.line(first)}`."
        if not in_time:
            return None
    return None


def every_with_every_other(
    exercise: Exercise, function: Callable, failing: list[int]
) -> str | None:
    """The first line after which a name stands for a matrix of all rows with all rows."""
    source = source_of(function)
    if source is None:
        return None
    for number in failing:
        watch = _Matrices()
        in_time = _traced(exercise, function, number, source, watch)
        if watch.found:
            name, shape, line = watch.found
            right = _Matrices()
            _traced(exercise, exercise.reference, number, source_of(exercise.reference), right)
            if right.found:
                return None
            first, _ = source.statement(line)
            return (
                f"After `{source.line(first)}` the shape of `{name}` is `{shape}`: every row was "
                "combined with every other."
            )
        if not in_time:
            return None
    return None


class _Arguments:
    """Notes the first argument that is not what it was when its function was called."""

    def __init__(self) -> None:
        self.changed: tuple[str, int] | None = None
        self._before: dict[int, dict[str, tuple[Any, Snapshot]]] = {}

    def __call__(self, frame: FrameType, line: int) -> None:
        if self.changed is not None:
            return
        if line == BEGIN:
            given = dict(part for each in _arguments(frame).items() for part in _parts(*each))
            self._before[id(frame)] = {name: (x, snapshot(x)) for name, x in given.items()}
            return
        for name, (value, before) in self._before[id(frame)].items():
            if differences(before, snapshot(value), rtol=0, atol=0):
                self.changed = name, line
                return


class _Matrices:
    """Notes the first local name whose shape has the number of rows twice."""

    def __init__(self) -> None:
        self.found: tuple[str, tuple[int, ...], int] | None = None
        self._rows: dict[int, int | None] = {}

    def __call__(self, frame: FrameType, line: int) -> None:
        if self.found is not None:
            return
        if line == BEGIN:
            self._rows[id(frame)] = _rows(_arguments(frame))
            return
        rows = self._rows[id(frame)]
        for name, value in frame.f_locals.items():
            shape = _shape(value)
            if rows is not None and shape.count(rows) > 1:
                self.found = name, shape, line
                return


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Of a batch its columns, as `batch.reward`; of anything else the whole."""
    fields = getattr(value, "_fields", ())
    yield from ((f"{name}.{each}", getattr(value, each)) for each in fields)
    yield from () if fields else ((name, value),)


def _rows(arguments: Mapping[str, Any]) -> int | None:
    """The length of the vectors among them, where no other axis of any argument has that length."""
    shapes = [shape for value in arguments.values() for shape in _shapes(value)]
    lengths = {shape[0] for shape in shapes if len(shape) == 1}
    rows = lengths.pop() if len(lengths) == 1 else 0
    if rows < 3 or any(rows in shape[1:] for shape in shapes):
        return None
    return rows


def _shapes(value: Any) -> Iterator[tuple[int, ...]]:
    """Of a tensor or an array its own, of a batch those of its columns."""
    parts = value if isinstance(value, tuple) else (value,)
    yield from (_shape(part) for part in parts)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, torch.Tensor | np.ndarray) else ()


def _arguments(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: frame.f_locals[name] for name in names if name != "self"}


def _traced(
    exercise: Exercise, function: Callable, number: int, source: Source | None, seen: Seen
) -> bool:
    """One case, with `seen` called when a function of this source begins and after each line.

    Its tensors are clones: a leaf would stop a change. Returns whether it ended by itself.
    """
    case = exercise.inputs[number]
    args, kwargs = deepcopy((case.args, dict(case.kwargs)))
    args = tuple(x.clone() if isinstance(x, torch.Tensor) else x for x in args)
    codes = set(_codes(function)) if source else set()
    with quiet(), isolated(), redirect_stdout(io.StringIO()), Alarm() as alarm:
        seed_all(exercise.seed + number)
        try:
            with alarm.set(LONGEST), _line_by_line(codes, seen):
                exercise.observe(function, *args, **kwargs)
        except KeyboardInterrupt:
            return False
        except (Exception, SystemExit):
            pass
    return True


def _codes(function: Callable) -> Iterator[CodeType]:
    """The code of a function, or of each method of a class."""
    entries = vars(function).values() if inspect.isclass(function) else [function]
    for entry in entries:
        code = getattr(inspect.unwrap(entry), "__code__", None) if callable(entry) else None
        if code is not None:
            yield code


@contextmanager
def _line_by_line(codes: set[CodeType], seen: Seen) -> Iterator[None]:
    """`seen(frame, line)` at the beginning of each call of these, and after each of their lines."""
    last: dict[int, int] = {}
    left = MOST_LINES

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            return None
        if event in ("line", "return") and id(frame) in last:
            seen(frame, last[id(frame)])
        last[id(frame)] = frame.f_lineno
        return local

    def called(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in codes or left < 0:
            return None
        last.pop(id(frame), None)
        seen(frame, BEGIN)
        return local

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)
