"""Lesson 01's updates: exercises 1.9 `as_rows`, with a bug to find, and 1.10 `update`."""

from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.algorithms.a2c import Rollout, Rows, Settings, as_rows, update
from helpers.algorithms.policies import policy_for
from helpers.algorithms.reinforce import make_actor, make_critic
from helpers.checks.exercise import Case
from helpers.exercises.lesson_01_a2c.losses import LinearCritic
from helpers.exercises.observing import fill_parameters
from helpers.exercises.properties import no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import drawn
from helpers.exercises.writing import ToyAgent, observe_update

OBS_SIZE = 3


def observe_rows(function, rollout: Rollout, *others) -> dict:
    """Of a rollout, the columns by name."""
    rows = function(rollout, *others)
    names = [f"number {i}" for i in range(len(rows))] if len(rows) != 4 else Rows._fields
    return dict(zip(names, rows, strict=True))


def row_cases(rng: np.random.Generator) -> list[Case]:
    def case(steps: int, envs: int, note: str, scale: float = 0.5, **ends: tuple) -> Case:
        obs = rng.integers(-9, 9, (steps + 1, envs, 2)).astype(np.float32)
        flags = {name: np.zeros((steps, envs), bool) for name in ("terminated", "truncated")}
        for name, place in ends.items():
            flags[name][place] = True
        actions, rewards = rng.integers(0, 2, (steps, envs)), rng.integers(1, 9, (steps, envs))
        later = obs[1:] + 5.0 * (flags["terminated"] | flags["truncated"])[..., None]
        rollout = Rollout(
            obs[:-1], actions, 1.0 * rewards, later.astype(np.float32), *flags.values()
        )
        return Case((rollout, LinearCritic([2.0, -1.0]), scale, 0.5, 0.8), note=note)

    return [
        case(1, 1, "one step"),
        case(3, 1, "three steps of one environment"),
        case(3, 2, "two environments, one terminated", terminated=(1, 0)),
        case(4, 2, "two environments, one truncated", truncated=(2, 1)),
        case(2, 2, "rewards as they are", scale=1.0),
    ]


AS_ROWS = exercise(
    __file__, "1.9", as_rows, row_cases, observe_rows, properties=no_mutation(row_cases)
)


def small_networks(space: spaces.Space, obs: torch.Tensor) -> tuple[nn.Module, nn.Module]:
    """A policy and a critic with known weights, for lesson 07 too."""
    policy: Any = policy_for(OBS_SIZE, space)
    outputs = 3 if isinstance(space, spaces.Discrete) else 2
    policy.actor = fill_parameters(make_actor(OBS_SIZE, outputs, 4), obs)
    return policy, fill_parameters(make_critic(OBS_SIZE, 4), obs, seed=1)


def observe_weights(function, space: spaces.Space, rows: Rows, s: Settings, calls: int):
    """After each call."""
    policy, critic = small_networks(space, rows.obs)
    agent = ToyAgent(0.1, policy=policy, critic=critic)
    return observe_update(function, agent, [(rows, s)] * calls)


def update_cases(rng: np.random.Generator) -> list[Case]:
    def case(size: int, note: str, calls: int = 1, discrete: bool = True, **settings) -> Case:
        """Advantages have a mean and a scale that are not 0 and 1."""
        tensor = partial(drawn, rng)
        obs, space = tensor(size, OBS_SIZE), spaces.Discrete(3)
        actions = torch.tensor(rng.integers(0, 3, size)) if discrete else tensor(size, 2)
        rows = Rows(obs, actions, 2 + 3 * tensor(size), 5 + 2 * tensor(size))
        usual = {"entropy_coef": 0.2, "critic_steps": 1, "max_grad_norm": 100.0}
        s = Settings(**usual | settings)
        return Case((space if discrete else spaces.Box(-1, 1, (2,)), rows, s, calls), note=note)

    return [
        case(4, "no entropy bonus", entropy_coef=0.0),
        case(4, "with an entropy bonus"),
        case(6, "three updates of the critic", critic_steps=3),
        case(6, "a gradient that has to be clipped", critic_steps=2, max_grad_norm=0.05),
        case(5, "called twice", calls=2),
        case(5, "a Gaussian policy", discrete=False, critic_steps=2, max_grad_norm=0.3),
    ]


UPDATE = exercise(__file__, "1.10", update, update_cases, observe_weights)
