"""The committed notebooks: fit to be shown, equal to what the builder writes, and solvable.

That their cells run is tested by nbval, which executes every notebook in the same pytest run.
"""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from colab import run
from few_steps import FEW_STEPS, shorten

from helpers.checks import check, exercises
from tools.outputs import problems

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BLANKS = sorted((ROOT / "notebooks" / "exercises").glob("*.ipynb"))
ALWAYS = ("00", "01", "03")  # whose solved editions run without `--all` as well
NOT_STARTED = re.compile(r'raise NotImplementedError\("exercise ([\d.]+)"\)')


def notebooks(paths):
    """Parametrise over notebooks, named as they are in the folder; none is a skip, no error."""
    names = [path.relative_to(ROOT / "notebooks").with_suffix("").as_posix() for path in paths]
    return pytest.mark.parametrize("path", paths, ids=names)


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@notebooks(BLANKS)
def test_a_check_shows_its_card_where_the_answer_s_cell_stopped(path, capsys):
    """Nothing of an exercise has run: its name would be a NameError."""
    notebook, scope = nbformat.read(path, as_version=nbformat.NO_CONVERT), {"check": check}
    begin, *checks = [c for c in notebook.cells if re.search(r"^\d\d-(begin|ex-.*-check)$", c.id)]
    for cell in (begin, *checks):
        exec(cell.source, scope)
    assert capsys.readouterr().out.count("no answer yet") == len(checks) > 0


# As files


@notebooks(LESSONS + BLANKS)
def test_is_as_the_builder_wants_it_and_begins_with_three_lines(path):
    """Valid, small, without warnings, errors and paths of the machine that built it."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    assert problems(ROOT, notebook) == []
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert code.id.endswith("-setup")
    assert len(code.source.splitlines()) <= 3


@notebooks(LESSONS)
def test_lesson_was_run_from_top_to_bottom(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = all(cell.execution_count for cell in code if cell.source.strip())
    assert ran, f"built without outputs: python course.py build {path.stem}"
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert outputs(notebook)


@notebooks(BLANKS)
def test_exercise_edition_is_blank(path):
    notebook = nbformat.read(path, as_version=4)
    assert not outputs(notebook)
    assert not any(cell.get("execution_count") for cell in notebook.cells)
    asked = {number for cell in notebook.cells for number in NOT_STARTED.findall(cell.source)}
    blanks = {each.id for each in exercises() if each.lesson == path.stem and not each.bug}
    assert asked == blanks


def test_help_comes_by_degrees_and_what_is_shown_is_for_readers():
    cells = {}
    for name in ("02_ddpg", "03_td3", "06_sac"):
        notebook = nbformat.read(ROOT / "notebooks" / "exercises" / f"{name}.ipynb", as_version=4)
        cells |= {cell.id: cell.source for cell in notebook.cells}
    for number, between in (("3-2", "The steps"), ("3-5", "The solution's lines, shuffled")):
        folds = re.findall(r"<summary>(.+)</summary>", cells[f"03-ex-{number}-hints"])
        assert folds == ["Hint 1", "Hint 2", between, "Solution"]
    assert re.search(r"super\(\).__init__\(\)\n +# 1\.", cells["02-two-networks-2"])
    assert not [name for name, source in cells.items() if "fmt: skip" in source]


def test_no_name_is_undefined():
    """Included code runs in the notebook's own namespace: whatever it uses must stand above."""
    rules = "E9,F63,F7,F821,F822,F823"
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", rules]
    done = subprocess.run(
        [*command, "--target-version=py311", *LESSONS, *BLANKS], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr  # missing in the lesson's imports


def test_is_what_the_builder_writes():
    done = subprocess.run(
        [sys.executable, "-m", "tools.build", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


# Solved: every blank filled with the reference, run to the end with the student's own functions


def solve(notebook, lesson):
    """Fill the blanks in place, mend the bugs; returns the names of the functions concerned."""
    own = [each for each in exercises() if each.lesson == lesson]
    references = {each.id: each.reference for each in own}
    names = []
    for cell in notebook.cells:
        for each in own:
            begins = rf"(@.+\n)*(def|class) {each.name}\("
            if each.bug and re.match(begins, cell.source):
                cell.source = inspect.getsource(each.reference)
                names.append(each.name)
        numbers = NOT_STARTED.findall(cell.source) if cell.cell_type == "code" else []
        if numbers:
            module = inspect.getmodule(references[numbers[0]])
            blanks = [part.name for part in ast.parse(cell.source).body if hasattr(part, "name")]
            cell.source = "\n\n".join(inspect.getsource(getattr(module, name)) for name in blanks)
            names += [references[number].__name__ for number in dict.fromkeys(numbers)]
    return names


# One training of each algorithm reaches its bar; these train for a moment, as in nbval's run.
BRIEFLY = {
    "01-train-long-pendulum", "02-train-car", "03-train-car", "03-train-two-poles",
    "04-train-dense", "06-train-car", "08-train-rlpd",
}  # fmt: skip
LEFT_OUT = {"now-you", "pixels"}  # cells that train for the pleasure of it, or record pictures


def leave_aside(notebook):
    """Of a solved edition: train at full scale what the student's functions are for, once."""
    cells = []
    for cell in notebook.cells:
        if cell.id in BRIEFLY:
            few = f"os.environ['COURSE_TEST_STEPS'] = '{FEW_STEPS}'"
            cell.source = f"import os\n{few}\n{cell.source}\ndel os.environ['COURSE_TEST_STEPS']"
        shorten(cell, full=True)
        if cell.id[3:] not in LEFT_OUT and not cell.id.endswith("video"):
            cells.append(cell)
    notebook.cells = cells


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=path.stem,
            marks=[
                pytest.mark.xdist_group(f"solved {path.stem}"),
                *([] if path.stem[:2] in ALWAYS else [pytest.mark.long]),
            ],
        )
        for path in BLANKS
    ],
)
def test_solved_exercises_reach_the_bar(path):
    """The cell that asks whether the agent learned raises when it did not."""
    notebook = nbformat.read(path, as_version=4)
    names = solve(notebook, path.stem)
    leave_aside(notebook)
    own = "\n".join(f"assert {name}.__module__ == '__main__', '{name}'" for name in names)
    notebook.cells.append(nbformat.v4.new_code_cell(own))
    run(notebook, "python3", path.parent)
    assert len(names) == sum(exercise.lesson == path.stem for exercise in exercises())
