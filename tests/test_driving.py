"""Driving an environment by hand: what is shown, recorded, and said about an episode's end."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
import time

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from helpers.show import driving
from helpers.show.driving import Drive, drive
from tests.live import VIEW, in_a_loop

pytest_plugins = ("tests.fakes",)


# --- Driving ----------------------------------------------------------------------------------


@pytest.fixture
def still(monkeypatch):
    """No game from an earlier test goes on."""
    monkeypatch.setattr(Drive, "playing", None)
    monkeypatch.setitem(driving.SPEEDS, "real time", 50.0)  # a test need not wait


def test_drive_shows_a_picture_and_controls_and_does_not_start(page, still):
    game = drive("CartPole-v1", seed=0)
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).size == (720, 510)
    assert game.task is None
    assert game.status.value == "Press Start."
    assert game._ipython_display_() is None


def test_a_driven_episode_is_recorded_and_its_end_explained(page, still):
    async def play():
        game = drive("CartPole-v1", seed=0)
        game.speed_choice.value = "real time"
        game.inputs[0].value = 1
        game.start()
        await game.task
        return game

    game = in_a_loop(play())
    [episode] = game.episodes
    steps = len(episode["reward"])
    assert episode["obs"].shape == episode["next_obs"].shape == (steps, 4)
    assert (episode["action"] == 1).all()
    np.testing.assert_array_equal(episode["obs"][1:], episode["next_obs"][:-1])
    assert episode["terminated"].tolist() == [False] * (steps - 1) + [True]
    assert not episode["truncated"].any()
    assert f"step {steps}, return {steps}." in game.status.value
    assert "terminated" in game.status.value
    assert "the pole fell" in game.status.value


def test_truncation_is_explained_as_such_and_start_begins_anew(page, still):
    async def play():
        game = drive(gym.make("Pendulum-v1", render_mode="rgb_array", max_episode_steps=4))
        game.inputs[0].value = 1.5
        for _ in range(2):
            game.start()
            await game.task
        return game

    game = in_a_loop(play())
    assert len(game.episodes) == 2
    assert game.episodes[0]["action"].tolist() == [[1.5]] * 4
    assert game.episodes[0]["action"].dtype == np.float32
    assert (game.episodes[0]["obs"][0] != game.episodes[1]["obs"][0]).any()
    assert "truncated" in game.status.value
    assert "value is not 0" in game.status.value


def test_one_game_at_a_time_and_a_rerun_stops_the_old_one(page, still):
    async def play():
        one, two = drive("Pendulum-v1"), drive("Pendulum-v1")
        one.start()
        await asyncio.sleep(0.03)
        first = one.task
        one.stop()
        one.start()  # at once: the first run has not noticed yet, and must not go on beside this
        second = one.task
        one.start()  # a second press changes nothing
        assert one.task is second
        await first
        two.start()
        await one.task
        assert not one.over
        third = drive("Pendulum-v1")  # the cell is run again
        await two.task
        assert not two.over
        assert third.task is None

    in_a_loop(play())


def test_drive_has_a_slider_for_each_dimension(page, still):
    class TwoArms(gym.Env):
        metadata = {"render_fps": 20}  # noqa: RUF012
        render_mode = "rgb_array"
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Box(np.float32([-1, 0]), np.float32([1, 5]))

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.float32), {}

        def render(self):
            return np.zeros((40, 50, 3), np.uint8)

    game = drive(TwoArms())
    assert [(s.min, s.max, s.value) for s in game.inputs] == [(-1, 1, 0), (0, 5, 2.5)]
    np.testing.assert_array_equal(game.action(), np.float32([0, 2.5]))


def test_drive_refuses_spaces_without_ends(page, still):
    env = gym.make("Pendulum-v1", render_mode="rgb_array")
    env.unwrapped.action_space = gym.spaces.Box(-np.inf, np.inf, (1,))
    with pytest.raises(ValueError, match="bounded"):
        drive(env)


def test_a_step_that_is_still_running_does_not_write_over_the_word_stopped(
    page, still, monkeypatch
):
    game = drive("CartPole-v1", seed=0)

    def slow_step(draw_every):
        begun.set()
        time.sleep(0.3)
        game.status.value = "step 1"

    async def play():
        game.start()
        await game.task

    begun = threading.Event()
    monkeypatch.setattr(game, "step_once", slow_step)
    player = threading.Thread(target=asyncio.run, args=[play()])
    player.start()
    begun.wait()
    game.stop()
    player.join()
    assert "Stopped" in game.status.value
