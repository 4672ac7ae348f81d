"""Lesson 01's agent: exercise 1.10, the `learn_from` of `A2C`.

The agent is built on an environment that has nothing but spaces. Its networks are replaced by the
case's, and its optimisers by plain gradient descent: with Adam a loss that is ten times too large
would move the weights as far as the right one.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents.a2c import A2C
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.algorithms.reinforce import make_critic
from helpers.checks.compare import leaves, snapshot
from helpers.checks.exercise import Case
from helpers.exercises.observing import fill_parameters
from helpers.exercises.properties import on_every_case
from helpers.exercises.text import exercise
from helpers.exercises.toys import Descent, Spaces, drawn

OBS_SIZE = 3
RATES = {"policy": 0.3, "critic": 0.05}
LOGGED = ("actor_loss", "critic_loss", "entropy")


def agent_with(function, policy: nn.Module, critic: nn.Module, discrete: bool, **settings):
    """An agent of the class with these networks."""
    space = spaces.Discrete(3) if discrete else spaces.Box(-1, 1, (2,))
    agent = function(Spaces(OBS_SIZE, space), n_envs=2, n_steps=2, hidden=4, seed=0, **settings)
    agent.policy, agent.critic = policy, critic
    for name, rate in RATES.items():
        optimizer = Descent(getattr(agent, name).parameters(), rate)
        setattr(agent, f"{name}_optimizer", optimizer)
    return agent


def weights(network: nn.Module) -> np.ndarray:
    return np.concatenate([p.detach().numpy().ravel() for p in network.parameters()])


def number(returned, name: str) -> float | None:
    """A number of the log, plain or as a tensor; None where it is missing."""
    found = returned.get(name) if isinstance(returned, Mapping) else None
    return None if found is None else float(torch.as_tensor(found).detach())


def learn(function, policy, critic, *batch, updates=1, **settings) -> tuple[A2C, Any]:
    """The agent after so many calls, and what the last one returns."""
    discrete = isinstance(policy, CategoricalPolicy)
    agent = agent_with(function, policy, critic, discrete, **settings)
    for _ in range(updates):
        returned = agent.learn_from(*batch)
    return agent, returned


def observe_learning(function, policy, critic, *batch, **settings):
    """The weights of both networks afterwards, and what is returned."""
    agent, returned = learn(function, policy, critic, *batch, **settings)
    return {
        "actor's weights afterwards": weights(agent.policy),
        "critic's weights afterwards": weights(agent.critic),
        **{f"`{name}` in what is returned": number(returned, name) for name in LOGGED},
    }


def learning_cases(rng: np.random.Generator) -> list[Case]:
    def case(rows: int, note: str, discrete: bool = True, scale: float = 1.0, **settings) -> Case:
        """Of B transitions; advantages with a mean and a scale that are not 0 and 1."""
        tensor = partial(drawn, rng)
        obs = tensor(rows, OBS_SIZE)
        critic = fill_parameters(make_critic(OBS_SIZE, 4), obs, seed=1)
        policy: nn.Module
        if discrete:
            policy = CategoricalPolicy(OBS_SIZE, spaces.Discrete(3), 4)
            actions = torch.tensor(rng.integers(0, 3, rows))
        else:
            policy = GaussianPolicy(OBS_SIZE, spaces.Box(-1, 1, (2,)), 4)
            actions = tensor(rows, 2)
            nn.init.constant_(policy.log_std, -0.4)
        fill_parameters(policy.actor, obs)
        advantages = scale * (2 + 3 * tensor(rows))
        batch = policy, critic, obs, actions, advantages, 5 + 2 * tensor(rows)
        usual = {"entropy_coef": 0.2, "critic_steps": 1, "max_grad_norm": 100.0}
        return Case(batch, usual | settings, note)

    gaussian = "a Gaussian policy with small advantages"
    return [
        case(4, "no entropy bonus", entropy_coef=0.0),
        case(4, "with an entropy bonus"),
        case(6, "three updates of the critic", critic_steps=3),
        case(6, "a gradient that has to be clipped", critic_steps=2, max_grad_norm=0.05),
        case(5, "called twice", updates=2),
        case(5, gaussian, False, 0.1, critic_steps=2, max_grad_norm=0.3),
    ]


def one_case(rng: np.random.Generator) -> list[Case]:
    """Enough for the properties, and quickly tried."""
    return learning_cases(rng)[1:2]


def leaves_its_batch_alone(function, case):
    before = [each.clone() for each in case.args[2:]]
    learn(function, *case.args, **case.kwargs)
    return all(map(torch.equal, before, case.args[2:]))


def returns_no_graph(function, case):
    """A detached tensor will do for a curve."""
    _, returned = learn(function, *case.args, **case.kwargs)
    return not any(leaf.grad for leaf in leaves(snapshot(returned)))


def leaves_the_log_alone(function, case):
    """Steps are counted, and numbers are logged, by those who call it."""
    agent, _ = learn(function, *case.args, **case.kwargs)
    return agent.steps == 0 and not any(agent.history.values())


A2C_LEARNING = exercise(
    __file__, "1.10", A2C, learning_cases, observe_learning,
    properties={
        "changes its inputs": on_every_case(one_case, leaves_its_batch_alone),
        "a graph in the log": on_every_case(one_case, returns_no_graph),
        "counts or logs as well": on_every_case(one_case, leaves_the_log_alone),
    },
)  # fmt: skip
