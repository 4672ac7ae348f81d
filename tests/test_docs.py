"""What the README promises is what was measured."""

import ast
import json
import re
from pathlib import Path

import pytest

from helpers.training.settings import SETTINGS, Setting

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: f"{s.algorithm} {s.env_id}")
def test_the_study_behind_a_lesson_is_stored_and_quoted(setting: Setting) -> None:
    path = ROOT / "data" / "results" / f"{setting.algorithm}_{setting.env_id}.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    params = json.loads(json.dumps(setting.params, default=str))  # as the study stores them
    assert record["settings"]["params"] == params, "the settings changed: study again"
    assert (record["settings"]["steps"], record["settings"]["bar"]) == (setting.steps, setting.bar)
    assert [row["seed"] for row in record["results"]] == list(range(100, 120))
    passed = sum(row["mean"] >= setting.bar for row in record["results"])
    found = re.search(r"(\d+/\d+) seeds .* (median .* s), (worst .* s)", record["summary"])
    assert found
    assert found[1] == f"{passed}/20"
    assert f"{found[1]} seeds, {found[2]}, {found[3]}" in README


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*.md")), ids=lambda path: path.stem)
def test_readme_links_both_editions_of_every_lesson(path: Path) -> None:
    assert f"(notebooks/{path.stem}.ipynb)" in README
    assert f"(notebooks/exercises/{path.stem}.ipynb)" in README


def test_relative_links_of_the_documents_lead_somewhere() -> None:
    for document in ("README.md", "CONTRIBUTING.md", "data/README.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"


ROOMS = "labs exercises checks show training agents demos evaluation memory envs".split()


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in getattr(node, "names", [])]
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "helpers" else [f"helpers.{n}" for n in names]
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {name.split(".")[1] for name in names if name.startswith("helpers.")}
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_between_rooms_go_one_way(room: str) -> None:
    place = ROOT / "helpers" / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    assert files
    for path in files:
        above = imported(path) & set(ROOMS[: ROOMS.index(room)])
        assert not above, f"{path.relative_to(ROOT)} imports from {', '.join(sorted(above))}"


def test_the_map_has_every_room_and_module() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = text[text.index("## The rooms") : text.index("## A lesson's text")]
    places = {path.name for path in (ROOT / "helpers").iterdir() if path.is_dir()}
    assert places - {"__pycache__"} == set(ROOMS) - {"evaluation"}
    for room in ROOMS:
        if room in ("exercises", "evaluation"):
            continue
        part = re.search(rf"^    {room}/ (.+?)(?=^    \w|\Z)", drawn, re.M | re.S)
        assert part, room
        named = set(re.findall(r"\w+", part[1]))
        modules = {path.stem for path in (ROOT / "helpers" / room).glob("*.py")} - {"__init__"}
        assert modules <= named, f"{room}: {', '.join(sorted(modules - named))}"
    for path in ROOT.glob("helpers/*.py"):
        assert path.stem in {"__init__", "evaluation"}


def test_files_and_functions_stay_short() -> None:
    for path in [*ROOT.glob("helpers/**/*.py"), *ROOT.glob("t*/*.py"), *ROOT.glob("bench*/*.py")]:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 500, path.relative_to(ROOT)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= 40, f"{path.relative_to(ROOT)}: {node.name} has {length} lines"
