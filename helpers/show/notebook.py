"""What a helper puts on a notebook's page: bundles on display handles, and progress bars."""

import base64
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from html import escape
from typing import Any

UPDATES_PER_SECOND = 5  # of a progress bar: more is flicker, and messages cost training time

# JupyterLab may have sliders answered in a thread of its own while a cell trains and draws.
_one_at_a_time = threading.RLock()


def in_kernel() -> bool:
    """Whether there is a notebook page to show things on (a terminal's IPython is not one)."""
    module = sys.modules.get("IPython")  # a kernel has imported it; a script need not pay for it
    shell = module.get_ipython() if module else None
    return getattr(shell, "kernel", None) is not None


def current_cell() -> Any:
    """What tells one execution of a cell from the next, or None without a kernel."""
    return sys.modules["IPython"].get_ipython().execution_count if in_kernel() else None


def png_bundle(
    png: bytes, alt: str, width: float | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the page shows for a PNG: `(data, metadata)` by MIME type; `width` in CSS pixels.

    `alt` says what is to be seen: for pages without pictures, and as the picture's alt text where
    a notebook is made into HTML.
    """
    data = {"image/png": base64.b64encode(png).decode("ascii"), "text/plain": alt}
    return data, {"image/png": {"alt": alt} | ({"width": round(width)} if width else {})}


def view(widget: Any) -> dict[str, Any]:
    """The live half of a bundle. It is written out here since ipywidgets 7 and 8 differ in it."""
    return {
        "application/vnd.jupyter.widget-view+json": {
            "version_major": 2,
            "version_minor": 0,
            "model_id": widget.model_id,
        }
    }


@cache
def picture_widget() -> Any:
    """`ipywidgets.Image` with a text: its `tooltip`, which a screen reader says.

    The page reads a tooltip beside a description, which a plain Image has not.
    """
    from ipywidgets import Image
    from traitlets import Unicode

    texts = {name: Unicode("").tag(sync=True) for name in ("description", "tooltip")}
    return type("Picture", (Image,), texts)


def button(text: str, icon: str, act: Callable[[], object]) -> Any:
    """A button that does `act()`."""
    import ipywidgets as w

    made = w.Button(description=text, icon=icon, layout=w.Layout(width="auto"))
    made.on_click(lambda _: act())
    return made


@contextmanager
def stop_button() -> Iterator[list[int]]:
    """Ctrl-C and the stop button fill the list; the second time they interrupt as ever."""
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # The main thread alone hears them.
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def press(number: int, frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def drawing() -> Iterator[None]:
    """Draw alone, and to the end: Ctrl-C and the stop button wait for the picture.

    Inside matplotlib's compiled code they would come out as errors of another kind.
    """
    with _one_at_a_time, stop_button() as pressed:
        yield
    if pressed:
        signal.raise_signal(signal.SIGINT)


def publish(data: dict[str, Any], metadata: dict[str, Any], handle: Any = None) -> Any:
    """Show a bundle, or renew the one that `handle` stands for. Gives the handle back."""
    from IPython.display import display

    if handle is None:
        return display(data, raw=True, metadata=metadata, display_id=True)
    handle.update(data, raw=True, metadata=metadata)
    return handle


class ProgressBar:
    """How far a long computation is: percent, speed, time used and left.

    On a page it is an HTML `<progress>` on its own display handle (`handle`, where it goes on),
    renewed at most 5 times a second. Without a kernel it is quiet.
    """

    def __init__(self, total: int, handle: Any = None, unit: str = "steps") -> None:
        self.total, self.handle, self.unit = max(1, total), handle, unit
        self.began, self.next_show = time.perf_counter(), 0.0
        self.update(0)

    def update(self, done: int, note: str = "") -> None:
        now = time.perf_counter()
        if now < self.next_show:
            return
        self._show(done, self._text(done, now - self.began, note))
        self.next_show = now + 1 / UPDATES_PER_SECOND

    def finish(self, done: int, note: str = "", advice: str = "") -> None:
        """The last word: 100 %, or where it stopped, and `advice` on going on."""
        self._show(done, self._text(done, time.perf_counter() - self.began, note, advice, True))

    def _text(
        self, done: int, seconds: float, note: str, advice: str = "", final: bool = False
    ) -> str:
        share = min(1.0, done / self.total)
        parts = [f"{int(100 * share)} %", f"{done:,} / {self.total:,} {self.unit}"]
        if final and done < self.total:
            parts[0] = f"stopped at {parts[0]}" + (f"; {advice}" if advice else "")
        if done and seconds > 0.5:
            rate = done / seconds
            parts.append(f"{rate:{',.0f' if rate >= 10 else '.2g'}} {self.unit}/s")
        clock = _clock(seconds)
        if done and not final:
            clock += f", {_clock(seconds * (1 - share) / share)} left"
        return " · ".join([*parts, clock, *([note] if note else [])])

    def _show(self, done: int, text: str) -> None:
        if not in_kernel():
            return
        html = (
            f'<progress value="{min(done, self.total)}" max="{self.total}" '
            'style="width: 180px; vertical-align: middle"></progress> '
            f'<span style="font-variant-numeric: tabular-nums">{escape(text)}</span>'
        )
        self.handle = publish({"text/html": html, "text/plain": text}, {}, self.handle)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
