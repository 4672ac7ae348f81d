"""Claims of lesson 00: hand-written rules, so each is computed anew, in a second or two."""

import gymnasium as gym
import numpy as np

from helpers.evaluation import evaluate
from tools.claims import Claim, Evidence, at_the_bar, near, seconds_of

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


def longer(weights: list[float]) -> float:
    """The mean length of the lesson's thirty episodes that are cut after 3000 steps."""
    env, w = gym.make("CartPole-v1", max_episode_steps=3000), np.array(weights)
    starts = (20_000, 30_000, 40_000)
    return float(
        np.mean([evaluate(lambda obs: int(obs @ w > 0), env, 10, s).lengths for s in starts])
    )


def seconds() -> Evidence:
    return near(lambda: np.median(seconds_of(CARTPOLE)), 3, 1)


CLAIMS = [
    Claim("otherwise *no difference shown*", source="the rule of tools/claims.py"),
    Claim(
        "With random pushes the pole falls within about half a second, on average after about 20",
        near(lambda: lengths("random", 100).mean(), 22, 4),
    ),
    Claim("That lasts about twice as long as random pushes", near(times_as_long, 1.9, 0.1)),
    Claim(
        "took us from about 20 steps to 500", near(lambda: lengths("look ahead").mean(), 500, 0.5)
    ),
    Claim("finds a rule that keeps the pole up for 475 steps and more", at_the_bar(CARTPOLE, 20)),
    Claim("in a few seconds, from rewards alone", seconds()),
    Claim(
        "Change the first two weights until it stays",
        near(lambda: longer([0.0, 0.0, 1.0, 0.5]), 2140, 50),
    ),
    Claim(
        "0.1 for the position and 0.2 for the velocity",
        near(lambda: longer([0.1, 0.2, 1.0, 0.5]), 3000, 0.5),
    ),
    Claim(
        "the same position is worth less with one step to go than with a hundred",
        source="Pardo et al. 2018, abstract, case (i): the time left belongs to the input",
    ),
    Claim(
        "The lower one says that standing upright is worth 99 at step 0",
        near(lambda: (1 - 0.99**500) / (1 - 0.99), 99, 0.5),
    ),
]
