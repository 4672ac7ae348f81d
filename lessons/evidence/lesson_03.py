"""What the claims of lesson 03 compute: returns and biases of its labs, studies, the library."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from helpers.show.figures.td3_climb import CENTRES, climb, error
from helpers.show.figures.td3_smoothing import smoothed
from helpers.training.results import load_results
from helpers.training.statistics import bootstrap_interval, interquartile_mean, permutation_test
from lessons.evidence.shared import Evidence, Lab, alike, both, higher, near, seconds_of

TAUGHT, MOUNTAIN = "TD3 as taught", "on the mountain"
OURS, AS_SMALL, DEFAULTS = (
    "the course's TD3",
    "Stable-Baselines3, as small",
    "Stable-Baselines3, defaults",
)

lab, robot = Lab("03_break_it", TAUGHT), Lab("03b_break_it")


def on_pendulum() -> list[str]:
    found = load_results("03_break_it")
    return [n for n, runs in found.items() if isinstance(runs, dict) and "estimated" in runs]


def bias(name: str) -> NDArray[np.float64]:
    """Value minus what was obtained in the second half of training, one number a seed."""
    runs = lab.runs(name)
    gap = np.array(runs["estimated"]) - np.array(runs["obtained"])
    return gap[:, gap.shape[1] // 2 :].mean(axis=1)


def bias_is(name: str, said: float, within: float = 0.5) -> Evidence:
    return near(float(interquartile_mean(bias(name))), said, within)


def moved(name: str, said: float) -> Evidence:
    """By how much the bias is higher than as taught."""
    middle = interquartile_mean
    return near(float(middle(bias(name)) - middle(bias(TAUGHT))), said, 0.5)


def side(name: str, sign: int) -> Evidence:
    """The 95 % interval of the bias lies above 0 (1), below it (-1), or contains it (0)."""
    low, high = (float(end) for end in bootstrap_interval(bias(name)))
    found = 1 if low > 0 else -1 if high < 0 else 0
    return f"bias of {name} [{low:.1f}, {high:.1f}]", found == sign


def lower_bias(one: str, other: str) -> Evidence:
    return higher(bias(other), bias(one))


def same_bias(one: str, other: str = TAUGHT) -> Evidence:
    return alike(bias(one), bias(other))


def last(name: str, what: str) -> float:
    """The interquartile mean over seeds at the last measurement."""
    return float(interquartile_mean(np.array(lab.runs(name)[what])[:, -1]))


def five_end_above_0() -> Evidence:
    count = int((np.array(lab.runs("DDPG")["estimated"])[:, -1] > 0).sum())
    return f"{count} of ten", count == 5


def better_by(said: float, name: str) -> Evidence:
    """Better on the mountain than as taught, by so much, and alike while training."""
    return both(
        lab.better(name, MOUNTAIN),
        near(lab.final(name).mean() - lab.final(MOUNTAIN).mean(), said, 0.051),
        lab.same_in_training(name, taught=MOUNTAIN),
    )


def all_reach_the_bar() -> Evidence:
    found, holds = lab.reach_the_bar(10, *on_pendulum())
    return found, holds and len(on_pendulum()) == 12


def all_alike_after() -> Evidence:
    return lab.same_after(*(name for name in on_pendulum() if name != TAUGHT))


def still_learning() -> Evidence:
    """What *delay 8* obtains at the start and at the end of the second half of training."""
    middle, end = np.array(lab.runs("delay 8")["obtained"])[:, [12, -1]].T
    return higher(end, middle)


def early() -> Evidence:
    """What policies obtain at the first three measurements, and how near to 0 values begin."""
    means = [
        float(interquartile_mean(np.array(lab.runs(name)["obtained"])[:, at]))
        for name in ("DDPG", TAUGHT)
        for at in (0, 1, 2)
    ]
    first = [abs(np.array(lab.runs(n)["estimated"])[:, 0]).max() for n in ("DDPG", TAUGHT)]
    holds = all(-850 <= mean <= -550 for mean in means) and max(first) < 1
    return f"obtained {np.round(means)}, first values within {max(first):.2g}", holds


def near_minus_ten() -> Evidence:
    means = np.array(lab.runs("DDPG")["obtained"])[:, 12:].mean(axis=0)
    return f"{means.min():.1f} to {means.max():.1f}", means.min() > -11 and means.max() < -8


def library(name: str) -> NDArray[np.float64]:
    """Greedy returns (seeds, evaluations) of a learner."""
    rows = load_results("03_beside_sb3")["results"]
    return np.array([row["returns"] for row in rows if row["learner"] == name])


def clock(name: str) -> float:
    rows = load_results("03_beside_sb3")["clock"]
    return float(np.mean([row["seconds"] for row in rows if row["learner"] == name]))


def seconds_in_all() -> float:
    """DDPG, both TD3, and three of half of Pendulum's steps under "Now you"."""
    ddpg, td3, car = (
        np.median(seconds_of(name))
        for name in ("ddpg_Pendulum-v1", "td3_Pendulum-v1", "td3_MountainCarContinuous-v0")
    )
    return float(ddpg + td3 + car + 3 * td3 / 2)


def left_of(peak: float) -> float:
    """The height left by smoothing, of a false peak of that height, or of the hill alone at 0."""
    a = np.linspace(-1, 1, 2001)
    hill = smoothed(a, 0.2, 0.5, 0.0, 0.05)
    if not peak:
        return float(hill.max() / 0.8)
    return float((smoothed(a, 0.2, 0.5, peak, 0.05) - hill).max() / peak)


@lru_cache(maxsize=2)
def climbed(shared: float, pairs: int = 10_000) -> tuple[float, float]:
    """By how much the critic that was climbed is too high on average, and the lower of both."""
    first, own = np.random.default_rng(0).normal(size=(2, pairs, len(CENTRES)))
    second = shared * first + np.sqrt(1 - shared**2) * own
    action = climb(first, size=0.25, updates=40)[-1]
    off = [0.25 * error(action, weights)[0] for weights in (first, second)]
    return float(off[0].mean()), float(np.minimum(*off).mean())


def worst_of_none() -> float:
    return float(lab.final("mountain, none of the three").min())


def most_valued(name: str) -> NDArray[np.float64]:
    """On the robot: the largest of the critic's 25 mean values, one number a seed."""
    return np.array(robot.runs(name)["estimated"]).max(axis=1)


def lowest_after_the_bar(name: str) -> NDArray[np.float64]:
    """On the robot: the lowest stretch of training after the first one at the bar, for each seed.

    A seed that never gets there has -inf.
    """
    runs = robot.runs(name)
    returns = np.array(runs["returns"])
    first = (returns >= runs["bar"]).argmax(axis=1)
    there = (returns >= runs["bar"]).any(axis=1)
    return np.array(
        [row[i:].min() if ok else -np.inf for row, i, ok in zip(returns, first, there, strict=True)]
    )


def at_the_end(name: str, what: str) -> float:
    """On the robot: the mean over seeds at the last measurement."""
    return float(np.array(robot.runs(name)[what])[:, -1].mean())


def sorted_are(of: Callable[[str], NDArray], *said: tuple[float, ...]) -> Evidence:
    """On the robot: one number a run, rounded and sorted; of TD3, and of none of the three."""
    found = [np.sort(of(name)).round().astype(int) for name in ("TD3", "none of the three")]
    return f"{found[0]}, {found[1]}", all(map(np.array_equal, found, said))


def smallest_p(seeds: int) -> float:
    """What the permutation test gives if every run of one group is above every other."""
    return permutation_test(np.arange(seeds) + 100.0, np.arange(seeds) + 0.0)


NONE, MAX = "none of the three", "maximum for minimum"
NONE, MAX, ROBOT = "none of the three", "maximum for minimum", "TD3"
WITH_MINIMUM = (TAUGHT, "no delay", "no smoothing", "much smoothing", "one noise for the batch")


def none_raises_the_return() -> Evidence:
    """Without each idea, on both tasks, returns are lower neither in training nor after it."""
    return both(
        *(
            (
                f"{one}: {higher(lab.final(other), lab.final(one))[0]}",
                not higher(lab.final(other), lab.final(one))[1]
                and not higher(lab.training(other), lab.training(one))[1],
            )
            for one, other in (
                ("one critic", TAUGHT),
                ("no minimum", TAUGHT),
                ("no delay", TAUGHT),
                ("no smoothing", TAUGHT),
                (NONE, TAUGHT),
                ("mountain, one critic", MOUNTAIN),
                ("mountain, no minimum", MOUNTAIN),
                ("mountain, no delay", MOUNTAIN),
                ("mountain, no smoothing", MOUNTAIN),
                ("mountain, none of the three", MOUNTAIN),
            )
        )
    )


def three_biases() -> Evidence:
    """Beside TD3's: with one critic, without delay, without smoothing."""
    return both(
        bias_is(TAUGHT, -16.3, 0.05),
        moved("one critic", 24),
        lower_bias(TAUGHT, "one critic"),
        moved("no delay", -24),
        lower_bias("no delay", TAUGHT),
        moved("no smoothing", 7),
        same_bias("no smoothing"),
    )
