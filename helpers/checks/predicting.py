"""Predictions: the reader commits to an answer by a click, and then hears how it was.

A lesson's questions stand in `helpers/exercises/lesson_NN_x/predictions.md`:

    # 3.a
    The question, in one paragraph.
    - an answer: what to tell somebody who chose it
    - [x] the right answer: what to tell somebody who chose it
"""

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from helpers.show.notebook import in_kernel, publish, view

FOLDER = Path(__file__).parents[1] / "exercises"
_ANSWER = re.compile(r"- (\[x\] )?([^:]+): (.+)")


@dataclass(frozen=True)
class Question:
    """`answers` maps each answer to what is told to somebody who chose it; `right` is one."""

    text: str
    answers: dict[str, str]
    right: str


chosen: dict[str, str] = {}  # question -> the reader's answer, as long as the kernel runs


@cache
def questions() -> dict[str, Question]:
    """All questions by their ids. Raises `ValueError` for one without exactly one right answer."""
    found = {}
    for path in sorted(FOLDER.glob("lesson_*/predictions.md")):
        for part in re.split(r"(?m)^# ", path.read_text(encoding="utf-8"))[1:]:
            head, *paragraphs = part.strip().split("\n")
            answers = [match.groups() for line in paragraphs if (match := _ANSWER.match(line))]
            right = [answer for mark, answer, _ in answers if mark]
            if len(right) != 1:
                raise ValueError(f"{path.name}: question {head} needs one answer with [x].")
            text = " ".join(line for line in paragraphs if not line.startswith("- "))
            replies = {answer: reply[0].upper() + reply[1:] for _, answer, reply in answers}
            found[head] = Question(text.strip(), replies, right[0])
    return found


def predict(question_id: str) -> None:
    """Ask a question of the lesson, and answer the click.

    Without a kernel each answer unfolds instead. Raises `ValueError` for an unknown question.
    """
    question = questions().get(question_id)
    if question is None:
        raise ValueError(
            f"There is no question {question_id!r}; there are {', '.join(questions())}."
        )
    if not in_kernel():
        return
    if question_id in chosen:
        publish(_reply(question, chosen[question_id]), {})
        return
    data = {"text/html": _folded(question), "text/plain": question.text}
    from ipywidgets import HTML, Button, Layout, VBox

    wide = Layout(width="100%", height="auto", max_width="46em")
    buttons = [Button(description=answer, layout=wide) for answer in question.answers]
    box = VBox([HTML(_card(f"<b>Predict.</b> {_html(question.text)}")), *buttons])
    handle = publish(data | view(box), {})

    def commit(button: Any) -> None:
        chosen[question_id] = button.description
        publish(_reply(question, button.description), {}, handle)

    for button in buttons:
        button.on_click(commit)


def predictions(lesson: int) -> str:
    """How many of a lesson's questions the reader has answered, and how many rightly.

    Nothing, if none was answered.
    """
    own = {key: each for key, each in questions().items() if key.split(".")[0] == str(lesson)}
    right = sum(chosen.get(key) == each.right for key, each in own.items())
    answered = len(own.keys() & chosen.keys())
    if not answered:
        return ""
    return f"You predicted {answered} of {len(own)} results; {right} came out as you said."


def _reply(question: Question, answer: str) -> dict[str, str]:
    """The question with the reader's answer, whether it is right, and what there is to say."""
    verdict = "Yes." if answer == question.right else f"It is: {question.right}."
    said = f"You said: {answer}. {verdict} {question.answers[answer]}"
    html = f"<b>{_html(question.text)}</b><br>{_html(said)}"
    return {"text/html": _card(html), "text/plain": f"{question.text}\n{said}"}


def _folded(question: Question) -> str:
    """The question where no kernel listens: each answer unfolds what there is to say of it."""
    folds = "".join(
        f"<details><summary>{_html(answer)}</summary>"
        f"{'Yes. ' if answer == question.right else ''}{_html(reply)}</details>"
        for answer, reply in question.answers.items()
    )
    return _card(f"<b>Predict.</b> {_html(question.text)}{folds}")


def _card(html: str) -> str:
    look = "border-left: 4px solid rgb(0, 114, 178); padding: .2em .8em; max-width: 46em"
    return f'<div style="{look}">{html}</div>'


def _html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
