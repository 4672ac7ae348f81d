"""How far a critic's values are above what is really obtained, in a toy and in training."""

import numpy as np
import torch
from numpy.typing import NDArray

from helpers.agents.off_policy import OffPolicyAgent
from helpers.algorithms.reinforce import discounted_returns
from helpers.envs.make import make_env

EPISODES = 10
SCORED = 200  # steps of an episode whose values are compared with what came after
TAIL = 400  # further steps that still count towards their returns: 0.99 ** 400 = 0.02


def double_estimate(choosing: NDArray, judging: NDArray) -> NDArray:
    """The double estimator of the best action's value, (n,), from estimates (n, actions).

    One set of estimates chooses the best action, the other says what it is worth. Source: van
    Hasselt 2010, "Double Q-learning".
    """
    # 1. In every row the action that looks best to the choosing estimates.
    best = choosing.argmax(axis=1)
    # 2. What the judging estimates say about that action, in the same row.
    return np.take_along_axis(judging, best[:, None], axis=1)[:, 0]


def values_and_returns(agent: OffPolicyAgent, seed: int = 20_000) -> tuple[float, float]:
    """What the critic says and what is obtained, in units of the environment's rewards.

    The agent acts greedily in EPISODES episodes of at most SCORED + TAIL steps. The first number is
    the mean of Q(s, mu(s)) over all states of their first SCORED steps, the second the mean of the
    discounted rewards that really followed.
    """
    values, returns = [], []
    for i in range(EPISODES):
        observations, rewards = _greedy_episode(agent, seed + i)
        with torch.no_grad():
            values.append(agent.value(agent.flat(observations[:SCORED])).cpu().numpy())
        returns.append(discounted_returns(rewards, agent.gamma)[:SCORED])
    said, obtained = (float(np.concatenate(each).mean()) for each in (values, returns))
    return said / agent.reward_factor, obtained


def _greedy_episode(agent: OffPolicyAgent, seed: int) -> tuple[NDArray, NDArray]:
    """The observations in which the agent acted, (T, *shape), and the rewards, (T,)."""
    env = make_env(agent.env_source, max_episode_steps=SCORED + TAIL)
    (obs, _), over = env.reset(seed=seed), False
    observations, rewards = [], []
    while not over:
        observations.append(np.array(obs))  # the environment may use its own again
        obs, reward, terminated, truncated, _ = env.step(agent.predict(obs))
        rewards.append(reward)
        over = terminated or truncated
    return np.array(observations), np.array(rewards)
