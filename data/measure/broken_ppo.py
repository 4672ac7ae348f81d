"""What the curves of lesson 07's exercise 7.9 look like: PPO with its bug, beside PPO without.

    python -m data.measure.broken_ppo

writes data/results/07_broken.json. One core, half a minute.
"""

from unittest.mock import patch

import torch

from helpers.algorithms import ppo
from helpers.checks import find
from helpers.training.results import RESULTS, write_json
from helpers.training.study import circumstances

KEYS = ("return", "approx_kl", "clip_fraction")
(BUG,) = (each for each in find("7.9").mistakes if each.name == find("7.9").bug)


def broken_surrogate(ratios: torch.Tensor, weights: torch.Tensor, clip: float) -> torch.Tensor:
    """Minus the loss with the bug. Weights are normalised already; once more changes nothing."""
    return -BUG.function(ratios.log(), torch.zeros_like(ratios), weights, clip)


def histories(seeds: range = range(2)) -> dict[str, list]:
    """name -> for each seed what was logged: key -> [[step, number], ...]"""
    found: dict[str, list] = {"with the bug": [], "without": []}
    for seed in seeds:
        found["without"].append(ppo.train(ppo.CARTPOLE, seed).history)
        with patch.object(ppo, "clipped_surrogate", broken_surrogate):
            found["with the bug"].append(ppo.train(ppo.CARTPOLE, seed).history)
    return {name: [_rounded(history) for history in runs] for name, runs in found.items()}


def _rounded(history: dict[str, list]) -> dict[str, list]:
    """About 80 numbers of each kind, spread evenly over the training."""
    return {
        key: [[int(step), round(number, 5)] for step, number in history[key]][::stride]
        for key in KEYS
        for stride in [max(1, len(history[key]) // 80)]
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    record = {"command": "python -m data.measure.broken_ppo", **circumstances()}
    write_json(RESULTS / "07_broken.json", record | {"results": histories()})
