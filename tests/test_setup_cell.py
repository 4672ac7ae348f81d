"""The first cell of a notebook: it finds the course, or fetches it, or says what to do."""

import io
import os
import socketserver
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from tools.editions import SETUP

SOURCE = SETUP.read_text("utf-8").replace('= "", ""', '= "owner/name", "1.2"')
UNPUBLISHED = SOURCE.replace("owner/name", "")
FILES = {
    "helpers/agents/td3.py": "",
    "helpers/checks/core.py": "",
    "pyproject.toml": '[project]\nversion = "1.2"\n',
}


def zip_of(top: str = "name-main/") -> bytes:
    """A zip of a small course, as GitHub makes it: everything in one folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name, text in FILES.items():
            zipped.writestr(top + name, text)
    return buffer.getvalue()


def make_course(folder: Path, version: str = "1.2") -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("1.2", version))
    return folder


class Notebook:
    """A notebook alone in a folder. `web` has what the network answers: address -> bytes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch, self.asked = folder, monkeypatch, []
        self.web: dict[str, bytes] = {}
        folder.mkdir()
        monkeypatch.chdir(folder)
        elsewhere = [path for path in sys.path if not (Path(path) / "helpers").is_dir()]
        monkeypatch.setattr(sys, "path", elsewhere)
        monkeypatch.setattr(urllib.request, "urlopen", self.urlopen)

    def urlopen(self, url: str, timeout: float) -> io.BytesIO:
        self.asked.append(url)
        if url not in self.web:
            raise urllib.error.URLError("no network")
        return io.BytesIO(self.web[url])

    def on_colab(self, opened: str = "", provenance: str = "", upload: bytes = b"") -> None:
        """What Colab brings: its module, and a server that knows the open notebook."""
        colab, message, files = (
            ModuleType(name) for name in ("google.colab", "google.colab._message", "files")
        )
        metadata = {"colab": {"provenance": [{"file_id": provenance}]}}
        message.blocking_request = lambda kind: {"ipynb": {"cells": [], "metadata": metadata}}
        files.upload = lambda: {"course.zip": upload} if upload else {}
        colab._message, colab.files = message, files
        self.patch.setitem(sys.modules, "google", ModuleType("google"))
        self.patch.setitem(sys.modules, "google.colab", colab)
        self.patch.setenv("COLAB_JUPYTER_IP", "172.28.0.12")
        self.patch.setenv("KMP_TARGET_PORT", "9000")
        path = "fileId=" + urllib.parse.quote(opened)
        self.web["http://172.28.0.12:9000/api/sessions"] = f'[{{"path": "{path}"}}]'.encode()

    def run(self, source: str = SOURCE) -> Path:
        """Run the cell twice; the second time must change nothing."""
        names: dict = {}
        exec(source, names)
        path = list(sys.path)
        exec(source, names)
        assert sys.path == path
        assert path.count(str(names["course"])) == 1
        assert not list(self.folder.glob("tmp*"))
        return names["course"]


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    return Notebook(tmp_path / "my cours é", monkeypatch)


def archive(repository: str, branch: str = "HEAD") -> str:
    return f"https://github.com/{repository}/archive/{branch}.zip"


def test_it_fits_a_folded_cell():
    assert len(SOURCE.splitlines()) <= 60
    assert SOURCE.startswith("# @title ")  # what Colab shows of it


def test_it_finds_the_course_around_it(notebook):
    make_course(notebook.folder)
    nested = notebook.folder / "notebooks" / "exercises"
    nested.mkdir(parents=True)
    notebook.patch.chdir(nested)
    assert notebook.run() == notebook.folder
    assert not notebook.asked


def test_it_finds_a_course_that_python_finds(notebook, tmp_path):
    sys.path.append(str(make_course(tmp_path / "srv")))
    assert notebook.run() == tmp_path / "srv"


def test_it_finds_an_unpacked_zip_beside_it(notebook):
    make_course(notebook.folder / "name-main")
    assert notebook.run() == notebook.folder / "name-main"


def test_it_finds_a_data_set_of_kaggle(notebook, tmp_path):
    make_course(tmp_path / "input" / "my-data" / "name-main")
    source = SOURCE.replace("/kaggle/input", (tmp_path / "input").as_posix())
    assert notebook.run(source) == tmp_path / "input" / "my-data" / "name-main"


@pytest.mark.parametrize("top", ["", "name-main/"])
def test_it_unpacks_a_zip_beside_it(notebook, top):
    (notebook.folder / "a half download.zip").write_bytes(zip_of()[:99])
    with zipfile.ZipFile(notebook.folder / "another.zip", "w") as zipped:
        zipped.writestr("pictures/1.png", "")
    with zipfile.ZipFile(notebook.folder / "part.zip", "w") as zipped:
        zipped.writestr("course/helpers/agents/td3.py", "")
    (notebook.folder / "zip.zip").write_bytes(zip_of(top))
    assert notebook.run() == notebook.folder / "course"
    assert not notebook.asked


def test_it_unpacks_what_the_notebook_itself_holds(notebook):
    assert notebook.run(f"PACKED = {zip_of()!r}\n{SOURCE}") == notebook.folder / "course"
    assert not notebook.asked


def test_it_fetches_the_course_once(notebook):
    notebook.web[archive("owner/name")] = zip_of()
    assert notebook.run() == notebook.folder / "course"
    assert notebook.asked == [archive("owner/name")]


@pytest.mark.parametrize(
    ("opened", "provenance"),
    [
        ("https://github.com/me/my-fork/blob/a/branch/notebooks/01_a2c.ipynb", ""),
        ("1AbCdE", "https://github.com/me/my-fork/blob/a/branch/notebooks/exercises/01_a2c.ipynb"),
        ("/github/me/my-fork/blob/a/branch/notebooks/01_a2c.ipynb", "1AbCdE"),
    ],
    ids=["opened from GitHub", "a copy in Drive", "by Colab's own address"],
)
@pytest.mark.parametrize("source", [SOURCE, UNPUBLISHED], ids=["published", "unpublished"])
def test_on_colab_a_fork_finds_itself(notebook, opened, provenance, source):
    notebook.on_colab(opened, provenance)
    notebook.web[archive("me/my-fork", "a/branch")] = zip_of()
    assert notebook.run(source) == notebook.folder / "course"


def test_on_colab_a_notebook_from_elsewhere_fetches_the_published_course(notebook):
    notebook.on_colab("https://github.com/else/where/blob/main/other.ipynb")
    notebook.web[archive("owner/name")] = zip_of()
    assert notebook.run() == notebook.folder / "course"


def test_on_colab_it_asks_for_the_zip_at_last(notebook, capsys):
    notebook.on_colab(upload=zip_of())
    assert notebook.run() == notebook.folder / "course"
    asked, *said = capsys.readouterr().out.splitlines()
    assert asked == "The course is not here: choose its zip (on GitHub: Code, Download ZIP)."
    assert said == ["Actor-critic course 1.2."] * 2


@pytest.mark.parametrize("colab", [False, True])
@pytest.mark.parametrize("source", [SOURCE, UNPUBLISHED], ids=["published", "unpublished"])
def test_otherwise_it_says_what_to_do(notebook, colab, source):
    if colab:
        notebook.on_colab()
    with pytest.raises(FileNotFoundError, match=r"go online, or put its zip .* beside this noteb"):
        notebook.run(source)
    assert not list(notebook.folder.iterdir())


@pytest.mark.parametrize("inside", ["helpers", "my notes"])
def test_half_a_copy_and_a_folder_of_that_name_are_said(notebook, inside):
    (notebook.folder / "course" / inside).mkdir(parents=True)
    with pytest.raises(FileExistsError, match="course is not this course: move it"):
        notebook.run()


def test_a_copy_of_another_version_is_said(notebook, capsys):
    make_course(notebook.folder / "course", "1.1")
    assert notebook.run() == notebook.folder / "course"
    said = capsys.readouterr().out
    assert "Actor-critic course 1.1, not 1.2 as this notebook: should a cell fail" in said


def test_the_version_is_said(notebook, capsys):
    make_course(notebook.folder)
    notebook.run()
    assert capsys.readouterr().out.splitlines() == ["Actor-critic course 1.2."] * 2


def test_the_course_is_found_in_a_folder_that_cannot_be_written(notebook):
    make_course(notebook.folder)
    for path in [*notebook.folder.rglob("*"), notebook.folder]:
        path.chmod(0o555)
    try:
        assert notebook.run() == notebook.folder
    finally:
        for path in [notebook.folder, *notebook.folder.rglob("*")]:
            path.chmod(0o755)


def test_the_download_goes_through_the_proxy(tmp_path):
    Proxy.asked.clear()
    env = {n: v for n, v in os.environ.items() if n.upper() not in ("NO_PROXY", "PYTHONPATH")}
    with socketserver.TCPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.server_address[1]}"
        done = subprocess.run(
            [sys.executable, "-c", SOURCE],
            cwd=tmp_path,
            env=env | {"HTTPS_PROXY": address, "https_proxy": address},
            capture_output=True,
            text=True,
        )
        proxy.shutdown()
    assert [line.rpartition(" ")[0] for line in Proxy.asked] == ["CONNECT github.com:443"]
    assert "FileNotFoundError: The course is not here" in done.stderr


class Proxy(socketserver.StreamRequestHandler):
    """Notes what it is asked for, and refuses."""

    asked: ClassVar[list[str]] = []

    def handle(self) -> None:
        self.asked.append(self.rfile.readline().decode().strip())
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
