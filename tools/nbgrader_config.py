"""nbgrader's settings for this course; `python course.py assignment FOLDER` puts them there."""
# ruff: noqa: F821

import os

from nbgrader.converters import Autograde
from nbgrader.preprocessors import DeduplicateIds, NbGraderPreprocessor

COURSE = ""  # the folder of the course


class Tidy(NbGraderPreprocessor):
    """What nbgrader trusts, or stumbles over: tags of graded cells, and copies of graded cells.

    A check that was tagged to be skipped would count as passed. Of a copied cell's metadata
    nbgrader leaves an empty dict, in which it then looks for an id.
    """

    def preprocess_cell(self, cell, resources, index):
        if "nbgrader" in cell.metadata:
            cell.metadata.pop("tags", None)
        if not cell.metadata.get("nbgrader", True):
            del cell.metadata["nbgrader"]
        return cell, resources


# Where a kernel finds `helpers`, in assignments as they are made and as they are graded.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [COURSE, os.environ.get("PYTHONPATH")]))
c = get_config()
c.CourseDirectory.course_id = "actor-critic"
# What of a submission never reaches the grader: a course of the student's own making.
c.CourseDirectory.ignore = [
    *(".ipynb_checkpoints", "__pycache__", "feedback"),
    *("helpers", "*.toml", "*.py", "*.pyc", "*.so", "*.pyd", "*.zip", "*.pth"),
]
c.ClearSolutions.code_stub = {"python": ""}  # the blank stands above the solution already
steps = Autograde.sanitize_preprocessors.default()
steps.insert(steps.index(DeduplicateIds) + 1, Tidy)
c.Autograde.sanitize_preprocessors = steps
c.OverwriteCells.add_missing_cells = True  # a check that was deleted
c.Execute.timeout = 120  # seconds for one cell; a check gives up after 40
