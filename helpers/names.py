"""What settings and methods are called in other libraries, and what they are called here.

NAMES.md, in the course's folder, has the tables: a row for each name, with what it is called here
and a note. Errors quote these rows.
"""

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

PAGE = Path(__file__).resolve().parent.parent / "NAMES.md"


@dataclass(frozen=True)
class Name:
    """`name` is called `here` (one or more names, or none at all); `words` say more.

    `section` is the heading above the table, such as "Settings".
    """

    name: str
    here: tuple[str, ...]
    words: str
    section: str


def read_names(text: str) -> dict[str, Name]:
    """The rows of NAMES.md's tables of names, by name; the first row of a name counts."""
    names: dict[str, Name] = {}
    section = ""
    for line in text.partition("\n## Defaults")[0].splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if line.startswith("| `"):
            there, here, words = [cell.strip() for cell in line.strip("|").split("|")][:3]
            for name in re.findall(r"`(\w+)`", there):
                ours = tuple(re.findall(r"`(\w+)`", here))
                names.setdefault(name, Name(name, ours, words.replace("`", ""), section))
    return names


# Where somebody has copied this folder alone there is no page, and errors name what is near.
NAMES = read_names(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}


def unknown(taker: str, name: str, known: Collection[str], others: Collection[str] = ()) -> str:
    """The sentence for a keyword that `taker` does not take: what to write in its place.

    `known` are those that it takes, `others` those that something else of ours takes.
    """
    there = NAMES.get(name)
    if there is not None and not there.here:
        return f"{taker} takes no {name}: {there.words}."
    if there is not None:
        also = f" ({there.words})" if there.words else ""
        if fitting := [each for each in there.here if each in known]:
            return f"{name} is called {' and '.join(fitting)} here{also}."
        if name in there.here:
            return f"{taker} takes no {name}, others here do{also}."
        return f"{taker} takes no {name}, which is called {' or '.join(there.here)} here{also}."
    if name in others:
        return f"{taker} takes no {name}, others here do."
    # With Python's own cutoff, 0.6, `sigma` would be answered with `gamma`.
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    if near:
        return f"{taker} takes no {name}: write {near[0]}, if that is meant."
    return f"{taker} takes no {name}; it takes: {', '.join(known)}."


def check_names(
    taker: str, names: Collection[str], known: Collection[str], others: Collection[str] = ()
) -> None:
    """Raise `TypeError` for keywords that `taker` does not take, as `unknown` says it of each."""
    if wrong := [unknown(taker, name, known, others) for name in names if name not in known]:
        raise TypeError(" ".join(wrong))


def explained(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """A method or function that says of a keyword that it does not take what it is called here."""
    known = [name for name in inspect.signature(method).parameters if name != "self"]
    name = method.__name__

    @functools.wraps(method)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        if kwargs:
            taker = type(args[0]).__name__ if name == "__init__" else name
            check_names(taker, kwargs, known)
        return method(*args, **kwargs)

    return called


def is_elsewhere(name: str, agent: object) -> bool:
    """Whether `name` is a setting of another library, or what it calls something of the agent's."""
    there = NAMES.get(name)
    return there is not None and (
        there.section == "Settings" or any(hasattr(agent, each) for each in there.here)
    )
