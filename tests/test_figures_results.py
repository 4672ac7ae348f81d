"""Figures of what was measured: variants, algorithms, libraries, memories of several sizes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.labs.variants import load_lab
from helpers.show.figures.practice_side_by_side import plot_side_by_side
from helpers.show.figures.results import effects_table, plot_results
from helpers.show.figures.td3_overestimation import plot_overestimation
from helpers.show.table import Table
from helpers.training.statistics import interquartile_mean
from tests.figures import RESULTS, apart, sentence


def test_results_compare_a_variant_with_the_baseline():
    fig = plot_results(RESULTS, "no target", bar=95)
    curves, finals = fig.axes
    assert [t.get_text() for t in curves.get_legend().get_texts()] == ["full", "no target"]
    np.testing.assert_array_equal(finals.lines[0].get_ydata(), [100, 90, 95, 100])
    np.testing.assert_array_equal(finals.lines[1].get_ydata(), [10, 9, 30, 10])
    assert "chases its own tail" in fig.texts[0].get_text()
    variant = RESULTS["full"] | {"explanation": "It learns later (p < 0.001). " * 8}
    said = plot_results({"full": RESULTS["full"], "later": variant}, "later").texts[0].get_text()
    assert all(line.count("(p") == line.count("0.001)") for line in said.splitlines())
    assert plot_results(RESULTS, "no noise").texts[0].get_text() == ""


@pytest.mark.parametrize("lesson", ["02", "03", "03b"])
def test_seeds_that_failed_are_drawn_too(lesson):
    lab = load_lab(lesson)
    for variant in lab:
        curves, finals = plot_results(lab, variant).axes
        low, high = finals.get_ylim()
        assert all(low < score < high for score in lab[variant]["evaluations"]), variant
        assert curves.get_ylim() == (low, high)


# --- What was measured ------------------------------------------------------------------------


def measured(bias: float, seeds: int = 8) -> dict:
    """Values that are too high by `bias` throughout, and nearly twice that in the first half."""
    rng = np.random.default_rng(seeds)
    steps = np.arange(500, 10_001, 500)
    obtained = -100 * np.exp(-steps / 3000) + rng.normal(0, 1, (seeds, 20))
    early = np.where(steps < 5000, 50.0, 0.0)
    values = obtained + bias + early
    return {"steps": steps.tolist(), "estimated": values.tolist(), "obtained": obtained.tolist()}


MEASURED = {
    "DDPG as taught": measured(12.5),
    "TD3 as taught": measured(-3.0, 6),
    "no smoothing": measured(2.0, 5),
}


def test_overestimation_shows_values_returns_and_their_difference():
    fig = plot_overestimation(MEASURED, [*MEASURED])
    left, right = fig.axes
    run = MEASURED["DDPG as taught"]
    solid, dashed = (line for line in left.lines[:2])
    np.testing.assert_allclose(solid.get_ydata(), interquartile_mean(np.array(run["estimated"])))
    np.testing.assert_allclose(dashed.get_ydata(), interquartile_mean(np.array(run["obtained"])))
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    assert len(left.lines) == 6
    zero, *lines = right.lines
    assert set(zero.get_ydata()) == {0}
    for line, bias in zip(lines, (12.5, -3, 2), strict=True):
        np.testing.assert_allclose(line.get_ydata()[9:], bias)
    names = [text.get_text() for text in fig.legends[0].get_texts()]
    assert names == ["DDPG as taught", "TD3 as taught", "no smoothing"]
    apart(fig)
    said = "Mean over the training: values 35.0 too high (DDPG as taught), 19.5 too high (TD3"
    assert sentence(fig).replace("\n", " ").startswith(said)


# --- Beside another library -------------------------------------------------------------------


def beside(seconds: dict[str, list[float]]) -> dict:
    rng = np.random.default_rng(0)
    steps = np.arange(1000, 6001, 1000)
    rows = [
        {"learner": name, "seed": i, "seconds": 1e3,  # beside others: does not count
         "returns": (-1200 * np.exp(-steps / 1500) - 110 + rng.normal(0, 5, 6)).tolist()}
        for name, times in seconds.items() for i in range(len(times))
    ]  # fmt: skip
    clock = [{"learner": name, "seconds": s} for name, times in seconds.items() for s in times]
    return {"steps": steps.tolist(), "bar": -200, "results": rows, "clock": clock}


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
    assert over_time[0].get_color() != over_time[1].get_color()
    named = [text.get_text() for text in fig.legends[0].get_texts()]
    assert named == ["ours: 2 s", "theirs: 11 s"]
    for ax in (left, right):
        assert [-200, -200] in [list(line.get_ydata()) for line in ax.lines]
    assert (
        sentence(fig) == "6,000 steps take ours 2 s; theirs 5.5 times as long (medians of 3 seeds)."
    )
    assert right.get_xscale() == "log"
    apart(fig)


def test_what_holds_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="at least one variant"):
        plot_results({"made by": "nobody"}, "nobody")


def test_a_table_of_effects_counts_its_tests():
    rng = np.random.default_rng(0)

    def runs(shift, seeds=8):
        returns = rng.normal(shift, 1, (seeds, 25))
        return {"steps": range(25), "returns": returns, "evaluations": returns[:, -1], "bar": 0}

    results = {"as taught": runs(10), "same": runs(10), "bad": runs(0), "made by": "nobody"}
    table = effects_table(results, bias=lambda each: -np.mean(each["returns"], axis=1))
    assert [row[-1] for row in table.rows] == [
        "", "not shown", "worse in training, worse at the end, higher bias",
    ]  # fmt: skip
    assert table.marked == {(2, 2), (2, 3), (2, 4)}
    assert "8 seeds each. Bold: p < 0.05 / 6" in table.caption
    assert table._repr_html_().count("<b>") == 3
    assert table._repr_html_().count("left") == 2 * len(table.rows) + 2  # the names, the effects
    assert str(table).splitlines()[-1] == table.caption
    named = effects_table(results, usual=False, bias=lambda each: -np.mean(each["returns"], axis=1))
    assert (named.heads, named.marked) == (["", "at the threshold", "bias", "effect"], {(2, 2)})
    four = {name: runs(shift, seeds=4) for name, shift in {"as taught": 10, "bad": 0}.items()}
    four |= {str(n): runs(10, seeds=4) for n in range(9)}
    # Four seeds against four: the smallest p there is, 2 of 70, is no evidence among 20 tests.
    assert {row[-1] for row in effects_table(four).rows[1:]} == {"not shown"}


def test_a_table_writes_numbers_alike_and_sets_words_to_the_left():
    rows = [["0.001", -9.104, "-1200 to -4", "0%", "yes"], ["run-1", 26.0, "1343", "", ""]]
    assert str(Table(["", "mean", "seeds", 3, "learned"], rows, "-84 at best")).splitlines() == [
        "        mean          seeds    3   learned",
        "0.001   −9.1   −1,200 to −4   0%   yes",
        "run-1   26.0          1,343",
        "−84 at best",
    ]
    for value, written in ((-0.001, "−0.00100"), (0.0, "0"), (-1239.2, "−1,239"), (np.nan, "nan")):
        assert str(Table(["", ""], [[0.1, value]])).split() == ["0.1", written]
