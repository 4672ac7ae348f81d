"""Turn a lesson's text into its two editions; CONTRIBUTING.md says how the text is written."""

import base64
import copy
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.project import project
from tools.sources import (
    CLAIM,
    FORMATTER,
    BuildError,
    blank,
    definition,
    giveaways,
    in_prose,
    leak,
    shuffled,
    steps_of,
    without_steps,
)  # fmt: skip

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "name": "python", "pygments_lexer": "ipython3"},
}
OPTIONS = {"include", "exercise", "setup", "slug", "tags"}  # of a cell; the builder uses them up
TAGS = {"lesson-only", "exercise-only"}

# The first code cell. The course comes last on the path: a folder above may hold anything.
SETUP = """\
import importlib.util, sys; sys.path += ["..", "../.."]  # the course is around this notebook
if importlib.util.find_spec("helpers") is None:
    {otherwise}"""
STOP = 'raise FileNotFoundError("Put this notebook back into the folder of the course.")'
FETCH = "!curl -sSL https://github.com/{}/archive/HEAD.tar.gz | tar xzf - --strip-components=1"

CARD = """\
### Exercise {id}: {card.title}

{card.what}

**Why it matters.** {card.why}

Difficulty {dots} · about {card.minutes} min"""

BEGIN = """\
from helpers.checks import begin

begin("{}", globals())  # so that a check can say which answers are not there yet"""

FOLDED = "<details>\n<summary>{}</summary>\n\n{}\n\n</details>"


def editions(
    root: Path, name: str, exercises: Mapping[str, Any]
) -> tuple[NotebookNode, NotebookNode]:
    """The lesson edition and the exercise edition of `lessons/<name>.md`, both without outputs.

    `exercises` maps an id to an object with `name`, `reference`, `card` and `hints`.
    """
    full: list[NotebookNode] = []
    blanks: list[NotebookNode] = []
    placed: dict[str, list[str]] = {}  # exercise id -> what would give it away
    for cell in read_lesson(root, name):
        options, tags = cell.metadata, cell.metadata.get("tags", [])
        cell.metadata = {}
        if "exercise-only" not in tags:
            full.append(copy.deepcopy(cell))
        if "lesson-only" in tags:
            continue
        if cell.cell_type == "markdown":
            cell.source = _one_folder_down(cell.source)
        if key := options.get("exercise"):
            with _located(name, cell):
                exercise = _registered(key, options.get("include"), exercises)
                placed[key] = _secrets(cell.source, exercise)
                blanks += _around(cell, key, exercise, name.split("_")[0])
        else:
            blanks.append(cell)
        if cell.id == f"{name[:2]}-imports":
            blanks.append(new_code_cell(BEGIN.format(name), id=f"{name[:2]}-begin"))
    _check_leaks(name, blanks, placed)
    for cells, folder in ((full, ""), (blanks, "exercises/")):
        _under_title(cells[0], f"{name}.ipynb", folder, project(root)[0])
    lesson, exercise_edition = (
        new_notebook(cells=c, metadata=copy.deepcopy(METADATA)) for c in (full, blanks)
    )
    return lesson, exercise_edition


def setup_cell(repository: str) -> str:
    """The first code cell's source: it finds the course or, once it is published, fetches it."""
    return SETUP.format(otherwise=FETCH.format(repository) if repository else STOP)


def read_lesson(root: Path, name: str) -> list[NotebookNode]:
    """All cells of a lesson, with their ids, included code and setup; options still on them.

    A cell's id is its slug, or its section's heading and its place there: an edit changes no ids
    outside its own section.
    """
    text = _without_claims(root, name)
    try:
        cells = jupytext.reads(text, fmt="md:myst").cells
    except Exception as error:  # YAML, JSON or notebook schema: each has its own class
        reason = str(error).splitlines()[0]
        raise BuildError(f"{name}: the text cannot be read: {reason}") from error
    if not cells or not re.match(r"# \S", cells[0].source):
        raise BuildError(f"{name}: the text must begin with its title, '# ...'.")
    section, place, used = "", 0, set()
    for cell in cells:
        headings = _headings(cell)
        if headings and cell.source.startswith("#"):
            section, place = headings[0], 0
        place += 1
        slug = "setup" if "setup" in cell.metadata else f"{section}-{place}"
        cell.id = f"{name.split('_')[0]}-{cell.metadata.get('slug', slug)}"
        with _located(name, cell):
            if cell.id in used:
                raise BuildError("this id is taken: rename one of the headings, or set a slug.")
            _check_options(cell)
            if "setup" in cell.metadata:
                cell.source = setup_cell(project(root)[0])
            elif "include" in cell.metadata:
                specs = cell.metadata["include"].split()
                cell.source = "\n\n\n".join(definition(root, spec) for spec in specs)
        used.add(cell.id)
        if headings and headings[-1] != section:
            section, place = headings[-1], 0
    return cells


def _without_claims(root: Path, name: str) -> str:
    """A lesson's text without its comments, of which it has no others."""
    text = CLAIM.sub("", (root / "lessons" / f"{name}.md").read_text(encoding="utf-8"))
    if "<!--" in text:
        raise BuildError(f"{name}: a comment is <!-- claim: ... --> or <!-- source: ... -->.")
    return text


@contextmanager
def _located(name: str, cell: NotebookNode) -> Iterator[None]:
    """Say which lesson and cell an error is about."""
    try:
        yield
    except BuildError as error:
        raise BuildError(f"{name}, cell {cell.id}: {error}") from error


def _headings(cell: NotebookNode) -> list[str]:
    """Slugs of the headings in a Markdown cell, in order."""
    if cell.cell_type != "markdown":
        return []
    prose = re.sub(r"(?ms)^(```+|~~~+).*?^\1", "", cell.source)
    slugs = []
    for heading in re.findall(r"(?m)^#{1,6} +(.+)$", prose):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
        slugs.append(re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "section")
    return slugs


def _check_options(cell: NotebookNode) -> None:
    """Refuse what an author cannot have meant."""
    options = cell.metadata
    tags = set(options.get("tags", []))
    for what, used, known in (("option", set(options), OPTIONS), ("tag", tags, TAGS)):
        if unknown := sorted(used - known):
            there = ", ".join(sorted(known))
            raise BuildError(f"unknown {what} '{unknown[0]}'; there are: {there}.")
    if ("include" in options or "setup" in options) and cell.source.strip():
        raise BuildError("the builder writes this cell; leave its body empty.")
    if "include" in options and not options["include"]:
        raise BuildError("its include is empty; write helpers.module:name.")
    if cell.cell_type == "markdown" and re.search(r"(?m)^\s*(`{3,}|:{3,}) *\{", cell.source):
        raise BuildError("only an unindented code-cell directive becomes anything in Jupyter.")


def _registered(key: str, spec: str | None, exercises: Mapping[str, Any]) -> Any:
    """The registered exercise of a cell, which must be about this definition."""
    if key not in exercises:
        raise BuildError(
            f'no exercise {key!r} in helpers/exercises; an id stands in quotes, :exercise: "1.1".'
        )
    exercise = exercises[key]
    reference = f"{exercise.reference.__module__}:{exercise.reference.__qualname__}"
    if reference != spec:
        raise BuildError(f"exercise {key} is checked against {reference}, not against {spec}.")
    return exercise


def _around(cell: NotebookNode, key: str, exercise: Any, number: str) -> list[NotebookNode]:
    """Card, blank or bug, check, and the folded hints with the solution."""
    dots = "●" * exercise.card.difficulty + "○" * (5 - exercise.card.difficulty)
    solution, hints = cell.source, enumerate(exercise.hints, start=1)
    folds = {f"Hint {i}": hint for i, hint in hints}
    if exercise.bug:
        cell.source = without_steps(exercise.broken).replace(FORMATTER, "").strip()
    else:
        # From lesson 03 on the steps, where there are any, are folded too.
        steps, lines = steps_of(solution), shuffled(solution, key)
        guided = number < "03" or not steps
        cell.source = blank(solution, key, steps=guided)
        folds |= {} if guided else {"The steps": _python(steps)}
        folds |= {"The solution's lines, shuffled": _python(lines)} if lines else {}
    folds["Solution"] = _python(solution)
    stem = f"{number}-ex-{key.replace('.', '-')}"
    check = f'{exercise.name} = check("{key}", {exercise.name})'
    return [
        new_markdown_cell(CARD.format(id=key, card=exercise.card, dots=dots), id=f"{stem}-card"),
        cell,
        new_code_cell(check, id=f"{stem}-check"),
        new_markdown_cell(
            "\n\n".join(FOLDED.format(*fold) for fold in folds.items()), id=f"{stem}-hints"
        ),
    ]


def _secrets(solution: str, exercise: Any) -> list[str]:
    """What would give the solution away; around a bug the other lines are there to be read."""
    secrets = giveaways(solution)
    if exercise.bug:
        return [line for line in secrets if not leak([line], exercise.broken)]
    return secrets


def _python(code: str) -> str:
    fence = "````" if "```" in code else "```"
    return f"{fence}python\n{code}\n{fence}"


def _check_leaks(name: str, cells: list[NotebookNode], placed: Mapping[str, list[str]]) -> None:
    """Refuse a solution that can be read anywhere but in a folded solution."""
    for cell in cells:
        text = cell.source
        if cell.cell_type == "markdown":
            text = re.sub(r"(?s)<details>.*?</details>", "", text)
        for key, secrets in placed.items():
            if found := leak(secrets, text):
                raise BuildError(f"{name}, cell {cell.id}: gives exercise {key} away: {found}")


def _under_title(cell: NotebookNode, file: str, folder: str, repository: str) -> None:
    """Put the Colab badge (once there is a repository) and the other edition's link there."""
    title, _, rest = cell.source.partition("\n")
    parts = [title]
    if repository:
        colab = "https://colab.research.google.com"
        page = f"{colab}/github/{repository}/blob/main/notebooks/{folder}{file}"
        parts.append(f"[![Open in Colab]({colab}/assets/colab-badge.svg)]({page})")
    if folder:
        parts.append(f"[Lesson edition](../{file}) · **Exercise edition**")
    else:
        parts.append(f"**Lesson edition** · [Exercise edition](exercises/{file})")
    cell.source = "\n\n".join([*parts, rest.strip()]).rstrip()


def _one_folder_down(text: str) -> str:
    """Adjust relative links to notebooks/exercises/; links to notebooks stay in the edition."""
    link = r"(\]\(|(?:src|href)=\")(?![a-z]+:|[#/])(?![^)\"\s]*\.ipynb)"
    return in_prose(text, lambda part: re.sub(link, r"\1../", part))


def with_pictures(root: Path, text: str) -> str:
    """A lesson's text whose pictures stand in it."""

    def picture(link: re.Match[str]) -> str:
        content = base64.b64encode((root / link[2]).read_bytes()).decode()
        return f"{link[1]}(data:image/png;base64,{content})"

    return re.sub(r"(!\[[^]]*\])\((?:\.\./)+(data/pictures/[^)]+)\)", picture, text)
