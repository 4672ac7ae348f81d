"""The figures of lesson 05 about seeds: imaginary studies."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from helpers.show.figures.practice_imaginary_studies import (
    IMAGINED,
    REPORTS,
    STUDIES,
    imaginary_studies,
    stored_scores,
)
from helpers.show.figures.practice_seeds import REPORT_COLOURS, plot_seeds
from helpers.training.results import load_results
from tests.figures import sentence

SPARSE = "ddpg_SparsePendulum-v0"


# --- How many seeds a claim needs -------------------------------------------------------------


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


@pytest.mark.parametrize("study", STUDIES.values())
def test_stored_scores_are_those_of_the_file(study):
    record = load_results(study)
    scores, bar = stored_scores(study)
    assert scores.tolist() == [row["mean"] for row in record["results"]]
    assert bar == record["settings"]["bar"]


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
    [bars] = left.patches
    heights, edges, _ = bars.get_data()
    np.testing.assert_allclose(edges[[0, -1]], [scores.min(), scores.max()])
    counts = np.histogram(reported, edges)[0]
    np.testing.assert_allclose(heights, counts / counts.max())
    [share] = [text.get_text() for text in left.texts]
    assert share == f"{counts.max() / 10:.0f} %"
    colour = REPORT_COLOURS[report]
    assert interval.get_color() == colour
    assert to_hex(bars.get_facecolor()).upper() == colour
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


def test_a_study_that_is_not_there_lists_those_that_are():
    with pytest.raises(FileNotFoundError, match="ddpg_SparsePendulum-v0"):
        plot_seeds("nothing")
