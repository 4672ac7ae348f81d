"""Build the notebooks: lessons/NN_x.md and helpers/ become two editions of each lesson.

    python -m tools.build [--check | --no-execute | --force] [lesson ...]

notebooks/ has full code and real outputs, notebooks/exercises/ has blanks, checks and folded hints.
`tools.sources` cuts definitions and blanks out of the course's files, `tools.editions` makes the
cells of both editions, `tools.outputs` runs them and refuses what should not be committed.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from helpers.checks import exercises as registered
from tools.editions import editions
from tools.outputs import execute, keep_outputs, load, problems, text_of, too_long
from tools.sources import BuildError

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("notebooks", "notebooks/exercises")


def main(
    argv: list[str] | None = None, root: Path = ROOT, exercises: Mapping[str, Any] | None = None
) -> int:
    """Build or check. Gives 0, or 1 where something is refused or differs, or 2 for bad usage."""
    args = _parser().parse_args(argv)
    known = sorted(path.stem for path in (root / "lessons").glob("[0-9][0-9]_*.md"))
    asked = {Path(arg).stem for arg in args.lessons}
    names = [name for name in known if not asked or asked & {name, *name.split("_", 1)}]
    if wrong := asked - {part for name in names for part in (name, *name.split("_", 1))}:
        there = ", ".join(known) or "none yet"
        print(f"There is no lesson '{min(wrong)}'; there are: {there}.", file=sys.stderr)
        return 2
    exercises = load_exercises() if exercises is None else exercises

    stopped = []
    for name in names:
        try:
            lesson, blanks = editions(root, name, exercises)
            stopped += build_one(root, name, lesson, blanks, args)
        except BuildError as error:
            stopped.append(str(error))
    if args.check and not asked:
        files = [path for place in FOLDERS for path in sorted((root / place).glob("*.ipynb"))]
        stopped += [f"{_label(root, p)}: no lesson makes it." for p in files if p.stem not in known]
    if stopped:
        print(*stopped, sep="\n", file=sys.stderr)
    return 1 if stopped else 0


def build_one(
    root: Path, name: str, lesson: NotebookNode, blanks: NotebookNode, args: argparse.Namespace
) -> list[str]:
    """Write or compare both editions of a lesson; returns what is wrong, a sentence each."""
    path, blank_path = (root / place / f"{name}.ipynb" for place in FOLDERS)
    if args.check:
        return difference(root, path, lesson) + difference(root, blank_path, blanks)
    stopped = write(root, blank_path, blanks)  # first, since nothing has to run
    fresh = args.force or not keep_outputs(lesson, path)
    if fresh and not args.no_execute and not too_long(lesson):  # that is refused anyhow
        print(f"{name}: running", flush=True)
        execute(root, name, lesson)
    return stopped + write(root, path, lesson)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build",
        description="Write notebooks/ from lessons/. Code that has run is not run again.",
    )
    parser.add_argument("lessons", nargs="*", metavar="lesson", help="such as 01 (default: all)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="write nothing, name what is out of date")
    how.add_argument("--no-execute", action="store_true", help="write, but run nothing")
    how.add_argument("--force", action="store_true", help="run even where no code has changed")
    return parser


def write(root: Path, path: Path, notebook: NotebookNode) -> list[str]:
    """Write a notebook unless it has problems, which come back; the same again touches no file."""
    label = _label(root, path)
    if found := problems(root, notebook):
        return [f"{label}: {sentence}" for sentence in found]
    text = text_of(notebook)
    same = path.is_file() and path.read_text("utf-8") == text
    if not same:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{label}: {'unchanged' if same else 'written'}", flush=True)
    return []


def difference(root: Path, path: Path, notebook: NotebookNode) -> list[str]:
    """How the file at `path` differs from `notebook`, outputs apart."""
    label = _label(root, path)
    if not path.is_file():
        return [f"{label}: it is missing; build it."]
    old = load(path)
    ours, theirs = ([_sources(cell) for cell in nb.cells] for nb in (notebook, old))
    if ours == theirs and notebook.metadata == old.metadata:
        return []
    changed = [cell for cell in [*ours, *theirs] if cell not in ours or cell not in theirs]
    what = f"cell {changed[0][0]} differs" if changed else "the order or the metadata differs"
    return [f"{label}: {what}; build it again."]


def _sources(cell: NotebookNode) -> tuple[str, str, str, NotebookNode]:
    return cell.get("id", "without id"), cell.cell_type, cell.source, cell.metadata


def _label(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def load_exercises() -> dict[str, Any]:
    """The registered exercises by id."""
    return {exercise.id: exercise for exercise in registered()}


if __name__ == "__main__":
    sys.exit(main())
