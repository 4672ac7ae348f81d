"""Lesson 01's two networks: exercises 1.1 `make_actor` and 1.5 `make_critic`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from helpers.agents.networks import make_actor, make_critic
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.observing import fill_parameters


def layer_sizes(network: nn.Module, obs: torch.Tensor) -> str:
    """The linear layers in the order in which they run, as "4 -> 64, 64 -> 64, 64 -> 2"."""
    ran: list[nn.Module] = []
    linear = [module for module in network.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_hook(lambda layer, *_: ran.append(layer)) for layer in linear]
    network(obs)
    for hook in hooks:
        hook.remove()
    return ", ".join(f"{layer.weight.shape[1]} -> {layer.weight.shape[0]}" for layer in ran)


def seen_from_outside(network: nn.Module, obs: torch.Tensor) -> dict:
    """Sizes, and outputs with weights that are the same for everybody."""
    fill_parameters(network, obs)
    return {"chain of linear layers": layer_sizes(network, obs), "output": network(obs)}


def observations(rng: np.random.Generator, rows: int, size: int) -> torch.Tensor:
    return torch.tensor(rng.normal(size=(rows, size)), dtype=torch.float32)


def chain(*sizes: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers of these sizes with an activation between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


# --- 1.1 make_actor -------------------------------------------------------------------------------


def observe_actor(function, obs, n_outputs, hidden):
    return seen_from_outside(function(obs.shape[-1], n_outputs, hidden), obs)


def actor_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((observations(rng, 1, 3), 2, 5), note="one observation"),
        Case((observations(rng, 6, 4), 2, 64), note="CartPole's sizes"),
        Case((observations(rng, 6, 3), 4, 8), note="more actions than observed numbers"),
        Case((observations(rng, 6, 2), 1, 16), note="one output, as for a single torque"),
    ]


def actor_then(last: nn.Module):
    return lambda obs_size, n_outputs, hidden=64: nn.Sequential(
        *make_actor(obs_size, n_outputs, hidden), last
    )


def actor_without_second_relu(obs_size, n_outputs, hidden=64):
    first, relu, second, _, last = make_actor(obs_size, n_outputs, hidden)
    return nn.Sequential(first, relu, second, last)


def actor_sizes_do_not_meet(obs_size, n_outputs, hidden=64):
    return nn.Sequential(
        nn.Linear(obs_size, hidden),
        nn.ReLU(),
        nn.Linear(obs_size, hidden),
        nn.ReLU(),
        nn.Linear(hidden, n_outputs),
    )


def actor_sizes_reversed(obs_size, n_outputs, hidden=64):
    return nn.Sequential(
        nn.Linear(hidden, obs_size),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(n_outputs, hidden),
    )


MAKE_ACTOR = Exercise(
    id="1.1",
    lesson="01_a2c",
    reference=make_actor,
    card=Card(
        title="The actor network",
        what="Write `make_actor(obs_size, n_outputs, hidden)`: a network of three linear layers, "
        "with a ReLU after the first and after the second, that turns observations of shape "
        "`(B, obs_size)` into `n_outputs` numbers each.",
        why="This network *is* the policy: for every observation it gives one logit an action. "
        "Its layout decides which policies can be learned at all, and a wrong last layer stops "
        "the agent from ever becoming sure of itself without any error to tell you so.",
        difficulty=1,
        minutes=5,
    ),
    hints=(
        "Two linear layers in a row with nothing between them are still one linear layer. So where "
        "does a ReLU help, and where would it forbid outputs that a policy needs?",
        "`nn.Sequential` takes the layers one after the other: `nn.Linear(obs_size, hidden)` and a "
        "ReLU, the same again from `hidden` to `hidden`, then a last linear layer that ends in "
        "`n_outputs`, and nothing after it.",
    ),
    cases=actor_cases,
    observe=observe_actor,
    misconceptions=[
        Misconception(
            "softmax at the end",
            actor_then(nn.Softmax(dim=-1)),
            "Your network ends in a softmax, but its outputs should be logits: the softmax comes "
            "later, and two of them squash twice. With two actions no probability could then rise "
            "above 0.73, so the policy could never become sure of anything.",
        ),
        Misconception(
            "log-softmax at the end",
            actor_then(nn.LogSoftmax(dim=-1)),
            "Your network gives log-probabilities. A softmax over them changes nothing, so a "
            "categorical policy would still learn, but logits are free numbers, and the same "
            "network will later give the mean of a Gaussian: end with the linear layer.",
        ),
        Misconception(
            "ReLU at the end",
            actor_then(nn.ReLU()),
            "There is a ReLU after the last layer, so no logit can be negative, and a state in "
            "which all of them are cut to 0 gives no gradient to learn from. Put ReLUs between the "
            "layers and leave the last one bare.",
        ),
        Misconception(
            "tanh at the end",
            actor_then(nn.Tanh()),
            "A tanh at the end keeps the logits between -1 and 1: with two actions no probability "
            "could rise above 0.88. A logit may be any real number, so end with the linear layer.",
        ),
        Misconception(
            "sigmoid at the end",
            actor_then(nn.Sigmoid()),
            "A sigmoid makes each output a number between 0 and 1, but they are logits and not yet "
            "probabilities: the softmax over all actions comes later. End with the linear layer.",
        ),
        Misconception(
            "no activations",
            lambda obs_size, n_outputs, hidden=64: chain(
                obs_size, hidden, hidden, n_outputs, activation=nn.Identity
            ),
            "There is no ReLU between your linear layers, and three linear maps in a row are one "
            "linear map: the policy could be no more than a weighted sum of the observation.",
        ),
        Misconception(
            "only one ReLU",
            actor_without_second_relu,
            "The ReLU after the second layer is missing: without it the last two linear layers "
            "collapse into one. Each of the two hidden layers needs its own bend.",
        ),
        Misconception(
            "one hidden layer",
            lambda obs_size, n_outputs, hidden=64: chain(obs_size, hidden, n_outputs),
            "Your network has two linear layers where three are asked for: one from the "
            "observation to `hidden`, one from `hidden` to `hidden`, one from `hidden` to the "
            "outputs.",
        ),
        Misconception(
            "three hidden layers",
            lambda obs_size, n_outputs, hidden=64: chain(
                obs_size, hidden, hidden, hidden, n_outputs
            ),
            "Your network has four linear layers, one too many: the output layer is the third of "
            "the three. More depth is not wrong in itself, but slower, and CartPole does not need "
            "it.",
        ),
        Misconception(
            "tanh instead of ReLU",
            lambda obs_size, n_outputs, hidden=64: chain(
                obs_size, hidden, hidden, n_outputs, activation=nn.Tanh
            ),
            "You bend with a tanh. That is a fine choice that many policy networks make, but this "
            "course's actor uses a ReLU, and the check compares with it.",
        ),
        Misconception(
            "hidden size ignored",
            lambda obs_size, n_outputs, hidden=64: make_actor(obs_size, n_outputs, 64),
            "Your hidden layers always have 64 units. That is only the default: take the number "
            "from the argument `hidden`, so that other lessons can make them wider or narrower.",
        ),
        Misconception(
            "number of outputs ignored",
            lambda obs_size, n_outputs, hidden=64: make_actor(obs_size, 1, hidden),
            "Your network gives one number, whatever `n_outputs` is. A policy needs a logit for "
            "each action, so that they can compete in the softmax.",
        ),
        Misconception(
            "two outputs whatever the task",
            lambda obs_size, n_outputs, hidden=64: make_actor(obs_size, 2, hidden),
            "Your network always has two outputs. CartPole has two actions, but other tasks have "
            "more or fewer: take the number from the argument `n_outputs`.",
        ),
        Misconception(
            "hidden and n_outputs exchanged",
            lambda obs_size, n_outputs, hidden=64: make_actor(obs_size, hidden, n_outputs),
            "`hidden` and `n_outputs` have changed places: your hidden layers have `n_outputs` "
            "units, and the last layer gives `hidden` numbers. The width in between is `hidden`, "
            "and there is one output for each of the `n_outputs`.",
        ),
        Misconception(
            "layers that do not meet",
            actor_sizes_do_not_meet,
            "Your second layer expects an observation, but what reaches it is the output of the "
            "first: each layer must take as many numbers as the one before it gives, here "
            "`hidden`.",
        ),
        Misconception(
            "inputs and outputs exchanged",
            actor_sizes_reversed,
            "`nn.Linear` takes the number of inputs first and the number of outputs second; yours "
            "stand the other way round.",
        ),
        Misconception(
            "a list of layers",
            lambda obs_size, n_outputs, hidden=64: list(make_actor(obs_size, n_outputs, hidden)),
            "You return the layers in a list, and a list cannot be called with an observation. "
            "Hand its entries to `nn.Sequential`, with a star before the list, and return that.",
        ),
        Misconception(
            "a list inside Sequential",
            lambda obs_size, n_outputs, hidden=64: nn.Sequential(
                list(make_actor(obs_size, n_outputs, hidden))
            ),
            "`nn.Sequential` wants the layers one by one and got a single list. A star before the "
            "list, `*layers`, hands over its entries.",
        ),
    ],
)


# --- 1.5 make_critic ------------------------------------------------------------------------------


def observe_critic(function, obs, hidden):
    return seen_from_outside(function(obs.shape[-1], hidden), obs)


def critic_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((observations(rng, 1, 3), 5), note="one observation"),
        Case((observations(rng, 2, 3), 5), note="a batch of two"),
        Case((observations(rng, 6, 4), 64), note="CartPole's sizes"),
        Case((observations(rng, 6, 2), 16), note="another width"),
        Case((observations(rng, 8, 8), 8), note="as many hidden units as observed numbers"),
        Case(
            (observations(rng, 6, 4).reshape(3, 2, 4), 8),
            note="three steps of two environments, (3, 2, 4)",
        ),
    ]


class WithoutLastAxis(nn.Module):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values.squeeze(-1)


def critic_then(last: nn.Module):
    return lambda obs_size, hidden=64: nn.Sequential(*make_critic(obs_size, hidden), last)


def critic_without_second_relu(obs_size, hidden=64):
    first, relu, second, _, last = make_critic(obs_size, hidden)
    return nn.Sequential(first, relu, second, last)


MAKE_CRITIC = Exercise(
    id="1.5",
    lesson="01_a2c",
    reference=make_critic,
    card=Card(
        title="The critic network",
        what="Write `make_critic(obs_size, hidden)`: three linear layers like the actor's, with a "
        "ReLU after the first two, but with a single output: how much return to expect from here. "
        "Whatever axes stand before the last one are kept: `(..., obs_size)` in, `(..., 1)` out.",
        why="The critic is the yardstick that every action is measured with. If its outputs cannot "
        "reach the values that it has to predict, every advantage is off by the rest.",
        difficulty=1,
        minutes=3,
    ),
    hints=(
        "How many numbers describe the value of a state, and which numbers are possible? Returns "
        "can be large, small or negative.",
        "It is the actor's layout with a last layer `nn.Linear(hidden, 1)`, and nothing after it.",
    ),
    cases=critic_cases,
    observe=observe_critic,
    misconceptions=[
        Misconception(
            "ReLU at the end",
            critic_then(nn.ReLU()),
            "With a ReLU after the last layer no value can be negative, while returns can: every "
            "one of Pendulum's is. Where it cuts a value to 0 it passes no gradient on either, so "
            "the critic could not even correct itself.",
        ),
        Misconception(
            "tanh at the end",
            critic_then(nn.Tanh()),
            "A tanh keeps every value between -1 and 1, but a value is an expected return and has "
            "no such bounds. End with the linear layer.",
        ),
        Misconception(
            "sigmoid at the end",
            critic_then(nn.Sigmoid()),
            "A sigmoid keeps every value between 0 and 1, as if it were a probability. A value is "
            "an expected return and may be any number: end with the linear layer.",
        ),
        Misconception(
            "softmax at the end",
            critic_then(nn.Softmax(dim=-1)),
            "The softmax of a single number is always 1, so your critic finds every state equally "
            "good. A value is no probability: end with the linear layer.",
        ),
        Misconception(
            "no activations",
            lambda obs_size, hidden=64: chain(obs_size, hidden, hidden, 1, activation=nn.Identity),
            "There is no ReLU between your linear layers, and three linear maps in a row are one "
            "linear map. It could not say that a pole which leans either way is bad.",
        ),
        Misconception(
            "only one ReLU",
            critic_without_second_relu,
            "The ReLU after the second layer is missing: without it the last two linear layers "
            "collapse into one.",
        ),
        Misconception(
            "one hidden layer",
            lambda obs_size, hidden=64: chain(obs_size, hidden, 1),
            "Your network has two linear layers where three are asked for: the one from `hidden` "
            "to `hidden` is missing.",
        ),
        Misconception(
            "tanh instead of ReLU",
            lambda obs_size, hidden=64: chain(obs_size, hidden, hidden, 1, activation=nn.Tanh),
            "You bend with a tanh. That works as well, but this course's critic uses a ReLU, and "
            "the check compares with it.",
        ),
        Misconception(
            "hidden size ignored",
            lambda obs_size, hidden=64: make_critic(obs_size, 64),
            "Your hidden layers always have 64 units. That is only the default: take the number "
            "from the argument `hidden`.",
        ),
        Misconception(
            "a value for each of two actions",
            lambda obs_size, hidden=64: make_actor(obs_size, 2, hidden),
            "Your critic gives two numbers, one an action; that would be Q(s, a). V(s) says how "
            "good the state is under the present policy, whatever comes next: one number.",
        ),
        Misconception(
            "as many outputs as hidden units",
            lambda obs_size, hidden=64: make_actor(obs_size, hidden, hidden),
            "Your last layer gives `hidden` numbers. It has to sum them up in one, the value of "
            "the state: `nn.Linear(hidden, 1)`.",
        ),
        Misconception(
            "hidden taken for the outputs",
            lambda obs_size, hidden=64: make_actor(obs_size, hidden),
            "`make_actor` is a good start, but its second argument is the number of outputs and "
            "its third the hidden size: say `1` for the one, and hand `hidden` on as the other.",
        ),
        Misconception(
            "flattened first",
            lambda obs_size, hidden=64: nn.Sequential(nn.Flatten(), *make_critic(obs_size, hidden)),
            "`nn.Flatten` merges all axes but the first, and later on the critic is given "
            "observations of several steps and environments, `(T, N, obs_size)`. A linear layer "
            "works along the last axis by itself: leave `Flatten` out.",
        ),
        Misconception(
            "values without their axis",
            critic_then(WithoutLastAxis()),
            "Your critic gives shape `(B,)`, and the course's gives `(B, 1)`, as a linear layer "
            "with one unit does by itself. Leave it so: whoever uses the values removes the axis.",
        ),
    ],
)
