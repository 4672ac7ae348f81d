"""The source of a student's function or class, wherever it was written: a cell, a file, a shell."""

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Source:
    """A definition as it was written, and the names that it finds around it."""

    node: Definition
    lines: list[str]  # of the whole cell or file
    surroundings: dict[str, Any]

    def line(self, number: int) -> str:
        """The line with this number, without its indentation and its comment."""
        return self.lines[number - 1].split("  #")[0].strip()

    def statement(self, number: int) -> tuple[int, int]:
        """First and last line of the statement that this line belongs to: of a loop, an `if` or a
        definition only the lines above its body.
        """
        around = [
            (each.lineno, _end_of_head(each))
            for each in ast.walk(self.node)
            if isinstance(each, ast.stmt) and each.lineno <= number <= _end_of_head(each)
        ]
        return max(around, default=(number, number))

    def text(self, node: ast.expr) -> str:
        """An expression as it was written; its lines in one."""
        return " ".join((ast.get_source_segment("\n".join(self.lines), node) or "").split())


def _end_of_head(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None)
    above = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return max(statement.lineno, above)


def listed(names: Iterable[str]) -> str:
    """As in a sentence: `a`, `b` and `c`."""
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def source_of(candidate: Callable) -> Source | None:
    """None where there is none to change: a bare shell, `exec`, a lambda, a closure."""
    function = _plain(candidate)
    if function is None:
        return None
    if set(function.__code__.co_freevars) - {"__class__"}:
        return None
    name = getattr(candidate, "__name__", "")
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    kind = ast.ClassDef if inspect.isclass(candidate) else ast.FunctionDef
    for node in ast.walk(tree):
        if not (isinstance(node, kind) and node.name == name):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if first <= code.co_firstlineno <= (node.end_lineno or first):
            return Source(node, [line.rstrip("\n") for line in lines], function.__globals__)
    return None


def has_ellipsis(function: Callable) -> bool:
    """Whether `...` stands for a statement or a value in the source; `x[..., 0]` is fine."""
    source = source_of(function)
    if source is None:
        return False
    kinds = ast.Expr | ast.Assign | ast.AnnAssign | ast.Return
    values = [node.value for node in ast.walk(source.node) if isinstance(node, kinds)]
    return any(isinstance(v, ast.Constant) and v.value is Ellipsis for v in values)


def never_read(node: ast.AST, given: ast.AST) -> list[str]:
    """Arguments, and what is kept in `self`, that the course's version `given` reads and `node`
    never does: `gamma`, `self.tau`.
    """
    made = attributes(given, ast.Store) - attributes(node, ast.Store)
    read = _read(node) | made | _called(given)
    arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    asked = {name for name in _read(given) if "." in name or name in arguments}
    return sorted(asked - read)


def _read(node: ast.AST) -> set[str]:
    """The arguments, and what is kept in `self`, that are read in it."""
    walked = list(ast.walk(node))
    arguments = {each.arg for each in walked if isinstance(each, ast.arg)} - {"self"}
    names = {e.id for e in walked if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Load)}
    return (names & arguments) | attributes(node, ast.Load)


def _called(node: ast.AST) -> set[str]:
    """The methods of `self` that are called in it: there may be another way."""
    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return {f"self.{each.attr}" for each in calls if isinstance(each, ast.Attribute)}


def attributes(node: ast.AST, context: type) -> set[str]:
    """All `self.name` that are read (`ast.Load`) or set (`ast.Store`) in it."""
    found = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    found = (each for each in found if isinstance(each.value, ast.Name) and each.value.id == "self")
    return {f"self.{each.attr}" for each in found if isinstance(each.ctx, context)}


def _plain(candidate: Callable) -> types.FunctionType | None:
    """The function itself, or the first method of a class."""
    if inspect.isclass(candidate):
        entries = [inspect.unwrap(e) for e in vars(candidate).values() if callable(e)]
        own = [e for e in entries if isinstance(e, types.FunctionType)]
        return next((e for e in own if e.__qualname__.startswith(candidate.__qualname__)), None)
    function = inspect.unwrap(candidate)
    return function if isinstance(function, types.FunctionType) else None
