"""Work on source text: find a definition, blank its body for an exercise, tell what would leak it.

Everything here reads files as text (`ast`, `tokenize`) and imports nothing of the course, so that
a notebook shows exactly what stands in `helpers/`.
"""

import ast
import io
import random
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

# In a lesson's text: what bears a sentence out (tools/claims.py), and the white space before it.
CLAIM = re.compile(r"\s*<!-- (claim|source): (.*?) -->", re.DOTALL)
FORMATTER = "  # fmt: skip"  # what the code says to it, and no reader needs
SHORTEST_LEAK = 18  # characters without whitespace; shorter lines are in everybody's code
_STEP = re.compile(r"#\s*\d+[a-z]?[.)]")  # "# 1. ...", "# 2b) ..."
_IDIOM = re.compile(r".*:|[\w.]+\(\)|super\(\).*")


class BuildError(Exception):
    """What is wrong with a lesson, as one sentence for its author."""


def definition(root: Path, spec: str) -> str:
    """The source of `package.module:name` under `root`: a function, a class or a constant.

    Decorators belong to it; what is said to the formatter does not.
    """
    module, _, name = spec.partition(":")
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    if not path.is_file() or not name:
        raise BuildError(
            f"include '{spec}' names no module of the course; write helpers.module:name."
        )
    text = path.read_text(encoding="utf-8")
    node = next((each for each in ast.parse(text, path).body if name in _names(each)), None)
    if node is None:
        raise BuildError(f"include '{spec}': {module} defines no '{name}' of its own.")
    rows = text.split("\n")[_first_row(node) - 1 : node.end_lineno]
    return "\n".join(rows).replace(FORMATTER, "")


def blank(source: str, exercise: str, steps: bool = True) -> str:
    """Cut the bodies out of a function's or class's source; what stays is the scaffold.

    In a class where some bodies have numbered comments only those are cut. Signature, docstring
    and, with `steps`, numbered comments (and the comment lines that continue them) and
    `super().__init__()` stay; each run of code becomes one `...`; a raised NotImplementedError ends
    every cut body. All that stays moves to the body's own indentation: valid Python, however deep a
    step stood.
    """
    lines, comments, bodies = source.split("\n"), _comment_rows(source), _blanks(source)
    if not bodies:
        raise BuildError(f"exercise {exercise} has no function body to cut.")
    kept = _step_rows(source) if steps else set()
    for node, first, last in reversed(bodies):  # so that the rows above stay where they were
        pad = " " * node.body[0].col_offset
        scaffold: list[str] = []
        for row in range(first, last + 1):
            text = lines[row - 1].strip()
            if row in kept or (steps and text == "super().__init__()"):
                scaffold.append(pad + text)
            elif text and row not in comments and scaffold[-1:] != [f"{pad}..."]:
                scaffold.append(f"{pad}...")
        scaffold.append(f'{pad}raise NotImplementedError("exercise {exercise}")')
        lines[first - 1 : last] = scaffold
    return "\n".join(lines)


def without_steps(source: str) -> str:
    """The source without its numbered comments, and the comment lines that continue them."""
    steps, rows = _step_rows(source), enumerate(source.split("\n"), start=1)
    return "\n".join(line for row, line in rows if row not in steps)


def steps_of(source: str) -> str:
    """Its numbered comments, and the lines that continue them, without indentation."""
    lines = source.split("\n")
    return "\n".join(lines[row - 1].strip() for row in sorted(_step_rows(source)))


def shuffled(source: str, exercise: str) -> str:
    """The lines of the cut bodies in a random order, always the same one, without indentation.

    A statement over several lines is one line here, and comments are left out: their numbers would
    tell the order. Nothing where there are fewer than five lines.
    """
    inside = {row for _, first, last in _blanks(source) for row in range(first, last + 1)}
    found, ended = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            lines = source.split("\n")[ended : token.end[0]]
            ended = token.end[0]
            if ended in inside:
                found.append(" ".join(filter(None, map(_without_comment, lines))))
    if len(found) < 5:
        return ""
    random.Random(exercise).shuffle(found)
    return "\n".join(found)


def giveaways(source: str) -> list[str]:
    """The lines that would give the cut bodies of `source` away, without comments.

    Lines with SHORTEST_LEAK characters or more count, without whitespace, unless they are an idiom:
    the header of a block (what it holds counts), a call without arguments, `super()`.
    """
    rows = source.split("\n")
    bodies = [rows[first - 1 : last] for _, first, last in _blanks(source)]
    lines = [_without_comment(line) for body in bodies for line in body]
    return [
        line
        for line in lines
        if len(_squeeze(line)) >= SHORTEST_LEAK and not _IDIOM.fullmatch(_squeeze(line))
    ]


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line).strip()


def leak(secrets: list[str], text: str) -> str | None:
    """The first of `giveaways` in a code cell or visible Markdown, however it is laid out."""
    seen = _squeeze(text)
    return next((line for line in secrets if _squeeze(line) in seen), None)


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """Markdown with its prose changed, and neither its code nor its formulas."""
    parts = re.split(r"(?s)(```.*?```|`[^`]*`|\$[^$]*\$)", text)  # odd parts: code and formulas
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def _names(node: ast.AST) -> set[str]:
    """The names that a statement defines."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names | ({node.name} if isinstance(getattr(node, "name", None), str) else set())


def _first_row(node: ast.AST) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _functions(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Functions and methods, in order, but stubs of one line, `def hook(self): ...`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node)
        elif not isinstance(node, ast.FunctionDef) or node.body[0].lineno == node.lineno:
            continue
        elif ast.get_docstring(node) is None or len(node.body) > 1:
            yield node


def _blanks(source: str) -> list[tuple[ast.FunctionDef, int, int]]:
    """The functions whose bodies an exercise cuts, those with numbered comments or else all, and
    the first and the last row of each body.
    """
    lines, comments, steps = source.split("\n"), _comment_rows(source), _step_rows(source)
    functions = _functions(ast.parse(source))
    found = [(node, *_body_rows(node, lines, comments)) for node in functions]
    return [each for each in found if steps & set(range(each[1], each[2] + 1))] or found


def _step_rows(source: str) -> set[int]:
    """Rows of the numbered comments, and of the comment lines that continue them."""
    lines, found = source.split("\n"), set()
    for row in sorted(_comment_rows(source)):
        if row - 1 in found or _STEP.match(lines[row - 1].strip()):
            found.add(row)
    return found


def _comment_rows(source: str) -> set[int]:
    """Rows (from 1) that hold a comment and nothing else; a `#` inside a string is no comment."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return {token.start[0] for token in comments if token.line.lstrip().startswith("#")}


def _body_rows(node: ast.FunctionDef, lines: list[str], comments: set[int]) -> tuple[int, int]:
    """First and last row of a body, its comments included, its docstring not."""
    start = node.body[1 if ast.get_docstring(node) is not None else 0]
    first, last = _first_row(start), node.end_lineno or node.lineno
    while first - 1 in comments or not lines[first - 2].strip():
        first -= 1
    return first, last


def _squeeze(text: str) -> str:
    """Text without whitespace and trailing commas."""
    return re.sub(r",(?=[)\]}]|$)", "", re.sub(r"\s+", "", text))
