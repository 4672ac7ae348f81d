"""A loop that ends at once, or of which only the last iteration counts."""

import ast
from collections.abc import Callable, Iterator

from helpers.checks.source import source_of

Loop = ast.For | ast.While


def ends_at_once(function: Callable) -> tuple[str, str] | None:
    """A `return` as a plain line of a loop, in the function itself or in a method."""
    source = source_of(function)
    if source is None:
        return None
    loops = [each for each in ast.walk(source.node) if isinstance(each, Loop)]
    lines = [line for loop in loops for line in loop.body if isinstance(line, ast.Return)]
    if not lines:
        return None
    return (
        "return in a loop",
        f"`{source.line(lines[0].lineno)}` is inside a loop, so the function ends in the loop's "
        "first iteration. Indent it like the line with the `for` or `while`.",
    )


def only_the_last_iteration(function: Callable) -> tuple[str, str] | None:
    """A name that each iteration sets anew and none reads, but what comes after the loop does."""
    source = source_of(function)
    lost = next(_lost(source.node), None) if source else None
    if source is None or lost is None:
        return None
    name, line = lost
    return (
        "only the last iteration",
        f"Each iteration of the loop overwrites `{name}`, in `{source.line(line)}`, so only the "
        "last value is left. Keep them all: add them up with `+=`, put each into its place, or "
        "collect them in a list.",
    )


def _lost(node: ast.AST) -> Iterator[tuple[str, int]]:
    for loop in (each for each in ast.walk(node) if isinstance(each, ast.For)):
        inside = list(ast.walk(loop))
        if any(isinstance(each, ast.Break | ast.Return) for each in inside):
            continue
        stored = _names(inside, ast.Store)
        read = _names(inside, ast.Load)
        last = loop.end_lineno or loop.lineno
        later = {name for name, line in _lines(node) if line > last}
        for line in loop.body:
            match line:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    used = _names(ast.walk(value), ast.Load)
                    if name in later and name not in read and used & stored:
                        yield name, line.lineno


def _names(nodes, context: type) -> set[str]:
    names = (each for each in nodes if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, context)}


def _lines(node: ast.AST) -> list[tuple[str, int]]:
    """Where names are read."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return [(each.id, each.lineno) for each in names if isinstance(each.ctx, ast.Load)]
