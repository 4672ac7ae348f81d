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
    obs, rewards, inside = _greedy_episodes(agent, seed)
    with torch.no_grad():
        flat = agent.flat(obs[:SCORED][inside[:SCORED]])
        values = agent.value(flat).cpu().numpy() / agent.reward_factor
    returns = np.transpose([discounted_returns(each, agent.gamma) for each in rewards.T])
    return float(values.mean()), float(returns[:SCORED][inside[:SCORED]].mean())


def _greedy_episodes(agent: OffPolicyAgent, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Observations (T, EPISODES, *shape), rewards (T, EPISODES), and which steps were taken."""
    steps = SCORED + TAIL
    envs = [make_env(agent.env_source, max_episode_steps=steps) for _ in range(EPISODES)]
    now = np.array([env.reset(seed=seed + i)[0] for i, env in enumerate(envs)])
    observations = np.zeros((steps, *now.shape), now.dtype)
    rewards = np.zeros((steps, EPISODES))
    inside = np.zeros((steps, EPISODES), dtype=bool)
    running = list(range(EPISODES))
    for t in range(steps):
        observations[t], inside[t, running] = now, True
        for i, action in zip(running, np.asarray(agent.predict(now[running])), strict=True):
            now[i], rewards[t, i], terminated, _, _ = envs[i].step(action)
            if terminated:
                running = [other for other in running if other != i]
        if not running:
            break
    return observations, rewards, inside
