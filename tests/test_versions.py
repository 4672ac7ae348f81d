"""The list of Colab's versions, and the page that says what the course was last verified with."""

from pathlib import Path

import pytest

from tools.versions import colab, page, versions

ROOT = Path(__file__).resolve().parent.parent
FREEZE = """\
ImageIO==2.37.4
jupyter_client==7.4.9
numpy==2.1.3
torch @ https://download.pytorch.org/whl/cpu/torch-2.11.0%2Bcpu-cp313-cp313-linux_x86_64.whl
"""


def test_colabs_list_keeps_its_packages_and_gets_a_date():
    new = colab(
        "# old\ntorch==1.0\nnumpy==1.0\n", FREEZE, "Ubuntu 22\nPython 3.13.15\n", "2030-01-07"
    )
    head, *lines = new.splitlines()
    assert "2030-01-07, with Python 3.13.15" in head
    assert lines[1:] == ["torch==2.11.0", "numpy==2.1.3"]
    with pytest.raises(SystemExit, match="Colab has no pygame any more"):
        colab("pygame==2.6.1", FREEZE, "Python 3.13", "2030-01-07")


def test_the_page_says_when_and_with_what():
    said = page({"Colab": FREEZE, "newest": "pillow==13"}, "2030-01-07")
    assert "**2030-01-07: " in said
    assert f"## Colab\n\n```text\n{FREEZE}```\n" in said
    assert said.endswith("## newest\n\n```text\npillow==13\n```\n")


def test_every_package_of_colabs_that_the_course_imports_is_in_the_list():
    ours = versions((ROOT / "requirements.txt").read_text("utf-8"))
    theirs = versions((ROOT / "tests" / "colab.txt").read_text("utf-8"))
    not_imported = {"jupyterlab", "jsonschema", "jupyter", "nbval"}  # by a lesson
    assert set(ours) - not_imported <= set(theirs)
