"""The rule for an answer that stops with an error: what that mostly means here.

`errors.md` has what holds of any line; here stands what takes a look at the answer's own names.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.checks.advice import ONE
from helpers.checks.context import Context, Diagnosis
from helpers.checks.remarks import what_cuts
from helpers.checks.repair import explain
from helpers.checks.running import Raised
from helpers.checks.source import attributes, listed
from helpers.checks.words import tell

_CALL = "Brackets are missing: `x.mean` is the function itself, `x.mean()` calls it."
_LATER = "Its values are not computed yet: `list(...)` computes them all."
_TYPES = {  # of what is returned -> what that mostly means here
    **dict.fromkeys(("method", "builtin_function_or_method"), _CALL),
    **dict.fromkeys(("generator", "map", "zip", "filter"), _LATER),
}
_MEANINGS = Path(__file__).with_name("errors.md")
_ENTRY = re.compile(r"^### `(.+)`\n((?:.+\n)+)", re.MULTILINE)
_BEYOND = re.compile(r"is out of bounds for axis (\d+) with size ([1-9]\d*)")
_NUMBERED = (
    "Axis {} has length {} here, so the last index along it is {}: was yours made for another "
    "axis, or for a longer one, or does it have to stop there?"
)
_NAME = r"([A-Z]\w+)"
_NO_TENSOR_BUT = re.compile(rf"must be Tensor, not {_NAME}|'{_NAME}'(?= and)|and '{_NAME}'")
_HAS_NO = re.compile(rf"'{_NAME}' object has no attribute '(\w+)'")
_CALLED = re.compile(rf"\bnn\.{_NAME}\((?!\))")
_MADE_OF_A_TENSOR = ("Boolean value of Tensor", "__init__() takes", "<class 'torch.Tensor'>")
_NOT_FOUND = re.compile(
    r"^(?:name|'([\w.]+)' object has no attribute|module '([\w.]+)' has no attribute) '(\w+)'"
)
_PLAIN = ("NoneType", "int", "float", "str", "list", "tuple", "dict", *_TYPES)
_OF_LIBRARIES = {"numpy.ndarray": ("np", np, np.ndarray), "Tensor": ("torch", torch, torch.Tensor)}


def error(c: Context) -> Diagnosis | None:
    """Stopped with an error, or did not where it should."""
    if c.first.kind == "did not raise":
        want: Raised = c.first.expected
        message = f"Here {c.name} should stop with a `{want.type.__name__}`, but yours goes on."
        return Diagnosis("no error", message)
    if c.first.kind != "raised":
        return None
    it: Raised = c.first.got
    said = meanings(it) + of_names(c, it)
    name, start = "error", f"Your function stopped with {tell(it)}."
    if it.line is None:
        said = said or _returned(it, c.exercise.reference) or _what_it_needs(it)
        name, start = "unusable output", f"The result of {c.name} could not be used: {tell(it)}."
    if not said and it.type is not NameError:  # which says all that there is to say
        found = explain(c)
        said = [found.message] if found and found.name == ONE else _what_it_needs(it)
    return Diagnosis(name, " ".join([start, *said]))


# --- What holds of any line -----------------------------------------------------------------------


@cache
def _meanings() -> list[tuple[str, str]]:
    """Patterns, and what each mostly means."""
    found = _ENTRY.findall(_MEANINGS.read_text(encoding="utf-8"))
    return [(pattern, " ".join(text.split())) for pattern, text in found]


def meanings(error: Raised) -> list[str]:
    """Sentences for what an error says, and for the line on which it came up."""
    if name := _module_not_called(error):
        return [
            f"`nn.{name}` is a module: it is made first and then called, as in `nn.Tanh()(x)`. "
            "`torch.nn.functional` has functions that you call directly."
        ]
    said = f"{error.text}\n{error.source}"
    tried = ((re.search(pattern, said), text) for pattern, text in _meanings())
    return list(dict.fromkeys(text.format(*found.groups()) for found, text in tried if found))


def _what_it_needs(error: Raised) -> list[str]:
    """Of an index beyond the end or an error of one's own, where no change explains it better."""
    if beyond := _BEYOND.search(error.text):
        return [_NUMBERED.format(*beyond.groups(), int(beyond[2]) - 1)]
    if "list index out of range" in error.text:
        return ["The list has fewer entries than that: can it have a single one, or none?"]
    if error.innermost and error.source.startswith(("raise ", "assert ")):
        return [f"Your own `{error.source.split()[0]}` stops it here: look at its condition."]
    return []


def _module_not_called(error: Raised) -> str | None:
    """A layer, an activation or a loss of `torch.nn` that is used as if it were a function."""
    names = [name for found in _NO_TENSOR_BUT.findall(error.text) for name in found]
    names += [name for name, what in _HAS_NO.findall(error.text) if hasattr(torch.Tensor, what)]
    if any(words in error.text for words in _MADE_OF_A_TENSOR):
        names += _CALLED.findall(error.source)
    kinds = ((name, getattr(nn, name, None)) for name in names)
    return next(
        (n for n, kind in kinds if isinstance(kind, type) and issubclass(kind, nn.Module)), None
    )


def _returned(error: Raised, reference: Callable) -> list[str]:
    """Of an output that a check could not use: its type, and the one that is asked for."""
    found = re.match(r"'(\w+)' object", error.text)
    kind = inspect.signature(reference).return_annotation
    plain = inspect.isclass(kind) and kind not in (Any, inspect.Signature.empty)
    if not found or not plain or kind.__name__ == found[1]:
        return []
    comma = " A comma after a value makes a tuple of it." * (found[1] == "tuple")
    asked = f"A `{kind.__name__}`, or a part of it, is needed where yours has a `{found[1]}`."
    return [asked + comma]


# --- On another case, and of another type ---------------------------------------------------------


def stops_elsewhere(c: Context) -> list[str]:
    """A later case may stop with an error, which says more than a number."""
    for case, d in c.all_differences():
        if d.kind == "raised":
            on = c.exercise.inputs[case].note or "another case"
            return [" ".join([f"On {on} it stops with {tell(d.got)}.", *meanings(d.got)])]
    return []


def on_types(shown: str) -> list[str]:
    """What a type means that stands in a sentence about somebody's output."""
    names = re.findall(r"of type `?(\w+)", shown)
    return [_TYPES[name] for name in names if name in _TYPES][:1]


# --- What is called otherwise, or not there ------------------------------------------------------


def of_names(c: Context, error: Raised) -> list[str]:
    """A sentence for what is looked for and not found, or called as it cannot be."""
    if "does not have a grad_fn" in error.text:
        return [f"No gradient reaches what it is taken of: {what_cuts(c)}."]
    found = _NOT_FOUND.search(error.text)
    if found is None:
        return _other_first_line(c, error)
    owner, module, name = found.groups()
    around = c.source.surroundings if c.source else {}
    if owner and f".{name}(" in error.source and callable(around.get(name)):
        return [f"`{name}` is a function, not a method: leave out what is before the dot."]
    if fields := getattr(around.get(owner), "_fields", ()):
        return [f"A `{owner}` has {listed(fields)}."]
    tree = ast.Module([*c.given.body, *([c.source.node] if c.source else [])], [])
    told: str | None
    if module:
        told = _alike(name, {*dir(sys.modules.get(module))}, f"{module.split('.')[-1]}.")
    elif owner in {None, *(x.name for x in ast.walk(tree) if isinstance(x, ast.ClassDef))}:
        told = _own_name(c, name, owner is None, tree)
    else:
        told = _of_a_library(owner, name, error.source)
    return [told] if told else []


def _own_name(c: Context, name: str, bare: bool, tree: ast.Module) -> str | None:
    """Not found in the answer itself: `bare`, or in `self`."""
    kept = {each[5:] for context in (ast.Load, ast.Store) for each in attributes(tree, context)}
    names = [x for x in ast.walk(tree) if isinstance(x, ast.Name)]
    if bare and name in kept:
        return f"What belongs to the object needs `self.`: write `self.{name}`."
    if bare:
        arguments = {x.arg for x in ast.walk(tree) if isinstance(x, ast.arg)}
        told = _alike(name, arguments | {x.id for x in names})
        if told or inspect.isclass(c.exercise.reference):
            return told
        taken = listed(inspect.signature(c.exercise.reference).parameters)
        return f"Your function is given {taken} alone." if len(name) > 1 else None
    if any(x.id == name and isinstance(x.ctx, ast.Store) for x in names):
        return f"A plain `{name}` is lost when the method ends: write `self.{name} = ...`."
    return _alike(name, kept, "self.")


def _of_a_library(owner: str, name: str, line: str) -> str | None:
    """Not found in an array or a tensor, or in what was taken for one; `line` is the student's."""
    short, library, kind = _OF_LIBRARIES.get(owner, ("", None, None))
    if callable(getattr(library, name, None)):
        return f"`{short}.{name}` is a function, not a method, and returns something new."
    if kind or not hasattr(torch.Tensor, name) or hasattr(nn, owner) or owner in _PLAIN:
        return _alike(name, {*dir(kind)}, ".") if kind and name in line else None
    return f"A `{owner}` is no tensor: did you mean what it returns, or one of its parts?"


def _alike(name: str, known: set[str], before: str = "") -> str | None:
    """The one of the known names that differs by a letter or two, by capitals or underscores."""
    others = sorted(known - {name}, key=lambda x: (-len(x), x))  # the shortest one comes last
    plain = {x.replace("_", "").lower(): x for x in others if not x.startswith("_")}
    near = get_close_matches(name.replace("_", "").lower(), plain, 1, 0.75)
    return f"Did you mean `{before}{plain[near[0]]}`?" if near else None


def _other_first_line(c: Context, error: Raised) -> list[str]:
    """A method that takes other arguments than the course's, as without `self`."""
    found = re.search(r"\w\.(\w+)\(\) (?:takes|missing)", error.text)
    if not (found and inspect.isclass(c.function) and inspect.isclass(c.exercise.reference)):
        return []
    own, given = (vars(each).get(found[1]) for each in (c.function, c.exercise.reference))
    if not (inspect.isfunction(own) and inspect.isfunction(given)):
        return []
    takes, wanted = ([*inspect.signature(each).parameters] for each in (own, given))
    own_line, its_line = (f"{found[1]}({', '.join(names)})" for names in (takes, wanted))
    return [f"The exercise has `{its_line}`, yours begins with `{own_line}`."] * (takes != wanted)
