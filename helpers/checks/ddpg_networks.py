"""Lesson 02's two networks: exercises 2.1 `DeterministicActor` and 2.3 `QNetwork`.

With weights that are the same for everybody, values and gradients tell how a network is built. How
it starts is a property, so that a wrong layout has its name whatever it starts with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from helpers.agents.networks import DeterministicActor, QNetwork, start_small
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import fill_parameters, gradient, linear_layers

SMALL = 0.015  # five times the paper's bound: other small starts are right, too
TINY = 0.02  # torch's own start of a hidden layer with 16 inputs reaches 0.25


def drawn(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.tensor(rng.normal(size=shape), dtype=torch.float32)


def nothing(x: torch.Tensor) -> torch.Tensor:
    return x


# --- What is looked at ----------------------------------------------------------------------------


def seen_from_outside(network: nn.Module, *inputs: torch.Tensor) -> dict | None:
    """Sizes, and outputs with weights that are the same for everybody."""
    if isinstance(network, nn.Module) and not list(network.parameters()):
        return {"chain of linear layers": "none that the network knows of", "output": None}
    layers = linear_layers(network, *inputs)
    fill_parameters(network, *inputs)
    if layers:
        sort_columns(network, layers[0], *inputs)
    sizes = ", ".join(f"{layer.weight.shape[1]} -> {layer.weight.shape[0]}" for layer in layers)
    output = network(*inputs)
    if output is None:
        return None
    if isinstance(output, torch.Tensor) and any(
        not torch.equal(output, network(*inputs)) for _ in range(8)
    ):
        return {"chain of linear layers": f"{sizes}, with another output each time", "output": None}
    return {"chain of linear layers": sizes, "output": output}


def sort_columns(network: nn.Module, first: nn.Linear, *inputs: torch.Tensor) -> None:
    """Give the weights of the first layer to the inputs that they belong to.

    Whether the action stands before the observation or after it makes no difference to what a
    network can learn. So the columns follow the inputs, wherever the network put them.
    """
    arrived: list[torch.Tensor] = []
    hook = first.register_forward_pre_hook(lambda _, given: arrived.append(given[0]))
    with torch.no_grad():
        network(*inputs)
        hook.remove()
        wanted, found = (x.reshape(-1, x.shape[-1]) for x in (joined(*inputs), arrived[0]))
        if wanted.shape == found.shape:
            same = (wanted.unsqueeze(-1) == found.unsqueeze(-2)).all(dim=0)
            if (same.sum(dim=0) == 1).all() and (same.sum(dim=1) == 1).all():
                first.weight.copy_(first.weight @ same.float())


def joined(*inputs: torch.Tensor) -> torch.Tensor:
    return torch.cat(inputs, dim=-1)


# --- How a network starts -------------------------------------------------------------------------


def largest(parameter: torch.Tensor | None) -> float:
    return 0.0 if parameter is None else float(parameter.detach().abs().max())


def starts(holds: Callable, sizes: tuple[int, ...]) -> Callable:
    """The test of a property: `holds(first layers, last layer)` for a network just made.

    `sizes` are those of the inputs; the network has two action dimensions.
    """

    def test(function, rng):
        network = function(3, 2, 16)
        *first, last = linear_layers(network, *(drawn(rng, 4, size) for size in sizes))
        return holds(first, last)

    return test


def all_layers_learn(sizes: tuple[int, ...]) -> Callable:
    """The test of a property: every parameter has a part in the output."""

    def test(function, rng):
        inputs = [drawn(rng, 4, size) for size in sizes]
        network = fill_parameters(function(3, 2, 16), *inputs)
        output = network(*inputs)
        return all(gradient(output, parameter) is not None for parameter in network.parameters())

    return test


UNUSED = (
    "Your network has a layer (or another parameter) that its output does not depend on: no "
    "gradient reaches it, and the optimiser stops with an error. Use it, or leave it out."
)


def start_properties(sizes: tuple[int, ...], large_start: str) -> list[Property]:
    return [
        Property(
            "weights of the last layer not small",
            starts(lambda first, last: largest(last.weight) <= SMALL, sizes),
            f"The weights of the last layer start too large. {large_start}",
        ),
        Property(
            "biases of the last layer not small",
            starts(lambda first, last: largest(last.bias) <= SMALL, sizes),
            f"The biases of the last layer start too large. {large_start}",
        ),
        Property(
            "weights of the last layer all 0",
            starts(lambda first, last: largest(last.weight) > 0, sizes),
            ZERO_START,
        ),
        Property(
            "hidden layers next to 0",
            starts(lambda first, last: all(largest(x.weight) > TINY for x in first), sizes),
            TINY_START,
        ),
        Property("parameters without a part", all_layers_learn(sizes), UNUSED),
    ]


ZERO_START = (
    "The last layer starts with weights that are exactly 0, so at first no gradient passes it and "
    "the layers below learn nothing. Small is right, but random: uniform between -0.003 and 0.003."
)
TINY_START = (
    "Your hidden layers start next to 0 as well, so hardly any of the input arrives at the end, "
    "and hardly any gradient comes back. Only the last layer starts small."
)


# --- Wrong versions -------------------------------------------------------------------------------


def last_small(layers: nn.ModuleList) -> None:
    start_small(layers[-1])


class Net(nn.Module):
    """Linear layers of these sizes; `bends[i]` comes after layer i, `join` before the first."""

    def __init__(self, sizes, bends, join=joined, start=last_small) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        self.bends, self.join = bends, join
        start(self.layers)

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        x = self.join(*inputs)
        for layer, bend in zip(self.layers, self.bends, strict=True):
            x = bend(layer(x))
        return x


class ListOfLayers(Net):
    """The layers are in a plain list, where torch does not find them."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


class NoSuper(nn.Module):
    def __init__(self, *sizes) -> None:
        self.layer = nn.Linear(1, 1)


class WithoutGradient(Net):
    @torch.no_grad()
    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return super().forward(*inputs)


class NoiseInside(Net):
    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        output = super().forward(*inputs)
        return output + 0.1 * torch.randn_like(output)


class OneMore(Net):
    """A third hidden layer that is declared and then forgotten."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.forgotten = nn.Linear(4, 4)


def weights_small(layers: nn.ModuleList) -> None:
    nn.init.uniform_(layers[-1].weight, -3e-3, 3e-3)
    nn.init.constant_(layers[-1].bias, 0.1)  # torch's own start may be small by chance


def first_small(layers: nn.ModuleList) -> None:
    start_small(layers[0])
    nn.init.constant_(layers[-1].bias, 0.1)


def all_small(layers: nn.ModuleList) -> None:
    for layer in layers:
        start_small(layer)


def not_small(layers: nn.ModuleList) -> None:
    nn.init.constant_(layers[-1].bias, 0.1)


def all_zero(layers: nn.ModuleList) -> None:
    nn.init.zeros_(layers[-1].weight)
    nn.init.zeros_(layers[-1].bias)


def made(kind: type[nn.Module], sizes: Callable, bends: tuple, join=joined, start=last_small):
    """A wrong version: `sizes(obs_size, action_dim, hidden)` lists the numbers of units."""
    return lambda obs_size, action_dim, hidden=64: kind(
        sizes(obs_size, action_dim, hidden), bends, join, start
    )


NO_SUPER = (
    "`__init__` has to begin with `super().__init__()`: it makes the place where torch keeps the "
    "layers of a module. Without it the first layer cannot be stored."
)
IN_A_LIST = (
    "Your layers are in a plain Python list (or tuple, or dict), where torch does not find them: "
    "`parameters()` is empty, and an optimiser would have nothing to move. Make each one an "
    "attribute, or use `nn.ModuleList` or `nn.Sequential`."
)
NO_GRADIENT = (
    "Your numbers are right, but no gradient can flow back through the network: `no_grad`, "
    "`.detach()` or `.numpy()` cuts its way. Whoever wants no gradient says so where the network "
    "is called."
)


# --- 2.1 DeterministicActor -----------------------------------------------------------------------


def observe_actor(function, obs, action_dim, hidden):
    return seen_from_outside(function(obs.shape[-1], action_dim, hidden), obs)


def actor_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((drawn(rng, 1, 3), 1, 5), note="a batch of one, Pendulum's sizes"),
        Case((drawn(rng, 2, 3), 2, 5), note="two observations, two action dimensions"),
        Case((drawn(rng, 3), 1, 5), note="one observation without a batch, as while acting"),
        Case((drawn(rng, 6, 2), 1, 64), note="MountainCarContinuous' sizes"),
        Case((drawn(rng, 8, 5), 7, 16), note="more action dimensions than observed numbers"),
        Case((drawn(rng, 3, 2, 4), 3, 8), note="observations of shape (3, 2, 4)"),
    ]


relu, tanh, sigmoid = torch.relu, torch.tanh, torch.sigmoid
ACTOR_BENDS = (relu, relu, tanh)


def actor_sizes(obs_size, action_dim, hidden):
    return obs_size, hidden, hidden, action_dim


actor_with = partial(made, Net, actor_sizes)  # other bends or another start
actor_of = partial(made, Net, bends=ACTOR_BENDS)  # other sizes
actor_kind = partial(made, sizes=actor_sizes, bends=ACTOR_BENDS)  # another class


def actor_that_ends_in(last: Callable):
    return actor_with((relu, relu, last))


ACTOR_START = (
    "Draw them uniformly between -0.003 and 0.003: then the first actions lie near 0, where the "
    "tanh is steep and lets a gradient through."
)

DETERMINISTIC_ACTOR = Exercise(
    id="2.1",
    lesson="02_ddpg",
    reference=DeterministicActor,
    card=Card(
        title="The actor that says one thing",
        what="Write the class `DeterministicActor(obs_size, action_dim, hidden)`: three linear "
        "layers, a ReLU after the first and after the second, a tanh after the third. "
        "Observations `(..., obs_size)` in, actions `(..., action_dim)` between -1 and 1 out. The "
        "last layer starts small: `start_small` is there for you.",
        why="This network *is* the policy. Its tanh keeps every action within the bounds, and is "
        "the place where such an actor may get stuck for ever: far out it is flat, and no gradient "
        "comes back.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "Which numbers may an action be, and which function brings any number there? And where on "
        "that function should training begin, so that it can still go either way?",
        "In `__init__`, after `super().__init__()`, make three `nn.Linear`: from the observation "
        "to `hidden`, from `hidden` to `hidden`, from `hidden` to the action, and hand the last "
        "one to `start_small`. In `forward`, `torch.relu` goes around the first two and "
        "`torch.tanh` around the third.",
    ),
    cases=actor_cases,
    observe=observe_actor,
    misconceptions=[
        Misconception(
            "no tanh at the end",
            actor_that_ends_in(nothing),
            "There is no tanh after your last layer, so actions may be any number, while the noise "
            "and the memory expect them between -1 and 1. Cutting them off there instead would "
            "leave no gradient to come back with.",
        ),
        Misconception(
            "sigmoid at the end",
            actor_that_ends_in(sigmoid),
            "A sigmoid brings its input to between 0 and 1, so your actor could never push to the "
            "left. The tanh reaches from -1 to 1.",
        ),
        Misconception(
            "softmax at the end",
            actor_that_ends_in(partial(torch.softmax, dim=-1)),
            "A softmax makes probabilities that add up to 1. Here no action is chosen from a list: "
            "each output is an amount, independent of the others, so each gets a tanh.",
        ),
        Misconception(
            "ReLU at the end",
            actor_that_ends_in(relu),
            "A ReLU after the last layer allows no action below 0, and any above 1. A tanh keeps "
            "both bounds.",
        ),
        Misconception(
            "cut off at the bounds",
            actor_that_ends_in(partial(torch.clamp, min=-1, max=1)),
            "You cut the output off at -1 and 1. Beyond these points the gradient is exactly 0, so "
            "an actor that gets there never comes back. The tanh bends instead.",
        ),
        Misconception(
            "tanh after a ReLU",
            actor_that_ends_in(lambda x: tanh(relu(x))),
            "There is a ReLU between the last layer and the tanh, so no action can be negative. "
            "ReLUs stand after the two hidden layers only.",
        ),
        Misconception(
            "two times tanh",
            actor_that_ends_in(lambda x: tanh(tanh(x))),
            "There are two tanh, one after the other, so no action gets beyond 0.76. One is "
            "enough.",
        ),
        Misconception(
            "in the environment's units",
            actor_that_ends_in(lambda x: 2 * tanh(x)),
            "Your actions reach from -2 to 2, which are Pendulum's units. The actor works in "
            "[-1, 1] whatever the environment is; the translation has its own place, at the border "
            "to the environment.",
        ),
        Misconception(
            "tanh instead of ReLU",
            actor_with((tanh, tanh, tanh)),
            "You bend with a tanh everywhere. It belongs at the end, where it keeps the bounds; "
            "the hidden layers of this course's actor have a ReLU each.",
        ),
        Misconception(
            "no ReLU",
            actor_with((nothing, nothing, tanh)),
            "There is no ReLU after your hidden layers, and three linear maps in a row are one "
            "linear map: apart from the tanh, the action could be no more than a weighted sum of "
            "the observation.",
        ),
        Misconception(
            "no ReLU after the first layer",
            actor_with((nothing, relu, tanh)),
            "The ReLU after the first layer is missing: without it the first two linear layers "
            "collapse into one. Each hidden layer needs its own bend.",
        ),
        Misconception(
            "no ReLU after the second layer",
            actor_with((relu, nothing, tanh)),
            "The ReLU after the second layer is missing: without it the last two linear layers "
            "collapse into one. Each hidden layer needs its own bend.",
        ),
        Misconception(
            "one hidden layer",
            made(Net, lambda o, a, h: (o, h, a), (relu, tanh)),
            "Your network has two linear layers where three are asked for: the one from `hidden` "
            "to `hidden` is missing.",
        ),
        Misconception(
            "three hidden layers",
            made(Net, lambda o, a, h: (o, h, h, h, a), (relu, relu, relu, tanh)),
            "Your network has four linear layers, one too many: the output layer is the third of "
            "the three. More depth is not wrong in itself, but slower, and not needed here.",
        ),
        Misconception(
            "hidden size ignored",
            actor_of(lambda o, a, h: (o, 64, 64, a)),
            "Your hidden layers always have 64 units. That is only the default: take the number "
            "from the argument `hidden`.",
        ),
        Misconception(
            "one output whatever the task",
            actor_of(lambda o, a, h: (o, h, h, 1)),
            "Your network gives one number, whatever `action_dim` is. That is enough for "
            "Pendulum's single torque, but a robot needs one for each joint.",
        ),
        Misconception(
            "hidden and action_dim exchanged",
            actor_of(lambda o, a, h: (o, a, a, h)),
            "`hidden` and `action_dim` have changed places: your hidden layers have `action_dim` "
            "units, and the last layer gives `hidden` numbers. The width in between is `hidden`.",
        ),
        Misconception(
            "inputs and outputs exchanged",
            actor_of(lambda o, a, h: (h, o, h, a)),
            "`nn.Linear` takes the number of inputs first and the number of outputs second; in "
            "your first layer they stand the other way round.",
        ),
        Misconception(
            "a number in place of an action",
            actor_that_ends_in(lambda x: tanh(x).squeeze(-1)),
            "You removed the last axis where the action has one dimension. An action is a vector, "
            "even of length 1: environment, noise and memory expect that axis.",
        ),
        Misconception(
            "another action each time",
            actor_kind(NoiseInside),
            "Asked twice about the same observation, your actor gives two answers: there is noise "
            "(or dropout) inside. This policy is deterministic; the agent adds the noise, and only "
            "while it explores.",
        ),
        Misconception("super().__init__() missing", NoSuper, NO_SUPER),
        Misconception("a plain list of layers", actor_kind(ListOfLayers), IN_A_LIST),
        Misconception("a layer that is never used", actor_kind(OneMore), UNUSED),
        Misconception("no gradient through the network", actor_kind(WithoutGradient), NO_GRADIENT),
        Misconception(
            "last layer not small",
            actor_with(ACTOR_BENDS, start=not_small),
            "The layout is right, but the last layer starts too large. Draw its "
            "weights and biases uniformly between -0.003 and 0.003 (`start_small`): then the first "
            "actions lie near 0, where the tanh is steep and lets a gradient through.",
        ),
        Misconception(
            "only the weights of the last layer small",
            actor_with(ACTOR_BENDS, start=weights_small),
            "The last layer's weights start small, but its biases do not, and they push every "
            "first action to the same side. Draw them from the same small range, or set them to 0.",
        ),
        Misconception(
            "small start in the wrong layer",
            actor_with(ACTOR_BENDS, start=first_small),
            "A hidden layer starts small, and the last one does not. It is the last layer that "
            "decides how far out on the tanh the first actions lie.",
        ),
        Misconception("all layers small", actor_with(ACTOR_BENDS, start=all_small), TINY_START),
        Misconception("last layer all 0", actor_with(ACTOR_BENDS, start=all_zero), ZERO_START),
    ],
    properties=start_properties((3,), ACTOR_START),
)


# --- 2.3 QNetwork ---------------------------------------------------------------------------------


def observe_critic(function, obs, action, hidden):
    network = function(obs.shape[-1], action.shape[-1], hidden)
    seen = seen_from_outside(network, obs, action)
    return seen and {**seen, "gradient to the action": gradient(seen["output"], action)}


def critic_cases(rng: np.random.Generator) -> list[Case]:
    def pair(rows: int, obs_size: int, action_dim: int) -> tuple[torch.Tensor, torch.Tensor]:
        return drawn(rng, rows, obs_size), drawn(rng, rows, action_dim).requires_grad_()

    return [
        Case((*pair(2, 3, 1), 5), note="two steps, Pendulum's sizes"),
        Case((*pair(1, 3, 1), 5), note="a batch of one"),
        Case((*pair(4, 2, 3), 8), note="more action dimensions than observed numbers"),
        Case((*pair(6, 4, 4), 64), note="as many of the one as of the other"),
        Case((*pair(6, 1, 2), 16), note="one observed number"),
    ]


def squeezed(x: torch.Tensor) -> torch.Tensor:
    return x.squeeze(-1)


CRITIC_BENDS = (relu, relu, squeezed)


def critic_sizes(obs_size, action_dim, hidden):
    return obs_size + action_dim, hidden, hidden, 1


critic_with = partial(made, Net, critic_sizes)
critic_of = partial(made, Net, bends=CRITIC_BENDS)
critic_kind = partial(made, sizes=critic_sizes, bends=CRITIC_BENDS)
critic_joined = partial(made, Net, critic_sizes, CRITIC_BENDS)


def critic_that_ends_in(last: Callable):
    return critic_with((relu, relu, lambda x: squeezed(last(x))))


class ActionLater(nn.Module):
    """As in the paper: the action joins at the second layer."""

    def __init__(self, obs_size, action_dim, hidden=64) -> None:
        super().__init__()
        self.first = nn.Linear(obs_size, hidden)
        self.second = nn.Linear(hidden + action_dim, hidden)
        self.output = nn.Linear(hidden, 1)
        start_small(self.output)

    def forward(self, obs, action):
        x = relu(self.first(obs))
        x = relu(self.second(joined(x, action)))
        return self.output(x).squeeze(-1)


class TwoFirstLayers(nn.Module):
    def __init__(self, obs_size, action_dim, hidden=64) -> None:
        super().__init__()
        self.of_obs = nn.Linear(obs_size, hidden)
        self.of_action = nn.Linear(action_dim, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 1)
        start_small(self.output)

    def forward(self, obs, action):
        x = relu(self.of_obs(obs) + self.of_action(action))
        return self.output(relu(self.second(x))).squeeze(-1)


CRITIC_START = (
    "Draw them uniformly between -0.003 and 0.003: then all values start near 0, and so do the "
    "first targets, which are made of them."
)

SUMMED_UP = (
    "Your last layer has a unit for each action dimension, and you put them together afterwards. "
    "An action is good or bad as a whole, and a linear layer sums up already: give the last one a "
    "single unit."
)

Q_NETWORK = Exercise(
    id="2.3",
    lesson="02_ddpg",
    reference=QNetwork,
    card=Card(
        title="The critic that knows about actions",
        what="Write the class `QNetwork(obs_size, action_dim, hidden)`: three linear layers with a "
        "ReLU after the first two. Observations `(B, obs_size)` and actions `(B, action_dim)` go "
        "in side by side, one value for each row comes out, shape `(B,)`. The last layer starts "
        "small here, too.",
        why="The actor learns from nothing but the slope of this network over the action. And its "
        "output meets rewards of shape `(B,)`: with one axis too many, every value would be "
        "compared with every target, and no error would say so.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "A value belongs to a pair. What does one row of the batch look like once observation and "
        "action have become a single vector, and how long is it? Then: which numbers can a value "
        "be?",
        "The first layer takes `obs_size + action_dim` numbers; `torch.cat` along the last axis "
        "puts the two inputs side by side. After the third layer, which has one unit, nothing but "
        "`squeeze(-1)` is left to do.",
    ),
    cases=critic_cases,
    observe=observe_critic,
    misconceptions=[
        Misconception(
            "observation only",
            made(Net, lambda o, a, h: (o, h, h, 1), CRITIC_BENDS, join=lambda obs, action: obs),
            "Your critic never looks at the action. That would be V(s), which has no slope over "
            "actions that an actor could follow: put observation and action side by side.",
        ),
        Misconception(
            "an output for each action",
            made(
                Net,
                lambda o, a, h: (o, h, h, a),
                (relu, relu, nothing),
                join=lambda obs, action: obs,
            ),
            "Your critic looks at the observation only and gives a number for each of "
            "`action_dim` actions, as for a list of them. There is no list here: the action is an "
            "amount, and it goes in, beside the observation.",
        ),
        Misconception(
            "action only",
            made(Net, lambda o, a, h: (a, h, h, 1), CRITIC_BENDS, join=lambda obs, action: action),
            "Your critic never looks at the observation, but the same push is good in one state "
            "and bad in another. Put observation and action side by side.",
        ),
        Misconception(
            "a column",
            critic_with((relu, relu, nothing)),
            "Your values have shape `(B, 1)`. Together with rewards of shape `(B,)` that would "
            "silently become a matrix `(B, B)`: drop the last axis with `squeeze(-1)`.",
        ),
        Misconception(
            "a batch of one loses its axis",
            critic_with((relu, relu, torch.squeeze)),
            "`squeeze()` without an axis drops every axis of length 1, so a batch of one becomes a "
            "plain number. Name the axis that you mean: `squeeze(-1)`.",
        ),
        Misconception(
            "joined along the batch",
            critic_joined(join=lambda obs, action: torch.cat([obs, action], dim=0)),
            "You put the actions below the observations, along the batch. Each row should become "
            "longer, not the batch: join along the last axis, `dim=-1`.",
        ),
        Misconception(
            "stacked, not joined",
            critic_joined(join=lambda obs, action: torch.stack([obs, action], dim=-1)),
            "`torch.stack` makes a new axis and wants both inputs to have the same size. "
            "`torch.cat` along the last axis puts them side by side.",
        ),
        Misconception(
            "added, not joined",
            critic_joined(join=lambda obs, action: obs + action),
            "You added (or multiplied) observation and action. They are different things with "
            "different sizes: put them side by side with `torch.cat`, so that each number has "
            "weights of its own.",
        ),
        Misconception(
            "two arguments for one layer",
            critic_joined(join=lambda obs, action: nn.Linear(1, 1)(obs, action)),
            "A linear layer takes one input, and you gave it two. Put observation and action side "
            "by side first, with `torch.cat` along the last axis.",
        ),
        Misconception(
            "no room for the action",
            made(Net, lambda o, a, h: (o, h, h, 1), CRITIC_BENDS),
            "You put observation and action side by side, but your first layer expects `obs_size` "
            "numbers only. There are `obs_size + action_dim` of them now.",
        ),
        Misconception(
            "one value for each action dimension",
            made(Net, lambda o, a, h: (o + a, h, h, a), CRITIC_BENDS),
            "Your critic gives a number for each action dimension. An action is good or bad as a "
            "whole: one value for each pair of observation and action.",
        ),
        Misconception(
            "a sum over action dimensions",
            made(Net, lambda o, a, h: (o + a, h, h, a), (relu, relu, lambda x: x.sum(-1))),
            SUMMED_UP,
        ),
        Misconception(
            "a mean over action dimensions",
            made(Net, lambda o, a, h: (o + a, h, h, a), (relu, relu, lambda x: x.mean(-1))),
            SUMMED_UP,
        ),
        Misconception(
            "as many outputs as hidden units",
            made(Net, lambda o, a, h: (o + a, h, h), (relu, squeezed)),
            "Your last layer gives `hidden` numbers. A third layer has to sum them up in one, the "
            "value: `nn.Linear(hidden, 1)`.",
        ),
        Misconception(
            "mean over the batch",
            critic_with((relu, relu, torch.mean)),
            "You averaged over the batch. Every pair of observation and action has a value of its "
            "own, so return one number for each, shape `(B,)`.",
        ),
        Misconception(
            "tanh at the end",
            critic_that_ends_in(tanh),
            "A tanh keeps every value between -1 and 1, but a value is an expected return and has "
            "no such bounds. It belongs to the actor; the critic ends with the linear layer.",
        ),
        Misconception(
            "ReLU at the end",
            critic_that_ends_in(relu),
            "With a ReLU after the last layer no value can be negative, while every one of "
            "Pendulum's is. Where it cuts a value to 0 it passes no gradient on either, neither to "
            "the critic nor to the actor.",
        ),
        Misconception(
            "sigmoid at the end",
            critic_that_ends_in(sigmoid),
            "A sigmoid keeps every value between 0 and 1, as if it were a probability. A value is "
            "an expected return and may be any number: end with the linear layer.",
        ),
        Misconception(
            "tanh instead of ReLU",
            critic_with((tanh, tanh, squeezed)),
            "You bend with a tanh. That works as well, but this course's critic uses a ReLU, and "
            "the check compares with it.",
        ),
        Misconception(
            "no ReLU",
            critic_with((nothing, nothing, squeezed)),
            "There is no ReLU between your linear layers, and three linear maps in a row are one "
            "linear map: the slope over the action would be the same in every state, and the "
            "actor would push one way for ever.",
        ),
        Misconception(
            "no ReLU after the first layer",
            critic_with((nothing, relu, squeezed)),
            "The ReLU after the first layer is missing: without it the first two linear layers "
            "collapse into one. Each hidden layer needs its own bend.",
        ),
        Misconception(
            "no ReLU after the second layer",
            critic_with((relu, nothing, squeezed)),
            "The ReLU after the second layer is missing: without it the last two linear layers "
            "collapse into one. Each hidden layer needs its own bend.",
        ),
        Misconception(
            "one hidden layer",
            made(Net, lambda o, a, h: (o + a, h, 1), (relu, squeezed)),
            "Your network has two linear layers where three are asked for: the one from `hidden` "
            "to `hidden` is missing.",
        ),
        Misconception(
            "three hidden layers",
            made(Net, lambda o, a, h: (o + a, h, h, h, 1), (relu, relu, relu, squeezed)),
            "Your network has four linear layers, one too many: the output layer is the third of "
            "the three.",
        ),
        Misconception(
            "hidden size ignored",
            critic_of(lambda o, a, h: (o + a, 64, 64, 1)),
            "Your hidden layers always have 64 units. That is only the default: take the number "
            "from the argument `hidden`.",
        ),
        Misconception(
            "the action joins at the second layer",
            ActionLater,
            "In your network the action joins at the second layer. The paper does just that, and "
            "it learns as well; here both go into the first layer, side by side, which is simpler "
            "and what the check compares with.",
        ),
        Misconception(
            "a first layer for each input",
            TwoFirstLayers,
            "You gave observation and action a first layer each and added the results. That is the "
            "same as one layer on both side by side, only with a bias too many; here the one layer "
            "is asked for, and the check compares with it.",
        ),
        Misconception(
            "a tanh on the action",
            critic_joined(join=lambda obs, action: joined(obs, tanh(action))),
            "You put a tanh on the action before the critic sees it. The actor has one already, "
            "and actions of the memory have been within the bounds since they were made: take them "
            "as they come.",
        ),
        Misconception(
            "the action detached",
            critic_joined(join=lambda obs, action: joined(obs, action.detach())),
            "The values are right, but you cut the action off (`.detach()`, `.data`, `.numpy()`), "
            "so no gradient reaches it. The slope over the action is all that the actor learns "
            "from.",
        ),
        Misconception(
            "another value each time",
            critic_kind(NoiseInside),
            "Asked twice about the same pair, your critic gives two answers: there is noise (or "
            "dropout) inside. A value is an expectation, one number.",
        ),
        Misconception("super().__init__() missing", NoSuper, NO_SUPER),
        Misconception("a plain list of layers", critic_kind(ListOfLayers), IN_A_LIST),
        Misconception("no gradient through the network", critic_kind(WithoutGradient), NO_GRADIENT),
        Misconception(
            "last layer not small",
            critic_with(CRITIC_BENDS, start=not_small),
            "The layout is right, but the last layer starts too large. Draw its "
            "weights and biases uniformly between -0.003 and 0.003 (`start_small`): then all "
            "values start near 0, and so do the first targets, which are made of them.",
        ),
        Misconception(
            "only the weights of the last layer small",
            critic_with(CRITIC_BENDS, start=weights_small),
            "The last layer's weights start small, but its bias does not, and shifts all values "
            "alike. Draw it from the same small range, or set it to 0.",
        ),
        Misconception(
            "small start in the wrong layer",
            critic_with(CRITIC_BENDS, start=first_small),
            "A hidden layer starts small, and the last one does not. It is the last layer that "
            "decides how large the first values are.",
        ),
        Misconception("all layers small", critic_with(CRITIC_BENDS, start=all_small), TINY_START),
        Misconception("last layer all 0", critic_with(CRITIC_BENDS, start=all_zero), ZERO_START),
        Misconception("a layer that is never used", critic_kind(OneMore), UNUSED),
    ],
    properties=start_properties((3, 2), CRITIC_START),
)
