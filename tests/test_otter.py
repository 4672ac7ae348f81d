"""An assignment through otter-grader itself: made, handed in, graded."""

import json
import re

import nbformat
import pytest
from graders import commands_of, mistake, run

from helpers.checks import find
from helpers.checks.core import NO_ANSWER
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

    def grade(source, file="mine.ipynb"):
        answer.source = source
        theirs = folder / "handed in"
        theirs.mkdir(exist_ok=True)
        nbformat.write(student, theirs / file)
        run(scripts, theirs, "otter", "run", "-a", str(archive), "-o", str(theirs), file)
        tests = json.loads((theirs / "results.json").read_text("utf-8"))["tests"]
        [found] = [test for test in tests if test["name"] == "ex_0_1"]
        return found["score"], found["output"]

    return answer.source, grade, student


def test_students_get_the_blank_and_need_no_otter(otter):
    assert otter[0].count("...") == 5
    assert otter[0].endswith('raise NotImplementedError("exercise 0.1")')
    assert not [cell for cell in otter[2].cells if re.search(r"otter|grader\.", cell.source)]


def test_an_answer_earns_its_points(otter, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(assignment.ROOT))
    blank, grade, _ = otter
    right = source_of_reference(find("0.1").reference)
    assert grade(right, f"{NAME}.ipynb")[0] == 1  # the name that it was handed out with
    assert grade(blank)[0] == 0
    score, output = grade(apply(right, mistake("0.1").spellings[0]))
    assert score == 0
    assert mistake("0.1").message in output
    assert grade(blank + TRICK)[0] == 0
    score, output = grade(right + "(")
    assert score == 0
    assert NO_ANSWER in output
