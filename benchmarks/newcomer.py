"""A newcomer's clock: what somebody waits for who has just fetched the course.

    .venv/bin/python -m benchmarks.newcomer [--lesson 01_a2c]

The last commit is laid out in an empty folder. `course.py` sets it up there and opens lesson 00 in
a browser with an empty cache; it is stopped and started again, at the same address in the same
browser, and all cells of a lesson are run until one of its trainings is at 100 %.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.browser import free_port, open_browser

ROOT = Path(__file__).resolve().parent.parent
OPEN = """() => document.querySelectorAll('.jp-Notebook .jp-Cell').length > 3
    && [...document.querySelectorAll('.jp-Cell')].slice(0, 3).every(
        cell => [...cell.querySelectorAll('img')].every(image => image.complete))"""
# A JupyterLab that is stopped while a kernel starts waits for it in vain.
READY = """() => window.jupyterapp?.shell.currentWidget?.context?.isReady
    && window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"""
CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
RUN_ALL = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
TRAINED = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].some(
    cell => JSON.stringify(cell.toJSON().outputs ?? []).includes('100 %'))"""


@contextlib.contextmanager
def started(folder: Path, lesson: str, port: int) -> Iterator[str]:
    """`python course.py lab` in the folder; gives the address once it is printed."""
    command = [sys.executable, "course.py", "lab", lesson, "--no-browser", f"--port={port}"]
    log = folder.parent / "log"
    with log.open("w") as file:
        command.append("--expose-app-in-browser")
        course = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file)
        try:
            while not (found := re.search(r"http://127\S+", log.read_text("utf-8"))):
                if course.poll() is not None:
                    sys.exit(log.read_text("utf-8"))
                time.sleep(0.05)
            yield found[0]
        finally:
            course.terminate()  # it ends JupyterLab, which takes a while on a busy machine
            course.wait(120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lesson", default="01_a2c", help="whose cells are run")
    lesson = parser.parse_args().lesson
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        open_browser() as browser,
    ):
        folder = Path(place, "course")
        subprocess.run(["git", "clone", "-q", "--depth=1", ROOT.as_uri(), folder], check=True)
        newcomer, port = browser.new_context(viewport={"width": 1400, "height": 900}), free_port()
        for name, opened in {"first start": "00", "later start": "00", lesson: lesson}.items():
            page = newcomer.new_page()
            began = time.perf_counter()
            with started(folder, opened, port) as url:
                say(name, "address printed", began)
                page.goto(url)
                page.wait_for_function(OPEN, timeout=120_000)
                say(name, "lesson open", began)
                page.wait_for_function(READY, timeout=120_000)
                if name == lesson:
                    page.evaluate(CLEAR)
                    page.wait_for_function(f"() => !({TRAINED})()")
                    began = time.perf_counter()
                    page.evaluate(RUN_ALL)
                    page.wait_for_function(TRAINED, timeout=600_000, polling=200)
                    say(name, "Run All to the first trained agent", began)
            page.close()
            print(f"{name}: {cpu():.0f} s of CPU time until now, of all that ran", flush=True)


def cpu() -> float:
    """Seconds of the processes that have ended: on a busy machine the better measure."""
    times = os.times()
    return times.children_user + times.children_system


def say(name: str, what: str, began: float) -> None:
    seconds = time.perf_counter() - began
    print(f"{name}: {what} after {seconds:.1f} s (load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
