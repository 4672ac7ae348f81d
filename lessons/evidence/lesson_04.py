"""What the claims of lesson 04 compute: studies, copies, the corridor, costs, the lab."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.agents.ddpgfd import DDPGfD
from helpers.demos.files import load_demos
from helpers.memory.buffers import n_step_return
from helpers.training.results import load_results
from helpers.training.settings import DEMOS, Setting, get_setting
from lessons.evidence.shared import (
    Evidence,
    Lab,
    alike,
    at_the_bar,
    both,
    higher,
    means,
    p_is,
    seconds_of,
)

LESSON = Path(__file__).resolve().parent.parent / "04_ddpgfd.md"
TAUGHT, SPARSE = "DDPGfD as taught", "SparsePendulum-v0"


lab, lab_02 = Lab("04_break_it", TAUGHT), Lab("02_break_it")


def seconds(study: str) -> float:
    """The median of a stored study's training times."""
    return float(np.median(seconds_of(study)))


def teacher(late: bool, few: bool, slips: bool) -> dict[str, NDArray]:
    """The returns of a teacher with these handicaps, and of its ten copies."""
    asked = {"late": late, "few torques": few, "slips": slips}
    for row in load_results("04_handicaps")["results"]:
        if {name: row[name] for name in asked} == asked:
            return {name: np.array(row[name]) for name in ("teacher", "copies")}
    raise KeyError(asked)


def two_kinds() -> Evidence:
    """The copies of the four teachers that are not late."""
    kinds = [teacher(False, few, slips) for few in (False, True) for slips in (False, True)]
    found = np.sort(np.concatenate([kind["copies"] for kind in kinds]))
    low, high = found[found < 100], found[found >= 100]
    return f"{low.min()} to {low.max()}, {high.min()} to {high.max()}", bool(
        low.max() < 62 and high.min() > 134
    )


def updates(setting: Setting) -> int:
    """How many a training makes, in units of a thousand."""
    agent = setting.make(0)
    before = agent.pretraining if isinstance(agent, DDPGfD) else 0
    count = before + (setting.steps - agent.learning_starts) * agent.gradient_steps
    return round(count, -3)


def copies(part: str) -> NDArray:
    return np.array([row[part] for row in load_results("04_copies")["results"]])


def silent(variant: str, seed: int) -> dict[str, Any]:
    rows = load_results("04_silent")["results"]
    return next(row for row in rows if (row["variant"], row["seed"]) == (variant, seed))


def in_corridor(name: str, part: str) -> NDArray:
    """Of each seed the draws until the way was found, or the start's value at the end."""
    runs = load_results("04_corridor")["results"][name]
    return np.array(runs["found"] if part == "found" else [v[-1] for v in runs["values"]])


def corridor(one: str, other: str, part: str) -> Evidence:
    """Whether the first has higher values, or finds the way after fewer draws."""
    sign = -1 if part == "found" else 1
    return higher(sign * in_corridor(one, part), sign * in_corridor(other, part))


def cells(*slugs: str) -> dict[str, Any]:
    """What the lesson's own cells of these names define."""
    names: dict[str, Any] = {"np": np, "n_step_return": n_step_return}
    for slug in slugs:
        cell = re.search(rf":slug: {slug}\n(.*?)^```", LESSON.read_text("utf-8"), re.M | re.S)
        exec(cell[1], names)  # type: ignore[index]
    return names


def corridor_limit() -> float:
    """The start's value where uniform draws with 5-step targets end, as a share of the true one.

    Of seed 0's memory. Updates in expectation: each entry of the table moves by the mean of its
    transitions' errors, until none is left.
    """
    lesson = cells("corridor")
    rooms, gamma = lesson["STATES"], lesson["GAMMA"]
    state, right, end = lesson["corridor"](np.random.default_rng(0))
    places, cell = np.arange(len(state)), (state, right)
    reward = 1.0 * ((cell[1] == 1) & (cell[0] == rooms - 1))
    following = np.where(end, rooms, cell[0] + 1)
    window = np.minimum(places[:, None] + np.arange(5), len(state) - 1)
    n_reward, k = n_step_return(reward[window], end[window], gamma)
    n_following = following[places + k - 1]
    table, drawn = np.zeros((2, rooms + 1, 2))
    np.add.at(drawn, cell, 1)
    for _ in range(1000):
        best, errors = table.max(axis=1), np.zeros_like(table)
        target = reward + gamma * best[following]
        n_target = n_reward + gamma**k * best[n_following]
        np.add.at(errors, cell, (target + 0.5 * n_target) / 1.5 - table[cell])
        table += errors / np.maximum(drawn, 1)
    return float(table[0, 1] / gamma ** (rooms - 1))


def says(value: Any, holds: Callable[[Any], bool]) -> Evidence:
    """A computed value and a condition on it."""
    found = value
    return str(found), bool(holds(found))


def no_correlation() -> Evidence:
    """By permutation: how often shuffled returns correlate as much with the loss."""
    loss, score = copies("loss"), copies("mean")
    seen = np.corrcoef(loss, score)[0, 1]
    rng = np.random.default_rng(0)
    shuffled = [np.corrcoef(loss, rng.permutation(score))[0, 1] for _ in range(5000)]
    p = float(np.mean(np.abs(shuffled) >= abs(seen)))
    return f"correlation {seen:.2f}, p = {p:.2g}", p >= 0.05


def cost() -> dict[str, NDArray]:
    rows = load_results("04_cost")["results"]
    names = dict.fromkeys(row["name"] for row in rows)
    return {n: np.array([r["microseconds"] for r in rows if r["name"] == n]) for n in names}


def python_trees() -> NDArray:
    slow = ("a tutorial's Python tree", "Python trees as in Baselines")
    return np.array([cost()[name] / cost()["ours"] for name in slow])


def skilled() -> float:
    """The skilled teacher's mean on 100 other starts, as `tools.demos` wrote it down."""
    row = next(
        line for line in (DEMOS / "README.md").read_text().splitlines()
        if line.startswith("| `sparse_pendulum")
    )  # fmt: skip
    return float(re.search(r"([\d.]+) ±", row)[1])  # type: ignore[index]


# What the machine of DDPGfD's studies needs where the notebooks' machine needs 1: a step of TD3 on
# Pendulum, by autograd, took 0.71 ms there and 1.17 here.
FASTER = 0.6


def training_seconds() -> float:
    """All trainings of the notebook, by the stored medians; the corridor and its like aside."""
    main = sum(seconds(f"{name}_{SPARSE}") for name in ("bc", "bc", "ddpgfd"))
    now_you = 3 * seconds(f"ddpgfd_{SPARSE}") * 4800 / 18_000
    there = main + seconds("ddpgfd_Pendulum-v1") + now_you
    return there / FASTER + seconds(f"ddpg_{SPARSE}")


def variants_of_lab() -> list[dict[str, Any]]:
    found = load_results("04_break_it").values()
    return [runs for runs in found if isinstance(runs, dict) and "evaluations" in runs]


OTHERS = (
    "uniform replay", "no weights", "no bonus", "no slope in the priority", "no pre-training",
    "one step only", "one update a step",
)  # fmt: skip


def no_copies_better() -> Evidence:
    """Of the four teachers that are not late."""
    return says(
        [
            higher(found["copies"], found["teacher"])
            for few in (False, True)
            for slips in (False, True)
            for found in [teacher(False, few, slips)]
        ],
        lambda found: not any(better for _, better in found),
    )


def copies_of_three_worse() -> Evidence:
    """Of the four teachers that are not late; of few torques without slips by p = 0.04."""
    return both(
        higher(*teacher(False, False, False).values()),
        higher(*teacher(False, False, True).values()),
        higher(*teacher(False, True, False).values()),
        alike(*teacher(False, True, True).values()),
        p_is(
            0.04,
            teacher(False, True, False)["teacher"],
            teacher(False, True, False)["copies"],
        ),
    )


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


def two_and_nearly_a_third() -> Evidence:
    """Of DDPG's twenty seeds; thirteen end at 0, ten of them exactly."""
    return both(
        at_the_bar(f"ddpg_{SPARSE}", 2),
        says(
            np.sort(means(f"ddpg_{SPARSE}")),
            lambda found: (
                (found == 0).sum() == 10
                and (np.round(found) == 0).sum() == 13
                and found[16] < 8
                and round(found[17]) == 118
            ),
        ),
    )
