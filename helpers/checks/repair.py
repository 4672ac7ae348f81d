"""What no catalogue foresaw: look for the line that is wrong, or for two known mistakes at once.

*Repair*: small changes of the student's own source are tried until one makes it pass. If all that
do stand on one line, that is the line to look at; the change itself is not told. *Two mistakes*:
two entries of the catalogue together, or a change of the source that leaves exactly one of them.

Changed code runs in an empty folder, without `open`, `os` and the like, each try and the whole
search only for a moment. Where several explanations fit, nothing is said.
"""

import ast
import builtins
import itertools
import os
import re
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from helpers.checks.compare import ATOL, RTOL, Snapshot, close, leaves
from helpers.checks.edits import apply, compiled, source_of_reference
from helpers.checks.exercise import Exercise, Mistake
from helpers.checks.mutants import KINDS, PASSES, Mutant, Pass, Words, mutants, words_of
from helpers.checks.running import (
    Alarm,
    Mistaken,
    Outcome,
    Raised,
    broken_properties,
    expected,
    isolated,
    mistaken,
    on_case,
    quiet,
    unlike_here,
)
from helpers.checks.source import Source, source_of

ONE, TWO = "one line", "two mistakes"
SECONDS = 1.6  # of this process, for all of it; half as much again where others slow it down
ONE_TRY = 0.3
LONGEST_PART = 60  # characters of a part of a line that is shown
_UNSAFE = {
    "open", "exec", "eval", "compile", "input", "breakpoint", "exit", "quit", "help",
}  # fmt: skip
_OUTSIDE = {
    "os", "sys", "subprocess", "shutil", "socket", "pathlib", "tempfile", "urllib", "requests",
    "http", "importlib", "builtins", "signal", "threading", "multiprocessing", "ctypes", "io",
    "pickle", "gc",
}  # fmt: skip


@dataclass
class Found:
    """The lines on which one change makes it right, or leaves another mistake: its message.

    For each of them, the changes. `in_several`: the same change in several places makes it right.
    """

    lines: dict[int, list[Mutant]] = field(default_factory=dict)
    in_several: list[Mutant] = field(default_factory=list)
    but_a_property: dict[tuple[str, int], list[Mutant]] = field(default_factory=dict)
    but_an_entry: dict[tuple[str, int], list[Mutant]] = field(default_factory=dict)


def explain(
    exercise: Exercise, candidate: Callable, got: Outcome, failing: list[int]
) -> tuple[str, str] | None:
    """A name and a message, or None where nothing explains it. `failing` cases differ."""
    source = source_of(candidate)
    with quiet(), _bare_folder(), isolated(), Alarm() as alarm:
        try:
            search = _Search(exercise, got, failing, alarm)
            pairs = search.two_known()
            told = _told(source, search.changes(source)) if source else None
            if not pairs or (told and told[0] == ONE):
                return told  # one line is less than two mistakes
            return _told_of_pairs(pairs) or told
        except KeyboardInterrupt:
            return None


def _told(source: Source, found: Found) -> tuple[str, str] | None:
    places = [_advice(source, *each) for each in sorted(_by_statement(source, found.lines).items())]
    match places:
        case [(look, it, do)]:
            return ONE, f"Look at {look}. A small change to {it} alone makes it right{do}."
        case [_, _] | [_, _, _]:
            each = " ".join(f"{look[0].upper()}{look[1:]}{do}." for look, _, do in places)
            return ONE, f"One small change makes it right, in one of these places. {each}"
    if found.in_several and not places:
        return ONE, _in_several(source, found.in_several)
    pairs = found.but_a_property or found.but_an_entry
    messages = {message for message, _ in pairs}
    left = _by_statement(source, {line: changes for (_, line), changes in pairs.items()})
    if places or len(messages) != 1 or len(left) != 1:
        return None
    look, _, do = _advice(source, *left.popitem())
    second = f"look at {look}, where a small change is needed as well{do}."
    return TWO, both(messages.pop(), second)


def _told_of_pairs(pairs: list[tuple[Mistake, Mistake]]) -> tuple[str, str] | None:
    """Both mistakes; where several pairs do the same, what all of them have in common."""
    said = {frozenset((one.message, other.message)) for one, other in pairs}
    if len(said) == 1:
        return TWO, both(pairs[0][0].message, pairs[0][1].message)
    in_all = frozenset.intersection(*said)
    return (TWO, f"Two things at least. One of them: {alone(*in_all)}") if in_all else None


def _in_several(source: Source, changes: list[Mutant]) -> str:
    """Where the same is done in several places, each of which needs the same change."""
    one_line = [
        c for c in changes if {*map(source.statement, c.also)} == {source.statement(c.line)}
    ]
    look, it, do = _advice(source, source.statement(changes[0].line), one_line or changes)
    if one_line:
        return (
            f"Look at {look}. The same small change in several places of {it} makes it right{do}."
        )
    return f"The same small change in several places makes it right, first at {look}{do}."


def _by_statement(source: Source, lines: dict[int, list[Mutant]]) -> dict[tuple, list[Mutant]]:
    """The changes by first and last line of the statement in which they are."""
    places: dict[tuple, list[Mutant]] = {}
    for line, changes in lines.items():
        places.setdefault(source.statement(line), []).extend(changes)
    return places


def _advice(source: Source, lines: tuple[int, int], changes: list[Mutant]) -> tuple[str, str, str]:
    """Where to look, what that is, and what to do: of all changes to a statement the one of those
    that tell most that has the smallest part.
    """
    first, last = lines
    look, it, do = f"`{source.line(first)}`", "this line", ""
    if last > first:
        look, it = f"the statement that begins with {look}", "it"
    parts = [(change, _part(source, change)) for change in changes]
    shown = [(c, x) for c, x in parts if "{}" not in c.kind or 0 < len(x) <= LONGEST_PART]
    if shown:
        known = {kind: rank for rank, kind in enumerate(KINDS)}
        change, text = min(
            shown, key=lambda each: (known.get(each[0].kind, len(known)), len(each[1]))
        )
        do = f": {change.kind.format(_which(source, change, text))}"
        if change.kept is not None and text == source.text(change.part):
            do = f": leave only `{source.text(change.kept)}` of `{text}`"
        if last > first and change.part and change.part.lineno == change.part.end_lineno:
            look, it = f"`{source.line(change.part.lineno)}`", "this line"
    return look, it, do


_NTH = ("first", "second", "third", "fourth", "fifth")


def _which(source: Source, change: Mutant, text: str) -> str:
    """A part's text; where its line has several like it, also which of them is meant."""
    part = change.part
    if part is None or part.lineno != part.end_lineno or change.also:
        return f"`{text}`"
    line = source.lines[part.lineno - 1].split("  #")[0]
    first, last = (len(line.encode()[:n].decode()) for n in (part.col_offset, part.end_col_offset))
    begin, end = (r"(?<![\w.])" if text[0].isalnum() else "", r"(?!\w)" * text[-1].isalnum())
    places = [found.start() for found in re.finditer(begin + re.escape(text) + end, line)]
    inside = [n for n, start in enumerate(places) if first <= start < last]
    if len(places) < 2 or len(inside) != 1 or inside[0] >= len(_NTH):
        return f"`{text}`"
    return f"the {_NTH[inside[0]]} `{text}`"


def _part(source: Source, change: Mutant) -> str:
    """The text that is changed, or what is left out of it."""
    part = change.part
    if part is None:
        return source.line(change.line)
    text = source.text(part)
    if change.kept is not None:
        kept = source.text(change.kept)
        kept = f"({kept})" if f"({kept})" in text else kept
        before, _, after = text.partition(kept)
        rest = f"{before}{after}".strip(" ,")
        between = before.strip() and after.strip() and not kept.startswith("(")
        return text if between or not _whole(rest) else rest  # all of it: `kept` is told as well
    if isinstance(part, ast.Attribute) and not isinstance(part.value, ast.Name):
        return f".{part.attr}"
    return text


def _whole(text: str) -> bool:
    """Whether each bracket in it is closed, and none is closed that was not opened."""
    depths = itertools.accumulate((c in "([") - (c in ")]") for c in text)
    return all(depth >= 0 for depth in depths) and text.count("(") == text.count(")")


def both(first: str, second: str) -> str:
    """Two messages in one."""
    return f"Two things. First: {alone(first)} Second: {alone(second)}"


def alone(message: str) -> str:
    """What it says is wrong, without the beginning that says that the rest is right."""
    rest = re.sub(r"^(The [\w-]+) (is|are) right, but (they|it) ", r"\1 ", message)
    return re.sub(r"^The [\w-]+ (is|are) right, but (\w)", lambda m: m[2].upper(), rest)


class _Search:
    """Tries changed versions against what the reference does and what known mistakes do."""

    def __init__(self, exercise: Exercise, got: Outcome, failing: list[int], alarm: Alarm) -> None:
        self.exercise, self.got, self.failing, self.alarm = exercise, got, failing, alarm
        self.began = time.process_time(), time.monotonic()
        self.want = expected(exercise).observations
        others = [i for i in range(len(self.want)) if i not in failing]
        self.order = failing + others  # what tells most comes first

    def used(self) -> float:
        """The share of the time that is gone."""
        cpu, wall = time.process_time() - self.began[0], time.monotonic() - self.began[1]
        return max(cpu / SECONDS, wall / (1.5 * SECONDS))

    # --- two entries of the catalogue ---

    def two_known(self) -> list[tuple[Mistake, Mistake]]:
        """The pairs of mistakes that together do just what was seen."""
        reference = self.exercise.reference
        pairs: list[tuple[Mistake, Mistake]] = []
        for one, other in self._likeliest():
            if self.used() > 0.5:
                break
            version = _with_both(reference, one, other)
            if version is not None and self._does(version, self.got.observations):
                pairs.append((one, other))
        return pairs

    def _likeliest(self) -> list[tuple[Mistake, Mistake]]:
        """Pairs of entries: first those that together are wrong in most of the parts that are, and
        in the same way; of these first those of two that are likely by themselves.
        """
        scored: list[tuple[Mistake, set, set]] = []
        for tried in mistaken(self.exercise):
            if not tried.entry.spellings or self.used() > 0.3:
                continue
            known = [i for i in self.failing if i == self.failing[0] or tried.has(i)]
            seen = [self._agreement(i, tried.on(i)) for i in known]
            alike, wrong = (set().union(*each) for each in zip(*seen, strict=True))
            scored.append((tried.entry, alike, wrong))
        scored.sort(key=lambda each: (-len(each[1]), -len(each[2])))
        pairs = list(itertools.combinations(enumerate(scored), 2))

        def rank(pair: Any) -> tuple[int, int, int]:
            (i, (_, alike, wrong)), (j, (_, its_alike, its_wrong)) = pair
            return -len(alike | its_alike), -len(wrong | its_wrong), i + j

        return [(one[0], other[0]) for (_, one), (_, other) in sorted(pairs, key=rank)]

    def _agreement(self, case: int, did: Snapshot | Raised) -> tuple[set, set]:
        """Of the parts that are wrong: those in which a mistake is wrong in just that way, and
        those in which it is wrong at all.
        """
        got, want = self.got.observations[case], self.want[case]
        if isinstance(did, Raised) or isinstance(got, Raised) or isinstance(want, Raised):
            return set(), set()
        wrong = {d.where for d in unlike_here(self.exercise, want, got)}
        both_wrong = wrong & {d.where for d in unlike_here(self.exercise, want, did)}
        other = {d.where for d in unlike_here(self.exercise, did, got)}
        return {(case, x) for x in both_wrong - other}, {(case, x) for x in both_wrong}

    # --- changes of the student's own source ---

    def changes(self, source: Source) -> Found:
        """What comes of each small change of the source."""
        found, module = Found(), ast.Module([source.node], [])
        known, first = self._known(), self.order[0]
        shown: dict[Mistaken, bool] = {}
        surroundings = _without_outside(source.surroundings)
        for each in PASSES:
            left: dict[int, Mistaken] = {}  # changes that may leave a known mistake, by number
            for number, mutant in enumerate(_mutants(source.node, self.exercise.reference, [each])):
                if self.used() > 1:
                    break
                version = _made(module, surroundings, source.node.name)
                seen = version and self._try(version, first)
                if version is None or seen is None:
                    continue
                if not unlike_here(self.exercise, self.want[first], seen):
                    if self._does(version, self.want):
                        self._judge_properties(version, mutant, found)
                elif not (mutant.drops or mutant.also or isinstance(seen, Raised)):
                    for tried in known.get(_mark(seen), ()):
                        if tried not in shown:
                            shown[tried] = self._shows(tried)
                        if shown[tried] and self._does(version, [*tried.observations()]):
                            left[number] = tried
            if not (found.lines or found.in_several):
                self._leave_an_entry(source, surroundings, each, left, found)
        return found

    def _leave_an_entry(
        self,
        source: Source,
        surroundings: dict,
        each: Pass,
        left: dict[int, Mistaken],
        found: Found,
    ) -> None:
        """Of the changes that may leave a known mistake those after which another change helps."""
        for number, mutant in enumerate(_mutants(source.node, self.exercise.reference, [each])):
            if number > max(left, default=-1) or self.used() > 1:
                break
            if number in left and self._right_elsewhere(source, surroundings, mutant.line):
                where = left[number].entry.message, mutant.line
                found.but_an_entry.setdefault(where, []).append(mutant)

    def _right_elsewhere(self, source: Source, surroundings: dict[str, Any], line: int) -> bool:
        """Whether a second change, on another line, makes it right: else the first one may have
        made the mistake that it seems to leave.
        """
        module = ast.Module([source.node], [])
        for second in _mutants(source.node, self.exercise.reference, PASSES):
            if self.used() > 1:
                break
            if source.statement(second.line) != source.statement(line):
                version = _made(module, surroundings, source.node.name)
                if version and self._does(version, self.want):
                    return True
        return False

    def _judge_properties(self, version: Callable, mutant: Mutant, found: Found) -> None:
        """Right in its values: does it break nothing, or only what the student's version did?"""
        broken = self._within(2 * ONE_TRY, lambda: broken_properties(self.exercise, version))
        if mutant.also:
            found.in_several += [mutant] * (broken == {})
        elif broken == {}:
            found.lines.setdefault(mutant.line, []).append(mutant)
        elif broken and broken.keys() <= self.got.broken.keys():
            said = (each.message for each in self.exercise.properties if each.name in broken)
            found.but_a_property.setdefault((next(said), mutant.line), []).append(mutant)

    def _shows(self, tried: Mistaken) -> bool:
        """Whether a number is wrong in just this mistake's way, and none is right that would be
        wrong with it: else a change may have made it.
        """
        shown = False
        seen = zip(self.want, tried.observations(), self.got.observations, strict=True)
        for want, did, have in (map(_numbers, each) for each in seen):
            if want.size == did.size == have.size:
                right, its_right = (close(want, each, RTOL, ATOL) for each in (have, did))
                if (right & ~its_right).any():
                    return False
                shown |= bool((~right & close(did, have, RTOL, ATOL)).any())
        return shown

    def _known(self) -> dict[Any, list[Mistaken]]:
        """The mistakes, by their marks on the first case."""
        known: dict[Any, list[Mistaken]] = {}
        first = self.order[0]
        for tried in mistaken(self.exercise):
            if self.used() > 0.67:
                break
            seen = tried.on(first)
            if isinstance(seen, dict) and not self._agreement(first, seen)[0]:
                continue  # of the many parts that are looked at, not one shows this mistake
            if not isinstance(seen, Raised) and unlike_here(self.exercise, self.want[first], seen):
                known.setdefault(_mark(seen), []).append(tried)
        return known

    def _does(self, version: Callable, observations: list[Snapshot | Raised]) -> bool:
        """Whether a version does the same as these observations, on every case."""
        for i in self.order:
            seen = self._try(version, i)
            if seen is None or unlike_here(self.exercise, observations[i], seen):
                return False
        return True

    def _try(self, version: Callable, case: int) -> Snapshot | Raised | None:
        """What a version does on one case; None where it does not end."""
        return self._within(ONE_TRY, lambda: on_case(self.exercise, version, case, apart=False)[0])

    def _within(self, seconds: float, work: Callable[[], Any]) -> Any:
        """What `work` gives; None where it takes too long."""
        try:
            with self.alarm.set(seconds):
                return work()
        except KeyboardInterrupt:
            if self.alarm.rang:
                return None
            raise


def _with_both(reference: Callable, one: Mistake, other: Mistake) -> Callable | None:
    """The reference with two mistakes; None where neither leaves the place of the other's edit."""
    for first, second in ((one, other), (other, one)):
        with suppress(Exception):
            edits = [*first.spellings[0], *second.spellings[0]]
            return compiled(reference, apply(source_of_reference(reference), edits), TWO)
    return None


def _mutants(node: ast.AST, reference: Callable, passes: Sequence[Pass]) -> Iterator[Mutant]:
    """Changes of what the student wrote: methods that stand there as given are left alone."""
    given = ast.parse(source_of_reference(reference)).body[0]
    own, its = words_of(node), words_of(given)
    attributes = {
        name: own.attributes.get(name, set()) | its.attributes.get(name, set())
        for name in own.attributes.keys() | its.attributes.keys()
    }
    words = Words(own.names, attributes)
    if not isinstance(node, ast.ClassDef):
        yield from mutants(node, words, passes)
        return
    as_given = {ast.dump(each) for each in ast.walk(given) if isinstance(each, ast.FunctionDef)}
    for entry in node.body:
        if isinstance(entry, ast.FunctionDef) and ast.dump(entry) not in as_given:
            names = words_of(entry).names
            yield from mutants(entry, Words(names, attributes), passes)


def _made(module: ast.Module, surroundings: dict[str, Any], name: str) -> Callable | None:
    """What the changed code defines; None where it cannot be run at all."""
    namespace = dict(surroundings)
    try:
        exec(compile(module, "<a changed version>", "exec", dont_inherit=True), namespace)
    except (SyntaxError, ValueError, TypeError, NameError, AttributeError, RecursionError):
        return None
    return namespace.get(name)


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


def _mark(seen: Snapshot) -> Any:
    """The same for what `compare` finds equal, mostly another for what it does not."""
    numbers = _numbers(seen)
    texts = tuple(leaf.value for leaf in leaves(seen) if not leaf.numeric)
    return round(float(np.abs(numbers[np.isfinite(numbers)]).sum()), 3), texts


def _numbers(seen: Snapshot | Raised) -> np.ndarray:
    """All of them, in one row."""
    parts = [leaf.value.ravel().astype(float) for leaf in leaves(seen) if leaf.numeric]
    return np.concatenate([np.zeros(0), *parts])


@contextmanager
def _bare_folder() -> Iterator[None]:
    """An empty folder as the working directory, gone afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
