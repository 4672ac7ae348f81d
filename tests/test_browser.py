"""What a student sees in JupyterLab and Notebook 7: sliders answer, videos play, curves grow, games
run, a training can be stopped; with a mouse, with the keyboard alone, and without eyes.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from sometimes import always_on

from helpers.show.figures.discount import plot_discount
from helpers.show.plotting import quick_webp, to_image

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

ROOT = Path(__file__).resolve().parent.parent
CELLS = {
    "imports": """
import time
from helpers.agents import DDPG
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
    "video": """
falls = record(lambda obs: int(obs[2] > 0), "CartPole-v1")
Video(falls)
""",
    "slider": "discount_explorer()",
    "drive": 'game = drive("CartPole-v1", seed=0)',
    "error": """
def draw(x):
    if x > 0:
        raise ValueError("x is <too> large")
    return plot_discount(0.5)

explore(draw, x=Slider(0, 2, 0, 1))
""",
}
TRAINING = [
    'agent = DDPG("Pendulum-v1", seed=0, hidden=32, learning_starts=100)',
    "agent.learn(1_000_000, callback=LiveCurves(bar=-200)).steps",
    "stopped = agent.steps\nagent.learn(300).steps - stopped",
]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
ERROR = "[data-mime-type*=error], [data-mime-type*=stderr]"
STOP = "button[data-command='notebook:interrupt-kernel'], jp-button[data-command*='interrupt']"


@pytest.fixture(scope="module", params=always_on("lab", of=["lab", "notebook7"]))
def notebook(request: pytest.FixtureRequest) -> Lab:
    """A small notebook, opened and run but for the training, in JupyterLab and in Notebook 7."""
    lab: Lab = request.getfixturevalue(request.param)
    path = lab.folder / "small.ipynb"
    write([*CELLS.values(), *TRAINING], path)
    lab.open_notebook(path)
    for number in range(len(CELLS)):
        lab.run_cell(number)
    return lab


# In Notebook 7 the shortcuts of command mode take the arrow keys before a slider that has the focus
# hears of them, unlike Page Up, Page Down, Home and End: there only the mouse is tried.
in_jupyterlab = pytest.mark.parametrize("notebook", ["lab"], indirect=True, scope="module")


def write(sources: list[str], path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in sources]
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


def wait_until_changed(page: Any, image: Any, before: str) -> None:
    page.wait_for_function(
        "([image, before]) => image.src !== before", arg=[image.element_handle(), before]
    )


def plays(page: Any, video: Any) -> None:
    page.wait_for_function(
        "video => video.readyState >= 2 && video.videoWidth > 0", arg=video.element_handle()
    )


def test_no_cell_failed(notebook: Lab) -> None:
    assert notebook.page.locator(ERROR).count() == 0


def test_curves_are_drawn_and_progress_ends_at_100(notebook: Lab) -> None:
    area = output(notebook, "curves")
    assert area.locator("img").count() == 1
    assert area.locator("img").evaluate("e => e.naturalWidth") > 700
    assert area.locator("progress").evaluate("e => e.value / e.max") == 1
    assert "100 %" in area.inner_text()


def test_video_plays(notebook: Lab) -> None:
    video = output(notebook, "video").locator("video")
    plays(notebook.page, video)
    assert video.evaluate("e => e.loop && e.muted && e.controls")


@in_jupyterlab
def test_slider_changes_the_figure(notebook: Lab) -> None:
    area = output(notebook, "slider")
    image = area.locator("img")
    before = source_of(image)
    area.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowLeft")
    wait_until_changed(notebook.page, image, before)


def test_pictures_do_not_queue_behind_a_fast_drag(notebook: Lab) -> None:
    area = output(notebook, "slider")
    area.scroll_into_view_if_needed()
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
    last = quick_webp(to_image(plot_discount(gamma)))
    drawn = 0
    while shown(image) != last:  # what comes late on a slow machine comes all the same
        notebook.page.wait_for_function("drawn => window.drawn > drawn", arg=drawn)
        drawn = notebook.page.evaluate("window.drawn")
    after = notebook.page.evaluate("window.drawn")
    assert after < 10, "each of the drag's 90 positions has its picture"


@in_jupyterlab
def test_an_error_in_a_drawing_is_shown(notebook: Lab) -> None:
    area = output(notebook, "error")
    area.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    area.get_by_text("ValueError: x is <too> large").wait_for()


@pytest.mark.parametrize(("name", "controls"), [("slider", 1), ("drive", 5)])
def test_every_control_is_reached_with_the_tab_key_and_has_a_name(
    notebook: Lab, name: str, controls: int
) -> None:
    area = output(notebook, name)
    area.locator(CONTROLS).nth(controls - 1).wait_for()
    area.locator(CONTROLS).first.focus()
    reached = []
    while area.evaluate("e => e.contains(document.activeElement)"):
        reached.append(notebook.page.evaluate(NAME))
        assert len(reached) < 20, reached
        notebook.page.keyboard.press("Tab")
    assert all(reached), reached
    assert len(reached) >= area.locator(CONTROLS).count()


CONTROLS = "button:visible, select:visible, [role=slider]:visible"
# What is said of the element with the keyboard's focus. The handle of an ipywidgets slider has no
# name of its own: the label beside it counts.
NAME = """() => {
    const e = document.activeElement;
    return e.getAttribute('aria-label') || e.title || e.innerText
        || e.closest('.jupyter-widgets:has(label, .widget-label)')?.innerText || '';
}"""


@pytest.mark.parametrize("name", ["slider", "video", "drive"])
def test_every_picture_says_what_is_to_be_seen(notebook: Lab, name: str) -> None:
    picture = output(notebook, name).locator("img, video").first
    text = picture.evaluate("e => e.alt || e.title || e.getAttribute('aria-label')")
    assert text
    assert len(text) > 20


@in_jupyterlab
def test_drive_runs_only_between_start_and_stop_and_says_how_it_ended(notebook: Lab) -> None:
    page, area = notebook.page, output(notebook, "drive")
    image = area.locator("img")
    before = source_of(image)
    page.wait_for_timeout(300)
    assert source_of(image) == before, "it started by itself"
    area.get_by_role("button", name="Start").click()
    wait_until_changed(page, image, before)
    wait_until_changed(page, image, source_of(image))
    area.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    area.get_by_text("push right").wait_for()
    area.get_by_role("button", name="Stop").click()
    area.get_by_text("Stopped").wait_for()
    still = source_of(image)
    page.wait_for_timeout(300)
    assert source_of(image) == still
    area.locator("select").select_option(label="real time")
    area.get_by_role("button", name="New episode").click()
    area.get_by_role("button", name="Start").click()
    area.get_by_text("terminated").wait_for()
    assert "value is 0" in area.inner_text()


def test_the_stop_button_keeps_the_agent_and_training_goes_on(notebook: Lab) -> None:
    page, first = notebook.page, len(CELLS)
    notebook.run_cell(first)
    training = notebook.run_cell(first + 1, wait=False)
    page.wait_for_function(  # the bar is another element each time that it is renewed
        "() => [...document.querySelectorAll('.jp-OutputArea progress')].some("
        "e => e.max === 1000000 && e.value > 500)"
    )
    page.locator(STOP).first.click()
    training.get_by_text(re.compile(r"stopped at \d+ %; call learn again to go on")).wait_for()
    notebook.idle()
    assert training.locator(ERROR).count() == 0
    assert "the agent keeps what it learned" in training.inner_text()
    after = notebook.run_cell(first + 2)
    after.get_by_text(re.compile(r"^\s*300\s*$")).wait_for()


def test_the_start_asks_the_student_nothing(lab: Lab) -> None:
    """JupyterLab would ask whether to show its news, on top of the lesson."""
    lab.open_notebook(ROOT / "notebooks/00_start_here.ipynb", kernel=False)
    lab.page.wait_for_timeout(2000)
    assert lab.page.locator(".Toastify__toast").all_inner_texts() == []
