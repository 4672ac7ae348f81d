"""The figures of lesson 05: numbers behind them, fixed axes, text that stays apart, bundles."""

from __future__ import annotations

import base64
import itertools

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from helpers.show.figures import explore as widgets
from helpers.show.figures import practice as widgets_practice
from helpers.show.figures.practice import (
    CURVES,
    EPOCHS,
    IMAGINED,
    PAIRS,
    REPORT_COLOURS,
    REPORTS,
    STUDIES,
    early_stop,
    imaginary_studies,
    plot_early_stop,
    plot_frames,
    plot_losses,
    plot_robot,
    plot_seeds,
    plot_side_by_side,
    plot_winner,
    spread_out,
    stored_scores,
    true_loss,
)
from helpers.show.plotting import BLUE, VERMILLION, to_png
from helpers.training.results import load_results
from helpers.training.statistics import bootstrap_interval, interquartile_mean
from tests.test_widgets_ddpg import VIEW, sentence
from tests.test_widgets_td3 import apart

pytest_plugins = ("tests.fakes",)

EXPLORERS = {
    plot_seeds: widgets_practice.seeds_explorer,
    plot_winner: widgets_practice.winner_explorer,
    plot_early_stop: widgets_practice.early_stop_explorer,
}

# The ends of all sliders, and what lies between where sentences change.
SETTINGS = {
    plot_seeds: {"seeds": (1, 3, 7, 20), "report": tuple(REPORTS)},
    plot_winner: {"seeds": (1, 3, 10, 20), "report": tuple(REPORTS)},
    plot_early_stop: {"patience": (1, 5, 20), "noise": (0, 0.005, 0.03, 0.06), "seed": (0, 3, 20)},
}
# Axes differ from one study to another, and stay while the other two move.
FIXED = {
    plot_seeds: [{"study": study} for study in STUDIES.values()],
    plot_winner: [{"pair": pair} for pair in PAIRS.values()],
    plot_early_stop: [{}],
}
CASES = [(plot, fixed) for plot, each in FIXED.items() for fixed in each]
SPARSE = "ddpg_SparsePendulum-v0"


def figures(plot, fixed: dict, sample: int):
    """Figures at that many of all combinations of settings."""
    names, values = zip(*SETTINGS[plot].items(), strict=True)
    combinations = list(itertools.product(*values))
    if sample < len(combinations):
        rng = np.random.default_rng(0)
        combinations = [combinations[i] for i in rng.choice(len(combinations), sample, False)]
    for combination in combinations:
        yield plot(**fixed, **dict(zip(names, combination, strict=True)))


# --- All of them ------------------------------------------------------------------------------


@pytest.fixture
def views(monkeypatch) -> list:
    """The widgets that were put on the page."""
    shown, view = [], widgets.view

    def remember(widget):
        shown.append(widget)
        return view(widget)

    monkeypatch.setattr(widgets, "view", remember)
    return shown


@pytest.mark.parametrize("show", EXPLORERS.values())
def test_explorers_are_bundles_and_move_to_every_end(show, page, views):
    show()
    [[bundle]] = page.outputs
    assert set(bundle) == {VIEW, "image/png", "text/plain"}
    assert len(bundle["text/plain"]) > 20
    row, image, problem = views[0].children
    assert base64.b64decode(bundle["image/png"]) == image.value
    for widget in row.children:
        pictures = {image.value}
        if isinstance(widget, ipywidgets.Dropdown):
            values = [o[1] if isinstance(o, tuple) else o for o in widget.options]
        else:
            values = (widget.min, widget.max)
        for value in values:
            widget.value = value
            assert problem.value == ""
            pictures.add(image.value)
        assert len(pictures) > 1
    assert plt.get_fignums() == []


@pytest.mark.parametrize("show", EXPLORERS.values())
def test_without_a_kernel_nothing_is_shown(show, capsys):
    assert show() is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("plot", EXPLORERS)
def test_the_explorer_begins_with_the_picture_of_the_function(plot, monkeypatch):
    """Readers without widgets who call the function see what the others see first."""
    seen = []
    monkeypatch.setattr(
        widgets_practice, "explore", lambda draw, alt, **controls: seen.append((draw, controls))
    )
    EXPLORERS[plot]()
    [(draw, controls)] = seen
    first = draw(**{name: control.default for name, control in controls.items()})
    assert to_png(first, scale=1) == to_png(plot(), scale=1)


@pytest.mark.parametrize(("plot", "fixed"), CASES)
def test_axes_stay_where_they_are_while_sliding(plot, fixed):
    seen = set()
    for fig in figures(plot, fixed, 6):
        limits = [(*ax.get_position().bounds, *ax.get_xlim(), *ax.get_ylim()) for ax in fig.axes]
        seen.add((*fig.get_size_inches(), *np.round(np.ravel(limits), 9)))
    assert len(seen) == 1


@pytest.mark.parametrize(("plot", "fixed"), CASES)
def test_no_text_leaves_the_figure_or_touches_another(plot, fixed):
    for fig in figures(plot, fixed, 18 if plot is plot_early_stop else 8):
        apart(fig)


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


def test_reports_of_the_same_results_are_equal_in_any_order():
    """Without rounding 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    means = imaginary_studies((0.1, 0.2, 0.3))["mean"][2]
    assert len(np.unique(means)) == 7  # of 3 seeds: sums from 0.3 to 0.9


def test_the_range_with_all_seeds_is_the_bootstrap_interval():
    scores, _, _ = stored_scores("bc_SparsePendulum-v0")
    studies = imaginary_studies(tuple(scores))["mean"][19]
    expected = bootstrap_interval(scores, np.mean, resamples=20_000)
    np.testing.assert_allclose(np.percentile(studies, [2.5, 97.5]), expected, atol=2.5)


@pytest.mark.parametrize("study", STUDIES.values())
def test_stored_scores_are_those_of_the_file(study):
    record = load_results(study)
    scores, bar, name = stored_scores(study)
    assert scores.tolist() == [row["mean"] for row in record["results"]]
    assert bar == record["settings"]["bar"]
    assert name in next(label for label, file in STUDIES.items() if file == study)


@pytest.mark.parametrize("report", REPORTS)
def test_dots_bars_range_and_mark_are_the_numbers(report):
    fig = plot_seeds(SPARSE, 4, report)
    left, right = fig.axes
    scores, bar, _ = stored_scores(SPARSE)
    reported = imaginary_studies(tuple(scores))[report][3]
    dots, interval, mark, dashed = left.lines
    assert dots.get_xdata().tolist() == scores.tolist()
    low, high = interval.get_xdata()
    assert [low, high] == np.percentile(reported, [2.5, 97.5]).tolist()
    assert mark.get_xdata() == [REPORTS[report](scores)]
    assert set(dashed.get_xdata()) == {bar}
    heights = np.array([bar.get_height() for bar in left.patches])
    edges = np.linspace(scores.min(), scores.max(), len(heights) + 1)
    counts = np.histogram(reported, edges)[0]
    np.testing.assert_allclose(heights, counts / counts.max())
    middles = [patch.get_x() + patch.get_width() / 2 for patch in left.patches]
    np.testing.assert_allclose(middles, (edges[1:] + edges[:-1]) / 2)
    [share] = [text.get_text() for text in left.texts]
    assert share == f"{counts.max() / 10:.0f} %"
    colour = REPORT_COLOURS[report]
    assert interval.get_color() == colour
    assert {to_hex(patch.get_facecolor()).upper() for patch in left.patches} == {colour}
    curves = {line.get_label(): line for line in right.lines}
    assert curves[report].get_ydata()[3] == pytest.approx(high - low)
    assert curves[report].get_linewidth() == max(line.get_linewidth() for line in right.lines)
    assert right.lines[-1].get_xydata().tolist() == [[4, pytest.approx(high - low)]]
    for name, rows in imaginary_studies(tuple(scores)).items():
        widths = [np.ptp(np.percentile(row, [2.5, 97.5])) for row in rows]
        np.testing.assert_allclose(curves[name].get_ydata(), widths)
        assert curves[name].get_color() == REPORT_COLOURS[name]


@pytest.mark.parametrize(("plot", "fixed"), [case for case in CASES if case[0] is plot_seeds])
def test_the_claims_of_studies_in_two_sentences(plot, fixed):
    scores, bar, _ = stored_scores(fixed["study"])
    for seeds, report in itertools.product((1, 3, 20), REPORTS):
        reported = imaginary_studies(tuple(scores))[report][seeds - 1]
        first, second = sentence(plot(**fixed, seeds=seeds, report=report)).split("\n")
        assert first.startswith(f"With {seeds} seed{'s' * (seeds > 1)} the middle 95 % of studies")
        assert first.endswith(f"as the {report}.")
        low, high = (float(word.replace("−", "-")) for word in first.split() if word[-1].isdigit()
                     and word not in (str(seeds), "95"))  # fmt: skip
        near = 0.51 if np.ptp(scores) >= 20 else 0.051
        np.testing.assert_allclose([low, high], np.percentile(reported, [2.5, 97.5]), atol=near)
        assert second.startswith(f"{(reported >= bar).sum():,} of 1,000 would call")
        assert second.endswith(f"{(scores >= bar).sum()} of the {len(scores)} seeds do solve it.")


def test_what_students_should_see_of_seeds():
    scores, bar, _ = stored_scores(SPARSE)
    solved = {
        name: (rows >= bar).mean(axis=1) for name, rows in imaginary_studies(tuple(scores)).items()
    }
    assert (np.diff(solved["best"]) >= 0).all()
    assert solved["best"][2] == pytest.approx(1 - 0.9**3, abs=0.04)  # two seeds of twenty solve it
    assert solved["best"][19] > 0.8
    assert solved["mean"][4:].max() < 0.01
    legend = [text.get_text() for text in plot_seeds(SPARSE).axes[0].get_legend().get_texts()]
    assert legend == ["middle 95 %", "all seeds: 16", "bar"]
    far = plot_seeds("td3_Pendulum-v1").axes[0].get_legend().get_texts()
    assert [text.get_text() for text in far][2:] == []  # -200 is far from all of its results


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seeds": 0}, "seeds must lie between 1 and 20, not 0"),
        ({"seeds": 21}, "seeds must lie between 1 and 20, not 21"),
        ({"report": "worst"}, "one of best, mean, median, interquartile mean, not 'worst'"),
    ],
)
def test_seeds_and_winner_refuse(settings, message):
    for plot in (plot_seeds, plot_winner):
        with pytest.raises(ValueError, match=message):
            plot(**settings)


def test_what_is_no_study_is_refused():
    with pytest.raises(FileNotFoundError, match="ddpg_SparsePendulum-v0"):
        plot_seeds("nothing")
    for name in ("01_break_it", "03_beside_sb3"):
        with pytest.raises(ValueError, match=f"{name} holds no study: choose"):
            plot_seeds(name)


# --- The wrong winner -------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS.values())
def test_the_wrong_winner_is_counted(pair):
    studies = sorted((stored_scores(name) for name in pair), key=lambda study: study[0].mean())
    (worse, _, loser), (better, _, winner) = studies
    assert (
        load_results(pair[0])["settings"]["env_id"] == load_results(pair[1])["settings"]["env_id"]
    )
    first, second = imaginary_studies(tuple(worse), 0), imaginary_studies(tuple(better), 1)
    for report in REPORTS:
        fig = plot_winner(pair, 6, report)
        left, right = fig.axes
        wrong = (first[report] > second[report]).mean(axis=1)
        curves = {line.get_label(): line.get_ydata() for line in right.lines}
        np.testing.assert_allclose(curves[report], 100 * wrong)
        assert right.lines[-1].get_xydata().tolist() == [[6, curves[report][5]]]
        heights = np.array([patch.get_height() for patch in left.patches])
        red = [to_hex(patch.get_facecolor()).upper() == VERMILLION for patch in left.patches]
        assert [p.get_x() + p.get_width() / 2 < 0 for p in left.patches] == red
        assert heights[red].sum() / heights.sum() == pytest.approx(wrong[5])
        line, second_line = sentence(fig).split("\n")
        count = round(1000 * wrong[5])
        said = f"{loser}'s {report} is above {winner}'s in {count:,} of 1,000 comparisons."
        assert line == f"With 6 seeds each, {said}"
        assert second_line.startswith(f"Over all 20 seeds {loser} is the worse one: ")
        one, other = second_line.split(": ")[1].split(f" on average, {winner} ")
        one, other = (float(text.rstrip(".").replace("−", "-")) for text in (one, other))
        assert one < other
    assert sentence(plot_winner(pair[::-1], 6, report)) == sentence(fig)


def test_comparisons_that_end_equal_have_no_winner(monkeypatch):
    """Whoever is compared with itself, drawn in the same way, is never ahead."""
    drawn = widgets_practice.imaginary_studies
    monkeypatch.setattr(widgets_practice, "imaginary_studies", lambda s, seed=0: drawn(s))
    fig = plot_winner((SPARSE, SPARSE), 3)
    assert "in 0 of 1,000" in sentence(fig)
    [patch] = [p for p in fig.axes[0].patches if p.get_height()]
    assert to_hex(patch.get_facecolor()).upper() == BLUE
    apart(fig)


def test_what_students_should_see_of_winners():
    curves = {line.get_label(): line.get_ydata() for line in plot_winner().axes[1].lines}
    assert curves["best"][19] > 60 > 30 > curves["best"][2]  # more seeds, more often wrong
    assert max(curves[name][9] for name in ("mean", "median", "interquartile mean")) < 4
    close = plot_winner(PAIRS["DDPG, TD3: Pendulum"]).axes[1].lines
    assert all(45 < share < 55 for share in close[3].get_ydata())
    assert close[3].get_label() == "mean"


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
    for published in (None, PUBLISHED, close):
        for bar in (None, 4000):
            apart(plot_robot(training(means.tolist()), published, bar))
            apart(plot_robot(training(means[::-1].tolist()), published, bar))


def test_trainings_refuse():
    with pytest.raises(ValueError, match="There is no evaluation yet"):
        plot_robot({"curve": []})
    many = {str(i): (1.0, None) for i in range(6)}
    with pytest.raises(ValueError, match="5 returns at most, not 6"):
        plot_robot(training([1.0]), many)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], []),
        ([0, 5, 10], [0, 5, 10]),
        ([0, 1], [-1, 2]),
        ([0, 0, 0], [-3, 0, 3]),
        ([0, 1, 10, 10], [-1, 2, 8.5, 11.5]),
        ([0, 3.5, 4], [-0.5, 2.5, 5.5]),
    ],
)
def test_labels_move_as_little_as_they_must(places, expected):
    np.testing.assert_allclose(spread_out(places, 3), expected)


# --- Beside another library -------------------------------------------------------------------


def beside(seconds: dict[str, list[float]]) -> dict:
    rng = np.random.default_rng(0)
    steps = np.arange(1000, 6001, 1000)
    rows = [
        {"learner": name, "seed": i, "seconds": s,
         "returns": (-1200 * np.exp(-steps / 1500) - 110 + rng.normal(0, 5, 6)).tolist()}
        for name, times in seconds.items() for i, s in enumerate(times)
    ]  # fmt: skip
    return {"steps": steps.tolist(), "bar": -200, "results": rows}


def test_learners_side_by_side_over_steps_and_over_seconds():
    record = beside({"ours": [2.0, 1.0, 4.0], "theirs": [12.0, 10.0, 11.0]})
    fig = plot_side_by_side(record)
    left, right = fig.axes
    steps = np.array(record["steps"])
    over_time = [line for line in right.lines if len(line.get_xdata()) == 6]
    over_steps = [line for line in left.lines if len(line.get_xdata()) == 6]
    names = ["ours", "theirs"]
    for name, one, other, median in zip(names, over_steps, over_time, (2, 11), strict=True):
        returns = [row["returns"] for row in record["results"] if row["learner"] == name]
        np.testing.assert_allclose(one.get_xdata(), steps)
        np.testing.assert_allclose(one.get_ydata(), interquartile_mean(returns))
        np.testing.assert_allclose(other.get_xdata(), steps / 6000 * median)
        np.testing.assert_allclose(other.get_ydata(), one.get_ydata())
        assert one.get_color() == other.get_color()
        [spread] = [
            list(line.get_xdata()) for line in right.lines
            if len(line.get_xdata()) == 2 and line.get_color() == one.get_color()
        ]  # fmt: skip
        times = [row["seconds"] for row in record["results"] if row["learner"] == name]
        assert spread == [min(times), max(times)]
        assert median in [line.get_xdata()[0] for line in right.lines if line.get_marker() == "o"]
    assert over_time[0].get_color() != over_time[1].get_color()
    assert [text.get_text() for text in right.texts] == ["2 s", "11 s"]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == names
    for ax in (left, right):
        assert [-200, -200] in [list(line.get_ydata()) for line in ax.lines]
    assert sentence(fig) == "6,000 steps take ours 2 s; theirs 5.5 times as long (medians)."
    assert right.get_xscale() == "log"
    apart(fig)


def test_the_stored_comparison_is_drawn():
    record = load_results("03_beside_sb3")
    fig = plot_side_by_side(record)
    seconds: dict[str, list[float]] = {}
    for row in record["clock"]:
        seconds.setdefault(row["learner"], []).append(row["seconds"])
    ours, *others = (np.median(times) for times in seconds.values())
    said = sentence(fig).replace("\n", " ")
    for name, median in zip(list(seconds)[1:], others, strict=True):
        assert f"{name} {median / ours:.2g} times as long" in said
    low, high = fig.axes[0].get_ylim()
    for line in fig.axes[0].lines:
        assert low < min(line.get_ydata()) <= max(line.get_ydata()) < high
    apart(fig)


def test_seconds_that_were_measured_in_turn_count():
    record = beside({"ours": [2.0, 1.0, 4.0], "theirs": [120.0, 10.0, 110.0]})
    record["clock"] = [
        {"learner": name, "seed": 0, "seconds": s} for name, s in (("ours", 2.0), ("theirs", 5.0))
    ]
    said = sentence(plot_side_by_side(record))
    assert said == "6,000 steps take ours 2 s; theirs 2.5 times as long (medians)."


def test_one_learner_or_six_are_drawn_and_none_is_refused():
    one = plot_side_by_side(beside({"ours": [2.0, 3.0]}))
    assert sentence(one) == "6,000 steps take ours 2.5 s (medians)."
    apart(one)
    apart(plot_side_by_side(beside({f"learner {i}": [2.0 + i, 3.0 + i] for i in range(6)})))
    for seconds in ({}, {str(i): [1.0] for i in range(7)}):
        with pytest.raises(ValueError, match="1 to 6 learners"):
            plot_side_by_side(beside(seconds))


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
    colours = {text.get_text(): np.array(text.get_color()) for text in ax.texts}
    drawn = ax.images[0].cmap(ax.images[0].norm(ax.images[0].get_array()))
    for name, pixel in (("darker", drawn[0, 0]), ("brighter", drawn[0, 1])):
        nearest = min(colours, key=lambda each: np.abs(colours[each] - pixel).sum())
        assert nearest == name
    np.testing.assert_allclose(drawn[4, 4], 1, atol=0.01)


def test_frames_that_are_alike_show_no_motion():
    fig = plot_frames(np.full((3, 8, 8), 200, np.uint8))
    assert sentence(fig) == "The oldest and the newest frame are alike: no motion shows."


@pytest.mark.parametrize("frames", [np.zeros((1, 8, 8)), np.zeros((5, 8, 8)), np.zeros((8, 8))])
def test_frames_refuse(frames):
    with pytest.raises(ValueError, match=r"uint8 of shape \(2 to 4, H, W\), not uint8 of shape"):
        plot_frames(frames.astype(np.uint8))
    with pytest.raises(ValueError, match="not float64"):
        plot_frames(np.zeros((3, 8, 8)))


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
    for scale, span in itertools.product((1e-4, 1.0, 500.0), (2.0, 5.0, 12.0)):
        train = scale * np.exp(-span * epochs / 60)
        for n in (1, 5, 60):
            apart(plot_losses(train[:n], 1.3 * train[:n], 0))


@pytest.mark.parametrize(
    ("losses", "best", "message"),
    [
        (([1.0, 2.0], [1.0]), 0, r"one loss for each epoch, not \(2,\) and \(1,\)"),
        (([], []), 0, r"one loss for each epoch, not \(0,\)"),
        (([[1.0]], [[1.0]]), 0, "one loss for each epoch"),
        (([1.0], [1.0]), 1, "between 0 and 0, not 1"),
        (([1.0], [1.0]), -1, "between 0 and 0, not -1"),
    ],
)
def test_losses_refuse(losses, best, message):
    with pytest.raises(ValueError, match=message):
        plot_losses(*losses, best)


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
    curves = truth + 0.05 * widgets_practice._standard_noise()
    stops, kept = early_stop(curves, 3)
    np.testing.assert_allclose(trained, np.c_[stops + 1, truth[kept] - truth.min()][:5])
    shown = plot_early_stop(3, 0.05).axes[1].lines[1].get_xydata()[0]
    np.testing.assert_allclose(shown, [stops.mean() + 1, (truth[kept] - truth.min()).mean()])


def test_what_students_should_see_of_patience():
    for noise in (0.01, 0.03, 0.06):
        epochs, above = plot_early_stop(noise=noise).axes[1].lines[0].get_data()
        assert (np.diff(epochs) > 0).all()
        assert above[0] > 5 * above[-1]
    assert "0.000 above the lowest.\n" in sentence(plot_early_stop(1, 0.0))
    assert "Patience 20: ends after epoch 80" in sentence(plot_early_stop(20, 0.06, 3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"patience": 0}, "between 1 and 20, not 0"),
        ({"patience": 21}, "between 1 and 20, not 21"),
        ({"noise": -0.1}, "noise must be 0 or more"),
        ({"seed": CURVES}, "seed between 0 and 299"),
        ({"seed": -1}, "seed between 0 and 299"),
    ],
)
def test_early_stop_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        plot_early_stop(**settings)
