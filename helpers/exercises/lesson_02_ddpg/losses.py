"""Lesson 02's update: exercises 2.5 `actor_loss`, 2.3 `td_target`, 2.4 `critic_loss`, 2.7
`polyak_update`.
"""

from copy import deepcopy
from functools import partial

import numpy as np
import torch
from torch import nn

from helpers.algorithms.ddpg import actor_loss, critic_loss, polyak_update, td_target
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case
from helpers.exercises.losses import actor_loss_cases, critic_loss_cases, observe_actor_loss
from helpers.exercises.observing import call_twice, gradients_to, steady
from helpers.exercises.properties import is_a_loss, is_a_target, leaves_no_gradients, no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import (
    SmallActor,
    SmallCritic,
    batch_of,
    floats,
    random_actor,
    random_critic,
)
from helpers.memory.replay import Batch

actor_cases = partial(
    actor_loss_cases, by_hand=SmallCritic([1.0, 2.0]), random_critic=random_critic
)

ACTOR_LOSS = exercise(
    __file__, "2.5", actor_loss, actor_cases, observe_actor_loss,
    properties=is_a_loss(actor_cases) | leaves_no_gradients(actor_cases),
)  # fmt: skip


def target_cases(rng: np.random.Generator) -> list[Case]:
    def one(flag: str, reward: float = 1.0) -> tuple:
        now, later = (floats([[1.0]]), floats([[0.5]])), (floats([reward]), floats([[2.0]]))
        flags = (floats([flag in names]) for names in (("terminated",), ("truncated",)))
        batch = Batch(*now, *later, *flags)
        return batch, SmallActor([[0.5]], -0.25), SmallCritic([3.0, 1.0], 0.5), 0.8

    def drawn(obs_size: int, action_dim: int, gamma: float, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, *flags)
        both = (draw(rng, obs_size, action_dim, 0.75) for draw in (random_actor, random_critic))
        return batch, *both, gamma

    return [
        Case(one(""), note="a batch of one, in the middle of an episode"),
        Case(one("terminated"), note="a batch of one that terminated"),
        Case(one("truncated"), note="a batch of one that was truncated"),
        Case(drawn(2, 1, 0.9, "", "terminated", "truncated", ""), note="four steps"),
        Case(drawn(3, 2, 0.9, "both", ""), note="terminated and truncated in the same step"),
        Case(drawn(3, 2, 0.0, "", "truncated"), note="gamma 0, where only the reward counts"),
        Case(drawn(2, 2, 1.0, "", "terminated"), note="gamma 1, nothing is discounted"),
        Case(drawn(4, 3, 0.99, *["", "", "terminated", "truncated"] * 4)),
    ]


TD_TARGET = exercise(
    __file__, "2.3", td_target, target_cases, call_twice,
    properties=is_a_target(target_cases) | no_mutation(target_cases),
)  # fmt: skip


critic_cases = partial(
    critic_loss_cases, by_hand=SmallCritic([2.0, 4.0]), random_critic=random_critic
)


CRITIC_LOSS = exercise(
    __file__, "2.4", critic_loss, critic_cases, gradients_to({"the critic": 0}),
    properties=is_a_loss(critic_cases) | leaves_no_gradients(critic_cases),
)  # fmt: skip


def parameters_of(given) -> list[torch.Tensor]:
    return list(given.parameters()) if isinstance(given, nn.Module) else given


def observe_polyak(function, targets, online, tau):
    """Both afterwards; a word for the targets where a few more calls on copies give others."""
    copies = [deepcopy((targets, online)) for _ in range(3)]
    moved = move(function, targets, online, tau)
    again = [torch.cat(move(function, *both, tau)) for both in copies]
    steadily = steady(torch.cat(moved), *again) is not ANOTHER
    return {
        "targets": [x.detach() for x in parameters_of(targets)] if steadily else ANOTHER,
        "online parameters": parameters_of(online),
    }


def move(function, targets, online, tau) -> list[torch.Tensor]:
    """The targets afterwards, flat. A list is handed over as one, a network as a generator."""
    here = [given.parameters() if isinstance(given, nn.Module) else list(given)
            for given in (targets, online)]  # fmt: skip
    function(*here, tau)
    return [parameter.detach().flatten() for parameter in parameters_of(targets)]


def polyak_cases(rng: np.random.Generator) -> list[Case]:
    def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
        return [nn.Parameter(floats(rng.normal(size=shape))) for shape in shapes]

    def network() -> nn.Module:
        layer = nn.Linear(3, 2)
        layer.load_state_dict({"weight": floats(rng.normal(size=(2, 3))), "bias": torch.ones(2)})
        return nn.Sequential(layer, nn.ReLU(), SmallActor(rng.normal(size=(2, 1))))

    def one(tau: float) -> tuple:
        return [nn.Parameter(floats([2.0]))], [nn.Parameter(floats([6.0]))], tau

    return [
        Case(one(0.25), note="one number"),
        Case(one(1.0), note="tau 1, no lag at all"),
        Case((parameters((2,), (2,)), parameters((2,), (2,)), 0.1), note="two parameters"),
        Case(
            (parameters((3, 2), (3,), (1, 3)), parameters((3, 2), (3,), (1, 3)), 0.005),
            note="three parameters of different shapes, a small tau",
        ),
        Case(
            (
                [parameter.requires_grad_(False) for parameter in parameters((2,))],
                parameters((2,)),
                0.3,
            ),
            note="a target that needs no gradient",
        ),
        Case((network(), network(), 0.2), note="`parameters()` of two networks, as generators"),
    ]


def polyak_pairs(rng: np.random.Generator, frozen: bool) -> tuple[list, list]:
    """Targets and online parameters; the targets without gradient if `frozen`."""
    shapes = (2, 3), (3,)
    targets = [nn.Parameter(floats(rng.normal(size=s)), not frozen) for s in shapes]
    return targets, [nn.Parameter(floats(rng.normal(size=s))) for s in shapes]


def targets_have_memory_of_their_own(function, rng):
    for tau in (0.25, 1.0):
        targets, online = polyak_pairs(rng, frozen=False)
        function(list(targets), list(online), tau)
        before = [target.detach().clone() for target in targets]
        for parameter in online:
            parameter.data.add_(1.0)
        if not all(torch.equal(a, b) for a, b in zip(before, targets, strict=True)):
            return False
    return True


def targets_carry_no_graph(function, rng):
    targets, online = polyak_pairs(rng, frozen=True)
    function(list(targets), list(online), 0.25)
    return not any(target.requires_grad for target in targets)


POLYAK_UPDATE = exercise(
    __file__, "2.7", polyak_update, polyak_cases, observe_polyak,
    properties={
        "targets share memory": targets_have_memory_of_their_own,
        "graph in the targets": targets_carry_no_graph,
    },
)  # fmt: skip
