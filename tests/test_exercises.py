"""Every exercise of the course: refuses what is wrong by name, and accepts whatever is right."""

import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

from helpers.checks import exercises, grade
from helpers.checks.running import Raised, run, unlike
from tools.sources import giveaways, leak

EXERCISES = exercises()
LESSONS = Path(__file__).parent.parent / "lessons"


def test_numbers_follow_the_text():
    texts = [path.read_text(encoding="utf-8") for path in sorted(LESSONS.glob("0*.md"))]
    placed = [number for text in texts for number in re.findall(r'(?m)^:exercise: "(.+)"', text)]
    assert [exercise.id for exercise in EXERCISES] == placed
    assert placed == sorted(placed, key=lambda number: [*map(int, number.split("."))])


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
class TestEveryExercise:
    def test_refuses_the_stub_as_not_started(self, exercise):
        def stub(*args, **kwargs):
            raise NotImplementedError(f"exercise {exercise.id}")

        result = grade(exercise.id, stub)
        assert not result.passed
        assert result.diagnosis == "not-started"
        assert result.version is exercise.reference

    def test_accepts_the_reference_and_other_right_answers(self, exercise):
        assert len(exercise.right) >= 2, "its Markdown file needs two right answers"
        # Where the reference fails, any answer that fails in the same way would be right.
        seen, again = (run(exercise, exercise.reference) for _ in range(2))
        assert not any(unlike(exercise, seen, again)), "its cases are others at each call"
        raised = [each for each in seen.observations if isinstance(each, Raised)]
        assert not raised, "the reference itself raises in a case"
        result = grade(exercise.id, exercise.reference)
        assert result.passed, str(result)
        for answer in exercise.right:
            result = grade(exercise.id, answer.function)
            assert result.passed, f"{answer.name}: {result}"

    @pytest.mark.parametrize("more", [False, pytest.param(True, marks=pytest.mark.long)])
    def test_names_every_mistake_as_itself_however_it_is_spelled(self, exercise, more):
        assert len(exercise.mistakes) >= 3, "its Markdown file needs three mistakes"
        for wrong in exercise.mistakes:
            for number in range(1, len(wrong.spellings)) if more else (0,):
                result = grade(exercise.id, wrong.spelled(number))
                edits = wrong.spellings[number]
                alike = f"{wrong.name}: equal to the reference in every case; add one that differs"
                assert not result.passed, f"{alike}: {edits}"
                taken = (
                    f"{wrong.name} is taken for {result.diagnosis}: add a case where they differ"
                )
                assert result.diagnosis == wrong.name, f"{taken}, or join them by `also`: {edits}"
                assert wrong.message in result.message

    def test_names_are_told_apart(self, exercise):
        names = Counter(entry.name for entry in [*exercise.mistakes, *exercise.properties])
        assert max(names.values()) == 1, names.most_common(1)

    def test_has_a_card_and_two_hints(self, exercise):
        card = exercise.card
        texts = card.title, card.what, card.why, *exercise.hints
        assert all(text.strip() for text in texts), "a heading has no text"
        assert 1 <= card.difficulty <= 5
        assert card.minutes > 0
        assert exercise.name in card.what, f"*What* names {exercise.name} and its arguments"
        lesson = int(exercise.lesson[:2])
        assert lesson == int(exercise.id.split(".")[0]), f"it stands in lesson {lesson:02}'s folder"

    def test_messages_are_plain_text_with_code(self, exercise):
        """They are read in terminals and graders' reports too: neither Markdown nor TeX there."""
        for entry in [*exercise.mistakes, *exercise.properties]:
            prose = re.sub(r"`[^`]*`", "", entry.message)
            assert not set("*$") & set(prose), f"{entry.name}: * and $ stand in `code` only"

    def test_no_text_gives_the_solution_away(self, exercise):
        secrets = giveaways(inspect.getsource(exercise.reference))
        texts = [*exercise.hints, exercise.card.what, exercise.card.why]
        texts += [entry.message for entry in [*exercise.mistakes, *exercise.properties]]
        for text in texts:
            assert leak(secrets, text) is None, text
