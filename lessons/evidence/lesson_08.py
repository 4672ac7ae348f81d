"""What the claims of lesson 08 compute: the labs, the studies, and critics far from their data."""

import numpy as np

from helpers.demos.files import load_demos
from helpers.training.results import load_results
from helpers.training.settings import DEMOS
from helpers.training.statistics import LEVEL, permutation_test
from lessons.evidence.shared import Evidence, Lab

OFFLINE = "td3bc_SparsePendulum-v0"
TAUGHT, CLONING, TD3, NORMED = "TD3+BC as taught", "alpha 0", "no BC term", "no BC term, LayerNorm"
MEDIUM, BEGINNER = "Pendulum: a medium policy", "Pendulum: a beginner's replay"
CLUMSY = load_demos(DEMOS / "clumsy_pendulum.npz").returns
lab = Lab("08_break_it", TAUGHT)


def columns_are_worse(*variants: str) -> Evidence:
    """Each ends below TD3+BC, corrected for as many tests as there are columns."""
    ps = {each: permutation_test(lab.final(each), lab.final(TAUGHT)) for each in variants}
    lower = all(lab.final(each).mean() < lab.final(TAUGHT).mean() for each in variants)
    return str(ps), lower and max(ps.values()) * len(ps) < LEVEL


def at_bar(variant: str) -> tuple[int, int]:
    """How many seeds reach their bar, and how many there are."""
    found = lab.final(variant) >= lab.runs(variant)["bar"]
    return int(found.sum()), len(found)


def every(*variants: str) -> Evidence:
    """All seeds of each."""
    found = {each: at_bar(each) for each in variants}
    return str(found), all(there == seeds for there, seeds in found.values())


def fewer_than_half(*variants: str) -> Evidence:
    found = {each: at_bar(each) for each in variants}
    return str(found), all(2 * there < seeds for there, seeds in found.values())


def more_than_half(*variants: str) -> Evidence:
    found = {each: at_bar(each) for each in variants}
    return str(found), all(2 * there > seeds for there, seeds in found.values())


def none(*variants: str) -> Evidence:
    found = {each: at_bar(each) for each in variants}
    return str(found), all(there == 0 for there, _ in found.values())


def largest(name: str, distance: int) -> float:
    """The median over twenty fits of the largest |Q| at this distance."""
    far = load_results("08_far_away")
    place = far["distances"].index(distance)
    return float(np.median([fit["largest"][place] for fit in far[name]]))


def errors() -> Evidence:
    """Inside the data both kinds of critic err by less than 0.01 in the median."""
    far = load_results("08_far_away")
    found = [
        float(np.median([fit["error"] for fit in far[n]])) for n in ("without", "with LayerNorm")
    ]
    return str(found), max(found) < 0.01


def values_stay(most: float) -> Evidence:
    """What critics say of a start, in rewards of the sparse pendulum; standing for ever is 100."""
    found = [np.abs(lab.value(each)).max() * 100 for each in (TD3, NORMED, TAUGHT)]
    return f"at most {max(found):.1f}", max(found) < most
