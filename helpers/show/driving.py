"""Drive an environment yourself: a slider for the action, the environment in real time."""

from __future__ import annotations

import asyncio
import threading
import time
from math import ceil
from typing import Any

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from helpers.demos.files import ARRAYS
from helpers.show.colours import FRAME
from helpers.show.figures.explore import with_line
from helpers.show.notebook import button, in_kernel, picture_widget, png_bundle, publish, view
from helpers.show.plotting import SCALE
from helpers.show.video import render, rgb_env

SPEEDS = {"real time": 1.0, "half speed": 0.5, "slow motion": 0.2}
# A person takes a quarter of a second to react, and a pole or a pendulum falls in less.
DEFAULT_SPEED = {"CartPole-v1": "slow motion", "SparsePendulum-v0": "slow motion"}
ACTION_NAMES = {
    "CartPole-v1": ("push left", "push right"),
    "MountainCar-v0": ("push left", "coast", "push right"),
    "Acrobot-v1": ("torque −1", "no torque", "torque +1"),
    "Pendulum-v1": ("torque, + is ↺",),
    "SparsePendulum-v0": ("torque, + is ↺",),
    "MountainCarContinuous-v0": ("force",),
}
FINAL = {
    "CartPole-v1": "the pole fell too far or the cart left the track",
    "MountainCar-v0": "the car reached the flag",
    "MountainCarContinuous-v0": "the car reached the flag",
}


def drive(env: str | gym.Env = "CartPole-v1", seed: int | None = None) -> Drive:
    """Show the environment with a slider for the action, and Start, Stop and New episode.

    Nothing runs before Start. Click the slider once, then the arrow keys move it too.

    Args:
        env: an environment id, or an environment made with `render_mode="rgb_array"`.
        seed: of the first episode's start; later episodes go on from there.

    Returns:
        the `Drive`: its `episodes` hold what you did, ready to be saved as demonstrations.
    """
    Drive.stop_all()  # the cell was run again: the old game must not go on behind it
    game = Drive(env, seed)
    game.show()
    return game


class Drive:
    """One environment under a person's hand. Made by `drive`.

    Attributes:
        episodes: one dictionary for each episode that came to its end, of arrays with one row for
            each step: obs, action, reward, next_obs, terminated, truncated. An episode that is
            left by New episode is thrown away.
        episode: the steps so far of the episode that is being played, as tuples.
        playing: the one game of all that runs, or None.
    """

    playing: Drive | None = None
    pictures_per_second = 30
    presses = 40  # of a key, from one end of a slider to the other
    how = "Press Start."

    def __init__(self, env: str | gym.Env, seed: int | None = None) -> None:
        self.env = rgb_env(env)
        self.id = self.env.spec.id if self.env.spec else ""
        self.episodes: list[dict[str, NDArray]] = []
        self.box: Any = None
        self.fps = float(self.env.metadata.get("render_fps") or 30)
        self.task: asyncio.Task | None = None
        self.lock = threading.RLock()  # a new episode may come from another thread than the game's
        self._run: object | None = None  # stands for one press of Start
        self._reset_env(seed)

    # What is shown ------------------------------------------------------------------------

    def show(self) -> None:
        """Display the controls, beside a picture of the first state for pages without widgets."""
        if not in_kernel():
            return
        frame = render(self.env)
        height, width = frame.shape[:2]
        first = Image.fromarray(frame).resize((round(width * SCALE), round(height * SCALE)))
        still = with_line(first, "▶ Run this cell to drive")
        data, metadata = png_bundle(still, f"{self.id}: the first state.", width)
        self.build(frame)
        publish(data | view(self.box), metadata)

    def _ipython_display_(self) -> None:
        """Nothing: as a cell's last value it is on the page already."""

    def build(self, frame: NDArray) -> None:
        import ipywidgets as w

        self.image = picture_widget()(value=_jpeg(frame), format="jpeg")
        self.image.tooltip = f"{self.id or 'The environment'} as it is now; in words below."
        self.image.layout = w.Layout(width=f"{frame.shape[1]}px", border=f"1px solid {FRAME}")
        self.inputs = self.make_sliders(frame.shape[1])
        speed = DEFAULT_SPEED.get(self.id, "real time")
        self.speed_choice = w.Dropdown(options=list(SPEEDS), value=speed)
        self.speed_choice.layout.width = "120px"
        self.start_button = button("Start", "play", self.start)
        self.stop_button = button("Stop", "pause", self.stop)
        again = button("New episode", "refresh", self.reset)
        self.status = w.HTML(self.how)
        row = w.HBox([self.start_button, self.stop_button, again, self.speed_choice])
        self.box = w.VBox([self.image, *self.inputs, row, self.status])
        self._enable()

    def make_sliders(self, width: int) -> list[Any]:
        """One for a discrete action, one for each dimension of a continuous one."""
        import ipywidgets as w

        space, names = self.env.action_space, ACTION_NAMES.get(self.id, ())
        common = {
            "style": {"description_width": "initial"},
            "layout": w.Layout(width=f"{max(width, 480)}px"),
        }
        if isinstance(space, gym.spaces.Discrete):
            if len(names) != space.n:
                names = tuple(str(a) for a in range(int(space.n)))
            options = [(text, i + int(space.start)) for i, text in enumerate(names)]
            return [w.SelectionSlider(options=options, description="action", **common)]
        if not isinstance(space, gym.spaces.Box) or not space.is_bounded():
            raise ValueError(f"drive needs discrete or bounded continuous actions, not {space}.")
        low, high = space.low.ravel(), space.high.ravel()
        if len(names) != len(low):
            names = tuple(f"action {i + 1}" for i in range(len(low)))
        return [
            w.FloatSlider(
                (a + b) / 2, min=a, max=b, step=(b - a) / self.presses, description=text, **common
            )
            for text, a, b in zip(names, low.tolist(), high.tolist(), strict=True)
        ]

    # What the buttons do ------------------------------------------------------------------

    def start(self) -> None:
        """Play on, from a new start if the episode is over."""
        if Drive.playing is self:
            return
        Drive.stop_all()
        if self.over:
            self._reset_env()
        Drive.playing, self._run = self, object()
        # The loop that called this handler: the kernel's own, or that of the thread in which
        # JupyterLab has widget messages handled. Both go on handling sliders between two steps.
        self.task = asyncio.get_running_loop().create_task(self._play(self._run))
        self._enable()

    def stop(self) -> None:
        """Pause; Start goes on from here."""
        if self.halt():
            self._tell("Stopped. Start goes on.")

    def reset(self) -> None:
        """Stop, and go to the start of a new episode."""
        self.halt()
        with self.lock:
            self._reset_env()
            self.image.value = _jpeg(render(self.env))
            self.status.value = self.how

    @classmethod
    def stop_all(cls) -> None:
        """Pause whatever game is being played."""
        if cls.playing is not None:
            cls.playing.stop()

    def halt(self) -> bool:
        """End the run, after the step that it is at; whether there was one."""
        with self.lock:  # the step must not write over what is said now
            self._run = None
        if Drive.playing is not self:
            return False
        Drive.playing = None
        self._enable()
        return True

    def _enable(self) -> None:
        """Only the buttons that do something.

        The one that was pressed keeps the keyboard otherwise, and JupyterLab takes the arrow keys
        of a focused button as a wish to go to another cell.
        """
        playing = Drive.playing is self
        self.start_button.disabled, self.stop_button.disabled = playing, not playing

    # The game -----------------------------------------------------------------------------

    async def _play(self, run: object) -> None:
        """Step at the environment's own clock, or slower, until the run is halted or it is over."""
        due = time.monotonic()
        try:
            while self._run is run and not self.over:
                rate = self.fps * SPEEDS[self.speed_choice.value]
                with self.lock:
                    if self._run is run:
                        self.step_once(draw_every=ceil(rate / self.pictures_per_second))
                due = max(due + 1 / rate, time.monotonic())  # behind: go slower, never catch up
                await asyncio.sleep(due - time.monotonic())
        except Exception as error:
            self.status.value = f"{type(error).__name__}: {error}"
        finally:
            if self._run is run:
                self.halt()

    def _reset_env(self, seed: int | None = None) -> None:
        self._obs, _ = self.env.reset(seed=seed)
        self.episode: list[tuple] = []
        self._terminated = self._truncated = False

    def step_once(self, draw_every: int = 1) -> None:
        action = self.action()
        next_obs, reward, terminated, truncated, _ = self.env.step(action)
        self.episode.append((self._obs, action, float(reward), next_obs, terminated, truncated))
        self._obs, self._terminated, self._truncated = next_obs, bool(terminated), bool(truncated)
        if self.over:
            self.keep()
        if self.over or len(self.episode) % draw_every == 0:
            self.image.value = _jpeg(render(self.env))
            self._tell()

    def keep(self) -> None:
        """Add the steps of this episode to `episodes`."""
        columns = zip(*self.episode, strict=True)
        self.episodes.append({n: np.asarray(c) for n, c in zip(ARRAYS, columns, strict=True)})

    def action(self) -> Any:
        space = self.env.action_space
        values = [slider.value for slider in self.inputs]
        if isinstance(space, gym.spaces.Discrete):
            return np.int64(values[0])
        return np.asarray(values, dtype=space.dtype).reshape(space.shape)

    @property
    def over(self) -> bool:
        return self._terminated or self._truncated

    def _tell(self, then: str = "") -> None:
        """The state of the game in words."""
        total = sum(step[2] for step in self.episode)
        text = f"<b>step {len(self.episode)}, return {round(total, 1):g}.</b> {then}"
        if self._terminated:
            why = FINAL.get(self.id, "the environment counts this state as final")
            text += f"<b>terminated</b>: {why}. Nothing comes after this state: its value is 0."
        elif self._truncated:
            text += (
                "<b>truncated</b>: the time limit ended the episode, not the state. "
                "It could have gone on, so its value is not 0."
            )
        self.status.value = text


def _jpeg(frame: NDArray) -> bytes:
    return iio.imwrite("<bytes>", frame, extension=".jpeg", quality=85)
