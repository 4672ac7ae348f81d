"""The page "Try it" in Chromium: it learns, stops, races, takes code and says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

pytest_plugins = ("tests.tab",)
pytestmark = pytest.mark.xdist_group("tab")
PATIENCE = 300_000  # ms, on a machine that is busy with other things


@pytest.fixture
def page(tab: Any) -> Any:
    """Nothing runs on it, all is as in the course; its Python stays, since that takes seconds."""
    tab.evaluate("() => { location.hash = ''; learners.forEach((one) => one.stop()); }")
    tab.evaluate("document.getElementById('try-restore').onclick()")
    tab.wait_for_function("learners.every((one) => !one.busy)", timeout=PATIENCE)
    tab.set_default_timeout(PATIENCE)
    return tab


def change(page: Any, old: str, new: str) -> None:
    page.evaluate(
        "([old, text]) => { const code = document.getElementById('try-source');"
        " code.value = code.value.replace(old, text); code.oninput(); }",
        [old, new],
    )


def test_it_learns_shows_it_and_stops(page: Any) -> None:
    page.click("#try-run")
    page.wait_for_function("learners[0].evaluations.length > 1")
    assert page.locator("#try-returns path.try-line").get_attribute("d").count("L") >= 1
    assert "steps" in page.locator("#try-worlds figcaption").inner_text()
    page.click("#try-stop")
    page.wait_for_function("!learners[0].busy")
    assert page.locator("#try-run").inner_text() == "Run"
    assert "a mean return of" in page.locator("#try-status").inner_text()
    page.get_by_role("button", name="Let go again").click()
    page.wait_for_function("Math.abs(learners[0].shown.angles[0] - Math.PI) > 1e-6")


def test_an_error_is_shown_at_its_line(page: Any) -> None:
    change(page, "s.gamma * lower", "s.gama * lower")
    page.click("#try-run-code")
    error = page.locator("#try-error")
    error.wait_for()
    number = page.locator("#try-numbers .try-wrong").inner_text()
    assert error.inner_text().startswith(f"Line {number}: AttributeError")
    assert "s.gama" in page.locator("#try-source").input_value().splitlines()[int(number) - 1]
    page.click("#try-restore")
    page.click("#try-run-code")
    page.wait_for_function("learners[0].step > 0")
    assert not error.is_visible()


def test_code_that_never_ends_can_be_stopped_and_prints_are_shown(page: Any) -> None:
    change(page, "    agent = TD3(settings, rng)", "    print('before')\n    while True: pass")
    page.click("#try-run")
    page.locator("#try-printed").wait_for()
    page.click("#try-stop")
    page.wait_for_function("!learners[0].busy")
    change(page, "    while True: pass", "    agent = TD3(settings, rng)")
    page.click("#try-run")
    page.wait_for_function("learners[0].step > 0")
    assert page.locator("#try-printed").inner_text() == "before\n"


def test_a_link_holds_a_race(page: Any) -> None:
    page.evaluate("() => { location.hash = '#seed=3&race=1&B.critics=1&tau=0.05&delay=9'; }")
    page.wait_for_selector("figure.try-B")
    settings = page.evaluate("learners.map(({ settings }) => [settings.critics, settings.tau])")
    assert settings == [[2, 0.05], [1, 0.02]]
    slider = page.get_by_label("Critics, B")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2"
    page.get_by_label("Exploration, A").focus()
    page.keyboard.press("Home")
    assert page.evaluate("location.hash") == "#seed=3&race=1&tau=0.05&exploration=0"
    page.click("#try-run")
    page.wait_for_function("learners.every(({ step }) => step > 0)")
    assert page.evaluate("learners[0].order.settings") == {"tau": 0.05, "exploration": 0}


def test_without_pyodide_it_says_so(tab: Any) -> None:
    page = tab.context.browser.new_page()
    page.goto(tab.url)
    page.evaluate("document.getElementById('try-stage').dataset.pyodide = 'http://127.0.0.1:9/'")
    page.click("#try-run")
    page.locator("#try-error").wait_for()
    assert "could not be fetched from 127.0.0.1:9" in page.locator("#try-error").inner_text()
    assert page.locator("#try-run").inner_text() == "Run"
    page.close()
