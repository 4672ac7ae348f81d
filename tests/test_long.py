"""Tests marked `long` run only when they are asked for, and then in place of others."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(("asked", "summary"), [([], "1 skipped"), (["--all"], "1 passed")])
def test_a_long_test_runs_with_all(tmp_path, asked, summary):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    for name in ("conftest.py", "tests/few_steps.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n@pytest.mark.long\ndef test_long():\n    pass\n"
    )
    assert summary in run(tmp_path, "-n0", *asked)


@pytest.mark.parametrize(
    ("asked", "summary"), [([], "1 passed, 1 skipped"), (["--all"], "1 passed")]
)
def test_an_exercise_edition_that_runs_packed_is_not_run_twice(tmp_path, asked, summary):
    for name in ("conftest.py", "tests/few_steps.py", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "test_it.py").write_text(
        "import pytest\n\n@pytest.mark.long\n@pytest.mark.xdist_group('packed it')\n"
        "def test_packed():\n    pass\n"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    (tmp_path / "notebooks" / "exercises").mkdir(parents=True)
    nbformat.write(notebook, tmp_path / "notebooks" / "exercises" / "it.ipynb")
    assert f"{summary} in" in run(tmp_path, "-n1", *asked)


def run(folder, *asked):
    """What pytest prints in a folder."""
    command = [sys.executable, "-m", "pytest", "-q", *asked]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr
