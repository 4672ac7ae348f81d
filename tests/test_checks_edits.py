"""Mistakes as edits: each says what it cannot do, and an exercise's file is read as it stands."""

from dataclasses import replace
from pathlib import Path

import pytest

import helpers.exercises.toys
from helpers.checks.edits import Code, Diff, Edit, EditError, edited
from helpers.checks.exercise import Card, find
from helpers.checks.exercise import _by_id as catalogue
from helpers.exercises.text import exercise, read


def scaled(values, low, high):
    """From low to high."""
    # 1. How wide it is.
    width = high - low
    # 2. Where it stands.
    place = (values - low) / width
    return 2 * place - 1


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (Edit("nothing like it", "x"), "no sign: `nothing like it` stands 0 times, not once"),
        (Edit("low", "x"), "stands 4 times, not once: name a step or method"),
        (Edit("place", "x", "step 2"), "stands 2 times in step 2, not once"),
        (Edit("place", "x", "step 7"), "0 steps with the number 7"),
        (Edit("low", "x", "pop"), "0 methods called pop"),
        (Diff(("-no such line",)), "stand 0 times"),
        (Edit("return", "retrun"), "the code is no Python"),
        (Code("def other(x):\n    return x"), "defines other, not scaled"),
    ],
)
def test_what_cannot_be_edited_is_said_with_the_mistakes_name(edit, says):
    with pytest.raises(EditError, match=says):
        edited(scaled, [edit], "no sign")


def test_a_diff_keeps_the_lines_around_it():
    wider = Diff((" width = high - low", "+width *= 2"))
    assert edited(scaled, [wider], "wider")(4.0, 2.0, 4.0) == 0


TEXT = """# 9.1 From low to high

difficulty 2, 6 minutes

## What

Write `scaled(values, low, high)`.
It has two lines.

## Why

Units.

## Hint 1

One.

## Hint 2

Two.

## Messages

UNITS: Everything
is in units.

## Mistakes

### not stretched
`2 * place - 1` -> `place`
also `return 2 * place - 1` -> `return place`
also ```python
def scaled(values, low, high):
    return (values - low) / (high - low)
```
You return `place` itself. {UNITS}

### shifted
step 2: `values - low` -> `values`
`high - low` -> `high + 0 * low`, `2 * place` -> `1 * place`
Three at once.

## Properties

### beyond the bounds
Stay within. {UNITS}

## Right answers

### in one line
```diff
-width = high - low
-place = (values - low) / width
+place = (values - low) / (high - low)
```
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "9.1_scaled.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_exercises_file_is_read(tmp_path):
    text = read(write(tmp_path, TEXT), scaled, ["beyond the bounds", "changes its inputs"])
    what = "Write `scaled(values, low, high)`. It has two lines."
    assert text.id == "9.1"
    assert text.card == Card("From low to high", what, "Units.", 2, 6)
    assert text.properties["beyond the bounds"] == "Stay within. Everything is in units."
    assert "Work on a copy" in text.properties["changes its inputs"]  # from messages.md
    assert text.hints == ("One.", "Two.")
    first, second = text.mistakes
    assert first.message == "You return `place` itself. Everything is in units."
    assert [first.spelled(i)(3.0, 2.0, 4.0) for i in range(3)] == [0.5] * 3
    assert len(second.spellings) == 1
    assert len(second.spellings[0]) == 3
    assert second.function(3.0, 2.0, 4.0) == -0.25


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("# 9.1 From", "# From"), r"9\.1_scaled\.md: The first lines"),
        (("{UNITS}", "{NONE}"), "no message called NONE"),
        (("### shifted", "### not stretched"), "Two entries are called not stretched"),
        (("## Hint 2", "## Hint"), "There is no heading `## Hint 2`"),
        (("### beyond the", "### within the"), "test and a message: beyond the bounds, within the"),
        (
            ("step 2: `values - low` -> `values`\n`high - low` -> ", "`high - low` => "),
            "is no edit",
        ),
        (("`place`\nalso `return", "`place` also `return"), "'also' belongs to none of the edits"),
        (("```diff\n-width = high - low\n", "```dif\n"), "in one line: it has no edit"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, change, says):
    with pytest.raises(EditError, match=says):
        read(write(tmp_path, TEXT.replace(*change)), scaled, ["beyond the bounds"])


def test_an_exercises_file_has_its_number_and_its_function_in_its_name(tmp_path):
    write(tmp_path, TEXT.replace("# 9.1 From", "# 9.2 From"))
    beside = str(tmp_path / "scaling.py")
    with pytest.raises(EditError, match=r"9\.1_scaled\.md: it begins with `# 9\.2`"):
        exercise(beside, "9.1", scaled, list, properties={"beyond the bounds": bool})
    with pytest.raises(EditError, match=r"9\.3_scaled\.md: not in .*`ID_FUNCTION\.md`"):
        exercise(beside, "9.3", scaled, list)


def test_two_exercises_cannot_have_one_number(monkeypatch):
    monkeypatch.setattr(helpers.exercises.toys, "AGAIN", replace(find("7.5")), raising=False)
    with pytest.raises(ValueError, match=r"Two exercises are 7\.5: approximate_kl, approximate_kl"):
        catalogue.__wrapped__()
