"""nbgrader's settings for this course; `python course.py assignment FOLDER` puts them there."""
# ruff: noqa: F821

import os

from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor

COURSE = ""  # the folder of the course


class OwnTags(NbGraderPreprocessor):
    """Take the tags off what is graded: a check that was tagged to be skipped counts as passed."""

    def preprocess_cell(self, cell, resources, index):
        if "nbgrader" in cell.metadata:
            cell.metadata.pop("tags", None)
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
c.Autograde.sanitize_preprocessors = [*Autograde.sanitize_preprocessors.default(), OwnTags]
c.OverwriteCells.add_missing_cells = True  # a check that was deleted
c.Execute.timeout = 120  # seconds for one cell; a check gives up after 40
