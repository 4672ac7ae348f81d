"""What claims are made of: comparisons over stored labs and studies, and numbers that round.

Evidence is what was computed, in words, and whether it bears the claim out. The rule for
comparisons: *better*, *sooner* and the like need p < 0.05 in a permutation test over seeds
(`helpers.training.statistics.permutation_test`); otherwise *no difference shown*.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.checks.edits import source_of_reference
from helpers.checks.exercise import find
from helpers.show.table import Table
from helpers.training.results import load_results
from helpers.training.settings import SETTINGS
from helpers.training.statistics import LEVEL, permutation_test

Evidence = tuple[str, bool]


def seconds_of(study: str) -> float:
    """What training took, the median: CPU time; in older studies what the clock said."""
    rows = load_results(study)["results"]
    return float(np.median([row.get("cpu_seconds", row["seconds"]) for row in rows]))


def means(study: str) -> NDArray[np.float64]:
    """The evaluation after training, one number a seed."""
    return np.array([row["mean"] for row in load_results(study)["results"]])


def broken(exercise_id: str, line: str) -> Evidence:
    """Whether the bug to find is in this line: the mended function does not have it."""
    exercise = find(exercise_id)
    return line, line in exercise.broken and line not in source_of_reference(exercise.reference)


@dataclass(frozen=True)
class Lab:
    """A stored lab: variants with returns while training and evaluations afterwards, ten seeds."""

    name: str

    def runs(self, variant: str) -> dict[str, Any]:
        found = load_results(self.name)
        if variant not in found:
            raise KeyError(f"{self.name} has no variant {variant!r}.")
        return found[variant]

    def final(self, variant: str) -> NDArray[np.float64]:
        """The evaluation after training, one number a seed."""
        return np.array(self.runs(variant)["evaluations"], dtype=float)

    def training(self, variant: str) -> NDArray[np.float64]:
        """The mean return while training, one number a seed: higher is sooner."""
        return np.mean(self.runs(variant)["returns"], axis=1)

    def value(self, variant: str) -> NDArray[np.float64]:
        """What the critic says of a start after training, one number a seed."""
        return np.array(self.runs(variant)["values"], dtype=float)

    # --- evidence -------------------------------------------------------------------------------

    def sooner(self, one: str, other: str) -> Evidence:
        return higher(self.training(one), self.training(other))

    def later(self, one: str, other: str, most: float = 0.001) -> Evidence:
        """The first variant learns later, and p is below `most`."""
        return higher(self.training(other), self.training(one), most)

    def better(self, one: str, other: str) -> Evidence:
        return higher(self.final(one), self.final(other))

    def ten_seeds(self) -> Evidence:
        """Of each variant."""
        kept = (runs for runs in load_results(self.name).values() if isinstance(runs, dict))
        counts = {len(runs["seeds"]) for runs in kept if "seeds" in runs}
        return str(counts), counts == {10}

    def reach_the_bar(self, count: int, *variants: str) -> Evidence:
        """Each of the variants reaches its bar with just so many seeds."""
        there = {v: int((self.final(v) >= self.runs(v)["bar"]).sum()) for v in variants}
        return ", ".join(f"{v}: {n}" for v, n in there.items()), set(there.values()) == {count}


def higher(one: NDArray, other: NDArray, most: float = LEVEL) -> Evidence:
    """Whether the first is higher by the course's rule, or with a p below `most`."""
    p = permutation_test(one, other)
    return f"{one.mean():.4g} against {other.mean():.4g}, p = {p:.2g}", (
        p < most and one.mean() > other.mean()
    )


def alike(one: NDArray, other: NDArray) -> Evidence:
    """Whether no difference is shown by the course's rule."""
    p = permutation_test(one, other)
    return f"{one.mean():.4g} against {other.mean():.4g}, p = {p:.2g}", p >= LEVEL


def says(table: Table, variant: str, effect: str) -> Evidence:
    """A row of an `effects_table`, corrected for the number of its tests: "worse in training"."""
    found = next(str(row[-1]) for row in table.rows if row[0] == variant)
    return f"{variant}: {found}", found == effect


def both(*all_of: Evidence) -> Evidence:
    """Evidence that holds if each one does."""
    return "; ".join(said for said, _ in all_of), all(holds for _, holds in all_of)


def at_the_bar(study: str, count: int) -> Evidence:
    """A stored study in which just so many seeds reach the bar."""
    reached = means(study) >= load_results(study)["settings"]["bar"]
    return f"{reached.sum()} of {len(reached)}", reached.sum() == count


def twenty_seeds(*studies: str) -> Evidence:
    """In each just the seeds that its setting is reported on."""
    seeds = {study: [row["seed"] for row in load_results(study)["results"]] for study in studies}
    said = {study: f"{each[0]} to {each[-1]}" for study, each in seeds.items()}
    reported = {f"{each.algorithm}_{each.env_id}": each.seeds for each in SETTINGS.values()}
    return str(said), all(each == [*reported[study]] for study, each in seeds.items())


def p_is(said: float, one: NDArray, other: NDArray) -> Evidence:
    """The p that the text names, to its last digit."""
    digits = len(f"{said:.10f}".rstrip("0").split(".")[1])
    return near(permutation_test(one, other), said, 0.5001 * 10**-digits)


def near(found: float, said: float, within: float) -> Evidence:
    """A computed number that rounds to what the text says."""
    return f"{float(found):.6g}", abs(float(found) - said) <= within
