"""Run a lesson's notebook, and judge whether what came out can be committed."""

import copy
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from tools.sources import BuildError

MAX_BYTES = 1_500_000
WORDS, LINES = 250, 60  # of a cell, at most
CELL_TIMEOUT = 600  # seconds
WIDGET = "application/vnd.jupyter.widget-view+json"


def execute(root: Path, name: str, notebook: NotebookNode) -> None:
    """Run a lesson's cells in notebooks/ and give them their outputs, and nothing else."""
    folder = root / "notebooks"
    folder.mkdir(exist_ok=True)
    run = copy.deepcopy(notebook)
    client = NotebookClient(
        run,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        on_cell_executed=lambda cell, **_: print(f"  {cell.id}", flush=True),
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise BuildError(f"{name}: {error}") from error
    for cell, ran in zip(notebook.cells, run.cells, strict=True):
        if cell.cell_type == "code":
            cell.execution_count = ran.execution_count
            cell.outputs = [still(output) for output in ran.outputs]


def still(output: NotebookNode) -> NotebookNode:
    """An output as it is committed: where there is a picture or a page, the live half goes."""
    output.pop("transient", None)
    data = output.get("data", {})
    live = (WIDGET, "text/html") if "image/png" in data else (WIDGET,) * ("text/html" in data)
    for mime in live:
        data.pop(mime, None)
        output.metadata.pop(mime, None)
    return output


def keep_outputs(notebook: NotebookNode, path: Path) -> bool:
    """Take over the outputs of the notebook at `path`; False where that did not run this code.

    Outputs come from the code cells alone, so that mending a sentence runs nothing. The setup cell
    may differ: it only finds the course, and the repository's name stands in it.
    """
    ours, theirs = (
        [cell for cell in nb.cells if cell.cell_type == "code"] for nb in (notebook, load(path))
    )
    if [_code(cell) for cell in ours] != [_code(cell) for cell in theirs]:
        return False
    for cell, ran in zip(ours, theirs, strict=True):
        cell.execution_count, cell.outputs = ran.execution_count, ran.outputs
    return not ours or any(cell.execution_count for cell in ours)


def _code(cell: NotebookNode) -> str:
    """What decides a cell's outputs, and those of the cells after it."""
    return "the setup cell" if cell.get("id", "")[2:] == "-setup" else cell.source


def too_long(notebook: NotebookNode) -> list[str]:
    """Cells that are longer than a reader follows, a sentence each; code in a text is no words."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            count, what, most = len(cell.source.splitlines()), "lines of code", LINES
        else:
            prose = re.sub(r"(?ms)^(```+|~~~+).*?^\1", "", cell.source)
            count, what, most = len(re.findall(r"\S*\w\S*", prose)), "words", WORDS
        if count > most:
            found.append(f"cell {cell.id} has {count} {what}, more than {most}: split it.")
    return found


def problems(root: Path, notebook: NotebookNode) -> list[str]:
    """Every reason not to commit a notebook, a sentence each."""
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        return [f"the notebook is not valid: {str(error).splitlines()[0]}."]
    found = too_long(notebook)
    if (size := len(text_of(notebook).encode())) > MAX_BYTES:
        found.append(f"the file has {size / 1e6:.2f} MB, more than {MAX_BYTES / 1e6} MB.")
    for cell in notebook.cells:
        reasons = [f"its source holds the path {path}." for path in _paths(root, cell.source)]
        for output in cell.get("outputs", []):
            reasons += _output_problems(root, output)
        found += [f"cell {cell.id}: {reason}" for reason in dict.fromkeys(reasons)]
    return found


def _output_problems(root: Path, output: NotebookNode) -> list[str]:
    """What is wrong with one output."""
    data, found = output.get("data", {}), []
    shown = [str(value) for mime, value in data.items() if not mime.startswith("image/")]
    text = "\n".join([output.get("text", ""), *shown])
    text = re.sub(r"base64,[A-Za-z0-9+/=\s]+", "", text)
    if output.get("name") == "stderr":
        found.append(f"it writes to stderr: {text.strip()[:80]}")
    elif warning := re.search(r"\b\w*Warning:.*", text):
        found.append(f"its output holds a warning: {warning[0][:80]}")
    if WIDGET in data and "image/png" not in data:
        found.append("its output is a widget without a picture, which a file cannot show.")
    return found + [f"its output holds the path {path}." for path in _paths(root, text)]


def _paths(root: Path, text: str) -> list[str]:
    """Absolute paths of somebody's machine; the path of a web address is none."""
    here = [path for path in (root, Path.home()) if len(path.parts) > 1]
    places = [r"/(?:home|Users|root|tmp|work|opt|mnt|private|content)/", r"[A-Za-z]:\\+Users\\"]
    places += [re.escape(str(path)) + r"(?![\w-])" for path in here]
    return re.findall(rf"(?<![\w.~-])(?:{'|'.join(places)})[^\s'\"<>)]*", text)


def text_of(notebook: NotebookNode) -> str:
    """A notebook as the text of its file."""
    return nbformat.writes(notebook) + "\n"


def load(path: Path) -> NotebookNode:
    """The notebook at `path`; an empty one where there is none, or something else."""
    try:
        return nbformat.reads(path.read_text("utf-8"), as_version=4)
    except (OSError, ValueError):
        return new_notebook()
