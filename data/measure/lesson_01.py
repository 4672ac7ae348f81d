"""What of A2C pays off on a pendulum that never ends: ten seeds of each variant.

    python -m data.measure.lesson_01 long_pendulum

writes data/results/01_long_pendulum.json and goes on where it was stopped. The measure was named
beforehand: "evaluations" is the mean training return of the last third of the steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from data.measure.stored import measure
from helpers.algorithms import a2c, reinforce
from helpers.training.results import RESULTS, load_results

NAME = "01_long_pendulum"
SEEDS = range(10, 20)
BAR = -900.0


def train_with_ten_critic_updates(s: reinforce.Settings, seed: int) -> reinforce.Agent:
    """REINFORCE whose critic learns as often from an episode as A2C's does from a rollout."""
    once = reinforce.update

    def update(agent, obs, actions, returns):
        numbers = once(agent, obs, actions, returns)
        for _ in range(a2c.LONG_PENDULUM.critic_steps - 1):
            loss = reinforce.critic_loss(agent.critic, obs, returns)
            agent.critic_optimizer.zero_grad()
            loss.backward()
            agent.critic_optimizer.step()
        return numbers

    with patch.object(reinforce, "update", update):
        return reinforce.train(s, seed)


# Each is a function of a seed that trains an agent.
VARIANTS = {
    "A2C as taught": partial(a2c.train, a2c.LONG_PENDULUM),
    "REINFORCE with a baseline": partial(reinforce.train, reinforce.LONG_PENDULUM),
    "REINFORCE, ten critic updates": partial(
        train_with_ten_critic_updates, reinforce.LONG_PENDULUM
    ),
    "lambda 0": partial(a2c.train, replace(a2c.LONG_PENDULUM, lam=0.0)),
    "one critic update": partial(a2c.train, replace(a2c.LONG_PENDULUM, critic_steps=1)),
    "1 environment, 512 steps": partial(
        a2c.train, replace(a2c.LONG_PENDULUM, n_envs=1, n_steps=512)
    ),
}
STEPS = a2c.LONG_PENDULUM.steps  # the same for all
POINTS = [round(STEPS * part / 25) for part in range(1, 26)]


def run(variant: str, seed: int) -> dict[str, Any]:
    """The mean of the last eight training returns at POINTS, and that of the last third."""
    steps, returns = np.array(VARIANTS[variant](seed).history["return"]).T
    before = np.searchsorted(steps, POINTS, "right")  # episodes that ended by then
    curve = [returns[max(count - 8, 0) : max(count, 8)].mean() for count in before]
    late = returns[steps > STEPS * 2 / 3].mean()
    return {"returns": np.round(curve, 1).tolist(), "evaluations": round(float(late), 1)}


def long_pendulum() -> Iterator[dict[str, Any]]:
    record = load_results(NAME) if (RESULTS / f"{NAME}.json").exists() else {}
    for seed, variant in ((seed, variant) for seed in SEEDS for variant in VARIANTS):
        empty = {"bar": BAR, "seeds": [], "steps": POINTS}
        runs = record.setdefault(variant, empty | {"returns": [], "evaluations": []})
        if seed in runs["seeds"]:
            continue
        for key, value in {"seeds": seed, **run(variant, seed)}.items():
            runs[key].append(value)
        print(variant, seed, runs["evaluations"][-1], flush=True)
        yield record


if __name__ == "__main__":
    measure("01", long_pendulum)
