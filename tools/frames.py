"""Pictures of every explorer at many settings, so that it moves on a page without a kernel.

    .venv/bin/python -m tools.frames FOLDER

A lesson's cells are run up to the explorers, without those that train, record or evaluate. An
explorer that needs a trained agent stays a picture. Two controls of an explorer move; further ones
keep their defaults.
"""

import contextlib
import io
import json
import re
import sys
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

from helpers.show.figures.explore import Choice, Controls, Drawing, Slider, latest
from helpers.show.plotting import to_image

ROOT = Path(__file__).resolve().parent.parent
MOST = {1: 21, 2: 6}  # values of a control, by how many controls move
SLOW = re.compile(r"\b(train|learn|record|evaluate|drive|try_it|check|predict|begin)\(")


def main(folder: Path) -> None:
    """Write the pictures into `folder`, and `frames.json`, which says what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell_id, (draw, controls) in explorers(path).items():
            found[cell_id] = frames(draw, controls, folder, cell_id)
    (folder / "frames.json").write_text(json.dumps(found), encoding="utf-8")


def explorers(path: Path) -> dict[str, tuple[Drawing, Controls]]:
    """The drawing function and the controls of each explorer of a lesson, by the cell's id."""
    seen: dict[str, tuple[Drawing, Controls]] = {}
    space: dict[str, Any] = {"__name__": path.stem}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or SLOW.search(cell.source):
            continue
        latest.clear()
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, cell.id, "exec"), space)
        if latest:
            seen[cell.id] = latest[0]
    return seen


def frames(draw: Drawing, controls: Controls, folder: Path, cell_id: str) -> dict[str, Any]:
    """What a page needs to know of an explorer; writes its pictures."""
    names = list(controls)[:2]
    settings = {name: control.default for name, control in controls.items()}
    choices = {name: some_values(controls[name], MOST[len(names)]) for name in names}
    files: list[str] = []
    for chosen in product(*choices.values()):
        files.append(f"{cell_id}-{len(files)}.webp")
        figure = draw(**settings | dict(zip(names, chosen, strict=True)))
        to_image(figure, scale=1).save(folder / files[-1], quality=80)
    shown = [
        {
            "label": controls[name].label or name,
            "values": [controls[name].said(value) for value in choices[name]],
            "default": choices[name].index(settings[name]),
        }
        for name in names
    ]
    return {"controls": shown, "files": files}


def some_values(control: Slider | Choice, most: int) -> list[Any]:
    """At most so many of a control's values, evenly spread, its default among them."""
    values = control.values()
    if len(values) <= most:
        return values
    places = {round(place) for place in np.linspace(0, len(values) - 1, most - 1)}
    return [values[i] for i in sorted(places | {values.index(control.default)})]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
