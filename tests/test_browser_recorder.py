"""The recorder in a real JupyterLab: arrow keys drive it, and what is saved loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from helpers.demos.files import load_demos

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

SHOW = 'game = recorder(seed=0, speed="half speed")'
CELLS = [
    nbformat.v4.new_markdown_cell("# A heading\n\n" + "Where ← would go.\n\n" * 20),
    nbformat.v4.new_code_cell(
        "import gymnasium as gym\nimport numpy as np\n"
        "from helpers.show.driving import Drive\nfrom helpers.show.recorder import recorder\n\n"
        'gym.spec("SparsePendulum-v0").max_episode_steps = 60'
    ),
    nbformat.v4.new_code_cell(SHOW),
    nbformat.v4.new_code_cell("game.env.unwrapped.state = np.zeros(2)  # it stands"),
    nbformat.v4.new_code_cell("Drive.playing, len(game.episodes), len(game.episode)"),
    nbformat.v4.new_markdown_cell("# Another heading\n\n" + "Where → would go.\n\n" * 20),
]
GAME, STATE = 2, 4
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PLACE = (
    "() => { const book = window.jupyterapp.shell.currentWidget.content;"
    " return [book.activeCellIndex,"
    " document.querySelector('.jp-WindowedPanel-outer').scrollTop]; }"
)


@pytest.fixture
def game(lab: Lab) -> Any:
    """The recorder's output, in a fresh notebook."""
    (lab.folder / "my_demos.npz").unlink(missing_ok=True)
    path = lab.folder / "recorder.ipynb"
    notebook = nbformat.v4.new_notebook(cells=CELLS, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, path)
    lab.open_notebook(path)
    lab.run_all(60)
    output = lab.cell(GAME).locator(".jp-OutputArea").first
    output.scroll_into_view_if_needed()
    return output


def run(lab: Lab, index: int, command: str = "run-cell") -> str:
    """Run one cell; what it shows."""
    lab.page.evaluate(
        "async ([index, command]) => { const app = window.jupyterapp;"
        " app.shell.currentWidget.content.activeCellIndex = index;"
        " await app.commands.execute('notebook:' + command); }",
        [index, command],
    )
    return lab.cell(index).locator(".jp-OutputArea").first.inner_text()


def changes(lab: Lab, image: Any) -> None:
    """Wait until the picture is another one."""
    lab.page.wait_for_function(
        "([image, before]) => image.src !== before",
        arg=[image.element_handle(), image.get_attribute("src")],
    )


def test_arrow_keys_drive_it_and_what_is_saved_loads(lab: Lab, game: Any) -> None:
    page, keys = lab.page, lab.page.keyboard
    image, handle = game.locator("img"), game.locator(".noUi-handle")
    before = image.get_attribute("src")
    page.wait_for_timeout(300)
    assert image.get_attribute("src") == before, "it started by itself"
    handle.click()
    place = page.evaluate(PLACE)
    keys.press("ArrowRight")  # starts it
    changes(lab, image)
    changes(lab, image)
    keys.press("ArrowRight")
    page.wait_for_timeout(200)
    keys.press("Home")
    page.wait_for_timeout(200)
    keys.press("ArrowRight")
    game.get_by_text("truncated").wait_for()
    assert page.evaluate(PLACE) == place, "the keys moved the notebook as well"
    assert "step 60, return " in game.inner_text()
    assert "return 0." not in game.inner_text()
    assert handle.get_attribute("aria-valuenow") == "0.0"

    game.get_by_role("button", name="Save to my_demos.npz").click()
    game.get_by_text("Saved to my_demos.npz: 1 episode, 60 steps").wait_for()
    demos = load_demos(lab.folder / "my_demos.npz", "SparsePendulum-v0")
    assert demos.action[0] == 1
    assert {1, 2, -2, -1} <= set(demos.action[:, 0].tolist())
    assert demos.returns[0] >= 1

    game.get_by_role("button", name="Throw the last away").click()
    game.get_by_text("none yet").wait_for()


def test_nothing_is_lost_when_the_cell_is_run_again_or_cleared(lab: Lab, game: Any) -> None:
    image = game.locator("img")
    game.get_by_role("button", name="Start").click()
    changes(lab, image)
    assert game.get_by_role("button", name="Start").is_disabled()
    focused = lab.page.evaluate("() => document.activeElement.tagName")
    assert focused != "BUTTON", "the arrow keys would go to JupyterLab"
    game.get_by_role("button", name="New episode").click()
    game.get_by_text("1: ").wait_for()
    game.get_by_role("button", name="Start").click()
    changes(lab, image)
    run(lab, GAME)
    game.get_by_text("Stopped at step").wait_for()
    assert "1: " in game.inner_text()
    game.get_by_role("button", name="Start").click()
    changes(lab, game.locator("img"))
    run(lab, GAME, "clear-cell-output")
    lab.page.wait_for_timeout(300)
    first = run(lab, STATE)
    lab.page.wait_for_timeout(300)
    again = run(lab, STATE)
    state = first.splitlines()[-1]
    assert state.startswith("(None, 1, ")
    assert not state.endswith(" 0)"), "what was played of the second is still there"
    assert again.splitlines()[-1] == state
