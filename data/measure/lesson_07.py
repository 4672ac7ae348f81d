"""What lesson 07 says of computing time, and what PPO's curves look like with a bug.

    python -m data.measure.lesson_07 time_to_bar|broken

writes data/results/07_<name>.json. One core, half a minute each. The first: computing time until
A2C and PPO first average CartPole's bar; the second: PPO with the bug of exercise 7.6 and without.
"""

import time
from typing import Any
from unittest.mock import patch

import torch

from data.measure.stored import bug_of, measure
from helpers.algorithms import ppo
from helpers.training.callbacks import StopAtReturn
from helpers.training.settings import get_setting

KEYS = ("return", "approx_kl", "clip_fraction")


def until_the_bar(algorithm: str, seed: int) -> dict[str, Any]:
    """Steps and CPU seconds until twenty training episodes average the bar; None for never."""
    setting = get_setting(algorithm, "CartPole-v1")
    stop, agent, began = StopAtReturn(setting.bar, 20), setting.make(seed), time.process_time()
    agent.learn(setting.steps, stop)
    seconds = round(time.process_time() - began, 3)
    return {"seed": seed, "steps": stop.reached, "cpu_seconds": seconds}


def time_to_bar(seeds: range = range(10)) -> dict[str, Any]:
    runs = [(name, seed) for seed in seeds for name in ("a2c", "ppo")]  # in turn: the same load
    results: dict[str, list] = {"a2c": [], "ppo": []}
    for name, seed in runs:
        results[name].append(until_the_bar(name, seed))
        print(name, results[name][-1], flush=True)
    return {"results": results}


def curves(seed: int) -> dict[str, list]:
    """About 80 numbers of each kind, spread evenly over a training: key -> [[step, number], ...]"""
    history = ppo.train(ppo.CARTPOLE, seed).history
    logged = {key: history[key][:: max(1, len(history[key]) // 80)] for key in KEYS}
    return {key: [[int(step), round(x, 5)] for step, x in each] for key, each in logged.items()}


def broken() -> dict[str, Any]:
    bug = bug_of("7.6")

    def surrogate(ratios: torch.Tensor, weights: torch.Tensor, clip: float) -> torch.Tensor:
        """Minus the loss. Weights are normalised already; once more changes nothing."""
        return -bug(ratios.log(), torch.zeros_like(ratios), weights, clip)

    with patch.object(ppo, "clipped_surrogate", surrogate):
        results = {"with the bug": [curves(seed) for seed in (0, 1)]}
    return {"results": results | {"without": [curves(seed) for seed in (0, 1)]}}


if __name__ == "__main__":
    measure("07", time_to_bar, broken)
