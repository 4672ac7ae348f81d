"""Reads an exercise's Markdown file: the card, the hints, the mistakes, other right answers.

# 2.4 Uphill on Q
difficulty 2, 6 minutes
## What
## Why
## Hint 1
## Hint 2
## Messages          MINUS: a sentence that several messages share, filled in for {MINUS}
## Mistakes          each with a heading, its edits (see `edits`) and its message;
                     "also" begins another spelling of the same mistake
## Right answers     each with a heading and its edits
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from helpers.checks.edits import Code, Diff, Edit, EditError, edited

_PAIR = re.compile(r"`([^`]+)` -> (?:`([^`]*)`|nothing)")
_EDIT_LINE = re.compile(r"^(also )?(?:([\w ]+): )?(?=`[^`]+` -> (?:`|nothing))")
_FENCE = re.compile(r"^(also )?```(diff|python)$")
_SHARED = Path(__file__).resolve().parents[1] / "exercises" / "messages.md"


@dataclass(frozen=True)
class Mistake:
    """A wrong version that somebody could write, and what to tell them.

    `spellings` are lists of edits of the reference: the first is the mistake, the others the same
    in other words.
    """

    name: str
    message: str
    reference: Callable
    spellings: list[list[Edit | Diff | Code]] = field(default_factory=list)

    @cached_property
    def function(self) -> Callable:
        """The wrong version. Raises `EditError` if an edit cannot be made."""
        return self.spelled(0)

    def spelled(self, number: int) -> Callable:
        """The wrong version in its other words."""
        return edited(self.reference, self.spellings[number], self.name)


@dataclass(frozen=True)
class Edits:
    """What stands under a heading: an edit or several, the same in other words, and a text."""

    spellings: list[list[Edit | Diff | Code]]
    words: str


@dataclass(frozen=True)
class Text:
    """What an exercise's file says."""

    id: str
    title: str
    difficulty: int
    minutes: int
    what: str
    why: str
    hints: tuple[str, str]
    mistakes: list[Mistake]
    right: list[Mistake]


def read(path: Path, reference: Callable) -> Text:
    """Read a file. Raises `EditError` that names the file and what is wrong with it."""
    try:
        return _read(path.read_text(encoding="utf-8"), reference)
    except (EditError, KeyError, ValueError) as error:
        raise EditError(f"{path.name}: {error}") from error


def _read(text: str, reference: Callable) -> Text:
    head, sections = split(text, "## ")
    title = re.match(r"# ([\d.]+) (.+)\n+difficulty (\d), (\d+) minutes", head)
    if not title:
        raise EditError("The first lines are `# 1.2 Title` and `difficulty 2, 6 minutes`.")
    messages = _messages(_SHARED.read_text(encoding="utf-8")) if _SHARED.exists() else {}
    messages |= _messages(sections.get("Messages", ""))
    parts = {name: _flowing(sections[name]) for name in ("What", "Why", "Hint 1", "Hint 2")}
    return Text(
        title[1], title[2], int(title[3]), int(title[4]), parts["What"], parts["Why"],
        (parts["Hint 1"], parts["Hint 2"]),
        _entries(sections.get("Mistakes", ""), reference, messages),
        _entries(sections.get("Right answers", ""), reference, messages),
    )  # fmt: skip


def split(text: str, mark: str) -> tuple[str, dict[str, str]]:
    """What stands before the first heading of this level, and each heading with what follows."""
    head, *rest = re.split(rf"^{re.escape(mark)}(.+)\n", text, flags=re.MULTILINE)
    names = rest[::2]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise EditError(f"Two entries are called {', '.join(sorted(doubled))}.")
    return head, dict(zip(names, rest[1::2], strict=True))


def _messages(text: str) -> dict[str, str]:
    """`NAME: text` paragraphs."""
    found = re.findall(r"^([A-Z][A-Z_0-9]+): (.+?)(?=\n\n|\Z)", text.strip(), re.M | re.S)
    return {name: _flowing(words) for name, words in found}


def _flowing(text: str) -> str:
    """Lines of a paragraph as one, paragraphs kept."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def _entries(section: str, reference: Callable, messages: dict[str, str]) -> list[Mistake]:
    _, entries = split(section, "### ")
    return [
        _entry(name.strip(), text, reference, messages) for name, text in entries.items()
    ]  # fmt: skip


def _entry(name: str, text: str, reference: Callable, messages: dict[str, str]) -> Mistake:
    entry = read_entry(text)
    return Mistake(name, _filled(entry.words, messages), reference, entry.spellings)


def read_entry(text: str) -> Edits:
    """Edits, their other spellings, and the words between them."""
    spellings: list[list[Edit | Diff | Code]] = [[]]
    words: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if start := _FENCE.match(line):
            block = list(takewhile(lambda inside: inside != "```", lines))
            edits: list[Edit | Diff | Code] = [_block(start[2], block)]
        elif start := _EDIT_LINE.match(line):
            edits = [Edit(old, new, start[2] or "") for old, new in _PAIR.findall(line)]
        else:
            words.append(line)
            continue
        if start[1]:
            spellings.append([])
        spellings[-1] += edits
    return Edits(spellings, _flowing("\n".join(words)))


def _block(kind: str, lines: list[str]) -> Diff | Code:
    if kind == "python":
        return Code("\n".join(lines))
    return Diff(tuple(line for line in lines if line.strip()))


def _filled(message: str, messages: dict[str, str]) -> str:
    def known(match: re.Match) -> str:
        if match[1] not in messages:
            raise EditError(f"There is no message called {match[1]}.")
        return messages[match[1]]

    return re.sub(r"\{([A-Z][A-Z_0-9]+)\}", known, message)
