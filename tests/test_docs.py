"""What the README promises is what was measured."""

import itertools
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


PICTURES = {
    "a2c_cartpole": "a2c_CartPole-v1",
    "a2c_pendulum": "a2c_Pendulum-v1",
    "ddpg_car": "ddpg_MountainCarContinuous-v0",
    "td3_pendulum": "td3_Pendulum-v1",
    "ddpgfd_pendulum": "ddpgfd_SparsePendulum-v0",
}


def test_the_times_beside_the_pictures_are_those_of_the_studies() -> None:
    lines = [line for line in README.splitlines() if line.startswith("| ") and "---" not in line]
    words = {}  # a row of words, below it their pictures
    for above, below in itertools.pairwise(line.split("|") for line in lines):
        for said, picture in zip(above, below, strict=False):
            words |= dict.fromkeys(re.findall(r"data/pictures/(\w+)\.png", picture), said)
    for picture, study in PICTURES.items():
        record = json.loads((ROOT / "data" / "results" / f"{study}.json").read_text("utf-8"))
        median = float(re.search(r"median ([\d.]+) s", record["summary"])[1])
        assert f"about {median:.0f} s" in words[picture], picture


def test_what_is_said_of_the_robot_was_measured() -> None:
    record = json.loads((ROOT / "data" / "results" / "05_walker.json").read_text("utf-8"))
    final = record["final"]
    step, steps = (f"{count / 1e6:.1f} million" for count in (final["step"], record["steps"]))
    reached = f"{final['mean']:,.0f} ± {final['std']:.0f} over {final['episodes']} episodes"
    hours = record["seconds"] / 3600
    assert f"{reached}, one seed, after {step} steps; all {steps} took {hours:.1f} h" in README
    assert f"(lesson 05, {step} steps)" in README


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*.md")), ids=lambda path: path.stem)
def test_readme_counts_the_exercises_of_a_lesson(path: Path) -> None:
    count = sum(exercise.lesson == path.stem for exercise in exercises())
    cell = f"[{count}](notebooks/exercises/{path.stem}.ipynb)"
    assert cell in README, f"README, table of lessons: {cell}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*.md")), ids=lambda path: path.stem)
def test_readme_links_both_editions_of_every_lesson(path: Path) -> None:
    for link in (f"(notebooks/{path.stem}.ipynb)", f"(notebooks/exercises/{path.stem}.ipynb)"):
        assert link in README, f"README, table of lessons: a row with {link}"


def test_relative_links_of_the_documents_lead_somewhere() -> None:
    for document in (*ROOT.glob("*.md"), ROOT / "data" / "README.md"):
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")), ids=lambda path: path.stem)
def test_what_a_document_says_to_run_is_there(path: Path) -> None:
    """Commands of course.py, those in the table of what to run included, and files of tests."""
    text = path.read_text(encoding="utf-8")
    commands = re.findall(r"python course\.py ([a-z][a-z-]*)", text)
    table = re.search(r"^\| what you changed .*?(?=\n\n)", text, re.M | re.S)
    if path.stem == "CONTRIBUTING":
        assert table
        cells = [row.split(" | ")[1].split("; ")[0] for row in table[0].splitlines()[2:]]
        commands += [each.split()[0] for cell in cells for each in re.findall(r"`([^`]+)`", cell)]
        assert {"build", "test", "study", "break-it"} <= set(commands)
    assert set(commands) <= set(COMMANDS)
    files = re.findall(r"\btests/\w+\.py\b", text)
    assert [each for each in files if not (ROOT / each).exists()] == []


def test_the_map_has_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = text[text.index("## The rooms") : text.index("## A lesson's text")]
    rooms = {path.name for path in (ROOT / "helpers").iterdir() if any(path.glob("*.py"))}
    alone = {path.stem for path in ROOT.glob("helpers/*.py")} - {"__init__"}
    assert set(re.findall(r"^    (\w+)/? ", drawn, re.M)) == rooms | alone
