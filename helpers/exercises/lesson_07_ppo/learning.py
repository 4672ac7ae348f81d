"""Lesson 07's agent: exercise 7.8, `learn_from` and `loss` of `PPO`.

The agent is lesson 01's toy: an environment that has nothing but spaces, the case's networks, and
plain gradient descent, with which a loss that is ten times too large moves the weights ten times as
far. Where a case has several minibatches, these are drawn by the course's function: a right one of
one's own may draw others.
"""

from collections.abc import Mapping
from unittest.mock import patch

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.agents.ppo import PPO, Minibatch
from helpers.algorithms.ppo import minibatches
from helpers.algorithms.reinforce import make_critic
from helpers.checks.exercise import Case
from helpers.exercises.lesson_01_a2c.learning import number, weights
from helpers.exercises.observing import fill_parameters
from helpers.exercises.text import exercise
from helpers.exercises.toys import Descent, Spaces, floats

OBS_SIZE, RATE = 3, 0.3
LOGGED = ("actor_loss", "critic_loss", "entropy", "approx_kl", "clip_fraction")


def agent_with(function, policy: nn.Module, critic: nn.Module, **settings):
    """An agent of the class with these networks."""
    discrete = isinstance(policy, CategoricalPolicy)
    space = spaces.Discrete(3) if discrete else spaces.Box(-1, 1, (2,))
    agent = function(Spaces(OBS_SIZE, space), n_envs=2, n_steps=2, hidden=4, seed=0, **settings)
    agent.policy, agent.critic = policy, critic
    agent.optimizer = Descent([*policy.parameters(), *critic.parameters()], RATE)
    return agent


def observe_learning(function, policy, critic, *batch, updates=1, **settings):
    """The weights of both networks after so many calls, and what the last one returns."""
    agent = agent_with(function, policy, critic, **settings)
    with patch.dict(agent.learn_from.__globals__, minibatches=minibatches):
        for _ in range(updates):
            returned = agent.learn_from(*(each.clone() for each in batch))
    return {
        "actor's weights afterwards": weights(agent.policy),
        "critic's weights afterwards": weights(agent.critic),
        **{f"`{name}` in what is returned": number(returned, name) for name in LOGGED},
    }


def learning_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(rows: int, note: str, discrete: bool = True, **settings) -> Case:
        """Of B transitions; advantages with a mean and a scale that are not 0 and 1."""
        obs = floats(rng.normal(size=(rows, OBS_SIZE)))
        critic = fill_parameters(make_critic(OBS_SIZE, 4), obs, seed=1)
        policy: nn.Module
        if discrete:
            policy = CategoricalPolicy(OBS_SIZE, spaces.Discrete(3), 4)
            actions = torch.tensor(rng.integers(0, 3, rows))
        else:
            policy = GaussianPolicy(OBS_SIZE, spaces.Box(-1, 1, (2,)), 4)
            actions = floats(rng.normal(size=(rows, 2)))
            nn.init.constant_(policy.log_std, -0.4)
        fill_parameters(policy.actor, obs)
        advantages, returns = 2 + 3 * rng.normal(size=rows), 2 + rng.normal(size=rows)
        usual = {"n_epochs": 1, "batch_size": rows, "max_grad_norm": 100.0}
        batch = policy, critic, obs, actions, floats(advantages), floats(returns)
        return Case(batch, usual | settings, note)

    return [
        drawn(4, "one epoch, one minibatch"),
        drawn(4, "with an entropy bonus", entropy_coef=0.2),
        drawn(6, "three epochs, a narrow range", n_epochs=3, clip_range=0.05, value_coef=0.3),
        drawn(6, "values clipped", n_epochs=3, batch_size=3, value_clip_range=0.1),
        drawn(6, "a gradient that has to be clipped", n_epochs=2, max_grad_norm=0.05),
        drawn(9, "two epochs of three minibatches", n_epochs=2, batch_size=3),
        drawn(6, "moves far enough after a few updates", n_epochs=8, target_kl=0.004),
        drawn(8, "stops within an epoch", n_epochs=6, batch_size=2, target_kl=0.02),
        drawn(5, "called twice", updates=2, entropy_coef=0.1),
        drawn(6, "a Gaussian policy", discrete=False, n_epochs=2, entropy_coef=0.1),
        drawn(7, "a row is left over", n_epochs=2, batch_size=3),
    ]


def gives_a_pair(function, rng: np.random.Generator) -> bool:
    """What later cells ask `loss` for, which need not be what `learn_from` does with it."""
    case = learning_cases(rng)[0]
    agent = agent_with(function, *case.args[:2], **case.kwargs)
    obs, actions, advantages, returns = case.args[2:]
    with torch.no_grad():
        old = agent.policy.evaluate(obs, actions)[0], agent.value(obs)
    loss, numbers = agent.loss(Minibatch(obs, actions, advantages, returns, *old))
    if not (isinstance(loss, torch.Tensor) and isinstance(numbers, Mapping)):
        return False
    graph = any(getattr(numbers[name], "requires_grad", False) for name in LOGGED)
    return loss.numel() == 1 and loss.requires_grad and not graph


PPO_LEARNING = exercise(
    __file__, "7.8", PPO, learning_cases, observe_learning,
    properties={"another pair from loss": gives_a_pair},
)  # fmt: skip
