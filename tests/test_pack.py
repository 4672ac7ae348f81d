"""Self-contained notebooks: what they hold, how large they are, and that they need nothing else."""

import base64
import io
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import nbformat
import numpy as np
import pytest
from colab import colab_python, kernel, run  # noqa: F401
from few_steps import FEW_STEPS, shorten
from PIL import Image, ImageSequence
from sometimes import always_on

from course import folder_from_here, out_from_here
from helpers import __version__
from helpers.agents import TD3
from helpers.show.figures.practice_imaginary_studies import PAIRS, STUDIES
from tools import assignment, site
from tools.build import load_exercises
from tools.editions import editions
from tools.outputs import text_of
from tools.pack import ALWAYS, LARGE_PICTURE, MAX_ADDED, acting_only, main, needed, pack, picture

ROOT = Path(__file__).resolve().parent.parent
CAR = "MountainCarContinuous-v0"
LESSONS = sorted(path.stem for path in (ROOT / "lessons").glob("[0-9]*.md"))


def packed(lesson: str, edition: int) -> tuple[nbformat.NotebookNode, int]:
    """An edition as the builder writes it, without outputs, packed; and the bytes added."""
    notebook = editions(ROOT, lesson, load_exercises(ROOT))[edition]
    before = len(text_of(notebook).encode())
    pack(ROOT, lesson, notebook)
    return notebook, len(text_of(notebook).encode()) - before


@pytest.mark.parametrize("lesson", always_on("01", "04", of=LESSONS))
def test_a_packed_notebook_holds_all_that_it_imports(lesson, tmp_path):
    """Its first cells run in an empty folder; exercises, labs and pictures are there."""
    notebook, added = packed(lesson, 1)
    nbformat.validate(notebook)
    assert added <= MAX_ADDED
    assert packed(lesson, 0)[1] <= MAX_ADDED
    assert not any("/data/pictures" in cell.source for cell in notebook.cells)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    cells = code[:3] + re.findall(r'load_lab\("\w+"\)', "\n".join(code))
    cells += ["from helpers.checks import exercises", "print(*[each.id for each in exercises()])"]
    (tmp_path / "cells.py").write_text("\n".join(cells), encoding="utf-8")
    command = [sys.executable, "cells.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cells.py"]
    ours = {each.id for each in load_exercises(ROOT).values() if each.lesson == lesson}
    assert ours <= set(done.stdout.split())


def test_packed_notebooks_of_two_lessons_and_another_course_share_a_folder(tmp_path):
    """Each finds its own lesson's parts, also when its first cells are run twice."""
    for part in ("helpers/agents", "helpers/checks"):
        (tmp_path / "course" / part).mkdir(parents=True)
    (tmp_path / "course" / "pyproject.toml").write_text('version = "0.0.1"')
    for lesson in ("00_start_here", "04_ddpgfd"):
        code = [cell.source for cell in packed(lesson, 1)[0].cells if cell.cell_type == "code"]
        cells = [*code[:2], *code[:3], "from helpers.checks import exercises"]
        cells += ["print(*{each.lesson for each in exercises()})"]
        (tmp_path / "cells.py").write_text("\n".join(cells), encoding="utf-8")
        command = [sys.executable, "cells.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        *found, lessons = done.stdout.splitlines()
        assert found == [f"Actor-critic course {__version__}."] * 2
        assert lesson in lessons.split()


def test_a_notebook_that_is_not_packed_is_not_written_over(course, capsys):
    before = (course / "notebooks" / "01_one.ipynb").read_bytes()
    with pytest.raises(SystemExit):
        main([str(course / "notebooks")], course)
    assert "01_one.ipynb' is no packed notebook: name an empty folder" in capsys.readouterr().err
    assert (course / "notebooks" / "01_one.ipynb").read_bytes() == before
    for _ in range(2):
        assert main([str(course / "packed")], course) == 0


def test_a_folder_is_where_the_command_is_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["my é", "--repository", "owner/name", "--otter"]
    assert folder_from_here(given) == [str(tmp_path / "my é"), *given[1:]]
    assert out_from_here(["td3", "--out", "é"]) == ["td3", "--out", str(tmp_path / "é")]
    monkeypatch.chdir(ROOT)
    assert out_from_here(["td3", "--out", "é"]) == ["td3", "--out", "é"]


def test_a_folder_that_cannot_be_written_is_said(course, capsys):
    for command in (main, assignment.main, site.main):
        with pytest.raises(SystemExit):
            command([str(course / "pyproject.toml" / "x")])
        assert re.search(r"x' \(.+\): name another folder", capsys.readouterr().err)


@pytest.mark.parametrize("edition", ["", "exercises"])
def test_studies_that_only_a_figure_or_a_table_names_are_packed(edition):
    in_06 = {f"{a}_{e}" for a in ("ddpg", "td3", "sac") for e in ("Pendulum-v1", CAR)}
    for lesson, wanted in {
        "05_td3_in_practice": {*STUDIES.values(), *chain(*PAIRS.values())},
        "06_sac": in_06,
    }.items():
        notebook = nbformat.read(ROOT / "notebooks" / edition / f"{lesson}.ipynb", as_version=4)
        assert wanted <= {path.stem for path in needed(ROOT, lesson, notebook)}


def test_a_packed_course_knows_what_names_are_called_here():
    notebook = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4)
    assert ROOT / "NAMES.md" in needed(ROOT, "00_start_here", notebook)


def test_packing_the_same_gives_the_same_bytes():
    assert packed("00_start_here", 0) == packed("00_start_here", 0)


def test_a_packed_agent_acts_as_before(tmp_path):
    path = ROOT / "data" / "weights" / "td3_PixelPendulum-v0.pt"
    (tmp_path / "packed.pt").write_bytes(acting_only(path))
    before, after = TD3.load(path), TD3.load(tmp_path / "packed.pt")
    obs = np.random.default_rng(0).integers(0, 256, (20, 3, 16, 16), np.uint8)
    np.testing.assert_array_equal(before.predict(obs), after.predict(obs))


@pytest.mark.parametrize("name", ["a2c_cartpole", "td3_walker"])
def test_a_packed_picture_moves_as_long_as_before(name):
    path = ROOT / "data" / "pictures" / f"{name}.png"
    content = base64.b64decode(picture(path).partition("base64,")[2])
    assert len(content) <= LARGE_PICTURE

    def seconds(file):
        with Image.open(file) as image:
            frames = [frame.copy().info for frame in ImageSequence.Iterator(image)]
        return sum(info["duration"] for info in frames) / 1000

    assert seconds(io.BytesIO(content)) == pytest.approx(seconds(path), abs=0.01)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one small notebook, in both editions."""
    root = tmp_path / "course"
    for name in ("notebooks/exercises", "helpers/exercises"):
        (root / name).mkdir(parents=True)
    for name in ALWAYS:
        (root / name).write_text("")
    cell = nbformat.v4.new_code_cell("1", id="01-setup")
    for place in ("notebooks", "notebooks/exercises"):
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), root / place / "01_one.ipynb")
    return root


def test_both_editions_are_written_and_their_size_is_said(course, tmp_path, capsys):
    folder = tmp_path / "an empty földer"
    assert main([str(folder)], course) == 0
    for name in ("01_one.ipynb", "exercises/01_one.ipynb"):
        cells = nbformat.read(folder / name, as_version=4).cells
        assert [cell.id for cell in cells] == ["01-packed-note", "01-packed", "01-setup"]
    said = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in said] == ["1 KB added"] * 2


def test_a_notebook_that_grows_too_much_is_named(course, tmp_path, capsys):
    (course / "data" / "results").mkdir(parents=True)
    noise = np.random.default_rng(0).bytes(800_000)
    (course / "data" / "results" / "01_noise.json").write_bytes(noise)
    assert main([str(tmp_path / "packed")], course) == 1
    limit = f"more than {MAX_ADDED // 1000} KB added."
    assert f"01_one.ipynb: {limit}" in capsys.readouterr().err


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_exercise_edition_holds_all_files_of_the_lesson(lesson):
    """So it is enough that this one runs on Colab, below."""
    both = editions(ROOT, lesson, load_exercises(ROOT))
    in_lesson, in_exercises = (set(needed(ROOT, lesson, notebook)) for notebook in both)
    assert in_lesson <= in_exercises


@pytest.mark.long
@pytest.mark.parametrize(
    "lesson",
    [pytest.param(lesson, marks=pytest.mark.xdist_group(f"packed {lesson}")) for lesson in LESSONS],
)
def test_a_packed_notebook_runs_on_colab_without_a_network(lesson, tmp_path, colab_python):
    notebook, _ = packed(lesson, 1)
    for cell in notebook.cells:
        shorten(cell)
    folder = tmp_path / "empty é"
    folder.mkdir()
    with kernel(colab_python, tmp_path, steps=int(FEW_STEPS)) as name:
        run(notebook, name, folder)
    streams = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert not [out.text for out in streams if out.get("name") == "stderr"]
