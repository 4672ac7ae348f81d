"""Widgets as Colab's ipywidgets 7.7 shows them: in the classic notebook page, with that manager."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from colab import HIDDEN, colab_python  # noqa: F401
from test_browser import CELLS, plays, source_of, wait_until_changed, write

from tests.browser import TOKEN, free_port, stop, wait_for

pytest_plugins = ("tests.browser",)
pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
DONE = (
    "() => Jupyter.notebook.get_cells().every(cell => Number.isInteger(cell.input_prompt_number))"
)


def widgets_are_ready(message: Any) -> bool:
    """Their manager asks a kernel first for the widgets that it has: a fresh one has none."""
    return "Failed to fetch ipywidgets" in message.text


@pytest.fixture(scope="module")
def page(
    browser: Any, colab_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The small notebook of test_browser.py, opened and run."""
    folder = tmp_path_factory.mktemp("classic")
    write([*CELLS.values()], folder / "small.ipynb")
    url = f"http://127.0.0.1:{free_port()}"
    command = [
        colab_python, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={url.rpartition(':')[2]}", f"--NotebookApp.token={TOKEN}",
        f"--notebook-dir={folder}",
    ]  # fmt: skip
    variables = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    variables |= {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(folder / "config")}
    log = folder / "log"
    with log.open("w") as file:
        server = subprocess.Popen(command, env=variables, stdout=file, stderr=file)
        try:
            wait_for(url, server, log)
            page = browser.new_page(viewport={"width": 1180, "height": 1400})
            page.set_default_timeout(60_000)
            with page.expect_event("console", widgets_are_ready, timeout=60_000):
                page.goto(f"{url}/notebooks/small.ipynb?token={TOKEN}")
            page.evaluate("() => Jupyter.notebook.execute_all_cells()")
            page.wait_for_function(DONE, timeout=60_000)
            yield page
        finally:
            stop(server)


def output(page: Any, name: str) -> Any:
    return page.locator(".cell").nth(list(CELLS).index(name)).locator(".output_wrapper")


def test_no_cell_failed_and_nothing_is_on_stderr(page: Any) -> None:
    assert page.locator(".output_error").count() == 0
    assert page.locator(".output_stderr").count() == 0


def test_curves_are_drawn_and_progress_ends_at_100(page: Any) -> None:
    area = output(page, "curves")
    assert area.locator("img").evaluate("e => e.naturalWidth") > 700
    assert area.locator("progress").evaluate("e => e.value / e.max") == 1


def test_a_video_plays(page: Any) -> None:
    plays(page, output(page, "video").locator("video"))


def test_a_slider_changes_its_figure(page: Any) -> None:
    area = output(page, "slider")
    image = area.locator("img")
    before = source_of(image)
    area.locator(".ui-slider-handle").focus()
    page.keyboard.press("ArrowLeft")
    wait_until_changed(page, image, before)


def test_a_game_runs_and_answers_to_the_keys(page: Any) -> None:
    area = output(page, "drive")
    image = area.locator("img")
    before = source_of(image)
    area.get_by_role("button", name="Start").click()
    wait_until_changed(page, image, before)
    area.locator(".ui-slider-handle").focus()
    page.keyboard.press("ArrowRight")
    area.get_by_text("push right").wait_for()
    area.get_by_role("button", name="Stop").click()
    area.get_by_text("Stopped").wait_for()
