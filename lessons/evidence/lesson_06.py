"""What the claims of lesson 06 compute: its figures, small experiments and studies."""

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
from lessons.evidence.lesson_05 import falls_in
from lessons.evidence.shared import Evidence, Lab, means

TAUGHT, NO_ENTROPY = "SAC as taught", "no entropy in the target"
MEAN, UNCORRECTED = "mean in place of sample", "no tanh correction"
lab = Lab("06_break_it", TAUGHT)
AGENTS = "ddpg", "td3", "sac"


def ends_lower(variant: str, mean: float) -> Evidence:
    """The variant's evaluations have this mean, SAC's as taught -120, and p < 0.001."""
    one, other = lab.final(variant), lab.final(TAUGHT)
    p = permutation_test(one, other)
    said = f"{one.mean():.1f} against {other.mean():.1f}, p = {p:.2g}"
    return said, abs(one.mean() - mean) < 0.6 and abs(other.mean() + 120) < 0.6 and p < 0.001


def share_on_the_left(temperature: float) -> float:
    """Of the best Gaussian's probability, where the second hump is 0.8 high."""
    density = squashed_density(ACTIONS, *best_gaussian(temperature, 0.8))
    return float(density[(LEFT + RIGHT) / 2 > ACTIONS].sum() / density.sum())


def jumps() -> Evidence:
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


def turns_round() -> Evidence:
    """With the most ripples that the slider allows, and a policy of which the figure has slopes."""
    one, other = (exact(0.0, 0.4, 0.2)[1][name] for name in COLOURS)
    return f"{one:.2f} against {other:.2f}", one > other


def pendulum(agent: str) -> np.ndarray:
    return means(f"{agent}_Pendulum-v1")


def car(agent: str) -> np.ndarray:
    return means(f"{agent}_MountainCarContinuous-v0")


def better_on_the_mountain() -> Evidence:
    """By less than a point, with p = 0.0015 against DDPG and below 0.001 against TD3."""
    gaps = [car("sac").mean() - car(name).mean() for name in ("ddpg", "td3")]
    ps = [permutation_test(car(name), car("sac")) for name in ("ddpg", "td3")]
    holds = min(gaps) > 0.4 and max(gaps) < 0.6 and abs(ps[0] - 0.0015) < 0.0001 and ps[1] < 0.001
    return f"by {gaps[0]:.2f} and {gaps[1]:.2f}, p = {ps[0]:.2g} and {ps[1]:.2g}", holds


def hopper(agent: str) -> np.ndarray:
    """The evaluations of two seeds, (2, 50)."""
    return np.array(load_results("06_hopper")[agent]["returns"])


def last_ten_on_hopper() -> Evidence:
    """Means of the last ten evaluations; TD3's two lie further apart than the two agents do."""
    means = {name: hopper(name)[:, -10:].mean(axis=1) for name in ("td3", "sac")}
    said = {name: [round(mean) for mean in each] for name, each in means.items()}
    apart = np.ptp(means["td3"]) > abs(means["td3"].mean() - means["sac"].mean())
    return str(said), apart and said == {"td3": [2615, 1175], "sac": [1699, 1895]}


def hopper_halves() -> Evidence:
    returns = np.concatenate([hopper("td3"), hopper("sac")])
    falls = falls_in(returns)
    return str(falls), (min(falls), max(falls)) == (2, 4)


def given_steps() -> Evidence:
    steps = [
        load_results(f"{name}_{world}")["settings"]["steps"]
        for world in ("Pendulum-v1", "MountainCarContinuous-v0")
        for name in ("sac", "ddpg", "td3")
    ]
    return str(steps), steps == [8_000, 12_000, 12_000, 10_000, 20_000, 20_000]
