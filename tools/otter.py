"""An assignment as otter-grader's master notebook: `python course.py assignment --otter FOLDER`."""

import re
import textwrap

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_raw_cell

CONFIG = """\
# ASSIGNMENT CONFIG
name: {name}
init_cell: false
export_cell: false
check_all_cell: false
run_tests: false
tests:
  ok_format: false"""
QUESTION = """\
# BEGIN QUESTION
name: ex_{number}
points: {points}
check_cell: false"""
ANSWER = """\
{blank}
# BEGIN SOLUTION NO PROMPT
{solution}
# END SOLUTION"""
# The check puts the course's version into place, so the answer gets a name of its own. It stands in
# the question: otter may try an answer at once, and then does so after the question's last cell.
CHECK = """\
answer_{number} = {function}
{function} = check("{key}", {function})"""
TEST = """\
\""" # BEGIN TEST CONFIG
points: {points}
\""" # END TEST CONFIG
def test_{number}(answer_{number}):
{fresh}
    check("{key}", answer_{number})"""


def master(name: str, notebook: NotebookNode) -> NotebookNode:
    """Turn nbgrader's source notebook into otter's master notebook, in place."""
    cells = [new_raw_cell(CONFIG.format(name=name))]
    for place, cell in enumerate(notebook.cells):
        marks = cell.metadata.pop("nbgrader", {})
        if marks.get("solution"):
            cells += _question(cell, notebook.cells[place + 1])
        elif "skip-execution" in cell.metadata.get("tags", []):
            cell.metadata["tags"] = ["otter_ignore"]
            cells.append(cell)
        elif not marks.get("grade"):
            cells.append(cell)
    notebook.cells = cells
    return notebook


def _question(answer: NotebookNode, check: NotebookNode) -> list[NotebookNode]:
    """The cells of an exercise, from nbgrader's two."""
    fresh, function, key = re.search(
        r'(?s)TESTS\n(.*)\n### END HIDDEN TESTS\n(\w+) = check\("(.+?)"', check.source
    ).groups()
    blank, solution = re.split(r"\n### (?:BEGIN|END) SOLUTION\n?", answer.source)[:2]
    answer.source = ANSWER.format(blank=blank, solution=solution)
    number, points = key.replace(".", "_"), check.metadata["nbgrader"]["points"]
    fill = {"number": number, "key": key, "function": function, "points": points}
    test = TEST.format(fresh=textwrap.indent(fresh, "    "), **fill)
    check.source = CHECK.format(**fill)
    return [
        new_raw_cell(QUESTION.format(**fill)),
        new_raw_cell("# BEGIN SOLUTION"),
        answer,
        new_raw_cell("# END SOLUTION"),
        check,
        new_raw_cell("# BEGIN TESTS"),
        new_code_cell(test),
        new_raw_cell("# END TESTS"),
        new_raw_cell("# END QUESTION"),
    ]
