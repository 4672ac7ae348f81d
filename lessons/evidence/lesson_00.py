"""What the claims of lesson 00 compute: hand-written rules, so each anew, in a second or two."""

import gymnasium as gym
import numpy as np

from helpers.evaluation import evaluate
from lessons.evidence.shared import Evidence, near, seconds_of

CARTPOLE = "a2c_CartPole-v1"


def lengths(rule: str, episodes: int = 20) -> np.ndarray:
    """How long the pole stays up under a rule of the lesson, one number a start."""
    space = gym.make("CartPole-v1").action_space
    space.seed(0)
    rules = {
        "random": lambda obs: space.sample(),
        "lean": lambda obs: int(obs[2] > 0),
        "look ahead": lambda obs: int(obs[2] + 0.5 * obs[3] > 0),
    }
    return evaluate(rules[rule], "CartPole-v1", episodes=episodes).lengths


def times_as_long(episodes: int = 1000) -> float:
    """The lean's mean length over that of random pushes. Of twenty starts it is 1.4 to 2.6."""
    return float(lengths("lean", episodes).mean() / lengths("random", episodes).mean())


def five_episodes(rate_weight: float) -> list[int]:
    """How long the pole stays up in each episode of Figure 2."""
    env, found = gym.make("CartPole-v1").unwrapped, []
    for seed in range(5):
        obs, steps = env.reset(seed=seed)[0], 0
        while steps < 500 and abs(obs[2]) < 0.209 and abs(obs[0]) < 2.4:
            obs = env.step(int(obs[2] + rate_weight * obs[3] > 0))[0]
            steps += 1
        found.append(steps)
    return found


def longer(weights: list[float]) -> float:
    """The mean length of the lesson's thirty episodes that are cut after 3000 steps."""
    env, w = gym.make("CartPole-v1", max_episode_steps=3000), np.array(weights)
    starts = (20_000, 30_000, 40_000)
    return float(
        np.mean([evaluate(lambda obs: int(obs @ w > 0), env, 10, s).lengths for s in starts])
    )


def seconds() -> Evidence:
    return near(seconds_of(CARTPOLE), 3, 1)
