"""Lesson 02's update: exercises 2.4 `actor_loss`, 2.6 `td_target`, 2.7 `critic_loss`, 2.8
`polyak_update`.

The networks in the cases are so small that a case can be worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents.ddpg import actor_loss, critic_loss, polyak_update, td_target
from helpers.checks.compare import ANOTHER
from helpers.checks.exercise import Case, Property, exercise
from helpers.exercises.observing import gradient, no_mutation
from helpers.memory.buffers import Batch


def floats(values) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=torch.float32)


class SmallActor(nn.Module):
    """One linear layer and a tanh. The bias is a fixed number, not a parameter."""

    def __init__(self, weights, bias: float = 0.0) -> None:
        super().__init__()
        self.weights, self.bias = nn.Parameter(floats(weights)), bias

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(obs @ self.weights + self.bias)

    def extra_repr(self) -> str:
        return f"action = tanh(obs @ {_short(self.weights)}{_term(self.bias)})"


class SmallCritic(nn.Module):
    """A weighted sum of observation and action, minus the action's squares: a hill over actions.

    The bias is a fixed number, not a parameter.
    """

    def __init__(self, weights, bias: float = 0.0) -> None:
        super().__init__()
        self.weights, self.bias = nn.Parameter(floats(weights)), bias

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        linear = torch.cat([obs, action], dim=-1) @ self.weights + self.bias
        return linear - (action**2).sum(dim=-1)

    def extra_repr(self) -> str:
        weights, bias = _short(self.weights), _term(self.bias)
        return f"Q = [obs, action] @ {weights}{bias} - (action**2).sum()"


def _short(weights: torch.Tensor) -> str:
    return str(np.round(weights.detach().numpy(), 3).tolist())


def _term(bias: float) -> str:
    return f" + {bias}" if bias else ""


def same(first, again) -> bool:
    """Whether two calls gave the same; false only for tensors that differ."""
    tensors = isinstance(first, torch.Tensor) and isinstance(again, torch.Tensor)
    return not tensors or torch.equal(first.nan_to_num(), again.nan_to_num())


def networks(
    rng: np.random.Generator, obs_size: int, action_dim: int, bias: float = 0.0
) -> tuple[SmallActor, SmallCritic]:
    actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size), bias)
    return actor, SmallCritic(rng.normal(size=obs_size + action_dim), bias)


# --- 2.4 actor_loss -------------------------------------------------------------------------------


def observe_actor_loss(function, actor, critic, obs):
    loss, again = function(actor, critic, obs), function(actor, critic, obs)
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        return *networks(rng, obs_size, action_dim), floats(rng.normal(size=(size, obs_size)))

    one = (SmallActor([[0.5]]), SmallCritic([1.0, 2.0]))
    return [
        Case((*one, floats([[1.0]])), note="batch of one"),
        Case((*one, floats([[1.0], [-2.0]])), note="two observations"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(8, 4, 4), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1)),
    ]


def leaves_networks_alone(cases: Callable) -> Callable:
    """The test of a property: what could be trained before, can be trained after."""

    def test(function, rng):
        for case in cases(rng):
            function(*case.args)
            if not all(p.requires_grad for p in all_parameters(case)):
                return False
        return True

    return test


def all_parameters(case: Case) -> list[nn.Parameter]:
    """Those of the networks among the case's arguments."""
    modules = [entry for entry in case.args if isinstance(entry, nn.Module)]
    return [parameter for module in modules for parameter in module.parameters()]


def leaves_no_gradients(cases: Callable) -> Property:
    """The property that a loss is returned without calling `backward()` on it."""

    def test(function, rng):
        for case in cases(rng):
            function(*case.args)
            if any(parameter.grad is not None for parameter in all_parameters(case)):
                return False
        return True

    return Property(
        "gradients left in a network",
        test,
        "After your function there are gradients in the weights of a network, and the next update "
        "would add its own to them. Return the loss without calling `backward()`: the agent "
        "computes the gradient.",
    )


def gives_tensors(cases: Callable) -> Property:
    """The property that a loss is a tensor, and not the number in it."""

    def test(function, rng):
        losses = (function(*deepcopy(case.args)) for case in cases(rng))
        return all(isinstance(loss, torch.Tensor) for loss in losses)

    return Property(
        "no tensor",
        test,
        "You return a plain number, and no gradient can flow back through it. Return the tensor "
        "itself; `.item()` is for printing and plotting.",
    )


FROZEN = (
    "After your function the critic's weights are frozen (`requires_grad` is off), so it can never "
    "be trained again. Nothing needs freezing here: the optimiser of the actor moves the actor's "
    "weights only. If you do freeze, thaw before you return."
)


ACTOR_LOSS = exercise(
    __file__,
    "2.4",
    reference=actor_loss,
    cases=actor_loss_cases,
    observe=observe_actor_loss,
    properties=[
        Property("freezes a network", leaves_networks_alone(actor_loss_cases), FROZEN),
        leaves_no_gradients(actor_loss_cases),
        gives_tensors(actor_loss_cases),
    ],
)


# --- Batches --------------------------------------------------------------------------------------


def batch_of(rng: np.random.Generator, obs_size: int, action_dim: int, flags: list[str]) -> tuple:
    """A random batch, part by part; `flags` has "terminated", "truncated", "both" or "" a row."""
    size = len(flags)
    return (
        floats(rng.normal(size=(size, obs_size))),
        floats(rng.uniform(-1, 1, size=(size, action_dim))),
        floats(np.round(3 * rng.normal(size=size), 2)),
        floats(rng.normal(size=(size, obs_size))),
        floats([flag in ("terminated", "both") for flag in flags]),
        floats([flag in ("truncated", "both") for flag in flags]),
    )


# --- 2.6 td_target --------------------------------------------------------------------------------


def observe_target(
    function, obs, action, reward, next_obs, terminated, truncated,
    target_actor, target_critic, gamma,
):  # fmt: skip
    parts = obs, action, reward, next_obs, terminated, truncated
    again = function(Batch(*(part.clone() for part in parts)), target_actor, target_critic, gamma)
    target = function(Batch(*parts), target_actor, target_critic, gamma)
    return target if same(target, again) else ANOTHER


def target_cases(rng: np.random.Generator) -> list[Case]:
    def one(flag: str, reward: float = 1.0) -> tuple:
        now, later = (floats([[1.0]]), floats([[0.5]])), (floats([reward]), floats([[2.0]]))
        flags = (floats([flag in names]) for names in (("terminated",), ("truncated",)))
        return *now, *later, *flags, SmallActor([[0.5]], -0.25), SmallCritic([3.0, 1.0], 0.5), 0.8

    def drawn(obs_size: int, action_dim: int, gamma: float, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        return *batch, *networks(rng, obs_size, action_dim, bias=0.75), gamma

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


def checked_target(function) -> Callable:
    return lambda rng: (observe_target(function, *case.args) for case in target_cases(rng))


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked_target(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked_target(function)(rng))


def target_can_be_learned_from(function, rng):
    """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
    for target in checked_target(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


TARGET_GRADIENT = (
    "The numbers are right, but your target carries a gradient: the critic's loss would flow back "
    "into the target networks, and leave gradients in them that nobody clears. A target holds "
    "still: compute it under `torch.no_grad()`, or `.detach()` it."
)
INFERENCE = (
    "The numbers are right, but under `torch.inference_mode()` they become tensors that no loss "
    "can use later on, and training stops with an error. Use `torch.no_grad()`."
)
NO_TENSOR = (
    "The numbers are right, but they are not a tensor any more, and the critic's loss needs one. "
    "Stay in torch: nothing has to be converted, `no_grad` is enough."
)


TD_TARGET = exercise(
    __file__,
    "2.6",
    reference=td_target,
    cases=target_cases,
    observe=observe_target,
    properties=[
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        no_mutation(target_cases, observe_target),
    ],
)


# --- 2.7 critic_loss ------------------------------------------------------------------------------


def observe_critic_loss(
    function, critic, obs, action, reward, next_obs, terminated, truncated, target
):
    batch = Batch(obs, action, reward, next_obs, terminated, truncated)
    loss = function(critic, batch, target)
    return {"loss": loss, "gradient to the critic": gradient(loss, critic.weights)}


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(actions: list[float], targets: list[float]) -> tuple:
        size = len(actions)
        obs, next_obs = torch.ones(size, 1), torch.full((size, 1), 2.0)
        action, reward = floats(actions).unsqueeze(-1), torch.full((size,), -1.0)
        flags = torch.zeros(size), torch.zeros(size)
        return SmallCritic([2.0, 4.0]), obs, action, reward, next_obs, *flags, floats(targets)

    def drawn(obs_size: int, action_dim: int, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        critic = SmallCritic(rng.normal(size=obs_size + action_dim))
        return critic, *batch, floats(3 * rng.normal(size=len(flags)))

    return [
        Case(by_hand([0.5], [5.0]), note="batch of one"),
        Case(by_hand([0.5, -1.0], [5.0, 1.0]), note="two steps"),
        Case(drawn(3, 2, "", "terminated", "truncated", "", "both"), note="two action dimensions"),
        Case(drawn(3, 3, *["", "", "terminated", "truncated"] * 2)),
        Case(drawn(4, 1, *["", "terminated"] * 16)),
    ]


def plain(function):
    """`function(critic, batch, target)` for the parts of a batch."""
    return lambda critic, *rest: function(critic, Batch(*rest[:6]), rest[6])


def of_a_batch(rule: Property) -> Property:
    """A property of losses, for one whose cases have the parts of a batch."""
    return replace(rule, test=lambda function, rng: rule.test(plain(function), rng))


CRITIC_LOSS = exercise(
    __file__,
    "2.7",
    reference=critic_loss,
    cases=critic_loss_cases,
    observe=observe_critic_loss,
    properties=[
        of_a_batch(leaves_no_gradients(critic_loss_cases)),
        of_a_batch(gives_tensors(critic_loss_cases)),
        no_mutation(critic_loss_cases, observe_critic_loss),
    ],
)


# --- 2.8 polyak_update ----------------------------------------------------------------------------


def parameters_of(given) -> list[torch.Tensor]:
    return list(given.parameters()) if isinstance(given, nn.Module) else given


def observe_polyak(function, targets, online, tau):
    """Lists are handed over as lists, a network as the generator that its `parameters()` is."""
    here = [given.parameters() if isinstance(given, nn.Module) else list(given)
            for given in (targets, online)]  # fmt: skip
    function(*here, tau)
    return {
        "targets": [parameter.detach() for parameter in parameters_of(targets)],
        "online parameters": parameters_of(online),
    }


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
    __file__,
    "2.8",
    reference=polyak_update,
    cases=polyak_cases,
    observe=observe_polyak,
    properties=[
        Property(
            "targets share memory",
            targets_have_memory_of_their_own,
            "The numbers are right, but afterwards a target shares its memory with the online "
            "parameter and moves whenever that one is trained. Copy numbers, not tensors.",
        ),
        Property(
            "graph in the targets",
            targets_carry_no_graph,
            "The numbers are right, but torch records your update, and the targets carry a graph "
            "back to the online parameters. Put it under `torch.no_grad()`.",
        ),
    ],
)
