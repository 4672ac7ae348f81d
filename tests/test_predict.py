"""Predictions: a question, a click, an answer; and the count at a lesson's end."""

import pytest
from fakes import page  # noqa: F401  (a fixture)

from helpers.checks import predicting
from helpers.checks.predicting import predict, predictions, questions

TEXT = """# 9.a
How much is `2 + 2`?
- 4: as it should be
- [x] five: because of large values of two
- 3 < 4: no

# 9.b
Another one?
- [x] yes: it is
- no: it is
"""


@pytest.fixture(autouse=True)
def lesson_nine(tmp_path, monkeypatch):
    (tmp_path / "lesson_09_x").mkdir()
    (tmp_path / "lesson_09_x" / "predictions.md").write_text(TEXT, "utf-8")
    monkeypatch.setattr(predicting, "FOLDER", tmp_path)
    monkeypatch.setattr(predicting, "chosen", {})
    questions.cache_clear()
    yield
    questions.cache_clear()


def click(monkeypatch, page, answer):
    """Ask 9.a, and click on the button that says `answer`."""
    boxes, view = [], predicting.view
    monkeypatch.setattr(predicting, "view", lambda box: boxes.append(box) or view(box))
    predict("9.a")
    [box] = boxes
    next(button for button in box.children[1:] if button.description == answer).click()
    return page.outputs[-1][-1]["text/html"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("five", "You said: five. Yes. Because of large values of two"),
        ("3 < 4", "You said: 3 &lt; 4. It is: five. No"),
    ],
)
def test_a_click_is_answered_and_counted(page, monkeypatch, answer, said):
    assert predictions(9) == ""
    assert said in click(monkeypatch, page, answer)
    right = int(answer == "five")
    assert predictions(9) == f"You predicted 1 of 2 results; {right} came out as you said."
    predict("9.a")  # the cell once more: what was said stands there, and cannot be said again
    assert said in page.outputs[-1][-1]["text/html"]
    assert not page.of("application/vnd.jupyter.widget-view+json")


def test_without_widgets_each_answer_unfolds(page):
    predict("9.a")
    html = page.outputs[-1][-1]["text/html"]
    assert html.count("<details>") == 3
    assert "<code>2 + 2</code>" in html


def test_an_unknown_question_and_a_question_without_answer_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no question '9\.z'; there are 9\.a, 9\.b"):
        predict("9.z")
    (tmp_path / "lesson_09_x" / "predictions.md").write_text("# 9.a\nWhat?\n- no: no\n", "utf-8")
    questions.cache_clear()
    with pytest.raises(ValueError, match=r"question 9\.a needs one answer with \[x\]"):
        questions()


def test_every_question_of_the_course_can_be_asked(monkeypatch):
    monkeypatch.undo()
    questions.cache_clear()
    for key, question in questions().items():
        assert question.text.endswith("?"), key
        assert len(question.answers) >= 2, key
