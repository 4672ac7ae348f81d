"""The recorder in a real JupyterLab: arrow keys drive it, and what is saved loads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import nbformat
from test_browser import KERNEL, source_of, wait_until_changed

from helpers.demos.files import load_demos

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

SHOW = 'game = recorder(seed=0); game.speed_choice.value = "half speed"'
CELLS = [
    nbformat.v4.new_markdown_cell("# A heading\n\n" + "Where ← would go.\n\n" * 20),
    nbformat.v4.new_code_cell(
        "import gymnasium as gym\nimport numpy as np\n"
        "from helpers.show.driving import Drive\nfrom helpers.show.recorder import recorder\n\n"
        'gym.spec("SparsePendulum-v0").max_episode_steps = LIMIT'
    ),
    nbformat.v4.new_code_cell(SHOW),
    nbformat.v4.new_code_cell("game.env.unwrapped.state = np.array([ANGLE, 0.0])"),
    nbformat.v4.new_code_cell("Drive.playing, len(game.episodes), len(game.episode)"),
    nbformat.v4.new_markdown_cell("# Another heading\n\n" + "Where → would go.\n\n" * 20),
]
GAME, STATE = 2, 4
PLACE = (
    "() => { const book = window.jupyterapp.shell.currentWidget.content;"
    " return [book.activeCellIndex,"
    " document.querySelector('.jp-WindowedPanel-outer').scrollTop]; }"
)


def show_game(lab: Lab, limit: int, angle: float) -> Any:
    """The recorder's output, in a fresh notebook with its own kernel; episodes of `limit` steps.

    At angle 0 the pendulum stands.
    """
    (lab.folder / "my_demos.npz").unlink(missing_ok=True)
    path = lab.folder / f"recorder_{limit}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=CELLS, metadata={"kernelspec": KERNEL})
    text = nbformat.writes(notebook).replace("LIMIT", str(limit)).replace("ANGLE", str(angle))
    path.write_text(text, encoding="utf-8")
    lab.open_notebook(path)
    lab.run_all(60)
    output = lab.cell(GAME).locator(".jp-OutputArea").first
    output.scroll_into_view_if_needed()
    return output


def changes(lab: Lab, image: Any, times: int = 1) -> None:
    """Wait until the picture is another one, so many times: one picture is one step."""
    for _ in range(times):
        wait_until_changed(lab.page, image, source_of(image))


def test_arrow_keys_drive_it_and_what_is_saved_loads(lab: Lab) -> None:
    game = show_game(lab, limit=120, angle=0)
    page, keys = lab.page, lab.page.keyboard
    image, handle = game.locator("img"), game.locator(".noUi-handle")
    before = image.get_attribute("src")
    page.wait_for_timeout(300)
    assert image.get_attribute("src") == before, "it started by itself"
    handle.click()
    place = page.evaluate(PLACE)
    for key in ("ArrowRight", "ArrowRight", "Home", "ArrowRight"):  # the first starts it
        keys.press(key)
        changes(lab, image, times=3)
    game.get_by_text("truncated").wait_for()
    assert page.evaluate(PLACE) == place, "the keys moved the notebook as well"
    assert "step 120, return " in game.inner_text()
    assert "return 0." not in game.inner_text()
    game.locator('.noUi-handle[aria-valuenow="0.0"]').wait_for()  # back in the middle

    game.get_by_role("button", name="Save to my_demos.npz").click()
    game.get_by_text("Saved to my_demos.npz: 1 episode, 120 steps").wait_for()
    demos = load_demos(lab.folder / "my_demos.npz", "SparsePendulum-v0")
    assert demos.action[0] == 1
    assert {1, 2, -2, -1} <= set(demos.action[:, 0].tolist())
    assert demos.returns[0] >= 1

    game.get_by_role("button", name="Throw the last away").click()
    game.get_by_text("none yet").wait_for()


def test_nothing_is_lost_when_the_cell_is_run_again_or_cleared(lab: Lab) -> None:
    game = show_game(lab, limit=10_000, angle=2)  # none ends by itself on a slow machine
    image = game.locator("img")
    game.get_by_role("button", name="Start").click()
    changes(lab, image)
    assert game.get_by_role("button", name="Start").is_disabled()
    focused = lab.page.evaluate("() => document.activeElement.tagName")
    assert focused != "BUTTON", "the arrow keys would go to JupyterLab"
    game.get_by_role("button", name="New episode").click()
    game.get_by_text("1: ").wait_for()
    game.get_by_text("Press Start").wait_for()  # the new episode's first picture is there, too
    game.get_by_role("button", name="Start").click()
    game.get_by_text(re.compile(r"step \d+, return")).wait_for()
    lab.run_cell(GAME)
    game.get_by_text("Stopped.").wait_for()
    assert "1: " in game.inner_text()
    game.get_by_role("button", name="Start").click()
    changes(lab, game.locator("img"))
    lab.run_cell(GAME, "clear-cell-output")
    state = played(lab)
    for _ in range(20):  # the page's word that the game is gone takes a moment
        if state.startswith("(None, "):
            break
        lab.page.wait_for_timeout(300)
        state = played(lab)
    assert state.startswith("(None, 1, ")
    assert not state.endswith(" 0)"), "what was played of the second is still there"
    lab.page.wait_for_timeout(300)
    assert played(lab) == state


def played(lab: Lab) -> str:
    """What the notebook's cell about the game says now."""
    return lab.run_cell(STATE).inner_text().splitlines()[-1]
