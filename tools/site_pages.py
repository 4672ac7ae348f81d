"""Lay the course's documents and notebooks out for Sphinx: links, pictures, texts of pictures."""

import base64
import hashlib
import json
import os
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

from tools.site_landing import landing
from tools.site_try_it import try_it
from tools.sources import in_prose

TITLE = "Actor-critic reinforcement learning"
EDITIONS = {"Lessons": "notebooks", "Exercises": "notebooks/exercises"}
OUTPUTS = "_static/outputs"  # where the pictures of all notebooks go
# A link or a picture in Markdown: text, target (neither an address nor an anchor), anchor.
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]*\)\]\([^)]*\)\n\n")
COLAB = "https://colab.research.google.com/github/{}/blob/main/{}"
BUTTON = '<a class="course-button" href="{}"{}>{}</a>'


def notebooks(root: Path) -> list[Path]:
    """Both editions of all lessons."""
    return [p for place in EDITIONS.values() for p in sorted((root / place).glob("*.ipynb"))]


def lay_out(root: Path, source: Path, static: Path, repository: str) -> None:
    """Write what Sphinx reads into `source`, and the notebooks' pictures into the folder `static`.

    `repository` ("owner/name", or "") is where links lead to what is no page, such as a folder.
    Explorers move whose pictures `tools.frames` has put into `static / "frames"`.
    """
    listed = static / "frames" / "frames.json"
    frames = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
    shutil.copytree(root / "data" / "pictures", source / "data" / "pictures")
    documents = sorted(path.name for path in root.glob("[A-Z]*.md"))
    for name in documents:
        text = relink((root / name).read_text("utf-8"), root / name, root, repository)
        (source / name).write_text(text, "utf-8")
    (source / "try_it.md").write_text(try_it(root), "utf-8")
    static.mkdir(parents=True, exist_ok=True)
    lesson = nbformat.read(root / "notebooks" / "00_start_here.ipynb", as_version=4)
    drawn = next(cell for cell in lesson.cells if cell.id == "00-course-map").outputs[0]
    course_map = as_html(drawn, static, "").data["text/html"]
    first = landing(root, TITLE, course_map, repository) + contents(root, documents)
    (source / "index.md").write_text(first, "utf-8")
    for path in notebooks(root):
        place = path.relative_to(root)
        notebook = nbformat.read(path, as_version=4)
        if path.parent.name == "exercises":
            notebook.cells[0].source = notebook.cells[0].source.replace("\n", " (exercises)\n", 1)
            show_what_is_given(
                notebook, nbformat.read(path.parent.parent / path.name, as_version=4)
            )
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = relink(cell.source, path, root, repository)
            else:
                up = "../" * (len(place.parts) - 1)
                cell.outputs = [as_html(output, static, up) for output in cell.outputs]
                if cell.id in frames:
                    add_sliders(cell.outputs, frames[cell.id], up)
        under_title(notebook.cells[0], place, repository)
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, source / place)


def show_what_is_given(exercises: NotebookNode, lesson: NotebookNode) -> None:
    """Cells that stand in both editions get the outputs that they have in the lesson."""
    ran = {cell.id: cell for cell in lesson.cells if cell.cell_type == "code"}
    for cell in exercises.cells:
        if cell.id in ran and cell.source == ran[cell.id].source:
            cell.outputs = ran[cell.id].outputs


def contents(root: Path, documents: list[str]) -> str:
    """The navigation: what runs in the browser, both editions of the lessons, the documents."""
    parts = {name: sorted((root / place).glob("*.ipynb")) for name, place in EDITIONS.items()}
    pages = {name: [p.relative_to(root).as_posix() for p in found] for name, found in parts.items()}
    pages = {"In your browser": ["try_it.md"], **pages}
    pages["About"] = sorted(documents, key=lambda name: name != "README.md")
    tree = "\n```{{toctree}}\n:hidden:\n:caption: {}\n:titlesonly:\n\n{}\n```\n"
    return "\n" + "".join(tree.format(name, "\n".join(found)) for name, found in pages.items())


def relink(text: str, path: Path, root: Path, repository: str) -> str:
    """The links of a document at `path`: to pages as they are, to other files on GitHub."""

    def lead(link: re.Match[str]) -> str:
        picture, words, target, _ = link.groups()
        place = Path(os.path.normpath(path.parent / target)).relative_to(root)
        page = place.suffix == ".ipynb" or (place.suffix == ".md" and len(place.parts) == 1)
        if page or picture:
            return link[0]
        if not repository:
            return words
        return f"[{words}](https://github.com/{repository}/blob/main/{place.as_posix()})"

    return in_prose(text, lambda prose: LINK.sub(lead, prose))


def as_html(output: NotebookNode, static: Path, up: str) -> NotebookNode:
    """An output whose picture is a file, with its text and width: MyST-NB would lose both."""
    if "image/png" not in output.get("data", {}):
        return output
    png = base64.b64decode(output.data["image/png"])
    name = hashlib.sha256(png).hexdigest()[:16] + ".png"
    (static / name).write_bytes(png)
    about = output.metadata.get("image/png", {})
    width = f' width="{about["width"]}"' if "width" in about else ""
    html = f'<img src="{up}{OUTPUTS}/{name}" alt="{escape(about["alt"])}"{width} loading="lazy">'
    return new_output("display_data", {"text/html": html})


def add_sliders(outputs: list[NotebookNode], frames: dict[str, Any], up: str) -> None:
    """Put them right below the first picture, which they move: a table may follow it."""
    for output in outputs:
        if output.get("data", {}).get("text/html", "").startswith("<img"):
            output.data["text/html"] += sliders(frames, up)
            return


def sliders(frames: dict[str, Any], up: str) -> str:
    """What moves the picture before it: explorers.js finds the picture for the sliders' places."""
    files = [f"{up}{OUTPUTS}/frames/{name}" for name in frames["files"]]
    rows = "".join(
        f'<label>{escape(c["label"])} <input type="range" min="0" max="{len(c["values"]) - 1}" '
        f'value="{c["default"]}" data-values="{escape(json.dumps(c["values"]))}"> '
        f"<output>{escape(c['values'][c['default']])}</output></label>"
        for c in frames["controls"]
    )
    return f'<div class="course-sliders" data-files="{escape(json.dumps(files))}">{rows}</div>'


def under_title(cell: NotebookNode, place: Path, repository: str) -> None:
    """Two buttons, in place of the badge: open it in Colab (where it is published), download it."""
    up = "../" * (len(place.parts) - 1)
    buttons = [BUTTON.format(f"{up}_sources/{place.as_posix()}", " download", "Download notebook")]
    if repository:
        colab = COLAB.format(repository, place.as_posix())
        buttons.insert(0, BUTTON.format(colab, "", "Open in Colab"))
    title, _, rest = BADGE.sub("", cell.source).partition("\n")
    cell.source = f"{title}\n\n<p>{' '.join(buttons)}</p>\n{rest}"
