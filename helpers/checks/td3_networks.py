"""Lesson 03's pair of critics: exercise 3.2 `TwinQNetwork`.

Which layers belong to which critic is told by what each output depends on, whatever they are called
and in whatever order they run. With weights that are the same for everybody, values and gradients
tell the rest. How the pair starts is a property.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from math import sqrt

import numpy as np
import torch
from torch import nn

from helpers.agents.networks import QNetwork, TwinQNetwork, start_small
from helpers.checks.ddpg_networks import (
    IN_A_LIST,
    NO_SUPER,
    SMALL,
    UNUSED,
    ActionLater,
    drawn,
    joined,
    largest,
    sort_columns,
)
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import fill_parameters, gradient, linear_layers

# --- What is looked at ----------------------------------------------------------------------------


FORM, FORM_OF_Q1 = "form of what `forward` gives", "form of what `q1` gives"
ONE, TWO = "a tensor (B,)", "two of them: a tensor (B,), a tensor (B,)"


def observe_twin(function, obs, action, hidden):
    network = function(obs.shape[-1], action.shape[-1], hidden)
    try:
        seen = seen_from_outside(network, obs, action)
    except RecursionError:  # its text depends on how deep it was
        seen = {FORM: "an endless recursion"}
    return seen and {part: seen.get(part) for part in PARTS}


PARTS = (
    FORM,
    "layers of the first critic",
    "layers of the second critic",
    "layers that are in both",
    "first value",
    "second value",
    "gradient of the first value to the action",
    "gradient of the second value to the action",
    FORM_OF_Q1,
    "value of q1",
    "gradient of q1 to the action",
)


def seen_from_outside(network: nn.Module, obs: torch.Tensor, action: torch.Tensor) -> dict | None:
    """As many of these parts as can be seen."""
    if isinstance(network, nn.Module) and not list(network.parameters()):
        return {FORM: f"not looked at: {without_parameters(network, obs, action)}"}
    given = network(obs, action)
    if given is None:
        return None
    form = described(given, len(obs))
    if form != TWO:
        return {FORM: form}
    first, second = chains(network, obs, action)
    common = [layer for layer in first if layer in second]
    fill(network, (first, second), obs, action)
    one, other = network(obs, action)
    alone = network.q1(obs, action) if hasattr(network, "q1") else None
    form_of_q1 = described(alone, len(obs)) if hasattr(network, "q1") else "no such method"
    seen = (
        form,
        *(sizes(layers) for layers in (first, second, common)),
        *(one, other, gradient(one, action), gradient(other, action)),
        *(form_of_q1, alone if form_of_q1 == ONE else None, gradient(alone, action)),
    )
    return dict(zip(PARTS, seen, strict=True))


def without_parameters(network: nn.Module, obs: torch.Tensor, action: torch.Tensor) -> str:
    try:
        network(obs, action)
    except (NameError, AttributeError):
        return "the network does not find its parts"
    return "the network knows of no parameters"


def described(given, rows: int) -> str:
    """What comes out of a network, with "B" for the number of rows."""
    if isinstance(given, torch.Tensor) and given.shape == (2, rows):
        given = tuple(given)  # can be taken apart like a pair
    if isinstance(given, torch.Tensor):
        shape = "".join(f"{'B' if size == rows else size}, " for size in given.shape)
        return f"a tensor ({shape[:-1] if given.ndim == 1 else shape[:-2]})"
    if isinstance(given, tuple | list):
        return f"{'two' if len(given) == 2 else len(given)} of them: " + ", ".join(
            described(part, rows) for part in given
        )
    return f"something of type {type(given).__name__}"


def chains(network: nn.Module, *inputs: torch.Tensor) -> tuple[list[nn.Linear], list[nn.Linear]]:
    """For each of the two values the linear layers that it depends on, in the order they run in.

    For a moment all weights and inputs are positive, so that no ReLU keeps a gradient back.
    """
    ran = list(dict.fromkeys(linear_layers(network, *inputs)))
    parameters = [parameter for layer in ran for parameter in layer.parameters()]
    before = [parameter.detach().clone() for parameter in parameters]
    for parameter in parameters:
        parameter.data.fill_(1 / parameter.shape[-1])
    values = network(*(x.detach().abs() for x in inputs))
    found = tuple([layer for layer in ran if depends(value, layer)] for value in values)
    for parameter, old in zip(parameters, before, strict=True):
        parameter.data.copy_(old)
    return found


def depends(value: torch.Tensor, layer: nn.Linear) -> bool:
    slope = gradient(value, layer.weight)
    return slope is not None and bool(slope.any())


def sizes(layers: list[nn.Linear]) -> str:
    return ", ".join(f"{x.weight.shape[1]} -> {x.weight.shape[0]}" for x in layers) or "none"


def fill(network: nn.Module, both: tuple, *inputs: torch.Tensor) -> None:
    """Known weights for each critic, the same for every right way to build the pair."""
    fill_parameters(network, *inputs)
    for number, layers in enumerate(both):
        rng = np.random.default_rng(number)
        for layer in layers:
            for parameter in layer.parameters():
                bound = 1 / sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 1.0
                numbers = rng.uniform(-bound, bound, size=tuple(parameter.shape))
                parameter.data.copy_(torch.as_tensor(numbers))
    for layer in dict.fromkeys(layers[0] for layers in both if layers):
        sort_columns(network, layer, *inputs)


def twin_cases(rng: np.random.Generator) -> list[Case]:
    def pair(rows: int, obs_size: int, action_dim: int) -> tuple[torch.Tensor, torch.Tensor]:
        return drawn(rng, rows, obs_size), drawn(rng, rows, action_dim).requires_grad_()

    return [
        Case((*pair(3, 3, 1), 5), note="three steps, Pendulum's sizes"),
        Case((*pair(1, 3, 1), 5), note="a batch of one"),
        Case((*pair(4, 2, 3), 8), note="more action dimensions than observed numbers"),
        Case((*pair(6, 4, 4), 64), note="as many of the one as of the other"),
        Case((*pair(7, 1, 2), 16), note="one observed number"),
    ]


# --- How a pair starts ----------------------------------------------------------------------------


def new_pair(function, rng) -> tuple[nn.Module, tuple, list[torch.Tensor]]:
    inputs = [drawn(rng, 4, 3), drawn(rng, 4, 2)]
    network = function(3, 2, 16)
    return network, chains(network, *inputs), inputs


def starts_differ(function, rng):
    _, (first, second), _ = new_pair(function, rng)
    pairs = zip(first, second, strict=False)
    return not any(torch.equal(one.weight, other.weight) for one, other in pairs)


def starts_unrelated(function, rng):
    _, (first, second), _ = new_pair(function, rng)
    pairs = zip(first[:-1], second[:-1], strict=False)  # the last layer has few weights
    pairs = [(one.weight, other.weight) for one, other in pairs]
    return not any(alike(*pair) for pair in pairs if pair[0].shape == pair[1].shape)


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether weights follow others, up to sign, size and a little noise; by chance they do not."""
    both = torch.stack([one.detach().flatten(), other.detach().flatten()])
    return bool(torch.corrcoef(both)[0, 1].abs() > 0.7)


def another_start_every_time(function, rng):
    """Torch's own stream stands where an agent's seed has put it."""

    def born(seed: int) -> tuple[torch.Tensor, ...]:
        torch.default_generator.manual_seed(seed)
        _, both, _ = new_pair(function, np.random.default_rng(0))
        return tuple(layers[0].weight for layers in both)

    return not any(torch.equal(one, other) for one, other in zip(born(1), born(2), strict=True))


def q1_asks_one(function, rng):
    network, (first, _), inputs = new_pair(function, rng)
    return all(layer in first for layer in linear_layers(network, *inputs, ask=network.q1))


def last_layers_small(function, rng):
    _, both, _ = new_pair(function, rng)
    parameters = [p for layers in both for p in layers[-1].parameters()]
    return all(largest(parameter) <= SMALL for parameter in parameters)


def every_parameter_has_a_part(function, rng):
    network, _, inputs = new_pair(function, rng)
    fill_parameters(network, *inputs)
    one, other = network(*inputs)
    return all(gradient(one + other, p) is not None for p in network.parameters())


SAME_START = (
    "Both critics start with the same weights. They see the same batches and the same targets, so "
    "they stay the same for ever, and the lower of two equal values protects from nothing. Let "
    "each draw its own."
)
RELATED_START = (
    "Your second critic starts as the first one, only a little changed (some noise, another sign, "
    "another size). What one of them believes of states without data, the other then believes as "
    "well, or just the opposite: let each draw weights of its own."
)
FIXED_START = (
    "Every pair that is made starts with the same weights, whatever the agent's seed is: somebody "
    "sets a seed inside the class (`torch.manual_seed`), for all random numbers that torch draws "
    "afterwards. The agent has set one before; leave it alone."
)
BOTH_ASKED = (
    "The value of `q1` is right, but both critics work for it, and one of them for nothing: the "
    "actor asks at each of its steps. Ask the first network alone."
)
LARGE_START = (
    "The last layer of at least one critic starts too large. Use lesson 02's `QNetwork`, or "
    "`start_small`: then all values start near 0, and so do the first targets."
)


# --- Wrong versions -------------------------------------------------------------------------------


def two_networks(self, obs_size, action_dim, hidden):
    self.first = QNetwork(obs_size, action_dim, hidden)
    self.second = QNetwork(obs_size, action_dim, hidden)


def both_answers(self, obs, action):
    return self.first(obs, action), self.second(obs, action)


def first_alone(self, obs, action):
    return self.first(obs, action)


def twin_with(build=two_networks, forward=both_answers, q1=first_alone) -> type[nn.Module]:
    """A wrong version: some parts replaced."""

    class Twin(nn.Module):
        def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
            super().__init__()
            build(self, obs_size, action_dim, hidden)

        def forward(self, obs, action):
            return forward(self, obs, action)

        def q1(self, obs, action):
            return q1(self, obs, action)

    return Twin


def both_made_by(make: Callable):
    """A wrong version: two networks that `make(obs_size, action_dim, hidden)` gives."""

    def build(self, *numbers):
        self.first, self.second = make(*numbers), make(*numbers)

    return twin_with(build)


def ending_in(last: Callable):
    """A wrong version: `last(value)` in place of each value."""
    return twin_with(
        forward=lambda self, s, a: tuple(last(q) for q in both_answers(self, s, a)),
        q1=lambda self, s, a: last(self.first(s, a)),
    )


def asked_about(inputs: Callable):
    """A wrong version: the networks get `inputs(obs, action)`."""
    return twin_with(
        forward=lambda self, s, a: both_answers(self, *inputs(s, a)),
        q1=lambda self, s, a: self.first(*inputs(s, a)),
    )


def one_network_twice(self, *numbers):
    self.first = self.second = QNetwork(*numbers)


def a_copy(self, *numbers):
    self.first = QNetwork(*numbers)
    self.second = deepcopy(self.first)


def changed_copy(self, *numbers):
    a_copy(self, *numbers)
    for parameter in self.second.parameters():
        parameter.data.mul_(-1)


def with_a_seed(self, *numbers):
    torch.manual_seed(1)
    two_networks(self, *numbers)


def the_same_seed_twice(self, *numbers):
    torch.manual_seed(0)
    self.first = QNetwork(*numbers)
    torch.manual_seed(0)
    self.second = QNetwork(*numbers)


def hidden_for_one(self, obs_size, action_dim, hidden):
    self.first = QNetwork(obs_size, action_dim, hidden)
    self.second = QNetwork(obs_size, action_dim)


def without_q1() -> type[nn.Module]:
    twin = twin_with()
    del twin.q1
    return twin


def plain_list(self, *numbers):
    self.networks = [QNetwork(*numbers), QNetwork(*numbers)]


def from_the_list(self, obs, action):
    return tuple(network(obs, action) for network in self.networks)


class NoSuper(nn.Module):
    def __init__(self, *numbers) -> None:
        self.first = QNetwork(1, 1, 1)


def a_third_one(self, *numbers):
    two_networks(self, *numbers)
    self.third = QNetwork(*numbers)


def body(self, obs_size, action_dim, hidden):
    self.hidden1 = nn.Linear(obs_size + action_dim, hidden)
    self.hidden2 = nn.Linear(hidden, hidden)


def two_heads(self, obs_size, action_dim, hidden):
    body(self, obs_size, action_dim, hidden)
    self.heads = nn.ModuleList(nn.Linear(hidden, 1) for _ in range(2))
    for head in self.heads:
        start_small(head)


def two_outputs(self, obs_size, action_dim, hidden):
    body(self, obs_size, action_dim, hidden)
    self.output = nn.Linear(hidden, 2)
    start_small(self.output)


def through_body(self, obs, action):
    return torch.relu(self.hidden2(torch.relu(self.hidden1(joined(obs, action)))))


def from_two_heads(self, obs, action):
    x = through_body(self, obs, action)
    return tuple(head(x).squeeze(-1) for head in self.heads)


def from_two_outputs(self, obs, action):
    return self.output(through_body(self, obs, action)).unbind(-1)


def second_on_the_firsts_layer(self, obs, action):
    """Six layers by hand, copied, and one name not changed."""
    x = torch.relu(self.first.hidden1(joined(obs, action)))
    y = torch.relu(self.second.hidden2(x))
    return self.first(obs, action), self.second.output(y).squeeze(-1)


def second_on_the_firsts_layers(self, obs, action):
    x = torch.relu(self.first.hidden1(joined(obs, action)))
    x = torch.relu(self.first.hidden2(x))
    return self.first(obs, action), self.second.output(x).squeeze(-1)


def one_first_layer(self, *numbers):
    two_networks(self, *numbers)
    self.second.hidden1 = self.first.hidden1


def observation_only(obs_size, action_dim, hidden):
    return Answering(lambda s, a: (s, s[:, :0]), QNetwork(obs_size, 0, hidden))


class Answering(nn.Module):
    """A network that is asked about something else."""

    def __init__(self, inputs: Callable, network: nn.Module) -> None:
        super().__init__()
        self.inputs, self.network = inputs, network

    def forward(self, obs, action):
        return self.network(*self.inputs(obs, action))


def started_anew(obs_size, action_dim, hidden):
    network = QNetwork(obs_size, action_dim, hidden)
    nn.init.constant_(network.output.bias, 0.1)  # torch's own start may be small by chance
    return network


def second_without_gradient(self, obs, action):
    one, other = both_answers(self, obs, action)
    return one, other.detach()


SHARED = (
    "An error that comes from there is in both values, and where both are too high, the lower one "
    "is as well: give each critic all of its layers."
)
ONE_VALUE = (
    "Your `forward` gives one value in place of two. Each critic has to be compared with the "
    "target by itself, so both values come out, and whoever wants the lower one takes it."
)
NO_GRADIENT = (
    "Your values are right, but no gradient can flow back through the networks: `no_grad` or "
    "`.detach()` cuts its way. Whoever wants no gradient says so where the network is called."
)

TWIN_Q_NETWORK = Exercise(
    id="3.2",
    lesson="03_td3",
    reference=TwinQNetwork,
    card=Card(
        title="Two critics that share nothing",
        what="Write the class `TwinQNetwork(obs_size, action_dim, hidden)`: two of lesson 02's "
        "critics, each with weights of its own. One of them is `QNetwork(obs_size, action_dim, "
        "hidden)`, and called with `(obs, action)` it gives values `(B,)`. `forward(obs, action)` "
        "gives the values of both; `q1(obs, action)` asks the first one alone.",
        why="Everything that TD3 gains rests on errors that differ. Two critics that share a layer "
        "or a start share their errors, too, and nothing looks wrong, only the bias comes back.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "What must two critics not have in common, so that one can contradict the other? And where "
        "must the two networks be kept, so that an optimiser finds the weights of both?",
        "In `__init__`, after `super().__init__()`, make two `QNetwork` with the same three "
        "numbers, as two attributes, neither of them called `q1`. `forward` asks both and gives "
        "back both answers, with a comma between them; `q1` asks the first one only.",
    ),
    cases=twin_cases,
    observe=observe_twin,
    misconceptions=[
        Misconception(
            "the second is the first",
            twin_with(one_network_twice),
            "Both names stand for one and the same network (`self.second = self.first`), so the "
            "two values are always equal, and the lower of them protects from nothing. Make a "
            "second `QNetwork`.",
        ),
        Misconception(
            "the first is asked twice",
            twin_with(forward=lambda self, s, a: (self.first(s, a), self.first(s, a))),
            "There are two networks, but `forward` asks the first one twice, so the two values are "
            "always equal. The second value is the second network's.",
        ),
        Misconception("the second is a copy", twin_with(a_copy), SAME_START),
        Misconception("the second is a changed copy", twin_with(changed_copy), RELATED_START),
        Misconception(
            "the same seed twice",
            twin_with(the_same_seed_twice),
            "You set the same seed before each network, so both start with the same weights and "
            "stay the same for ever, and so do the pairs of all agents. No seed belongs in here: "
            "each network draws from the stream that the agent has seeded.",
        ),
        Misconception("a seed of its own", twin_with(with_a_seed), FIXED_START),
        Misconception(
            "one body, two heads",
            twin_with(two_heads, from_two_heads, lambda self, s, a: from_two_heads(self, s, a)[0]),
            f"Your critics share their hidden layers and differ in the last one only. {SHARED}",
        ),
        Misconception(
            "one network with two outputs",
            twin_with(
                two_outputs, from_two_outputs, lambda self, s, a: from_two_outputs(self, s, a)[0]
            ),
            f"You have one network with two outputs, which differ in their last weights only. All "
            f"else is shared. {SHARED}",
        ),
        Misconception(
            "the first layer shared",
            twin_with(one_first_layer),
            f"Your critics share their first layer. {SHARED}",
        ),
        Misconception(
            "the second on the first's layer",
            twin_with(forward=second_on_the_firsts_layer),
            "The second critic begins with the first one's first layer, a name that was copied and "
            f"not changed. {SHARED}",
        ),
        Misconception(
            "the second on the first's layers",
            twin_with(forward=second_on_the_firsts_layers),
            "The second critic's last layer sits on the first critic's hidden layers, a name that "
            f"was copied and not changed. {SHARED}",
        ),
        Misconception(
            "the lower value",
            twin_with(forward=lambda self, s, a: torch.minimum(*both_answers(self, s, a))),
            ONE_VALUE,
        ),
        Misconception(
            "side by side",
            twin_with(forward=lambda self, s, a: torch.stack(both_answers(self, s, a), dim=-1)),
            "Your `forward` gives one tensor `(B, 2)`, which comes apart into rows, not into "
            "critics. Give both values back separated by a comma: `q1, q2 = critic(obs, action)` "
            "then takes them apart.",
        ),
        Misconception(
            "one below the other",
            twin_with(forward=lambda self, s, a: torch.cat(both_answers(self, s, a))),
            "You joined both values to one long tensor `(2 B,)`, and nobody can tell any more "
            "which is whose. Give both values back separated by a comma.",
        ),
        Misconception(
            "q1 is the second",
            twin_with(q1=lambda self, s, a: self.second(s, a)),
            "`q1` gives the value that `forward` gives as its second. They have to agree on who "
            "comes first.",
        ),
        Misconception(
            "q1 gives nothing",
            twin_with(q1=lambda self, s, a: None),
            "Your `q1` returned `None`: did you forget `return`?",
        ),
        Misconception(
            "no q1",
            without_q1(),
            "Your class has no method `q1`. It is how the actor asks one critic alone: write it "
            "below `forward`, indented as far.",
        ),
        Misconception(
            "q1 asks both",
            twin_with(q1=lambda self, s, a: self(s, a)[0]),
            BOTH_ASKED,
        ),
        Misconception(
            "q1 gives both",
            twin_with(q1=both_answers),
            "`q1` gives both values. It is there so that the actor can ask one critic alone: one "
            "tensor `(B,)`.",
        ),
        Misconception(
            "q1 gives the lower value",
            twin_with(q1=lambda self, s, a: torch.minimum(*both_answers(self, s, a))),
            "`q1` gives the lower of both values. It is the first critic's alone: the minimum "
            "belongs to the target.",
        ),
        Misconception(
            "q1 gives the mean of both",
            twin_with(q1=lambda self, s, a: sum(both_answers(self, s, a)) / 2),
            "`q1` gives the mean of both critics. It is the first critic's value alone.",
        ),
        Misconception(
            "q1 averages over the batch",
            twin_with(q1=lambda self, s, a: self.first(s, a).mean()),
            "`q1` averages over the batch. It gives one value for each row, `(B,)`; the loss takes "
            "the mean.",
        ),
        Misconception(
            "q1 gives the first row",
            twin_with(q1=lambda self, s, a: self.first(s, a)[0]),
            "`q1` gives entry 0 of the first critic's values, which is the first row of the batch. "
            "All rows are meant, `(B,)`.",
        ),
        Misconception(
            "q1 without gradient",
            twin_with(q1=torch.no_grad()(first_alone)),
            "`q1` gives the right values, but without gradient. The slope over the action is all "
            "that the actor learns from, and `q1` is where it asks.",
        ),
        Misconception(
            "a network called q1",
            twin_with(
                forward=lambda self, s, a: (self.q1(s, a), self.second(s, a)),
                q1=lambda self, s, a: self.q1(s, a),
            ),
            "Your `q1` calls itself without end: a network of that name is hidden by the method "
            "with the same name. Call the networks something else.",
        ),
        Misconception(
            "no gradient through the networks",
            twin_with(forward=torch.no_grad()(both_answers), q1=torch.no_grad()(first_alone)),
            NO_GRADIENT,
        ),
        Misconception(
            "the second without gradient",
            twin_with(forward=second_without_gradient),
            "The second critic's values come without gradient, so it would never learn. Both are "
            "trained; whoever wants no gradient says so where the network is called.",
        ),
        Misconception(
            "columns",
            ending_in(lambda q: q.unsqueeze(-1)),
            "Your values have shape `(B, 1)`. Together with rewards of shape `(B,)` that would "
            "silently become a matrix `(B, B)`: `QNetwork` gives `(B,)` by itself, and layers of "
            "your own need a `squeeze(-1)` at the end.",
        ),
        Misconception(
            "a batch of one loses its axis",
            ending_in(torch.squeeze),
            "`squeeze()` without an axis drops every axis of length 1, so a batch of one becomes a "
            "plain number. Name the axis that you mean: `squeeze(-1)`.",
        ),
        Misconception(
            "tanh at the end",
            ending_in(torch.tanh),
            "A tanh keeps every value between -1 and 1, but a value is an expected return and has "
            "no such bounds. It belongs to the actor.",
        ),
        Misconception(
            "ReLU at the end",
            ending_in(torch.relu),
            "With a ReLU after the last layer no value can be negative, while every one of "
            "Pendulum's is. The critics end with their linear layer.",
        ),
        Misconception(
            "observation only",
            both_made_by(observation_only),
            "Your critics never look at the action. That would be V(s), which has no slope over "
            "actions that an actor could follow: `QNetwork` takes both.",
        ),
        Misconception(
            "observation joined with action beforehand",
            asked_about(lambda s, a: (joined(s, a),)),
            "You put observation and action side by side before you ask `QNetwork`, which takes "
            "the two apart from each other and joins them itself.",
        ),
        Misconception(
            "the action detached",
            asked_about(lambda s, a: (s, a.detach())),
            "The values are right, but you cut the action off (`.detach()`, `.data`), so no "
            "gradient reaches it. The slope over the action is all that the actor learns from.",
        ),
        Misconception(
            "no room for the action",
            both_made_by(lambda obs_size, action_dim, hidden: QNetwork(obs_size, 0, hidden)),
            "Your first layers expect `obs_size` numbers only, but observation and action come in "
            "side by side: there are `obs_size + action_dim` of them.",
        ),
        Misconception(
            "hidden size ignored",
            both_made_by(lambda obs_size, action_dim, hidden: QNetwork(obs_size, action_dim)),
            "Your hidden layers always have 64 units. That is only the default: hand the argument "
            "`hidden` on.",
        ),
        Misconception(
            "hidden size ignored in the second critic",
            twin_with(hidden_for_one),
            "The second critic's hidden layers always have 64 units, which is only the default: "
            "hand the argument `hidden` on to it, too.",
        ),
        Misconception(
            "the action joins at the second layer",
            both_made_by(ActionLater),
            "In your networks the action joins at the second layer. DDPG's paper does just that, "
            "but this course's `QNetwork` takes both in the first layer, and the check compares "
            "with it.",
        ),
        Misconception(
            "a plain list of networks",
            twin_with(plain_list, from_the_list, lambda self, s, a: self.networks[0](s, a)),
            IN_A_LIST,
        ),
        Misconception(
            "self. missing",
            twin_with(lambda self, *numbers: None),
            "Nothing that `__init__` makes is kept, so the networks are not found where they are "
            "asked: a name without `self.` before it is gone when the method ends. Write `self.` "
            "where they are made and where they are used.",
        ),
        Misconception("super().__init__() missing", NoSuper, NO_SUPER),
        Misconception("last layers not small", both_made_by(started_anew), LARGE_START),
        Misconception("a network that is never used", twin_with(a_third_one), UNUSED),
    ],
    properties=[
        Property("both start alike", starts_differ, SAME_START),
        Property("both start nearly alike", starts_unrelated, RELATED_START),
        Property("the same start every time", another_start_every_time, FIXED_START),
        Property("q1 asks both critics", q1_asks_one, BOTH_ASKED),
        Property("a last layer not small", last_layers_small, LARGE_START),
        Property("parameters without a part", every_parameter_has_a_part, UNUSED),
    ],
)
