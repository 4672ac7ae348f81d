"""What tests of learning agents try out: random batches, small networks, short trainings."""

import numpy as np
import torch
from environments import LOPSIDED, Guess, make
from hypothesis import settings
from torch import nn

from helpers.agents import A2C, PPO, ReinforceWithBaseline
from helpers.agents.noise import UniformNoise
from helpers.memory.buffers import Batch

COOL = {"temperature": 0.01, "learn_temperature": False, "noise": None}  # SAC without its entropy
quick = settings(deadline=None, max_examples=60, derandomize=True)


class Says(nn.Module):
    """An actor with the same action for every observation."""

    def __init__(self, action):
        super().__init__()
        self.action = torch.tensor(action)

    def forward(self, obs):
        return self.action.expand(*obs.shape[:-1], len(self.action))


def a_batch(n=6, obs_size=3, action_size=2, seed=0):
    """Random steps with all four endings."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return torch.from_numpy(rng.normal(size=shape).astype(np.float32))

    ends = torch.from_numpy(rng.integers(0, 2, (2, n)).astype(np.float32))
    action = draw(n, action_size).tanh()
    return Batch(draw(n, obs_size), action, 3 * draw(n), draw(n, obs_size), *ends)


def an_agent(kind, **settings):
    """Of one observation and two actions."""
    settings = {"gamma": 0.9, "tau": 0.2, "hidden": 8, "seed": 0} | settings
    wanted = {-1: [0.0, 12.0], 1: [2.0, 18.0]}
    return kind(make(Guess, wanted=wanted, action_space=LOPSIDED), **settings)


def parameters(*modules):
    return [parameter for module in modules for parameter in module.parameters()]


def gradients(loss, *modules):
    """Of a loss, with regard to each parameter."""
    return torch.autograd.grad(loss, parameters(*modules))


def snapshot(module):
    return [parameter.detach().clone() for parameter in module.parameters()]


def moved(module, before):
    """Whether each of its parameters differs from the snapshot."""
    return [not torch.equal(a, b) for a, b in zip(module.parameters(), before, strict=True)]


def assert_close(ones, others, **tolerance):
    """Tensors, one by one."""
    for one, other in zip(ones, others, strict=True):
        torch.testing.assert_close(one, other, **tolerance)


def learned(kind, env, steps, **settings):
    """An agent after a short training in a tiny environment."""
    quickly = {
        A2C: {"n_envs": 4, "n_steps": 8, "learning_rate": 0.01},
        ReinforceWithBaseline: {"learning_rate": 0.01},
        PPO: {"n_envs": 4, "n_steps": 16, "batch_size": 32, "learning_rate": 0.01},
    }.get(kind) or {
        "actor_learning_rate": 0.005, "critic_learning_rate": 0.01, "tau": 0.1,
        "learning_starts": 100, "batch_size": 32, "noise": UniformNoise(0.5),
    }  # fmt: skip
    return kind(env, seed=0, hidden=16, **quickly | settings).learn(steps)


def q(agent, obs, *action):
    """What its critic says, or what both say."""
    with torch.no_grad():
        given = agent.critic(torch.tensor([[float(obs)]]), torch.tensor([action]))
    return [value.item() for value in given]


def state(agent):
    """All weights and all that the optimisers remember."""
    states = [getattr(agent, name).state_dict() for name in agent.parts()]
    moments = [each for s in states if "param_groups" in s for each in s["state"].values()]
    weights = [s for s in states if "param_groups" not in s]
    return [tensor.clone() for s in (*weights, *moments) for tensor in s.values()]


def assert_same(one, other, within=1e-5):
    """Two agents, equal up to rounding: in units of the largest number of each tensor."""
    for a, b in zip(state(one), state(other), strict=True):
        assert (a - b).abs().max() <= within * max(a.abs().max(), 0.01)


def with_larger_eps(agent):
    """Adam's eps is not small: else its first step makes a whole one of what rounding left."""
    for name in agent.parts():
        if "optimizer" in name:
            getattr(agent, name).param_groups[0]["eps"] = 1e-3
    return agent
