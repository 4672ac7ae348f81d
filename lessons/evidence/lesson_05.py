"""What the claims of lesson 05 compute: the robot, seeds, knobs, cloning, a library."""

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from helpers.labs.variants import variants
from helpers.show.figures.practice_imaginary_studies import imaginary_studies, stored_scores
from helpers.training.results import load_results
from helpers.training.statistics import bootstrap_interval, permutation_test
from lessons.evidence.shared import Evidence, Lab, alike, both, higher, means, p_is, seconds_of

TAUGHT, LARGE = "TD3 as taught", "learning rate x 10"
lab, of_lesson_3 = Lab("05_break_it", TAUGHT), Lab("03_break_it")


# ---- the robot -----------------------------------------------------------------------------------


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


def best_until(step: int) -> float:
    steps, means, _ = walk()
    return float(means[steps <= step].max())


def halved() -> Evidence:
    (count,) = falls_in(walk()[1][None])
    return f"{count} times", count == 9


def collapse() -> Evidence:
    steps, _, returns = walk()
    there = returns[steps == 1_290_000][0]
    return f"{there.round(1)}, mean {there.mean():.1f}", bool(
        there.max() < 15.5 and round(there.mean()) == 7
    )


def finalists() -> Evidence:
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


def picked() -> Evidence:
    """What the three had when they were picked, and 100 other episodes of each give."""
    walker = load_results("05_walker")
    means = {row["step"]: row["mean"] for row in walker["curve"]}
    then = [means[one["step"]] for one in walker["finalists"]]
    lost = [mean - one["mean"] for mean, one in zip(then, walker["finalists"], strict=True)]
    return f"{np.round(then)}, lost {np.round(lost)}", (
        [round(mean) for mean in then] == [3863, 4004, 4039] and max(lost) < 40
    )


def seeds_of(name: str, group: str) -> NDArray[np.float64]:
    """The evaluations of several seeds, (seeds, evaluations)."""
    return np.array(load_results(name)[group]["returns"])


def beside_tianshou(score: Callable[[NDArray], NDArray], p: float) -> Evidence:
    """On Walker2d, no difference shown between three seeds of ours and its ten."""
    groups = seeds_of("05_walker_seeds", "td3"), seeds_of("05_tianshou", "Walker2d-v3")
    text, holds = alike(*map(score, groups))
    return text, holds and round(permutation_test(*map(score, groups)), 3) == p


def best_of(returns: NDArray) -> NDArray:
    return returns.max(axis=1)


def last_of(returns: NDArray) -> NDArray:
    return returns[:, -10:].mean(axis=1)


def two_below_all() -> Evidence:
    """Seeds of ours whose last ten are below the lowest of Tianshou's; the third is above most."""
    ours = last_of(seeds_of("05_walker_seeds", "td3"))
    theirs = last_of(seeds_of("05_tianshou", "Walker2d-v3"))
    below = (ours < theirs.min()).tolist()
    return f"{ours.round()}, {np.sort(theirs).round()}", (
        below == [True, False, True] and (ours[1] > theirs).sum() > 5
    )


def start_as_pytorch() -> Evidence:
    """The two end between Tianshou's lowest and highest, and above two of our three."""
    found = last_of(seeds_of("05_walker_start", "pytorch"))
    ours = np.sort(last_of(seeds_of("05_walker_seeds", "td3")))
    theirs = last_of(seeds_of("05_tianshou", "Walker2d-v3"))
    p = permutation_test(found, theirs)
    return f"{found.round()}, p = {p:.3f}", bool(
        max(theirs.min(), ours[1]) < found.min()
        and found.max() < theirs.max()
        and round(p, 2) == 0.39
    )


def ten_ways() -> Evidence:
    """Of two trainings against three; no split is rarer than one in ten."""
    of_each = seeds_of("05_walker_start", "pytorch"), seeds_of("05_walker_seeds", "td3")
    sizes = [len(returns) for returns in of_each]
    return str(sizes), math.comb(sum(sizes), sizes[0]) == 10


def until_half(of: Callable[[NDArray], NDArray]) -> tuple[NDArray, NDArray]:
    """Each seed's number of its evaluations until step 500,000: near 0, and as PyTorch."""
    half = len(load_results("05_walker_half")["near_0"]["steps"])
    files = (("05_walker_seeds", "td3", "near_0"), ("05_walker_start", "pytorch", "pytorch"))
    found = [
        of(np.concatenate([seeds_of(name, first)[:, :half], seeds_of("05_walker_half", more)]))
        for name, first, more in files
    ]
    return found[0], found[1]


def start_tested() -> Evidence:
    """Five seeds against four, by the measure that was fixed before the last four were trained."""
    groups = until_half(lambda returns: returns.mean(axis=1))
    p = permutation_test(*groups)
    last = load_results("05_walker_half")["near_0"]["steps"][-1]
    return f"{groups[0].round()}, {groups[1].round()}, p = {p:.4f}", bool(
        [len(each) for each in groups] == [5, 4] and last == 500_000 and round(p, 3) == 0.087
    )


@cache
def coverage(seeds: int, studies: int = 4000) -> float:
    """In how many studies of normally distributed results the interval holds their mean, 0."""
    results = np.random.default_rng(0).standard_normal((seeds, studies))
    low, high = bootstrap_interval(results)
    return float(np.mean((low <= 0) & (high >= 0)))


def cheetah() -> Evidence:
    ours = last_of(seeds_of("05_cheetah", "td3"))
    theirs = last_of(seeds_of("05_tianshou", "HalfCheetah-v3"))
    steps = load_results("05_cheetah")["td3"]["steps"], load_results("05_tianshou")
    said = [round(float(each)) for each in (*ours, theirs.min(), theirs.max())]
    return str(said), said == [8510, 6271, 8691] and (
        steps[0][-10:] == steps[1]["HalfCheetah-v3"]["steps"]
    )


def falls_in(returns: NDArray) -> list[int]:
    """For each seed, how often an evaluation above 1,000 is followed by one below half of it."""
    before, after = returns[:, :-1], returns[:, 1:]
    return ((before > 1000) & (after < before / 2)).sum(axis=1).tolist()


def with_p(one: NDArray, other: NDArray, p: float) -> Evidence:
    """The first is higher, and p rounds to what the text says."""
    return both(higher(one, other), p_is(p, one, other))


def below(most: float, one: NDArray, other: NDArray) -> Evidence:
    """The first is higher, with p below `most`."""
    return higher(one, other, most)


# ---- seeds ---------------------------------------------------------------------------------------


@cache
def scores(study: str) -> NDArray[np.float64]:
    return stored_scores(study)[0]


def imagined(study: str, report: str, seeds: int, place: int = 0) -> NDArray[np.float64]:
    """What 1,000 imagined studies report, as the lesson's explorers draw them."""
    return imaginary_studies(tuple(scores(study)), place)[report][seeds - 1]


def half_report_nothing() -> Evidence:
    share = float((imagined("ddpg_SparsePendulum-v0", "mean", 3) < 1).mean())
    return f"{share:.1%}", abs(share - 0.5) < 0.02


def clonings_medians() -> Evidence:
    low, high = np.percentile(imagined("bc_SparsePendulum-v0", "median", 3), [2.5, 97.5])
    return f"{low:.1f} to {high:.1f}", round(low) == 11 and round(high) == 133


def wrong_winners() -> Evidence:
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
    text = f"best: {best[11]:.1%} with 12, {best[12]:.1%} with 13; others at most {later:.1%}"
    return text, max(best[:12]) < 0.5 < min(best[12:]) and later < 0.03


def no_difference_on_pendulum() -> Evidence:
    text, holds = alike(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    means = [round(scores(f"{kind}_Pendulum-v1").mean(), 1) for kind in ("ddpg", "td3")]
    p = permutation_test(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    return text, holds and means == [-121.6, -122.7] and round(p, 2) == 0.17


def stops(what: str) -> NDArray[np.float64]:
    """One number a seed of the trainings that were stopped, finished, and given their best."""
    return np.array([row[what] for row in load_results("05_stopping")["results"]])


def lost_on_the_hundred() -> Evidence:
    early = np.sort(stops("chosen") - stops("fresh"))
    last = np.sort(stops("last") - stops("last, fresh"))
    holds = early[6] > 250 and round(early[0]) == 28 and round(early[5]) == 40
    holds = holds and round(last[0]) == 36 and round(last[-1]) == 40
    return f"{early.round(1)}; {last.round(1)}", bool(holds)


def all_lose() -> Evidence:
    """In all ten seeds, with the weights at which training stopped and with the last ones."""
    lost = [stops("chosen") - stops("fresh"), stops("last") - stops("last, fresh")]
    return f"at least {np.min(lost):.1f}", bool(np.min(lost) > 0)


def best_or_last() -> Evidence:
    one, other = stops("best, fresh"), stops("last, fresh")
    text, holds = alike(one, other)
    return text, holds and round(permutation_test(one, other), 2) == 0.13


# ---- knobs ---------------------------------------------------------------------------------------


def eight_others() -> Evidence:
    """Without the two seeds that fail, ten times the rate ends as taught."""
    final = np.sort(lab.final(LARGE))
    text, holds = alike(final[2:], lab.final(TAUGHT))
    return f"{final[:2]}; others {text}", holds and np.all(np.abs(final[:2] + 1560) < 5)


def three_of_ten() -> Evidence:
    good = lab.final(LARGE) >= lab.runs(LARGE)["bar"]
    draws = [all(good[list(three)]) for three in combinations(range(10), 3)]
    return f"{np.mean(draws):.3f}", round(float(np.mean(draws)), 2) == 0.47


def sixteen() -> Evidence:
    """Two p for each variant but the first."""
    count = 2 * (len(variants("05")) - 1)
    return str(count), count == 16


def three_matter() -> Evidence:
    """With all others but those that a second knob goes with, every seed is at the bar."""
    names = [variant.name for variant in variants("05")]
    there = {name: int((lab.final(name) >= lab.runs(name)["bar"]).sum()) for name in names}
    with_norm = f"{LARGE}, layer norm"  # the second of its knobs is no further one
    missed = {name for name, count in there.items() if count < 10} - {with_norm}
    return str(there), missed == {"learning rate / 10", LARGE, "an update every 4 steps"}


# ---- after cloning -----------------------------------------------------------------------------

OWN_STEPS = "its own first steps"
IMITATES = "its own first steps, goes on imitating"


def after_cloning(what: str) -> NDArray[np.float64]:
    """The copy's return, or the mean of the five evaluations while TD3 goes on, one a seed."""
    rows = load_results("05_after_cloning")["results"]
    return np.array([np.mean(row[what]) for row in rows])


def at_the_end(variant: str) -> NDArray[np.float64]:
    return np.array([row[variant][-1] for row in load_results("05_after_cloning")["results"]])


def own_steps_do_not_help() -> Evidence:
    text, holds = alike(after_cloning(OWN_STEPS), after_cloning("as TD3 is"))
    p = permutation_test(after_cloning(OWN_STEPS), after_cloning("as TD3 is"))
    return text, holds and round(p, 2) == 0.10 and at_the_end(OWN_STEPS).max() < 7


def lost_and_regained() -> Evidence:
    """Most seeds fall below half of their copy, and most of these end above that half."""
    rows = load_results("05_after_cloning")["results"]
    lost = [row for row in rows if min(row[IMITATES]) < row["copied"] / 2]
    back = [row for row in lost if row[IMITATES][-1] > row["copied"] / 2]
    return f"{len(lost)} of {len(rows)}, {len(back)} come back", min(len(lost), len(back)) > 4.5


def normalized(what: str) -> NDArray[np.float64]:
    """What PPO reaches on MuJoCo's double pendulum with this normalised: none, obs or both."""
    return means(f"ppo_normalize-{what}")


# ---- beside a library ----------------------------------------------------------------------------


def of_learner(name: str) -> NDArray[np.float64]:
    """The mean of a seed's evaluations through training."""
    rows = load_results("03_beside_sb3")["results"]
    return np.array([np.mean(row["returns"]) for row in rows if row["learner"] == name])


def beside_a_library() -> Evidence:
    ours, theirs = of_learner("the course's TD3"), of_learner("Stable-Baselines3, as small")
    text, holds = alike(ours, theirs)
    return text, holds and round(permutation_test(ours, theirs), 2) == 0.83


def from_numbers() -> Evidence:
    numbers, pictures = scores("td3_Pendulum-v1"), scores("td3_PixelPendulum-v0")
    text, holds = below(0.001, numbers, pictures)
    return text, holds and round(numbers.mean()) == -123 and round(pictures.mean()) == -157


def computing(study: str) -> float:
    return float(np.median(seconds_of(study)))


def a_fifth() -> Evidence:
    numbers = computing("td3_Pendulum-v1")
    pictures = computing("td3_PixelPendulum-v0")
    return f"{numbers:.1f} s against {pictures:.1f} s", numbers / pictures < 0.2
