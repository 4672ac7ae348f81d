"""The changes that the search for a wrong line tries, and in which order."""

import ast

import pytest

from helpers.checks.mutants import mutants, words_of
from helpers.checks.places import shape


def changed(text, likeliest=False):
    """All that one change makes of an expression, or only the first half of that."""
    root = ast.parse(f"def f(x, y, z):\n    return {text}").body[0]
    made = [ast.unparse(root.body[0].value) for _ in mutants(root, words_of(root))]
    return made[: len(made) // 2] if likeliest else made


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("x - y / z", "(x - y) / z"),
        ("(x + y) * z * 3", "x + y * z * 3"),
        ("(x - y) / z", "x - y / z"),
        ("x + y - x * z", "x + (y - x) * z"),
        ("x * y / x * z", "x * y / (x * z)"),
        ("x['a'] + y['b']", "x['b'] + y['b']"),
        ("not x or y", "not (x or y)"),
        ("not (x and y)", "not x and y"),
        ("f(x, y, size=z)", "f(x, z, size=y)"),
        ("x is None", "x is not None"),
        ("x * 0.9", "x * z"),
    ],
)
def test_brackets_keys_and_numbers(text, other):
    assert other in changed(text, likeliest=True)


def test_forgotten_sums_and_quotients():
    root = ast.parse("def f(x):\n    y, z = x.shape\n    y = y + x\n    z = x").body[0]
    changes = "".join(ast.unparse(root) for _ in mutants(root, words_of(root)))
    assert all(each in changes for each in ("z += x", "x / z"))
    assert "y += y" not in changes


def test_of_the_arguments_the_one_that_is_meant_is_shown():
    node = ast.parse("def f(x, y, z):\n    return g(x, y, z, keep=True)").body[0]
    shown = [(m.kind, ast.unparse(m.part)) for m in mutants(node, words_of(node))]
    assert [part for kind, part in shown if kind.startswith("swap {}")] == [*"xyz"]
    node = ast.parse("def f(x):\n    return g(low=x, size=3)").body[0]
    exchanged = [m for m in mutants(node, words_of(node)) if m.kind.startswith("swap {}")]
    assert [ast.unparse(each.part) for each in exchanged] == ["x"]
    left_out = [part for kind, part in shown if kind.endswith("from the arguments")]
    assert left_out == ["keep=True", *"xyz"]


def test_what_is_called_is_no_value():
    assert not any(each.startswith(("(-f)(", "(1 - f)(")) for each in changed("f(x)"))
    assert not any("(-self)" in each for each in changed("self.gamma * x"))


def test_unusual_statements_are_changed_first():
    root = ast.parse("def f(x):\n    y = x + 1\n    return y * 2").body[0]
    usual = {shape(root.body[0])}
    lines = [each.line for each in mutants(root, words_of(root), usual)]
    assert lines.index(3) < lines.index(2)
    assert {*lines} == {each.line for each in mutants(root, words_of(root))}
