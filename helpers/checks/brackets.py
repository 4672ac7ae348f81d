"""Brackets set in another way: the same operands and operators."""

import ast
from collections.abc import Iterator, Sequence

LONGEST = 5  # operands that can be put in brackets in 14 ways; those of six in 42


def regrouped(node: ast.expr, words: object) -> Iterator[ast.expr]:
    """`(x - y) / z` for `x - y / z`, `not (x or y)` for `not x or y`, and the other way round."""
    match node:
        case ast.BoolOp(word, [ast.UnaryOp(ast.Not(), first), *others]):
            yield ast.UnaryOp(ast.Not(), ast.BoolOp(word, [first, *others]))
        case ast.UnaryOp(ast.Not(), ast.BoolOp(word, [first, *others])):
            yield ast.BoolOp(word, [ast.UnaryOp(ast.Not(), first), *others])
    if not isinstance(node, ast.BinOp):
        return
    operands, operators = _in_a_row(node)
    if len(operands) <= LONGEST:  # parts of a longer row are shorter
        before = ast.dump(node)
        yield from (way for way in _ways(operands, operators) if ast.dump(way) != before)


def _in_a_row(node: ast.expr) -> tuple[list[ast.expr], list[ast.operator]]:
    """The operands in the order in which they are written, and the operators between them."""
    if not isinstance(node, ast.BinOp):
        return [node], []
    (first, before), (last, behind) = _in_a_row(node.left), _in_a_row(node.right)
    return first + last, [*before, node.op, *behind]


def _ways(operands: Sequence[ast.expr], operators: Sequence[ast.operator]) -> Iterator[ast.expr]:
    """All ways to put a row of operands in brackets."""
    if not operators:
        yield operands[0]
    for i, op in enumerate(operators):
        for left in _ways(operands[: i + 1], operators[:i]):
            for right in _ways(operands[i + 1 :], operators[i + 1 :]):
                yield ast.BinOp(left, op, right)
