"""What came of the search for the wrong line, in words: where to look, and what kind of change."""

import ast
import math
import re
from dataclasses import dataclass, field

from helpers.checks.mutants import KINDS, Mutant
from helpers.checks.source import Source

ONE, TWO = "one line", "two mistakes"
LONGEST_PART = 60  # characters of a part of a line that is shown


@dataclass
class Found:
    """The lines on which one change makes it right, or leaves another mistake: its message.

    For each of them, the changes. `rank`: no less likely ones are looked for.
    """

    rank: float = math.inf
    lines: dict[int, list[Mutant]] = field(default_factory=dict)
    but_a_property: dict[tuple[str, int], list[Mutant]] = field(default_factory=dict)
    but_an_entry: dict[tuple[str, int], list[Mutant]] = field(default_factory=dict)


def told_of(source: Source, found: Found) -> tuple[str, str] | None:
    places = [_advice(source, *each) for each in sorted(_by_statement(source, found.lines).items())]
    match places:
        case [(look, it, do)]:
            return ONE, f"Look at {look}. A small change to {it} alone makes it right{do}."
        case [_, _] | [_, _, _]:
            each = " ".join(f"{look[0].upper()}{look[1:]}{do}." for look, _, do in places)
            return ONE, f"One small change makes it right, in one of these places. {each}"
    pairs = found.but_a_property or found.but_an_entry
    messages = {message for message, _ in pairs}
    left = _by_statement(source, {line: changes for (_, line), changes in pairs.items()})
    if places or len(messages) != 1 or len(left) != 1:
        return None
    look, _, do = _advice(source, *left.popitem())
    second = f"look at {look}, where a small change is needed as well{do}."
    return TWO, both(messages.pop(), second)


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
    shown = [each for each in parts if 0 < len(each[1]) <= LONGEST_PART]
    shown = shown or [(change, _ends(text)) for change, text in parts if text]
    if shown:
        known = {kind: rank for rank, kind in enumerate(KINDS)}
        change, text = min(
            shown, key=lambda each: (known.get(each[0].kind, len(known)), len(each[1]))
        )
        do = f": {change.kind.format(which(source, change, text))}"
        if last > first and change.part and change.part.lineno == change.part.end_lineno:
            look, it = f"`{source.line(change.part.lineno)}`", "this line"
    return look, it, do


def _ends(text: str) -> str:
    """The beginning and the end of a long part."""
    return f"{text[: LONGEST_PART // 2 - 3]} ... {text[3 - LONGEST_PART // 2 :]}"


_NTH = ("first", "second", "third", "fourth", "fifth")


def which(source: Source, change: Mutant, text: str) -> str:
    """A part's text; where its line has several like it, also which of them is meant."""
    part = change.part
    if part is None or part.lineno != part.end_lineno:
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
        if isinstance(part, ast.Call) and f"({kept}, " in text:
            return text.replace(kept, "...", 1)
        if isinstance(part, ast.Call) and change.kept in part.args:
            return f"{source.text(part.func)}(...)"
        kept = f"({kept})" if f"({kept})" in text else kept
        return text.replace(kept, "", 1).strip(" ,")
    if isinstance(part, ast.Attribute) and not isinstance(part.value, ast.Name):
        return f".{part.attr}"
    return text


def both(first: str, second: str) -> str:
    """Two messages in one."""
    return f"Two things. First: {alone(first)} Second: {alone(second)}"


def alone(message: str) -> str:
    """What it says is wrong, without the beginning that says that the rest is right."""
    rest = re.sub(r"^(The [\w-]+) (is|are) right, but (they|it) ", r"\1 ", message)
    return re.sub(r"^The [\w-]+ (is|are) right, but (\w)", lambda m: m[2].upper(), rest)
