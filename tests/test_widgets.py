"""Explorers and the driver: bundles, static fallbacks, numbers behind the figures."""

from __future__ import annotations

import asyncio
import base64
import builtins
import io
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import ipywidgets
import numpy as np
import pytest
from PIL import Image

from helpers.show import driving
from helpers.show.driving import Drive, drive
from helpers.show.figures import explore as widgets
from helpers.show.figures.explore import (
    Choice,
    Slider,
    explore,
    plot_discount,
    plot_gae_weights,
    plot_policy_gradient,
    plot_results,
    policy_gradient,
    softmax,
)
from helpers.show.plotting import new_figure

pytest_plugins = ("tests.fakes",)

VIEW = "application/vnd.jupyter.widget-view+json"


def in_a_loop(coroutine: Coroutine) -> Any:
    """Run it in an event loop of its own, in a thread: a browser's may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


RESULTS = {
    "made by": "course.py study",
    "full": {
        "steps": [0, 1000, 2000],
        "returns": [[0, 50, 100], [0, 60, 90], [10, 40, 95], [0, 50, 100]],
        "evaluations": [100, 90, 95, 100],
        "explanation": "Everything on.",
    },
    "no target": {
        "steps": [0, 1000, 2000],
        "returns": [[0, 5, 10], [0, 6, 9], [1, 4, 30], [0, 5, 10]],
        "evaluations": [10, 9, 30, 10],
        "explanation": "The critic chases its own tail. " * 8,
    },
    "no noise": {"steps": [0, 2000], "returns": [[0, 70], [0, 80]], "evaluations": [70, 80]},
}
EXPLORERS = [
    widgets.discount_explorer,
    widgets.softmax_explorer,
    widgets.gae_explorer,
    lambda: widgets.results_explorer(RESULTS, bar=95),
]


@pytest.fixture
def views(monkeypatch) -> list:
    """The widgets that were put on the page."""
    shown, view = [], widgets.view

    def remember(widget):
        shown.append(widget)
        return view(widget)

    monkeypatch.setattr(widgets, "view", remember)
    return shown


def parts(box) -> tuple[list, ipywidgets.Image, ipywidgets.HTML]:
    row, image, problem = box.children
    return list(row.children), image, problem


def without_ipywidgets(monkeypatch) -> None:
    original = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("ipywidgets"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)


# --- explore ----------------------------------------------------------------------------------


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_every_explorer_is_a_bundle_of_widget_picture_and_text(explorer, page, views):
    explorer()
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert bundle[VIEW]["model_id"] == views[0].model_id
    assert len(bundle["text/plain"]) > 20
    inputs, image, _ = parts(views[0])
    assert base64.b64decode(bundle["image/png"]) == image.value
    for widget in inputs:  # every setting can be moved to every end without an error
        before = image.value
        if isinstance(widget, ipywidgets.Dropdown):
            values = (
                [value for _, value in widget.options]
                if isinstance(widget.options[0], tuple)
                else widget.options
            )
        else:
            values = (widget.min, widget.max)
        for value in values:
            widget.value = value
        assert parts(views[0])[2].value == ""
        assert len(values) == 1 or image.value != before


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_without_ipywidgets_the_picture_remains(explorer, page, monkeypatch):
    without_ipywidgets(monkeypatch)
    explorer()
    [[bundle]] = page.outputs
    assert set(bundle) == {"image/png", "text/plain"}


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_without_a_kernel_nothing_happens(explorer, capsys):
    assert explorer() is None
    assert capsys.readouterr() == ("", "")


def test_controls_become_the_right_widgets(page, views):
    seen = []

    def draw(**settings):
        seen.append(settings)
        return new_figure(width=3, height=1)[0]

    explore(
        draw,
        whole=Slider(1, 9, 3, label="a whole number"),
        real=Slider(0.0, 1.0, 0.25, 0.05),
        pick=Choice({"first": 10, "second": 20}, default=20),
    )
    assert seen == [{"whole": 3, "real": 0.25, "pick": 20}]
    [whole, real, pick], _, _ = parts(views[0])
    assert isinstance(whole, ipywidgets.IntSlider)
    assert whole.description == "a whole number"
    assert (real.description, real.readout_format, real.step) == ("real", ".2f", 0.05)
    assert real.continuous_update
    pick.value = 10
    assert seen[-1] == {"whole": 3, "real": 0.25, "pick": 10}


def test_an_error_in_a_drawing_is_shown_and_goes_away(page, views):
    def draw(x):
        if x == 2:
            raise ValueError("x is <two>")
        return new_figure(width=3, height=1)[0]

    explore(draw, x=Slider(0, 3, 0))
    [slider], image, problem = parts(views[0])
    before = image.value
    slider.value = 2
    assert "ValueError: x is &lt;two&gt;" in problem.value
    assert image.value == before
    slider.value = 3
    assert problem.value == ""


def test_an_error_at_the_default_settings_is_raised(page):
    def draw(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        explore(draw, x=Slider(0, 1, 0))


# --- The numbers behind the figures -----------------------------------------------------------


def test_discount_marks_the_effective_horizon():
    fig = plot_discount(0.9, horizon=30)
    assert "next 10 steps carry 65 %" in fig.axes[0].get_title(loc="left")  # 1 - 0.9**10
    assert fig.axes[0].get_xlim()[1] == 30
    for gamma in (0.0, 0.5, 0.98, 0.999):
        plot_discount(gamma)
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        plot_discount(1.0)


def test_policy_gradient_is_the_derivative_of_the_expected_advantage():
    rng = np.random.default_rng(0)
    for _ in range(20):
        logits, advantages = rng.normal(size=(2, 4))
        numeric = [
            (softmax(logits + h) @ advantages - softmax(logits - h) @ advantages) / 2e-5
            for h in 1e-5 * np.eye(4)
        ]
        np.testing.assert_allclose(policy_gradient(logits, advantages), numeric, atol=1e-8)


def test_a_constant_added_to_all_advantages_changes_no_gradient():
    gradient = policy_gradient([1.0, 0.0, -1.0], [2.0, 0.5, -1.0])
    shifted = policy_gradient([1.0, 0.0, -1.0], [5.0, 3.5, 2.0])
    np.testing.assert_allclose(gradient, shifted, atol=1e-15)
    assert gradient.sum() == pytest.approx(0)


def test_softmax_takes_large_logits():
    np.testing.assert_allclose(softmax([1000.0, 1000.0]), [0.5, 0.5])


def test_policy_figure_shows_probabilities_after_the_step():
    fig = plot_policy_gradient((0, 0, 0), (1, 0, -1), step=0)
    texts = [t.get_text() for t in fig.axes[2].texts]
    assert texts == ["33 %"] * 3


def heights(collection) -> np.ndarray:
    return np.array([segment[1, 1] for segment in collection.get_segments()])


@pytest.mark.parametrize(("gamma", "lam", "n"), [(0.99, 0.9, 5), (1.0, 0.0, 1), (0.9, 1.0, 30)])
def test_gae_weights_are_the_mixture_of_n_step_weights(gamma, lam, n):
    """Both panels tell the same: mixing the n-step weights gives (gamma lambda)^l."""
    left, right = plot_gae_weights(gamma, lam, n).axes
    np.testing.assert_allclose(heights(left.collections[0]), (gamma * lam) ** np.arange(30.0))
    mixture = heights(right.collections[0])
    np.testing.assert_allclose(mixture, (1 - lam) * lam ** np.arange(30.0))
    if lam < 1:  # delta_{t+l} counts in every n-step advantage with n > l
        tail = 1 - np.cumsum(mixture)  # all weight of n > l + 1
        from_mix = gamma ** np.arange(30) * np.r_[1, tail[:-1]]
        np.testing.assert_allclose(from_mix, heights(left.collections[0]), atol=1e-12)


def test_results_compare_a_variant_with_the_baseline():
    fig = plot_results(RESULTS, "no target", bar=95)
    curves, finals = fig.axes
    assert [t.get_text() for t in curves.get_legend().get_texts()] == ["full", "no target"]
    np.testing.assert_array_equal(finals.lines[0].get_ydata(), [100, 90, 95, 100])
    np.testing.assert_array_equal(finals.lines[1].get_ydata(), [10, 9, 30, 10])
    assert "chases its own tail" in fig.texts[0].get_text()
    assert plot_results(RESULTS, "no noise").texts[0].get_text() == ""
    with pytest.raises(ValueError, match="at least one variant"):
        plot_results({"made by": "nobody"})


# --- Driving ----------------------------------------------------------------------------------


@pytest.fixture
def still(monkeypatch):
    """No game from an earlier test goes on."""
    monkeypatch.setattr(Drive, "_playing", None)
    monkeypatch.setitem(driving.SPEEDS, "real time", 50.0)  # a test need not wait


def test_drive_shows_a_picture_and_controls_and_does_not_start(page, still):
    game = drive("CartPole-v1", seed=0)
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).size == (480, 320)
    assert game._task is None
    assert game._status.value == "Press Start."
    assert game._ipython_display_() is None


def test_drive_without_ipywidgets_is_the_first_picture(page, still, monkeypatch):
    without_ipywidgets(monkeypatch)
    drive("CartPole-v1")
    assert set(page.outputs[0][0]) == {"image/png", "text/plain"}


def test_a_driven_episode_is_recorded_and_its_end_explained(page, still):
    async def play():
        game = drive("CartPole-v1", seed=0)
        game._speed.value = "real time"
        game._inputs[0].value = 1
        game.start()
        await game._task
        return game

    game = in_a_loop(play())
    [episode] = game.episodes
    steps = len(episode["reward"])
    assert episode["obs"].shape == episode["next_obs"].shape == (steps, 4)
    assert (episode["action"] == 1).all()
    np.testing.assert_array_equal(episode["obs"][1:], episode["next_obs"][:-1])
    assert episode["terminated"].tolist() == [False] * (steps - 1) + [True]
    assert not episode["truncated"].any()
    assert f"step {steps}, return {steps}." in game._status.value
    assert "terminated" in game._status.value
    assert "the pole fell" in game._status.value


def test_truncation_is_explained_as_such_and_start_begins_anew(page, still):
    async def play():
        game = drive(gym.make("Pendulum-v1", render_mode="rgb_array", max_episode_steps=4))
        game._inputs[0].value = 1.5
        for _ in range(2):
            game.start()
            await game._task
        return game

    game = in_a_loop(play())
    assert len(game.episodes) == 2
    assert game.episodes[0]["action"].tolist() == [[1.5]] * 4
    assert game.episodes[0]["action"].dtype == np.float32
    assert (game.episodes[0]["obs"][0] != game.episodes[1]["obs"][0]).any()
    assert "truncated" in game._status.value
    assert "value is not 0" in game._status.value


def test_stop_pauses_start_goes_on_reset_throws_away(page, still):
    async def play():
        game = drive("Pendulum-v1")
        game._speed.value = "half speed"
        game.start()
        first = game._task
        game.start()  # a second press changes nothing
        assert game._task is first
        await asyncio.sleep(0.1)
        game.stop()
        steps = len(game._episode)
        game.start()  # at once: the first run has not noticed yet, and must not go on beside this
        await first
        await asyncio.sleep(0.1)
        game.stop()
        await game._task
        assert steps < len(game._episode) <= steps + 4  # half speed: a step each 1/15 s
        game.reset()
        assert game._episode == []
        assert game.episodes == []

    in_a_loop(play())


def test_one_game_at_a_time_and_a_rerun_stops_the_old_one(page, still):
    async def play():
        one, two = drive("Pendulum-v1"), drive("Pendulum-v1")
        one.start()
        await asyncio.sleep(0.03)
        two.start()
        await one._task
        assert not one._over
        third = drive("Pendulum-v1")  # the cell is run again
        await two._task
        assert not two._over
        assert third._task is None

    in_a_loop(play())


def test_an_error_while_driving_is_shown(page, still, monkeypatch):
    async def play():
        game = drive("CartPole-v1")
        monkeypatch.setattr(game, "_step", lambda draw_every: 1 / 0)
        game.start()
        await game._task
        return game._status.value

    assert in_a_loop(play()) == "ZeroDivisionError: division by zero"
    assert Drive._playing is None


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
    assert [(s.min, s.max, s.value) for s in game._inputs] == [(-1, 1, 0), (0, 5, 2.5)]
    np.testing.assert_array_equal(game._action(), np.float32([0, 2.5]))


def test_drive_refuses_spaces_without_ends(page, still):
    env = gym.make("Pendulum-v1", render_mode="rgb_array")
    env.unwrapped.action_space = gym.spaces.Box(-np.inf, np.inf, (1,))
    with pytest.raises(ValueError, match="bounded"):
        drive(env)
