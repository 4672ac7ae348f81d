"""What a public repository is expected to have: one version, workflows that fit the course."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from missing import out_of_reach

import course
import helpers
from tools.environment import explain
from tools.project import project

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = r"actions/[a-z-]+@v\d+"  # the platform's own ones, by their major version


def read(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def workflow(name: str) -> dict[Any, Any]:
    return yaml.safe_load(read(f".github/workflows/{name}.yml"))


def steps(name: str) -> list[dict]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


# --- One version ------------------------------------------------------------------------------


def test_there_is_one_version() -> None:
    _, version = project(ROOT)
    assert helpers.__version__ == version
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    assert f"({version})" in read("CHANGELOG.md") or f"## {version}" in read("CHANGELOG.md")


# --- Workflows --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_there_is(path: Path) -> None:
    runs = "\n".join(step.get("run", "") for step in steps(path.stem))
    for command in re.findall(r"course\.py (?:--newest )?(\S+)", runs):
        assert command in course.COMMANDS
    for step in steps(path.stem):
        assert ("run" in step) != ("uses" in step)
        assert re.fullmatch(ACTION, step.get("uses", "actions/checkout@v1"))


@pytest.mark.long
def test_the_package_is_installed_into_a_project_of_ones_own(tmp_path: Path) -> None:
    """As USING.md says: found from another folder; beside a script's own `helpers` only with -P."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path]
    done = subprocess.run([*command, "-e", ROOT], capture_output=True, text=True)
    if done.returncode and "out of reach" in explain(done.stderr):
        out_of_reach("setuptools")
    assert done.returncode == 0, done.stderr
    [link] = tmp_path.glob("*.pth")
    code = f"import site; site.addsitedir({str(tmp_path)!r}); import helpers.agents; print(helpers)"
    beside = tmp_path / "mine" / "script.py"
    (beside.parent / "helpers").mkdir(parents=True)
    beside.write_text(code)
    ours = str(ROOT / "helpers")
    assert link.name.startswith("__editable__")
    for found, how in ((True, ["-c", code]), (False, [beside]), (True, ["-P", beside])):
        command = [sys.executable, *how]
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (ours in shown.stdout) == found, how
        assert (shown.returncode == 0) == found, shown.stderr
