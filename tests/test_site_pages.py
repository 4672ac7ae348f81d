"""How the course's texts and notebooks are laid out for the web page."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import site
from tools.site_landing import landing
from tools.site_pages import OUTPUTS, add_sliders, as_html, contents, relink, show_what_is_given

ROOT = Path(__file__).resolve().parent.parent
LESSON = ROOT / "notebooks" / "exercises" / "01_a2c.ipynb"


@pytest.mark.parametrize(
    ("written", "repository", "expected"),
    [
        ("[next](02_ddpg.ipynb#x)", "o/n", "[next](02_ddpg.ipynb#x)"),
        ("![robot](../../data/pictures/td3_walker.png)", "", "as it was"),
        ("[the course](../../README.md#spaces)", "", "as it was"),
        ("[how](../../CONTRIBUTING.md)", "", "as it was"),
        (
            "[files](../../data/results/)",
            "o/n",
            "[files](https://github.com/o/n/blob/main/data/results)",
        ),
        ("[files](../../data/results/)", "", "files"),
        ("[paper](https://arxiv.org/abs/1)", "o/n", "as it was"),
        ("`a[i](../../README.md)`", "o/n", "as it was"),
    ],
)
def test_links_lead_to_pages_or_to_the_repository(
    written: str, repository: str, expected: str
) -> None:
    expected = written if expected == "as it was" else expected
    assert relink(written, LESSON, ROOT, repository) == expected


def test_a_picture_becomes_a_file_with_its_text_and_width(tmp_path: Path) -> None:
    data = {"image/png": base64.b64encode(b"png").decode(), "text/plain": "x"}
    metadata = {"image/png": {"alt": 'A "curve" < 3', "width": 760}}
    output = as_html(new_output("display_data", data, metadata=metadata), tmp_path, "../")
    [file] = tmp_path.iterdir()
    assert file.read_bytes() == b"png"
    html = output.data["text/html"]
    assert f'src="../{OUTPUTS}/{file.name}"' in html
    assert 'alt="A &quot;curve&quot; &lt; 3" width="760"' in html
    text = new_output("stream", text="step 1")
    assert as_html(text, tmp_path, "../") is text


def test_the_navigation_has_both_editions_of_every_lesson() -> None:
    text = contents(ROOT, ["CHANGELOG.md", "README.md"])
    for path in ROOT.glob("notebooks/**/*.ipynb"):
        assert f"\n{path.relative_to(ROOT).as_posix()}\n" in text
    assert "README.md\nCHANGELOG.md" in text


def test_the_first_page_leads_to_every_lesson() -> None:
    text = landing(ROOT, "A title", "<img src='map.png'>", "owner/name")
    for path in ROOT.glob("notebooks/*.ipynb"):
        assert f'href="notebooks/{path.stem}.html"' in text
    said = re.findall(r"</b> (.*)</a>", text)
    assert all(len(sentence) > 40 and "*" not in sentence for sentence in said)
    assert "https://owner.github.io/name/" in text
    assert "map.png" in text


def test_exercises_show_what_given_cells_print() -> None:
    given, answer = new_code_cell("x", id="a"), new_code_cell("...", id="b")
    ran = [
        new_code_cell("x", id="a", outputs=[new_output("stream", text="1")]),
        new_code_cell("solved", id="b", outputs=[new_output("stream", text="2")]),
    ]
    show_what_is_given(new_notebook(cells=[given, answer]), new_notebook(cells=ran))
    assert [cell.outputs for cell in (given, answer)] == [ran[0].outputs, []]


def test_sliders_stand_below_the_picture_that_they_move() -> None:
    shown = ["<p>before</p>", "<img src='x'>", "<table></table>"]
    outputs = [new_output("display_data", {"text/html": html}) for html in shown]
    outputs.insert(0, new_output("stream", text="1"))
    add_sliders(outputs, {"controls": [], "files": ["x-0.webp"]}, "")
    has_sliders = ["course-sliders" in str(output) for output in outputs]
    assert has_sliders == [False, False, True, False]


def test_a_folder_with_something_else_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "thesis.txt").write_text("dear")
    assert site.main([str(tmp_path)]) == 1
    assert "name an empty folder" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").exists()
