"""nbgrader's settings for this course; `python course.py assignment FOLDER` puts them there."""
# ruff: noqa: F821

import logging
import os
import re
import warnings
from pathlib import Path

import nbformat
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import Autograde
from nbgrader.preprocessors import DeduplicateIds, GetGrades, NbGraderPreprocessor

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


class PutBack(NbGraderPreprocessor):
    """Given cells that a student deleted and that checks need: from what students were given.

    nbgrader itself puts back checks alone, and only below an answer that is there. Where the
    student wrote an answer, or a definition, into another cell, that one counts.
    """

    def preprocess(self, nb, resources):
        names = [resources["nbgrader"][what] for what in ("assignment", "notebook")]
        path = RELEASE.joinpath(*names).with_suffix(".ipynb")
        if not path.exists():
            self.log.warning("'%s' is missing: deleted cells are not put back", path)
            return nb, resources
        given = nbformat.read(path, as_version=4)
        ids = [self.id_of(cell) for cell in nb.cells]
        code = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "code")
        place = 0
        for cell in given.cells:
            if cell.cell_type != "code" or "skip-execution" in cell.metadata.get("tags", []):
                continue
            name = self.id_of(cell)
            if name not in ids:
                if self.stands_elsewhere(cell, code):
                    continue
                self.log.warning("Cell '%s' was deleted and is put back", name)
                nb.cells.insert(place, cell)
                ids.insert(place, name)
                if nb.nbformat_minor < 5:  # as Colab saves it: cells have no ids
                    del cell["id"]
            place = ids.index(name) + 1
        return nb, resources

    @staticmethod
    def id_of(cell):
        return cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id")

    @staticmethod
    def stands_elsewhere(cell, code):
        names = re.findall(r"^(?:def|class) (\w+)", cell.source, re.M)
        locked = cell.metadata.get("nbgrader", {}).get("locked")
        found = [re.search(rf"^(?:def|class) {name}\b", code, re.M) for name in names]
        return not locked and bool(names) and all(found)


class Readable(GetGrades):
    """The grades on a page without setup, imports, and the lines that the grader alone runs."""

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        nb.cells = [cell for cell in nb.cells if not re.search(GIVEN, PutBack.id_of(cell) or "")]
        for cell in nb.cells:
            cell.source = re.sub(HIDDEN, "", cell.source)
        return nb, resources


HERE = Path(__file__).parent
RELEASE = HERE / "release"  # where `nbgrader generate_assignment` writes
GIVEN = r"^\d\d-(setup|imports)$"
HIDDEN = r"(?s)### BEGIN HIDDEN TESTS.*### END HIDDEN TESTS\n"
# Where a kernel finds `helpers`, in assignments as they are made and as they are graded; and where
# nbgrader finds that kernel, which is the course's own, and the page that students get.
for name, folder in {"PYTHONPATH": COURSE, "JUPYTER_PATH": str(HERE / "jupyter")}.items():
    os.environ[name] = os.pathsep.join(filter(None, [folder, os.environ.get(name)]))
# What is said of every check, since its hidden lines are put in, would hide what matters.
logging.getLogger("AutogradeApp").addFilter(
    lambda record: "Attribute 'checksum' for cell" not in record.getMessage()
)
warnings.filterwarnings("ignore", "Object of type <Submitted")  # nbgrader's own, of its database
c = get_config()
c.CourseDirectory.course_id = "actor-critic"
# What of a submission never reaches the grader: a course of the student's own making.
c.CourseDirectory.ignore = [
    *(".ipynb_checkpoints", "__pycache__", "feedback"),
    *("helpers", "*.toml", "*.py", "*.pyc", "*.so", "*.pyd", "*.zip", "*.pth"),
]
c.ClearSolutions.code_stub = {"python": ""}  # the blank stands above the solution already
steps = Autograde.sanitize_preprocessors.default()
place = steps.index(DeduplicateIds) + 1
steps[place:place] = [Tidy, PutBack]
c.Autograde.sanitize_preprocessors = steps
c.GenerateFeedback.preprocessors = [Readable, CSSHTMLHeaderPreprocessor]
c.HTMLExporter.template_name = "course"
c.Execute.timeout = 120  # seconds for one cell; a check gives up after 40
