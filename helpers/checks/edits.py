"""A mistake as an edit of the course's version: `old` -> `new`, or a definition in its place.

    `torch.minimum(q1, q2)` -> `torch.maximum(q1, q2)`
    step 2: `values` -> `rewards`               only in what follows the comment `# 2.`
    sample: `self.position` -> `0`              only in the method `sample`
    `.detach()` -> nothing

Several edits on one line or on several belong together. Where lines are added or moved, a block of
the kind `diff` shows them; where no edit can say it, a block of the kind `python` defines the
function anew, or those methods of the class that are different; `reference` is the right version
there (`reference(x)`, `reference.update(self, batch)`).
"""

import ast
import copy
import inspect
import itertools
import linecache
import math
import random
import re
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.algorithms.ddpg import start_small
from helpers.algorithms.reinforce import make_actor

# What code of a mistake may name beside what the reference's own module knows.
NAMES = {
    "np": np, "torch": torch, "nn": nn, "F": F, "math": math, "random": random, "copy": copy,
    "itertools": itertools, "deque": deque, "make_actor": make_actor, "start_small": start_small,
}  # fmt: skip
_STEP = re.compile(r"\s*# (\d+)\.")


class EditError(ValueError):
    """An edit that cannot be made; the message says why and which."""


@dataclass(frozen=True)
class Edit:
    """In the lines of one method or step (`where`; "" for everywhere), `old` becomes `new`."""

    old: str
    new: str
    where: str = ""

    def applied(self, source: str) -> str:
        """The source after the edit. Raises `EditError` unless `old` stands there exactly once."""
        first, last = _region(source, self.where)
        lines = source.splitlines(keepends=True)
        inside = "".join(lines[first:last])
        if (count := inside.count(self.old)) != 1:
            place = f" in {self.where}" if self.where else ""
            way = "name a step or method, or take more of the line" if count else "copy it as it is"
            raise EditError(f"`{self.old}` stands {count} times{place}, not once: {way}.")
        return "".join(lines[:first]) + inside.replace(self.old, self.new) + "".join(lines[last:])


@dataclass(frozen=True)
class Diff:
    """Lines with -, + or a space in front: those of - and of the space are found, in one piece."""

    lines: tuple[str, ...]

    def applied(self, source: str) -> str:
        """The source after the edit. Raises `EditError` unless the lines are there exactly once."""
        wanted = [line[1:].strip() for line in self.lines if line[0] in "- "]
        present = source.splitlines()
        stripped, size = [line.strip() for line in present], len(wanted)
        found = [i for i in range(len(present)) if stripped[i : i + size] == wanted]
        if len(found) != 1 or not wanted:
            raise EditError(f"The lines {wanted} stand {len(found)} times, not once.")
        [start] = found
        anchor = next(line[1:] for line in self.lines if line[0] in "- ")
        shift = _indent(present[start]) - _indent(anchor)
        new = [
            " " * (_indent(line[1:]) + shift) + line[1:].strip()
            for line in self.lines
            if line[0] in "+ "
        ]
        return "\n".join([*present[:start], *new, *present[start + len(wanted) :]]) + "\n"


@dataclass(frozen=True)
class Code:
    """Definitions in place of the reference's own: all of it, or some methods of a class."""

    text: str

    def applied(self, source: str) -> str:
        """The source with the definitions in it."""
        name, is_class = _definition(source)
        kinds = ast.FunctionDef | ast.ClassDef
        defined = [x.name for x in ast.parse(self.text).body if isinstance(x, kinds)]
        if not is_class or name in defined:
            if name not in defined:
                raise EditError(f"The code defines {', '.join(defined)}, not {name}.")
            return self.text + "\n"
        return source + "\n" + textwrap.indent(self.text, "    ") + "\n"  # the later one counts


def apply(source: str, edits: Sequence[Edit | Diff | Code]) -> str:
    """The source after all the edits. Raises `EditError` if one cannot be made."""
    for edit in sorted(edits, key=lambda edit: isinstance(edit, Code)):
        source = edit.applied(source)
    return source


@cache
def source_of_reference(reference: Callable) -> str:
    """The course's version as it stands in its file, without indentation."""
    return textwrap.dedent(inspect.getsource(reference))


def compiled(
    reference: Callable, source: str, label: str, names: dict[str, Any] | None = None
) -> Callable:
    """What `source` defines under the reference's name, in the reference's own surroundings.

    `label` stands in tracebacks in place of a file. Raises `EditError` if it is no Python.
    """
    surroundings = vars(sys.modules[reference.__module__])
    namespace = {**NAMES, **surroundings, "reference": reference, **(names or {})}
    filename = f"<{label}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    except SyntaxError as error:
        raise EditError(f"{label}: the code is no Python ({error}).") from error
    return namespace[reference.__name__]


def edited(reference: Callable, edits: Sequence[Edit | Diff | Code], label: str) -> Callable:
    """The reference with the edits made. Raises `EditError` if one cannot be made."""
    try:
        source = apply(source_of_reference(reference), edits)
    except EditError as error:
        raise EditError(f"{label}: {error}") from None
    return compiled(reference, source, label)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _definition(source: str) -> tuple[str, bool]:
    node: Any = ast.parse(source).body[0]
    return node.name, isinstance(node, ast.ClassDef)


def _region(source: str, where: str) -> tuple[int, int]:
    """First and last line of a method, of a numbered step, or of a step of a method."""
    count = len(source.splitlines())
    first, last = 0, count
    method, _, step = where.partition(" step ") if " step " in where else (where, "", "")
    if method.startswith("step "):
        method, step = "", method.removeprefix("step ")
    if method:
        functions = [x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.FunctionDef)]
        bodies = [node for node in functions if node.name == method]
        if len(bodies) != 1:
            raise EditError(f"There are {len(bodies)} methods called {method}.")
        first, last = bodies[0].lineno - 1, bodies[0].end_lineno or count
    if step:
        lines = source.splitlines()
        numbers = {i: m[1] for i in range(first, last) if (m := _STEP.match(lines[i]))}
        starts = [i for i, number in numbers.items() if number == step]
        if len(starts) != 1:
            raise EditError(f"There are {len(starts)} steps with the number {step}.")
        following = [i for i in numbers if i > starts[0]]
        first, last = starts[0], min(following, default=last)
    return first, last
