"""What the claims of lesson 08 compute: the labs, the studies, and critics far from their data."""

import numpy as np
from numpy.typing import NDArray

from helpers.demos.files import load_demos
from helpers.show.figures.results import effects_table
from helpers.training.results import load_results
from helpers.training.settings import DEMOS
from lessons.evidence.shared import Evidence, Lab, higher, means

OFFLINE, ONLINE, COPIES = (f"{name}_SparsePendulum-v0" for name in ("td3bc", "rlpd", "bc"))
DDPGFD = "ddpgfd_SparsePendulum-v0"
TAUGHT, CLONING, TD3, NORMED = "TD3+BC as taught", "alpha 0", "no BC term", "no BC term, LayerNorm"
MEDIUM, BEGINNER = "Pendulum: a medium policy", "Pendulum: a beginner's replay"
CLUMSY = load_demos(DEMOS / "clumsy_pendulum.npz").returns
lab, online = Lab("08_break_it", TAUGHT), Lab("08b_break_it", "RLPD as taught")


def returns_of(name: str) -> NDArray[np.float64]:
    return load_demos(DEMOS / f"{name}.npz").returns


def offline_table():
    """As the lesson shows it: without Pendulum's data sets."""
    runs = load_results("08_break_it")
    return effects_table({k: each for k, each in runs.items() if not k.startswith("Pendulum")})


def online_table():
    return effects_table(load_results("08b_break_it"))


def columns(*counts: int) -> Evidence:
    """How many of ten seeds of cloning, TD3, TD3 with LayerNorm and TD3+BC are at the bar."""
    found = [int((lab.final(each) >= 120).sum()) for each in (CLONING, TD3, NORMED, TAUGHT)]
    return str(found), found == [*counts]


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
    """What critics say of a start in the lab's variants on the sparse pendulum, discounted."""
    names = [name for name, each in load_results("08_break_it").items() if isinstance(each, dict)]
    found = [np.abs(lab.value(n)).max() * 100 for n in names if n in (TD3, NORMED, TAUGHT)]
    return f"at most {max(found):.1f}", max(found) < most


def better_than_its_data(variant: str, data: str) -> Evidence:
    return higher(lab.final(variant), returns_of(data))


def worse_than_its_data(variant: str, data: str) -> Evidence:
    return higher(returns_of(data), lab.final(variant))


def fresh(count: int) -> Evidence:
    """Twenty seeds that were kept back."""
    found = means("08_fresh_seeds")
    return f"{(found >= 120).sum()} of {len(found)}", int((found >= 120).sum()) == count
