"""Evaluation: how good is an agent now? Fresh starts, no exploration, no learning."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import gymnasium as gym
import numpy as np

from helpers.envs.make import EnvLike, check_statistics, make_env, one_line
from helpers.envs.resumable import Resumable
from helpers.names import explained


@dataclass(frozen=True)
class Evaluation:
    """Undiscounted returns and lengths of whole episodes, both of shape (episodes,)."""

    returns: np.ndarray
    lengths: np.ndarray

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())

    @property
    def std(self) -> float:
        """Standard deviation of the returns over episodes (not of the mean)."""
        return float(self.returns.std())

    def __str__(self) -> str:
        return (
            f"{self.mean:.1f} ± {self.std:.1f} over {len(self.returns)} episodes "
            f"(worst {self.returns.min():.1f}, best {self.returns.max():.1f})"
        )


@explained
def evaluate(
    policy, env: EnvLike | None = None, episodes: int = 20, seed: int = 10_000
) -> Evaluation:
    """Run `policy` greedily for whole episodes from `episodes` different starts.

    `policy` is an agent (`predict(obs, deterministic=True)`) or a function from observation to
    action. The environment is another one like `env`, by default like the one that the agent was
    given: made from its id, arguments and wrappers, or by the function that was given. So the
    training environment is not touched. Episode i starts from `reset(seed=seed + i)`:
    the same starts for every policy, and none that training has seen (training seeds once and goes
    on from there).
    """
    check_starts(episodes, seed)
    if env is None:
        env = getattr(policy, "env_source", None)
    if env is None:
        raise ValueError('A plain function needs its environment: evaluate(policy, "CartPole-v1").')
    arena = functools.partial(fitting_env, policy, env)
    return Evaluation(*play_episodes(as_function(policy), arena, int(episodes), int(seed)))


def check_starts(episodes: int, seed: int) -> None:
    """Raise `ValueError` unless `episodes` counts from 1 up and `seed` from 0 up."""
    for name, value, least in (("episodes", episodes, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be a whole number from {least} up, got {value!r}.")


def fitting_env(policy, env: EnvLike) -> gym.Env:
    """A new environment like `env`, in which steps are looked at as in training.

    Raises `ValueError` if an agent trains in this very one, has other actions, or cannot have the
    measurements of a wrapper there.
    """
    made, is_agent = make_env(env), hasattr(policy, "training_envs")
    if is_agent and any(each.unwrapped is made.unwrapped for each in policy.training_envs()):
        raise ValueError(
            "The function that makes the environment gave the one that the agent trains in: it "
            "must make a new one at each call."
        )
    if is_agent:
        check_statistics(made)  # as training does
    if is_agent and policy.action_space != made.action_space:
        made.close()
        raise ValueError(
            f"The agent acts in {one_line(policy.action_space)}, and this environment takes "
            f"{one_line(made.action_space)}: evaluate it in one with the same actions."
        )
    return Resumable(made)


def play_episodes(policy, env, episodes, seed):
    """Returns and lengths of whole episodes, both of shape (episodes,).

    `policy` maps an observation to an action. `env` is an id, or an environment of which a copy is
    made: a training in it goes on there as if nothing had happened. Episode i starts from
    `reset(seed=seed + i)`.
    """
    # 1. An environment of its own, from `make_env`. It is closed in any case.
    arena = make_env(env)
    returns, lengths = np.zeros(episodes), np.zeros(episodes, dtype=int)
    try:
        for episode in range(episodes):
            # 2. Every episode has a start of its own, and it is the same for every policy.
            obs, _ = arena.reset(seed=seed + episode)
            over = False
            while not over:
                # 3. One step. Rewards are summed up as they are: nothing is discounted or scaled.
                obs, reward, terminated, truncated, _ = arena.step(policy(obs))
                returns[episode] += reward
                lengths[episode] += 1
                # 4. An episode can end in two ways.
                over = terminated or truncated
    finally:
        arena.close()
    return returns, lengths


def as_function(policy) -> Callable[[np.ndarray], np.ndarray | int]:
    """The greedy policy of an agent, or the function: actions alone, no pairs with a state."""
    is_agent = hasattr(policy, "predict")
    if isinstance(policy, type) or (not is_agent and not callable(policy)):
        raise TypeError(f"{policy!r} is neither an agent nor a function from obs to action.")

    def act(obs: np.ndarray) -> Any:
        action = policy.predict(obs, deterministic=True) if is_agent else policy(obs)
        if not isinstance(action, tuple):
            return action
        # Stable-Baselines3's pair; what a function gives may be an action of two parts.
        is_pair = is_agent or (len(action) == 2 and action[1] is None)
        return action[0] if is_pair else action

    return act
