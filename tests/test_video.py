"""Rollouts: what is recorded, what is shown, what is saved."""

from __future__ import annotations

import io
import json
import re
import subprocess
from base64 import b64decode

import gymnasium as gym
import numpy as np
import pytest
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image

from helpers.show.video import APNG_BYTES, APNG_FRAMES, Recording, Video, record, side_by_side


def left(_):
    return 0


def moving_square(n: int = 12, size: tuple[int, int] = (90, 120)) -> np.ndarray:
    """Frames that all differ: a square that moves to the right."""
    frames = np.full((n, *size, 3), 255, np.uint8)
    for i, frame in enumerate(frames):
        frame[20:40, 4 * i : 4 * i + 20] = (200, 30, 30)
    return frames


def clip_of(frames: np.ndarray, fps: float = 10, **more) -> Video:
    return Video(Recording(frames, fps, []), **more)


def durations(data: bytes) -> list[float]:
    """Milliseconds of each frame of an animation."""
    picture = Image.open(io.BytesIO(data))
    result = []
    still = int(picture.info.get("default_image", False))  # is no part of the animation
    for i in range(still, picture.n_frames):
        picture.seek(i)
        result.append(picture.info["duration"])
    return result


def probe(path) -> str:
    """What ffmpeg says about a file."""
    command = [get_ffmpeg_exe(), "-hide_banner", "-i", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


# --- Recording --------------------------------------------------------------------------------


def test_record_keeps_first_and_last_state_and_every_reward():
    recording = record(left, "CartPole-v1")
    steps = len(recording.rewards)
    assert recording.fps == 25  # CartPole runs at 50 frames a second: every second one is kept
    assert len(recording.frames) == 1 + -(-steps // 2)
    assert recording.frames.shape[1:] == (320, 480, 3)
    assert recording.frames.dtype == np.uint8
    assert recording.total_return == steps
    assert recording.terminated
    assert not recording.truncated


def test_record_asks_an_agent_for_its_deterministic_action():
    class Agent:
        def predict(self, obs, deterministic=False):
            assert deterministic
            assert obs.shape == (3,)
            return np.array([2.0])

    one, same = (record(Agent(), "Pendulum-v1", seed=1, max_steps=5) for _ in range(2))
    assert one.frames.shape == (6, 360, 360, 3)
    assert not one.truncated
    np.testing.assert_array_equal(one.frames, same.frames)


CARTPOLE = "gymnasium.envs.classic_control.cartpole.CartPoleEnv"


def test_record_leaves_a_given_environment_open_and_closes_its_own(monkeypatch):
    closed = []
    monkeypatch.setattr(f"{CARTPOLE}.close", lambda _: closed.append(1))
    record(left, gym.make("CartPole-v1", render_mode="rgb_array"), max_steps=2)
    assert not closed
    record(left, "CartPole-v1", max_steps=2)
    assert closed
    with pytest.raises(ValueError, match='render_mode="rgb_array", not None'):
        record(left, gym.make("CartPole-v1"))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (gym.error.DependencyNotInstalled("no pygame"), r"pip install .gymnasium\[classic-control"),
        (AttributeError("'NoneType' object has no attribute\n'glGetError'"),  # MuJoCo's way
         r"attribute 'glGetError'.*apt-get install libegl1"),
    ],
)  # fmt: skip
def test_record_says_what_to_install(monkeypatch, error, told):
    def fails(_):
        raise error

    monkeypatch.setattr(f"{CARTPOLE}.render", fails)
    with pytest.raises(RuntimeError, match=told):
        record(left, "CartPole-v1")


# --- Showing ----------------------------------------------------------------------------------


def test_bundle_has_a_video_an_animation_and_a_text():
    data, metadata = clip_of(moving_square(), alt="a < b")._repr_mimebundle_()
    html = data["text/html"]
    tag = re.search(r"<video ([^>]*)>", html)[1]
    assert tag.startswith('src="data:video/mp4;base64,'), "Lab's sanitizer drops <source>"
    for attribute in ("controls", "autoplay", "muted", "playsinline", "loop"):
        assert re.search(rf"\b{attribute}\b", tag.split('"', 2)[2])
    assert "a &lt; b" in html
    assert data["text/plain"] == "<Video of 1.2 s: a < b>"
    assert metadata == {"image/png": {"alt": "a < b", "width": 120}}
    assert 'aria-label="a &lt; b"' in html
    assert b64decode(data["image/png"])[:4] == b"\x89PNG"
    json.dumps(data)


def test_an_animation_shows_a_late_frame_where_nothing_moves():
    picture, shown = Image.open(io.BytesIO(clip_of(moving_square(6)).apng)), []
    for i in range(picture.n_frames):
        picture.seek(i)
        shown.append(picture.convert("RGB").tobytes())
    still, *moving = shown
    assert picture.info["default_image"]
    assert picture.info["loop"] == 0
    assert [moving.index(each) for each in moving] == [*range(6)]
    assert moving.index(still) == 4


def test_mp4_is_h264_yuv420p_of_even_size_at_the_right_speed(tmp_path):
    path = clip_of(moving_square(size=(91, 121))).save(tmp_path / "a.mp4")
    said = probe(path)
    assert re.search(r"Video: h264.*yuv420p.*120x90.*10 fps", said)
    assert "Duration: 00:00:01.20" in said


@pytest.mark.parametrize("fps", [25, 30, 7])
def test_an_animation_lasts_as_long_as_the_rollout(fps):
    clip = clip_of(moving_square(25), fps=fps)
    assert sum(durations(clip.apng)) == pytest.approx(25_000 / fps, abs=1)


def test_a_long_rollout_is_thinned_at_the_right_speed():
    clip = clip_of(moving_square(500, (60, 2100)), fps=30, width=2100)
    times = durations(clip.apng)
    assert 60 < len(times) <= APNG_FRAMES
    assert sum(times) == pytest.approx(500 / 30 * 1000, rel=0.01)


def test_an_animation_of_noise_is_shrunk_until_it_fits():
    noise = np.random.default_rng(0).integers(0, 256, (60, 200, 300, 3), dtype=np.uint8)
    clip = clip_of(noise, fps=30)
    assert len(clip.apng) <= APNG_BYTES
    assert sum(durations(clip.apng)) == pytest.approx(2000, rel=0.1)


def test_save_goes_by_the_suffix(tmp_path):
    clip = clip_of(moving_square())
    assert Image.open(clip.save(tmp_path / "a.png")).format == "PNG"
    with pytest.raises(ValueError, match=r"\.mp4 or \.png"):
        clip.save(tmp_path / "a.avi")


ONE = Recording(moving_square(3), 10.0, [])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: side_by_side([ONE], ["a", "b"]), "1 recordings and 2 labels"),
        (lambda: side_by_side([ONE, Recording(ONE.frames, 20.0, [])]), "same speed"),
        (lambda: side_by_side([]), "0 recordings"),
    ],
)
def test_what_cannot_be_shown_is_refused(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_what_a_recording_shows_is_said_in_words():
    recording = record(left, "CartPole-v1", max_steps=3)
    assert recording.alt == "CartPole-v1: an episode of 3 steps, return 3."
    assert Video(recording).alt == recording.alt
    assert Video(recording, alt='The "pole" falls.').alt == 'The "pole" falls.'
    assert (
        'aria-label="The &quot;pole&quot; falls."'
        in Video(recording, alt='The "pole" falls.').html()
    )
    assert "steps, return" in repr(Video(recording))
    both = side_by_side([recording, recording], ["before", "after"])
    assert both.alt == "CartPole-v1, side by side: before, after."


# --- Several rollouts -------------------------------------------------------------------------


def test_side_by_side_waits_for_the_longest():
    short, long = (Recording(moving_square(n), 10.0, [1.0] * n) for n in (4, 9))
    clip = side_by_side([short, long])
    assert clip.size == clip.frames.shape[2:0:-1], "as large as drawn, so that labels can be read"
    assert len(clip.frames) == 9
    left_half, right_half = np.split(clip.frames, 2, axis=2)
    assert (left_half[4] == left_half[8]).all(), "the shorter one rests at its last frame"
    assert (left_half[4] != left_half[3]).any(), "in pale"
    assert (right_half[8] != right_half[7]).any()
