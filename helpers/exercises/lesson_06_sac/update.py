"""Lesson 06's agent: exercise 6.7, the `update` of `SAC`.

The agent is built once, on an environment that has nothing but spaces. Then its networks are
replaced by small ones with given weights, its optimisers by plain gradient descent and its
generator by one that gives the same numbers for the same shape, whoever asks first: two right
updates may draw in another order.
"""

from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.agents.sac import SAC
from helpers.algorithms.sac import Temperature
from helpers.checks.exercise import Case
from helpers.exercises.lesson_03_td3.smoothing import shared_streams
from helpers.exercises.properties import drawn_from
from helpers.exercises.text import exercise
from helpers.exercises.toys import Descent, Small, SmallTwin, batch_of, floats
from helpers.exercises.updates import Updates, bare, described, loss_called

NETWORKS = ("critic", "actor", "target_critic")
RETURNED = ("critic_loss", "actor_loss", "temperature", "entropy")


class SmallGaussian(Small):
    """Mean and log_std are weighted sums of the observation; log_std has a bias."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(floats(weights))

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_std = (obs @ self.weights).chunk(2, dim=-1)
        return mean, 0.3 * log_std - 0.5


class Repeating(np.random.Generator):
    """Draws the same numbers for the same shape: standard ones, moved and scaled as asked for."""

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        count = int(np.prod(size if size is not None else 1))
        numbers = 1.2 * np.sin(1.0 + 1.7 * np.arange(count))
        return numbers.reshape(size if size is not None else ()).astype(dtype)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * self.standard_normal(np.shape(loc) if size is None else size)


def agent_with(function, networks: tuple, temperature: float, rate: float, settings: dict) -> SAC:
    """An agent with these networks: critic, actor, target critic."""
    agent = with_parts(function, rng=Repeating(np.random.PCG64(0)), **settings)
    parts = {**dict(zip(NETWORKS, networks, strict=True)), "temperature": Temperature(temperature)}
    vars(agent).update(parts)
    for name in ("actor", "critic", "temperature"):
        optimizer = Descent(parts[name].parameters(), rate)
        vars(agent)[f"{name}_optimizer"] = optimizer
    agent.online = [*agent.critic.parameters()]
    agent.targets = [*agent.target_critic.parameters()]
    return agent


def with_parts(function, **parts) -> SAC:
    """A copy of the agent with other parts; an agent itself would refuse some, once it is made."""
    agent = bare(function, SAC)
    vars(agent).update(parts)
    return agent


def observe_update(function, networks, temperature, batch, rate=0.1, **settings):
    """What comes of two updates, and what else has changed; what is first wrong comes first."""
    agent = agent_with(function, networks, temperature, rate, settings)
    trial, before = Updates(agent, batch), shared_streams()
    seen: dict[str, Any] = {"source of the random numbers": "`self.rng`"}
    for number in (1, 2):
        returned = trial.learn()
        seen.setdefault("return value", described(returned, RETURNED))
        seen |= in_order(number, returned, weights(agent))
    seen |= trial.changes()
    if shared_streams() != before:  # then all numbers are others
        return dict.fromkeys(seen) | {"source of the random numbers": "shared by the process"}
    return seen


def in_order(number: int, returned, after: dict[str, np.ndarray]) -> dict[str, Any]:
    """The losses and the weights of an update in the order in which the algorithm makes them."""
    return {
        part.format(number): after[name] if name in after else loss_called(name, returned)
        for part, name in {
            "`temperature` of update {}": "temperature",
            "`critic_loss` of update {}": "critic_loss",
            "critic after update {}": "critic",
            "`entropy` of update {}": "entropy",
            "`actor_loss` of update {}": "actor_loss",
            "actor after update {}": "actor",
            "log of the temperature after update {}": "log_temperature",
            "target critic after update {}": "target_critic",
        }.items()
    }


def weights(agent: SAC) -> dict[str, np.ndarray]:
    found = {
        name: np.concatenate(
            [p.detach().numpy().ravel() for p in getattr(agent, name).parameters()]
        )
        for name in NETWORKS
    }
    return found | {"log_temperature": agent.temperature.log.detach().numpy().copy()}


def update_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(obs_size: int, action_dim: int, temperature: float, **settings) -> Case:
        def twin() -> SmallTwin:
            return SmallTwin(*rng.normal(size=(2, obs_size + action_dim)) / 2)

        actor = SmallGaussian(rng.normal(size=(obs_size, 2 * action_dim)) / 2)
        batch = batch_of(rng, obs_size, action_dim, "", "terminated", "", "truncated", "")
        args = (twin(), actor, twin()), temperature, batch
        given = {"gamma": 0.9, "tau": 0.2, "learn_temperature": True, "target_entropy": -1.0}
        return Case(args, given | settings)

    noted = {
        "one action dimension": drawn(2, 1, 0.4),
        "the temperature is not learned": drawn(2, 1, 0.4, learn_temperature=False),
        "two action dimensions, a target entropy of -3": drawn(3, 2, 1.5, target_entropy=-3.0),
        "gamma 1, fast targets": drawn(1, 3, 0.2, gamma=1.0, tau=0.7),
    }
    return [Case(case.args, case.kwargs, note) for note, case in noted.items()]


# --- What values cannot show ----------------------------------------------------------------------


def updated(function, seed: int) -> tuple[list, bool]:
    """All weights after an update, drawn from a generator with this seed, and whether shared
    streams of random numbers were left alone."""
    case = update_cases(np.random.default_rng(0))[0]
    networks, temperature, batch = case.args
    agent = agent_with(function, networks, temperature, 0.1, dict(case.kwargs))
    agent.rng = np.random.default_rng(seed)
    before = shared_streams()
    agent.update(batch)
    numbers = [x.tolist() for x in weights(agent).values()]
    return numbers, shared_streams() == before


SAC_UPDATE = exercise(
    __file__, "6.7", SAC, update_cases, observe_update,
    properties={"uses a shared stream": lambda f, rng: updated(f, 1)[1]}
    | drawn_from(lambda f, seed: updated(f, seed)[0]),
)  # fmt: skip
