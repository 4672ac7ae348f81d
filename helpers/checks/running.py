"""Run somebody's function on an exercise's cases, safely, and write down what it did."""

import _thread
import io
import linecache
import math
import random
import signal
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import FrameType
from typing import Self

import numpy as np
import torch

from helpers.agents.threads import one_thread
from helpers.checks.compare import Difference, Snapshot, differences, snapshot
from helpers.checks.exercise import Exercise, Mistake

NEVER = math.inf, math.inf  # in seconds, and in seconds of the processor
PRINTED = 400  # characters of a function's own printing that are kept for one case
_HELPERS = str(Path(__file__).resolve().parents[1])
_LIBRARIES = (_HELPERS, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
_INSTALLED = ("site-packages", "dist-packages", "<frozen", "<__array_function__")


@dataclass(frozen=True, eq=False)
class Raised:
    """An error in place of an output.

    `line` and `source` say where in the student's own code; None where the error came from
    elsewhere, as when a check could not use what the function returned.
    """

    type: type[BaseException]
    text: str
    line: int | None = None
    source: str = ""
    innermost: bool = False  # raised by the student's own line, not by something that it called
    evidence: str = ""  # what a check noted on the error (`add_note`), to tell like ones apart

    def __str__(self) -> str:
        return f"{self.type.__name__}: {self.text}" if self.text else self.type.__name__


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a function did: an observation for each case, and the properties that did not hold."""

    observations: list[Snapshot | Raised]
    printed: list[str]
    broken: dict[str, Raised | None] = field(default_factory=dict)


def run(exercise: Exercise, function: Callable) -> Outcome:
    """Try `function` on every case and property. KeyboardInterrupt passes through."""
    tried = [on_case(exercise, function, number) for number in range(len(exercise.inputs))]
    seen, printed = [seen for seen, _ in tried], [text for _, text in tried]
    return Outcome(seen, printed, broken_properties(exercise, function))


def on_case(
    exercise: Exercise, function: Callable, number: int, apart: bool = True
) -> tuple[Snapshot | Raised, str]:
    """What is observed, and what is printed meanwhile.

    `apart`: `isolated`, which may be left out where all that is tried is isolated already.
    """
    args = deepcopy(exercise.inputs[number].args)
    with isolated() if apart else nullcontext(), redirect_stdout(_FirstCharacters()) as out:
        seed_all(exercise.seed + number)
        try:
            seen = snapshot(exercise.observe(function, *args))
        except (Exception, SystemExit) as error:
            seen = _raised(error, function, exercise.observe)
    return seen, out.getvalue()


def broken_properties(exercise: Exercise, function: Callable) -> dict[str, Raised | None]:
    """The properties that do not hold, by name."""
    broken: dict[str, Raised | None] = {}
    for number, check in enumerate(exercise.properties):
        rng = np.random.default_rng([exercise.seed, number])
        with isolated(), redirect_stdout(_FirstCharacters()):
            seed_all(exercise.seed)
            try:
                if not check.test(function, rng):
                    broken[check.name] = None
            except (Exception, SystemExit) as error:
                broken[check.name] = _raised(error, function, check.test)
    return broken


class Mistaken:
    """What a mistake does in one of its spellings, worked out only as far as it is asked for.

    The first cases are mostly enough to see that a student's mistake is another one.
    """

    def __init__(self, exercise: Exercise, entry: Mistake, spelling: int) -> None:
        self._exercise, self.entry, self.spelling = exercise, entry, spelling
        self._seen: list[Snapshot | Raised] = []

    def observations(self) -> Iterator[Snapshot | Raised]:
        """One case after the other. A mistake may remember: it always starts at the first."""
        yield from tuple(self._seen)
        for number in range(len(self._seen), len(self._exercise.inputs)):
            self._seen.append(self._tried(number))
            yield self._seen[-1]

    def on(self, number: int) -> Snapshot | Raised:
        """One case alone, where a mistake that remembers need not be asked in order."""
        return self._seen[number] if number < len(self._seen) else self._tried(number)

    @cached_property
    def _function(self) -> Callable:
        return self.entry.spelled(self.spelling) if self.spelling else self.entry.function

    def _tried(self, number: int) -> Snapshot | Raised:
        with quiet():
            return on_case(self._exercise, self._function, number)[0]

    @cached_property
    def broken(self) -> dict[str, Raised | None]:
        with quiet():
            return broken_properties(self._exercise, self._function)


class Alarm:
    """Interrupts the main thread, as Ctrl-C would, when it is at one thing for too long.

    `with Alarm() as alarm:` and then, as often as needed, `with alarm.set(seconds):`. `rang` says
    whether it did. Unlike `signal.alarm` it works on Windows too. Elsewhere than in the main
    thread it does nothing.
    """

    def __init__(self) -> None:
        self.rang = False
        self._deadline = NEVER
        self._lock, self._over = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            if not callable(self._before):  # a process in the background ignores interrupts
                signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Thread(target=self._watch, daemon=True).start()
        else:
            self._over.set()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._over.is_set():
            self._over.set()
            if not callable(self._before):
                signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def set(self, seconds: float, of_processor: float = math.inf) -> Iterator[None]:
        """It rings unless the block ends within `seconds`, give or take a twentieth of one, and
        takes no more of the processor's time than that.
        """
        self.rang = False
        self._deadline = time.monotonic() + seconds, time.process_time() + of_processor
        try:
            yield
        finally:
            with self._lock:  # from here on it rings no more
                self._deadline = NEVER

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            with self._lock:
                end, of_processor = self._deadline
                if time.monotonic() > end or time.process_time() > of_processor:
                    self.rang, self._deadline = True, NEVER
                    _thread.interrupt_main()


@cache
def expected(exercise: Exercise) -> Outcome:
    """What the reference does; worked out once.

    Raises `RuntimeError` if it raises on every case: any answer that does so would be right.
    """
    with quiet():
        outcome = run(exercise, exercise.reference)
    if all(isinstance(each, Raised) for each in outcome.observations):
        raise RuntimeError(
            f"The course's own version of exercise {exercise.id} does not work here "
            f"({outcome.observations[0]}), so nothing can be checked against it."
        )
    return outcome


@cache
def price(exercise: Exercise) -> list[int]:
    """What a try of each case costs: how many calls the course's version makes there, which are as
    many on a busy machine as on a quiet one.
    """
    for case in range(len(exercise.inputs)):  # what is made once and kept does not count
        on_case(exercise, exercise.reference, case, apart=False)
    return [_calls(exercise, case) for case in range(len(exercise.inputs))]


def _calls(exercise: Exercise, case: int) -> int:
    count = 0

    def called(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        on_case(exercise, exercise.reference, case, apart=False)
    finally:
        sys.setprofile(before)
    return count


@cache
def mistaken(exercise: Exercise) -> list[Mistaken]:
    """What the mistakes do, in their order, and in each of their spellings."""
    return [
        Mistaken(exercise, entry, spelling)
        for entry in exercise.mistakes
        for spelling in range(max(1, len(entry.spellings)))
    ]


def unlike(exercise: Exercise, wanted: Outcome, got: Outcome) -> list[list[Difference]]:
    """The differences between two outcomes, case by case."""
    return [
        unlike_here(exercise, want, have)
        for want, have in zip(wanted.observations, got.observations, strict=True)
    ]


def unlike_here(
    exercise: Exercise, want: Snapshot | Raised, have: Snapshot | Raised
) -> list[Difference]:
    """The differences on one case."""
    if isinstance(have, Raised):
        alike = isinstance(want, Raised) and issubclass(have.type, want.type)
        return [] if alike else [Difference("", "raised", want, have)]
    if isinstance(want, Raised):
        return [Difference("", "did not raise", want, have)]
    return differences(want, have, exercise.rtol, exercise.atol)


@contextmanager
def quiet() -> Iterator[None]:
    """Our own wrong versions divide by zero; the student need not hear of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def isolated() -> Iterator[None]:
    """The notebook's own random numbers and its gradient mode stay as they are."""
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad(), one_thread():
            yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)


def seed_all(seed: int) -> None:
    """Known random numbers, for whatever a student draws from."""
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    random.seed(seed)


class _FirstCharacters(io.StringIO):
    """Keeps the beginning of what is printed: an endless loop must not fill the memory."""

    def write(self, text: str) -> int:
        if self.tell() < PRINTED:
            super().write(text[:PRINTED])
        return len(text)


def _raised(error: BaseException, function: Callable, ours: Callable) -> Raised:
    """Find the student's line: in `function`, or else in what `ours`, the check's own, called."""
    frames = list(traceback.walk_tb(error.__traceback__))
    code = getattr(ours, "__code__", None)
    own = [
        (frame, line)
        for frame, line in frames
        if _students(frame.f_code.co_filename) and frame.f_code is not code
    ]
    name = getattr(function, "__qualname__", "")
    its_own = [each for each in own if _within(each[0].f_code.co_qualname, name)]
    text, evidence = str(error), "\n".join(getattr(error, "__notes__", ()))
    if not own:
        return Raised(type(error), text, evidence=evidence)
    frame, line = (its_own or own)[-1]
    source = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    innermost = frame is frames[-1][0]
    return Raised(type(error), text, line, source, innermost, evidence)


def _within(name: str, outer: str) -> bool:
    """Whether it is that function or class, or defined in it."""
    return name == outer or name.startswith(f"{outer}.")


def _students(filename: str) -> bool:
    """Whether a file is a notebook's cell or another file of the student's."""
    installed = any(part in filename for part in _INSTALLED) or filename.endswith(".pyx")
    return not installed and not filename.startswith(_LIBRARIES)
