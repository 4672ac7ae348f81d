"""The recorder: a game by a fake clock, what it keeps and saves, what it says when it cannot."""

from __future__ import annotations

import asyncio
import base64
import io
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image
from sentences import one_sentence

from helpers.demos.files import load_demos, record_demos, save_demos
from helpers.show import driving
from helpers.show import recorder as module
from helpers.show.driving import Drive
from helpers.show.recorder import recorder
from tests.live import VIEW, in_a_loop

pytest_plugins = ("tests.fakes",)

SPARSE = "SparsePendulum-v0"


class Clock:
    """Time that passes only while the game sleeps, or when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0
        self.at: list[tuple[float, Any]] = []  # what a person does, and when

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += max(0, seconds)
        while self.at and self.at[0][0] <= self.now:
            self.at.pop(0)[1]()
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def clock(monkeypatch, tmp_path) -> Clock:
    """A fake clock, nothing left from an earlier test, and files in a folder of their own."""
    clock = Clock()
    fake = SimpleNamespace(sleep=clock.sleep, get_running_loop=asyncio.get_running_loop)
    monkeypatch.setattr(driving, "asyncio", fake)
    monkeypatch.setattr(driving, "time", clock)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "recorders", {})
    monkeypatch.setattr(Drive, "playing", None)
    monkeypatch.chdir(tmp_path)
    return clock


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Episodes of 12 steps."""
    monkeypatch.setattr(gym.spec(SPARSE), "max_episode_steps", 12)


def set_slider(game, value: float) -> None:
    game.inputs[0].value = value


def played(game, *acts: tuple[float, Any], episodes: int = 1, begin=None) -> Any:
    """Press Start, or begin otherwise, and wait for the end, so many times.

    `acts`: what a person does meanwhile, each after so many seconds.
    """
    clock = driving.time

    async def play():
        for _ in range(episodes):
            clock.at += [(clock.now + seconds, act) for seconds, act in acts]
            (begin or game.start)()
            await game.task

    in_a_loop(play())
    return game


# ---- what is shown -------------------------------------------------------------------------------


def test_it_is_a_bundle_of_widget_and_picture_and_does_not_start(page):
    game = recorder()
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert bundle[VIEW]["model_id"] == game.box.model_id
    assert Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).size == (540, 570)
    assert (game.task, game.episodes, game.speed_choice.value) == (None, [], "slow motion")
    assert "arrow keys" in game.status.value
    assert "none yet" in game.listed.value
    buttons = game.drop_button, game.save_button, game.start_button, game.stop_button
    assert [button.disabled for button in buttons] == [True, True, False, True]
    assert recorder() is game
    assert recorder(path="other.npz") is not game


def test_the_slider_has_few_positions_for_keys(page):
    [slider] = recorder().inputs
    assert (slider.min, slider.max, slider.step, slider.value) == (-2, 2, 1, 0)
    assert recorder("CartPole-v1", "cart.npz").inputs[0].options[0][0] == "push left"


def test_what_cannot_be_recorded_is_refused_at_once(page):
    with one_sentence(ValueError, "Box observations"):
        recorder("FrozenLake-v1")


# ---- the game ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("speed", "rate"), [("real time", 30), ("half speed", 15)])
def test_it_runs_at_the_speed_of_the_clock(page, clock, speed, rate):
    game, began, pictures = recorder(seed=0), clock.now, []
    game.speed_choice.value = speed
    game.env.unwrapped.state = np.array([np.pi, 4.0])  # no two pictures are the same
    game.image.observe(lambda change: pictures.append(clock.now), "value")
    played(game)
    assert clock.now - began == pytest.approx(12 / rate)
    np.testing.assert_allclose(np.diff(pictures), 1 / rate)  # each step is seen


def test_the_hand_acts_and_the_episode_is_recorded(page):
    game = recorder(seed=3)
    game.speed_choice.value = "half speed"
    later = (3.5 / 15, lambda: set_slider(game, 2.0)), (7.5 / 15, lambda: set_slider(game, -1.0))
    played(game, *later)
    demos = game.demos
    assert demos.action[:, 0].tolist() == [0] * 4 + [2] * 4 + [-1] * 4
    assert demos.truncated.tolist() == [False] * 11 + [True]
    np.testing.assert_array_equal(demos.obs[0], gym.make(SPARSE).reset(seed=3)[0])
    assert "step 12, return 0." in game.status.value
    assert "truncated" in game.status.value
    assert "1: <b>0</b> (12 steps)" in game.listed.value
    assert "Not saved yet" in game.listed.value
    assert game.inputs[0].value == 0, "the next episode begins without a push"
    assert not game.start_button.disabled


def test_moving_the_slider_starts(page, clock):
    async def play():
        game = recorder()
        set_slider(game, 1.0)
        await game.task
        assert game.demos.action[:, 0].tolist() == [1] * 12
        first = game.task
        set_slider(game, 2.0)  # the key is still held
        assert game.task is first
        clock.now += module.PAUSE + 0.1
        set_slider(game, 1.0)
        await game.task
        return game

    assert len(in_a_loop(play()).episodes) == 2


def test_stop_pauses_and_start_goes_on(page):
    game = recorder()
    played(game, (0.4, game.stop))
    steps = len(game.episode)
    assert 0 < steps < 12
    assert f"step {steps}, return" in game.status.value
    assert "Stopped." in game.status.value
    played(game)
    assert [len(e["reward"]) for e in game.episodes] == [12]
    assert len(game.demos) == 12


def test_a_new_episode_keeps_what_was_played_as_truncated(page):
    game = recorder()
    played(game, (0.4, game.reset))
    game.reset()  # nothing was played since: nothing more is kept
    steps = len(game.demos)
    assert 0 < steps < 12
    assert game.demos.truncated.tolist() == [False] * (steps - 1) + [True]
    assert f"({steps} steps)" in game.listed.value
    assert game.episode == []
    played(game)
    assert [len(e["reward"]) for e in game.episodes] == [steps, 12]


def test_an_error_of_the_environment_is_shown_and_what_was_played_stays(page, monkeypatch):
    game = recorder()
    step = game.env.unwrapped.step

    def fails(action):
        if len(game.episode) == 5:
            raise ValueError("the motor burnt out")
        return step(action)

    monkeypatch.setattr(game.env.unwrapped, "step", fails)
    played(game)
    assert "the motor burnt out" in game.status.value
    assert Drive.playing is None
    assert not game.start_button.disabled
    in_a_loop(asyncio.to_thread(game.reset))
    assert len(game.demos) == 5


# ---- keeping -------------------------------------------------------------------------------------


def test_saved_loaded_thrown_away(page, tmp_path):
    game = played(recorder(), episodes=3)
    game.inputs[0].value = 0
    game.save_button.click()
    assert "Saved to my_demos.npz: 3 episodes, 36 steps" in game.listed.value
    demos = load_demos("my_demos.npz", SPARSE)
    assert demos.maker == "a person with the recorder"
    np.testing.assert_array_equal(demos.obs, game.demos.obs)
    game.drop_button.click()
    assert "Not saved yet" in game.listed.value
    game.save()
    assert len(load_demos(tmp_path / "my_demos.npz").episodes) == 2
    game.drop_last()
    game.drop_last()
    game.drop_last()  # none is left: nothing happens
    assert "The file stays" in game.listed.value
    assert game.save_button.disabled
    with one_sentence(ValueError, "press Start"):
        _ = game.demos
    assert len(load_demos("my_demos.npz").episodes) == 2


def test_an_episode_that_goes_on_is_not_saved_and_not_lost(page):
    game, texts = played(recorder()), []
    played(game, (0.5, game.save_button.click), (0.5, lambda: texts.append(game.listed.value)))
    assert "Saved to my_demos.npz: 1 episode, 12 steps" in texts[0]
    assert "goes on, and is not in the file yet" in texts[0]
    assert len(load_demos("my_demos.npz").episodes) == 1
    assert len(game.episodes) == 2
    assert "Not saved yet" in game.listed.value


def test_a_save_that_fails_is_a_sentence(page, tmp_path):
    (tmp_path / "a file").write_text("in the way of a folder")
    game = played(recorder(path=tmp_path / "other.npz"))
    game.path = tmp_path / "a file" / "demos.npz"
    game.save()
    assert "Not saved" in game.listed.value
    assert len(game.episodes) == 1


def test_run_again_the_cell_shows_the_same_episodes(page):
    game, again = played(recorder(seed=1)), []
    old = game.box
    played(game, (0.5, lambda: again.append(recorder(seed=1))))
    assert again == [game]
    assert old.comm is None, "the old one is gone"
    assert "Stopped." in game.status.value
    assert "1: <b>0</b> (12 steps)" in game.listed.value
    assert len(game.episodes) == 1
    assert 0 < len(game.episode) < 12
    played(game)
    assert [len(e["reward"]) for e in game.episodes] == [12, 12]
    assert len(page.outputs) == 2


def test_what_is_in_the_file_is_added_to(page, tmp_path):
    old = record_demos(lambda obs: [1.0], SPARSE, 2, maker="somebody else")
    save_demos("my_demos.npz", old)
    game = recorder()
    assert "All are in my_demos.npz" in game.listed.value
    assert "2: <b>0</b> (12 steps)" in game.listed.value
    played(game)
    game.save()
    demos = load_demos("my_demos.npz")
    assert len(demos.episodes) == 3
    np.testing.assert_array_equal(demos.obs[:24], old.obs)
    assert demos.maker == "somebody else"
    module.recorders.clear()  # the kernel was restarted
    assert recorder().demos.maker == demos.maker
    (tmp_path / "my_demos.npz").unlink()
    assert "Not saved yet" in recorder().listed.value


def test_what_cannot_be_added_to_is_refused_before_anybody_plays(page, tmp_path):
    save_demos("my_demos.npz", record_demos(lambda obs: [0.0], "Pendulum-v1", 1))
    (tmp_path / "text.npz").write_text("hello")
    for path, word in (("my_demos.npz", "Pendulum-v1"), ("text.npz", "zip")):
        with one_sentence(ValueError, path, word):
            recorder(path=path)
    assert (tmp_path / "text.npz").read_text() == "hello"


def test_it_ends_when_nobody_sees_it(page):
    game = recorder()
    game.box._view_count = 1
    played(game, (0.5, lambda: setattr(game.box, "_view_count", 0)))
    assert 0 < len(game.episode) < 12
    assert Drive.playing is None


def test_discrete_actions_are_recorded_too(page):
    game = recorder("CartPole-v1", "cart.npz", seed=0)
    played(game, begin=lambda: set_slider(game, 1))
    game.save()
    demos = load_demos("cart.npz", "CartPole-v1")
    assert demos.terminated[-1]
    assert demos.action.dtype == np.int64
    assert set(demos.action) == {1}
