"""The figures of lesson 05: long trainings, frames, losses, early stopping."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from helpers.show.figures.practice_early_stop import (
    CURVES,
    EPOCHS,
    early_stop,
    plot_early_stop,
    standard_noise,
    true_loss,
)
from helpers.show.figures.practice_frames import plot_frames
from helpers.show.figures.practice_long_training import plot_robot, plot_trainings
from helpers.show.figures.practice_losses import plot_losses
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
        "best: 2,346", "B in the same paper\n3,098", "the bar: 4,000", "A\n4,683 ± 540",
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
    fig = plot_robot(training(means))
    assert sentence(fig).startswith(expected)
    apart(fig)


def test_long_trainings_keep_their_texts_apart():
    rng = np.random.default_rng(1)
    means = 4600 * (1 - np.exp(-np.arange(1, 201) / 60)) + rng.normal(0, 300, 200)
    close = {f"number {i}, from a paper": (4000.0 + i, 10.0) for i in range(5)}
    for published, bar in ((None, None), (None, 4000), (PUBLISHED, None), (close, 4000)):
        apart(plot_robot(training(means.tolist()), published, bar))
        apart(plot_robot(training(means[::-1].tolist()), published, bar))


def test_trainings_are_drawn_over_those_of_others():
    ours, theirs = {"seed 0": [1.0, 5.0], "seed 1": [2.0, 3.0]}, [[0.0, 9.0], [4.0, 4.0]]
    [ax] = plot_trainings(ours, [5, 10], ("another library", theirs, [7, 12])).axes
    curves = [line.get_xydata().tolist() for line in ax.lines[:4]]
    assert curves == [
        [[7, 0], [12, 9]], [[7, 4], [12, 4]], [[5, 1], [10, 5]], [[5, 2], [10, 3]],
    ]  # fmt: skip
    assert len({line.get_color() for line in ax.lines[:4]}) == 3, "the others have one colour"
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [*ours, "another library"]


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


# --- Training and validation ------------------------------------------------------------------


def test_losses_and_the_epoch_that_is_kept():
    train, validation = [1.0, 0.4, 0.1, 0.02], [1.1, 0.5, 0.3, 0.36]
    fig = plot_losses(train, validation, 2)
    [ax] = fig.axes
    first, second, kept, ring = ax.lines
    np.testing.assert_allclose(first.get_xydata(), np.column_stack([[0, 1, 2, 3], train]))
    np.testing.assert_allclose(second.get_xydata(), np.column_stack([[0, 1, 2, 3], validation]))
    assert set(kept.get_xdata()) == {2}
    assert ring.get_xydata().tolist() == [[2, 0.3]]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "training", "validation", "kept: epoch 2",
    ]  # fmt: skip
    assert sentence(fig).replace("\n", " ") == (
        "The validation loss is lowest after epoch 2: 0.3. At the end, after epoch 3, it is 0.36, "
        "18 times the training loss of 0.02."
    )
    assert ax.get_yscale() == "log"
    apart(fig)


def test_losses_that_differ_little_or_are_0_have_an_axis_from_0_on():
    for train, told in (([3.0, 2.0, 1.0], "1.5 times the training loss of 1."),
                        ([3.0, 1.0, 0.0], "beside the training loss of 0.")):  # fmt: skip
        fig = plot_losses(train, [2.5, 2.0, 1.5], 1)
        [ax] = fig.axes
        assert (ax.get_yscale(), ax.get_ylim()[0]) == ("linear", 0)
        said = sentence(fig).replace("\n", " ")
        assert said.startswith("The validation loss is lowest after epoch 2: 1.5 (kept is epoch 1")
        assert said.endswith(told)
        apart(fig)


def test_losses_of_any_size_keep_their_texts_apart():
    epochs = np.arange(60)
    for scale, (span, n) in itertools.product(
        (1e-4, 1.0, 500.0), ((2.0, 60), (5.0, 60), (12.0, 60), (12.0, 5))
    ):
        train = scale * np.exp(-span * epochs / 60)[:n]
        apart(plot_losses(train, 1.3 * train, 0))
    apart(plot_losses([500.0], [650.0], 0))


# --- Early stopping ---------------------------------------------------------------------------


def stop_by_hand(curve, patience: int) -> tuple[int, int]:
    best = waited = 0
    for epoch in range(1, len(curve)):
        waited += 1
        if curve[epoch] < curve[best]:
            best, waited = epoch, 0
        if waited == patience:
            return epoch, best
    return len(curve) - 1, best


@pytest.mark.parametrize("patience", [1, 2, 5, 20])
def test_training_stops_as_in_a_loop(patience):
    rng = np.random.default_rng(0)
    curves = true_loss() + rng.normal(0, 0.05, (60, EPOCHS))
    curves[30:] = curves[30:].round(1)  # equal losses are no improvement
    stops, kept = early_stop(curves, patience)
    for curve, stop, best in zip(curves, stops, kept, strict=True):
        assert (stop, best) == stop_by_hand(curve, patience)


def test_the_picture_of_an_early_stop():
    fig = plot_early_stop(4, 0.04, 2)
    left, right = fig.axes
    marks = {line.get_label(): line for line in left.lines}
    rest, trained = left.lines[1], marks["measured"]
    stop, kept = stop_by_hand(np.r_[trained.get_ydata(), rest.get_ydata()[1:]], 4)
    assert len(trained.get_xdata()) == stop + 1
    assert marks["stop"].get_xdata() == [stop + 1]
    assert marks["kept"].get_xdata() == [kept + 1]
    assert marks["kept"].get_ydata() == [trained.get_ydata()[kept]]
    truth = true_loss()
    np.testing.assert_allclose(marks["true loss, lowest at ▲"].get_ydata(), truth)
    assert left.lines[-1].get_xdata() == [truth.argmin() + 1]
    assert 20 < truth.argmin() < 60
    first, second = sentence(fig).split("\n")
    worse = truth[kept] - truth.min()
    told = f"whose true loss is {worse:.3f} above the lowest."
    assert first == f"Patience 4: stops after epoch {stop + 1}, keeps epoch {kept + 1}, {told}"
    curve, now = right.lines
    assert curve.get_xydata().shape == (20, 2)
    np.testing.assert_allclose(now.get_xydata(), curve.get_xydata()[3:4])
    mean, above = now.get_xydata()[0]
    told = f"on average: {mean:.0f} epochs, {above:.3f} above it."
    assert second == f"Over {CURVES} such trainings, {told}"


def test_the_means_are_those_of_the_trainings_that_can_be_seen():
    """Each seed of the left panel is one of the trainings of the right one."""
    truth, trained = true_loss(), []
    for seed in range(CURVES):
        left = plot_early_stop(3, 0.05, seed).axes[0] if seed < 5 else None
        if left is not None:
            marks = {line.get_label(): line.get_xdata()[0] for line in left.lines}
            trained.append((marks["stop"], truth[int(marks["kept"]) - 1] - truth.min()))
    curves = truth + 0.05 * standard_noise()
    stops, kept = early_stop(curves, 3)
    np.testing.assert_allclose(trained, np.c_[stops + 1, truth[kept] - truth.min()][:5])
    shown = plot_early_stop(3, 0.05).axes[1].lines[1].get_xydata()[0]
    np.testing.assert_allclose(shown, [stops.mean() + 1, (truth[kept] - truth.min()).mean()])
