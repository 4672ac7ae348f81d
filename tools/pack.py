"""Notebooks that need no repository and no network: `python course.py pack FOLDER`.

Beside the notebooks of each edition stands `course.zip`, helpers and data, which their first cell
unpacks. One of them and that zip are enough, for example on Colab. Their pictures stand in them.
"""

import argparse
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from tools.build import FOLDERS, ROOT
from tools.editions import SETUP, with_pictures
from tools.folder import writable

PARTS = ("helpers", "data", "pyproject.toml", "NAMES.md")
ZIP = "course.zip"
UNPACK = f'import shutil; shutil.unpack_archive("{ZIP}")  # which belongs beside this notebook'


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write all notebooks into an empty folder."""
    parser = argparse.ArgumentParser(prog="pack", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=writable, help="where they go; made if it is missing")
    folder = parser.parse_args(argv).folder
    if any(folder.iterdir()):
        parser.error(f"'{folder}' is not empty: name another folder")
    for place in FOLDERS:
        target = folder / Path(place).relative_to(FOLDERS[0])
        target.mkdir(exist_ok=True)
        for path in sorted((root / place).glob("*.ipynb")):
            notebook = packed(root, nbformat.read(path, as_version=4))
            nbformat.write(notebook, target / path.name)
            print(target / path.name, flush=True)
    write_zip(root, folder / ZIP)
    shutil.copy(folder / ZIP, target)
    return 0


def packed(root: Path, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook that unpacks the course, in place."""
    next(cell for cell in notebook.cells if cell.cell_type == "code").source = SETUP.format(
        otherwise=UNPACK
    )
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_pictures(root, cell.source)
    return notebook


def write_zip(root: Path, path: Path) -> None:
    """What notebooks import and read; the same course gives the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for file in files(root):
            entry = zipfile.ZipInfo(file.relative_to(root).as_posix())  # without a date
            zipped.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)


def files(root: Path) -> Iterator[Path]:
    """The files of `PARTS`."""
    for part in PARTS:
        found = [root / part, *sorted((root / part).rglob("*"))]
        yield from (path for path in found if path.is_file() and path.suffix != ".pyc")


if __name__ == "__main__":
    sys.exit(main())
