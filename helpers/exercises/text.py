"""An exercise from its Markdown file: the card, the hints, the mistakes, other right answers.

# 2.5 Uphill on Q
difficulty 2, 6 minutes
bug: no minus             only where the student gets a mistake to find, in place of a blank
## What
## Why
## Hint 1
## Hint 2
## Messages          MINUS: a sentence that several messages share, filled in for {MINUS}
## Mistakes          each with a heading, its edits (see `edits`) and its message;
                     "also" begins another way to make the same mistake
## Properties        what to say where a property does not hold: its name and a message each
## Right answers     each with a heading and its edits

Messages and properties that several exercises share stand in `messages.md`, in the same way.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from helpers.checks.edits import Code, Diff, Edit, EditError
from helpers.checks.exercise import Card, Case, Exercise, Mistake, Property, Test, call

_PAIR = re.compile(r"`([^`]+)` -> (?:`([^`]*)`|nothing)")
_EDIT_LINE = re.compile(r"^(also )?(?:([\w ]+): )?(?=`[^`]+` -> (?:`|nothing))")
_NO_EDIT = re.compile(r"^(?:also )?(?:[\w ]+: )?`[^`]+` ?(?:->|=>|→)")  # meant for an edit
_FENCE = re.compile(r"^(also )?```(diff|python)$")
_TITLE = r"# ([\d.]+) (.+)\n+difficulty (\d), (\d+) minutes(?:\nbug: (.+))?"
HEADINGS = ("What", "Why", "Hint 1", "Hint 2")
_SHARED = Path(__file__).with_name("messages.md")


def exercise(
    file: str,
    exercise_id: str,
    reference: Callable,
    cases: Callable[[np.random.Generator], Iterable[Case]],
    observe: Callable[..., Any] = call,
    properties: Mapping[str, Test] | None = None,
    **how: Any,
) -> Exercise:
    """The exercise whose card, hints and mistakes stand beside `file` in `<id>_<name>.md`.

    `properties` are tests by their names, under which the file has their messages. `how` it is
    tried besides, `output`, `rtol` and `atol`, is explained at `Exercise`.
    """
    folder, tests = Path(file).parent, properties or {}
    path = folder / f"{exercise_id}_{reference.__name__}.md"
    text = read(path, reference, tests)
    if text.id != exercise_id:
        raise EditError(f"{path.name}: it begins with `# {text.id}`, its name with {exercise_id}.")
    return Exercise(
        id=text.id,
        lesson=folder.name.removeprefix("lesson_"),
        reference=reference,
        card=text.card,
        hints=text.hints,
        cases=cases,
        mistakes=text.mistakes,
        right=text.right,
        observe=observe,
        properties=[Property(name, tests[name], said) for name, said in text.properties.items()],
        bug=text.bug,
        **how,
    )


@dataclass(frozen=True)
class Edits:
    """What stands under a heading: an edit or several, the same in other words, and a text."""

    spellings: list[list[Edit | Diff | Code]]
    words: str


@dataclass(frozen=True)
class Text:
    """What an exercise's file says. `properties` has a message for each that is tested."""

    id: str
    card: Card
    hints: tuple[str, str]
    mistakes: list[Mistake]
    right: list[Mistake]
    properties: dict[str, str]
    bug: str


def read(path: Path, reference: Callable, tested: Collection[str] = ()) -> Text:
    """Read a file; `tested` are its properties' names.

    Raises `EditError` that names the file and what is wrong with it.
    """
    if not path.is_file():
        raise EditError(f"{path.name}: not in {path.parent.name}; it is called `ID_FUNCTION.md`.")
    try:
        return _read(path.read_text(encoding="utf-8"), reference, tested)
    except (EditError, KeyError, ValueError) as error:
        raise EditError(f"{path.name}: {error}") from error


def _read(text: str, reference: Callable, tested: Collection[str]) -> Text:
    head, sections = split(text, "## ")
    title = re.match(_TITLE, head)
    if not title:
        raise EditError("The first lines are `# 1.2 Title` and `difficulty 2, 6 minutes`.")
    for heading in (*HEADINGS, "Mistakes", "Right answers"):
        if heading not in sections:
            raise EditError(f"There is no heading `## {heading}`.")
    shared, all_shared = split(_SHARED.read_text(encoding="utf-8"), "## ")
    messages = _messages(shared) | _messages(sections.get("Messages", ""))
    what, why, *hints = (_flowing(sections[heading]) for heading in HEADINGS)
    own, said = (split(each.get("Properties", ""), "### ")[1] for each in (sections, all_shared))
    said |= own
    if wrong := (set(tested) - said.keys()) | (own.keys() - set(tested)):
        raise EditError(f"Each property has a test and a message: {', '.join(sorted(wrong))}.")
    mistakes, bug = _entries(sections["Mistakes"], reference, messages), title[5] or ""
    if bug and bug not in {mistake.name for mistake in mistakes}:
        raise EditError(f"The bug is a mistake of its list, and {bug!r} is none.")
    return Text(
        title[1],
        Card(title[2], what, why, int(title[3]), int(title[4])),
        (hints[0], hints[1]),
        mistakes,
        _entries(sections["Right answers"], reference, messages),
        {name: _filled(_flowing(said[name]), messages) for name in tested},
        bug,
    )


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
    """Lines of a paragraph as one; paragraphs, tables and lists kept."""
    parts = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(x if x.startswith(("| ", "- ")) else " ".join(x.split()) for x in parts)


def _entries(section: str, reference: Callable, messages: dict[str, str]) -> list[Mistake]:
    entries = [(name, read_entry(text)) for name, text in split(section, "### ")[1].items()]
    for name, entry in entries:
        if not all(entry.spellings):
            raise EditError(f"{name}: it has no edit: a line such as `old` -> `new`, or a block.")
    return [
        Mistake(name, _filled(entry.words, messages), reference, entry.spellings)
        for name, entry in entries
    ]


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
            if rest := _PAIR.sub("", line[start.end() :]).strip(" ,"):
                raise EditError(f"{rest!r} belongs to none of the edits in: {line}")
            edits = [Edit(old, new, start[2] or "") for old, new in _PAIR.findall(line)]
        elif _NO_EDIT.match(line):
            raise EditError(f"{line!r} is no edit: write `old` -> `new` or `old` -> nothing.")
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
