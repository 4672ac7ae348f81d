"""The assignments, through nbgrader itself: generated, submitted, graded, with feedback."""

import copy
import html
import json
import re
import shutil
import textwrap

import nbformat
import pytest
from graders import answers, commands_of, err, graded_id, lost_by_erring, mistake, run, solve

from helpers.checks import exercises, find
from tools import assignment

pytestmark = pytest.mark.long
SCORES = """\
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db", "actor-critic") as book:
    print(json.dumps({
        submission.student.id: {
            grade.name: [grade.auto_score, grade.max_score]
            for notebook in submission.notebooks for grade in notebook.grades
        }
        for submission in book.assignment_submissions(sys.argv[1])
    }))
"""


@pytest.fixture(scope="session")
def scripts(pytestconfig):
    return commands_of("nbgrader==0.9.6", pytestconfig.cache)


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """What `course.py assignment` writes."""
    folder = tmp_path_factory.mktemp("assignments")
    assert assignment.main([str(folder)]) == 0
    return folder


class Course:
    """An nbgrader course in a folder, with one lesson's assignment made for its students."""

    def __init__(self, source, folder, scripts, lesson):
        self.folder, self.scripts, self.lesson = folder, scripts, lesson
        shutil.copytree(source, folder, dirs_exist_ok=True)
        self.run("nbgrader", "generate_assignment", lesson)
        self.release = nbformat.read(self.notebook("release"), as_version=4)

    def run(self, *command):
        return run(self.scripts, self.folder, *command)

    def notebook(self, step, student=".", ending="ipynb"):
        return self.folder / step / student / self.lesson / f"{self.lesson}.{ending}"

    def submit(self, student, change):
        """Hand in what `change` makes of the notebook that the students got."""
        notebook = copy.deepcopy(self.release)
        path = self.notebook("submitted", student)
        path.parent.mkdir(parents=True)
        change(notebook.cells, path.parent)
        nbformat.write(notebook, path)

    def grades(self, feedback=True):
        """Student -> exercise -> what was earned, and what could be."""
        self.run("nbgrader", "autograde", self.lesson)
        if feedback:
            self.run("nbgrader", "generate_feedback", self.lesson)
        found = json.loads(self.run("python", "-c", SCORES, self.lesson))
        return {
            student: {cell[6:-6].replace("-", "."): tuple(score) for cell, score in cells.items()}
            for student, cells in found.items()
        }

    def feedback(self, student):
        return html.unescape(self.notebook("feedback", student, "html").read_text("utf-8"))


def given(cells, start):
    return next(i for i, cell in enumerate(cells) if cell.source.startswith(start))


def delete_what_is_given(cells, _):
    solve(cells, _)
    answer = given(cells, "def to_env_units")
    del cells[answer : answer + 2]  # and its check
    for start in ("import importlib", "import ", "def start_small"):
        del cells[given(cells, start)]


def write_it_elsewhere(cells, _):
    solve(cells, _)
    moved = [cells.pop(given(cells, start)) for start in ("def to_env_units", "def start_small")]
    code = "\n".join(cell.source for cell in moved)
    cells.insert(given(cells, "import ") + 2, nbformat.v4.new_code_cell(code))


def as_colab_saves_it(path):
    notebook = json.loads(path.read_text("utf-8")) | {"nbformat_minor": 0}
    for cell in notebook["cells"]:
        del cell["id"]
    path.write_text(json.dumps(notebook), "utf-8")


@pytest.mark.xdist_group("graded 02_ddpg")
def test_each_answer_earns_its_own_points_and_what_was_deleted_is_put_back(
    source, tmp_path, scripts
):
    course = Course(source, tmp_path, scripts, "02_ddpg")
    for change in (solve, err, delete_what_is_given, write_it_elsewhere):
        course.submit(change.__name__, change)
    as_colab_saves_it(course.notebook("submitted", "delete_what_is_given"))
    grades = course.grades()
    points = {each.id: each.card.difficulty for each in exercises("02_ddpg")}
    full = {key: (value, value) for key, value in points.items()}
    nothing = {key: (0, value) for key, value in points.items()}
    assert grades["solve"] == grades["write_it_elsewhere"] == full
    deleted = next(key for key in points if find(key).name == "to_env_units")
    assert grades["delete_what_is_given"] == full | {deleted: nothing[deleted]}
    assert "not started yet" in course.feedback("delete_what_is_given")
    missed, untouched, _ = lost_by_erring(points)
    lost = {*missed, *untouched}
    assert grades["err"] == full | {key: nothing[key] for key in lost}
    page = course.feedback("err")
    for key in missed:
        assert mistake(key).message in page
        assert mistake(key).message not in course.feedback("solve")
    assert page.count("not started yet") == 2 * len(untouched)  # in the summary, and below
    assert not re.search("HIDDEN|around this notebook|import torch", page)
    total = sum(points.values())
    assert f"02_ddpg: {total - sum(points[key] for key in lost)} of {total} points" in page
    for key, value in points.items():
        assert f"Exercise {key}: {0 if key in lost else value} of {value}" in page


# What a student may try instead of writing `discounted_returns`. Code stands in a cell of its own.

CODE = {
    "defines check": "def check(key, function):\n    return function",
    "changes the module": """
        import helpers.checks, helpers.checks.core as core
        for module in (helpers.checks, core):
            module.check = lambda key, function: function
            module.checker = lambda key, names: module.check
        core.Result.passed = True
        core.judge = core.grade = lambda *_: None""",
    "puts a module in its place": """
        import sys, types
        free = lambda key, function: function
        sys.modules["helpers.checks"] = types.SimpleNamespace(
            check=free, checker=lambda key, names: free)""",
    "changes the course's version": """
        import helpers.algorithms.reinforce as module
        module.discounted_returns = lambda rewards, gamma: rewards
        discounted_returns = lambda rewards, gamma: rewards""",
    "says that nobody grades": "import os\nos.environ.pop('NBGRADER_EXECUTION')",
    "takes the course's": "from helpers.algorithms.reinforce import discounted_returns",
}


def the_check(cells):
    return next(i for i, cell in enumerate(cells) if graded_id(cell) == "00-ex-0-1-check")


def edit(cells, _):
    cells[the_check(cells)].source = "discounted_returns"


def delete(cells, _):
    del cells[the_check(cells)]


def tag_and_give_points(cells, _):
    check = cells[the_check(cells)]
    check.metadata["tags"] = ["skip-execution"]
    check.metadata["nbgrader"]["points"] = 100


def double(cells, _):
    cells.append(copy.deepcopy(cells[the_check(cells)]))
    cells[-1].source = "discounted_returns"


def bring_a_course(cells, folder):
    for name in ("__init__", "checks", "agents/__init__", "agents/returns"):
        path = folder / "helpers" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("check = lambda key, function: function\nchecker = lambda *_: check")


def warn(cells, _):
    """No trick: a right answer, with lines on stderr, which nbgrader takes for a failure."""
    solve(cells, _)
    cell = answers(cells)["0.1"]
    cell.source = cell.source.replace(
        "    # 1.", "    import warnings\n    warnings.warn('careful')\n    # 1.", 1
    )


@pytest.mark.xdist_group("graded tricks")
def test_tricks_gain_nothing(source, tmp_path, scripts):
    course = Course(source, tmp_path, scripts, "00_start_here")
    tricks = [edit, delete, tag_and_give_points, double, bring_a_course]
    for trick in [*tricks, warn]:
        course.submit(trick.__name__, trick)
    for name, code in CODE.items():
        cell = nbformat.v4.new_code_cell(textwrap.dedent(code))
        course.submit(name, lambda cells, _, new=cell: cells.insert(the_check(cells), new))
    grades = course.grades(feedback=False)
    points = {student: earned["0.1"] for student, earned in grades.items()}
    assert points.pop("warn") == (1, 1)
    assert points == dict.fromkeys([*(trick.__name__ for trick in tricks), *CODE], (0, 1))
