"""A committed notebook as GitHub and nbviewer show it: nbconvert's HTML, without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from sometimes import always_on

pytest_plugins = ("tests.browser",)

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
WIDTH = 1012  # CSS pixels: of a file on GitHub


@pytest.fixture(scope="module", params=always_on("05", of=LESSONS, name=lambda path: path.stem))
def shown(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[Any, list[str]]]:
    """The page, and the pictures (base64) that the notebook's outputs hold, in order."""
    notebook = nbformat.read(request.param, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [
        output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    path = tmp_path_factory.mktemp("html") / "lesson.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    page = browser.new_page(viewport={"width": WIDTH, "height": 1400})
    page.route("http*://**", lambda route: route.abort())  # MathJax's address: tests are offline
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    yield page, pictures
    page.close()


def test_every_curve_rollout_and_widget_is_a_picture(shown: tuple[Any, list[str]]) -> None:
    page, pictures = shown
    images = page.locator(".jp-OutputArea-output img")
    assert images.count() == len(pictures) > 2
    for i, picture in enumerate(pictures):
        image = images.nth(i)
        assert image.get_attribute("src").endswith(picture.strip().replace("\n", "")[-200:])
        assert image.evaluate("async e => { await e.decode(); return e.naturalWidth }") > 100
        assert image.get_attribute("alt"), f"picture {i} has no alt text"


def test_no_output_is_wider_than_the_page(shown: tuple[Any, list[str]]) -> None:
    wide = shown[0].evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output *')]"
        ".filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth)"
        ".map(e => e.outerHTML.slice(0, 200))"
    )
    assert wide == []
    assert shown[0].evaluate("() => document.documentElement.scrollWidth") <= WIDTH
