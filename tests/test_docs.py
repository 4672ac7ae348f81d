"""What the README promises is what was measured."""

import json
import re
from pathlib import Path

import pytest

from course import COMMANDS
from helpers.checks import exercises
from helpers.training.settings import SETTINGS, Setting

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: f"{s.algorithm} {s.env_id}")
def test_the_study_behind_a_lesson_is_stored_and_quoted(setting: Setting) -> None:
    name = f"data/results/{setting.algorithm}_{setting.env_id}.json"
    seeds = f"{setting.seeds[0]}-{setting.seeds[-1]}"
    study = f"study {setting.algorithm} {setting.env_id} --seeds {seeds} --out {name}"
    assert (ROOT / name).exists(), f"python course.py {study}"
    record = json.loads((ROOT / name).read_text(encoding="utf-8"))
    params = json.loads(json.dumps(setting.params, default=str))  # as the study stores them
    assert record["settings"]["params"] == params, f"changed: python course.py {study}"
    assert (record["settings"]["steps"], record["settings"]["bar"]) == (setting.steps, setting.bar)
    assert [row["seed"] for row in record["results"]] == [*setting.seeds]
    passed = sum(row["mean"] >= setting.bar for row in record["results"])
    found = re.search(r"(\d+/\d+) seeds .* (median .* s), (worst .* s)", record["summary"])
    assert found
    assert found[1] == f"{passed}/20"
    said = f"{found[1]} seeds, {found[2]}, {found[3]}"
    assert said in README, f"README: what {setting.algorithm} reaches on {setting.env_id}: {said}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*.md")), ids=lambda path: path.stem)
def test_readme_links_both_editions_of_every_lesson(path: Path) -> None:
    count = sum(exercise.lesson == path.stem for exercise in exercises())
    edition = f"[{count}](notebooks/exercises/{path.stem}.ipynb)"  # how many exercises it has
    for link in (f"(notebooks/{path.stem}.ipynb)", edition):
        assert link in README, f"README, table of lessons: a row with {link}"


def test_relative_links_of_the_documents_lead_somewhere() -> None:
    for document in (*ROOT.glob("*.md"), ROOT / "data" / "README.md"):
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")), ids=lambda path: path.stem)
def test_what_a_document_says_to_run_is_there(path: Path) -> None:
    """Commands of course.py, and files of tests."""
    text = path.read_text(encoding="utf-8")
    commands = re.findall(r"python course\.py ([a-z][a-z-]*)", text)
    assert set(commands) <= set(COMMANDS)
    files = re.findall(r"\btests/\w+\.py\b", text)
    assert [each for each in files if not (ROOT / each).exists()] == []
