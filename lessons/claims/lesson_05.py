"""Claims of lesson 05 and of its lab."""

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from helpers.show.figures.practice_imaginary_studies import imaginary_studies, stored_scores
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from tools.claims import LEVEL, Claim, Evidence, Lab, alike, at_the_bar, higher, near

lab, of_lesson_3 = Lab("05_break_it"), Lab("03_break_it")
LAB = "helpers/labs/05_td3_in_practice.md"
TAUGHT, LARGE = "TD3 as taught", "learning rate x 10"
ADVICE = "no measurement: the idea, a definition or advice"
A_RUN = "of the run that the cell prints"
TD3_PAPER = "Fujimoto et al. 2018 (arXiv:1802.09477)"
AGARWAL = "Agarwal et al. 2021 (arXiv:2108.13264)"


def said(text: str, holds: bool) -> Evidence:
    return lambda: (text, bool(holds))


def both(*evidences: Evidence) -> Evidence:
    def evidence() -> tuple[str, bool]:
        found = [each() for each in evidences]
        return "; ".join(text for text, _ in found), all(holds for _, holds in found)

    return evidence


def with_p(one: NDArray, other: NDArray, p: float) -> Evidence:
    """The first is higher, and p rounds to what the text says."""

    def evidence() -> tuple[str, bool]:
        text, holds = higher(one, other)
        digits = len(f"{p:g}".partition(".")[2])
        return text, holds and round(permutation_test(one, other), digits) == p

    return evidence


def below(most: float, one: NDArray, other: NDArray) -> Evidence:
    """The first is higher, with p below `most`."""
    return lambda: (
        (text := higher(one, other))[0],
        text[1] and permutation_test(one, other) < most,
    )


def end_alike(one: str, other: str = TAUGHT) -> Evidence:
    return lambda: alike(lab.final(one), lab.final(other))


# ---- seeds ----------------------------------------------------------------------------------------


@cache
def scores(study: str) -> NDArray[np.float64]:
    return stored_scores(study)[0]


def imagined(study: str, report: str, seeds: int, place: int = 0) -> NDArray[np.float64]:
    """What 1,000 imagined laboratories report, as the lesson's explorers draw them."""
    return imaginary_studies(tuple(scores(study)), place)[report][seeds - 1]


def half_report_nothing() -> tuple[str, bool]:
    share = float((imagined("ddpg_SparsePendulum-v0", "mean", 3) == 0).mean())
    return f"{share:.1%}", abs(share - 0.5) < 0.02


def clonings_medians() -> tuple[str, bool]:
    low, high = np.percentile(imagined("bc_SparsePendulum-v0", "median", 3), [2.5, 97.5])
    return f"{low:.1f} to {high:.1f}", round(low) == 10 and round(high) == 126


def wrong_winners() -> tuple[str, bool]:
    pair = "ddpg_SparsePendulum-v0", "bc_SparsePendulum-v0"
    wrong = {
        report: [
            float((imagined(pair[0], report, n) > imagined(pair[1], report, n, 1)).mean())
            for n in range(1, 21)
        ]
        for report in ("best", "mean", "median", "interquartile mean")
    }
    best = wrong.pop("best")
    later = max(max(shares[9:]) for shares in wrong.values())
    text = f"best: {best[9]:.1%} with ten, {best[10]:.1%} with eleven; others at most {later:.1%}"
    return text, max(best[:10]) < 0.5 < min(best[10:]) and later < 0.025


def no_difference_on_pendulum() -> tuple[str, bool]:
    text, holds = alike(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    means = [round(scores(f"{kind}_Pendulum-v1").mean(), 1) for kind in ("ddpg", "td3")]
    p = permutation_test(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    return text, holds and means == [-121.7, -121.6] and round(p, 2) == 0.99


# ---- knobs ----------------------------------------------------------------------------------------


def eight_others() -> tuple[str, bool]:
    """Without the two seeds that fail, ten times the rate ends as taught."""
    final = np.sort(lab.final(LARGE))
    text, holds = alike(final[2:], lab.final(TAUGHT))
    return f"{final[:2]}; others {text}", holds and np.all(np.abs(final[:2] + 1560) < 5)


def three_of_ten() -> tuple[str, bool]:
    good = lab.final(LARGE) >= lab.runs(LARGE)["bar"]
    draws = [all(good[list(three)]) for three in combinations(range(10), 3)]
    return f"{np.mean(draws):.3f}", round(float(np.mean(draws)), 2) == 0.47


def three_matter_most() -> tuple[str, bool]:
    """Only these are worse after training."""
    ps = {
        name: permutation_test(lab.final(name), lab.final(TAUGHT))
        for name in load_results("05_break_it")
        if isinstance(load_results("05_break_it")[name], dict)
        and "evaluations" in load_results("05_break_it")[name]
    }
    worse = {name for name, p in ps.items() if p < LEVEL}
    with_norm = "learning rate x 10, layer norm"  # the second of the two knobs is no third one
    return str({name: round(p, 4) for name, p in ps.items()}), worse - {with_norm} == {
        "learning rate / 10",
        LARGE,
        "an update every 4 steps",
    }


def faster(*variants: str) -> Evidence:
    """The first learns sooner with the p that the text says."""
    return with_p(lab.training(variants[0]), lab.training(variants[1]), float(variants[2]))


# ---- the robot ------------------------------------------------------------------------------------


@cache
def walk() -> tuple[NDArray, NDArray, NDArray]:
    """Steps (260,), means (260,) and returns (260, 10) of the robot's evaluations."""
    curve = load_results("05_walker")["curve"]
    return (
        np.array([row["step"] for row in curve]),
        np.array([row["mean"] for row in curve]),
        np.array([row["returns"] for row in curve]),
    )


def at(step: int) -> float:
    steps, means, _ = walk()
    return float(means[steps == step][0])


def last_ten(step: int) -> float:
    steps, means, _ = walk()
    return float(means[steps <= step][-10:].mean())


def best_until(step: int) -> float:
    steps, means, _ = walk()
    return float(means[steps <= step].max())


def halved() -> tuple[str, bool]:
    _, means, _ = walk()
    count = int(((means[:-1] > 1000) & (means[1:] < means[:-1] / 2)).sum())
    return f"{count} times", count == 9


def collapse() -> tuple[str, bool]:
    steps, means, returns = walk()
    there = returns[steps == 1_290_000][0]
    return f"{there.round(1)}, mean {there.mean():.1f}", bool(
        there.max() < 16 and round(there.mean()) == 7
    )


def finalists() -> tuple[str, bool]:
    found = load_results("05_walker")["finalists"]
    steps, means, _ = walk()
    bests = [
        int(steps[steps <= end][means[steps <= end].argmax()])
        for end in (1_000_000, 1_100_000, 1_300_000)
    ]
    return str(bests), [one["step"] for one in found] == bests and all(
        one["episodes"] == 100 for one in found
    )


def final() -> float:
    return load_results("05_walker")["final"]["mean"]


# ---- beside a library -----------------------------------------------------------------------------


def of_learner(name: str) -> NDArray[np.float64]:
    """The mean of a seed's evaluations through training."""
    rows = load_results("03_beside_sb3")["results"]
    return np.array([np.mean(row["returns"]) for row in rows if row["learner"] == name])


def beside_a_library() -> tuple[str, bool]:
    ours, theirs = of_learner("the course's TD3"), of_learner("Stable-Baselines3, as small")
    text, holds = alike(ours, theirs)
    return text, holds and round(permutation_test(ours, theirs), 2) == 0.83


def from_numbers() -> tuple[str, bool]:
    numbers, pictures = scores("td3_Pendulum-v1"), scores("td3_PixelPendulum-v0")
    text, holds = below(0.001, numbers, pictures)()
    return text, holds and round(numbers.mean()) == -122 and round(pictures.mean()) == -157


def computing(study: str, what: str) -> float:
    return float(np.median([row[what] for row in load_results(study)["results"]]))


def a_fifth() -> tuple[str, bool]:
    numbers = computing("td3_Pendulum-v1", "seconds")
    pictures = computing("td3_PixelPendulum-v0", "cpu_seconds")
    return f"{numbers:.1f} s against {pictures:.1f} s", 0.15 < numbers / pictures < 0.25
