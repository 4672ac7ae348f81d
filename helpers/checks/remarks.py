"""Rules about the source of a wrong answer: facts that are true whatever the mistake is called.

`rules` asks them where there is a source.

A loop that ends at once, a line without effect, a name or an argument that is never used, and where
a gradient stops.
"""

import ast
from collections.abc import Iterable, Iterator

from helpers.checks.context import Context
from helpers.checks.source import Source, listed, never_read

# Methods and functions of torch and numpy that only give something new.
_GIVES = {
    "abs", "amax", "amin", "astype", "clamp", "clip", "clone", "cumsum", "detach", "exp", "expand",
    "expm1", "flatten", "item", "log", "maximum", "mean", "minimum", "numpy", "permute", "pow",
    "prod", "reshape", "round", "sigmoid", "softmax", "sqrt", "square", "squeeze", "std", "sum",
    "tanh", "transpose", "unsqueeze", "var", "view", "where", "zeros_like", "ones_like",
}  # fmt: skip
_DOES = {"backward", "step", "zero_grad", "detach_", "clear", "reset"}  # worth nothing uncalled


def ends_at_once(c: Context, source: Source) -> str | None:
    """A `return` as a plain line of a loop, in the function itself or in a method."""
    loops = [each for each in ast.walk(source.node) if isinstance(each, ast.For | ast.While)]
    lines = [line for loop in loops for line in loop.body if isinstance(line, ast.Return)]
    if not lines:
        return None
    return (
        f"`{source.line(lines[0].lineno)}` is inside a loop, so the function ends in the loop's "
        "first iteration. Indent it like the line with the `for` or `while`."
    )


def line_without_effect(c: Context, source: Source) -> str | None:
    """The first line whose result is dropped."""
    usual = {ast.dump(node) for node in ast.walk(c.given) if isinstance(node, ast.Expr)}
    for node in (each for each in ast.walk(source.node) if isinstance(each, ast.Expr)):
        if ast.dump(node) not in usual and (what := _no_effect(node.value)):
            return f"`{source.line(node.lineno)}` has no effect: {what}."
    return None


def _no_effect(value: ast.expr) -> str | None:
    """What a statement does in vain that is this expression and no more."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        keeps = any(each.arg == "out" for each in value.keywords)
        its_own = isinstance(value.func.value, ast.Name) and value.func.value.id == "self"
        if value.func.attr in _GIVES and not (keeps or its_own):
            return "it returns something new, which is not stored. Use what it returns"
    elif isinstance(value, ast.Attribute) and value.attr in _DOES:
        return "the brackets of the call are missing"
    elif isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
        return "`==` compares, `=` assigns"
    elif isinstance(value, ast.BinOp):
        return "its result is not stored"
    return None


def unused_name(c: Context, source: Source) -> str | None:
    """The first name that is given a value of its own and never read afterwards."""
    as_given = {ast.dump(node) for node in ast.walk(c.given) if isinstance(node, ast.FunctionDef)}
    functions = [x for x in ast.walk(source.node) if isinstance(x, ast.FunctionDef)]
    for function in (each for each in functions if ast.dump(each) not in as_given):
        inside = list(ast.walk(function))
        changed = {getattr(x.target, "id", "") for x in inside if isinstance(x, ast.AugAssign)}
        read = _names(inside, ast.Load) | changed
        for node in (each for each in inside if isinstance(each, ast.Assign)):
            idle = sorted(_names(node.targets, ast.Store) - read)
            computed = not isinstance(node.value, ast.Name | ast.Attribute | ast.Tuple)
            if computed and idle and not idle[0].startswith("_"):
                line = source.line(node.lineno)
                return f"`{idle[0]}` is computed, in `{line}`, and never used."
    return None


def unused_argument(c: Context, source: Source) -> str | None:
    """What the function is given and never looks at, although the course's version does."""
    never = never_read(source.node, c.given)
    return f"Your version never uses {listed(never)}." if never else None


def _names(nodes: Iterable[ast.AST], context: type) -> set[str]:
    """The names that are read (`ast.Load`) or set (`ast.Store`) there."""
    return {x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, context)}


# --- Where a gradient stops -----------------------------------------------------------------------

_CUTS = {
    "detach", "detach_", "item", "numpy", "tolist", "data", "no_grad", "inference_mode", "tensor",
}  # fmt: skip
_CUT = (
    "something cuts it off, such as `.detach()`, `.item()`, `.numpy()`, `no_grad` or "
    "`torch.tensor(...)`, which copies numbers"
)


def what_cuts(c: Context) -> str:
    """Where no gradient gets through in an answer; what could be meant where none is seen.

    What the reference does, too, such as to detach a target, may be right where it stands.
    """
    usual = {name for name, _ in _cuts(c.given)}
    found = [x for x in _cuts(c.source.node) if x[0] not in usual] if c.source else []
    if c.source is None or not found:
        return _CUT
    if len(found) == 1:
        (name, line), *_ = found
        return f"`{name}` lets none through, in `{c.source.line(line)}`"
    names = dict.fromkeys(name for name, _ in found)
    return f"{listed(names)} let{'s' * (len(names) == 1)} none through"


def _cuts(node: ast.AST) -> Iterator[tuple[str, int]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr in _CUTS:
            yield each.attr, each.end_lineno or each.lineno
        elif isinstance(each, ast.Call) and getattr(each.func, "id", "") == "float":
            yield "float", each.lineno
