"""Small edits of a piece of code, one at a time: what could be a slip of the pen, taken back.

`mutants(node, words)` changes the tree in place, yields, and takes the change back: compile it in
between. Every operator is a generator of replacements for one expression or one list of statements.
"""

import ast
import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from helpers.checks.brackets import regrouped
from helpers.checks.places import (
    MORE,
    WITH_AXIS,
    Place,
    argument,
    bodies,
    grown,
    is_shape,
    keeps,
    owners,
    places,
    put,
    shape,
    told_more,
    what_is_done,
)
from helpers.checks.statements import (
    ANOTHER_SIGN,
    LEFT_OUT,
    Bodies,
    left_out_or_exchanged,
    moved_or_added_up,
)

# Names that are mistaken for each other: functions, methods and arguments.
KIN = [
    {"sum", "mean"}, {"mean", "median", "max"}, {"min", "max"}, {"minimum", "maximum"},
    {"fmin", "fmax"}, {"argmin", "argmax"}, {"zeros", "ones"}, {"zeros_like", "ones_like"},
    {"any", "all"},
    {"log", "log10", "log2"}, {"exp", "expm1", "exp2"},
    {"std", "var"}, {"log", "exp", "log1p"}, {"sqrt", "square"}, {"floor", "ceil", "round"},
    {"cumsum", "cumprod"}, {"randn", "rand"}, {"randn_like", "rand_like"}, {"stack", "cat"},
    # Apart: `standard_normal(0, 1, n)` would take the last number for memory to write into.
    {"normal", "uniform"}, {"standard_normal", "random"},
    {"tanh", "sigmoid", "relu", "softplus", "abs", "elu", "gelu", "silu", "leaky_relu", "softsign"},
    {"Tanh", "Sigmoid", "ReLU", "Softplus", "ELU", "GELU", "SiLU", "LeakyReLU", "Softsign",
     "Hardtanh", "Softmax"},
    {"softmax", "log_softmax"}, {"add", "sub", "mul"}, {"left", "right"}, {"append", "insert"},
    {"terminated", "truncated"}, {"obs", "next_obs"}, {"low", "high"},
    {"integers", "choice"}, {"concatenate", "stack"}, {"keepdim", "keepdims"},
    {"clip_grad_norm_", "clip_grad_value_"},
]  # fmt: skip
_SEVERAL = 4  # places that are told in one sentence
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_OPPOSITE: dict[type, Any] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Words:
    """What may be put in something's place: names, attributes of a name (`batch`, `self`), and
    numbers and one word's texts.
    """

    names: Sequence[str]
    attributes: dict[str, set[str]] = field(default_factory=dict)
    constants: Sequence[float | str] = ()


Operator = Callable[[ast.expr, Words], Iterator[ast.expr]]
# Of strange statements or of usual ones; changes of expressions, and of lists of statements.
Pass = tuple[bool, Sequence[Operator], Sequence[Callable[[list[ast.stmt]], Bodies]]]


@dataclass(frozen=True)
class Mutant:
    """Where the change stands, and what kind of change it is: a sentence with `{}` for the part.

    `part` is the expression that is changed, None for a whole statement, and `kept` what is left of
    it. `rank`: 0 for the likeliest kinds, and so on. `also`: lines of other places that are changed
    in the same way.
    """

    line: int
    kind: str
    rank: int
    part: ast.expr | None = None
    kept: ast.expr | None = None
    also: tuple[int, ...] = ()


def words_of(*nodes: ast.AST) -> Words:
    """The vocabulary of some code: its arguments, what it assigns, the attributes that it reads."""
    names: dict[str, None] = {}
    attributes: dict[str, set[str]] = defaultdict(set)
    constants: dict[float | str, None] = {}
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.arg):
                names[each.arg] = None
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                names[each.id] = None
            elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                attributes[each.value.id].add(each.attr)
            elif isinstance(each, ast.expr) and (_is_number(each) or _is_word(each)):
                constants[ast.literal_eval(each)] = None
    return Words(list(names), attributes, list(constants))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_word(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    )


def mutants(
    root: ast.AST,
    words: Words,
    usual: Collection[str] = (),
    passes: Sequence["Pass"] | None = None,
) -> Iterator[Mutant]:
    """Every small change of `root`: in place, one after the other, likelier kinds first.

    Statements whose `shape` is a usual one are changed after the others of the same kind.
    """
    lists, within = grown(root), owners(root)
    strange = {each.lineno for each in within.values() if shape(each) not in usual}
    for each in PASSES if passes is None else passes:
        rank, (of_strange, operators, blocks) = PASSES.index(each), each
        for body, of_blocks in itertools.product(bodies(root), blocks):
            for new_body, line, kind in of_blocks(body):
                if (line in strange) == of_strange:
                    yield from _with_body(body, new_body, line, kind, rank)
        for place in places(root):
            parent, name, _, node = place
            if (id(node) not in within or within[id(node)].lineno in strange) != of_strange:
                continue
            for operator in operators:
                if _is_no_use(operator, parent, name, node):
                    continue
                for new in operator(node, words):
                    if isinstance(new, ast.Name) and new.id in lists and keeps(parent):
                        continue  # numpy's array of a list that is in itself takes all memory
                    yield from _put([place], [new], operator, rank)
        if operators is _FEW and not of_strange:
            yield from _in_several_places(root, words, rank)


def _is_no_use(operator: Operator, parent: ast.AST, name: str, node: ast.expr) -> bool:
    """Whether an operator changes this place in vain, or into an array that fills the memory."""
    if operator in _GROW and is_shape(parent, node):
        return True  # two times (20000,) has 400 million places
    if operator is parts_alone and isinstance(parent, ast.Expr):
        return True  # to leave out the statement is the same
    # What is called is no value.
    return name == "func" and operator not in (other_names, near_names)


def _in_several_places(root: ast.AST, words: Words, rank: int) -> Iterator[Mutant]:
    """The same change in all places that are alike: whoever writes a line twice errs twice."""
    groups: dict[Any, list[Place]] = defaultdict(list)
    for place in places(root):
        groups[what_is_done(place[0], place[-1])].append(place)
    groups.pop(None, None)
    for alike in groups.values():
        if not 2 <= len(alike) <= _SEVERAL:
            continue
        nodes = [place[-1] for place in alike]
        for operator in (near_names, parts_alone, other_numbers, other_operators):
            for changed in zip(*(list(operator(node, words)) for node in nodes), strict=False):
                yield from _put(alike, changed, operator, rank)


def _put(
    alike: list[Place], changed: Sequence[ast.expr], operator: Operator, rank: int
) -> Iterator[Mutant]:
    """These changes at once, taken back when the next one is asked for, or nobody asks."""
    (parent, *_, first), new = alike[0], changed[0]
    kept = new if operator is parts_alone else None
    part = argument(first, new) if operator in _OF_ARGUMENTS else first
    also = tuple(node.lineno for *_, node in alike[1:])
    try:
        for place, other in zip(alike, changed, strict=True):
            if kept is None:  # a part keeps its own place
                ast.fix_missing_locations(ast.copy_location(other, place[-1]))
            put(*place[:-1], other)
        todo, part = told_more(parent, first, new) or (_TO_DO[operator], part)
        yield Mutant(first.lineno, todo, rank, part, kept, also)
    finally:
        for place in reversed(alike):
            put(*place)


def _with_body(
    body: list[ast.stmt], new_body: list[ast.stmt], line: int, kind: str, rank: int
) -> Iterator[Mutant]:
    old = body[:]
    body[:] = new_body
    try:
        yield Mutant(line, kind, rank)
    finally:
        body[:] = old


# --- Expressions: each gives replacements for a node ----------------------------------------------


def other_names(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """`reward` for `value`, `self.actor` for `self.critic`."""
    if isinstance(node, ast.Name):
        yield from (ast.Name(n, ast.Load()) for n in words.names if n != node.id)
    elif isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) else ""
        others = set(words.attributes.get(base, ())) - _kin(node.attr) - {node.attr}
        yield from (ast.Attribute(node.value, other, ast.Load()) for other in sorted(others))


def near_names(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """`next_obs` for `obs`, `minimum` for `maximum`, another key."""
    if isinstance(node, ast.Attribute):
        others = sorted(_kin(node.attr) - {node.attr})
        yield from (ast.Attribute(node.value, other, ast.Load()) for other in others)
    elif isinstance(node, ast.Subscript) and _is_word(node.slice):
        keys = [each for each in words.constants if isinstance(each, str)]
        yield from (ast.Subscript(node.value, ast.Constant(key), ast.Load()) for key in keys)


def named_numbers(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """`gamma` or `self.gamma` for 0.99."""
    if _is_number(node):
        yield from (ast.Name(name, ast.Load()) for name in words.names if name != "self")
        own = sorted(words.attributes.get("self", ()))
        yield from (ast.Attribute(ast.Name("self", ast.Load()), each, ast.Load()) for each in own)


def other_operators(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Plus for minus, a product for a quotient, less for less or equal."""
    if isinstance(node, ast.BinOp):
        for kind in _OPERATORS:
            if not isinstance(node.op, kind):
                yield ast.BinOp(node.left, kind(), node.right)
        if isinstance(node.op, (ast.Sub, ast.Div, ast.Pow, ast.Mod, ast.MatMult, ast.FloorDiv)):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = _OPPOSITE.get(type(node.ops[0]))
        for comparison in [opposite] if opposite else _COMPARISONS:
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
    value: Any = node.value if isinstance(node, ast.Constant) else None
    if _is_number(node):
        usual = (value + 1, value - 1, -value, 0, 1, -1, 2, 0.5, 2 * value, 1 - value)
        numbers = [each for each in words.constants if not isinstance(each, str)]
        for other in dict.fromkeys([*numbers, *usual]):
            if other != value:
                yield ast.Constant(other)
    elif value is None and isinstance(node, ast.Constant):
        yield from (ast.Constant(0), ast.Constant(-1))


def other_switches(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """False for True, True for False."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


def exchanged_arguments(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Two neighbours in the other order, with or without their names."""
    if isinstance(node, ast.Call):
        named, n = node.keywords, len(node.args)
        given = [*node.args, *(each.value for each in named)]
        for i, (one, other) in enumerate(itertools.pairwise(given)):
            new = [*given[:i], other, one, *given[i + 2 :]]
            pairs = zip(named, new[n:], strict=True)
            keywords = [x if x.value is y else ast.keyword(x.arg, y) for x, y in pairs]
            yield ast.Call(node.func, new[:n], keywords)


def fewer_arguments(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """One left out."""
    if isinstance(node, ast.Call):
        args, keywords = node.args, node.keywords
        for i in range(len(keywords)):
            yield ast.Call(node.func, args, keywords[:i] + keywords[i + 1 :])
        for i in range(len(args) if len(args) > 1 else 0):
            yield ast.Call(node.func, args[:i] + args[i + 1 :], keywords)


def forgotten_axis(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """Of what works along an axis: `x.sum(-1)` for `x.sum()`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return
    args = node.args
    if node.func.attr in WITH_AXIS and not node.keywords and len(args) < 2:
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
    """A term that was forgotten."""
    yield from _with_others(node, words, ("x + y", "x - y"))


def factors_added(node: ast.expr, words: Words) -> Iterator[ast.expr]:
    """A factor that was forgotten."""
    yield from _with_others(node, words, ("x * y", "x * (1 - y)", "x / y"))


def _with_others(node: ast.expr, words: Words, texts: Sequence[str]) -> Iterator[ast.expr]:
    if not isinstance(node, _VALUE):
        return
    others: list[ast.expr] = [ast.Name(name, ast.Load()) for name in words.names]
    for base, names in words.attributes.items():
        if base in words.names:
            owner = ast.Name(base, ast.Load())
            others += [ast.Attribute(owner, name, ast.Load()) for name in sorted(names)]
    for other in others[:16]:
        for text in texts:
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


_VALUE = (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Subscript)
_OPPOSITES: dict[str, tuple[type, ...]] = {"~x": _VALUE, "not x": (ast.Compare,)}
_CALLS = (
    "x.detach()", "x.squeeze(-1)", "x.mean()", "x.sum()", "x.abs()", "x.copy()", "x.clone()",
)  # fmt: skip
_DONE_TO_IT: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("x + 1", "x - 1"), (ast.Name,)),
    **dict.fromkeys(_CALLS, (*_VALUE[:4], ast.UnaryOp)),
    **dict.fromkeys(("x ** 0.5", "x ** -1", "x * 0.5", "x * 2"), _VALUE[:4]),
}
_squared = around({"x ** 2": _VALUE[:4]})
_with_another_sign, _up_to_one = around({"-x": _VALUE}), around({"1 - x": _VALUE})
_turned_round, _with_one_thing_done = around(_OPPOSITES), around(_DONE_TO_IT)
_with_an_axis = around({"x[:, None]": _VALUE})
_FEW: tuple[Operator, ...] = (
    parts_alone, other_operators, regrouped, _with_another_sign, other_numbers,
    other_switches, exchanged_arguments, fewer_arguments, forgotten_axis,
    near_names,
)  # fmt: skip
_MORE: tuple[Operator, ...] = (other_names, _up_to_one, _turned_round)
_OTHERS: tuple[Operator, ...] = (
    ranges, _with_an_axis, _squared, _with_one_thing_done, factors_added, terms_added,
)  # fmt: skip
PASSES: tuple[Pass, ...] = (
    (True, _FEW, (left_out_or_exchanged,)), (True, (named_numbers,), ()),
    (True, _MORE, ()),
    (False, _FEW, (left_out_or_exchanged,)), (False, (named_numbers,), ()),
    (False, _MORE, ()),
    (True, _OTHERS, (moved_or_added_up,)), (False, _OTHERS, (moved_or_added_up,)),
)  # fmt: skip
_OF_ARGUMENTS = (exchanged_arguments, fewer_arguments)
_GROW = (other_operators, _squared, _with_one_thing_done, factors_added, terms_added)
_TO_DO: dict[Operator, str] = {  # the first ones tell most
    regrouped: "change the brackets in {}",
    parts_alone: "leave out {}",
    other_numbers: "use another number instead of {}",
    near_names: "use something else instead of {}",
    named_numbers: "use a name instead of the number {}",
    other_names: "use something else instead of {}",
    other_operators: "use another operator, or another order, in {}",
    _with_another_sign: "change the sign of {}",
    _up_to_one: "use 1 minus {} instead",
    _turned_round: "turn {} into its opposite",
    fewer_arguments: "leave out {} from the arguments",
    other_switches: "use the opposite of {}",
    exchanged_arguments: "swap {} and the argument after it",
    forgotten_axis: "give the axis in {}",
    ranges: "let {} begin elsewhere, or go backwards",
    _with_an_axis: "give {} one more axis",
    _squared: "square {}",
    _with_one_thing_done: "{} needs one more operation",
    factors_added: "{} has to be multiplied or divided by something",
    terms_added: "something has to be added to {}, or subtracted from it",
}
KINDS = list(dict.fromkeys([LEFT_OUT, ANOTHER_SIGN, *MORE, *_TO_DO.values()]))
