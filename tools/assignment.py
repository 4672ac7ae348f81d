"""Graded notebooks, for nbgrader or otter-grader: `python course.py assignment FOLDER`.

FOLDER becomes an nbgrader course: its `nbgrader_config.py`, and for each lesson an assignment,
`source/NN_x/NN_x.ipynb`: the exercise edition without its folded solutions. An exercise's cell
holds the blank and, between nbgrader's marks, the solution. Its check is locked, and worth as many
points as the card says that it is difficult. INSTRUCTORS.md says how to go on from there.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools.build import ROOT, load_exercises
from tools.editions import editions, read_lesson, with_pictures
from tools.folder import writable
from tools.otter import master
from tools.sources import definition, in_prose

GRADING = Path(__file__).with_name("grading")  # what stands in an nbgrader course of ours
GRADED = """\
**Graded: {exercises} exercises, {points} points.** Write each answer into its exercise's cell;
what it needs (functions of your own, constants) goes there too, or into a new cell. The checks are
put back as they were before they are graded, and the experiments between them are not run then."""
SOLUTION = """\
{blank}
### BEGIN SOLUTION
{solution}
### END SOLUTION"""
# What a student does not see, but the grader runs: `check` from the course's files, and nothing of
# what was done to the modules in memory. Those come back, since later cells hold objects of theirs.
CHECK = """\
### BEGIN HIDDEN TESTS
import importlib, sys
_ours = [name for name in sys.modules if name.split(".")[0] == "helpers"]
_held = {{name: sys.modules.pop(name) for name in _ours}}
check = importlib.import_module("helpers.checks").checker("{key}", globals())
sys.modules.update(_held)
### END HIDDEN TESTS
{check}"""


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the assignments; all else that is in the folder stays."""
    parser = argparse.ArgumentParser(prog="assignment", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=writable, help="where they go; made if it is missing")
    parser.add_argument("--otter", action="store_true", help="for otter-grader, not nbgrader")
    args = parser.parse_args(argv)
    source = args.folder if args.otter else args.folder / "source"
    exercises = load_exercises()
    for name in sorted(path.stem for path in (root / "lessons").glob("[0-9]*.md")):
        notebook = assignment(root, name, exercises)
        if args.otter:
            notebook = master(name, notebook)
        path = source / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        print(path, flush=True)
    if not args.otter:
        settle(root, args.folder)
    return 0


def settle(root: Path, folder: Path) -> None:
    """nbgrader's settings, its feedback page, and the kernel that grades: this Python's.

    So nbgrader can have an environment of its own, in which nothing of the course is installed.
    """
    shutil.copytree(GRADING, folder, dirs_exist_ok=True)
    config = folder / "nbgrader_config.py"
    text = config.read_text("utf-8").replace('COURSE = ""', f"COURSE = {str(root)!r}")
    config.write_text(text, encoding="utf-8", newline="\n")
    argv = [sys.executable, "-m", "ipykernel_launcher", "--log-level=ERROR"]
    argv += ["-f", "{connection_file}"]
    kernel = {"argv": argv, "display_name": "The course", "language": "python"}
    place = folder / "jupyter" / "kernels" / "python3" / "kernel.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(kernel, indent=1), encoding="utf-8")


def assignment(root: Path, name: str, exercises: Mapping[str, Any]) -> NotebookNode:
    """The exercise edition of a lesson as nbgrader's source notebook."""
    _, notebook = editions(root, name, exercises)
    number, points = name[:2], []
    bare = {f"{number}-{slug}" for slug in ("setup", "imports")}
    needed = bare | {cell.id for cell in read_lesson(root, name) if "include" in cell.metadata}
    for place, cell in enumerate(notebook.cells):
        if found := re.fullmatch(r"\d\d-ex-(\d+)-(\d+)-check", cell.id):
            exercise = exercises[".".join(found.groups())]
            points.append(exercise.card.difficulty)
            _grade(root, exercise, notebook.cells[place - 2 : place + 2])
        elif cell.cell_type == "markdown":
            cell.source = _standing_alone(root, cell.source)
        elif cell.id in bare:
            cell.metadata["nbgrader"] = _marks(cell.id, locked=True)
        elif cell.id not in needed:
            cell.metadata["tags"] = ["skip-execution"]  # nbclient's word
    said = GRADED.format(exercises=len(points), points=sum(points))
    badge_and_links = r"(?s)\n\n.*?\*\*Exercise edition\*\*\n\n"
    title, rest = re.split(badge_and_links, notebook.cells[0].source, maxsplit=1)
    notebook.cells[0].source = f"{title}\n\n{said}\n\n{rest}"
    return notebook


def _grade(root: Path, exercise: Any, cells: list[NotebookNode]) -> None:
    """Turn an exercise's four cells into nbgrader's."""
    card, answer, check, hints = cells
    points, spec = exercise.card.difficulty, "{0.__module__}:{0.__qualname__}"
    card.source += f" · points: {points}"
    solution = definition(root, spec.format(exercise.reference))
    answer.source = SOLUTION.format(blank=answer.source, solution=solution)
    answer.metadata["nbgrader"] = _marks(check.id.replace("check", "answer"), solution=True)
    check.source = CHECK.format(key=exercise.id, check=check.source)
    check.metadata["nbgrader"] = _marks(check.id, grade=True, locked=True) | {"points": points}
    hints.source = hints.source.partition("\n\n<details>\n<summary>Solution")[0]


def _marks(grade_id: str, **what: bool) -> dict[str, Any]:
    """What nbgrader wants to know of a cell."""
    marks = {"grade": False, "solution": False, "locked": False, "task": False, **what}
    return {"schema_version": 3, "grade_id": grade_id, **marks}


def _standing_alone(root: Path, text: str) -> str:
    """A text whose pictures stand in it, and whose links lead to the web or to itself."""
    link = r"\[([^]]+)\]\((?![a-z]+:|#)[^)]+\)"
    return in_prose(with_pictures(root, text), lambda prose: re.sub(link, r"\1", prose))


if __name__ == "__main__":
    sys.exit(main())
