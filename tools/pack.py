"""Self-contained notebooks: `python course.py pack FOLDER`.

Each of both editions gets a folded cell with the course in it: helpers, and the data that this
lesson reads. So it runs from an empty folder, without a repository and without a network. Its
pictures stand in it too. What is left out: other lessons' exercises, the robot's weights (its
stored rollout is the picture at the lesson's top), and the memory of optimisers.
"""

import argparse
import base64
import io
import lzma
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import torch
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from PIL import Image, ImageSequence

from helpers.training.settings import get_setting
from tools.build import FOLDERS, ROOT
from tools.editions import FOLDED_CELL
from tools.folder import writable
from tools.outputs import text_of

MAX_ADDED = 800_000  # bytes
LARGE_PICTURE = 150_000  # bytes
ROBOT = "td3_Walker2d-v5.pt"
LINE = 1000  # characters: an editor is slow with one line of half a million
NOTE = """\
*This copy carries the code and the data that it needs, and runs without a network. Links to other
lessons, and commands that begin with `python course.py`, need the whole course.*"""
PACKED = '''\
# @title The course itself, packed: nothing to read here, but run it
import base64, io, lzma, sys, tempfile, zipfile

PACKED = lzma.decompress(base64.b85decode("""
{}
""".replace("\\n", "")))
if "UNPACKED" not in globals():  # in a folder of its own: each lesson's notebook has other parts
    UNPACKED = tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True)
    zipfile.ZipFile(io.BytesIO(PACKED)).extractall(UNPACKED.name)
    sys.path.insert(0, UNPACKED.name + "/course")'''


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write all notebooks; gives 0, or 1 where one has grown too much."""
    parser = argparse.ArgumentParser(prog="pack", description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=writable, help="where the notebooks go; made if it is missing"
    )
    folder, status = parser.parse_args(argv).folder, 0
    paths = [path for place in FOLDERS for path in sorted((root / place).glob("*.ipynb"))]
    targets = {path: folder / path.relative_to(root / FOLDERS[0]) for path in paths}
    others = [target for target in targets.values() if target.exists() and not is_packed(target)]
    if others:
        parser.error(f"'{others[0]}' is no packed notebook: name an empty folder")
    for path, target in targets.items():
        notebook = nbformat.read(path, as_version=4)
        pack(root, path.stem, notebook)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text_of(notebook), encoding="utf-8", newline="\n")
        added = target.stat().st_size - path.stat().st_size
        print(f"{target}: {added / 1000:.0f} KB added", flush=True)
        if added > MAX_ADDED:
            print(f"{target}: more than {MAX_ADDED // 1000} KB added.", file=sys.stderr)
            status = 1
    return status


def is_packed(path: Path) -> bool:
    """Whether a file is from here, and may be written again."""
    return f'"{path.stem[:2]}-packed"' in path.read_text("utf-8", errors="replace")


def pack(root: Path, lesson: str, notebook: NotebookNode) -> None:
    """Put the course and the pictures into a lesson's notebook."""
    setup = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(
                r"\]\((?:\.\./)+(data/pictures/[^)]+)\)",
                lambda link: f"]({picture(root / link[1])})",
                cell.source,
            )
    text = base64.b85encode(compressed(archive(root, lesson, notebook))).decode()
    lines = "\n".join(text[i : i + LINE] for i in range(0, len(text), LINE))
    cell = new_code_cell(PACKED.format(lines), id=f"{lesson[:2]}-packed", metadata=FOLDED_CELL)
    notebook.cells[setup:setup] = [new_markdown_cell(NOTE, id=f"{lesson[:2]}-packed-note"), cell]


def compressed(content: bytes) -> bytes:
    """The smaller of two: as text, or as numbers of four bytes each, which suits weights."""
    best = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}
    ways = (best, best | {"lc": 2, "lp": 2})
    return min((lzma.compress(content, filters=[way]) for way in ways), key=len)


def archive(root: Path, lesson: str, notebook: NotebookNode) -> bytes:
    """A zip of what the lesson needs; not compressed, since that is done to all of it at once."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as zipped:
        for path in needed(root, lesson, notebook):
            entry = zipfile.ZipInfo(f"course/{path.relative_to(root).as_posix()}")
            zipped.writestr(entry, content(path))  # without a date: the same course, the same bytes
    return buffer.getvalue()


def needed(root: Path, lesson: str, notebook: NotebookNode) -> list[Path]:
    """The course's files that a lesson's notebook reads, in order: its labs, data and modules."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    labs = {lesson[:2], *re.findall(r'load_lab\("(\w+)"\)', code)}
    files = {root / "pyproject.toml", root / "helpers/exercises/messages.md"}
    files.update(root.glob("helpers/checks/*.md"))
    for number in labs:
        files.update(root.glob(f"helpers/labs/{number}_*.md"))
    texts = [code, f"helpers.exercises.lesson_{lesson}" if "check(" in code else ""]
    texts += [path.read_text("utf-8") for path in files if path.suffix == ".md"]
    while texts:
        new = set(modules(root, texts.pop())) - files
        files |= new
        texts += [path.read_text("utf-8") for path in new]
    figures = [path.read_text("utf-8") for path in files if path.parent.name == "figures"]
    return sorted({*files, *data(root, "\n".join([code, *figures]), labs)})


def data(root: Path, code: str, labs: set[str]) -> Iterator[Path]:
    """What is named in the code, what a lab has measured, and what a setting is trained from.

    Where a name is put together (`load_results(f"...")`): the studies in all environments there.
    """
    settings = re.findall(r'get_setting\("(.+?)", "(.+?)"\)', code)
    demos = {get_setting(algorithm, env_id).demos for algorithm, env_id in settings}
    for path in root.glob("data/*/*.*"):
        lab = path.suffix == ".json" and path.stem.partition("_")[0] in labs
        environment = path.stem.partition("_")[2]
        named = re.search(rf'"{path.stem}[".]|\}}_{environment}"', code)
        if 'load_results(f"' in code and path.parent.name == "results":
            named = named or f'"{environment}"' in code
        if (named or lab or path.stem in demos) and path.name != ROBOT and path.suffix != ".png":
            yield path


def modules(root: Path, text: str) -> Iterator[Path]:
    """The files behind the names in a text: of modules, and of exercises whose mistakes it uses."""
    names = re.findall(r"helpers(?:\.\w+)+", text)
    for package, imported in re.findall(r"from (helpers[\w.]*) import ([\w, ]+)", text):
        names += [f"{package}.{name.strip()}" for name in imported.split(",")]
    for number in re.findall(r"(?:mistake |\")(\d)\.\d+: ", text):
        lessons = root.glob(f"helpers/exercises/lesson_0{number}_*")
        names += [f"helpers.exercises.{folder.name}" for folder in lessons]
    for name in names:
        parts = name.split(".")
        for place in (root.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)):
            files = [place / "__init__.py", place.with_suffix(".py")]
            if place.name.startswith("lesson_"):
                files += place.glob("*.*")  # its .py files and the texts beside them
            yield from filter(Path.is_file, files)


def content(path: Path) -> bytes:
    """A file as it is packed, so that all of them together compress well."""
    buffer = io.BytesIO()
    if path.suffix == ".pt":
        return acting_only(path)
    if path.suffix != ".npz":
        return path.read_bytes()
    with np.load(path, allow_pickle=False) as arrays:  # each is compressed, but they repeat another
        np.savez(buffer, **arrays)
    return buffer.getvalue()


def acting_only(path: Path) -> bytes:
    """An agent's file that acts as the one at `path`: what only learning reads is 0 in it."""
    agent, buffer = torch.load(path, weights_only=True), io.BytesIO()
    state = agent["state"]
    for name in state:
        if name.startswith("target_"):
            state[name] = state[name.removeprefix("target_")]
        elif name != "actor":
            forget(state[name])
    torch.save(agent, buffer)
    return buffer.getvalue()


def forget(state: dict) -> None:
    """Set all tensors to 0, but those of an encoder, which the actor looks through."""
    for name, value in state.items():
        if isinstance(value, dict):
            forget(value)
        elif isinstance(value, torch.Tensor) and not str(name).startswith("encoder."):
            value.zero_()


def picture(path: Path) -> str:
    """A picture as a data URL; a large animation with every second frame, in lossless WebP."""
    kind, content = "png", path.read_bytes()
    if len(content) > LARGE_PICTURE:
        kind, buffer = "webp", io.BytesIO()
        with Image.open(path) as image:
            frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
            durations = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
        pairs = [sum(durations[i : i + 2]) for i in range(0, len(durations), 2)]
        how = {"duration": pairs, "loop": 0, "lossless": True, "minimize_size": True}
        frames[0].save(buffer, "WEBP", save_all=True, append_images=frames[2::2], **how)
        content = buffer.getvalue()
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


if __name__ == "__main__":
    sys.exit(main())
