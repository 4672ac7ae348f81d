"""Tests marked `long` run only when they are asked for."""

import shutil
import subprocess
import sys
from pathlib import Path

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
    command = [sys.executable, "-m", "pytest", "-q", "-n0"]
    done = subprocess.run([*command, *asked], cwd=tmp_path, capture_output=True, text=True)
    assert summary in done.stdout, done.stdout + done.stderr
