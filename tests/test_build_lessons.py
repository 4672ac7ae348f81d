"""The notebook builder: both editions, the setup cell, and that it changes nothing needlessly."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from test_build import LESSON, advantage_exercise, course, ids  # noqa: F401

from tools.editions import setup_cell
from tools.outputs import MAX_BYTES, WIDGET, keep_outputs, problems, still, too_long
from tools.sources import definition

# Editions ---------------------------------------------------------------------------------------


def test_a_repository_gives_a_colab_badge_and_a_fetch(course):
    assert not any("colab-badge" in cell.source for nb in course.editions() for cell in nb.cells)
    course.repository("o/n")
    for notebook, folder in zip(course.editions(), ("", "exercises/"), strict=True):
        badge = notebook.cells[0].source.split("\n\n")[1]
        assert badge == (
            "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
            "(https://colab.research.google.com/github/o/n/blob/main/"
            f"notebooks/{folder}01_one.ipynb)"
        )
        assert notebook.cells[1].source == setup_cell("o/n")


def test_a_link_of_the_exercise_edition_leads_one_folder_up_and_code_stays_as_it_is(course):
    exercise = course.editions()[1].cells[0].source
    assert "![picture](../../data/picture.png)" in exercise
    assert "`links[0](x.y)`, [next](02_next.ipynb)" in exercise


def test_ids_outside_an_edited_section_do_not_change(course):
    before = ids(course.editions()[0])
    course.write(LESSON.replace("Text.\n", "Text.\n\n+++\n\nMore.\n\n```{code-cell}\n1\n```\n"))
    after = ids(course.editions()[0])
    elsewhere = [key for key in before if "advantage" not in key]
    assert [key for key in after if "advantage" not in key] == elsewhere
    assert len(after) == len(before) + 2
    assert len(set(after)) == len(after)


@pytest.mark.parametrize(
    ("options", "body", "message"),
    [
        (":inclde: a:b", "", "unknown option 'inclde'"),
        (":include:", "", "its include is empty"),
        (":include: helpers.agents.agent:gae", "x = 1", "leave its body empty"),
        (":exercise: 1.1\n:include: helpers.agents.agent:gae", "", "no exercise 1.1 .* in quotes"),
        (":tags: [lesson_only]", "1", "unknown tag 'lesson_only'"),
        (":tags: lesson-only", "1", "cannot be read"),
        (":slug: one-1", "1", "is taken"),
    ],
)
def test_options_that_mean_nothing_are_refused(course, options, body, message):
    course.cell(options, body)
    assert re.search(message, course.refused())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Text first.\n\n# One\n", "must begin with its title"),
        ("# One\n\n+++\n\n## A\n\n+++\n\n## A\n", "rename one of the headings"),
        ("# One\n\n- item\n\n  ```{code-cell}\n  1\n  ```\n", "unindented"),
        ("# One\n\n```{note}\nHello\n```\n", "code-cell"),
        ('# One\n\n+++ {"tags": [}\n\ntext\n', "cannot be read"),
        ("# One\n\nText. <!-- Claim: f() -->\n", "a comment is <!-- claim"),
    ],
)
def test_texts_that_cannot_become_a_notebook_are_refused(course, text, message):
    course.exercises = {}
    course.write(text)
    assert message in course.refused()


@pytest.mark.parametrize(
    ("exercises", "message"),
    [
        ({}, "no exercise '1.1' in helpers/exercises"),
        (
            advantage_exercise(reference=definition),
            "checked against tools.sources:definition, not against helpers.agents.agent:gae",
        ),
    ],
)
def test_exercises_that_do_not_fit_the_text_are_refused(course, exercises, message):
    course.exercises = exercises
    assert message in course.refused()


# Outputs ----------------------------------------------------------------------------------------


def test_live_halves_go_where_there_is_a_picture():
    data = {
        "image/png": "AAAA",
        "text/html": "<video>",
        WIDGET: {"model_id": "1"},
        "text/plain": "v",
    }
    metadata = {"text/html": {"isolated": True}, "image/png": {"width": 4}}
    output = new_output("display_data", data=data, metadata=metadata)
    output.transient = {"display_id": "1"}
    assert still(output) == {
        "output_type": "display_data",
        "data": {"image/png": "AAAA", "text/plain": "v"},
        "metadata": {"image/png": {"width": 4}},
    }
    asked = new_output("display_data", data={"text/html": "<b>bar</b>", WIDGET: {"model_id": "1"}})
    assert still(asked).data == {"text/html": "<b>bar</b>"}


def notebook_with(*outputs, source="1"):
    cell = new_code_cell(source, id="c", outputs=list(outputs), execution_count=1)
    return new_notebook(cells=[cell])


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


@pytest.mark.parametrize(
    ("notebook", "message"),
    [
        (notebook_with(stream("oh", "stderr")), "writes to stderr: oh"),
        (notebook_with(stream("a.py:3: UserWarning: careful")), "a warning: UserWarning: careful"),
        (notebook_with(stream("saved /home/me/td3.pt")), "the path /home/me/td3.pt."),
        (notebook_with(stream(r"C:\Users\me\x.pt")), r"the path C:\Users\me\x.pt."),
        (notebook_with(stream("at /srv/the/course/data")), "the path /srv/the/course/data."),
        (notebook_with(source="open('/root/x')"), "its source holds the path /root/x."),
        (notebook_with(new_output("display_data", data={WIDGET: {}})), "a widget without a pic"),
        (notebook_with(stream("x" * (MAX_BYTES + 1))), "has 1.50 MB, more than 1.5 MB"),
        (NotebookNode(new_notebook(), cells=[NotebookNode(cell_type="x", id="c")]), "is not valid"),
    ],
)
def test_what_should_not_be_committed_is_refused(notebook, message):
    assert any(message in sentence for sentence in problems(Path("/srv/the/course"), notebook))


LINE = "a = 1\n"


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (new_markdown_cell("word - " * 250 + "\n\n```text\n" + "code " * 99 + "\n```"), []),
        (new_markdown_cell("word " * 251), ["cell c has 251 words, more than 250: split it."]),
        (new_code_cell(60 * LINE), []),
        (new_code_cell(61 * LINE), ["cell c has 61 lines of code, more than 60: split it."]),
    ],
)
def test_a_cell_has_a_length_that_one_can_follow(cell, found):
    cell.id = "c"
    sentences = too_long(new_notebook(cells=[cell]))
    assert len(sentences) == len(found)
    assert all(map(str.startswith, sentences, found))


def test_outputs_are_kept_as_long_as_the_code_is_the_same(course):
    course.path().parent.mkdir()
    old = notebook_with(stream("2\n"), source="print(2)")
    nbformat.write(old, course.path())
    new = notebook_with(source="print(2)")
    new.cells[0].update(id="other", outputs=[])
    assert keep_outputs(new, course.path())
    assert new.cells[0].outputs == [stream("2\n")]
    assert not keep_outputs(notebook_with(source="print(3)"), course.path())
    old.cells[0].execution_count = None  # written without being run
    nbformat.write(old, course.path())
    assert not keep_outputs(notebook_with(source="print(2)"), course.path())
    course.path().write_text("no notebook")
    assert not keep_outputs(new, course.path())


# The command ------------------------------------------------------------------------------------


def test_build_runs_once_and_check_tells_what_is_out_of_date(course, capsys):
    assert course.main("--check") == 1
    said = capsys.readouterr().err
    assert "notebooks/01_one.ipynb: it is missing" in said
    assert "notebooks/exercises/01_one.ipynb: it is missing" in said
    assert not course.path().exists()

    assert course.main("01") == 0
    assert "  01-training-1" in capsys.readouterr().out
    lesson = nbformat.read(course.path(), 4)
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert code[-1].outputs[0].data == {"text/plain": "42"}
    assert code[-2].outputs == [stream("2\n")]
    assert not any(cell.metadata for cell in lesson.cells)
    assert course.main("--check") == 0

    files = (course.path(), course.path("notebooks/exercises"))
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    capsys.readouterr()
    assert course.main() == 0
    assert "running" not in (said := capsys.readouterr().out)
    assert said.count("unchanged") == 2
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before


def test_check_tells_a_change_of_the_text_and_of_a_notebook(course, capsys):
    assert course.main() == 0
    code = nbformat.read(course.path(), 4).cells[-1:]
    capsys.readouterr()
    course.write(LESSON.replace("Text.", "Better text."))
    assert course.main("--check") == 1
    assert "01_one.ipynb: cell 01-the-advantage-lambda-1 differs" in capsys.readouterr().err
    assert course.main("--no-execute") == 0
    assert nbformat.read(course.path(), 4).cells[-1].outputs == code[-1].outputs

    notebook = json.loads(course.path().read_text())
    notebook["cells"][-1]["outputs"] = []
    course.path().write_text(json.dumps(notebook))
    assert course.main("--check", "01_one") == 0, "outputs are not compared"
    notebook["metadata"]["kernelspec"]["name"] = "mine"
    course.path().write_text(json.dumps(notebook))
    assert course.main("--check") == 1

    assert course.main("--no-execute") == 0
    (course.path().parent / "02_old.ipynb").write_text("{}")
    assert course.main("--check") == 1
    assert "notebooks/02_old.ipynb: no lesson makes it" in capsys.readouterr().err


def test_force_runs_again_and_no_execute_never_runs(course):
    course.cell(":slug: now", "import time\ntime.time_ns()")
    assert course.main("--no-execute") == 0
    assert nbformat.read(course.path(), 4).cells[1].outputs == []
    outputs = []
    for flags in ([], ["--no-execute"], ["--force"]):
        assert course.main(*flags) == 0
        outputs.append(nbformat.read(course.path(), 4).cells[1].outputs[0].data["text/plain"])
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_cell_that_raises_is_shown_and_nothing_is_written(course, capsys):
    course.cell(":slug: bad", "x = 1\nimport warnings\nraise ValueError('too\\nlate')")
    assert course.main() == 1
    said = capsys.readouterr().err
    for words in ("01_one: An error occurred", "\nx = 1\nimport warnings\n", ": too\nlate"):
        assert words in said
    assert not course.path().exists()


def test_a_run_with_bad_outputs_is_not_written(course, capsys):
    course.cell(":slug: bad", "import warnings\nwarnings.warn('careful')\nprint('/tm' + 'p/x')")
    assert course.main() == 1
    said = capsys.readouterr().err
    assert "notebooks/01_one.ipynb: cell 01-bad: it writes to stderr" in said
    assert "cell 01-bad: its output holds the path /tmp/x." in said
    assert not course.path().exists()
    assert course.path("notebooks/exercises").exists()


@pytest.mark.parametrize("name", ["01", "one", "01_one", "lessons/01_one.md"])
def test_lessons_are_named_as_people_name_them(course, capsys, name):
    assert course.main(name, "07_sac") == 2
    assert capsys.readouterr().err == "There is no lesson '07_sac'; there are: 01_one.\n"
    course.write("# Two\n", "02_two")
    assert course.main("--no-execute", name) == 0
    assert [path.stem for path in (course.root / "notebooks").glob("*.ipynb")] == ["01_one"]


def test_every_wrong_lesson_is_named_and_the_right_ones_are_built(course, capsys):
    course.write("No title.", "00_wrong")
    course.write("No title.", "02_wrong")
    assert course.main("--no-execute") == 1
    assert capsys.readouterr().err.count("must begin with its title") == 2
    assert course.path().exists()
