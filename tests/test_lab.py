"""`course.py lab`: the reader's own copies of the notebooks, and what the terminal says."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbformat.sign import NotebookNotary

from tools.lab import arguments, sockets_fit, update_copies

ROOT = Path(__file__).resolve().parent.parent
POSIX = pytest.mark.skipif(os.name == "nt", reason="kernels are spoken to by files, never there")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two notebooks, and a home folder of its own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "home"))
    root = tmp_path / "my cours é"
    for name in ("00_one", "exercises/00_one", ".ipynb_checkpoints/00_one-checkpoint"):
        write(root, name, "1")
    return root


def write(root: Path, name: str, code: str, folder: str = "notebooks") -> None:
    path = root / folder / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    cells = [nbformat.v4.new_code_cell(code, id="a")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)


def copy_of(root: Path, name: str = "00_one") -> nbformat.NotebookNode:
    return nbformat.read(root / "my_notebooks" / f"{name}.ipynb", as_version=4)


def test_what_was_not_changed_follows_the_course_and_answers_stay(course):
    assert update_copies(course) == []
    assert copy_of(course).cells == copy_of(course, "exercises/00_one").cells
    write(course, "exercises/00_one", "my answer", "my_notebooks")
    assert update_copies(course) == []
    for name in ("00_one", "exercises/00_one", "01_new"):
        write(course, name, "2")
    for _ in range(2):  # it is said at each start
        assert update_copies(course) == ["exercises/00_one.ipynb"]
        assert copy_of(course).cells[0].source == "2"
        assert copy_of(course, "01_new").cells[0].source == "2"
        assert copy_of(course, "exercises/00_one").cells[0].source == "my answer"


def test_a_copy_that_was_renamed_comes_anew_and_what_is_not_from_here_stays(course):
    write(course, "exercises/00_one", "somebody's", "my_notebooks")
    foreign = ["exercises/00_one.ipynb"]
    assert update_copies(course) == foreign
    mine = course / "my_notebooks" / "00_one.ipynb"
    mine.rename(mine.with_name("old.ipynb"))
    assert update_copies(course) == foreign
    assert mine.exists()
    assert copy_of(course, "exercises/00_one").cells[0].source == "somebody's"


def test_a_copy_is_as_jupyterlab_would_save_it_and_trusted(course):
    update_copies(course)
    notebook = copy_of(course)
    assert notebook.metadata.kernelspec.display_name == "Python 3 (ipykernel)"
    assert notebook.metadata.language_info == IPythonKernel.language_info
    assert NotebookNotary().check_signature(notebook)


@POSIX
def test_kernels_are_spoken_to_by_files_or_are_quiet(monkeypatch, tmp_path):
    """A path of a socket has its limit; and a kernel's warning has its place in its settings."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    quiet = tmp_path / "etc" / "ipython" / "ipython_kernel_config.json"
    for folder, fit in (("/home/me/.local/share/jupyter/runtime", True), ("/home" * 12, False)):
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", folder)
        assert sockets_fit() is fit
        assert ("--KernelManager.transport=ipc" in arguments("00_one")) is fit
        assert quiet.exists() is not fit


@POSIX
def test_the_terminal_says_the_address_and_nothing_alarming(course, tmp_path):
    """While a notebook is opened, and one that is not trusted, and a kernel started."""
    update_copies(course)
    write(course, "foreign", "1", "my_notebooks")
    for name in ("tools", "helpers"):
        (course / name).symlink_to(ROOT / name)
    code = (
        "import pathlib, tools.lab as lab; lab.ROOT = pathlib.Path.cwd();"
        "lab.main(['00_one', '--no-browser', '--port=0'])"
    )
    log = (tmp_path / "log").open("w+")
    run = Path(tempfile.mkdtemp())  # its path is short enough for sockets
    variables = os.environ | {"JUPYTER_RUNTIME_DIR": str(run)}
    server = subprocess.Popen(
        [sys.executable, "-c", code], cwd=course, env=variables, stdout=log, stderr=log
    )
    try:
        url, token = address(tmp_path / "log", server)
        assert url.endswith("/lab/tree/my_notebooks/00_one.ipynb")
        api = url.partition("/lab")[0] + "/api/"
        for name in ("00_one", "foreign"):
            ask(f"{api}contents/my_notebooks/{name}.ipynb?{token}")
        ask(f"{api}kernels?{token}", b'{"name": "python3"}')
        wait_for(lambda: list(run.glob("kernel-*-ipc-5")), server)
        said = (tmp_path / "log").read_text("utf-8")
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(run)
    lines = [line for line in said.splitlines() if line.strip()]
    beside = [
        line for line in lines if not re.search(r"^\[C .*ServerApp\]|To access|Or copy|://", line)
    ]
    assert not beside


def address(log: Path, server: subprocess.Popen) -> tuple[str, str]:
    """The address that the terminal says, and its token."""
    said = re.compile(r"(http://127\S+)\?(token=\w+)")
    return wait_for(lambda: said.search(log.read_text("utf-8")), server).groups()


def wait_for(what: Callable[[], Any], server: subprocess.Popen) -> Any:
    deadline = time.monotonic() + 120
    while not (found := what()):
        assert time.monotonic() < deadline
        assert server.poll() is None
        time.sleep(0.1)
    return found


def ask(url: str, data: bytes | None = None) -> dict:
    with urllib.request.urlopen(url, data, timeout=60) as answer:
        return json.loads(answer.read())
