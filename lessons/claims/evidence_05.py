"""What is computed for the claims of lesson 05 about its robots."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from helpers.training.results import load_results
from helpers.training.statistics import bootstrap_interval, permutation_test
from tools.claims import Evidence, alike


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


def halved() -> tuple[str, bool]:
    (count,) = falls_in(walk()[1][None])
    return f"{count} times", count == 9


def collapse() -> tuple[str, bool]:
    steps, _, returns = walk()
    there = returns[steps == 1_290_000][0]
    return f"{there.round(1)}, mean {there.mean():.1f}", bool(
        there.max() < 15.5 and round(there.mean()) == 7
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


def picked() -> tuple[str, bool]:
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

    def evidence() -> tuple[str, bool]:
        groups = seeds_of("05_walker_seeds", "td3"), seeds_of("05_tianshou", "Walker2d-v3")
        text, holds = alike(*map(score, groups))
        return text, holds and round(permutation_test(*map(score, groups)), 3) == p

    return evidence


def best_of(returns: NDArray) -> NDArray:
    return returns.max(axis=1)


def last_of(returns: NDArray) -> NDArray:
    return returns[:, -10:].mean(axis=1)


def two_below_all() -> tuple[str, bool]:
    """Seeds of ours whose last ten are below the lowest of Tianshou's; the third is above most."""
    ours = last_of(seeds_of("05_walker_seeds", "td3"))
    theirs = last_of(seeds_of("05_tianshou", "Walker2d-v3"))
    below = (ours < theirs.min()).tolist()
    return f"{ours.round()}, {np.sort(theirs).round()}", (
        below == [True, False, True] and (ours[1] > theirs).sum() > 5
    )


def start_as_pytorch() -> tuple[str, bool]:
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


def ten_ways() -> tuple[str, bool]:
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


def start_tested() -> tuple[str, bool]:
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


def cheetah() -> tuple[str, bool]:
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
