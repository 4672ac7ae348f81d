"""What the claims of lesson 05 compute: the robot, seeds, settings, cloning, a library."""

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from helpers.checks import find
from helpers.labs.variants import load_lab
from helpers.show.figures import effects_table
from helpers.show.figures.practice_seeds import imaginary_studies, stored_scores
from helpers.training.results import load_results
from helpers.training.statistics import bootstrap_interval, permutation_test, power
from lessons.evidence.shared import Evidence, Lab, alike, both, higher, means, p_is, seconds_of

TAUGHT, LARGE = "TD3 as taught", "learning rate x 10"
lab, of_lesson_3 = Lab("05_break_it"), Lab("03_break_it")


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


def final() -> float:
    return load_results("05_walker")["final"]["mean"]


def seeds_of(name: str, group: str) -> NDArray[np.float64]:
    """The evaluations of several seeds, (seeds, evaluations)."""
    return np.array(load_results(name)[group]["returns"])


def beside_tianshou(score: Callable[[NDArray], NDArray], p: float) -> Evidence:
    """On Walker2d, no difference shown between three seeds of ours and its ten."""
    groups = seeds_of("05_walker_seeds", "td3"), seeds_of("05_tianshou", "Walker2d-v3")
    text, holds = alike(*map(score, groups))
    return text, holds and round(permutation_test(*map(score, groups)), 3) == p


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


@cache
def coverage(seeds: int, studies: int = 4000) -> float:
    """In how many studies of normally distributed results the interval holds their mean, 0."""
    results = np.random.default_rng(0).standard_normal((seeds, studies))
    ends = [bootstrap_interval(part) for part in np.array_split(results, 8, axis=1)]
    return float(np.mean([(low <= 0) & (high >= 0) for low, high in ends]))


def no_power_with_three() -> Evidence:
    """Six runs can be sorted into two groups of three in 20 ways, of which two are as extreme."""
    p = permutation_test([0, 1, 2], [3, 4, 5])
    return f"p = {p:.2g} at least", p == 0.1


def power_in_the_table() -> Evidence:
    studies = (f"{kind}_SparsePendulum-v0" for kind in ("ddpgfd", "bc", "ddpg"))
    best, middle, worst = (scores(study) for study in studies)
    large, moderate = power(best, middle, 5), power(middle, worst, 20)
    return f"{large:.0%} with 5, {moderate:.0%} with 20", large > 0.9 and moderate < 0.9


def broken_room() -> Evidence:
    """What the bug of exercise 5.5 shows at full power."""
    exercise = find("5.5")
    room = next(each for each in exercise.mistakes if each.name == exercise.bug).function()
    seen = [room.reset(seed=3)[0], *(room.step(np.array([3.0]))[0] for _ in range(3))]
    said = [[12.51, 12.51, -1.45]] * 2 + [[12.23, 22.51, -1.45], [12.17, 30.46, -1.45]]
    return str(np.round(seen, 2).tolist()), bool(np.allclose(seen, said, atol=0.0051))


def room_beats_thermostat() -> Evidence:
    """Of 20 seeds 19 are above the thermostat, which has -101."""
    found = load_results("05_room")
    scores = np.array([row["mean"] for row in found["results"]])
    above = int((scores > found["thermostat"]).sum())
    return f"{above} of {len(scores)}", (above, len(scores)) == (19, 20)


def robot_score() -> Evidence:
    last = load_results("05_walker")["final"]
    return f"{last['mean']:.1f} ± {last['std']:.1f}", (
        (round(last["mean"]), round(last["std"]), last["episodes"]) == (4000, 26, 100)
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


def stops(what: str) -> NDArray[np.float64]:
    """One number a seed of the trainings that were stopped, finished, and given their best."""
    return np.array([row[what] for row in load_results("05_stopping")["results"]])


# ---- settings ------------------------------------------------------------------------------------


EFFECTS = effects_table(load_lab("05"))


def five_not_shown() -> Evidence:
    """Of seven changes; the table's last column says so."""
    found = [str(row[-1]) for row in EFFECTS.rows[1:]]
    return str(found), (len(found), found.count("not shown")) == (7, 5)


def eight_others() -> Evidence:
    """Without the two seeds that fail, ten times the rate ends as taught."""
    final = np.sort(lab.final(LARGE))
    text, holds = alike(final[2:], lab.final(TAUGHT))
    return f"{final[:2]}; others {text}", holds and np.all(np.abs(final[:2] + 1560) < 5)


def three_of_ten() -> Evidence:
    good = lab.final(LARGE) >= lab.runs(LARGE)["bar"]
    draws = [all(good[list(three)]) for three in combinations(range(10), 3)]
    return f"{np.mean(draws):.3f}", round(float(np.mean(draws)), 2) == 0.47


# ---- after cloning -----------------------------------------------------------------------------

OWN_STEPS = "its own first steps"
IMITATES = "its own first steps, goes on imitating"


def after_cloning(what: str) -> NDArray[np.float64]:
    """The copy's return, or the mean of the five evaluations while TD3 goes on, one a seed."""
    rows = load_results("05_after_cloning")["results"]
    return np.array([np.mean(row[what]) for row in rows])


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


def a_fifth() -> Evidence:
    numbers = seconds_of("td3_Pendulum-v1")
    pictures = seconds_of("td3_PixelPendulum-v0")
    return f"{numbers:.1f} s against {pictures:.1f} s", numbers / pictures < 0.2
