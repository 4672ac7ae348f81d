"""What the claims of lesson 04 compute: studies, clones, the corridor, the lab."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.measure.lesson_04 import GAMMA, ROOMS, UPDATES, VARIANTS, stored
from helpers.agents.ddpgfd import DDPGfD
from helpers.demos.files import load_demos
from helpers.memory.buffers import n_step_return
from helpers.show.figures.results import effects_table
from helpers.training.results import load_results
from helpers.training.settings import DEMOS, Setting, get_setting
from lessons.evidence.shared import Evidence, Lab, alike, at_the_bar, both, higher, means

SPARSE = "SparsePendulum-v0"
LOOP = f"algorithms/ddpgfd_{SPARSE}"
LOW = 34  # the clumsy teacher's mean return

lab, lab_02 = Lab("04_break_it"), Lab("02_break_it")


def says(value: Any, holds: Any) -> Evidence:
    """A computed value and a condition on it."""
    return str(value), bool(holds(value))


# ---- clones --------------------------------------------------------------------------------------


def teacher(late: bool, few: bool, slips: bool) -> dict[str, NDArray]:
    """The returns of a teacher with these handicaps, and of its ten clones."""
    asked = {"late": late, "few torques": few, "slips": slips}
    for row in load_results("04_handicaps")["results"]:
        if {name: row[name] for name in asked} == asked:
            return {name: np.array(row[name]) for name in ("teacher", "copies")}
    raise KeyError(asked)


def late_teachers(slips: bool) -> NDArray:
    """The twenty clones of the two late teachers, one with few torques."""
    return np.concatenate([teacher(True, few, slips)["copies"] for few in (False, True)])


def clones(updates: int | str, part: str = "mean") -> NDArray:
    """One number for each of twenty clones: after so many updates, or "held out"."""
    rows = load_results("04_copies")["results"]
    if updates == "held out":
        return np.array([row["held out"] for row in rows])
    return np.array([row[part][UPDATES.index(updates)] for row in rows])


def low(returns: NDArray) -> NDArray:
    """Which clones are below their teacher: 1 or 0."""
    return (returns < LOW).astype(float)


def two_groups(*sets: NDArray) -> Evidence:
    """All below 34 or above 98, nothing between."""
    found = np.sort(np.concatenate(sets))
    return str(found), not ((found > LOW) & (found < 98)).any()


def no_correlation() -> Evidence:
    """By permutation: how often shuffled returns correlate as much with the loss."""
    loss, score = clones(2000, "loss"), clones(2000)
    seen = np.corrcoef(loss, score)[0, 1]
    rng = np.random.default_rng(0)
    shuffled = [np.corrcoef(loss, rng.permutation(score))[0, 1] for _ in range(5000)]
    p = float(np.mean(np.abs(shuffled) >= abs(seen)))
    return f"correlation {seen:.2f}, p = {p:.2g}", p >= 0.05


# ---- the corridor --------------------------------------------------------------------------------


def corridor_runs() -> dict[str, Any]:
    """As the lesson's cell makes them."""
    return {
        name: {
            "returns": each["values"], "evaluations": [v[-1] for v in each["values"]],
            "found": np.array(each["found"]) / 1000, "bar": 0.95,
        }
        for name, each in load_results("04_corridor")["results"].items()
    }  # fmt: skip


def in_corridor(name: str, part: str) -> NDArray:
    """Of each seed the samples until the way was found, or the first room's value at the end."""
    runs = corridor_runs()[name]
    return 1000 * runs["found"] if part == "found" else np.array(runs["evaluations"])


def effect(variant: str, *effects: str) -> Evidence:
    """What the lesson's table of the corridor says of a variant."""
    table = effects_table(corridor_runs(), **{"search time": lambda run: run["found"]})
    found = next(str(row[-1]) for row in table.rows if row[0] == variant)
    return f"{variant}: {found}", set(found.split(", ")) == set(effects)


def corridor_limit() -> float:
    """The first room's value where uniform samples with 5-step targets end, as a share.

    Of seed 0's buffer. Updates in expectation: each entry of the table moves by the mean of its
    transitions' errors, until none is left.
    """
    room, right, end = stored(np.random.default_rng(0))
    places, cell = np.arange(len(room)), (room, right)
    reward = 1.0 * ((cell[1] == 1) & (cell[0] == ROOMS - 1))
    following = np.where(end, ROOMS, cell[0] + 1)
    window = np.minimum(places[:, None] + np.arange(5), len(room) - 1)
    n_reward, k = n_step_return(reward[window], end[window], GAMMA)
    n_following = following[places + k - 1]
    table, drawn = np.zeros((2, ROOMS + 1, 2))
    np.add.at(drawn, cell, 1)
    for _ in range(1000):
        best, errors = table.max(axis=1), np.zeros_like(table)
        target = reward + GAMMA * best[following]
        n_target = n_reward + GAMMA**k * best[n_following]
        np.add.at(errors, cell, (target + 0.5 * n_target) / 1.5 - table[cell])
        table += errors / np.maximum(drawn, 1)
    return float(table[0, 1] / GAMMA ** (ROOMS - 1))


# ---- the bug -------------------------------------------------------------------------------------


def bug_values() -> Evidence:
    """Three seeds each: right they end below 100, with the bug above 190."""
    runs = load_results("04_bug")["results"]
    right, broken = (np.array(runs[name]["values"])[:, -1] for name in ("right", "broken"))
    fits = len(right) == len(broken) == 3 and right.max() < 100 and broken.min() > 190
    return f"{right} and {broken}", fits


# ---- trainings -----------------------------------------------------------------------------------


def only_the_demonstrations() -> Evidence:
    """The table of the lab says of no other variant that it shows a difference."""
    rows = effects_table(load_results("04_break_it")).rows[1:]
    shown = {str(row[0]): str(row[-1]) for row in rows if row[-1] != "not shown"}
    return str(shown), shown.keys() == {"no demonstrations"}


def updates(setting: Setting) -> int:
    """How many a training makes, in units of a thousand."""
    agent = setting.make(0)
    before = agent.pretraining if isinstance(agent, DDPGfD) else 0
    count = before + (setting.steps - agent.learning_starts) * agent.gradient_steps
    return round(count, -3)


def same_bar_in_half_the_steps() -> Evidence:
    """As lesson 02's agent; with how many updates."""
    return both(
        at_the_bar("ddpgfd_Pendulum-v1", 20),
        says(
            [get_setting(name, "Pendulum-v1") for name in ("ddpgfd", "ddpg")],
            lambda found: (
                2 * found[0].steps == found[1].steps
                and found[0].bar == found[1].bar
                and list(map(updates, found)) == [14_000, 11_000]
            ),
        ),
    )


def two_and_never() -> Evidence:
    """Of DDPG's twenty seeds two reach the threshold, ten end at exactly 0."""
    alone = means(f"ddpg_{SPARSE}")
    return both(at_the_bar(f"ddpg_{SPARSE}", 2), says((alone == 0).sum(), lambda n: n == 10))
