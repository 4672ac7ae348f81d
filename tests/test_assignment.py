"""The notebooks that `course.py assignment` writes; test_nbgrader.py has them graded."""

import json
import re
import shutil
import subprocess
import sys

import nbclient
import nbformat
import pytest
from graders import err, lost_by_erring, mistake
from sometimes import always_on

from helpers.checks import exercises
from helpers.checks.edits import source_of_reference
from tools import assignment
from tools.editions import editions
from tools.sources import FORMATTER

ALL = {exercise.id: exercise for exercise in exercises()}
LESSONS = sorted(path.stem for path in (assignment.ROOT / "lessons").glob("[0-9]*.md"))
REGION = r"\n?### BEGIN {0}\n(.*?)### END {0}\n?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    assert assignment.main([str(folder)]) == 0
    return folder


@pytest.fixture(params=always_on("01", "04", of=LESSONS))
def lesson(folder, request):
    """A lesson's exercises as they stand in it, the notebook, and the edition it comes from."""
    name = request.param
    notebook = nbformat.read(folder / "source" / name / f"{name}.ipynb", as_version=4)
    keys = [key for cell in notebook.cells for key in re.findall(r'= check\("(.+?)"', cell.source)]
    assert set(keys) == {exercise.id for exercise in exercises(name)}
    return [ALL[key] for key in keys], notebook, editions(assignment.ROOT, name, ALL)[1]


def marks(cell):
    return cell.metadata.get("nbgrader", {})


def released(cell, mark):
    """What a student gets of a cell: nbgrader takes the marked lines out."""
    return re.sub(REGION.format(mark), "", cell.source, flags=re.S)


def test_it_is_valid_and_each_grade_id_stands_once(lesson):
    _, notebook, _ = lesson
    nbformat.validate(notebook)
    marked = [marks(cell) for cell in notebook.cells if marks(cell)]
    ids = [mark["grade_id"] for mark in marked]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]+", each) for each in ids)
    assert {mark["schema_version"] for mark in marked} == {3}


def test_the_other_edition_and_colab_are_not_named(monkeypatch):
    for repository in ("", "somebody/course"):
        monkeypatch.setattr("tools.editions.project", lambda root, r=repository: (r, "0.1.0"))
        first = assignment.assignment(assignment.ROOT, "00_start_here", ALL).cells[0].source
        assert first.startswith("# 00 · ")
        assert "**Graded: 2 exercises, 3 points.**" in first
        assert not re.search("Exercise edition|Lesson edition|colab", first)


def test_checks_are_locked_and_worth_what_the_cards_say(lesson):
    own, notebook, _ = lesson
    checks = [cell for cell in notebook.cells if marks(cell).get("grade")]
    for cell, exercise in zip(checks, own, strict=True):
        name = exercise.name
        assert released(cell, "HIDDEN TESTS") == f'{name} = check("{exercise.id}", {name})'
        assert marks(cell)["points"] == exercise.card.difficulty
        assert marks(cell)["locked"]
        assert not marks(cell)["solution"]
    points = sum(exercise.card.difficulty for exercise in own)
    assert f"Graded: {len(own)} exercises, {points} points." in notebook.cells[0].source


def test_an_answer_is_the_blank_and_then_the_solution(lesson):
    own, notebook, edition = lesson
    answers = [cell for cell in notebook.cells if marks(cell).get("solution")]
    blanks = {cell.id: cell.source for cell in edition.cells}
    for cell, exercise in zip(answers, own, strict=True):
        assert released(cell, "SOLUTION").strip() == blanks[cell.id]
        [solution] = re.findall(REGION.format("SOLUTION"), cell.source, flags=re.S)
        assert solution == source_of_reference(exercise.reference).replace(FORMATTER, "")


def test_no_solution_and_no_way_out_stands_in_the_text(lesson):
    _, notebook, edition = lesson
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert len(texts) == sum(cell.cell_type == "markdown" for cell in edition.cells)
    assert not any("<summary>Solution" in text for text in texts)
    assert sum("<summary>Hint 2" in text for text in texts) == len(lesson[0])
    links = [link for text in texts for link in re.findall(r"\]\(([^)]+)\)", in_prose_only(text))]
    assert links, "a lesson links its sources, under `# Read on`"
    assert all(re.match(r"https?:|#|data:image/png;base64,", link) for link in links)


def in_prose_only(text):
    return re.sub(r"(?s)```.*?```|`[^`]*`|\$[^$]*\$", "", text)


def test_the_same_lesson_gives_the_same_file(folder, tmp_path):
    assert assignment.main([str(tmp_path)]) == 0
    for path in folder.rglob("*.*"):
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes()


@pytest.mark.parametrize("name", LESSONS)
def test_the_instructors_table_is_the_cards(name):
    cards = [exercise.card for exercise in exercises(name)]
    sums = len(cards), sum(card.difficulty for card in cards), sum(card.minutes for card in cards)
    row = "| {} | {} | {} | {} |".format(name, *sums)
    text = (assignment.ROOT / "INSTRUCTORS.md").read_text("utf-8")
    assert row in text, f"INSTRUCTORS.md, table of assignments: {row}"
    last = exercises(name)[-1].id
    assert len(cards) == 1 or f" to {last}" in text, f"INSTRUCTORS.md, six weeks: to {last}"


def run(notebook, folder, monkeypatch):
    """Run a notebook as nbgrader's autograde does; returns the cells where an error came."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("PYTHONPATH", str(assignment.ROOT))
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, allow_errors=True, resources=resources).execute()
    return [
        (cell.id, output.ename)
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def source_notebook(folder, name):
    return nbformat.read(folder / "source" / name / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", always_on("00", of=LESSONS))
def test_each_answer_is_judged_by_itself_and_experiments_are_not_run(
    folder, name, tmp_path, monkeypatch
):
    """Wrong, missing and broken answers fail, and later ones pass with the course's version."""
    notebook = source_notebook(folder, name)
    keys = [each.id for each in exercises(name)]
    wrong, untouched, broken = lost_by_erring(keys)
    assert wrong, "no exercise of this lesson stands in WRONG"
    err(notebook.cells)
    checks = {key: f"{name[:2]}-ex-{key.replace('.', '-')}-check" for key in keys}
    errors = dict(run(notebook, tmp_path, monkeypatch))
    failed = [key for key in keys if errors.get(checks[key]) == "CheckFailed"]
    assert set(failed) == {*wrong, *untouched, *broken}
    said = {cell.id: str(cell.get("outputs")) for cell in notebook.cells}
    for key in wrong:
        assert mistake(key).name in said[checks[key]]
    ran = {cell.id for cell in notebook.cells if cell.get("execution_count")}
    if name == "00_start_here":
        answered = {cell.id for cell in notebook.cells if marks(cell).get("solution")}
        assert ran == {"00-setup", "00-imports", *answered, *checks.values()}


def test_an_answer_and_its_check_speak_of_the_same_classes(folder):
    """5.4 gives back an environment; the check has its modules from a load of its own."""
    name = "05_td3_in_practice"
    notebook = source_notebook(folder, name)
    code = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    answer = source_of_reference(ALL["5.6"].reference)
    script = "\n".join([code["05-imports"], answer, code["05-ex-5-6-check"]])
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=assignment.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_who_has_no_graded_notebook_is_listed(folder, tmp_path):
    shutil.copy(folder / "ungraded.py", tmp_path)
    for place in ("submitted/ann", "submitted/bob", "submitted/dan", "autograded/ann"):
        (tmp_path / place / "01_a2c").mkdir(parents=True)
        name = "01_a2c (1).ipynb" if "bob" in place else "01_a2c.ipynb"
        (tmp_path / place / "01_a2c" / name).touch()
    command = [sys.executable, "ungraded.py", "01_a2c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = ["bob handed in: 01_a2c (1).ipynb", "dan handed in: 01_a2c.ipynb"]
    assert done.stdout.splitlines() == said


def test_what_grades_is_the_kernel_of_the_course(folder):
    kernel = json.loads((folder / "jupyter/kernels/python3/kernel.json").read_text("utf-8"))
    assert kernel["argv"][0] == sys.executable
