"""What came of the search for the wrong line, in words: where to look, and what kind of change."""

import ast
import math
import re
from dataclasses import dataclass, field

from helpers.checks.context import Diagnosis
from helpers.checks.exercise import Mistake
from helpers.checks.mutants import KINDS, Mutant
from helpers.checks.source import Source

ONE, TWO = "one line", "two mistakes"
LONGEST_PART = 60  # characters of a part of a line that is shown


@dataclass
class Found:
    """The lines on which one change makes it right, or right but for a property: its message.

    For each of them, the changes. `rank`: no less likely ones are looked for. `in_several`: the
    same change in several places makes it right.
    """

    rank: float = math.inf
    in_several: list[Mutant] = field(default_factory=list)
    lines: dict[int, list[Mutant]] = field(default_factory=dict)
    but_a_property: dict[tuple[str, int], list[Mutant]] = field(default_factory=dict)


def told_of(source: Source, found: Found) -> Diagnosis | None:
    """None where nothing was found, or in too many places."""
    places = [_advice(source, *each) for each in sorted(_by_statement(source, found.lines).items())]
    message = None
    match places:
        case [(look, it, do)]:
            message = f"Look at {look}. A small change to {it} alone makes it right{do}."
        case [_, _] | [_, _, _]:
            each = " ".join(f"{look[0].upper()}{look[1:]}{do}." for look, _, do in places)
            message = f"One small change in one of these places makes it right. {each}"
        case [] if found.in_several:
            line = source.statement(found.in_several[0].line)
            look, _, do = _advice(source, line, found.in_several)
            start = "The same small change in several places makes it right, first at"
            message = f"{start} {look}{do}."
    if message:
        return Diagnosis(ONE, message)
    pairs = found.but_a_property
    messages = {message for message, _ in pairs}
    left = _by_statement(source, {line: changes for (_, line), changes in pairs.items()})
    if places or len(messages) != 1 or len(left) != 1:
        return None
    look, _, do = _advice(source, *left.popitem())
    second = f"look at {look}, where a small change is needed as well{do}."
    return Diagnosis(TWO, both(messages.pop(), second))


def told_of_pairs(pairs: list[tuple[Mistake, Mistake]]) -> Diagnosis | None:
    """Both mistakes; where several pairs do the same, what all of them have in common."""
    if not pairs:
        return None
    said = {frozenset((one.message, other.message)) for one, other in pairs}
    if len(said) == 1:
        return Diagnosis(TWO, both(pairs[0][0].message, pairs[0][1].message))
    in_all = frozenset.intersection(*said)
    if not in_all:
        return None
    more = "Then run the check again: something else may be wrong as well."
    return Diagnosis(TWO, f"Begin with this: {alone(*in_all)} {more}")


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
    shown = shown or [(change, _ends(text)) for change, text in parts if text]
    if shown:
        known = {kind: rank for rank, kind in enumerate(KINDS)}
        change, text = min(
            shown, key=lambda each: (known.get(each[0].kind, len(known)), len(each[1]))
        )
        do = f": {change.kind.format(which(source, change, text))}"
        places = {*change.also, change.part.lineno, change.part.end_lineno} if change.part else ()
        if last > first and len(places) == 1 and change.part:
            look, it = f"`{source.line(change.part.lineno)}`", "this line"
    return look, it, do


def _ends(text: str) -> str:
    """The beginning and the end of a long part."""
    return f"{text[: LONGEST_PART // 2 - 3]} ... {text[3 - LONGEST_PART // 2 :]}"


_NTH = ("first", "second", "third", "fourth", "fifth")


def which(source: Source, change: Mutant, text: str) -> str:
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
    """The text that is changed, or what is left out of it: `/ 2`, `np.clip(..., -1, 1)`."""
    part = change.part
    if part is None:
        return source.line(change.line)
    text = source.text(part)
    if change.kept is not None:
        before, after = _around(source, part, change.kept)
        between = "..." if before.strip() and after.strip() else ""
        return f"{before}{between}{after}".strip()
    if isinstance(part, ast.Attribute) and not isinstance(part.value, ast.Name):
        return f".{part.attr}"
    return text


def _around(source: Source, part: ast.expr, kept: ast.expr) -> tuple[str, str]:
    """What stands before and after a piece of a part."""
    text, piece = source.text(part), source.text(kept)
    if part.lineno == part.end_lineno:
        line = source.lines[part.lineno - 1].encode()
        before = line[part.col_offset : kept.col_offset].decode()
        after = line[kept.end_col_offset : part.end_col_offset].decode()
    else:
        before, _, after = text.partition(piece)
    if before.endswith("(") and after.startswith(")"):
        before, after = before[:-1], after[1:]
    return before, after


def both(first: str, second: str) -> str:
    """Two messages in one."""
    return f"Two things are wrong. First: {alone(first)} Second: {alone(second)}"


def alone(message: str) -> str:
    """What it says is wrong, without the beginning that says that the rest is right."""
    rest = re.sub(r"^(The [\w-]+) (is|are) right, but (they |it |(?=ha[sv]))", r"\1 ", message)
    return re.sub(r"^The [\w-]+ (is|are) right, but (\w)", lambda m: m[2].upper(), rest)
