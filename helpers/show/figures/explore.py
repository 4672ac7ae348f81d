"""Any figure with controls in front: sliders and choices, and `explore`, which shows them.

Each explorer is a plain function `plot_...(...) -> Figure` with sliders in front, by `explore`.
Readers without widgets see the figure at its default settings and can call the function.
"""

import gc
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from matplotlib import get_data_path
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from helpers.show.colours import INK, VERMILLION
from helpers.show.notebook import button, in_kernel, picture_widget, png_bundle, publish, view
from helpers.show.plotting import DPI, describe, quick_webp, small_png, to_image

LINE = 30  # image pixels below a stored picture for the line that says what moves


@dataclass(frozen=True)
class Slider:
    """A number between `lo` and `hi`, in steps; whole numbers when all four are whole.

    `buttons`: "back" and "next" beside it, which move it by 1.
    """

    lo: float
    hi: float
    default: float
    step: float
    label: str = ""
    buttons: bool = False

    def widget(self, **look: Any) -> Any:
        import ipywidgets

        whole = all(isinstance(v, int) for v in (self.lo, self.hi, self.default, self.step))
        if not whole:
            decimals = max(0, math.ceil(-math.log10(self.step) - 1e-9))
            look["readout_format"] = f".{decimals}f"
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return kind(value=self.default, min=self.lo, max=self.hi, step=self.step, **look)

    def values(self) -> list[Any]:
        """All that it can be set to."""
        count = round((self.hi - self.lo) / self.step)
        return [round(self.lo + i * self.step, 10) for i in range(count + 1)]

    def said(self, value: float) -> str:
        """The value as a page names it."""
        return f"{value:.4g}"


@dataclass(frozen=True)
class Choice:
    """One of several: a sequence of values, or a mapping from what is shown to the value."""

    options: Sequence[Any] | Mapping[str, Any]
    default: Any
    label: str = ""

    def widget(self, **look: Any) -> Any:
        import ipywidgets

        options = self.options
        if isinstance(options, Mapping):
            options = list(options.items())
        return ipywidgets.Dropdown(options=options, value=self.default, **look)

    def values(self) -> list[Any]:
        """All that there is to choose."""
        return [*(self.options.values() if isinstance(self.options, Mapping) else self.options)]

    def said(self, value: Any) -> str:
        """The value as a page names it."""
        shown = [*self.options][self.values().index(value)]
        return f"{shown:.4g}" if isinstance(shown, float) else str(shown)


@dataclass(frozen=True)
class Scale(Choice):
    """A slider over listed values, for a quantity whose steps are not even."""

    def widget(self, **look: Any) -> Any:
        import ipywidgets

        return ipywidgets.SelectionSlider(options=self.options, value=self.default, **look)


Drawing = Callable[..., Figure]
Controls = Mapping[str, Slider | Choice]
# What `explore` drew last, for tools/frames.py.
latest: deque[tuple[Drawing, Controls]] = deque(maxlen=1)


def explore(draw: Drawing, alt: str = "", **controls: Slider | Choice) -> None:
    """Show `draw(**settings)` with a control for each setting; moving one draws it again.

        explore(plot_discount, gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"))

    `alt` says in words what is to be seen; by default what stands in the headline and at the axes.
    `draw` should take less than about 60 ms, so that the figure follows the hand. Without a kernel
    the page shows the figure at the default settings.

    Raises:
        Exception: whatever `draw` raises at the default settings. Later errors are shown below
            the controls.
    """
    latest.append((draw, controls))
    figure = draw(**{name: control.default for name, control in controls.items()})
    if not in_kernel():
        return
    first, width = to_image(figure), round(figure.get_figwidth() * DPI)
    said = alt or describe(figure)
    data, metadata = png_bundle(with_line(first, _invitation(controls)), said, width)
    image = picture_widget()(value=quick_webp(first), format="webp", tooltip=said)
    image.layout.width, image.layout.max_width = f"{width}px", "100%"
    publish(data | view(_controlled(draw, controls, image, width)), metadata)


def _invitation(controls: Controls) -> str:
    names = (each.label or name for name, each in controls.items())
    return "▶ Run this cell to change: " + ", ".join(names)


def with_line(picture: Image.Image, text: str) -> bytes:
    """The picture with a line of text below: what a page without a kernel shows."""
    page = Image.new("RGB", (picture.width, picture.height + LINE), "white")
    page.paste(picture)
    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 16)
    ImageDraw.Draw(page).text((12, picture.height + 4), text, fill=INK, font=font)
    return small_png(page)


def _controlled(draw: Drawing, controls: Controls, image: Any, width: int) -> Any:
    """Controls, one a line and as wide as the image below, which follows them."""
    import ipywidgets

    labels = {name: control.label or name for name, control in controls.items()}
    wide = 18 + 7.5 * max(map(len, labels.values()))
    inputs = {
        name: control.widget(
            description=labels[name],
            style={"description_width": f"{wide:.0f}px"},
            layout=ipywidgets.Layout(width=f"{width}px", max_width="100%"),
        )
        for name, control in controls.items()
    }
    problem = ipywidgets.HTML()

    def redraw(_: Any) -> None:
        # Drawn here and now: the page holds back further moves of a slider until this handler
        # returns, and then sends only the newest, so that pictures never queue up.
        problem.value = _redraw(image, draw, {name: w.value for name, w in inputs.items()})

    for control in inputs.values():
        control.observe(redraw, names="value")
    shown = [*inputs.values()]
    for name, control in controls.items():
        if isinstance(control, Slider) and control.buttons:
            moves = [_mover(inputs[name], text, by) for text, by in (("back", -1), ("next", 1))]
            shown.append(ipywidgets.HBox(moves))
    return ipywidgets.VBox([*shown, image, problem])


def _redraw(image: Any, draw: Drawing, settings: Mapping[str, Any]) -> str:
    """Give the image its new picture. Returns what there is to say of an error, as HTML."""
    gc.disable()
    try:
        figure = draw(**settings)
        image.value, image.tooltip = quick_webp(to_image(figure)), describe(figure)
    except Exception as error:
        text = escape(f"{type(error).__name__}: {error}")
        return f'<div style="border-left: 4px solid {VERMILLION}; padding-left: .6em">{text}</div>'
    finally:
        # A figure refers to itself: only the collector frees it, a young one at once. For an old
        # one it goes through all of torch's objects too, which takes a third of a second.
        gc.collect(0)
        gc.enable()
    return ""


def _mover(slider: Any, text: str, by: int) -> Any:
    """A button that moves a slider, which stays within its bounds by itself."""
    return button(text, "", lambda: setattr(slider, "value", slider.value + by))
