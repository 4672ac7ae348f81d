"""What lesson 08 learns from, and what networks say far from their data.

    python -m data.measure.lesson_08 data_sets
    python -m data.measure.lesson_08 far_away

The first writes three files of data/demos, the second data/results/08_far_away.json; both together
take a minute on one core.
"""

from typing import Any

import numpy as np
import torch
from torch import nn

from data.measure.stored import measure
from helpers.agents.base import Agent
from helpers.algorithms.ddpg import QNetwork
from helpers.algorithms.rlpd import NormedQNetwork
from helpers.demos.files import ARRAYS, Demos, record_demos, save_demos
from helpers.envs.resumable import Transition
from helpers.training.results import DATA
from helpers.training.settings import get_setting

STEPS, SEED, NOISE = 4_000, 3, 0.3
EPISODES = 20  # of 200 steps each, as many as the clumsy teacher's
DISTANCES = (1, 2, 3, 5, 10, 30, 100)
FITS = range(20)


def data_sets() -> None:
    """A beginner's replay buffer, what its policy does afterwards, and chance."""
    replay: list[Transition] = []

    def keep(agent: Agent) -> None:
        replay.extend(agent.last.transitions)

    agent = get_setting("ddpg", "Pendulum-v1").make(SEED).learn(STEPS, keep)
    maker = f"lesson 02's DDPG, seed {SEED}"
    parts = {name: np.array([getattr(each, name) for each in replay]) for name in ARRAYS}
    beginner = Demos.from_episodes(
        "Pendulum-v1",
        f"{maker}: all that it did in its first {STEPS:,} steps",
        [parts],
    )
    rng = np.random.default_rng(SEED)

    def noisy(obs: np.ndarray) -> np.ndarray:
        return agent.predict(obs) + 2 * NOISE * rng.standard_normal(1)

    def chance(obs: np.ndarray) -> np.ndarray:
        return rng.uniform(-2, 2, 1)

    said = f"{maker}, after {STEPS:,} steps, with Gaussian noise of {NOISE} of the range"
    medium = record_demos(noisy, "Pendulum-v1", EPISODES, maker=said)
    random = record_demos(chance, "SparsePendulum-v0", EPISODES, maker="uniformly random torques")
    for name, demos in {
        "beginner_pendulum": beginner,
        "medium_pendulum": medium,
        "random_sparse_pendulum": random,
    }.items():
        save_demos(DATA / "demos" / f"{name}.npz", demos)
        print(name, demos, demos.returns.round())


def smooth(points: torch.Tensor) -> torch.Tensor:
    """What is fitted: points (N, 2) to values (N,)."""
    x, y = points.unbind(dim=-1)
    return torch.sin(3 * x) * torch.cos(2 * y) / 2


def circle(radius: float, points: int = 64) -> torch.Tensor:
    angles = torch.linspace(0, 2 * torch.pi, points)
    return radius * torch.stack([angles.cos(), angles.sin()], dim=-1)


def fitted(kind: type[QNetwork], seed: int, steps: int = 1500) -> tuple[nn.Module, float]:
    """A critic of one observed number and one action that knows the unit disc, and its error."""
    torch.manual_seed(seed)
    network = kind(1, 1)
    inside = circle(1.0, 512) * torch.rand(512, 1).sqrt()
    target = smooth(inside)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(steps):
        loss = nn.functional.mse_loss(network(*inside.split(1, dim=-1)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network, float(loss.detach().sqrt())


def far_away() -> dict[str, Any]:
    """The largest |Q| on circles around the data, with and without LayerNorm, for each fit."""
    record: dict[str, Any] = {"distances": DISTANCES}
    for name, kind in {"without": QNetwork, "with LayerNorm": NormedQNetwork}.items():
        rows = []
        for seed in FITS:
            network, error = fitted(kind, seed)
            with torch.no_grad():
                largest = [
                    network(*circle(distance).split(1, dim=-1)).abs().max().item()
                    for distance in DISTANCES
                ]
            rows.append({"error": round(error, 4), "largest": [round(q, 3) for q in largest]})
        record[name] = rows
        print(name, np.median([row["largest"] for row in rows], axis=0).round(2))
    return record


if __name__ == "__main__":
    measure("08", data_sets, far_away)
