"""What the claims of lesson 02 compute: the lab, both studies, the first time at the bar."""

import numpy as np
from numpy.typing import NDArray

from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from lessons.evidence.shared import Evidence, Lab, both, higher, seconds_of

TAUGHT, MOUNTAIN = "DDPG as taught", "on the mountain"
PENDULUM, CAR = "ddpg_Pendulum-v1", "ddpg_MountainCarContinuous-v0"
lab = Lab("02_break_it", TAUGHT)


def later(*names: str, taught: str = TAUGHT) -> Evidence:
    """Lower returns in training than as taught."""
    return both(*(lab.sooner(taught, name) for name in names))


def p_values(said: dict[str, float], taught: str) -> Evidence:
    """The p of the training returns that the text names, each to its last digit."""
    return both(*(lab.p_training(p, name, taught) for name, p in said.items()))


def after_the_warm_up() -> Evidence:
    """Training returns of the stretches that begin after the uniform warm-up's 3,000 steps."""
    means = [
        np.array(runs["returns"])[:, np.array(runs["steps"]) > 3200].mean(axis=1)
        for runs in map(lab.runs, (ALONE[0], MOUNTAIN))
    ]
    p = permutation_test(*means)
    said = f"{means[0].mean():.1f} against {means[1].mean():.1f}, p = {p:.2g}"
    return said, abs(p - 0.26) < 0.005


def no_flag() -> Evidence:
    best = max(map(max, lab.runs("mountain, no correlation at all")["returns"]))
    return f"highest return of a stretch {best}", best <= 0


def flags(*names: str) -> Evidence:
    """Every seed's training has a stretch with a return that only the flag gives."""
    best = {name: min(map(max, lab.runs(name)["returns"])) for name in names}
    return str(best), min(best.values()) > 0


def first_at_bar(algorithm: str) -> float:
    return float(np.median(load_results("02_first_at_bar")[algorithm]["steps"]))


def sooner_at_bar() -> Evidence:
    stored = load_results("02_first_at_bar")
    return higher(np.array(stored["a2c"]["steps"]), np.array(stored["ddpg"]["steps"]))


def seconds_a_step() -> float:
    steps = load_results(PENDULUM)["settings"]["steps"]
    return float(np.median(seconds_of(PENDULUM)) / steps)


def one_start_is_missed() -> Evidence:
    """One seed misses the bar, since from one of its starts the flag is not reached."""
    rows = load_results(CAR)["results"]
    missed = [row for row in rows if not row["passed"]]
    below = sorted(missed[0]["returns"])[:2]
    return f"{missed[0]['mean']}, {below}", len(missed) == 1 and below[0] < 0 and below[1] > 90


def seconds_in_all() -> float:
    """Pendulum's training in one loop and as an agent's, the car's, and three of half of
    Pendulum's steps under "Now you".
    """
    pendulum, car = (np.median(seconds_of(name)) for name in (PENDULUM, CAR))
    return float(2 * pendulum + car + 3 * pendulum / 2)


def mean_after(name: str) -> float:
    return float(np.mean(lab.final(name)))


def one_seed_is_all() -> Evidence:
    """Without it the variant's evaluations are no lower than those as taught."""
    scores, taught = np.sort(lab.final("rewards not scaled")), np.mean(lab.final(TAUGHT))
    whole, rest = np.mean(scores[1:]) - np.mean(scores), np.mean(scores[1:]) - taught
    said = f"it lowers the mean by {whole:.1f}; the others: {rest:+.1f} than as taught"
    return said, (round(whole), round(np.mean(scores[1:]))) == (28, -122) and rest > 0


def without_the_lowest(variant: str, lowest: int) -> NDArray[np.float64]:
    """The evaluations of the seeds that are left."""
    return np.sort(lab.final(variant))[lowest:]


def runs_away() -> Evidence:
    """One critic's value of a start, in the critic's units; the flag gives 100."""
    values = lab.value("mountain, no target networks") / (1 - 0.99)
    failed = lab.final("mountain, no target networks") < load_results(CAR)["settings"]["bar"]
    return f"{np.sort(values).round()}", bool(
        round(values[failed].max()) == 473 and (values > 100).sum() == 1
    )


def earns_about_that() -> Evidence:
    value = np.median(lab.value("no target networks"))
    mean = np.mean(lab.final("no target networks"))
    said = f"value {value:.2f}, return {mean:.0f}, {mean / 200:.2f} a step"
    return said, round(value, 1) == -4.1 and round(mean) == -1007


def two_tables() -> Evidence:
    """Two p for each variant but the two as taught."""
    found = load_results(lab.name).values()
    tests = 2 * (sum(isinstance(runs, dict) and "returns" in runs for runs in found) - 2)
    return f"{tests} p, {0.05 * tests} by chance", tests == 32


nine = without_the_lowest("mountain, observations not scaled", 1)
eight = without_the_lowest("mountain, no target networks", 2)
ALONE = ("mountain, uniform warm-up", "mountain, Gaussian noise", "mountain, no noise")
