"""What the tests of figures share: what stands in them, and what their sliders do."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipywidgets
import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers import widgets
from helpers.plotting import to_png

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def views(monkeypatch) -> list:
    """The widgets that were put on the page."""
    shown, view = [], widgets.view

    def remember(widget):
        shown.append(widget)
        return view(widget)

    monkeypatch.setattr(widgets, "view", remember)
    return shown


def moves_to_every_end(page, views) -> None:
    """The page shows one bundle, and each of its controls changes the picture without an error."""
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert len(bundle["text/plain"]) > 20
    row, image, problem = views[0].children
    assert base64.b64decode(bundle["image/png"]) == image.value
    for widget in row.children:
        pictures = {image.value}
        for value in ends(widget):
            widget.value = value
            assert problem.value == ""
            pictures.add(image.value)
        assert len(pictures) > 1


def ends(widget: ipywidgets.Widget) -> Sequence[Any]:
    """What a control can be set to: everything that there is to choose, or both ends."""
    if isinstance(widget, (ipywidgets.Dropdown, ipywidgets.SelectionSlider)):
        return [each[1] if isinstance(each, tuple) else each for each in widget.options]
    return widget.min, widget.max


def begins_as_the_function(module, show: Callable, plot: Callable, monkeypatch) -> None:
    """Readers without widgets who call the function see what the others see first."""
    seen = []
    monkeypatch.setattr(
        module, "explore", lambda draw, alt, **controls: seen.append((draw, controls))
    )
    show()
    [(draw, controls)] = seen
    first = draw(**{name: control.default for name, control in controls.items()})
    assert to_png(first, scale=1) == to_png(plot(), scale=1)


def at_settings(
    plot: Callable[..., Figure], settings: dict[str, Sequence], sample: int, **fixed: Any
) -> Iterator[Figure]:
    """Figures at that many of all combinations of settings."""
    names, values = zip(*settings.items(), strict=True)
    combinations = list(itertools.product(*values))
    if sample < len(combinations):
        rng = np.random.default_rng(0)
        combinations = [combinations[i] for i in rng.choice(len(combinations), sample, False)]
    for combination in combinations:
        yield plot(**fixed, **dict(zip(names, combination, strict=True)))


def sentence(fig) -> str:
    return fig.get_suptitle()


def texts(fig) -> list:
    found = [fig._suptitle]
    for ax in fig.axes:
        found += [*ax.texts, ax.title, ax._left_title]
        if ax.axison:
            found += [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if ax.get_legend():
            found += ax.get_legend().get_texts()
    return [text for text in found if text.get_text() and text.get_visible()]


def beyond(ax) -> list:
    """Labels of ticks outside the limits: they are not drawn."""
    return [
        text
        for axis, place in ((ax.xaxis, 0), (ax.yaxis, 1))
        for text in axis.get_ticklabels()
        if abs(text.get_position()[place] - np.mean(axis.get_view_interval()))
        > np.ptp(axis.get_view_interval()) / 2
    ]


def apart(fig) -> None:
    """No text leaves the figure or touches another."""
    to_png(fig, scale=1)  # legends and ticks find their places
    renderer, boxes = fig.canvas.get_renderer(), []
    found = [*texts(fig), *(text for legend in fig.legends for text in legend.get_texts())]
    hidden = {text for ax in fig.axes for text in beyond(ax)}
    for text in dict.fromkeys([*found, *fig.texts]):
        if not text.get_text() or text in hidden:
            continue
        box = text.get_window_extent(renderer)
        assert fig.bbox.x0 <= box.x0, (sentence(fig), text)
        assert box.x1 <= fig.bbox.x1 + 1, (sentence(fig), text)
        assert fig.bbox.y0 <= box.y0, (sentence(fig), text)
        assert box.y1 <= fig.bbox.y1, (sentence(fig), text)
        boxes.append((text, box))
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), (sentence(fig), one, other)
