"""The web page, built and looked at: links, pictures, search; phone and desktop, both themes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from bs4 import BeautifulSoup
from missing import out_of_reach

from helpers.show.figures.explore import Choice, Slider
from helpers.show.plotting import new_figure
from tests.browser import web_server
from tools.frames import frames
from tools.site_pages import OUTPUTS, notebooks, sliders

pytest_plugins = ("tests.browser",)
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ["index", "README", "USING", "try_it", "CONTRIBUTING", "INSTRUCTORS", "NAMES"]
PAGES = [*DOCUMENTS, "notebooks/04_ddpgfd", "notebooks/exercises/02_ddpg"]
ON_A_PHONE = ["index", "README", "try_it", "notebooks/01_a2c"]
SCREENS = {"desktop": (1280, 900), "phone": (390, 844)}
AXE = "axe-core@4.14.1"  # looks for barriers

# Code that is wider than its box, although no line of it has more than 100 characters.
CLIPPED = """() => [...document.querySelectorAll("article pre")]
    .filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent).filter(text => text.split("\\n").every(line => line.length <= 100))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as it is published: the command's own output, in an environment of its own."""
    folder = tmp_path_factory.mktemp("site") / "public"
    command = [sys.executable, "course.py", "site", folder, "--repository", "owner/name", "--still"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode and "out of reach" in done.stderr:
        out_of_reach("the package index")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


# --- Files ------------------------------------------------------------------------------------


class Seen:
    """What a page links to, which anchors it has, and its pictures."""

    def __init__(self, path: Path) -> None:
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        self.targets = [each[n] for n in ("href", "src") for each in soup.select(f"[{n}]")]
        self.anchors = {each[n] for n in ("id", "name") for each in soup.select(f"[{n}]")}
        self.pictures = soup.select("img")


def pages(site: Path) -> list[Path]:
    """All pages; what the themes keep in _static are none."""
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


def test_every_link_leads_somewhere(site: Path) -> None:
    seen = {path: Seen(path) for path in pages(site)}
    assert len(seen) > 12
    lost = []
    for path, page in seen.items():
        for target in page.targets:
            parts = urlparse(target)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = seen[place].anchors if place in seen else {parts.fragment}
            if not place.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                lost.append((path.name, target))
    assert lost == []


def test_every_picture_has_a_text(site: Path) -> None:
    pictures = [(path, p) for path in pages(site) for p in Seen(path).pictures]
    assert len(pictures) > 80
    assert [(path.name, p.get("src")) for path, p in pictures if not p.get("alt")] == []


def test_a_notebook_can_be_opened_in_colab_and_downloaded_as_it_is(site: Path) -> None:
    for path in notebooks(ROOT):
        place = path.relative_to(ROOT)
        targets = Seen(site / place.with_suffix(".html")).targets
        colab = f"https://colab.research.google.com/github/owner/name/blob/main/{place.as_posix()}"
        assert colab in targets
        assert any(target.endswith(f"_sources/{place.as_posix()}") for target in targets)
        assert (site / "_sources" / place).read_bytes() == path.read_bytes()


# --- In a browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """axe-core's code."""
    npm = shutil.which("npm")
    if npm is None:
        out_of_reach("npm, for the tests of the site")
    folder = tmp_path_factory.mktemp("npm")
    command = [npm, "pack", AXE, "--fetch-retries=1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode and re.search(r"E(NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT)|network", done.stderr):
        out_of_reach("npm's registry")
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.tgz")
    with tarfile.open(path) as package:
        file = package.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with web_server(site) as found:
        yield found


@pytest.fixture
def page(request: Any, browser: Any) -> Iterator[Any]:
    """A page that reaches nothing but the site; on a dark desktop, if nothing else is asked for."""
    screen, theme = getattr(request, "param", ("desktop", "dark"))
    width, height = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    found = context.new_page()
    elsewhere = re.compile("^https?://(?!127.0.0.1)")
    found.route(elsewhere, lambda route: route.abort())
    yield found
    context.close()


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *((("desktop", "dark"), name) for name in PAGES),
        *((("phone", "light"), name) for name in ON_A_PHONE),
    ],
    indirect=["page"],
)
def test_a_page_shows_everything_and_keeps_nobody_out(
    page: Any, address: str, axe: str, name: str
) -> None:
    page.goto(f"{address}/{name}.html")
    if name not in DOCUMENTS:
        page.wait_for_function("() => window.MathJax?.startup?.promise")
        page.evaluate("() => MathJax.startup.promise")
        assert page.locator("mjx-container").count() > 20
        assert page.locator("mjx-merror").count() == 0
    page.evaluate("() => document.querySelectorAll('img').forEach(e => { e.loading = 'eager'; })")
    page.wait_for_function("() => [...document.images].every(e => e.complete)")
    broken = page.evaluate(
        "() => [...document.images].filter(e => !e.naturalWidth).map(e => e.src)"
    )
    assert [source for source in broken if source.startswith(address)] == []
    wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, "the page is wider than the screen"
    if page.viewport_size["width"] > 1000:
        assert page.evaluate(CLIPPED) == [], "lines of at most 100 characters need scrolling"
    assert barriers(page, axe) == []


def barriers(page: Any, axe: str) -> list[str]:
    """What axe-core finds against WCAG 2 A and AA: contrast, texts of pictures, names, roles."""
    page.evaluate(axe)
    return page.evaluate(
        "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']})).violations"
        ".flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200)))"
    )


def test_an_explorer_moves_without_a_kernel(page: Any, tmp_path: Path) -> None:
    controls = {"noise": Slider(0.0, 1.0, 0.5, 0.5, "σ"), "n": Choice({"few": 2, "many": 9}, 2)}
    known = frames(
        lambda noise, n: new_figure(width=2 + noise, height=n / 4)[0], controls, tmp_path, "x"
    )
    script = (ROOT / "tools" / "site_style" / "explorers.js").read_text("utf-8")
    place = tmp_path / "page.html"
    text = f"<img src='x-2.webp' alt='x'>{sliders(known, '')}<script>{script}</script>"
    place.write_text(text.replace(f"{OUTPUTS}/frames/", ""), "utf-8")
    page.goto(place.as_uri())
    size = "() => [...document.images].map(e => [e.naturalWidth, e.naturalHeight])[0]"
    page.wait_for_function(f"{size}[0] > 0".replace(size, f"({size})()"))
    assert page.evaluate(size) == [250, 50]
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"({size})()[0] == 300")
    assert page.evaluate(size) == [300, 225]
    assert page.locator("output").all_inner_texts() == ["1", "many"]


def test_hints_are_folded_and_open_with_the_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}/notebooks/exercises/01_a2c.html")
    hint = page.locator("details").first
    assert not hint.evaluate("e => e.open")
    hint.locator("summary").focus()
    page.keyboard.press("Enter")
    assert hint.evaluate("e => e.open && e.innerText.length > 20")
