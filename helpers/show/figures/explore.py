"""Any figure with controls in front: sliders and choices, and `explore`, which shows them.

Each explorer is a plain function `plot_...(...) -> Figure` with sliders in front, by `explore`.
Readers without widgets see the figure at its default settings and can call the function.
"""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

from matplotlib import get_data_path
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from helpers.show.notebook import in_kernel, picture_widget, png_bundle, publish, view
from helpers.show.plotting import DPI, INK, VERMILLION, describe, to_png

LINE = 30  # image pixels below a stored picture for the line that says what moves


@dataclass(frozen=True)
class Slider:
    """A number between `lo` and `hi`; whole numbers when all four are whole.

    `buttons`: "back" and "next" beside it, which move it by 1.
    """

    lo: float
    hi: float
    default: float
    step: float | None = None
    label: str = ""
    buttons: bool = False

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        whole = all(isinstance(v, int) for v in (self.lo, self.hi, self.default, self.step or 1))
        step = self.step or (1 if whole else (self.hi - self.lo) / 50)
        if not whole:
            decimals = max(0, math.ceil(-math.log10(step) - 1e-9))
            style["readout_format"] = f".{decimals}f"
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return kind(
            value=self.default,
            min=self.lo,
            max=self.hi,
            step=step,
            description=self.label or name,
            continuous_update=True,
            **style,
        )


@dataclass(frozen=True)
class Choice:
    """One of several: a sequence of values, or a mapping from what is shown to the value."""

    options: Sequence[Any] | Mapping[str, Any]
    default: Any = None
    label: str = ""

    def __post_init__(self) -> None:
        if self.default is None:
            values = self.options.values() if isinstance(self.options, Mapping) else self.options
            object.__setattr__(self, "default", next(iter(values)))

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        options = self.options
        if isinstance(options, Mapping):
            options = list(options.items())
        return ipywidgets.Dropdown(
            options=options, value=self.default, description=self.label or name, **style
        )


@dataclass(frozen=True)
class Scale(Choice):
    """A slider over listed values, for a quantity whose steps are not even."""

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        return ipywidgets.SelectionSlider(
            options=list(self.options),
            value=self.default,
            description=self.label or name,
            continuous_update=True,
            **style,
        )


def explore(draw: Callable[..., Figure], alt: str = "", **controls: Slider | Choice) -> None:
    """Show `draw(**settings)` with a control for each setting; moving one draws it again.

        explore(plot_discount, gamma=Slider(0.0, 0.99, 0.9, 0.01, "discount γ"))

    `alt` says in words what is to be seen; by default what stands in the headline and at the axes.
    `draw` should take less than about 60 ms, so that the figure follows the hand. Without widgets
    (no kernel state, no ipywidgets) the page shows the figure at the default settings.

    Raises:
        Exception: whatever `draw` raises at the default settings. Later errors are shown below
            the controls.
    """
    figure = draw(**{name: control.default for name, control in controls.items()})
    if not in_kernel():
        return
    png, width = to_png(figure), round(figure.get_figwidth() * DPI)
    said = alt or describe(figure)
    data, metadata = png_bundle(_with_line(png, _invitation(controls)), said, width)
    with contextlib.suppress(ImportError):  # without ipywidgets the picture is all there is
        image = picture_widget()(value=png, format="png", tooltip=said)
        image.layout.width, image.layout.max_width = f"{width}px", "100%"
        data |= view(_controlled(draw, controls, image, width))
    publish(data, metadata)


def _invitation(controls: Mapping[str, Slider | Choice]) -> str:
    names = (each.label or name for name, each in controls.items())
    return "▶ Run this cell to change: " + ", ".join(names)


def _with_line(png: bytes, text: str) -> bytes:
    """The picture with a line of text below: what a page without a kernel shows."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    page = Image.new("RGB", (picture.width, picture.height + LINE), "white")
    page.paste(picture)
    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 16)
    ImageDraw.Draw(page).text((12, picture.height + 4), text, fill=INK, font=font)
    file = BytesIO()
    page.quantize(128, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _controlled(draw: Callable[..., Figure], controls: Mapping, image: Any, width: int) -> Any:
    """Controls, one a line and as wide as the image below, which follows them."""
    import ipywidgets

    wide = 18 + 7.5 * max(len(c.label or name) for name, c in controls.items())
    inputs = {
        name: control.widget(
            name,
            style={"description_width": f"{wide:.0f}px"},
            layout=ipywidgets.Layout(width=f"{width}px", max_width="100%"),
        )
        for name, control in controls.items()
    }
    problem = ipywidgets.HTML()

    def redraw(_: Any) -> None:
        # Drawn here and now: the page holds back further moves of a slider until this handler
        # returns, and then sends only the newest, so that pictures never queue up.
        try:
            figure = draw(**{name: w.value for name, w in inputs.items()})
            image.value = to_png(figure, compress_level=1)
            image.tooltip = describe(figure)
            problem.value = ""
        except Exception as error:
            text = escape(f"{type(error).__name__}: {error}")
            mark = f"border-left: 4px solid {VERMILLION}; padding-left: .6em"
            problem.value = f'<div style="{mark}">{text}</div>'

    for control in inputs.values():
        control.observe(redraw, names="value")
    shown = [*inputs.values()]
    for name, control in controls.items():
        if isinstance(control, Slider) and control.buttons:
            moves = [_mover(inputs[name], text, by) for text, by in (("back", -1), ("next", 1))]
            shown.append(ipywidgets.HBox(moves))
    return ipywidgets.VBox([*shown, image, problem])


def _mover(slider: Any, text: str, by: int) -> Any:
    """A button that moves a slider, which stays within its bounds by itself."""
    import ipywidgets

    button = ipywidgets.Button(description=text, layout=ipywidgets.Layout(width="5em"))

    def move(_: Any) -> None:
        slider.value += by

    button.on_click(move)
    return button
