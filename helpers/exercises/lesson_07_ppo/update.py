"""Lesson 07's whole `update`, exercise 7.4: all weights after several calls are compared."""

from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from gymnasium import spaces

from helpers.algorithms.a2c import Rows
from helpers.algorithms.ppo import Settings, minibatches, update
from helpers.checks.exercise import Case
from helpers.exercises.lesson_01_a2c.learning import OBS_SIZE, small_networks
from helpers.exercises.text import exercise
from helpers.exercises.toys import Descent, floats
from helpers.exercises.writing import ToyAgent, observe_update


def toy_agent(actions: spaces.Discrete | spaces.Box) -> ToyAgent:
    agent = ToyAgent()
    agent.policy, agent.critic = small_networks(actions, torch.ones(1, OBS_SIZE))
    agent.optimizer = Descent([*agent.policy.parameters(), *agent.critic.parameters()], 0.3)
    return agent


def observe(function: Any, agent: ToyAgent, calls: list[tuple]) -> dict[str, Any] | None:
    """Minibatches are the course's: a right function of one's own may draw others."""
    with patch.dict(getattr(function, "__globals__", {}), minibatches=minibatches):
        return observe_update(function, agent, calls)


def update_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, note: str, calls: int = 1, discrete: bool = True, **changed: Any) -> Case:
        """Of B rows; advantages with a mean and a scale that are not 0 and 1."""
        actions = spaces.Discrete(3) if discrete else spaces.Box(-1, 1, (2,))
        usual = {"n_epochs": 1, "batch_size": size, "max_grad_norm": 100.0, "reward_scale": 0.3}
        s, agent, batches = Settings(**usual | changed), toy_agent(actions), []
        for _ in range(calls):
            one, other = torch.tensor(rng.integers(0, 3, size)), floats(rng.normal(size=(size, 2)))
            columns = 2 + 3 * rng.normal(size=size), 2 + rng.normal(size=size)
            obs, chosen = floats(rng.normal(size=(size, OBS_SIZE))), one if discrete else other
            batches.append((Rows(obs, chosen, *map(floats, columns)), s, np.random.default_rng(7)))
        return Case((agent, batches), note=note)

    return [
        drawn(4, "one epoch, one minibatch"),
        drawn(4, "with an entropy bonus", entropy_coef=0.2),
        drawn(6, "three epochs, a narrow range", n_epochs=3, clip_range=0.05, value_coef=0.3),
        drawn(6, "values clipped", n_epochs=3, batch_size=3, value_clip_range=0.1),
        drawn(6, "a gradient that has to be clipped", n_epochs=2, max_grad_norm=0.05),
        drawn(9, "two epochs of three minibatches", n_epochs=2, batch_size=3),
        drawn(6, "moves far enough after a few updates", n_epochs=8, target_kl=0.012),
        drawn(8, "stops within an epoch", n_epochs=6, batch_size=2, target_kl=0.02),
        drawn(5, "called twice", calls=2, n_epochs=2, entropy_coef=0.1),
        drawn(6, "a Gaussian policy", discrete=False, n_epochs=2, entropy_coef=0.1),
    ]


PPO_UPDATE = exercise(__file__, "7.4", update, update_cases, observe)
