"""Demonstrate yourself: drive an environment with the arrow keys, keep the episodes, save them."""

from __future__ import annotations

import time
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from helpers.demos.files import ARRAYS, Demos, describe_spaces, load_demos, save_demos
from helpers.show.driving import Drive
from helpers.show.notebook import button

PAUSE = 1.5  # seconds after an episode for which a key that is still held starts no other one

recorders: dict[tuple[str, Path], Recorder] = {}


def recorder(
    env_id: str = "SparsePendulum-v0",
    path: str | Path = "my_demos.npz",
    seed: int | None = None,
) -> Recorder:
    """Show the environment, to be driven with the arrow keys, and record what you do.

    Nothing runs before Start, or before the slider is moved. Click the slider's handle once, then
    the arrow keys move it, and Home and End move it all the way. Run again, the cell shows the same
    recorder with all its episodes.

    Args:
        env_id: what to drive.
        path: where Save writes. Episodes that are in the file already are kept and added to.
        seed: of the first start; later ones go on from there.

    Returns the `Recorder`, whose `demos` are what was recorded so far.

    Raises `ValueError` where the environment cannot be driven by hand or recorded, and where `path`
    holds something that cannot be added to.
    """
    Drive.stop_all()  # the cell was run again: the old game must not go on behind it
    key = env_id, Path(path).absolute()
    if key not in recorders:
        recorders[key] = Recorder(*key, seed)
    recorders[key].show()
    return recorders[key]


class Recorder(Drive):
    """One environment under a person's hand, and the episodes to keep. Made by `recorder`.

    Attributes:
        episodes: one dictionary of arrays for each episode, as in `Drive`. An episode that is left
            by New episode is kept as far as it went, truncated there.
        path: where `save` writes.
    """

    presses = 4
    how = (
        "Press Start, or just move the slider. <b>Click its handle, then use the arrow keys</b> "
        "← and →; Home and End go all the way."
    )

    def __init__(self, env_id: str, path: Path, seed: int | None = None) -> None:
        self.path, self.saved, self.maker = path, True, "a person with the recorder"
        super().__init__(env_id, seed)
        describe_spaces(self.env)  # what cannot be saved is refused before it is recorded
        self._ended = -float("inf")
        if path.exists():
            old = load_demos(path, self.id)
            self.maker = old.maker
            self.episodes = [{name: getattr(old, name)[e] for name in ARRAYS} for e in old.episodes]

    # What it gives ------------------------------------------------------------------------

    @property
    def demos(self) -> Demos:
        """The recorded episodes. Raises `ValueError` if there are none."""
        if not self.episodes:
            raise ValueError("No episode is recorded yet: press Start and play one.")
        return Demos.from_episodes(self.id, self.maker, self.episodes)

    def save(self) -> None:
        """Write the recorded episodes to `path`, and tell on the page whether that went well.

        One that is still going on is not among them.
        """
        try:
            demos = self.demos
            save_demos(self.path, demos)
        except (ValueError, OSError) as error:
            self.listed.value = f"Not saved: {escape(str(error))}"
            return
        self.saved = True
        text = f"Saved to {escape(self.path.name)}: {escape(str(demos))}."
        if self._going_on:
            text += f" The one at step {len(self.episode)} goes on, and is not in the file yet."
        self.listed.value = text

    def drop_last(self) -> None:
        """Throw the last recorded episode away."""
        if self.episodes:
            self.episodes.pop()
            self._changed()

    # What is shown ------------------------------------------------------------------------

    def show(self) -> None:
        """Display it here, and nowhere else any more."""
        if self.box is not None:
            self.box.close()
        super().show()

    def build(self, frame: NDArray) -> None:
        import ipywidgets as w

        super().build(frame)
        self.drop_button = button("Throw the last away", "trash", self.drop_last)
        self.save_button = button(f"Save to {self.path.name}", "save", self.save)
        self.listed = w.HTML()
        keeping = w.HBox([self.drop_button, self.save_button])
        self.box.children = [*self.box.children, keeping, self.listed]
        for slider in self.inputs:
            slider.observe(self._moved, "value")
        # Gone from the page (output cleared, cell deleted): nobody is playing.
        self.box._view_count = 0
        self.box.observe(lambda change: self.stop() if change.new == 0 else None, "_view_count")
        if self._going_on:
            self._tell("Stopped. Start goes on.")
        self._list()

    def _list(self) -> None:
        """What is recorded so far."""
        texts = []
        for number, episode in enumerate(self.episodes, start=1):
            steps = len(episode["reward"])
            texts.append(f"{number}: <b>{episode['reward'].sum():.4g}</b> ({steps} steps)")
        shown = " · ".join(texts) or "none yet"
        where = ""
        if texts:
            kept = self.saved and self.path.exists()
            where = f" All are in {escape(self.path.name)}." if kept else " <b>Not saved yet.</b>"
        elif not self.saved:
            where = " The file stays as it was."
        self.listed.value = f"Episodes recorded, with their returns: {shown}.{where}"
        self.drop_button.disabled = self.save_button.disabled = not self.episodes

    def _changed(self) -> None:
        """The list of episodes is another one."""
        self.saved = False
        self._list()

    # The game -----------------------------------------------------------------------------

    def reset(self) -> None:
        """Stop, and go to the start of a new episode; what was played of this one is kept."""
        with self.lock:
            if self._going_on:
                self.keep()
                self.episodes[-1]["truncated"][-1] = True  # cut here by hand
                self._changed()
            super().reset()
        self._centre()

    def step_once(self, draw_every: int = 1) -> None:
        super().step_once(draw_every)
        if self.over:
            self._centre()
            self._changed()

    def _centre(self) -> None:
        """The sliders in the middle, as at the beginning; to `_moved` the episode has ended."""
        self._ended = time.monotonic()
        for slider in self.inputs:
            if hasattr(slider, "step"):
                slider.value = (slider.min + slider.max) / 2

    def _moved(self, _change: Any) -> None:
        """A slider was moved by hand: the game is to begin."""
        if Drive.playing is None and time.monotonic() - self._ended > PAUSE:
            self.start()

    @property
    def _going_on(self) -> bool:
        """Whether an episode has begun and is not over, played or paused."""
        return bool(self.episode) and not self.over
