"""Packed notebooks: each runs alone, beside the course's zip, without a network."""

import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from colab import colab_python, kernel, run  # noqa: F401
from few_steps import FEW_STEPS, shorten

from tools import assignment, site
from tools.build import load_exercises
from tools.editions import editions
from tools.pack import ZIP, main, packed, write_zip

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted(path.stem for path in (ROOT / "lessons").glob("[0-9]*.md"))


@pytest.fixture
def course(tmp_path):
    """A course of one small notebook, in both editions."""
    root = tmp_path / "course"
    for name in ("notebooks/exercises", "helpers/__pycache__", "data/pictures"):
        (root / name).mkdir(parents=True)
    for name in ("pyproject.toml", "helpers/__init__.py", "helpers/__pycache__/x.pyc", "mine.txt"):
        (root / name).touch()
    (root / "data/pictures/1.png").write_bytes(b"picture")
    cells = [
        nbformat.v4.new_markdown_cell("# One\n![a robot](../data/pictures/1.png)", id="01-1"),
        nbformat.v4.new_code_cell("where = 1", id="01-setup"),
    ]
    for place in ("notebooks", "notebooks/exercises"):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), root / place / "01_one.ipynb")
    return root


def test_both_editions_stand_beside_the_course(course, tmp_path):
    folder = tmp_path / "an empty földer"
    assert main([str(folder)], course) == 0
    for place in (folder, folder / "exercises"):
        text, setup = nbformat.read(place / "01_one.ipynb", as_version=4).cells
        assert text.source == "# One\n![a robot](data:image/png;base64,cGljdHVyZQ==)"
        assert len(setup.source.splitlines()) == 3
        with zipfile.ZipFile(place / ZIP) as zipped:
            names = {"helpers/__init__.py", "data/pictures/1.png", "pyproject.toml"}
            assert set(zipped.namelist()) == names


def test_packing_the_same_gives_the_same_bytes(course, tmp_path):
    for name in "ab":
        assert main([str(tmp_path / name)], course) == 0
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_nothing_is_written_over(course, capsys):
    before = (course / "notebooks" / "01_one.ipynb").read_bytes()
    with pytest.raises(SystemExit):
        main([str(course / "notebooks")], course)
    assert "notebooks' is not empty: name another folder" in capsys.readouterr().err
    assert (course / "notebooks" / "01_one.ipynb").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said(course, capsys):
    for command in (main, assignment.main, site.main):
        with pytest.raises(SystemExit):
            command([str(course / "pyproject.toml" / "x")])
        assert re.search(r"x' \(.+\): name another folder", capsys.readouterr().err)


@pytest.mark.long
@pytest.mark.parametrize(
    "lesson",
    [pytest.param(lesson, marks=pytest.mark.xdist_group(f"packed {lesson}")) for lesson in LESSONS],
)
def test_a_packed_notebook_runs_on_colab_without_a_network(lesson, tmp_path, colab_python):
    notebook = packed(ROOT, editions(ROOT, lesson, load_exercises())[1])
    for cell in notebook.cells:
        shorten(cell)
    folder = tmp_path / "empty é"
    folder.mkdir()
    write_zip(ROOT, folder / ZIP)
    with kernel(colab_python, tmp_path, steps=int(FEW_STEPS)) as name:
        run(notebook, name, folder)
    streams = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert not [out.text for out in streams if out.get("name") == "stderr"]
