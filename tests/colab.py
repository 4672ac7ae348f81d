"""Like Colab, for tests: its Python packages, an empty folder, no network."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import nbclient
import pytest
from filelock import FileLock
from missing import out_of_reach
from nbformat import NotebookNode

from tools.environment import Environment, Problem

LIST = Path(__file__).with_name("colab.txt").read_text("utf-8")
HIDDEN = ("PYTHONPATH", "SDL_AUDIODRIVER", "SDL_VIDEODRIVER")  # what this machine may have set


class Stack(Environment):
    """Colab's packages on the Python that runs the tests, with the PyTorch that this one has.

    PyTorch is linked: a copy takes minutes, and it is the course's own version in both.
    """

    def variables(self) -> dict[str, str]:
        """Nothing is compiled: where a package has no build for this Python, tests are skipped."""
        return super().variables() | {"PIP_ONLY_BINARY": ":all:"}

    def install_torch_for_cpu(self) -> None:
        torch = distribution("torch")
        ours = Path(str(torch.locate_file("")))
        theirs = self.folder / ours.relative_to(sys.prefix)
        for name in {file.parts[0] for file in torch.files or ()} - {".."}:
            if not (theirs / name).exists():
                (theirs / name).symlink_to(ours / name)


def build(folder: Path) -> Path:
    """Colab's packages in `folder`, made once and again when one of them changes."""
    ours = f"torch=={distribution('torch').version}"
    (folder / "requirements.txt").write_text(re.sub("(?m)^torch==.*", ours, LIST))
    stack = Stack(folder)
    try:
        stack.set_up(dev=False)
    except Problem as problem:
        out_of_reach(f"Colab's packages: {problem}")
    return stack.python


@contextmanager
def kernel(python: Path, place: Path, steps: int) -> Iterator[str]:
    """The name of a kernel in Colab's Python, which has no network and trains for few steps."""
    folder = place / "kernels" / "colab"
    folder.mkdir(parents=True)
    variables = {
        "COURSE_TEST_STEPS": str(steps),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing listens there
    }
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Colab", "language": "python", "env": variables}
    (folder / "kernel.json").write_text(json.dumps(spec))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(place))
        for name in HIDDEN:
            patch.delenv(name, raising=False)
        yield "colab"


def run(notebook: NotebookNode, name: str, folder: Path) -> None:
    """Execute all cells in `folder`; an error in any of them is raised."""
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name=name, resources=where).execute()


@pytest.fixture(scope="session")
def colab_python(request: pytest.FixtureRequest) -> Path:
    """Its Python, kept in pytest's cache; without a network or a package the test is skipped."""
    folder = request.config.cache.mkdir(f"colab-torch-{distribution('torch').version}")
    with FileLock(folder / "lock"):  # several workers want it at once
        return build(folder)
