"""What of A2C pays off on a pendulum that never ends: ten seeds of each variant.

    python -m data.measure.lesson_01 long_pendulum

writes data/results/01_long_pendulum.json and goes on where it was stopped. The measure was named
beforehand: "evaluations" is the mean training return of the last third of the steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from data.measure.stored import measure
from helpers.algorithms import a2c, reinforce
from helpers.training.results import RESULTS, load_results

NAME = "01_long_pendulum"
SEEDS = range(10, 20)
BAR = -900.0
POINTS = 25
VARIANTS: dict[str, tuple[ModuleType, Any]] = {
    "A2C as taught": (a2c, a2c.LONG_PENDULUM),
    "REINFORCE with a baseline": (reinforce, reinforce.LONG_PENDULUM),
    "lambda 0": (a2c, replace(a2c.LONG_PENDULUM, lam=0.0)),
    "one critic update": (a2c, replace(a2c.LONG_PENDULUM, critic_steps=1)),
    "1 environment, 512 steps": (a2c, replace(a2c.LONG_PENDULUM, n_envs=1, n_steps=512)),
}


def run(variant: str, seed: int) -> dict[str, Any]:
    """The mean of the last eight training returns at POINTS steps, and that of the last third."""
    file, s = VARIANTS[variant]
    steps, returns = np.array(file.train(s, seed).history["return"]).T
    before = np.searchsorted(steps, points(s.steps), "right")  # episodes that ended by then
    curve = [returns[max(count - 8, 0) : max(count, 8)].mean() for count in before]
    late = returns[steps > s.steps * 2 / 3].mean()
    return {"returns": np.round(curve, 1).tolist(), "evaluations": round(float(late), 1)}


def points(steps: int) -> list[int]:
    return [round(steps * part / POINTS) for part in range(1, POINTS + 1)]


def long_pendulum() -> Iterator[dict[str, Any]]:
    record = load_results(NAME) if (RESULTS / f"{NAME}.json").exists() else {}
    for seed, variant in ((seed, variant) for seed in SEEDS for variant in VARIANTS):
        empty = {"bar": BAR, "seeds": [], "steps": points(a2c.LONG_PENDULUM.steps)}
        runs = record.setdefault(variant, empty | {"returns": [], "evaluations": []})
        if seed in runs["seeds"]:
            continue
        for key, value in {"seeds": seed, **run(variant, seed)}.items():
            runs[key].append(value)
        print(variant, seed, runs["evaluations"][-1], flush=True)
        yield record


if __name__ == "__main__":
    measure("01", long_pendulum)
