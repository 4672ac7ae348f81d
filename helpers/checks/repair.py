"""What no catalogue foresaw: look for the line that is wrong, or for two known mistakes at once.

*Repair*: small changes of the student's own source are tried until one makes it pass. If all that
do stand on one line, that is the line to look at; the change itself is not told. *Two mistakes*:
two entries of the catalogue together.

Changed code runs in an empty folder, without `open`, `os` and the like, each try only for a moment.
The whole search ends after so much work, counted and not timed: a verdict must not depend on what
else the machine does. Where several explanations fit, nothing is said.
"""

import ast
import builtins
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helpers.checks.advice import ONE, TWO, Found, told_of, told_of_pairs
from helpers.checks.compare import Snapshot
from helpers.checks.context import Context, Diagnosis
from helpers.checks.edits import apply, compiled, source_of_reference
from helpers.checks.exercise import Mistake
from helpers.checks.mutants import PASSES, Mutant, mutants, words_of
from helpers.checks.places import shape
from helpers.checks.running import (
    Alarm,
    Mistaken,
    Raised,
    broken_properties,
    expected,
    isolated,
    mistaken,
    on_case,
    price,
    quiet,
    unlike_here,
)
from helpers.checks.source import Source

WORK = 3_000_000  # calls, as many as a quiet core makes in some 6 seconds
CHANGES, RANKED = 0.7, 0.8  # shares of it after which changes, and the ranking of pairs, end
COMPILED = 150  # what it costs to make a changed version, in calls
ONE_TRY, ENDLESS = 0.3, 200_000  # seconds of the processor, and what a try costs that takes them
MEMORY = 2**29  # bytes
_UNSAFE = {
    "open", "exec", "eval", "compile", "input", "breakpoint", "exit", "quit", "help",
}  # fmt: skip
_OUTSIDE = {
    "os", "sys", "subprocess", "shutil", "socket", "pathlib", "tempfile", "urllib", "requests",
    "http", "importlib", "builtins", "signal", "threading", "multiprocessing", "ctypes", "io",
    "pickle", "gc", "resource",
}  # fmt: skip


def explain(c: Context) -> Diagnosis | None:
    """None where nothing explains it."""
    with suppress(KeyboardInterrupt), _apart() as alarm:
        search = _Search(c, alarm)
        told = told_of(c.source, search.changes(c.source)) if c.source else None
        if told and told.name == ONE:
            return told  # one line is less than two mistakes
        return told_of_pairs(search.two_known()) or told
    return None


def wrong_method(c: Context) -> str | None:
    """Of a class of several methods the one with which all is wrong, and without it right."""
    with suppress(KeyboardInterrupt), _apart() as alarm:
        search = _Search(c, alarm)
        return search.method(c.source, search.order) if c.source else None
    return None


@contextmanager
def _apart() -> Iterator[Alarm]:
    """Where changed code can run, and an alarm for what does not end."""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder, chdir(folder),
        quiet(), _little_memory(), isolated(), Alarm() as alarm,
    ):  # fmt: skip
        yield alarm


class _Search:
    """Tries changed versions against what the reference does and what known mistakes do."""

    def __init__(self, c: Context, alarm: Alarm) -> None:
        self.exercise, self.got, self.failing, self.alarm = c.exercise, c.got, c.failing, alarm
        self.given: Any = c.given.body[0]
        self.work = 0  # calls
        self.price = price(c.exercise)
        self.want = expected(c.exercise).observations
        others = [i for i in range(len(self.want)) if i not in c.failing]
        self.order = c.failing + others  # what tells most comes first

    def used(self) -> float:
        """The share of the work that is done."""
        return self.work / WORK

    # --- two entries of the catalogue ---

    def two_known(self) -> list[tuple[Mistake, Mistake]]:
        """The pairs of mistakes that together do just what was seen."""
        reference = self.exercise.reference
        pairs: list[tuple[Mistake, Mistake]] = []
        for one, other in self._likeliest():
            if self.used() > 1:
                break
            version = _with_both(reference, one, other)
            self.work += COMPILED
            if version is None or not self._does(version, self.got.observations):
                continue
            broken = self._broken(version)
            if broken is not None and broken.keys() <= self.got.broken.keys():
                pairs.append((one.entry, other.entry))
        return pairs

    def _likeliest(self) -> list[tuple[Mistaken, Mistaken]]:
        """Pairs of entries: first those that together are wrong in most of the parts that are, and
        in the same way; of these first those with one that is likely by itself.
        """
        scored: list[tuple[Mistaken, set, set]] = []
        for tried in mistaken(self.exercise):
            if tried.entry.spellings and self.used() < RANKED:
                self.work += self.price[self.failing[0]]
                scored.append((tried, *self._agreement(tried)))
        scored.sort(key=lambda each: (-len(each[1]), -len(each[2])))

        def rank(pair: Any) -> tuple[int, int]:
            (_, alike, wrong), (_, its_alike, its_wrong) = pair
            return -len(alike | its_alike), -len(wrong | its_wrong)

        pairs = sorted(itertools.combinations(scored, 2), key=rank)
        both = ((one, other) for (one, *_), (other, *_) in pairs)
        return [(one, other) for one, other in both if one.entry is not other.entry]

    def _agreement(self, tried: Mistaken) -> tuple[set, set]:
        """Of the parts that are wrong on the first case: those in which a mistake is wrong in just
        that way, and those in which it is wrong at all.
        """
        case = self.failing[0]
        got, want, did = self.got.observations[case], self.want[case], tried.on(case)
        if isinstance(did, Raised) or isinstance(got, Raised) or isinstance(want, Raised):
            return set(), set()
        wrong = {d.where for d in unlike_here(self.exercise, want, got)}
        both_wrong = wrong & {d.where for d in unlike_here(self.exercise, want, did)}
        other = {d.where for d in unlike_here(self.exercise, did, got)}
        return both_wrong - other, both_wrong

    # --- changes of the student's own source ---

    def changes(self, source: Source) -> Found:
        """What comes of each small change of the source: of a class in which one method is wrong,
        of that method.
        """
        found = Found()
        surroundings = _without_outside(source.surroundings)
        only = self.method(source, self.failing[:3])
        for mutant in _mutants(source.node, self.given, only):
            if self.used() > CHANGES or mutant.rank > found.rank:
                break
            version = self._made(source.node, surroundings)
            if version and self._does(version, self.want):
                self._judge_properties(version, mutant, found)
        return found

    def method(self, source: Source, cases: list[int]) -> str | None:
        """Of a class the method that is wrong: with the course's in its place these are right."""
        written = _written(source.node, self.given)
        if len(written) < 2:
            return None
        surroundings = _without_outside(source.surroundings)
        methods = {x.name: x for x in self.given.body if isinstance(x, ast.FunctionDef)}
        body, wrong = source.node.body, []
        for method in (each for each in written if each.name in methods):
            place = body.index(method)
            body[place] = methods[method.name]
            version = self._made(source.node, surroundings)
            body[place] = method
            if version and self._does(version, self.want, cases):
                wrong.append(method.name)
        return wrong[0] if len(wrong) == 1 else None

    def _judge_properties(self, version: Callable, mutant: Mutant, found: Found) -> None:
        """Right in its values: does it break nothing, or only what the student's version did?"""
        broken = self._broken(version)
        if mutant.also:
            found.in_several += [mutant] * (broken == {})
        elif broken == {}:
            found.rank = mutant.rank
            found.lines.setdefault(mutant.line, []).append(mutant)
        elif broken and broken.keys() <= self.got.broken.keys():
            said = (each.message for each in self.exercise.properties if each.name in broken)
            found.but_a_property.setdefault((next(said), mutant.line), []).append(mutant)

    def _does(
        self,
        version: Callable,
        observations: list[Snapshot | Raised],
        cases: list[int] | None = None,
    ) -> bool:
        """Whether a version does the same as these observations, on these cases or on every one."""
        for i in cases or self.order:
            seen = self._try(version, i)
            if seen is None or unlike_here(self.exercise, observations[i], seen):
                return False
        return True

    def _made(self, node: Any, surroundings: dict[str, Any]) -> Callable | None:
        """What changed code defines; None where it cannot be run at all."""
        self.work += COMPILED
        namespace, module = dict(surroundings), ast.Module([node], [])
        try:
            exec(compile(module, "<a changed version>", "exec", dont_inherit=True), namespace)
        except Exception:  # what stands in an annotation or for a default may fail in any way
            return None
        return namespace.get(node.name)

    def _try(self, version: Callable, case: int) -> Snapshot | Raised | None:
        """What a version does on one case; None where it does not end."""
        self.work += self.price[case]
        return self._within(1, lambda: on_case(self.exercise, version, case, apart=False)[0])

    def _broken(self, version: Callable) -> dict[str, Raised | None] | None:
        """The properties that do not hold of a version; None where that does not end."""
        self.work += sum(self.price)
        return self._within(2, lambda: broken_properties(self.exercise, version))

    def _within(self, tries: int, work: Callable[[], Any]) -> Any:
        """What `work` gives; None where it takes longer than so many tries may."""
        try:
            with self.alarm.set(20 * tries * ONE_TRY, tries * ONE_TRY):
                return work()
        except KeyboardInterrupt:
            if self.alarm.rang:
                self.work += tries * ENDLESS
                return None
            raise


def _with_both(reference: Callable, one: Mistaken, other: Mistaken) -> Callable | None:
    """The reference with two mistakes; None where neither leaves the place of the other's edit."""
    for first, second in ((one, other), (other, one)):
        with suppress(Exception):
            edits = [x for each in (first, second) for x in each.entry.spellings[each.spelling]]
            return compiled(reference, apply(source_of_reference(reference), edits), TWO)
    return None


def _mutants(node: ast.AST, given: ast.AST, only: str | None) -> Iterator[Mutant]:
    """Changes of what the student wrote: methods that stand there as given are left alone, and all
    but one where `only` that one is to be looked at.
    """
    of_both = words_of(given, node)
    usual = {shape(each) for each in ast.walk(given) if isinstance(each, ast.stmt)}
    parts: list = [each for each in _written(node, given) if only in (None, each.name)]
    parts = parts if isinstance(node, ast.ClassDef) else [node]
    words = [replace(of_both, names=words_of(each).names) for each in parts]
    for one_pass in PASSES:  # the likeliest changes of all methods first
        for part, its_words in zip(parts, words, strict=True):
            yield from mutants(part, its_words, usual, [one_pass])


def _written(node: ast.AST, given: ast.AST) -> list[ast.FunctionDef]:
    """Of a class the methods that do not stand there as given."""
    as_given = {ast.dump(each) for each in ast.walk(given) if isinstance(each, ast.FunctionDef)}
    body = node.body if isinstance(node, ast.ClassDef) else []
    methods = [each for each in body if isinstance(each, ast.FunctionDef)]
    return [each for each in methods if ast.dump(each) not in as_given]


def _without_outside(surroundings: Mapping[str, Any]) -> dict[str, Any]:
    """The student's names, without those that lead out of Python."""

    def leads_out(value: Any) -> bool:
        return isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _OUTSIDE

    inside = {name: value for name, value in surroundings.items() if not leads_out(value)}
    allowed = {n: v for n, v in vars(builtins).items() if n not in _UNSAFE}
    inside["__builtins__"] = allowed | {"__import__": _import, "print": lambda *a, **k: None}
    return inside


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    if name.split(".")[0] in _OUTSIDE or name.split(".")[0] not in sys.modules:
        raise ImportError(f"{name} is not imported in a try.")
    return builtins.__import__(name, *args, **kwargs)


@contextmanager
def _little_memory() -> Iterator[None]:
    """On Linux, let a try take no more than `MEMORY`: nothing interrupts numpy while it fills it,
    and a process that has filled all memory is killed.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):  # another system
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most if soft < 0 else min(most, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
