"""What the claims of lesson 07 compute."""

from collections.abc import Sequence

import numpy as np

from helpers.algorithms import ppo
from helpers.labs.variants import load_lab
from helpers.show.figures import effects_table
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from lessons.evidence.shared import Evidence, Lab, both, means, says, seconds_of

lab = Lab("07_break_it")

UNCLIPPED, BOTH_WORSE = "ratios not clipped", "worse in training, worse at the end"
NORMALIZED = {name: means(f"ppo_normalize-{name}") for name in ("none", "obs", "both")}

_runs = load_lab("07")
cartpole_effects = effects_table({k: v for k, v in _runs.items() if "pendulum" not in k})
pendulum_effects = effects_table(
    {k.removeprefix("pendulum, "): v for k, v in _runs.items() if "pendulum" in k}
)


def all_training() -> float:
    """CPU seconds of the lesson: both tasks, and three seeds of a change, at most."""
    return 4 * seconds_of("algorithms/ppo_CartPole-v1") + seconds_of("algorithms/ppo_Pendulum-v1")


def of_ours(*names: str, values: Sequence[float], s: ppo.Settings = ppo.CARTPOLE) -> Evidence:
    """What the lesson's agents are trained with."""
    found = [getattr(s, name) for name in names]
    return str(found), found == list(values)


def others_on_cartpole() -> Evidence:
    """Of what is neither clipping, epochs nor minibatches only early stopping shows an effect."""
    details = (
        "advantages not normalised", "torch's own initial weights", "no annealing",
        "values clipped", "gradient not clipped",
    )  # fmt: skip
    return both(
        says(cartpole_effects, "stopped by the KL", "worse in training"),
        *(says(cartpole_effects, detail, "not shown") for detail in details),
    )


def steps_to_threshold() -> Evidence:
    """Mean steps until the last twenty training episodes average the threshold."""
    found = load_results("07_time_to_bar")["results"]
    ours, theirs = (np.array([row["steps"] for row in found[name]]) for name in ("ppo", "a2c"))
    p, numbers = permutation_test(ours, theirs), [round(x.mean(), -3) for x in (ours, theirs)]
    return f"{numbers}, p = {p:.2g}, {len(ours)}", numbers == [26_000, 72_000] and p < 0.001


def normalized_seeds() -> Evidence:
    counts = {len(each) for each in NORMALIZED.values()}
    return str(counts), counts == {10}


def better_normalized(name: str, most: float, times: float) -> Evidence:
    """Better than without, by p for two tests, and so many times as much."""
    one, other = NORMALIZED[name], NORMALIZED["none"]
    p, factor = 2 * permutation_test(one, other), one.mean() / other.mean()
    return f"{factor:.2f}, p for two tests {p:.2g}", p < most and abs(factor - times) < 0.05


def _signals(name: str, key: str) -> np.ndarray:
    """What was logged in the trainings of Figure 5."""
    runs = load_results("07_broken")["results"][name]
    return np.concatenate([[number for _, number in run[key]] for run in runs])


def usual_signals() -> Evidence:
    """The middle 90 % of the logged numbers without the bug lies in the ranges of the table."""
    kl, share = (
        np.percentile(_signals("without", key), [5, 95]) for key in ("approx_kl", "clip_fraction")
    )
    inside = kl[0] >= 0.001 and kl[1] <= 0.05 and share[1] <= 0.3
    return f"KL {kl.round(4)}, clip fraction {share.round(3)}", bool(inside)


def broken_signals() -> Evidence:
    """With the bug, as long as the policy still moves."""
    kl, share = (_signals("with the bug", key) for key in ("approx_kl", "clip_fraction"))
    moving = share > 0.01
    factor = np.median(kl[moving]) / np.median(_signals("without", "approx_kl"))
    half, last = np.median(share[moving]), _signals("with the bug", "return")[-1]
    return f"{factor:.0f} times, {half:.2f}", 200 < factor < 1000 and half > 0.5 and last < 60
