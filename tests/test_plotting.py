"""Figures, progress bars and live curves."""

from __future__ import annotations

import base64
import io
import re
import signal
import subprocess
import sys
from collections import defaultdict

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from PIL import Image

from helpers.show import plotting
from helpers.show.colours import BLUE, GREEN, ORANGE, VERMILLION
from helpers.show.figures import discount_explorer
from helpers.show.notebook import ProgressBar
from helpers.show.plotting import (
    WINDOW,
    LiveCurves,
    band,
    label,
    legend_above,
    margins,
    new_figure,
    quick_png,
    show,
    small_png,
    to_image,
)
from helpers.show.trying import plot_tries
from helpers.training.statistics import interquartile_mean

pytest_plugins = ("tests.fakes",)


class Agent:
    """Keeps the callback's contract; an episode of `length` steps earns its number."""

    def __init__(self, length: int = 10) -> None:
        self.steps, self.length = 0, length
        self.history = defaultdict(list)

    def learn(self, total_steps: int, callback, fail_at: int | None = None) -> Agent:
        callback.start(self, total_steps)
        try:
            for _ in range(total_steps):
                self.steps += 1
                if self.steps == fail_at:
                    raise KeyboardInterrupt
                self.history["critic_loss"].append((self.steps, 1 / self.steps))
                if self.steps % self.length == 0:
                    self.history["return"].append((self.steps, self.steps / self.length))
                callback(self)
        finally:
            callback.stop(self)
        return self


@pytest.fixture
def clock(monkeypatch):
    """A clock that only tests move."""

    class Clock:
        now = 100.0

    for module in ("helpers.show.plotting", "helpers.show.notebook"):
        monkeypatch.setattr(f"{module}.time.perf_counter", lambda: Clock.now)
    return Clock


def image(png: bytes | str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(png) if isinstance(png, str) else png))


# --- Figures ----------------------------------------------------------------------------------


def test_png_is_sharp_white_and_of_the_size_asked_for():
    fig, ax = new_figure(width=4, height=2)
    label(ax, "title", "x", "y")
    picture = image(quick_png(to_image(fig, scale=2)))
    assert picture.size == (800, 400)
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    pixels, drawn = (np.asarray(each.convert("RGB")) for each in (picture, to_image(fig, scale=2)))
    np.testing.assert_array_equal(pixels[2:-2, 20:-20], drawn[2:-2, 20:-20])  # within the frame
    assert fig.dpi == 100, "rendering must not change the figure"


def test_a_picture_that_stays_keeps_the_colours_of_small_marks():
    fig, ax = new_figure()
    for i, alpha in enumerate(np.linspace(0.1, 1, 9)):  # many blues
        ax.fill_between([0, 9 - i], i, 9, color=BLUE, alpha=alpha)
    for x, colour in enumerate((ORANGE, VERMILLION, GREEN)):
        ax.plot(x, 1, "o", ms=3, color=colour)
    drawn = to_image(fig)
    kept = image(small_png(drawn)).convert("RGB")
    pixels, drawn = (np.asarray(each, dtype=int)[2:-2, 20:-20] for each in (kept, drawn))
    assert abs(pixels - drawn).max() < 24


def test_the_theme_changes_no_global_setting():
    before = dict(mpl.rcParams)
    fig, axes = new_figure(2, layout=None)
    margins(fig)
    axes[0].plot([0, 20_000], [1, 2], label="line")
    legend_above(label(axes[0], "t", "environment steps", "y"))
    to_image(fig)
    assert dict(mpl.rcParams) == before
    assert "20k" in [t.get_text() for t in axes[0].get_xticklabels()]


def test_helpers_do_without_pyplot():
    code = (
        "import sys, helpers.show.plotting, helpers.show.video, helpers.show.figures.discount;"
        "helpers.show.figures.discount.plot_discount();"
        "print([m for m in ('matplotlib.pyplot', 'ipywidgets', 'IPython') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_without_a_kernel_nothing_is_shown(capsys):
    show(new_figure()[0])
    discount_explorer()
    Agent().learn(100, LiveCurves(bar=3))
    assert capsys.readouterr() == ("", "")


def test_show_displays_one_picture_with_a_text_or_what_stands_in_it(page):
    fig, _ = new_figure(width=4, height=2)
    assert show(fig, alt="An empty panel.") is None
    [[bundle]] = page.outputs
    assert bundle["text/plain"] == "An empty panel."
    assert image(bundle["image/png"]).size == (600, 300)
    assert page.metadata == [[{"image/png": {"alt": "An empty panel.", "width": 400}}]]
    fig, (left, right) = new_figure(2)
    fig.suptitle("Both rise.\nAt last.")
    label(left, "one", "steps", "return")
    label(right, x="seconds")
    show(fig)
    said = page.outputs[-1][0]["text/plain"]
    assert said == "A figure: Both rise. At last.; one; return over steps; seconds."


def test_band_draws_the_interquartile_mean_and_refuses_transposed_curves():
    _, ax = new_figure()
    ys = np.random.default_rng(0).normal(size=(9, 20))
    band(ax, np.arange(20), ys, "nine seeds")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), interquartile_mean(ys))
    assert len(ax.collections) == 1
    with pytest.raises(ValueError, match=r"\(seeds, 20 points\)"):
        band(ax, np.arange(20), np.zeros((20, 9)))


# --- Progress ---------------------------------------------------------------------------------


def bar_value(bundle: dict) -> float:
    value, most = re.search(r'value="(\d+)" max="(\d+)"', bundle["text/html"]).groups()
    return int(value) / int(most)


def test_progress_bar_tells_speed_and_time_left(page, clock):
    bar = ProgressBar(1000)
    clock.now += 10
    bar.update(200, "average return 7")
    clock.now += 0.1
    bar.update(201)  # too soon: not shown
    text = page.outputs[0][-1]["text/plain"]
    assert text == "20 % · 200 / 1,000 steps · 20 steps/s · 0:10, 0:40 left · average return 7"
    assert len(page.outputs[0]) == 2


# --- Live curves ------------------------------------------------------------------------------


def test_live_curves_end_with_a_picture_and_100_percent(page):
    curves = LiveCurves(bar=9, keys=("return", "critic_loss"))
    Agent().learn(300, curves)
    [pictures], [bars] = page.of("image/png"), page.of("text/html")
    assert bar_value(bars[-1]) == 1
    assert "average return 15.5" in bars[-1]["text/plain"]  # episodes 1 to 30
    assert pictures[-1]["text/plain"] == "Learning curves after 300 steps: average return 15.5."
    assert image(pictures[-1]["image/png"]).width == 1140
    sizes = {image(p["image/png"]).width / image(p["image/png"]).height for p in pictures}
    assert len(sizes) == 1, "the picture must keep its shape, or the page jumps"


def test_a_curve_of_something_that_nobody_writes_down_is_said(page):
    with pytest.warns(UserWarning, match="has no retrun, only critic_loss, return"):
        Agent().learn(100, callback=LiveCurves(keys=("return", "retrun")))


def test_live_curves_draw_dots_moving_average_and_bar(page):
    for more, average, title in (({}, np.mean(np.arange(121 - WINDOW, 121)), WINDOW),
                                 ({"window": 3}, 119, 3)):  # fmt: skip
        curves = LiveCurves(bar=9, **more)
        Agent(length=1).learn(120, curves)
        [panel] = curves.figure.panels
        np.testing.assert_array_equal(panel.dots.get_xydata()[:, 1], np.arange(1, 121))
        assert panel.line.get_ydata()[-1] == pytest.approx(average)
        texts = [t.get_text() for t in panel.ax.get_legend().get_texts()]
        assert texts == ["episode", f"mean of last {title}", "threshold: 9"]
    with pytest.raises(ValueError, match="window is a number of episodes"):
        LiveCurves(window=0)


def test_learning_on_continues_the_curves_and_another_agent_starts_new_ones(page):
    curves, agent = LiveCurves(), Agent()
    agent.learn(100, curves)
    page.cell = 2
    agent.learn(200, curves)
    assert len(page.of("image/png")) == 2
    assert curves.figure.panels[0].line.get_xdata()[-1] == 300
    assert page.of("text/html")[1][-1]["text/plain"].startswith("100 % · 200 / 200 steps")
    with pytest.raises(KeyboardInterrupt):
        Agent().learn(100, curves, fail_at=43)
    assert len(page.outputs) == 4, "the same handles in the same cell"
    assert curves.figure.panels[0].line.get_xdata()[-1] < 50
    text = page.of("text/html")[1][-1]["text/plain"]
    assert text.startswith("stopped at 43 %; call learn again to go on · 43 / 100 steps")


class StopButton(Artist):
    """Presses the stop button in the middle of a picture."""

    drawn = 0

    def draw(self, renderer: object) -> None:
        signal.raise_signal(signal.SIGINT)
        self.drawn += 1


def draw_live(fig: Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    curves = LiveCurves()
    monkeypatch.setattr(plotting, "Figure", lambda **_: fig)
    Agent().learn(10, curves)


@pytest.mark.parametrize("draw", [lambda fig, _: to_image(fig), draw_live])
def test_the_stop_button_waits_for_the_picture(page, heard, monkeypatch, draw):
    fig, button = Figure(figsize=(6, 3)), StopButton()
    fig.add_artist(button)
    with pytest.raises(KeyboardInterrupt):
        draw(fig, monkeypatch)
    assert button.drawn == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_picture_comes_twice_a_second(page, clock):
    curves, agent = LiveCurves(), Agent()
    curves.start(agent, 1000)
    for _ in range(20_000):
        clock.now += 0.001
        curves(agent)
    assert len(page.of("image/png")[0]) == pytest.approx(40, abs=8)


def test_curves_over_kept_axes_look_as_if_all_were_drawn_anew(page, monkeypatch):
    curves, agent = LiveCurves(bar=9, keys=("return", "critic_loss")), Agent()
    curves.start(agent, 1000)
    figure, drawn = curves.figure, []
    draw = figure.fig.canvas.draw
    monkeypatch.setattr(figure.fig.canvas, "draw", lambda: (drawn.append(1), draw()))
    limits = []
    for returns in ([0, 10], [0, 10, 8], [0, 10, 8, 30], [0, 10, 8, 30, 29]):
        agent.history["return"] = list(enumerate(returns))
        figure.update(agent.history, 1000)
        kept = figure.png(1)
        limits.append(figure.panels[0].ax.get_ylim())
        figure.kept = (None, None)
        assert figure.png(1) == kept
    assert limits[0] == limits[1] != limits[2] == limits[3]
    assert len(drawn) == 2 + 4  # for two pairs of limits, and each once more for this test


@pytest.mark.parametrize(("spike", "top"), [(1.5, 1.5), (1000, 2)])
def test_peaks_are_shown_and_one_far_spike_does_not_flatten_the_rest(page, spike, top):
    curves, agent = LiveCurves(keys=("critic_loss",)), Agent()
    agent.history["critic_loss"] = list(enumerate([spike, *[0.0, 1.0] * 150]))
    curves.start(agent, 1000)
    curves.figure.update(agent.history, 1000)
    assert curves.figure.panels[0].limits() == pytest.approx((0, top))


def test_long_histories_are_thinned_and_odd_values_survive(page):
    curves, agent = LiveCurves(keys=("return", "critic_loss", "entropy")), Agent(length=1)
    curves.start(agent, 100_000)
    for key in ("return", "critic_loss"):
        agent.history[key] = [(i, float(i)) for i in range(1, 100_001)]
    agent.history["entropy"] = [(1, float("nan")), (2, float("inf"))]
    agent.steps = 100_000
    curves.stop(agent)
    episodes, updates, _ = curves.figure.panels
    steps, means = updates.line.get_data()
    np.testing.assert_allclose(means, steps - (steps[0] - 1) / 2)
    steps, means = episodes.line.get_data()
    assert len(steps) <= episodes.limit
    assert means[-1] == pytest.approx(np.mean(steps[-1] - np.arange(WINDOW)))


def test_tries_are_drawn_over_the_band_of_the_lessons_seeds():
    taught = {"steps": [10, 20], "returns": [[1.0, 2.0], [3.0, 4.0]]}
    fig = plot_tries("tau 0.05", [[(5, 0.0), (9, 2.0)], [(7, 8.0)]], taught, bar=5.0)
    ax = fig.axes[0]
    curves = {tuple(line.get_ydata()) for line in ax.lines}
    assert {(1.0,), (8.0,)} <= curves  # means of the episodes up to step 10
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as taught: 2 seeds, 95 % interval",
        "tau 0.05: 2 seeds",
    ]
