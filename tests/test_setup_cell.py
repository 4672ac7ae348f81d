"""The first cell of a notebook: it finds the course, or fetches it, or says what to do."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tools.editions import FETCH, SETUP, STOP, setup_cell
from tools.pack import UNPACK, write_zip


@pytest.fixture
def course(tmp_path):
    """A small course, in a folder with a space and an accent in its name."""
    root = tmp_path / "my cours é"
    for name in ("helpers/__init__.py", "pyproject.toml", "notebooks/exercises/x.ipynb"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def run(cell: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a cell twice, as a notebook in that folder; it prints where the course is."""
    code = "import helpers; print('FOUND', helpers.__file__)"
    (folder / "cells.ipy").write_text(f"{cell}\n\n{cell}\n\n{code}\n", "utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "cells.ipy"],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
    )


def found(done: subprocess.CompletedProcess) -> Path:
    assert "FOUND" in done.stdout, done.stdout + done.stderr
    return Path(done.stdout.partition("FOUND ")[2].strip()).resolve().parents[1]


@pytest.mark.parametrize("folder", ["notebooks", "notebooks/exercises"])
def test_it_finds_the_course_around_it(course, folder):
    assert found(run(setup_cell(""), course / folder)) == course


def test_it_finds_a_course_that_python_finds(course, tmp_path):
    (tmp_path / "home").mkdir()
    done = run(setup_cell("owner/name"), tmp_path / "home", PYTHONPATH=str(course))
    assert found(done) == course


def test_what_lies_in_a_folder_above_hides_no_package(course):
    (course / "random.py").write_text("raise SystemExit('a script of the student')")
    assert found(run(f"{setup_cell('')}\nimport random", course / "notebooks")) == course


def test_alone_it_says_what_to_do(tmp_path):
    done = run(setup_cell(""), tmp_path)
    assert f"FileNotFoundError: {STOP.split(chr(34))[1]}" in done.stdout + done.stderr


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("tar")), reason="Colab has both")
def test_alone_it_fetches_what_is_published(course, tmp_path):
    """From a file here in place of GitHub, which puts everything into one folder as well."""
    with tarfile.open(tmp_path / "HEAD.tar.gz", "w:gz") as archive:
        archive.add(course, "name-0123abc")
    alone = tmp_path / "alone"
    alone.mkdir()
    fetch = FETCH.replace("https://github.com/{}/archive", tmp_path.as_uri())
    assert found(run(SETUP.format(otherwise=fetch), alone)) == alone


def test_packed_it_unpacks_the_zip_beside_it(course, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    write_zip(course, alone / "course.zip")
    assert found(run(SETUP.format(otherwise=UNPACK), alone)) == alone
