"""Beside running a notebook: a stopped training, Notebook 7, a keyboard, a screen reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from sometimes import always_on

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

ROOT = Path(__file__).resolve().parent.parent
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
CELLS = {
    "imports": (
        "from helpers.agents import DDPG\n"
        "from helpers.show.driving import drive\n"
        "from helpers.show.figures.discount import discount_explorer\n"
        "from helpers.show.plotting import LiveCurves\n"
        "from helpers.show.video import Video, record"
    ),
    "agent": 'agent = DDPG("Pendulum-v1", seed=0, hidden=32, learning_starts=100)',
    "training": "agent.learn(1_000_000, callback=LiveCurves(bar=-200)).steps",
    "after": "stopped = agent.steps\nagent.learn(300).steps - stopped",
    "slider": "discount_explorer()",
    "video": 'Video(record(lambda obs: int(obs[2] > 0), "CartPole-v1"))',
    "drive": 'game = drive("CartPole-v1", seed=0)',
}
ERROR = "[data-mime-type*=error], [data-mime-type*=stderr]"
STOP = "button[data-command='notebook:interrupt-kernel'], jp-button[data-command*='interrupt']"


@pytest.fixture(scope="module", params=always_on("lab", of=["lab", "notebook7"]))
def front_end(request: pytest.FixtureRequest) -> Lab:
    """The small notebook, opened and not run, in JupyterLab and in Notebook 7."""
    lab: Lab = request.getfixturevalue(request.param)
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    path = lab.folder / "front_end.ipynb"
    nbformat.write(notebook, path)
    lab.open_notebook(path)
    lab.run_cell(list(CELLS).index("imports"))
    return lab


def start(lab: Lab, name: str) -> Any:
    """Run a cell without waiting for it; its output."""
    return lab.run_cell(list(CELLS).index(name), wait=False)


def test_the_stop_button_keeps_the_agent_and_training_goes_on(front_end: Lab) -> None:
    page = front_end.page
    start(front_end, "agent")
    output = start(front_end, "training")
    page.wait_for_function(  # the bar is another element each time that it is renewed
        "() => [...document.querySelectorAll('.jp-OutputArea progress')].some(e => e.value > 500)"
    )
    page.locator(STOP).first.click()
    output.get_by_text(re.compile(r"stopped at \d+ %; call learn again to go on")).wait_for()
    front_end.idle()
    assert output.locator(ERROR).count() == 0
    assert "the agent keeps what it learned" in output.inner_text()
    after = start(front_end, "after")
    after.get_by_text(re.compile(r"^\s*300\s*$")).wait_for()


def test_outputs_show_and_play(front_end: Lab) -> None:
    video = start(front_end, "video").locator("video")
    front_end.page.wait_for_function(
        "e => e.readyState >= 2 && e.videoWidth > 0", arg=video.element_handle()
    )
    slider = start(front_end, "slider")
    slider.locator("img").wait_for()
    assert front_end.page.locator(ERROR).count() == 0


# --- Without eyes, without a mouse --------------------------------------------------------------


@pytest.mark.parametrize(("name", "controls"), [("slider", 1), ("drive", 5)])
def test_every_control_is_reached_with_the_tab_key_and_has_a_name(
    front_end: Lab, name: str, controls: int
) -> None:
    area = start(front_end, name)
    area.locator("img").wait_for()
    area.locator(CONTROLS).nth(controls - 1).wait_for()
    area.locator(CONTROLS).first.focus()
    reached = []
    while area.evaluate("e => e.contains(document.activeElement)"):
        reached.append(front_end.page.evaluate(NAME))
        assert len(reached) < 20, reached
        front_end.page.keyboard.press("Tab")
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
def test_every_picture_says_what_is_to_be_seen(front_end: Lab, name: str) -> None:
    area = start(front_end, name)
    picture = area.locator("img, video").first
    picture.wait_for()
    text = picture.evaluate("e => e.alt || e.title || e.getAttribute('aria-label')")
    assert text
    assert len(text) > 20


def test_the_start_asks_the_student_nothing(lab: Lab) -> None:
    """JupyterLab would ask whether to show its news, on top of the lesson."""
    lab.open_notebook(ROOT / "notebooks/00_start_here.ipynb", kernel=False)
    lab.page.wait_for_timeout(2000)
    assert lab.page.locator(".Toastify__toast").all_inner_texts() == []
