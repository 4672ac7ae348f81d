"""The built lessons as a student meets them: opened, run; an exercise done wrong, then right."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sometimes import always_on

from tools.lab import update_copies

if TYPE_CHECKING:
    from tests.browser import Lab

pytest_plugins = ("tests.browser",)

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
CELL = "window.jupyterapp.shell.currentWidget.content.widgets"

WRONG = """
def discounted_returns(rewards, gamma):
    return np.cumsum(rewards[::-1])[::-1]
"""
RIGHT = """
def discounted_returns(rewards, gamma):
    returns = np.array(rewards, dtype=float)
    for t in range(len(returns) - 2, -1, -1):
        returns[t] += gamma * returns[t + 1]
    return returns
"""


@pytest.fixture(params=always_on("05", of=LESSONS, name=lambda path: path.stem))
def opened(lab: Lab, request: pytest.FixtureRequest) -> Lab:
    """A lesson as it is committed, opened and not run."""
    lab.open_notebook(request.param, kernel=False)
    with contextlib.suppress(Exception):  # what is missing even after a minute, the tests name
        lab.page.wait_for_function(f"() => {COMPLETE}", timeout=60_000)
    return lab


# What is left of a formula that is not typeset yet, or was not found to be one, outside code.
PROSE = (
    "[...document.querySelectorAll('.jp-RenderedMarkdown p, .jp-RenderedMarkdown li')]"
    ".map(e => e.cloneNode(true)).map(e => { e.querySelectorAll('code, mjx-container')"
    ".forEach(c => c.remove()); return e.textContent; }).join('\\n')"
)
COMPLETE = (
    f"!{PROSE}.includes('$') && document.querySelectorAll('mjx-container').length > 0"
    " && [...document.images].every(e => e.complete)"
)


def test_a_lesson_opens_with_formulas_and_pictures(opened: Lab) -> None:
    page = opened.page
    formulas = page.locator(".jp-RenderedMarkdown mjx-container, .jp-RenderedMarkdown .MathJax")
    assert formulas.count() > 0
    assert page.locator("mjx-merror").count() == 0, "a formula that MathJax cannot read"
    text = page.evaluate(f"() => {PROSE}")
    assert "$" not in text
    assert "\\gamma" not in text
    broken = page.evaluate(
        "() => [...document.querySelectorAll('.jp-Notebook img')]"
        ".filter(e => !e.naturalWidth).map(e => e.alt)"
    )
    assert broken == []
    assert page.get_by_text("Error displaying widget").count() == 0


def ids(lab: Lab) -> list[str]:
    return lab.page.evaluate(f"() => {CELL}.map(cell => cell.model.id)")


def index(lab: Lab, cell_id: str) -> int:
    """Where the cell with that id stands."""
    return ids(lab).index(cell_id)


def run(lab: Lab, cell_id: str, source: str | None = None) -> str:
    """Run one cell, with another source if given; the text of its output."""
    i = index(lab, cell_id)
    if source:
        lab.page.evaluate(f"source => {CELL}[{i}].model.sharedModel.setSource(source)", source)
    return lab.run_cell(i).inner_text()


def test_an_exercise_not_started_then_wrong_then_right(lab: Lab) -> None:
    lab.open_notebook(NOTEBOOKS / "exercises" / "00_start_here.ipynb")
    for cell_id in ("00-setup", "00-imports"):
        run(lab, cell_id)
    check = "00-ex-0-1-check"
    blank = ids(lab)[index(lab, check) - 1]
    run(lab, blank)
    assert "not started" in run(lab, check).lower()
    run(lab, blank, WRONG)
    verdict = run(lab, check)
    assert "gamma" in verdict
    assert "course's version" in verdict
    run(lab, blank, RIGHT)
    assert "course's version" not in run(lab, check)
    hints = lab.cell(index(lab, check) + 1).locator("details")
    assert hints.count() == 4
    assert not hints.nth(3).evaluate("e => e.open"), "the solution is folded"
    hints.nth(3).locator("summary").click()
    assert "def discounted_returns" in hints.nth(3).inner_text()


def looked_at(lab: Lab, path: Path) -> tuple[bool, bool]:
    """Open a notebook and scroll through it: does JupyterLab want to save it, did it already."""
    place = lab.folder / path.name
    before = path.read_bytes()
    lab.open_notebook(path)
    lab.scroll_through()
    lab.page.wait_for_timeout(3000)
    dirty = lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty")
    return dirty, place.read_bytes() != before


@pytest.mark.parametrize("name", always_on("00", of=["00_start_here", "05_td3_in_practice"]))
def test_a_copy_that_is_only_looked_at_stays_as_it_is(lab: Lab, name: str, tmp_path: Path) -> None:
    for place in ("notebooks", "notebooks/exercises"):
        (tmp_path / place).mkdir()
        shutil.copy(NOTEBOOKS.parent / place / f"{name}.ipynb", tmp_path / place)
    update_copies(tmp_path)
    for place in ("my_notebooks", "my_notebooks/exercises"):
        assert looked_at(lab, tmp_path / place / f"{name}.ipynb") == (False, False)
