"""Small edits of a block of code, for `mutants`: statements left out, exchanged or moved.

Each gives another list of them, the line that is concerned, and what was done.
"""

import ast
from collections.abc import Iterator
from typing import Any

LEFT_OUT = "leave it out"
ANOTHER_SIGN = "use another sign instead of its `=` or `+=`"
Bodies = Iterator[tuple[list[ast.stmt], int, str]]


def left_out_or_exchanged(body: list[ast.stmt]) -> Bodies:
    """One statement left out, or two exchanged."""
    for i, statement in enumerate(body):
        if len(body) > 1 and not isinstance(statement, ast.Return):
            yield body[:i] + body[i + 1 :], statement.lineno, LEFT_OUT
    for i in range(len(body) - 1):
        if isinstance(body[i + 1], ast.Return):
            continue  # that would leave the statement out
        exchanged = [*body[:i], body[i + 1], body[i], *body[i + 2 :]]
        yield exchanged, body[i + 1].lineno, "move it before the statement above it"


def moved_or_added_up(body: list[ast.stmt]) -> Bodies:
    """The last line of a block behind it, or the line behind it into it; `=` for `+=`."""
    for i, statement in enumerate(body):
        inner = getattr(statement, "body", None)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With) and inner:
            yield from _moved(body, i, statement, inner)
        others: list[ast.stmt] = []
        if isinstance(statement, ast.AugAssign):
            others = [ast.Assign([statement.target], statement.value)]
            kinds = (
                kind
                for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div)
                if not isinstance(statement.op, kind)
            )
            others += [ast.AugAssign(statement.target, kind(), statement.value) for kind in kinds]
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            target, value = statement.targets[0], statement.value
            if not any(getattr(each, "id", "") == target.id for each in ast.walk(value)):
                others = [ast.AugAssign(target, ast.Add(), value)]
        for other in others:
            ast.fix_missing_locations(ast.copy_location(other, statement))
            changed = [*body[:i], other, *body[i + 1 :]]
            yield changed, statement.lineno, ANOTHER_SIGN


def _moved(body: list[ast.stmt], i: int, block: ast.stmt, inner: list[ast.stmt]) -> Bodies:
    """With a copy of the block: the block itself stays as it is."""
    others = {name: value for name, value in ast.iter_fields(block) if name != "body"}
    kind: Any = type(block)

    def with_body(lines: list[ast.stmt]) -> ast.stmt:
        return ast.copy_location(kind(body=lines, **others), block)

    if len(inner) > 1:
        out = [*body[:i], with_body(inner[:-1]), inner[-1], *body[i + 1 :]]
        yield out, inner[-1].lineno, "move it out of its block, to after the block"
    if i + 1 < len(body) and not getattr(block, "orelse", None):
        longer = with_body([*inner, body[i + 1]])
        into = [*body[:i], longer, *body[i + 2 :]]
        yield into, body[i + 1].lineno, "move it into the block above it"
