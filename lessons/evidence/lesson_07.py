"""What the claims of lesson 07 and of its lab compute."""

from collections.abc import Sequence
from inspect import signature

import numpy as np

from helpers.show.figures.ppo_kl import plot_kl
from helpers.training.results import load_results
from helpers.training.settings import get_setting
from helpers.training.statistics import permutation_test
from lessons.evidence.shared import LEVEL, Evidence, Lab, alike, both, seconds_of

TAUGHT, A2C = "PPO as taught", "A2C as taught"

lab, lab_01 = Lab("07_break_it", TAUGHT), Lab("01_break_it", A2C)

UNCLIPPED, TWENTY = "ratios not clipped", "twenty epochs"
WHOLE, THIRDS = "pendulum, as taught", "pendulum, rollouts of a third of an episode"
STUDIES = ("ppo_CartPole-v1", "ppo_Acrobot-v1", "ppo_Pendulum-v1")


def all_training() -> float:
    """CPU seconds of the lesson: both tasks, two short runs, two for the KL, three of 'now you'."""
    pole, pendulum = (np.median(seconds_of(study)) for study in (STUDIES[0], STUDIES[2]))
    return pole * (1 + 2 * 10 / 80 + 2 * 30 / 80 + 3) + pendulum


def of_ours(*names: str, values: Sequence[float]) -> Evidence:
    """What the lesson's agent on CartPole is trained with, by its table's column."""
    known = get_setting("ppo", "CartPole-v1").make(seed=0).hyperparameters
    found = [known[name] for name in names]
    return str(found), found == list(values)


def bar_before_a2c(variant: str, steps: float) -> Evidence:
    """A variant is first at the bar after so many steps in the mean, sooner than A2C."""
    ours, theirs = lab.first_times(variant), lab_01.first_times(A2C)
    p = permutation_test(ours, theirs)
    said = f"{ours.mean():.0f} against {theirs.mean():.0f}, p = {p:.2g}"
    return said, abs(ours.mean() - steps) < 500 and ours.mean() < theirs.mean() and p < 0.001


def six_lose_it() -> Evidence:
    mine, taught = lab.falls_back(UNCLIPPED), lab.falls_back(TAUGHT)
    p, all_there = permutation_test(mine, taught), np.isfinite(lab.first_times(UNCLIPPED)).all()
    said = f"{mine.sum():.0f} against {taught.sum():.0f}, p = {p:.3f}"
    return said, all_there and (mine.sum(), taught.sum()) == (6, 1) and abs(p - 0.06) < 0.005


def on_pendulum(variant: str, seeds: int, later: bool = True, lower: bool = True) -> Evidence:
    """So many seeds reach the bar; it learns later, or ends lower (p < 0.001), or is alike."""
    name = f"pendulum, {variant}"
    pairs = [(of(name), of(WHOLE), yes) for of, yes in
             ((lab.training, later), (lab.final, lower))]  # fmt: skip
    said, holds = [], True
    for mine, taught, yes in pairs:
        p = permutation_test(mine, taught)
        said.append(f"{mine.mean():.4g} against {taught.mean():.4g}, p = {p:.2g}")
        holds &= p < 0.001 and mine.mean() < taught.mean() if yes else p >= LEVEL
    return "; ".join(said), bool(holds) and lab.reach_the_bar(seeds, name)[1]


def clipping_most() -> Evidence:
    """Of all variants on Pendulum none ends lower, nor learns later, than without clipping."""
    lab_07 = load_results("07_break_it")
    unclipped = f"pendulum, {UNCLIPPED}"
    names = [n for n in lab_07 if n.startswith("pendulum, ") and n != unclipped]
    pairs = [(of(n), of(unclipped))
             for n in names for of in (lab.final, lab.training)]  # fmt: skip
    ps = [permutation_test(other, worst) for other, worst in pairs]
    above = all(other.mean() > worst.mean() for other, worst in pairs)
    return f"of {len(names)} others, largest p = {max(ps):.2g}", above and max(ps) < 0.001


def twenty_on_pendulum() -> Evidence:
    """Twenty epochs learn sooner, and show no difference at the end."""
    name = "pendulum, twenty epochs"
    sooner, ahead = lab.sooner(name, WHOLE)
    p = permutation_test(lab.training(name), lab.training(WHOLE))
    after, same = alike(lab.final(name), lab.final(WHOLE))
    return f"{sooner}; {after}", ahead and p < 0.001 and same


def seconds_to_bar() -> Evidence:
    """CPU seconds until the last twenty training episodes average the bar."""
    found = load_results("07_time_to_bar")["results"]
    ppo, a2c = (np.array([row["cpu_seconds"] for row in found[name]]) for name in ("ppo", "a2c"))
    p, reached = permutation_test(ppo, a2c), all(r["steps"] for n in found for r in found[n])
    said = f"{ppo.mean():.2f} against {a2c.mean():.2f}, p = {p:.2g}"
    return said, reached and round(ppo.mean(), 1) == 1.5 and round(
        a2c.mean(), 1
    ) == 2.1 and p < 1e-3


def thirds_end_lower() -> Evidence:
    """Means after training, and the lowest, of rollouts of a third and of whole episodes."""
    thirds, whole = lab.final(THIRDS), lab.final(WHOLE)
    p = permutation_test(thirds, whole)
    numbers = [round(number) for number in (thirds.mean(), whole.mean(), thirds.min())]
    return f"{numbers}, p = {p:.2g}", numbers == [-141, -125, -199] and p < 0.001


def short_acrobot() -> Evidence:
    """The seeds that miss the bar with 120,000 steps instead of 200,000."""
    rows = load_results("07_acrobot_120000")["results"]
    missed = [row["seed"] for row in rows if not row["passed"]]
    return f"missed by {missed}", len(rows) == 20 and missed == [101]


def acrobot_again() -> Evidence:
    """Seeds 100 to 119, with 200,000 steps."""
    rows = load_results("07_acrobot_again")["results"]
    (row,) = [row for row in rows if not row["passed"]]
    never = sum(value <= -500 for value in row["returns"])
    said = f"{row['seed']} ends at {row['mean']:.0f}, {never} starts at -500"
    return said, len(rows) == 20 and (row["seed"], round(row["mean"]), never) == (114, -173, 2)


def one_of_the_new() -> Evidence:
    """The only seed that misses Acrobot's bar."""
    missed = [row for row in load_results("ppo_Acrobot-v1")["results"] if not row["passed"]]
    said = {row["seed"]: row["mean"] for row in missed}
    return str(said), [*said] == [307] and -102 < said[307] < -100


def pendulum_again() -> Evidence:
    """Of 200 to 219 the only seed below -130, and its worst start; the reported ones are above."""
    rows = load_results("07_pendulum_again")["results"]
    low = {row["seed"]: (row["mean"], min(row["returns"])) for row in rows if row["mean"] < -130}
    reported = min(row["mean"] for row in load_results("ppo_Pendulum-v1")["results"])
    said = {seed: [round(number) for number in pair] for seed, pair in low.items()}
    return f"{said}; {reported:.0f}", said == {206: [-166, -927]} and reported > -140


def five_alike() -> Evidence:
    """On CartPole, though advantages as they are come near."""
    return both(
        lab.no_difference(
            "values clipped",
            "torch's own first weights",
            "no annealing",
            "gradient not clipped",
            "advantages not normalised",
        ),
        lab.p_training(0.07, "advantages not normalised", TAUGHT),
    )
