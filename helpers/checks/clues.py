"""What else there is to say of a wrong answer: facts of its source, beside the diagnosis.

Each of them is true whatever the mistake is called: a line that does nothing, a name that is never
used, a number that stands where an argument belongs, the argument that was changed.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from helpers.checks.compare import Difference, Leaf, close
from helpers.checks.edits import source_of_reference
from helpers.checks.exercise import Exercise, call
from helpers.checks.hints import copies, crossed
from helpers.checks.loops import ends_at_once
from helpers.checks.running import Outcome
from helpers.checks.source import Source, source_of
from helpers.checks.traced import changed_argument, every_with_every_other

_UNREAD = {"other arguments", "unfinished", "no return", "return in a loop"}
# Methods and functions of torch and numpy that only give something new.
_GIVES = {
    "abs", "amax", "amin", "astype", "clamp", "clip", "clone", "cumsum", "detach", "exp", "expand",
    "expm1", "flatten", "item", "log", "maximum", "mean", "minimum", "numpy", "permute", "pow",
    "prod", "reshape", "round", "sigmoid", "softmax", "sqrt", "square", "squeeze", "std", "sum",
    "tanh", "transpose", "unsqueeze", "var", "view", "where", "zeros_like", "ones_like",
}  # fmt: skip
_DOES = {"backward", "step", "zero_grad", "detach_", "clear", "reset"}  # worth nothing uncalled
_NO_GRADIENT = {"no_grad", "inference_mode"}


def clues(
    exercise: Exercise,
    function: Callable,
    got: Outcome,
    found: list[list[Difference]],
    name: str | None,
    message: str,
) -> Iterator[str]:
    """Sentences to add to a diagnosis of this name and message. `found`: what differs, by case."""
    source = source_of(function)
    failing = [number for number, here in enumerate(found) if here]
    if "changes its inputs" in got.broken and (told := changed_argument(exercise, function)):
        yield told
    said_where = "Look at" in message or "places" in message
    if failing and name == "shape" and ("one more operation" in message or not said_where):
        where = found[failing[0]][0].where
        yield from _one_step_more([d for i in failing for d in found[i] if d.where == where])
    if source is None or name in _UNREAD:
        return
    given = ast.parse(source_of_reference(exercise.reference))
    yield from _lines_without_effect(source, given)
    if "loop" not in message and (looped := ends_at_once(function)):
        yield looped[1]
    if "backward" not in message:
        yield from islice(_steps_in_another_order(source), 1)
    if not failing:
        return
    stopped = found[failing[0]][0].kind == "raised"
    if name is None or stopped:
        yield from _never_used(source, given)
    if stopped:
        return
    if _gradient_is_missing(found[failing[0]]):
        yield from copies(source, given, message)
    if not any(words in message for words in ("every other", "every return", "(B, B)", "matrix")):
        yield from filter(None, [every_with_every_other(exercise, function, failing)])
    if name is None:
        yield from _written_in(exercise, source, given, failing)
        yield from (*crossed(source, exercise.reference), *islice(_inner_breaks(source, given), 1))
        yield from _loss_of_classes(exercise, source)


def _loss_of_classes(exercise: Exercise, source: Source) -> Iterator[str]:
    found = re.search("cross_entropy|CrossEntropy|nll_loss", ast.unparse(source.node))
    if found and "loss" in exercise.name:
        yield f"`{found[0]}` is for telling classes apart: write out what is asked for."


def _gradient_is_missing(differences: list[Difference]) -> bool:
    return any(
        d.kind == "detached" or (d.kind == "none" and "gradient" in d.where) for d in differences
    )


# --- Lines that do nothing ------------------------------------------------------------------------


def _lines_without_effect(source: Source, given: ast.AST) -> Iterator[str]:
    """The first line whose result is dropped, or that only gives a tensor another name."""
    usual = {ast.dump(node) for node in ast.walk(given) if isinstance(node, ast.Expr)}
    for node in ast.walk(source.node):
        if isinstance(node, ast.Expr) and ast.dump(node) in usual:
            continue
        if isinstance(node, ast.Expr) and (what := _no_effect(node.value)):
            yield f"`{source.line(node.lineno)}` has no effect: {what}."
            return
        if isinstance(node, ast.With) and _only_renames(node):
            line = source.line(node.body[0].lineno)
            yield (
                f"`no_grad` only affects what is computed inside it. `{line}` computes nothing: it "
                "gives the same tensor another name."
            )
            return


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


def _only_renames(node: ast.With) -> bool:
    """Whether a block without gradients has nothing in it but `a = b`."""
    calls = [each.context_expr for each in node.items if isinstance(each.context_expr, ast.Call)]
    if not any(getattr(call.func, "attr", "") in _NO_GRADIENT for call in calls):
        return False
    return all(isinstance(x, ast.Assign) and _is_a_name(x.value) for x in node.body)


def _is_a_name(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_a_name, value.elts))
    return isinstance(value, ast.Name) or (
        isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)
    )


def _steps_in_another_order(source: Source) -> Iterator[str]:
    """One `backward`, the clipping and an optimiser's step, where they stand side by side."""
    for node in ast.walk(source.node):
        body = getattr(node, "body", None)  # that of a lambda is an expression
        lines = body if isinstance(body, list) else []
        calls = [called for line in lines if (called := _called(line))]
        names = [name for name, _ in calls]
        if names.count("backward") != 1:
            continue
        before, after = calls[: names.index("backward")], calls[names.index("backward") + 1 :]
        stepped = [whose for name, whose in before if name == "step" and "opt" in whose]
        if any(name.startswith("clip_grad") for name, _ in before):
            yield "Clip the gradient after `backward()`, which computes it."
        if stepped and not any(name == "step" for name, _ in after):
            yield "Call the optimiser's step after `backward()`, which computes the gradient."
        cleared = (after[i:] for i, (name, _) in enumerate(after) if name == "zero_grad")
        if any(("step", rest[0][1]) in rest for rest in cleared):
            yield "`zero_grad()` clears what `backward()` has just computed: call it before."


def _called(line: ast.stmt) -> tuple[str, str] | None:
    """Of a statement that is a call: the method's or function's name, and what it belongs to."""
    if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)):
        return None
    function = line.value.func
    if isinstance(function, ast.Attribute):
        return function.attr, ast.unparse(function.value)
    return (function.id, "") if isinstance(function, ast.Name) else None


def _inner_breaks(source: Source, given: ast.AST) -> Iterator[str]:
    """Each `break` of a loop within a loop that has none, nor has the course's version."""

    def breaks(node: ast.AST) -> set[ast.AST]:
        return {each for each in ast.walk(node) if isinstance(each, ast.Break)}

    loops = [node for node in ast.walk(source.node) if isinstance(node, ast.For | ast.While)]
    pairs = [
        (outer, x) for outer in loops for x in ast.walk(outer) if x in loops and x is not outer
    ]
    for outer, inner in pairs if not breaks(given) else ():
        if breaks(inner) and breaks(inner) == breaks(outer):
            line = source.line(inner.lineno)
            yield f"Your `break` ends only the loop `{line}`; the one around it goes on."


# --- Names and numbers ----------------------------------------------------------------------------


def _never_used(source: Source, given: ast.AST) -> Iterator[str]:
    """The first name that is given a value of its own and never read afterwards."""
    as_given = {ast.dump(node) for node in ast.walk(given) if isinstance(node, ast.FunctionDef)}
    for function in ast.walk(source.node):
        if not isinstance(function, ast.FunctionDef) or ast.dump(function) in as_given:
            continue
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        changed = {
            node.target.id
            for node in ast.walk(function)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        for node in (each for each in ast.walk(function) if isinstance(each, ast.Assign)):
            for name in sorted(_stored(node) - read - changed):
                yield f"`{name}` is computed, in `{source.line(node.lineno)}`, and never used."
                return


def _stored(node: ast.Assign) -> set[str]:
    """The names that an assignment of something computed gives; not those of several things."""
    if _is_a_name(node.value):
        return set()
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def _written_in(
    exercise: Exercise, source: Source, given: ast.AST, failing: list[int]
) -> Iterator[str]:
    """A number of its own that stands where an argument belongs: it fails on other numbers."""
    own = _numbers_of(source.node) - _numbers_of(given) - _USUAL
    for name, values in _plain_arguments(exercise).items():
        shown = f"`self.{name}`" if inspect.isclass(exercise.reference) else f"`{name}`"
        for number in sorted(own):
            equal = {i for i, value in enumerate(values) if value == number}
            others = {i for i, value in enumerate(values) if value not in (number, None)}
            if equal and set(failing) <= others:
                yield (
                    f"It is wrong only where {shown} is not {number:g}, a number that is written "
                    f"into your code: use {shown}."
                )
                return


def _numbers_of(node: ast.AST) -> set[float]:
    """Those written into some code; 0.2 where 0.8 or 1.2 is written."""
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    plain = {each for each in constants if type(each) is float or (type(each) is int and each > 9)}
    return plain | {round(abs(each - 1), 9) for each in plain if isinstance(each, float)}


_USUAL = {0, 1, 2, 0.5}  # floats that stand anywhere, for reasons of their own


def _plain_arguments(exercise: Exercise) -> dict[str, list]:
    """The arguments that are a number in some case: what each case gives them, None for none."""
    taken = [*inspect.signature(exercise.reference).parameters]
    names = taken
    if exercise.observe is not call:  # which is handed what the function is, and more
        _, *names = inspect.signature(exercise.observe).parameters
    given: dict[str, list] = {}
    for number, case in enumerate(exercise.inputs):
        for name, value in [*zip(names, case.args, strict=False), *case.kwargs.items()]:
            if name in taken and type(value) in (int, float):
                given.setdefault(name, [None] * len(exercise.inputs))[number] = value
    return given


# --- Shapes ---------------------------------------------------------------------------------------


def _one_step_more(differ: list[Difference]) -> Iterator[str]:
    """What would make the shape right: an axis of length 1 less, the mean or the sum."""
    shown = [d for d in differ if isinstance(d.got, Leaf) and d.got.numeric and d.expected.numeric]
    pairs = [(d.expected.value, d.got.value) for d in shown]
    if not shown or len(shown) < sum(d.kind != "raised" for d in differ):
        return
    if all(have.shape in (want.shape, (*want.shape, 1)) for want, have in pairs):
        yield (
            "The last axis, of length 1, is one too many, and beside numbers without it the result "
            "would be a matrix: `.squeeze(-1)` removes it."
        )
    if all(d.kind == "reshaped" for d in shown):
        return
    for sentence, step in _STEPS.items():
        tried = [step(*map(np.atleast_1d, each)) for each in pairs if each[1].size]
        alike = (
            w.size == h.size and close(w.ravel(), h.ravel(), 1e-4, 1e-5).all() for w, h in tried
        )
        if len(tried) == len(pairs) and all(alike):
            yield sentence
            return


_STEPS: dict[str, Callable] = {
    "Its mean is the expected number: `.mean()`.": lambda want, have: (want, have.mean()),
    "Its sum is the expected number: `.sum()`.": lambda want, have: (want, have.sum()),
    "Its sums along the last axis are expected: `.sum(-1)`.": lambda want, x: (want, x.sum(-1)),
    "Its axes are exchanged: `.T` exchanges them back.": lambda want, x: (
        (want, x.T if x.T.shape == want.shape else x[:0])
    ),
    "It is only the first part of what is expected.": lambda want, have: (want[:1], have),
    "It is only the last part of what is expected.": lambda want, have: (want[-1:], have),
}
