"""What the files of the algorithms share: noise, an environment in [-1, 1], a history, a watcher.

A history is a dictionary, name -> [(step, number), ...]. What watches a training is a generator: it
gets the loop's steps, the agent and its history, and hands on each step, before the loop takes it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.wrappers import RescaleAction, RescaleObservation

History = dict[str, list[tuple[int, float]]]


@dataclass(frozen=True)
class UniformNoise:
    """Independent values, anything between -`width` and `width` equally likely."""

    width: float = 1.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-self.width, self.width, shape)


@dataclass(frozen=True)
class GaussianNoise:
    """Independent Gaussian values of mean 0 and standard deviation `sigma`."""

    sigma: float = 0.1

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self.sigma * rng.standard_normal(shape)


@dataclass
class OUNoise:
    """An Ornstein-Uhlenbeck process: noise that is correlated over about 1 / theta steps.

    dx = -theta x dt + sigma dW with dt = 1: pulled back to 0 by `theta`, pushed at random by
    `sigma`. DDPG's exploration noise (Lillicrap et al. 2016, section 3). Each episode uses a copy
    of its own, whose `value` is 0 at first.
    """

    sigma: float = 0.2
    theta: float = 0.15
    value: np.ndarray | float = field(default=0.0, init=False, repr=False)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        # 1. The pull back to 0, in proportion to the distance, and a Gaussian push for every entry.
        pull = -self.theta * self.value
        push = self.sigma * rng.standard_normal(shape)
        # 2. Store the new value: the next step goes on from there.
        self.value = self.value + pull + push
        return self.value


Noise = UniformNoise | GaussianNoise | OUNoise


def make_env(env_id: str) -> Any:
    """A gymnasium.Env. (`Any`: gymnasium's own types do not say that a box has a shape.)"""
    return gym.make(env_id)


def scaled_env(env_id: str) -> Any:
    """A gymnasium.Env with observations and actions in [-1, 1]: networks learn best from such.

    Observations without bounds stay as they are.
    """
    env: Any = gym.make(env_id)
    low, high = env.observation_space.low, env.observation_space.high
    low, high = (np.where(np.isinf(x), x, np.sign(x - y)) for x, y in ((low, high), (high, low)))
    env = RescaleObservation(env, low, high)
    return RescaleAction(env, np.float32(-1), np.float32(1))


def predict(agent: Any, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
    """A method of agents: the greedy action in the units of the environment itself.

    So `evaluate(agent, env_id)` asks. `agent.act` has both in [-1, 1], as `scaled_env` has them.
    """
    rescale_action, rescale_obs = agent.env, agent.env.env
    return rescale_action.action(agent.act(rescale_obs.observation(obs)))


def log(history: History, step: int, numbers: dict[str, float] | dict[str, torch.Tensor]) -> None:
    """Add numbers, or tensors of one number without gradient, to a history."""
    for name, number in numbers.items():
        history.setdefault(name, []).append((step, float(number)))


def unwatched(steps: range, agent: object, history: History) -> Iterable[int]:
    """The steps as they are."""
    return steps


def printed(steps: range, agent: object, history: History) -> Iterator[int]:
    """The steps; every thousand of them the mean of the last ten returns is printed."""
    for step in steps:
        yield step
        if step % 1000 < steps.step and "return" in history:
            last = [number for _, number in history["return"][-10:]]
            print(f"{step:8,d} steps: mean of the last {len(last)} returns {np.mean(last):8.1f}")
