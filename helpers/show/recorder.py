"""Demonstrate yourself: drive an environment with the arrow keys, keep the episodes, save them."""

from __future__ import annotations

import asyncio
import threading
import time
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from helpers.demos.files import ARRAYS, MAX_MAKER, Demos, describe_spaces, load_demos, save_demos
from helpers.show.driving import Drive
from helpers.show.notebook import in_kernel, publish

LEVELS = 5  # positions of the slider: from full left to full right in four presses of a key
PAUSE = 1.5  # seconds after an episode for which a key that is still held starts no other one
SHOWN = 12  # episodes that are listed
ROW = {"Start": "92px", "Stop": "92px", "New episode": "130px"}
NO_WIDGETS = "The recorder needs ipywidgets: pip install ipywidgets, then restart the kernel."
NO_PAGE = (
    "The recorder is played on a notebook's page, by hand: for a policy's demonstrations use "
    "helpers.demos.files.record_demos."
)

recorders: dict[tuple[str, Path], Recorder] = {}


def recorder(
    env_id: str = "SparsePendulum-v0",
    path: str | Path = "my_demos.npz",
    maker: str = "a person with the recorder",
    seed: int | None = None,
) -> Recorder:
    """Show the environment, to be driven with the arrow keys, and record what you do.

    Nothing runs before Start, or before the slider is moved. Click the slider's handle once, then
    the arrow keys move it, and Home and End move it all the way. Run again, the cell shows the same
    recorder with all its episodes.

    Args:
        env_id: what to drive.
        path: where Save writes. Episodes that are in the file already are kept and added to.
        maker: the person who drives, in words, for the file.
        seed: of the first start; later ones go on from there.

    Returns the `Recorder`, whose `demos` are what was recorded so far.

    Raises `ValueError` where the environment cannot be driven by hand or recorded, and where `path`
    holds something that cannot be added to.
    """
    Drive.stop_all()  # the cell was run again: the old game must not go on behind it
    key = env_id, Path(path).absolute()
    if key not in recorders:
        recorders[key] = Recorder(*key, seed)
    game = recorders[key]
    game.maker = maker
    game.show()
    return game


class Recorder(Drive):
    """One environment under a person's hand, and the episodes to keep. Made by `recorder`.

    Attributes:
        episodes: one dictionary of arrays for each episode, as in `Drive`. An episode that is left
            by New episode is kept as far as it went, truncated there.
        path: where `save` writes.
    """

    maker = "a person"
    pictures_per_second = 30
    # A person takes a quarter of a second to react, and a pendulum falls in less.
    speed = "slow motion"

    def __init__(self, env_id: str, path: Path, seed: int | None = None) -> None:
        self.path, self.saved, self._makers = path, True, ""
        super().__init__(env_id, seed)
        describe_spaces(self.env)  # what cannot be saved is refused before it is recorded
        self._ended = -float("inf")
        if path.exists():
            self.episodes = self._read()

    def _read(self) -> list[dict[str, NDArray]]:
        try:
            old = load_demos(self.path, self.id)
        except ValueError as error:
            raise ValueError(
                f"The recorder cannot add to {self.path.name} ({str(error).rstrip('.')}): choose "
                "another path."
            ) from error
        self._makers = old.maker
        return [{name: getattr(old, name)[e] for name in ARRAYS} for e in old.episodes]

    # What it gives ------------------------------------------------------------------------

    @property
    def demos(self) -> Demos:
        """The recorded episodes. Raises `ValueError` if there are none."""
        if not self.episodes:
            raise ValueError("No episode is recorded yet: press Start and play one.")
        maker = self._makers or self.maker  # the file that is added to has one as well
        if self.maker not in maker:
            maker = f"{maker[: MAX_MAKER - len(self.maker) - 7]}, then {self.maker}"
        return Demos.from_episodes(self.id, maker, self.episodes)

    def save(self) -> Demos:
        """Write the recorded episodes to `path`; one that is still going on is not among them."""
        demos = self.demos
        save_demos(self.path, demos)
        self.saved = True
        self._list()
        return demos

    def drop_last(self) -> None:
        """Throw the last recorded episode away."""
        if self.episodes:
            self.episodes.pop()
            self._changed()

    # What is shown ------------------------------------------------------------------------

    def show(self) -> None:
        """Display it here, and nowhere else any more."""
        old, self.box = self.box, None
        if old is not None:
            old.close()
        super().show()
        if self.box is None and in_kernel():
            publish({"text/html": NO_WIDGETS, "text/plain": NO_WIDGETS}, {})

    def build(self, frame: NDArray) -> None:
        import ipywidgets as w

        super().build(frame)
        *above, row, _ = self.box.children
        self.start_button, self.stop_button, *_ = row.children
        for button, (text, width) in zip(row.children, ROW.items(), strict=False):
            button.description, button.layout.width = text, width
        drop, keep = (
            w.Button(description=text, icon=icon, layout=w.Layout(width="auto"))
            for text, icon in (
                ("Throw the last away", "trash"),
                (f"Save to {self.path.name}", "save"),
            )
        )
        drop.on_click(lambda _: self.drop_last())
        keep.on_click(lambda _: self.press_save())
        self.drop_button, self.save_button, self.listed = drop, keep, w.HTML()
        self.box = w.VBox([*above, row, self.status, w.HBox([drop, keep]), self.listed])
        for slider in self.inputs:
            slider.observe(self._moved, "value")
        # Gone from the page (output cleared, cell deleted), or closed: nobody is playing.
        self.box._view_count = 0
        self.box.observe(lambda change: self.stop() if change.new == 0 else None, "_view_count")
        self.box.observe(lambda change: change.new is None and self.halt(), "comm")
        self.status.value = self._how()
        self._list()
        self._enable()

    def make_sliders(self, width: int) -> list[Any]:
        sliders = super().make_sliders(width)
        for slider in sliders:
            if hasattr(slider, "step"):
                slider.step = (slider.max - slider.min) / (LEVELS - 1)
        return sliders

    def _how(self) -> str:
        paused = f"Stopped at step {len(self.episode)}. " if self._going_on else ""
        return (
            f"{paused}Press Start, or just move the slider. <b>Click its handle, then use the "
            "arrow keys</b> ← and →; Home and End go all the way."
        )

    def _list(self) -> None:
        """What is recorded so far."""
        if self.box is None:
            return
        texts = []
        for number, episode in enumerate(self.episodes, start=1):
            steps = len(episode["reward"])
            texts.append(f"{number}: <b>{episode['reward'].sum():.4g}</b> ({steps} steps)")
        shown = " · ".join(texts[-SHOWN:]) or "none yet"
        more = "... · " if len(texts) > SHOWN else ""
        where = ""
        if texts:
            kept = self.saved and self.path.exists()
            where = f" All are in {escape(self.path.name)}." if kept else " <b>Not saved yet.</b>"
        elif not self.saved:
            where = " The file stays as it was."
        self.listed.value = f"Episodes recorded, with their returns: {more}{shown}.{where}"
        self.drop_button.disabled = self.save_button.disabled = not self.episodes

    def _enable(self) -> None:
        """Only the buttons that do something.

        The one that was pressed keeps the keyboard otherwise, and JupyterLab takes the arrow keys
        of a focused button as a wish to go to another cell.
        """
        if self.box is not None:
            playing = Drive.playing is self
            self.start_button.disabled, self.stop_button.disabled = playing, not playing

    # What the buttons and keys do ---------------------------------------------------------

    def start(self) -> None:
        """Play on, from a new start if the episode is over.

        Raises `RuntimeError` where there is no page to play on.
        """
        self._need_page()
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # a kernel that handles widgets outside an event loop: bring our own
            threading.Thread(
                target=asyncio.run, args=(self._start_and_wait(),), daemon=True
            ).start()
        else:
            self._start_here()

    async def _start_and_wait(self) -> None:
        self._start_here()
        assert self.task is not None
        await self.task

    def _start_here(self) -> None:
        super().start()
        self._enable()

    def stop(self) -> None:
        """Pause; Start goes on from here."""
        if self.halt():
            self.status.value = self._how()

    def reset(self) -> None:
        """Stop, and go to the start of a new episode; what was played of this one is kept."""
        self._need_page()
        self.halt()
        with self.lock:
            if self._going_on:
                self.keep()
                self.episodes[-1]["truncated"][-1] = True  # cut here by hand
                self._changed()
            super().reset()
        self._centre()
        self.status.value = self._how()

    def halt(self) -> bool:
        halted = super().halt()
        self._enable()
        return halted

    def _moved(self, _change: Any) -> None:
        """A slider was moved by hand: the game is to begin."""
        idle = Drive.playing is None and time.monotonic() - self._ended > PAUSE
        if idle and not self._centring:
            self.start()

    _centring = False

    def _centre(self) -> None:
        """The sliders in the middle, as at the beginning."""
        self._centring = True
        try:
            for slider in self.inputs:
                if hasattr(slider, "step"):
                    slider.value = (slider.min + slider.max) / 2
        finally:
            self._centring = False

    def press_save(self) -> None:
        try:
            demos = self.save()
        except (ValueError, OSError) as error:
            self.listed.value = f"Not saved: {escape(str(error))}"
            return
        text = f"Saved to {escape(self.path.name)}: {escape(str(demos))}."
        if self._going_on:
            text += f" The one at step {len(self.episode)} goes on, and is not in the file yet."
        self.listed.value = text

    # The game -----------------------------------------------------------------------------

    def step_once(self, draw_every: int = 1) -> None:
        super().step_once(draw_every)
        if self.over:
            self._ended = time.monotonic()
            self._centre()
            self._changed()

    def _changed(self) -> None:
        """The list of episodes is another one."""
        self.saved = False
        self._list()

    @property
    def _going_on(self) -> bool:
        """Whether an episode has begun and is not over, played or paused."""
        return bool(self.episode) and not self.over

    def _need_page(self) -> None:
        if self.box is None:
            raise RuntimeError(NO_PAGE)
