"""What a student sees in a real JupyterLab: sliders answer, videos play, curves grow, games run."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from helpers.show.figures.discount import plot_discount
from helpers.show.plotting import to_png

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

CELLS = {
    "imports": """
import time
from helpers.show.plotting import LiveCurves
from helpers.show.video import Video, record
from helpers.show.driving import SPEEDS, drive
from helpers.show.figures.discount import discount_explorer, plot_discount
from helpers.show.figures.explore import Slider, explore

SPEEDS["slow motion"] = 0.02  # a step a second: the pole stands as long as a test may take

class Agent:
    steps, history = 0, {"return": []}

    def learn(self, total_steps, callback):
        callback.start(self, total_steps)
        for _ in range(total_steps):
            self.steps += 1
            self.history["return"].append((self.steps, self.steps % 50))
            time.sleep(0.002)
            callback(self)
        callback.stop(self)
""",
    "curves": "Agent().learn(500, LiveCurves(bar=40))",
    "video": 'Video(record(lambda obs: int(obs[2] > 0), "CartPole-v1"), caption="Falls.")',
    "slider": "discount_explorer()",
    "drive": 'game = drive("CartPole-v1", seed=0)',
    "error": """
def draw(x):
    if x > 0:
        raise ValueError("x is <too> large")
    return plot_discount(0.5)

explore(draw, x=Slider(0, 2, 0))
""",
}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Lab:
    """A small notebook, opened and run."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    path = lab.folder / "small.ipynb"
    write(cells, path)
    lab.open_notebook(path)
    lab.run_all(60)
    return lab


def write(cells: list, path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, path)


def output(lab: Lab, name: str) -> Any:
    return lab.cell(list(CELLS).index(name)).locator(".jp-OutputArea").first


def source_of(image: Any) -> str:
    return image.get_attribute("src")


def shown(image: Any) -> bytes:
    """The bytes of the picture in an <img>."""
    url = image.evaluate(
        "async e => { const blob = await (await fetch(e.src)).blob();"
        " return new Promise(done => { const r = new FileReader();"
        " r.onload = () => done(r.result); r.readAsDataURL(blob); }) }"
    )
    return base64.b64decode(url.partition(",")[2])


def wait_until_changed(lab: Lab, image: Any, before: str) -> None:
    lab.page.wait_for_function(
        "([image, before]) => image.src !== before", arg=[image.element_handle(), before]
    )


def test_no_cell_failed(notebook: Lab) -> None:
    assert notebook.page.locator(".jp-OutputArea [data-mime-type*=error]").count() == 0
    assert notebook.page.locator(".jp-OutputArea [data-mime-type*=stderr]").count() == 0


def test_curves_are_drawn_and_progress_ends_at_100(notebook: Lab) -> None:
    area = output(notebook, "curves")
    assert area.locator("img").count() == 1
    assert area.locator("img").evaluate("e => e.naturalWidth") > 700
    assert area.locator("progress").evaluate("e => e.value / e.max") == 1
    assert "100 %" in area.inner_text()


def test_video_plays(notebook: Lab) -> None:
    video = output(notebook, "video").locator("video")
    notebook.page.wait_for_function(
        "video => video.readyState >= 2 && video.videoWidth > 0", arg=video.element_handle()
    )
    assert video.evaluate("e => e.loop && e.muted && e.controls")
    assert "Falls." in output(notebook, "video").inner_text()


def test_slider_changes_the_figure(notebook: Lab) -> None:
    area = output(notebook, "slider")
    image = area.locator("img")
    before = source_of(image)
    area.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowLeft")
    wait_until_changed(notebook, image, before)


def test_pictures_do_not_queue_behind_a_fast_drag(notebook: Lab) -> None:
    area = output(notebook, "slider")
    handle, image = area.locator(".noUi-handle").bounding_box(), area.locator("img")
    mouse = notebook.page.mouse
    mouse.move(handle["x"] + 5, handle["y"] + 5)
    mouse.down()
    for x in range(5, -355, -4):
        mouse.move(handle["x"] + x, handle["y"] + 5)
    image.evaluate(
        "image => { window.drawn = 0; new MutationObserver(() => { window.drawn += 1; })"
        ".observe(image, {attributes: true, attributeFilter: ['src']}); }"
    )
    mouse.up()
    gamma = float(area.locator(".widget-readout").inner_text())
    assert gamma < 0.5
    last = to_png(plot_discount(gamma))
    drawn = 0
    while shown(image) != last:  # what comes late on a slow machine comes all the same
        notebook.page.wait_for_function("drawn => window.drawn > drawn", arg=drawn)
        drawn = notebook.page.evaluate("window.drawn")
    after = notebook.page.evaluate("window.drawn")
    assert after < 10, "each of the drag's 90 positions has its picture"


def test_an_error_in_a_drawing_is_shown(notebook: Lab) -> None:
    area = output(notebook, "error")
    area.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    area.get_by_text("ValueError: x is <too> large").wait_for()


def test_drive_runs_only_between_start_and_stop(notebook: Lab) -> None:
    area = output(notebook, "drive")
    image = area.locator("img")
    before = source_of(image)
    notebook.page.wait_for_timeout(300)
    assert source_of(image) == before, "it started by itself"
    area.get_by_role("button", name="Start").click()
    wait_until_changed(notebook, image, before)
    wait_until_changed(notebook, image, source_of(image))
    area.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    area.get_by_text("push right").wait_for()
    area.get_by_role("button", name="Stop").click()
    area.get_by_text("Stopped").wait_for()
    still = source_of(image)
    notebook.page.wait_for_timeout(300)
    assert source_of(image) == still


def test_drive_says_how_an_episode_ended(notebook: Lab) -> None:
    area = output(notebook, "drive")
    area.locator("select").select_option(label="real time")
    area.get_by_role("button", name="Reset").click()
    area.get_by_role("button", name="Start").click()
    area.get_by_text("terminated").wait_for()
    assert "value is 0" in area.inner_text()
