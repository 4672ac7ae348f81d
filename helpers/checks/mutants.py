"""Small edits of a piece of code, one at a time: what could be a slip of the pen, taken back.

`mutants(node, words)` changes the tree in place, yields, and takes the change back: compile it in
between. Every operator is a generator of replacements for one expression or one list of statements.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

# Names that are mistaken for each other: functions, methods and arguments.
KIN = [
    {"sum", "mean"}, {"mean", "median", "max"}, {"min", "max"}, {"minimum", "maximum"},
    {"fmin", "fmax"}, {"argmin", "argmax"}, {"zeros", "ones"}, {"zeros_like", "ones_like"},
    {"any", "all"},
    {"std", "var"}, {"log", "exp", "log1p"}, {"sqrt", "square"}, {"floor", "ceil", "round"},
    {"cumsum", "cumprod"}, {"randn", "rand"}, {"randn_like", "rand_like"}, {"stack", "cat"},
    {"normal", "uniform", "standard_normal", "random"}, {"tanh", "sigmoid", "relu", "softplus"},
    {"softmax", "log_softmax"}, {"add", "sub", "mul"}, {"left", "right"}, {"append", "insert"},
    {"terminated", "truncated"}, {"obs", "next_obs"}, {"low", "high"},
    {"integers", "choice"}, {"concatenate", "stack"}, {"keepdim", "keepdims"},
]  # fmt: skip
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Words:
    """What may be put in a name's place: names, and attributes of a name (`batch`, `self`)."""

    names: Sequence[str]
    attributes: dict[str, set[str]] = field(default_factory=dict)


Operator = Callable[[ast.expr, Words], Iterator[ast.expr]]


@dataclass(frozen=True)
class Mutant:
    """Where the change stands, and what kind of change it is: a sentence with `{}` for the part.

    `part` is the expression that is changed, None for a whole statement, and `kept` what is left of
    it; `drops`: something was only left out. `also`: lines of other places with the same change.
    """

    line: int
    kind: str
    part: ast.expr | None = None
    kept: ast.expr | None = None
    drops: bool = False
    also: tuple[int, ...] = ()


def words_of(*nodes: ast.AST) -> Words:
    """The vocabulary of some code: its arguments, what it assigns, the attributes that it reads."""
    names: dict[str, None] = {}
    attributes: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.arg):
                names[each.arg] = None
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                names[each.id] = None
            elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                attributes[each.value.id].add(each.attr)
    return Words(list(names), attributes)


def mutants(
    root: ast.AST, words: Words, passes: Sequence["Pass"] | None = None
) -> Iterator[Mutant]:
    """Every small change of `root`: in place, one after the other, likelier kinds first."""
    grown = _grown(root)
    for operators, statements in PASSES if passes is None else passes:
        for parent, name, index, node in _places(root):
            for operator in operators:
                if operator is parts_alone and isinstance(parent, ast.Expr):
                    continue  # to leave out the statement is the same
                for new in operator(node, words):
                    if isinstance(new, ast.Name) and new.id in grown and _keeps(parent):
                        continue  # numpy's array of a list that is in itself takes all memory
                    kept = new if operator is parts_alone else None
                    if kept is None:  # a part keeps its own place
                        ast.fix_missing_locations(ast.copy_location(new, node))
                    _put(parent, name, index, new)
                    try:
                        yield Mutant(node.lineno, _TO_DO[operator], node, kept, drops=bool(kept))
                    finally:  # also where nobody asks for the next one
                        _put(parent, name, index, node)
        for body in _bodies(root):
            for new_body, line, kind in statements(body):
                old = body[:]
                body[:] = new_body
                try:
                    yield Mutant(line, kind, drops=len(new_body) < len(old))
                finally:
                    body[:] = old
        if operators is _FIRST:
            yield from _in_several_places(root, words)


def _in_several_places(root: ast.AST, words: Words) -> Iterator[Mutant]:
    """The same change in all places that are alike: whoever writes a line twice errs twice."""
    groups: dict[Any, list[tuple[ast.AST, str, int | None, ast.expr]]] = defaultdict(list)
    for parent, *rest, node in _places(root):
        groups[_what_is_done(parent, node)].append((parent, *rest, node))
    del groups[None]
    for places in groups.values():
        if not 2 <= len(places) <= _SEVERAL:
            continue
        nodes = [place[-1] for place in places]
        for operator in (kin, parts_alone, other_numbers, other_operators):
            for changed in zip(*(list(operator(node, words)) for node in nodes), strict=False):
                yield from _put_all(places, changed, operator)


_SEVERAL = 4  # places that are told in one sentence


def _put_all(places: list, changed: Sequence[ast.expr], operator: Operator) -> Iterator[Mutant]:
    """These changes at once, taken back when the next one is asked for."""
    first, *others = (node for _, _, _, node in places)
    kept = changed[0] if operator is parts_alone else None
    try:
        for (parent, name, index, node), new in zip(places, changed, strict=True):
            if kept is None:
                ast.fix_missing_locations(ast.copy_location(new, node))
            _put(parent, name, index, new)
        also = tuple(node.lineno for node in others)
        yield Mutant(first.lineno, _TO_DO[operator], first, kept, bool(kept), also)
    finally:
        for parent, name, index, node in reversed(places):
            _put(parent, name, index, node)


def _what_is_done(parent: ast.AST, node: ast.expr) -> Any:
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


_GROWING = ("append", "insert", "extend", "appendleft")


def _grown(root: ast.AST) -> set[str]:
    """The names of lists that something is appended to or written into."""
    owners = [
        node.func.value
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and _keeps(node) and isinstance(node.func, ast.Attribute)
    ]
    owners += [
        node.value
        for node in ast.walk(root)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    ]
    return {owner.id for owner in owners if isinstance(owner, ast.Name)}


def _keeps(parent: ast.AST) -> bool:
    """Whether what stands in it is kept: in a list, or under a name."""
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Attribute) and parent.func.attr in _GROWING
    return isinstance(parent, ast.Assign | ast.AugAssign | ast.List | ast.Tuple)


def _put(parent: ast.AST, name: str, index: int | None, node: ast.expr) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _places(root: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Every expression that is read, with the place where it hangs."""
    for parent in list(ast.walk(root)):
        for name, value in ast.iter_fields(parent):
            if name in ("decorator_list", "annotation", "returns", "bases", "defaults", "targets"):
                continue
            entries = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, entry in entries:
                read = isinstance(getattr(entry, "ctx", ast.Load()), ast.Load)
                if isinstance(entry, ast.expr) and read:
                    yield parent, name, index, entry


def _bodies(root: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in list(ast.walk(root)):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and not isinstance(node, ast.ClassDef):
                yield body


# --- Expressions: each gives replacements for a node ----------------------------------------------


def kin(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """`torch.min` for `torch.max`, `next_obs` for `obs`."""
    if isinstance(node, ast.Attribute):
        others = sorted(_kin(node.attr) - {node.attr})
        yield from (ast.Attribute(node.value, other, ast.Load()) for other in others)


def other_names(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """`reward` for `value`, `self.actor` for `self.critic`."""
    if isinstance(node, ast.Name):
        yield from (ast.Name(n, ast.Load()) for n in words.names if n != node.id)
    elif isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) else ""
        others = set(words.attributes.get(base, ())) - _kin(node.attr) - {node.attr}
        yield from (ast.Attribute(node.value, other, ast.Load()) for other in sorted(others))


def other_operators(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Plus for minus, a product for a quotient, less for less or equal."""
    if isinstance(node, ast.BinOp):
        for kind in _OPERATORS:
            if not isinstance(node.op, kind):
                yield ast.BinOp(node.left, kind(), node.right)
        if isinstance(node.op, (ast.Sub, ast.Div, ast.Pow, ast.Mod, ast.MatMult, ast.FloorDiv)):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for comparison in _COMPARISONS:
            if not isinstance(node.ops[0], comparison):
                yield ast.Compare(node.left, [comparison()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)


def parts_alone(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """A term, a factor, a sign, a call or an index left out."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
        if isinstance(node.left, ast.BinOp):  # what was standardised: `(x - mean) / std`
            yield node.left.left
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args[:2]
    elif isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def other_numbers(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Off by one, the other sign, the usual other value."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        others = (value + 1, value - 1, -value, 0, 1, -1, 2, 0.5, 2 * value, 1 - value)
        for other in dict.fromkeys(others):
            if other != value:
                yield ast.Constant(other)
    elif value is None and isinstance(node, ast.Constant):
        yield from (ast.Constant(0), ast.Constant(-1))


def signs_moved(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """A minus before the whole call in place of one before its argument."""
    for i, arg in enumerate(node.args if isinstance(node, ast.Call) else ()):
        if isinstance(arg, ast.UnaryOp) and isinstance(arg.op, ast.USub):
            args = [*node.args[:i], arg.operand, *node.args[i + 1 :]]
            yield ast.UnaryOp(ast.USub(), ast.Call(node.func, args, node.keywords))


def lengths(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """The number of columns for that of rows."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        yield from (_filled("x.shape[-1]", x=arg) for arg in node.args)


def other_switches(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """False for True, True for False."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


def other_arguments(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Two exchanged, one left out, an axis that was forgotten."""
    if not isinstance(node, ast.Call):
        return
    args, keywords = node.args, node.keywords
    for i in range(len(args) - 1):
        swapped = [*args[:i], args[i + 1], args[i], *args[i + 2 :]]
        yield ast.Call(node.func, swapped, keywords)
    for i in range(len(keywords)):
        yield ast.Call(node.func, args, keywords[:i] + keywords[i + 1 :])
    if len(args) == 1:  # a bound on one side only
        yield ast.Call(node.func, [_filled("-x", x=args[0]), *args], keywords)
    for i in range(len(args) if len(args) > 1 else 0):
        yield ast.Call(node.func, args[:i] + args[i + 1 :], keywords)
    if isinstance(node.func, ast.Attribute) and not keywords and len(args) < 2:
        for axis in (-1, 0, 1):
            yield ast.Call(node.func, [*args, ast.Constant(axis)], [])
        flag = ast.keyword("keepdims", ast.Constant(True))
        yield ast.Call(node.func, [*args, ast.Constant(-1)], [flag])


def ranges(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Backwards, or from 1."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        yield _filled("reversed(x)", x=node)
        if len(node.args) == 1:
            yield _filled("range(1, x)", x=node.args[0])


def terms_added(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """A factor or a term that was forgotten."""
    if not isinstance(node, _VALUE):
        return
    others: list[ast.expr] = [ast.Name(name, ast.Load()) for name in words.names]
    for base, names in words.attributes.items():
        if base in words.names:
            owner = ast.Name(base, ast.Load())
            others += [ast.Attribute(owner, name, ast.Load()) for name in sorted(names)]
    for other in others[:16]:
        for text in ("x * y", "x + y", "x - y", "x * (1 - y)"):
            yield _filled(text, x=node, y=other)


def around(table: dict[str, tuple[type, ...]]) -> Operator:
    """Something done to a value `x` of these kinds."""

    def operator(node: ast.expr, words: Words) -> Iterator[ast.expr]:
        if not isinstance(node, ast.Name) or node.id in words.names:
            yield from (
                _filled(text, x=node) for text, kinds in table.items() if isinstance(node, kinds)
            )

    return operator


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, name: ast.Name) -> ast.expr:
        return self.parts.get(name.id, name)


def _filled(text: str, **parts: ast.expr) -> ast.expr:
    """`text` as an expression, with these parts in the place of their names."""
    return _Filled(parts).visit(ast.parse(text, mode="eval").body)


def _kin(name: str) -> set[str]:
    return set().union(*(group for group in KIN if name in group))


# --- Statements: each gives another list of them, the line that is concerned, and what was done ---


Bodies = Iterator[tuple[list[ast.stmt], int, str]]


def _left_out_or_exchanged(body: list[ast.stmt]) -> Bodies:
    """One statement left out, or two exchanged."""
    for i, statement in enumerate(body):
        if len(body) > 1 and not isinstance(statement, ast.Return):
            yield body[:i] + body[i + 1 :], statement.lineno, _LEFT_OUT
    for i in range(len(body) - 1):
        if isinstance(body[i + 1], ast.Return):
            continue  # that would leave the statement out
        exchanged = [*body[:i], body[i + 1], body[i], *body[i + 2 :]]
        yield exchanged, body[i + 1].lineno, "let it come before the statement above it"


def _moved_or_added_up(body: list[ast.stmt]) -> Bodies:
    """The last line of a block behind it, or the line behind it into it; `=` for `+=`."""
    for i, statement in enumerate(body):
        inner = getattr(statement, "body", None)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With) and inner:
            yield from _moved(body, i, statement, inner)
        others: list[ast.stmt] = []
        if isinstance(statement, ast.AugAssign):
            others = [ast.Assign([statement.target], statement.value)]
            kinds = (kind for kind in _OPERATORS[:4] if not isinstance(statement.op, kind))
            others += [ast.AugAssign(statement.target, kind(), statement.value) for kind in kinds]
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            others = [ast.AugAssign(statement.targets[0], ast.Add(), statement.value)]
        for other in others:
            ast.fix_missing_locations(ast.copy_location(other, statement))
            changed = [*body[:i], other, *body[i + 1 :]]
            yield changed, statement.lineno, "take another sign in place of its `=` or `+=`"


def _moved(body: list[ast.stmt], i: int, block: ast.stmt, inner: list[ast.stmt]) -> Bodies:
    """With a copy of the block: the block itself stays as it is."""
    others = {name: value for name, value in ast.iter_fields(block) if name != "body"}
    kind: Any = type(block)

    def with_body(lines: list[ast.stmt]) -> ast.stmt:
        return ast.copy_location(kind(body=lines, **others), block)

    if len(inner) > 1:
        out = [*body[:i], with_body(inner[:-1]), inner[-1], *body[i + 1 :]]
        yield out, inner[-1].lineno, "it belongs behind the block in which it stands"
    if i + 1 < len(body) and not getattr(block, "orelse", None):
        longer = with_body([*inner, body[i + 1]])
        into = [*body[:i], longer, *body[i + 2 :]]
        yield into, body[i + 1].lineno, "it belongs into the block above it"


_VALUE = (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Subscript)
_OPPOSITES: dict[str, tuple[type, ...]] = {"~x": _VALUE, "not x": (ast.Compare,)}
_CALLS = (
    "x.detach()", "x.squeeze(-1)", "x.mean()", "x.sum()", "x.abs()", "x.copy()", "x.clone()",
)  # fmt: skip
_DONE_TO_IT: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("x + 1", "x - 1"), (ast.Name,)),
    **dict.fromkeys(_CALLS, (*_VALUE[:4], ast.UnaryOp)),
    **dict.fromkeys(("x ** 2", "x ** 0.5", "x ** -1", "x * 0.5", "x * 2"), _VALUE[:4]),
}
_with_another_sign, _up_to_one = around({"-x": _VALUE}), around({"1 - x": _VALUE})
_turned_round, _with_one_thing_done = around(_OPPOSITES), around(_DONE_TO_IT)
_with_an_axis = around({"x[:, None]": _VALUE})
_FIRST: tuple[Operator, ...] = (  # few for each place: they reach the end of a long answer
    kin, parts_alone, other_numbers, other_switches,
)  # fmt: skip
_SECOND: tuple[Operator, ...] = (other_operators, other_arguments, signs_moved, lengths)
_LIKELY: tuple[Operator, ...] = (other_names, _with_another_sign, _up_to_one, _turned_round)
_OTHERS: tuple[Operator, ...] = (ranges, _with_an_axis, _with_one_thing_done, terms_added)
Pass = tuple[tuple[Operator, ...], Callable[[list[ast.stmt]], Iterable]]
PASSES: tuple[Pass, ...] = (
    (_FIRST, _left_out_or_exchanged), (_SECOND, lambda body: ()), (_LIKELY, lambda body: ()),
    (_OTHERS, _moved_or_added_up),
)  # fmt: skip
_TO_DO: dict[Operator, str] = {  # the first ones tell most
    parts_alone: "leave out {}",
    other_numbers: "put another number in place of {}",
    kin: "put something else in place of {}",
    lengths: "put something else in place of {}",
    other_names: "put something else in place of {}",
    signs_moved: "let the minus in {} stand before all of it",
    other_operators: "take another operator, or another order, in {}",
    _with_another_sign: "give {} the other sign",
    _up_to_one: "take 1 minus {} in its place",
    _turned_round: "turn {} into its opposite",
    other_switches: "take the opposite of {}",
    other_arguments: "give other arguments in {}",
    ranges: "let {} begin elsewhere, or go backwards",
    _with_an_axis: "give {} one more axis",
    _with_one_thing_done: "do one thing more to {}",
    terms_added: "something has to be added to {}, or multiplied with it",
}
_LEFT_OUT = "leave it out"
KINDS = [_LEFT_OUT, *_TO_DO.values()]
