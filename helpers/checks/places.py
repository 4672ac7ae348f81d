"""Where a tree of code can be changed, and what stands in its places."""

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any

WITH_AXIS = {
    "sum", "mean", "std", "var", "median", "prod", "max", "min", "amax", "amin", "argmax", "argmin",
    "any", "all", "cumsum", "cumprod", "norm", "logsumexp", "softmax", "log_softmax", "squeeze",
    "unsqueeze", "flatten", "cat", "stack", "concatenate", "flip", "sort", "argsort", "size",
}  # fmt: skip


def owners(root: ast.AST) -> dict[int, ast.stmt]:
    """The innermost statement around each expression, by the expression's `id`."""
    statements = [each for each in ast.walk(root) if isinstance(each, ast.stmt)]
    return {id(node): each for each in statements for node in ast.walk(each)}


def shape(statement: ast.stmt) -> str:
    """A statement without the block that hangs on it, whatever its names are."""
    kept = {
        name: value
        for name, value in ast.iter_fields(statement)
        if name not in ("body", "orelse", "finalbody", "handlers")
    }
    text = " ".join(
        ast.dump(each) if isinstance(each, ast.AST) else str(each)
        for value in kept.values()
        for each in (value if isinstance(value, list) else [value])
    )
    return type(statement).__name__ + re.sub(r"Name\(id='\w+'", "Name(", text)


_SIZES = ("shape", "size")
_GROWING = ("append", "insert", "extend", "appendleft")


def grown(root: ast.AST) -> set[str]:
    """The names of lists that something is appended to or written into."""
    lists = [
        node.func.value
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and keeps(node) and isinstance(node.func, ast.Attribute)
    ]
    lists += [
        node.value
        for node in ast.walk(root)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    ]
    return {each.id for each in lists if isinstance(each, ast.Name)}


def keeps(parent: ast.AST) -> bool:
    """Whether what stands in it is kept: in a list, or under a name."""
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Attribute) and parent.func.attr in _GROWING
    return isinstance(parent, ast.Assign | ast.AugAssign | ast.List | ast.Tuple)


def is_shape(parent: ast.AST, node: ast.expr) -> bool:
    """Whether this says how large an array is to be."""
    named = getattr(node, "id", getattr(node, "attr", ""))
    return named in _SIZES or (isinstance(parent, ast.keyword) and parent.arg in _SIZES)


# Where an expression hangs: in which node, under which name and at which index, and what it is.
Place = tuple[ast.AST, str, int | None, ast.expr]


def put(parent: ast.AST, name: str, index: int | None, node: ast.expr) -> None:
    """Hang an expression into one of the `places`."""
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def places(root: ast.AST) -> Iterator[Place]:
    """Every expression that is read, with the place where it hangs."""
    for parent in list(ast.walk(root)):
        for name, value in ast.iter_fields(parent):
            if name in ("decorator_list", "annotation", "returns", "bases", "defaults", "targets"):
                continue
            entries = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, entry in entries:
                read = isinstance(getattr(entry, "ctx", ast.Load()), ast.Load)
                if isinstance(entry, ast.expr) and read and not _is_self(entry):
                    yield parent, name, index, entry


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def bodies(root: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements, but for a class's own."""
    for node in list(ast.walk(root)):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and not isinstance(node, ast.ClassDef):
                yield body


def what_is_done(parent: ast.AST, node: ast.expr) -> Any:
    """The same for all places where the same is done, to whatever it is done; or None."""
    match node:
        case ast.Constant():
            return type(parent), repr(node.value)
        case ast.Attribute():
            return ast.dump(node)
        case ast.Call(ast.Attribute() | ast.Name()):
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            return name, len(node.args), len(node.keywords)
        case ast.BinOp():
            sides = (each for each in (node.right, node.left) if not _is_long(each))
            return type(node.op), next(map(ast.dump, sides), None)
    return None


def _is_long(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant | ast.Name | ast.Attribute)


def argument(call: Any, changed: Any) -> Any:
    """The first argument of a call that is not in its place in the changed one."""
    before, after = ([*c.args, *c.keywords] for c in (call, changed))
    meant = next(x for x, y in itertools.zip_longest(before, after) if x is not y)
    exchanged = len(before) == len(after) and isinstance(meant, ast.keyword)
    return meant.value if exchanged else meant  # the name stays where it is


_SIGN = "change the sign before {}"
_AXIS = "use another axis instead of {}"
_ROWS = f"{_AXIS}, which runs from row to row"
_END = "let `range` end elsewhere: its end, {}, is left out itself"
_BEGIN = "let `range` begin elsewhere: what comes before {} is left out"
MORE = (_SIGN, _ROWS, _AXIS, _END, _BEGIN)
_ONE_AXIS = WITH_AXIS - {"norm"}  # whose first number is a power


def told_more(parent: ast.AST, node: ast.expr, new: ast.expr) -> Any:
    """What a change is by its place, and the part that it concerns; None where nothing is known."""
    match parent, node, new:
        case _, ast.BinOp(left, ast.Add() | ast.Sub(), right), ast.BinOp(op=ast.Add() | ast.Sub()):
            return (_SIGN, right) if getattr(new, "left", None) is left else None
        case ast.keyword(arg="dim" | "axis"), ast.Constant(value), ast.Constant():
            return (_AXIS if value else _ROWS), node
        case ast.Call(ast.Attribute(attr=name)), ast.Constant(value), _ if name in _ONE_AXIS:
            return (_AXIS if value else _ROWS), node
        case ast.Call(ast.Name("range"), [begin, end, *_]), _, ast.Constant() if new in (
            begin,
            end,
        ):
            return (_END if end is new else _BEGIN), node
    return None
