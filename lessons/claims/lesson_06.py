"""Claims of lesson 06: what its figures and small experiments compute, and what the papers say."""

import math

import numpy as np
import torch

from helpers.show.figures.sac_gradients import COLOURS, exact
from helpers.show.figures.sac_squash import FAR, corrections, log_slope
from helpers.show.figures.sac_temperature import (
    ACTIONS,
    LEFT,
    RIGHT,
    best_gaussian,
    squashed_density,
)
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from lessons.claims.evidence_05 import falls_in
from tools.claims import (
    Claim,
    Evidence,
    Lab,
    alike,
    at_the_bar,
    both,
    higher,
    means,
    near,
    p_is,
    twenty_seeds,
)  # fmt: skip

FIRST = "Haarnoja et al. 2018, arXiv 1801.01290"
SECOND = "Haarnoja et al. 2018, arXiv 1812.05905"

TAUGHT, NO_ENTROPY = "SAC as taught", "no entropy in the target"
MEAN, UNCORRECTED = "mean in place of sample", "no tanh correction"
lab = Lab("06_break_it", TAUGHT)
AGENTS = "ddpg", "td3", "sac"


def ends_lower(variant: str, mean: float) -> Evidence:
    """The variant's evaluations have this mean, SAC's as taught -120, and p < 0.001."""

    def evidence() -> tuple[str, bool]:
        one, other = lab.final(variant), lab.final(TAUGHT)
        p = permutation_test(one, other)
        said = f"{one.mean():.1f} against {other.mean():.1f}, p = {p:.2g}"
        return said, abs(one.mean() - mean) < 0.6 and abs(other.mean() + 120) < 0.6 and p < 0.001

    return evidence


def share_on_the_left(temperature: float) -> float:
    """Of the best Gaussian's probability, where the second hump is 0.8 high."""
    density = squashed_density(ACTIONS, *best_gaussian(temperature, 0.8))
    return float(density[(LEFT + RIGHT) / 2 > ACTIONS].sum() / density.sum())


def jumps() -> tuple[str, bool]:
    cold, hot = share_on_the_left(0.2), share_on_the_left(0.3)
    return f"{cold:.2f} on the left hump at 0.2, {hot:.2f} at 0.3", cold > 0.99 and hot < 0.7


def widest_entropy() -> float:
    """The std, mean 0, of the Gaussian whose tanh has the largest entropy."""
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    stds = np.linspace(0.3, 2, 171)
    lost = log_slope(stds[:, None] * z) @ weights / math.sqrt(2 * math.pi)
    return float(stds[(np.log(stds) + lost).argmax()])


def rounds_to_nothing() -> float:
    """Where the logarithm as it stands becomes infinite, in 32 bits."""
    u = torch.linspace(0, FAR, 1201)
    plain = next(iter(corrections(u).values()))
    return float(u[plain.isinf()].min())


def times_the_variance() -> float:
    one, other = (exact(0.0, 0.4, 0.0)[1][name] for name in COLOURS)
    return (other / one) ** 2


def least_times_the_variance() -> float:
    """The same with the constant added to Q that leaves the likelihood ratio least variance."""
    spreads = [exact(offset, 0.4, 0.0)[1] for offset in np.linspace(-10, 10, 2001)]
    one, other = COLOURS
    return min(spread[other] / spread[one] for spread in spreads) ** 2


def turns_round() -> tuple[str, bool]:
    """With the most ripples that the slider allows, and a policy of which the figure has slopes."""
    one, other = (exact(0.0, 0.4, 0.2)[1][name] for name in COLOURS)
    return f"{one:.2f} against {other:.2f}", one > other


def pendulum(agent: str) -> np.ndarray:
    return means(f"{agent}_Pendulum-v1")


def car(agent: str) -> np.ndarray:
    return means(f"{agent}_MountainCarContinuous-v0")


def better_on_the_mountain() -> tuple[str, bool]:
    """By less than a point, with p = 0.0015 against DDPG and below 0.001 against TD3."""
    gaps = [car("sac").mean() - car(name).mean() for name in ("ddpg", "td3")]
    ps = [permutation_test(car(name), car("sac")) for name in ("ddpg", "td3")]
    holds = min(gaps) > 0.4 and max(gaps) < 0.6 and abs(ps[0] - 0.0015) < 0.0001 and ps[1] < 0.001
    return f"by {gaps[0]:.2f} and {gaps[1]:.2f}, p = {ps[0]:.2g} and {ps[1]:.2g}", holds


def hopper(agent: str) -> np.ndarray:
    """The evaluations of two seeds, (2, 50)."""
    return np.array(load_results("06_hopper")[agent]["returns"])


def last_ten_on_hopper() -> tuple[str, bool]:
    """Means of the last ten evaluations; TD3's two lie further apart than the two agents do."""
    means = {name: hopper(name)[:, -10:].mean(axis=1) for name in ("td3", "sac")}
    said = {name: [round(mean) for mean in each] for name, each in means.items()}
    apart = np.ptp(means["td3"]) > abs(means["td3"].mean() - means["sac"].mean())
    return str(said), apart and said == {"td3": [2615, 1175], "sac": [1699, 1895]}


def hopper_halves() -> tuple[str, bool]:
    returns = np.concatenate([hopper("td3"), hopper("sac")])
    falls = falls_in(returns)
    return str(falls), (min(falls), max(falls)) == (2, 4)


def given_steps() -> tuple[str, bool]:
    steps = [
        load_results(f"{name}_{world}")["settings"]["steps"]
        for world in ("Pendulum-v1", "MountainCarContinuous-v0")
        for name in ("sac", "ddpg", "td3")
    ]
    return str(steps), steps == [8_000, 12_000, 12_000, 10_000, 20_000, 20_000]


CLAIMS = [
    Claim("equation 1 of both papers", source=f"{FIRST} and {SECOND}, equation 1"),
    Claim("Somewhere between 0.2 and 0.3 it jumps to a wide shape over both", jumps),
    Claim("(Equations 3 and 2 of the second paper.)", source=f"{SECOND}, equations 2 and 3"),
    Claim("converges to the best policy (theorem 1)", source=f"{FIRST}, theorem 1"),
    Claim(
        "$0.3 \\cdot 0.69 / (1 - \\gamma) = 2.1$",
        near(lambda: 0.3 * math.log(2) / (1 - 0.9), 2.1, 0.05),
    ),
    Claim("(Appendix C of both papers.)", source=f"{FIRST} and {SECOND}, appendix C"),
    Claim("Beyond a standard deviation of about 0.9", near(widest_entropy, 0.9, 0.05)),
    Claim("in 32 bits it is 0 from about $u = 9$ on", near(rounds_to_nothing, 9, 0.5)),
    Claim("(equations 11 to 13 of the first paper)", source=f"{FIRST}, equations 11, 12 and 13"),
    Claim("the likelihood ratio has 24.5 times the variance", near(times_the_variance, 24.5, 0.05)),
    Claim(
        "even the best constant leaves 9 times the variance",
        near(least_times_the_variance, 9, 0.05),
    ),
    Claim("with enough of them the likelihood ratio has the smaller variance", turns_round),
    Claim('"significantly speed up training"', source=f"{FIRST}, section 4.2"),
    Claim(
        "(equation 7 of the second paper, with the draw its equation 9)",
        source=f"{SECOND}, equation 7",
    ),
    Claim("Equation 18 has $\\alpha$ where this has", source=f"{SECOND}, equation 18"),
    Claim("a width of $e^{-1} = 0.37$", near(lambda: math.exp(-1), 0.37, 0.005)),
    Claim(
        "the first paper found that it can be better than drawing",
        source=f"{FIRST}, 5.2, figure 3(a)",
    ),
    Claim("the second paper (appendix D)", source=f"{SECOND}, table 1"),
    Claim(
        "Twenty seeds of each, on which nothing was tuned",
        twenty_seeds(
            *(f"{agent}_Pendulum-v1" for agent in AGENTS),
            *(f"{agent}_MountainCarContinuous-v0" for agent in AGENTS),
        ),
    ),
    Claim("*better* only with p < 0.05", source="the course's rule: tools/claims.py"),
    Claim(
        "On Pendulum all three reach the bar with all twenty seeds. After training no difference "
        "between SAC and DDPG is shown (p = 0.18), and SAC ends better than TD3 (p = 0.02), by two "
        "points.",
        both(
            *(at_the_bar(f"{name}_Pendulum-v1", 20) for name in ("ddpg", "td3", "sac")),
            lambda: alike(pendulum("ddpg"), pendulum("sac")),
            lambda: higher(pendulum("sac"), pendulum("td3")),
            p_is(0.18, lambda: pendulum("ddpg"), lambda: pendulum("sac")),
            p_is(0.02, lambda: pendulum("td3"), lambda: pendulum("sac")),
            near(lambda: pendulum("sac").mean() - pendulum("td3").mean(), 2, 0.25),
        ),
    ),
    Claim(
        "On MountainCarContinuous SAC ends better than both (p = 0.0015 and p < 0.001), by half a "
        "point",
        better_on_the_mountain,
    ),
    Claim("8,000 in place of 12,000, and 10,000 in place of 20,000", given_steps),
    Claim(
        "average 2,615 with one seed and 1,175 with the other, SAC's 1,699 and 1,895: one "
        "algorithm's seeds lie further apart than the two algorithms",
        last_ten_on_hopper,
    ),
    Claim(
        "takes about an hour on one core",
        source="104 steps a second alone on a core (40 minutes); TD3, seed 1, beside two: 56",
    ),
    Claim(
        "at least two of these are as extreme as the one that was found",
        near(lambda: permutation_test([0, 1], [2, 3]), 1 / 3, 1e-9),
    ),
    Claim("two to four times an evaluation above 1,000 is followed by one of", hopper_halves),
    Claim(
        "one of a hundred visits to the place beside it",
        source="what the cell above prints: 0.01 at place 3",
    ),
    Claim(
        "at -1 its standard deviation is 0.09",
        near(lambda: math.exp(-1) / math.sqrt(2 * math.pi * math.e), 0.09, 0.005),
    ),
    Claim("Each variant was trained with ten seeds", lab.ten_seeds),
    Claim(
        "Independent draws reached the flag in none of that lesson's 50 episodes",
        source="what lesson 02's cell `reaches_the_flag` prints",
    ),
    Claim("higher is sooner", source="what a column of the table is"),
    Claim("no seed of ten reaches the bar", lab.reach_the_bar(0, "temperature 1")),
    Claim(
        "At 0.1 all ten do, and end a little lower than as taught (a mean of -128 against -120, "
        "$p < 0.001$)",
        both(lab.reach_the_bar(10, "temperature 0.1", TAUGHT), ends_lower("temperature 0.1", -128)),
    ),
    Claim(
        "nine of ten reach the bar, no difference shown",
        both(
            lab.reach_the_bar(9, "temperature 0.001"),
            lab.no_difference("temperature 0.001"),
        ),
    ),
    Claim(
        "learns later ($p = 0.009$) and ends lower (-133 against -120, $p < 0.001$)",
        both(
            lab.sooner(TAUGHT, NO_ENTROPY),
            lab.p_training(0.009, TAUGHT, NO_ENTROPY),
            ends_lower(NO_ENTROPY, -133),
        ),
    ),
    Claim(
        "six and eight seeds of ten at the bar, the fewest after temperature 1.",
        both(lab.reach_the_bar(6, MEAN), lab.reach_the_bar(8, UNCORRECTED)),
    ),
    Claim(
        "Both learn later and end lower ($p < 0.001$)",
        both(
            *(lab.later(variant, TAUGHT) for variant in (MEAN, UNCORRECTED)),
            ends_lower(MEAN, -340),
            ends_lower(UNCORRECTED, -226),
        ),
    ),
    Claim("no difference shown, in training and after it", lab.no_difference("one critic")),
    Claim(
        "the same settings with twenty seeds on which nothing was tuned",
        both(at_the_bar("sac_Pendulum-v1", 20), at_the_bar("sac_MountainCarContinuous-v0", 20)),
    ),
]
