"""Rollouts to look at: record an agent, show the video in a notebook, save it to a file.

A video is shown twice in one output: as an H.264 `<video>` with controls for the live page, and as
an animated PNG, which also plays where a page may not hold a `<video>` (GitHub, nbviewer). Where
nothing moves, as in print, that shows a late frame: the first are alike before and after training.
"""

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import ceil
from pathlib import Path
from typing import Any

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
from matplotlib import get_data_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from helpers.envs.make import EnvLike, make_env, without_screen
from helpers.envs.pixels import draw
from helpers.evaluation import as_function
from helpers.show.colours import FRAME, INK

BOX = (480, 360)  # frames are scaled to fit: 400 frames of CartPole then take 180 MB, not 290
MAX_FPS = 30  # environments that run at 50 frames a second are thinned to 25
APNG_FRAMES, APNG_BYTES = 150, 250_000  # at most: a notebook with its outputs stays below 1.5 MB
BORDER = f"border: 1px solid {FRAME}; max-width: 100%"  # frames are white, and so may be the page
STRIP = 28  # pixels above a rollout for its label

# What the buttons below a video do with it, `v`. Browsers play nothing backwards: it is wound back.
BUTTONS = {
    "once": "v.loop = false",
    "loop": "v.loop = true",
    "reflect": """v.loop = false; v.onended = () => { v.back = setInterval(() => {
        v.currentTime -= 0.04; if (v.currentTime <= 0) { clearInterval(v.back); v.play(); }
    }, 40); }""",
}


# --- Recording --------------------------------------------------------------------------------


@dataclass
class Recording:
    """One episode as seen and as scored.

    Attributes:
        frames: `(T, H, W, 3)` uint8: the first state, then every `stride`-th one, and the last.
        fps: frames a second at which the environment's clock runs at its own speed.
        rewards: one for each step, whatever the frames were thinned to.
        terminated, truncated: how it ended; both False when `max_steps` ran out.
        env_id: of the environment, if it has one.
    """

    frames: NDArray[np.uint8]
    fps: float
    rewards: list[float]
    terminated: bool = False
    truncated: bool = False
    env_id: str = ""

    @property
    def alt(self) -> str:
        """What the pictures show, in words."""
        what = f"{self.env_id}: an episode" if self.env_id else "An episode"
        ended = ", terminated" if self.terminated else ""
        return f"{what} of {len(self.rewards)} steps, return {self.total_return:.0f}{ended}."

    @property
    def total_return(self) -> float:
        """The undiscounted sum of rewards."""
        return float(sum(self.rewards))


def record(policy: Any, env: str | gym.Env, seed: int = 0, max_steps: int = 1000) -> Recording:
    """Run `policy` for one episode and keep the pictures.

    Args:
        policy: an agent (`policy.predict(obs, deterministic=True)`) or a function `obs -> action`.
        env: an environment id, or an environment made with `render_mode="rgb_array"`, which is left
            open.
        seed: of the episode's start.

    Raises:
        ValueError: the environment renders nothing that can be recorded.
        RuntimeError: what draws it is not installed, or finds no graphics library.
    """
    act, made = as_function(policy), rgb_env(env)
    try:
        return _record(act, made, seed, max_steps)
    finally:
        if made is not env:
            made.close()


def rgb_env(env: EnvLike) -> gym.Env:
    """An environment that renders to arrays: made from an id, or the given one, checked."""
    without_screen()
    if not isinstance(env, gym.Env):
        return make_env(env, render_mode="rgb_array")
    if env.render_mode != "rgb_array":
        raise ValueError(
            f'To record it, make the environment with render_mode="rgb_array", '
            f"not {env.render_mode!r}."
        )
    return env


def render(env: gym.Env) -> NDArray[np.uint8]:
    """One picture of the environment, scaled to fit `BOX`."""
    return fit(draw(env), *BOX)


def fit(frame: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """`frame`, scaled down to fit into `width` x `height`, to an even size (H.264 wants that)."""
    h, w = frame.shape[:2]
    scale = min(1, width / w, height / h)
    size = (int(w * scale) // 2 * 2, int(h * scale) // 2 * 2)
    return np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BOX))


def _record(act: Callable, env: gym.Env, seed: int, max_steps: int) -> Recording:
    clock = env.metadata.get("render_fps") or MAX_FPS
    stride = ceil(clock / MAX_FPS)
    obs, _ = env.reset(seed=seed)
    frames = [render(env)]
    rewards: list[float] = []
    terminated = truncated = False
    while not (terminated or truncated) and len(rewards) < max_steps:
        obs, reward, terminated, truncated, _ = env.step(act(obs))
        rewards.append(float(reward))
        last = terminated or truncated or len(rewards) == max_steps
        if last or len(rewards) % stride == 0:
            frames.append(render(env))
    ended, name = (bool(terminated), bool(truncated)), env.spec.id if env.spec else ""
    return Recording(np.stack(frames), clock / stride, rewards, *ended, name)


# --- Showing ----------------------------------------------------------------------------------


class Video:
    """A recording that plays in a notebook: give it as a cell's last expression, or to `display`.

    Args:
        width: at most so many pixels on the page; the height is at most three quarters of it.
        alt: what is to be seen, in words; by default what the recording says.
    """

    def __init__(self, recording: Recording, width: int = BOX[0], alt: str = "") -> None:
        self.frames, self.fps, self.alt = recording.frames, recording.fps, alt or recording.alt
        h, w = fit(self.frames[0], width, width * 3 // 4).shape[:2]
        self.size = (w, h)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        png = base64.b64encode(self.apng).decode("ascii")
        data = {"image/png": png, "text/plain": repr(self), "text/html": self.html()}
        return data, {"image/png": {"alt": self.alt, "width": self.size[0]}}

    def __repr__(self) -> str:
        return f"<Video of {len(self.frames) / self.fps:.1f} s: {self.alt}>"

    def save(self, path: str | Path) -> Path:
        """Write an .mp4 or an (animated) .png, by the path's suffix."""
        path = Path(path)
        if path.suffix not in (".mp4", ".png"):
            raise ValueError(f"A video is saved as .mp4 or .png, not {path.suffix!r}.")
        path.write_bytes(self.apng if path.suffix == ".png" else self.mp4)
        return path

    @cached_property
    def mp4(self) -> bytes:
        """H.264 in an .mp4."""
        h, w = (n // 2 * 2 for n in self.frames.shape[1:3])  # yuv420p wants even sizes
        return iio.imwrite(
            "<bytes>", self.frames[:, :h, :w], extension=".mp4", plugin="FFMPEG", fps=self.fps,
            macro_block_size=2,
            output_params=[
                "-preset", "veryfast", "-crf", "23",
                "-g", "10",  # many key frames: it can be wound back
                "-movflags", "+faststart",  # the index in front: it starts at once
            ],
        )  # fmt: skip

    @cached_property
    def apng(self) -> bytes:
        """The animated PNG, made small enough to be committed in a notebook."""
        # Thin and shrink until it fits: both a little, so that neither suffers much.
        width, count = self.size[0], APNG_FRAMES
        for _ in range(6):
            stride = ceil(len(self.frames) / count)
            png = self._animate(stride, width)
            if len(png) <= APNG_BYTES:
                break
            shrink = max(0.5, (APNG_BYTES / len(png)) ** 0.4)
            width, count = int(width * shrink), max(12, int(count * shrink))
        return png

    def html(self) -> str:
        src = base64.b64encode(self.mp4).decode("ascii")
        # The source stands on the tag itself: JupyterLab's sanitizer drops a <source> inside.
        return (
            f'<figure style="margin: 0"><video src="data:video/mp4;base64,{src}" '
            f'width="{self.size[0]}" style="{BORDER}" aria-label="{escape(self.alt)}" controls '
            f"autoplay muted playsinline loop></video><div>{''.join(map(_button, BUTTONS))}</div>"
            "</figure>"
        )

    def _animate(self, stride: int, width: int) -> bytes:
        frames = [_framed(fit(f, width, 2 * width)) for f in self.frames[::stride]]
        palette = _shared_palette(frames)
        frames = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
        ends = np.arange(1, len(frames) + 1) * stride * 1000 / self.fps
        durations = np.diff(np.round(ends), prepend=0).astype(int).tolist()  # no drift
        still, buffer = frames[len(frames) * 2 // 3], io.BytesIO()  # seen where nothing moves
        still.save(
            buffer, "png", default_image=True, save_all=True, append_images=frames,
            duration=durations, loop=0,
        )  # fmt: skip
        return buffer.getvalue()


def side_by_side(
    recordings: Sequence[Recording],
    labels: Sequence[str] | None = None,
    columns: int = 3,
) -> Video:
    """Several rollouts in one video, each under its label (by default: its return).

    A rollout that is over before the others stays at its last frame, in pale.

    Raises:
        ValueError: no recordings, another number of labels, or different speeds.
    """
    labels = labels or [f"return {r.total_return:.0f}" for r in recordings]
    if not recordings or len(labels) != len(recordings):
        raise ValueError(
            f"side_by_side needs a label for each recording: there are {len(recordings)} "
            f"recordings and {len(labels)} labels."
        )
    if len({r.fps for r in recordings}) > 1:
        raise ValueError("side_by_side needs recordings of the same speed (fps).")
    columns = min(columns, len(recordings))
    rows = ceil(len(recordings) / columns)
    box = (760 // columns - 8, 300)
    tiles = [_tile(r.frames, text, box) for r, text in zip(recordings, labels, strict=True)]
    h, w = max(t.shape[1] for t in tiles), max(t.shape[2] for t in tiles)
    page = np.full((max(map(len, tiles)), rows * h, columns * (w + 8), 3), 255, np.uint8)
    for i, tile in enumerate(tiles):
        y, x = i // columns * h, i % columns * (w + 8)
        part = page[:, y : y + tile.shape[1], x : x + tile.shape[2]]
        part[: len(tile)] = tile
        part[len(tile) :] = tile[-1]
        part[len(tile) :, STRIP:] = 255 - (255 - tile[-1, STRIP:]) // 3  # over: pale
    names = sorted({r.env_id for r in recordings if r.env_id})
    alt = f"{', '.join(names) or 'Episodes'}, side by side: {', '.join(labels)}."
    width = max(page.shape[2], page.shape[1] * 4 // 3 + 1)  # nothing is shrunk, labels least of all
    return Video(Recording(page, recordings[0].fps, []), width, alt)


def _tile(frames: NDArray[np.uint8], text: str, box: tuple[int, int]) -> NDArray[np.uint8]:
    """Frames scaled to fit `box`, below a strip with the label."""
    small = np.stack([fit(frame, *box) for frame in frames])
    strip = Image.new("RGB", (small.shape[2], STRIP), "white")
    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 14)
    ImageDraw.Draw(strip).text((4, 6), text, fill=INK, font=font)
    strips = np.broadcast_to(np.asarray(strip), (len(small), STRIP, small.shape[2], 3))
    return np.concatenate([strips, small], axis=1)


# --- Pictures ---------------------------------------------------------------------------------


def _shared_palette(frames: Sequence[Image.Image]) -> Image.Image:
    """One palette for all frames (an animated PNG has only one), from a few of them."""
    some = frames[:: ceil(len(frames) / 8)]
    sheet = Image.new("RGB", (some[0].width, some[0].height * len(some)))
    for i, frame in enumerate(some):
        sheet.paste(frame, (0, i * frame.height))
    sheet = sheet.quantize(128, method=Image.Quantize.MEDIANCUT)
    table = np.array(sheet.getpalette()).reshape(-1, 3)
    table[table.min(axis=1) > 245] = 255  # averaging has greyed the white: it should meet the page
    sheet.putpalette(table.ravel().tolist())
    return sheet


def _framed(frame: NDArray[np.uint8]) -> Image.Image:
    """The frame with a thin border, as the page's style gives to a video."""
    image = Image.fromarray(frame)
    ImageDraw.Draw(image).rectangle((0, 0, image.width - 1, image.height - 1), outline=FRAME)
    return image


def _button(name: str) -> str:
    begin = "const v = this.closest('figure').firstElementChild; clearInterval(v.back)"
    code = f"{begin}; v.onended = null; {BUTTONS[name]}; v.currentTime = 0; v.play()"
    return f'<button onclick="{escape(code)}">{name}</button> '
