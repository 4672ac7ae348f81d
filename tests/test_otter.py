"""An assignment through otter-grader itself: made, handed in, graded."""

import json

import nbformat
import pytest
from graders import commands_of, mistake, run

from helpers.checks import find
from helpers.checks.edits import apply, source_of_reference
from tools import assignment

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("otter")]
NAME = "00_start_here"
TRICK = """
import helpers.checks
helpers.checks.checker = lambda key, names: check
check = lambda key, function: function"""


@pytest.fixture(scope="module")
def otter(pytestconfig, tmp_path_factory):
    """What students get, and a function that grades an answer: points and the message."""
    scripts = commands_of("otter-grader[grading]==7.0.0", pytestconfig.cache)
    folder = tmp_path_factory.mktemp("otter")
    assert assignment.main([str(folder), "--otter"]) == 0
    folder = folder / NAME
    run(scripts, folder, "otter", "assign", f"{NAME}.ipynb", "made")
    [archive] = (folder / "made" / "autograder").glob("*.zip")
    student = nbformat.read(folder / "made" / "student" / f"{NAME}.ipynb", as_version=4)
    [answer] = [cell for cell in student.cells if "def discounted_returns" in cell.source]

    def grade(source):
        answer.source = source
        nbformat.write(student, folder / "mine.ipynb")
        run(scripts, folder, "otter", "run", "-a", str(archive), "-o", str(folder), "mine.ipynb")
        tests = json.loads((folder / "results.json").read_text("utf-8"))["tests"]
        [found] = [test for test in tests if test["name"] == "ex_0_1"]
        return found["score"], found["output"]

    return answer.source, grade


def test_students_get_the_blank(otter):
    assert otter[0].count("...") == 5
    assert otter[0].endswith('raise NotImplementedError("exercise 0.1")')


def test_an_answer_earns_its_points(otter, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(assignment.ROOT))
    blank, grade = otter
    right = source_of_reference(find("0.1").reference)
    assert grade(right)[0] == 1
    assert grade(blank)[0] == 0
    score, output = grade(apply(right, mistake("0.1").spellings[0]))
    assert score == 0
    assert mistake("0.1").message in output
    assert grade(blank + TRICK)[0] == 0
