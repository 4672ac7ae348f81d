"""Claims of lesson 02: the lab, both studies, and when A2C and DDPG first reach Pendulum's bar."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from tools.claims import Claim, Evidence, Lab, at_the_bar, both, higher, near, p_is, seconds_of

LAB = "helpers/labs/02_ddpg.md"
TAUGHT, MOUNTAIN = "DDPG as taught", "on the mountain"
PAPER = "Lillicrap et al. 2016, arXiv 1509.02971"
COLUMN = "what the column means: the mean return while training"
CAUTION = "lesson 05: 0.05 over the number of tests"
PENDULUM, CAR = "ddpg_Pendulum-v1", "ddpg_MountainCarContinuous-v0"
lab = Lab("02_break_it", TAUGHT)
no_difference, same_after = lab.no_difference, lab.same_after


def later(*names: str, taught: str = TAUGHT) -> Evidence:
    """Lower returns in training than as taught."""
    return both(*(lab.sooner(taught, name) for name in names))


def p_values(said: dict[str, float], taught: str) -> Evidence:
    """The p of the training returns that the text names, each to its last digit."""
    return both(*(lab.p_training(p, name, taught) for name, p in said.items()))


def after_the_warm_up() -> tuple[str, bool]:
    """Training returns of the stretches that begin after the uniform warm-up's 3,000 steps."""
    means = [
        np.array(runs["returns"])[:, np.array(runs["steps"]) > 3200].mean(axis=1)
        for runs in map(lab.runs, (ALONE[0], MOUNTAIN))
    ]
    p = permutation_test(*means)
    said = f"{means[0].mean():.1f} against {means[1].mean():.1f}, p = {p:.2g}"
    return said, abs(p - 0.26) < 0.005


def no_flag() -> tuple[str, bool]:
    best = max(map(max, lab.runs("mountain, no correlation at all")["returns"]))
    return f"highest return of a stretch {best}", best <= 0


def flags(*names: str) -> Evidence:
    """Every seed's training has a stretch with a return that only the flag gives."""

    def evidence() -> tuple[str, bool]:
        best = {name: min(map(max, lab.runs(name)["returns"])) for name in names}
        return str(best), min(best.values()) > 0

    return evidence


def first_at_bar(algorithm: str) -> float:
    return float(np.median(load_results("02_first_at_bar")[algorithm]["steps"]))


def sooner_at_bar() -> tuple[str, bool]:
    stored = load_results("02_first_at_bar")
    return higher(np.array(stored["a2c"]["steps"]), np.array(stored["ddpg"]["steps"]))


def seconds_a_step() -> float:
    steps = load_results(PENDULUM)["settings"]["steps"]
    return float(np.median(seconds_of(PENDULUM)) / steps)


def one_start_is_missed() -> tuple[str, bool]:
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


def mean_after(name: str) -> Callable[[], float]:
    return lambda: float(np.mean(lab.final(name)))


def one_seed_is_all() -> tuple[str, bool]:
    """Without it the variant's evaluations are no lower than those as taught."""
    scores, taught = np.sort(lab.final("rewards not scaled")), np.mean(lab.final(TAUGHT))
    whole, rest = np.mean(scores[1:]) - np.mean(scores), np.mean(scores[1:]) - taught
    said = f"it lowers the mean by {whole:.1f}; the others: {rest:+.1f} than as taught"
    return said, (round(whole), round(np.mean(scores[1:]))) == (28, -122) and rest > 0


def without_the_lowest(variant: str, lowest: int) -> Callable[[], NDArray[np.float64]]:
    """The evaluations of the seeds that are left."""
    return lambda: np.sort(lab.final(variant))[lowest:]


def runs_away() -> tuple[str, bool]:
    """One critic's value of a start, in the critic's units; the flag gives 100."""
    values = lab.value("mountain, no target networks") / (1 - 0.99)
    failed = lab.final("mountain, no target networks") < load_results(CAR)["settings"]["bar"]
    return f"{np.sort(values).round()}", bool(
        round(values[failed].max()) == 473 and (values > 100).sum() == 1
    )


def earns_about_that() -> tuple[str, bool]:
    value = np.median(lab.value("no target networks"))
    mean = np.mean(lab.final("no target networks"))
    said = f"value {value:.2f}, return {mean:.0f}, {mean / 200:.2f} a step"
    return said, round(value, 1) == -4.1 and round(mean) == -1007


def two_tables() -> tuple[str, bool]:
    """Two p for each variant but the two as taught."""
    found = load_results(lab.name).values()
    tests = 2 * (sum(isinstance(runs, dict) and "returns" in runs for runs in found) - 2)
    return f"{tests} p, {0.05 * tests} by chance", tests == 32


nine = without_the_lowest("mountain, observations not scaled", 1)
eight = without_the_lowest("mountain, no target networks", 2)
ALONE = ("mountain, uniform warm-up", "mountain, Gaussian noise", "mountain, no noise")

CLAIMS = [
    # --- the opening
    Claim(
        "It swings Pendulum up (mean return -200) after about 4,000 steps",
        near(lambda: first_at_bar("ddpg"), 4000, 500),
    ),
    Claim(
        "lesson 01's A2C needs about 70,000 (medians of ten seeds)",
        both(near(lambda: first_at_bar("a2c"), 70_000, 5_000), sooner_at_bar),
    ),
    # The studies' updates are written out; with autograd, as in the lesson, a step takes 1 / 0.6.
    Claim(
        "All training together: one to two minutes",
        near(lambda: seconds_in_all() / 0.6, 90, 30),
    ),
    # --- the memory
    Claim(
        '"most optimization algorithms assume that the samples are independently and identically '
        'distributed"',
        source=f"{PAPER}, section 3",
    ),
    Claim("without it, three seeds of ten reach the bar", lab.reach_the_bar(3, "no replay")),
    Claim(
        "about 0.6 ms in the stored study below", near(lambda: 1e3 * seconds_a_step(), 0.6, 0.05)
    ),
    Claim('"having both a target', source=f"{PAPER}, section 3"),
    Claim("with only two of the three, instability can be avoided", source="Sutton & Barto 11.3"),
    Claim('"for exploration efficiency in physical control problems', source=f"{PAPER}, section 3"),
    Claim(
        "On Pendulum independent noise is enough",
        both(at_the_bar(PENDULUM, 20), lab.reach_the_bar(10, TAUGHT)),
    ),
    Claim(
        "On the mountain one seed missed the bar, with a mean of 89.4: from nineteen of its twenty "
        "starts the car reaches the flag, from one it does not.",
        both(
            at_the_bar(CAR, 19),
            near(lambda: min(row["mean"] for row in load_results(CAR)["results"]), 89.4, 0.06),
            one_start_is_missed,
        ),
    ),
    # --- the settings
    Claim("batch normalisation", source=f"{PAPER}, section 3"),
    Claim("400 and 300; the action enters at the critic's second", source=f"{PAPER}, section 7"),
    Claim("at most 2.5 million", source=f"{PAPER}, table 1"),
    # --- the lab on Pendulum
    Claim("Each variant below was trained with ten seeds", lab.ten_seeds),
    Claim(
        "the mean returns of 25 equal parts of the training; higher is sooner",
        source=COLUMN,
    ),
    Claim("worth (the median of the seeds)", source="value_at_start in helpers/labs/break_it.py"),
    Claim(
        "**No target networks:** no seed of ten reaches the bar",
        lab.reach_the_bar(0, "no target networks"),
    ),
    Claim(
        '(section 4; "Target networks are crucial", figure 2)',
        source=f"{PAPER}, section 4, figure 2",
    ),
    Claim(
        "from what these policies really earn, -5.0 (a return of -1007",
        earns_about_that,
    ),
    Claim("This lesson's two tables hold 32 such tests", two_tables),
    Claim("a p of 0.02 is a hint, and one of 0.001 is more", source=CAUTION),
    Claim("three seeds of ten reach it", lab.reach_the_bar(3, "no replay")),
    Claim(
        "worse in training and after it, a mean of -196 against -124",
        both(
            later("unscaled actions"),
            lab.better(TAUGHT, "unscaled actions"),
            near(mean_after("unscaled actions"), -196, 0.5),
            near(mean_after(TAUGHT), -124, 0.5),
        ),
    ),
    Claim("Nine of the ten seeds still reach the bar", lab.reach_the_bar(9, "unscaled actions")),
    Claim(
        "later in training (p = 0.002 and 0.02), no difference shown after it",
        both(
            later("truncation as termination", "rewards not scaled"),
            p_values({"truncation as termination": 0.002, "rewards not scaled": 0.02}, TAUGHT),
            same_after("truncation as termination", "rewards not scaled"),
        ),
    ),
    Claim(
        "That one seed lowers the mean by 28 (the other nine have -122), and yet p = 0.98. One bad "
        "seed moves the mean but hardly p",
        both(one_seed_is_all, lab.p_after(0.98, "rewards not scaled", TAUGHT)),
    ),
    Claim(
        "No noise, warm-up in the wrong units, last layers not small:** no difference shown",
        no_difference("no noise", "warm-up in the wrong units", "last layers not small"),
    ),
    Claim(
        "lower returns in training, which contain this stronger noise itself; "
        "no difference shown after it",
        both(later("OU noise"), same_after("OU noise")),
    ),
    Claim(
        "The two that matter most are DQN's",
        both(
            lab.better("unscaled actions", "no replay"),
            lab.better("rewards not scaled", "no replay"),
            lab.better("unscaled actions", "no target networks"),
        ),
    ),
    Claim(
        "Why does truncation as termination cost so little?",
        same_after("truncation as termination"),
    ),
    # --- the lab on the mountain
    Claim(
        "with either of them alone all ten seeds reach the bar",
        lab.reach_the_bar(10, "mountain, uniform warm-up", "mountain, Gaussian noise"),
    ),
    Claim(
        "**No correlation at all** (uniform warm-up *and* Gaussian noise): no seed of ten reaches "
        "the bar",
        lab.reach_the_bar(0, "mountain, no correlation at all"),
    ),
    Claim("No training shows a flag", no_flag),
    Claim(
        "all ten end near 0",
        near(lambda: np.abs(lab.final("mountain, no correlation at all")).max(), 0, 0.5),
    ),
    Claim(
        "all ten seeds reach the bar, but the returns in training are lower (p = 0.001, 0.013, "
        "0.004)",
        both(
            lab.reach_the_bar(10, *ALONE),
            later(*ALONE, taught=MOUNTAIN),
            p_values(dict(zip(ALONE, (0.001, 0.013, 0.004), strict=True)), MOUNTAIN),
        ),
    ),
    Claim("in the training after it no difference is shown (p = 0.26)", after_the_warm_up),
    Claim(
        "and the evaluations by up to 0.6",
        both(
            *(lab.better(MOUNTAIN, name) for name in ALONE),
            near(
                lambda: max(lab.final(MOUNTAIN).mean() - lab.final(n).mean() for n in ALONE),
                0.6,
                0.05,
            ),
        ),
    ),
    Claim("In each of these the flag gets into the memory", flags(*ALONE)),
    Claim(
        "**Observations not scaled:** eight of ten.",
        lab.reach_the_bar(8, "mountain, observations not scaled"),
    ),
    Claim(
        "The mean evaluation is worse (p = 0.01), with and without the seed",
        both(
            lab.better(MOUNTAIN, "mountain, observations not scaled"),
            lab.p_after(0.01, MOUNTAIN, "mountain, observations not scaled"),
            near(lambda: lab.final("mountain, observations not scaled").min(), -99.9, 0.05),
            p_is(0.01, nine, lambda: lab.final(MOUNTAIN)),
        ),
    ),
    Claim(
        "the other nine have 92.6 against 93.6",
        both(
            near(lambda: nine().mean(), 92.6, 0.05),
            near(lambda: lab.final(MOUNTAIN).mean(), 93.6, 0.05),
        ),
    ),
    Claim(
        "eight of ten reach the bar, and the mean evaluation is worse (p = 0.001); on Pendulum "
        "none did",
        both(
            lab.reach_the_bar(8, "mountain, no target networks"),
            lab.better(MOUNTAIN, "mountain, no target networks"),
            lab.p_after(0.001, MOUNTAIN, "mountain, no target networks"),
            lab.reach_the_bar(0, "no target networks"),
        ),
    ),
    Claim(
        "The eight are lower as well (92.7 against 93.6)",
        both(
            near(lambda: eight().mean(), 92.7, 0.05),
            lambda: higher(lab.final(MOUNTAIN), eight()),
        ),
    ),
    Claim("its critic says 473 for a start, where no state is worth more than 100", runs_away),
    Claim(
        "**Truncation as termination:** no difference shown",
        no_difference("mountain, truncation as termination", taught=MOUNTAIN),
    ),
    # --- after it
    Claim("One training proves little", source="lesson 05"),
    Claim(
        "the target networks move only 5 % of the way",
        near(lambda: 100 * (1 - (1 - 5e-6) ** 11_000), 5, 0.5),
    ),
    Claim("That it costs so little in the lab is luck", same_after("truncation as termination")),
    # --- the lab's explanations
    Claim("No seed of ten reaches the bar.", lab.reach_the_bar(0, "no target networks"), file=LAB),
    Claim("Three seeds of ten reach the bar.", lab.reach_the_bar(3, "no replay"), file=LAB),
    Claim(
        "No difference shown, perhaps because warm-up and random starts",
        no_difference("no noise"),
        file=LAB,
    ),
    Claim(
        "The returns in training are lower, and contain this noise; no difference shown after",
        both(later("OU noise"), same_after("OU noise")),
        file=LAB,
    ),
    Claim(
        "Lower returns in training, no difference shown after it, perhaps because a pendulum",
        both(later("truncation as termination"), same_after("truncation as termination")),
        file=LAB,
    ),
    Claim(
        "Worse in training and after it, though nine seeds of ten reach the bar.",
        both(
            later("unscaled actions"),
            lab.better(TAUGHT, "unscaled actions"),
            lab.reach_the_bar(9, "unscaled actions"),
        ),
        file=LAB,
    ),
    Claim(
        "No difference shown on Pendulum.", no_difference("warm-up in the wrong units"), file=LAB
    ),
    Claim(
        "Lower returns in training, no difference shown after it: nine seeds of ten reach the bar.",
        both(
            later("rewards not scaled"),
            same_after("rewards not scaled"),
            lab.reach_the_bar(9, "rewards not scaled"),
        ),
        file=LAB,
    ),
    Claim("No difference shown in the returns.", no_difference("last layers not small"), file=LAB),
    *(
        Claim(
            says,
            both(lab.reach_the_bar(10, name), later(name, taught=MOUNTAIN), flags(name)),
            file=LAB,
        )
        for says, name in zip(
            (
                "the noise after them is OU. All ten seeds reach the bar, with lower returns in "
                "training: those of the warm-up.",
                "then independent Gaussian noise: the flag is in the memory already. All ten seeds "
                "reach the bar, with lower returns in training.",
                "then no noise at all: the flag is in the memory already. All ten seeds reach the "
                "bar, with lower returns in training.",
            ),
            ALONE,
            strict=True,
        )
    ),
    Claim("No training shows a flag, and all ten seeds end near 0", no_flag, file=LAB),
    Claim(
        "Eight seeds of ten reach the bar; the mean evaluation is worse. One seed is at full "
        "throttle",
        both(
            lab.reach_the_bar(8, "mountain, observations not scaled"),
            lab.better(MOUNTAIN, "mountain, observations not scaled"),
        ),
        file=LAB,
    ),
    Claim(
        "Eight seeds of ten reach the bar, where on Pendulum none does; the mean evaluation is "
        "worse.",
        both(
            lab.reach_the_bar(8, "mountain, no target networks"),
            lab.better(MOUNTAIN, "mountain, no target networks"),
        ),
        file=LAB,
    ),
    Claim(
        "The cut after 999 steps is taken for an end. No difference shown.",
        no_difference("mountain, truncation as termination", taught=MOUNTAIN),
        file=LAB,
    ),
]
