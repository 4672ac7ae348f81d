"""What the claims of lesson 06 compute: its figures, small experiments and studies."""

import math

import numpy as np
import torch

from helpers.labs.variants import load_lab
from helpers.show.figures import effects_table
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
from lessons.evidence.shared import Evidence, Lab

TAUGHT, NO_ENTROPY = "SAC as taught", "no entropy in the target"
MEAN, UNCORRECTED = "mean in place of sample", "no tanh correction"
lab, agents = Lab("06_break_it"), Lab("06b_break_it")
effects, agents_effects = effects_table(load_lab("06")), effects_table(load_lab("06b"))


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


def wrong_with_a_small_number() -> Evidence:
    """The logarithm with 10^-6 added is off by a tenth from between 6 and 8 on."""
    u = torch.linspace(0, FAR, 1201)
    _, lifted, stable = corrections(u).values()
    first = float(u[(lifted - stable).abs() > 0.1].min())
    return f"{first:.2f}", 6 < first < 8


def times_the_variance() -> float:
    one, other = (exact(0.0, 0.4, 0.0)[1][name] for name in COLOURS)
    return (other / one) ** 2


def least_times_the_variance() -> float:
    """The same with the constant added to Q that leaves the score function least variance."""
    spreads = [exact(offset, 0.4, 0.0)[1] for offset in np.linspace(-10, 10, 2001)]
    one, other = COLOURS
    return min(spread[other] / spread[one] for spread in spreads) ** 2


def turns_round() -> Evidence:
    """With the most ripples that the slider allows, and a policy of the figure's first width."""
    one, other = (exact(0.0, 0.4, 0.2)[1][name] for name in COLOURS)
    return f"{one:.2f} against {other:.2f}", one > other


def soft_maximum(temperature: float) -> float:
    """Of two actions worth 1 and 0.8."""
    return temperature * math.log(math.exp(1 / temperature) + math.exp(0.8 / temperature))


def hopper(agent: str) -> np.ndarray:
    """The evaluations of two seeds, (2, 50)."""
    return np.array(load_results("06_hopper")[agent]["returns"])


def hopper_halves() -> Evidence:
    returns = np.concatenate([hopper("td3"), hopper("sac")])
    falls = falls_in(returns)
    return str(falls), (min(falls), max(falls)) == (2, 4)


def given_steps() -> Evidence:
    """In the studies with twenty seeds."""
    steps = [
        load_results(f"{name}_Pendulum-v1")["settings"]["steps"] for name in ("sac", "ddpg", "td3")
    ]
    return str(steps), steps == [8_000, 12_000, 12_000]


def same_budget() -> Evidence:
    """The three agents have the same seeds and steps."""
    runs = [agents.runs(name) for name in ("SAC", "TD3", "DDPG")]
    said = {(*each["seeds"], each["steps"][-1]) for each in runs}
    return str(said), said == {(*range(120, 130), 5000)}


def other_seeds() -> Evidence:
    """The lab and the comparison of three agents share no seed."""
    both_use = set(lab.runs(TAUGHT)["seeds"]) & set(agents.runs("SAC")["seeds"])
    return str(both_use), not both_use
