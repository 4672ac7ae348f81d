"""What the claims of lesson 08 compute: the labs, the studies, and critics far from their data."""

import numpy as np

from helpers.demos.files import load_demos
from helpers.labs.variants import load_lab
from helpers.show.figures.results import effects_table
from helpers.training.results import load_results
from helpers.training.settings import DEMOS
from lessons.evidence.shared import Evidence, Lab

OFFLINE, RLPD = "td3bc_SparsePendulum-v0", "rlpd_SparsePendulum-v0"
TAUGHT, CLONING, TD3, NORMED = "TD3+BC as taught", "alpha 0", "no BC term", "no BC term, LayerNorm"
MEDIUM, BEGINNER = "Pendulum: a medium policy", "Pendulum: a beginner's replay"
SKILLED = "five of the skilled teacher"
CLUMSY = load_demos(DEMOS / "clumsy_pendulum.npz").returns
lab, rlpd_lab = Lab("08_break_it"), Lab("08b_break_it")
effects = effects_table({k: v for k, v in load_lab("08").items() if not k.startswith("Pendulum")})
rlpd_effects = effects_table(load_lab("08b"))


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


def walker_at_the_end(name: str, agent: str, said: list[float]) -> Evidence:
    """On Walker2d, each seed's evaluation after 150,000 steps."""
    found = np.array(load_results(name)[agent]["returns"])[:, 29]
    return str(found), np.abs(found - said).max() <= 0.5
