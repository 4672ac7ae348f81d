"""The figures of lesson 05: a long training, frames."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from helpers.show.figures.practice_frames import plot_frames
from helpers.show.figures.practice_long_training import plot_robot
from helpers.show.plotting import to_png
from tests.figures import apart, sentence

# --- A long training --------------------------------------------------------------------------

PUBLISHED = {"A": (4683.4, 540.0), "B in the same paper": (3098.0, None), "C": (4703.0, 33.0)}


def training(means: list[float], every: int = 5000) -> dict:
    rng = np.random.default_rng(0)
    rows = []
    for i, mean in enumerate(means):
        returns = mean + np.array([-1.0, 1.0, *rng.uniform(-1, 1, 2)]) * (100 + i)
        returns += mean - returns.mean()
        rows.append({"step": every * (i + 1), "mean": mean, "returns": returns.tolist()})
    return {"steps": every * len(rows), "curve": rows}


def test_a_training_is_drawn_with_its_best_and_its_spread():
    record = training([60.0, 500.0, 2345.6, 1200.0])
    fig = plot_robot(record, PUBLISHED, 4000)
    [ax] = fig.axes
    curve, best = ax.lines[:2]
    assert curve.get_xydata().tolist() == [[r["step"], r["mean"]] for r in record["curve"]]
    assert best.get_xydata().tolist() == [[15_000, 2345.6]]
    edges = ax.collections[0].get_paths()[0].vertices
    for row in record["curve"]:
        ys = edges[edges[:, 0] == row["step"], 1]
        assert (ys.min(), ys.max()) == (min(row["returns"]), max(row["returns"]))
    assert [text.get_text() for text in ax.texts] == [
        "best: 2,346", "B in the same paper\n3,098", "threshold: 4,000", "A\n4,683 ± 540",
        "C\n4,703 ± 33",
    ]  # fmt: skip
    assert any(set(line.get_ydata()) == {4000} and line.get_xdata() == [0, 1] for line in ax.lines)
    spreads = [
        list(line.get_ydata()) for line in ax.lines if list(line.get_xdata()) == [1.02, 1.02]
    ]
    assert spreads == [[4683.4 - 540, 4683.4 + 540], [4670, 4736]]
    marks = [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [1.005, 1.035]]
    assert marks == [3098, 4683.4, 4703]
    low, high = ax.get_ylim()
    assert low < min(min(r["returns"]) for r in record["curve"])
    assert high > 4683.4 + 540
    to_png(fig, scale=1)
    assert "20k" in [text.get_text() for text in ax.get_xticklabels()]
    apart(fig)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([60.0, 2345.6, 1200.0], "Return after 15,000 steps: 1,200, the mean of 4 episodes; at "
         "best 2,346, after 10,000 steps.\nThis is one seed, and the best of 3 evaluations is"),
        ([60.0, 1200.0], "Return after 10,000 steps: 1,200, the mean of 4 episodes, the best "
         "evaluation so far.\nThis is one seed, and the best of 2"),
        ([-5.0, -40.0], "Return after 10,000 steps: −40, the mean of 4 episodes; at best −5, aft"),
    ],
)  # fmt: skip
def test_a_training_in_a_sentence(means, expected):
    fig = plot_robot(training(means), PUBLISHED, 4000)
    assert sentence(fig).startswith(expected)
    apart(fig)


def test_long_trainings_keep_their_texts_apart():
    rng = np.random.default_rng(1)
    means = 4600 * (1 - np.exp(-np.arange(1, 201) / 60)) + rng.normal(0, 300, 200)
    close = {f"number {i}, from a paper": (4000.0 + i, 10.0) for i in range(5)}
    for published in (PUBLISHED, close):
        apart(plot_robot(training(means.tolist()), published, 4000))
        apart(plot_robot(training(means[::-1].tolist()), published, 4000))


# --- What a pixel agent sees ------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("size", [(64, 64), (84, 84), (30, 48)])
def test_frames_and_their_difference(k, size):
    rng = np.random.default_rng(k)
    frames = rng.integers(0, 256, (k, *size), dtype=np.uint8)
    frames[-1, :10] = frames[0, :10]
    frames[0, 20, 20], frames[-1, 20, 20] = 250, 5  # what uint8 would call +11
    kept = frames.copy()
    fig = plot_frames(frames)
    *shown, change = (ax.images[0] for ax in fig.axes)
    np.testing.assert_array_equal([image.get_array() for image in shown], kept)
    np.testing.assert_array_equal(frames, kept)
    assert all(image.get_clim() == (0, 255) for image in shown)
    np.testing.assert_array_equal(change.get_array(), kept[-1].astype(float) - kept[0])
    assert change.get_array()[20, 20] == -245
    assert change.get_clim() == (-255, 255)
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    older = ["t − 3", "t − 2", "t − 1"][4 - k :]
    assert titles == [*older, "t, the newest", "newest − oldest"]
    moved = int((kept[-1] != kept[0]).sum())
    assert sentence(fig).startswith(
        f"{moved:,} of {size[0] * size[1]:,} pixels differ between oldest and"
    )
    apart(fig)


def test_darker_and_brighter_have_the_colours_of_the_difference():
    frames = np.full((2, 8, 8), 128, np.uint8)
    frames[1, 0, 0], frames[1, 0, 1] = 0, 255
    ax = plot_frames(frames).axes[-1]
    colours = {text.get_text(): np.array(to_rgba(text.get_color())) for text in ax.texts}
    drawn = ax.images[0].cmap(ax.images[0].norm(ax.images[0].get_array()))
    for name, pixel in (("darker", drawn[0, 0]), ("brighter", drawn[0, 1])):
        nearest = min(colours, key=lambda each: np.abs(colours[each] - pixel).sum())
        assert nearest == name
    np.testing.assert_allclose(drawn[4, 4], 1, atol=0.01)
