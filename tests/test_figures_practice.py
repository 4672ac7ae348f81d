"""The figures of lesson 05: a long training, frames, imaginary studies of several seeds."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.show.figures.practice_frames import plot_frames
from helpers.show.figures.practice_long_training import plot_robot
from helpers.show.figures.practice_seeds import (
    IMAGINED,
    REPORT_COLOURS,
    REPORTS,
    STUDIES,
    imaginary_studies,
    plot_seeds,
    stored_scores,
)
from helpers.show.plotting import to_image
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
    low, high = ax.get_ylim()
    assert low < min(min(r["returns"]) for r in record["curve"])
    assert high > 4683.4 + 540
    to_image(fig)
    assert "20k" in [text.get_text() for text in ax.get_xticklabels()]
    apart(fig)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([60.0, 2345.6, 1200.0], "Return after 15,000 steps: 1,200, the mean of 4 episodes; at "
         "best 2,346, after 10,000 steps.\nThis is one seed, and the best of 3 evaluations is"),
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


def test_frames_and_their_difference():
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (3, 64, 48), dtype=np.uint8)
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
    assert titles == ["t − 2", "t − 1", "t, the newest", "newest − oldest"]
    moved = int((kept[-1] != kept[0]).sum())
    assert sentence(fig).startswith(f"{moved:,} of 3,072 pixels differ between oldest and")
    apart(fig)


# --- How many seeds a claim needs -------------------------------------------------------------

SPARSE = "ddpg_SparsePendulum-v0"


def test_imaginary_studies_report_what_their_seeds_say():
    """Each of the scores is a power of 2, so that a mean says who was drawn."""
    scores = tuple(2.0 ** np.arange(8))
    studies = imaginary_studies(scores)
    assert {name: rows.shape for name, rows in studies.items()} == dict.fromkeys(
        REPORTS, (20, IMAGINED)
    )
    sums = studies["mean"] * np.arange(1, 21)[:, None]
    drawn = np.diff(sums, axis=0, prepend=0).round().T  # (studies, seeds), one more in each row
    assert set(drawn.ravel()) == set(scores)
    shares = [(drawn == score).mean() for score in scores]
    np.testing.assert_allclose(shares, 1 / 8, atol=0.01)
    for n in (1, 2, 5, 20):
        for name, report in REPORTS.items():
            expected = [report(study[:n], axis=0) for study in drawn[:50]]
            np.testing.assert_allclose(studies[name][n - 1, :50], expected)
    other = imaginary_studies(scores, 1)["mean"][0]
    assert (other != studies["mean"][0]).mean() > 0.8  # seven eighths, if independent
    with_replacement = [len(set(study[:8])) < 8 for study in drawn]
    assert np.mean(with_replacement) > 0.9


@pytest.mark.parametrize("report", REPORTS)
def test_dots_bars_range_and_mark_are_the_numbers(report):
    fig = plot_seeds(SPARSE, 4, report)
    left, right = fig.axes
    scores, bar = stored_scores(SPARSE)
    reported = imaginary_studies(tuple(scores))[report][3]
    dots, interval, mark, dashed = left.lines
    assert dots.get_xdata().tolist() == scores.tolist()
    low, high = interval.get_xdata()
    assert [low, high] == np.percentile(reported, [2.5, 97.5]).tolist()
    assert mark.get_xdata() == [REPORTS[report](scores)]
    assert set(dashed.get_xdata()) == {bar}
    colour = REPORT_COLOURS[report]
    assert interval.get_color() == colour
    curves = {line.get_label(): line for line in right.lines}
    assert curves[report].get_ydata()[3] == pytest.approx(high - low)
    assert curves[report].get_linewidth() == max(line.get_linewidth() for line in right.lines)
    assert right.lines[-1].get_xydata().tolist() == [[4, pytest.approx(high - low)]]
    for name, rows in imaginary_studies(tuple(scores)).items():
        widths = [np.ptp(np.percentile(row, [2.5, 97.5])) for row in rows]
        np.testing.assert_allclose(curves[name].get_ydata(), widths)
        assert curves[name].get_color() == REPORT_COLOURS[name]


@pytest.mark.parametrize("study", STUDIES.values())
def test_the_claims_of_studies_in_two_sentences(study):
    scores, bar = stored_scores(study)
    for seeds, report in zip((1, 3, 20, 3), REPORTS, strict=True):
        reported = imaginary_studies(tuple(scores))[report][seeds - 1]
        first, second = sentence(plot_seeds(study, seeds, report)).split("\n")
        assert first.startswith(f"With {seeds} seed{'s' * (seeds > 1)} the middle 95 % of studies")
        assert first.endswith(f"as the {report}.")
        low, high = (float(word.replace("−", "-")) for word in first.split() if word[-1].isdigit()
                     and word not in (str(seeds), "95"))  # fmt: skip
        near = 0.51 if np.ptp(scores) >= 20 else 0.051
        np.testing.assert_allclose([low, high], np.percentile(reported, [2.5, 97.5]), atol=near)
        assert second.startswith(f"{(reported >= bar).sum():,} of 1,000 would call")
        assert second.endswith(f"{(scores >= bar).sum()} of the {len(scores)} seeds do solve it.")
