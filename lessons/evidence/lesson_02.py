"""What the claims of lesson 02 compute: the lab, both studies, the first time at the threshold."""

import numpy as np

from helpers.show.figures.results import effects_table
from helpers.training.results import load_results
from lessons.evidence.shared import Evidence, Lab, higher, seconds_of

PENDULUM, CAR = "ddpg_Pendulum-v1", "ddpg_MountainCarContinuous-v0"
lab = Lab("02_break_it")
RUNS = {name: runs for name, runs in load_results(lab.name).items() if "returns" in runs}
ON_PENDULUM, ON_CAR = (
    effects_table({name: runs for name, runs in RUNS.items() if name.startswith("car") == is_car})
    for is_car in (False, True)
)


def costs_most_of_those_that_pass(name: str) -> Evidence:
    """Of Pendulum's variants with ten seeds at the threshold it has the lowest training returns."""
    passing = [row[0] for row in ON_PENDULUM.rows if row[1] == "10 of 10"]
    returns = {str(each): lab.training(str(each)).mean() for each in passing}
    lowest = min(returns, key=lambda each: returns[each])
    return f"{lowest}: {returns[lowest]:.0f}", lowest == name


def no_flag() -> Evidence:
    best = max(map(max, lab.runs("car, no correlation at all")["returns"]))
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


def seconds_in_all() -> float:
    """Pendulum's training, and in proportion to their updates the car's and three short ones."""
    pendulum = seconds_of("algorithms/ddpg_Pendulum-v1")
    return pendulum * (11_000 + 17_000 + 3 * 5000) / 11_000


def runs_away() -> Evidence:
    """One critic's value of a start, in the environment's; the flag gives 100."""
    values = lab.value("car, no target networks") / (1 - 0.99)
    failed = lab.final("car, no target networks") < load_results(CAR)["settings"]["bar"]
    return f"{np.sort(values).round()}", bool(
        round(values[failed].max()) == 473 and (values > 100).sum() == 1 and failed.sum() == 2
    )


def broken_values() -> Evidence:
    """Each seed of the broken agent ends with a value above 0, and misses the threshold."""
    stored = load_results("02_bug")
    last, scores = np.array(stored["values"])[:, -1], np.array(stored["evaluations"])
    return f"{last}, {scores}", bool((last > 0).all() and (scores < -1000).all())
