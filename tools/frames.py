"""Pictures of every explorer at many settings, so that it moves on a page without a kernel.

    .venv/bin/python -m tools.frames FOLDER

A lesson's cells are run up to the explorers, without those that train, record or evaluate. An
explorer that needs a trained agent stays a picture. Two controls of an explorer move; further ones
keep their defaults.
"""

import contextlib
import importlib
import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import numpy as np
from PIL import Image

from helpers.show.figures.explore import Choice, Slider
from helpers.show.plotting import to_png

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


def explorers(path: Path) -> dict[str, tuple[Callable, Mapping[str, Any]]]:
    """The drawing function and the controls of each explorer of a lesson, by the cell's id."""
    seen: dict[str, tuple[Callable, Mapping[str, Any]]] = {}
    space: dict[str, Any] = {"__name__": path.stem}
    module: Any = importlib.import_module("helpers.show.figures.explore")
    module.in_kernel = lambda: True
    module.picture_widget = lambda: lambda **_: SimpleNamespace(layout=SimpleNamespace())
    module.view = module.publish = lambda *_: {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or SLOW.search(cell.source):
            continue

        def keep(draw: Callable, controls: Mapping[str, Any], *_: Any, name: str = cell.id) -> None:
            seen[name] = draw, controls

        module._controlled = keep
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, cell.id, "exec"), space)
    return seen


def frames(
    draw: Callable, controls: Mapping[str, Any], folder: Path, cell_id: str
) -> dict[str, Any]:
    """What a page needs to know of an explorer; writes its pictures."""
    moving = dict(list(controls.items())[:2])
    settings = {name: control.default for name, control in controls.items()}
    choices = {name: values(control, MOST[len(moving)]) for name, control in moving.items()}
    files = []
    for number, chosen in enumerate(product(*choices.values())):
        png = to_png(draw(**settings | dict(zip(moving, chosen, strict=True))), scale=1)
        files.append(f"{cell_id}-{number}.webp")
        Image.open(io.BytesIO(png)).save(folder / files[-1], quality=80)
    shown = [
        {
            "label": control.label or name,
            "values": [said(control, value) for value in choices[name]],
            "default": choices[name].index(control.default),
        }
        for name, control in moving.items()
    ]
    return {"controls": shown, "files": files}


def values(control: Slider | Choice, most: int) -> list:
    """At most so many of a control's values, its default among them."""
    if isinstance(control, Choice):
        named = isinstance(control.options, Mapping)
        listed = list(control.options.values() if named else control.options)
    else:
        whole = all(isinstance(each, int) for each in (control.lo, control.hi, control.default))
        step = control.step or (1 if whole else (control.hi - control.lo) / 50)
        count = round((control.hi - control.lo) / step)
        listed = [round(control.lo + i * step, None if whole else 10) for i in range(count + 1)]
        nearest = min(range(count + 1), key=lambda i: abs(listed[i] - control.default))
        listed[nearest] = control.default
    if len(listed) > most:
        chosen = {round(place) for place in np.linspace(0, len(listed) - 1, most - 1)}
        listed = [listed[i] for i in sorted(chosen | {listed.index(control.default)})]
    return listed


def said(control: Slider | Choice, value: Any) -> str:
    """The value as the page names it."""
    if isinstance(control, Choice) and isinstance(control.options, Mapping):
        return next(name for name, each in control.options.items() if each == value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
