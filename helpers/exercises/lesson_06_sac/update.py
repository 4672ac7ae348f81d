"""Lesson 06's `update`, which the student writes from the pseudocode alone: exercise 6.7."""

from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.algorithms import sac
from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.exercises.toys import Descent, Small, batch_of, floats, random_twin
from helpers.exercises.writing import Steady, ToyAgent, observe_update


class SmallGaussian(Small):
    """Mean and log_std are weighted sums of the observation; log_std has a bias."""

    def __init__(self, weights: Any) -> None:
        super().__init__()
        self.weights = nn.Parameter(floats(weights))

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_std = (obs @ self.weights).chunk(2, dim=-1)
        return mean, 0.3 * log_std - 0.5


class ToySAC(ToyAgent):
    """As `sac.Agent`, with small networks."""

    sample = sac.Agent.sample


def toy(rng: np.random.Generator, obs_size: int, action_dim: int, log_alpha: float) -> ToySAC:
    critic, target_critic = (random_twin(rng, obs_size, action_dim) for _ in range(2))
    actor = SmallGaussian(rng.normal(size=(obs_size, 2 * action_dim)) / 2)
    # In the order in which an update moves them: the first difference is the earliest mistake.
    agent = ToySAC(0.05, critic=critic, actor=actor, target_critic=target_critic)
    agent.log_alpha = nn.Parameter(torch.tensor(log_alpha))
    agent.alpha_optimizer = Descent([agent.log_alpha], 0.3)
    agent.target_entropy = -1.5
    return agent


def update_cases(rng: np.random.Generator) -> list[Case]:
    def case(obs_size: int, action_dim: int, note: str, updates: int = 1, **settings: Any) -> Case:
        ends = "", "terminated", "truncated", ""
        batches = [batch_of(rng, obs_size, action_dim, *ends) for _ in range(updates)]
        s = sac.Settings(**{"gamma": 0.9, "tau": 0.2, "reward_scale": 0.3} | settings)
        calls = [(batch, s, Steady()) for batch in batches]
        return Case((toy(rng, obs_size, action_dim, -0.7), calls), note=note)

    return [
        case(2, 1, "one update"),
        case(2, 1, "two updates", updates=2),
        case(3, 2, "three updates with two action dimensions", updates=3),
        case(1, 3, "gamma 1, fast target critics", updates=2, gamma=1.0, tau=0.7),
    ]


SAC_UPDATE = exercise(__file__, "6.7", sac.update, update_cases, observe_update)
