"""A real JupyterLab or Notebook 7 in a real browser. Tests use the fixtures with

pytest_plugins = ("tests.browser",)
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.missing import missing
from tools import lab as course_lab

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "course"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]


class NoBrowser(RuntimeError):
    """What is missing to run browser tests here."""


# --- The server -------------------------------------------------------------------------------


@contextlib.contextmanager
def lab_server(folder: Path, module: str = "jupyterlab") -> Iterator[str]:
    """JupyterLab as course.py starts it, or `notebook`, on `folder`, with settings of its own;
    yields its address.
    """
    with tempfile.TemporaryDirectory() as private:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        options = course_lab.arguments("00_start_here")
        options = [each for each in options if not re.search("root_dir|preferred_dir", each)]
        command = [
            sys.executable, "-m", module, *options, "--no-browser",
            "--expose-app-in-browser", "--ip=127.0.0.1", f"--port={port}",
            "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={folder}",
        ]  # fmt: skip
        with Path(private, "log").open("w+") as log:
            server = subprocess.Popen(
                command, env=_environment(Path(private)), stdout=log, stderr=log
            )
            try:
                wait_for(url, server, Path(private, "log"))
                yield url
            finally:
                stop(server)


def _environment(private: Path) -> dict[str, str]:
    """Nothing of the person's own settings, and the course importable in kernels."""
    # All cells stand in the page, so that queries see them.
    path = private / "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"windowingMode": "none"}))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "JUPYTERLAB_SETTINGS_DIR": str(private / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "IPYTHONDIR": str(private / "ipython"),
    }


def stop(server: subprocess.Popen) -> None:
    """End a server, by force if it takes long."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(url: str, server: subprocess.Popen, log: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{url}/api", timeout=1)
            return
        time.sleep(0.1)
    raise RuntimeError(f"Jupyter did not start:\n{log.read_text()[-2000:]}")


@contextlib.contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """The files of a folder, on a port of this machine; yields the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


# --- The browser ------------------------------------------------------------------------------


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """A headless Chromium: the system's, else playwright's own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoBrowser("playwright is not installed") from error
    with sync_playwright() as playwright:
        path = next((p for p in map(shutil.which, BROWSERS) if p), None)
        path = path or playwright.chromium.executable_path
        if not Path(path).exists():
            raise NoBrowser("no Chromium: install one, or run `playwright install chromium`")
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Lab:
    """One JupyterLab seen through one browser. `page` is playwright's `Page`.

    `place` is where it opens a notebook alone: Notebook 7 has another one.
    """

    def __init__(self, url: str, folder: Path, browser: Any, place: str = "doc/tree") -> None:
        self.url, self.folder, self.place = url, folder, place
        self.page = browser.new_page(viewport={"width": 1180, "height": 1400})
        self.page.set_default_timeout(60_000)

    def open_notebook(self, path: Path, kernel: bool = True) -> Any:
        """Copy a notebook into the server's folder and open it alone on the page.

        One of the course's stands where it does in the course, with what it needs around it.
        """
        course = path.resolve().is_relative_to(ROOT)
        place = path.resolve().relative_to(ROOT) if course else Path(path.name)
        target = self.folder / place
        if target.resolve() != path.resolve():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        for needed in ("data", "helpers") if course else ():
            # What other processes compile meanwhile comes and goes.
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / needed, self.folder / needed, ignore=ignore, dirs_exist_ok=True)
        self.page.goto(f"{self.url}/{self.place}/{place.as_posix()}?token={TOKEN}")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.context?.isReady"
        )
        if kernel:
            self.idle()
        return self.page

    def run_all(self, timeout: float = 600) -> None:
        """Run every cell, as Run > Run All Cells does, and wait for the last."""
        self.page.evaluate(
            "() => { window.ran = false;"
            " window.jupyterapp.commands.execute('notebook:run-all-cells')"
            " .then(() => { window.ran = true; }) }"
        )
        self.page.wait_for_function(
            f"() => window.ran && {KERNEL}.status === 'idle'", timeout=timeout * 1000
        )

    def idle(self, timeout: float = 60) -> None:
        """Wait until the kernel has nothing more to do."""
        self.page.wait_for_function(f"() => {KERNEL}?.status === 'idle'", timeout=timeout * 1000)

    def run_cell(self, index: int, command: str = "run-cell", wait: bool = True) -> Any:
        """Run one cell, to its end unless `wait` is False; its output, as a playwright locator."""
        self.page.evaluate(
            "async ([index, command, wait]) => { const app = window.jupyterapp;"
            " app.shell.currentWidget.content.activeCellIndex = index;"
            " const end = app.commands.execute('notebook:' + command); if (wait) await end; }",
            [index, command, wait],
        )
        return self.cell(index).locator(".jp-OutputArea").first

    def cell(self, index: int) -> Any:
        """The cell with that number, as a playwright locator."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def scroll_through(self) -> None:
        """The whole notebook, a screen at a time."""
        scroller = self.page.locator(".jp-WindowedPanel-outer").first
        end = (
            "e => e.scrollTop - e.getBoundingClientRect().top"
            " + [...e.querySelectorAll('.jp-Cell')].pop().getBoundingClientRect().bottom"
        )
        screen, top = scroller.evaluate("e => e.clientHeight"), 0
        while top < scroller.evaluate(end):  # asked each time: formulas make the page longer
            scroller.evaluate("(e, top) => e.scrollTo(0, top)", top)
            self.page.wait_for_timeout(300)
            top += screen - 20


KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel"


# --- Fixtures ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests of a worker. Without any: skipped here, failed in CI."""
    try:
        with open_browser() as browser:
            yield browser
    except NoBrowser as reason:
        missing(f"a browser: {reason}")


@pytest.fixture(scope="session")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab with its page."""
    folder = tmp_path_factory.mktemp("lab")
    with lab_server(folder) as url:
        yield Lab(url, folder, browser)


@pytest.fixture(scope="session")
def notebook7(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A Notebook 7 with its page. Where it is not installed: skipped here, failed in CI."""
    if importlib.util.find_spec("notebook") is None:
        missing("Notebook 7, for the browser tests")
    folder = tmp_path_factory.mktemp("notebook")
    with lab_server(folder, module="notebook") as url:
        yield Lab(url, folder, browser, "notebooks")
