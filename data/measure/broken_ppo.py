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


def run(seed: int) -> dict[str, list]:
    """About 80 numbers of each kind, spread evenly over a training: key -> [[step, number], ...]"""
    history = ppo.train(ppo.CARTPOLE, seed).history
    logged = {key: history[key][:: max(1, len(history[key]) // 80)] for key in KEYS}
    return {key: [[int(step), round(x, 5)] for step, x in each] for key, each in logged.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    record = {"command": "python -m data.measure.broken_ppo", **circumstances()}
    with patch.object(ppo, "clipped_surrogate", broken_surrogate):
        results = {"with the bug": [run(seed) for seed in (0, 1)]}
    results["without"] = [run(seed) for seed in (0, 1)]
    write_json(RESULTS / "07_broken.json", record | {"results": results})
