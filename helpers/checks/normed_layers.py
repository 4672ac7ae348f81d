"""Lesson 05's network of any depth: exercise 5.5 `hidden_layers`.

With weights that are the same for everybody, values tell where the normalisation stands: its own
weights count like any other's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from helpers.agents.layers import hidden_layers
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import fill_parameters, linear_layers

# --- What is looked at ----------------------------------------------------------------------------

NETWORK = "a network"


def observe_layers(function, x, sizes, layer_norm):
    """The default of `layer_norm` where it is None."""
    asked = [] if layer_norm is None else [layer_norm]
    network = function(x.shape[-1], sizes, *asked)
    if network is None:
        return None
    form = form_of(network)
    seen = {"form of the result": form, "linear layers": None, "output": None}
    if form != NETWORK:
        return seen
    fill_parameters(network, x)
    seen["linear layers"] = sizes_of(linear_layers(network, x))
    seen["output"] = network(x)
    return seen


def form_of(network) -> str:
    if isinstance(network, nn.ModuleList):
        return "a ModuleList"
    if isinstance(network, nn.Module):
        return NETWORK if list(network.parameters()) else "a network without parameters"
    return f"something of type {type(network).__name__}"


def sizes_of(layers: list[nn.Linear]) -> str:
    return ", ".join(f"{x.weight.shape[1]} -> {x.weight.shape[0]}" for x in layers) or "none"


def layer_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(*shape: int) -> torch.Tensor:
        return torch.as_tensor(rng.normal(size=shape), dtype=torch.float32)

    return [
        Case((drawn(3, 2), [4], None), note="one hidden layer, nothing said of normalisation"),
        Case((drawn(3, 2), [4], True), note="one hidden layer with normalisation"),
        Case((drawn(1, 4), (4, 4), False), note="two layers of four without, a batch of one"),
        Case((drawn(2, 4), (4, 4), True), note="two layers of four with normalisation"),
        Case((drawn(5, 3), [8, 6, 4], False), note="three layers, each smaller, without"),
        Case((drawn(5, 3), [8, 6, 4], True), note="three layers, each smaller, with normalisation"),
        Case((drawn(3), [5, 7], True), note="a single observation, without the axis of a batch"),
        Case((drawn(2, 3, 4), [6, 5], True), note="a batch with two axes"),
    ]


# --- What values of one network cannot show -------------------------------------------------------


def a_new_network_each_time(function, rng):
    one, other = function(3, [8, 8], True), function(3, [8, 8], True)
    mine = {id(parameter) for parameter in one.parameters()}
    return not any(id(parameter) in mine for parameter in other.parameters())


def another_start_each_time(function, rng):
    starts = []
    for seed in (1, 2):  # torch's own stream stands where an agent's seed has put it
        torch.default_generator.manual_seed(seed)
        starts.append(linear_layers(function(3, [8], True), torch.zeros(1, 3))[0].weight)
    return not torch.equal(*starts)


# --- Wrong versions -------------------------------------------------------------------------------


def layers_with(
    layer: Callable | None = None,
    norm: Callable[[int], nn.Module] = nn.LayerNorm,
    relu: Callable[[], nn.Module] = nn.ReLU,
    asked: Callable[[bool], bool] = bool,
    sizes: Callable[[Sequence[int]], Sequence[int]] = list,
    result: Callable = lambda layers: nn.Sequential(*layers),
    linear: Callable = nn.Linear,
    advance: Callable[[int, int], int] = lambda n_inputs, size: size,
):
    """A wrong version: some steps replaced. `layer(linear, norm or None, relu)` gives their order.

    What is None is left out.
    """

    def make(n_inputs, hidden, layer_norm=False):
        layers = []
        for size in sizes(hidden):
            parts = linear(n_inputs, size), norm(size) if asked(layer_norm) else None, relu()
            layers += [part for part in (layer(*parts) if layer else parts) if part is not None]
            n_inputs = advance(n_inputs, size)
        return result(layers)

    return make


def only_at(place: Callable[[int, int], bool], what: str):
    """A wrong version: `what` ("norm" or "relu") only in the layers that `place(i, n)` names."""

    def make(n_inputs, sizes, layer_norm=False):
        layers = []
        for i, size in enumerate(sizes):
            here = place(i, len(sizes))
            layers.append(nn.Linear(n_inputs, size))
            if layer_norm and (here or what != "norm"):
                layers.append(nn.LayerNorm(size))
            if here or what != "relu":
                layers.append(nn.ReLU())
            n_inputs = size
        return nn.Sequential(*layers)

    return make


def norm_before_linear(n_inputs, sizes, layer_norm=False):
    layers = []
    for size in sizes:
        layers += [nn.LayerNorm(n_inputs)] if layer_norm else []
        layers += [nn.Linear(n_inputs, size), nn.ReLU()]
        n_inputs = size
    return nn.Sequential(*layers)


def norm_of_the_input_too(n_inputs, sizes, layer_norm=False):
    first = [nn.LayerNorm(n_inputs)] if layer_norm else []
    return nn.Sequential(*first, *hidden_layers(n_inputs, sizes, layer_norm))


def norm_of_the_inputs_size(n_inputs, sizes, layer_norm=False):
    layers = []
    for size in sizes:
        layers.append(nn.Linear(n_inputs, size))
        layers += [nn.LayerNorm(n_inputs)] if layer_norm else []
        layers.append(nn.ReLU())
        n_inputs = size
    return nn.Sequential(*layers)


def norm_of_a_fixed_size(choose: Callable[[Sequence[int]], int]):
    """A wrong version: every norm has one size, such as that of the first hidden layer."""

    def make(n_inputs, sizes, layer_norm=False):
        size = choose(sizes)
        return layers_with(norm=lambda _: nn.LayerNorm(size))(n_inputs, sizes, layer_norm)

    return make


def one_norm_for_all(n_inputs, sizes, layer_norm=False):
    norm = nn.LayerNorm(sizes[0])
    return layers_with(norm=lambda _: norm)(n_inputs, sizes, layer_norm)


def only_the_first(n_inputs, sizes, layer_norm=False):
    return hidden_layers(n_inputs, sizes[:1], layer_norm)


def with_output(n_inputs, sizes, layer_norm=False):
    return hidden_layers(n_inputs, sizes, layer_norm).append(nn.Linear(sizes[-1], 1))


def with_equal_output(n_inputs, sizes, layer_norm=False):
    return hidden_layers(n_inputs, sizes, layer_norm).append(nn.Linear(sizes[-1], sizes[-1]))


def list_to_sequential(layers):
    return nn.Sequential(layers)


def seeded(n_inputs, sizes, layer_norm=False):
    torch.manual_seed(0)
    return hidden_layers(n_inputs, sizes, layer_norm)


def first_layer_bare(n_inputs, sizes, layer_norm=False):
    first = nn.Linear(n_inputs, sizes[0])
    return nn.Sequential(first, *hidden_layers(sizes[0], sizes[1:], layer_norm))


def norm_once(n_inputs, sizes, layer_norm, at_the_end: bool):
    """One normalisation for the whole network."""
    layers = list(hidden_layers(n_inputs, sizes))
    if layer_norm and at_the_end:
        layers.append(nn.LayerNorm(sizes[-1]))
    elif layer_norm:
        layers.insert(0, nn.LayerNorm(n_inputs))
    return nn.Sequential(*layers)


def only_the_last(n_inputs, sizes, layer_norm=False):
    """As a list made anew in each turn of the loop keeps it."""
    before = [n_inputs, *sizes][-2]
    return hidden_layers(before, sizes[-1:], layer_norm)


def advanced_in_the_if(n_inputs, sizes, layer_norm=False):
    advance = (lambda n, size: size) if layer_norm else (lambda n, size: n)
    return layers_with(advance=advance)(n_inputs, sizes, layer_norm)


def a_plain_function(n_inputs, sizes, layer_norm=False):
    network = hidden_layers(n_inputs, sizes, layer_norm)
    return lambda x: network(x)


def without_a_default(n_inputs, sizes, layer_norm):
    return hidden_layers(n_inputs, sizes, layer_norm)


without_a_default.__qualname__ = "hidden_layers"  # which Python's error names

KEPT: dict = {}


def remembered(n_inputs, sizes, layer_norm=False):
    """The one network for these numbers, at each call."""
    key = n_inputs, tuple(sizes), layer_norm
    return KEPT.setdefault(key, hidden_layers(n_inputs, sizes, layer_norm))


class WithoutCenter(nn.Module):
    """Divides by the root mean square, and takes no mean away."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        scale = (x**2).mean(dim=-1, keepdim=True).add(1e-5).rsqrt()
        return x * scale * self.weight + self.bias


class OverTheBatch(nn.Module):
    """Mean and variance over everything but the units, written by hand."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        mean, var = rows.mean(0), rows.var(0, unbiased=False)
        return (x - mean) / (var + 1e-5).sqrt() * self.weight + self.bias


ORDER = (
    "The order is: the linear layer, then the normalisation, then the ReLU. Normalised first, the "
    "ReLU cuts about half of it"
)
BATCH = (
    "You normalise over the batch: what an observation is worth then depends on which others are "
    "in its batch, and one alone has nothing to be compared with. Layer normalisation looks at the "
    "units of one layer for one observation."
)
NO_WEIGHTS = (
    "Your normalisation learns nothing of its own. In the paper each unit has a gain and a bias, "
    "so that the network may choose another mean and variance where those are better: "
    "`nn.LayerNorm` has both unless it is told otherwise."
)
OTHER = "This course's networks have ReLUs, and the check compares with them"
SHARED = (
    "All layers have one and the same normalisation, so they share its gains and biases. Each "
    "layer needs one of its own: make it inside the loop."
)
FIXED_START = (
    "Every network that is made starts with the same weights, whatever the agent's seed is: "
    "somebody sets a seed inside the function. The agent has set one before; leave it alone."
)
SAME_NETWORK = (
    "Two calls give networks that share weights, so that the two critics of TD3 would be one. Make "
    "all layers, and the list that holds them, anew at each call."
)

# 1e-5 is usual; what is much smaller, such as 1e-8, does what 0 does.
EPS = (0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0)

HIDDEN_LAYERS = Exercise(
    id="5.5",
    lesson="05_td3_in_practice",
    reference=hidden_layers,
    card=Card(
        title="Layer normalisation in the right place",
        what="Write `hidden_layers(n_inputs, sizes, layer_norm=False)`: an `nn.Sequential` with a "
        "linear layer and a ReLU for each entry of `sizes`, and with `layer_norm` an "
        "`nn.LayerNorm` between the two.",
        why="A critic whose layers are normalised cannot drive its values up just by letting its "
        "inner numbers grow. In the wrong place, or over the wrong axis, nothing crashes: the "
        "network only learns less, or something else.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "Each layer takes what the one before gave: which number has to change from one turn of "
        "the loop to the next? And how many numbers does the normalisation see, those that come "
        "into the linear layer or those that leave it?",
        "Append to a list: `nn.Linear`, `nn.LayerNorm` of this layer's size if asked for, "
        "`nn.ReLU`. Then this size is the next layer's number of inputs. `nn.Sequential` takes "
        "the layers one by one: a star before the list.",
    ),
    cases=layer_cases,
    observe=observe_layers,
    misconceptions=[
        # Where the normalisation stands
        Misconception(
            "after the ReLU",
            layers_with(lambda linear, norm, relu: (linear, relu, norm)),
            f"Your normalisation comes after the ReLU, when the lower half is cut off already. "
            f"{ORDER}.",
        ),
        Misconception(
            "before the linear layer",
            norm_before_linear,
            "You normalise what goes into each linear layer, the observation among it, and not "
            f"what comes out. {ORDER}.",
        ),
        Misconception(
            "the input as well",
            norm_of_the_input_too,
            "You normalise the input as well. An observation's numbers are angles and speeds, and "
            "their mean and size say something: leave them to the first linear layer.",
        ),
        Misconception(
            "before and after the ReLU",
            layers_with(
                lambda linear, norm, relu: (
                    linear,
                    norm,
                    relu,
                    norm and nn.LayerNorm(norm.normalized_shape),
                )
            ),
            "You normalise twice, before the ReLU and after it. Once is enough, before it.",
        ),
        Misconception(
            "two ReLUs",
            layers_with(lambda linear, norm, relu: (linear, relu, norm, norm and nn.ReLU())),
            "With normalisation you have two ReLUs, one before it and one after, and it sees no "
            f"negative numbers any more. {ORDER}.",
        ),
        Misconception(
            "only in the first layer",
            only_at(lambda i, n: i == 0, "norm"),
            "Only the first layer is normalised. Every hidden layer is: make one in each turn of "
            "the loop.",
        ),
        Misconception(
            "only in the last layer",
            only_at(lambda i, n: i == n - 1, "norm"),
            "Only the last layer is normalised. Every hidden layer is: make one in each turn of "
            "the loop.",
        ),
        Misconception(
            "not in the last layer",
            only_at(lambda i, n: i < n - 1, "norm"),
            "The last hidden layer is not normalised. It is a hidden layer like the others: the "
            "output layer comes after it, elsewhere.",
        ),
        Misconception(
            "once, at the end",
            lambda n_inputs, sizes, layer_norm=False: norm_once(n_inputs, sizes, layer_norm, True),
            "There is one normalisation only, after the last ReLU. Each hidden layer has one of "
            "its own, between its linear layer and its ReLU: make it inside the loop.",
        ),
        Misconception(
            "once, at the beginning",
            lambda n_inputs, sizes, layer_norm=False: norm_once(n_inputs, sizes, layer_norm, False),
            "There is one normalisation only, and it works on the observation itself. Each hidden "
            "layer has one, between its linear layer and its ReLU: make it inside the loop.",
        ),
        # Whether
        Misconception(
            "no normalisation",
            layers_with(asked=lambda layer_norm: False),
            "Whatever `layer_norm` says, nothing is normalised. If it is true, an `nn.LayerNorm` "
            "comes between the linear layer and the ReLU.",
        ),
        Misconception(
            "always normalised",
            layers_with(asked=lambda layer_norm: True),
            "Your layers are normalised even if nobody asked for it. Only if `layer_norm` is true.",
        ),
        Misconception(
            "the other way round",
            layers_with(asked=lambda layer_norm: not layer_norm),
            "You normalise if `layer_norm` is false, and not if it is true.",
        ),
        Misconception(
            "in place of the ReLU",
            layers_with(lambda linear, norm, relu: (linear, norm or relu)),
            "With normalisation your layers have no ReLU, and without one several linear layers "
            "can do hardly more than a single one. The normalisation comes in addition.",
        ),
        Misconception(
            "ReLU only with normalisation",
            layers_with(lambda linear, norm, relu: (linear, norm, norm and relu)),
            "Without normalisation your layers have no ReLU either: is it inside the `if`? Only "
            "the normalisation depends on `layer_norm`.",
        ),
        Misconception(
            "linear layers alone",
            layers_with(lambda linear, norm, relu: (linear,)),
            "There are only linear layers, one after the other, which can do no more than a single "
            "one. In each turn of the loop the normalisation follows, if asked for, and a ReLU.",
        ),
        Misconception(
            "linear layers alone, always the input's size",
            layers_with(
                lambda linear, norm, relu: (linear,), advance=lambda n_inputs, size: n_inputs
            ),
            "There are only linear layers, and each takes as many numbers as the observation has. "
            "In each turn of the loop the normalisation follows, if asked for, and a ReLU; then "
            "`n_inputs` becomes this layer's size.",
        ),
        Misconception(
            "no normalisation, always the input's size",
            layers_with(asked=lambda layer_norm: False, advance=lambda n_inputs, size: n_inputs),
            "Nothing is normalised, whatever `layer_norm` says, and every linear layer takes as "
            "many numbers as the observation has. The second takes what the first gives: let "
            "`n_inputs` become that layer's size.",
        ),
        # What kind of normalisation
        Misconception("batch normalisation", layers_with(norm=nn.BatchNorm1d), BATCH),
        Misconception(
            "instance normalisation",
            layers_with(norm=nn.InstanceNorm1d),
            "`nn.InstanceNorm1d` is meant for signals with channels and a length, and has no gains "
            "and biases unless asked. For the units of one layer there is `nn.LayerNorm`.",
        ),
        Misconception("mean and variance over the batch", layers_with(norm=OverTheBatch), BATCH),
        Misconception(
            "without gains and biases",
            layers_with(norm=lambda size: nn.LayerNorm(size, elementwise_affine=False)),
            NO_WEIGHTS,
        ),
        Misconception(
            "without biases",
            layers_with(norm=lambda size: nn.LayerNorm(size, bias=False)),
            "Your normalisation has gains but no biases. The bias decides where the ReLU cuts, "
            "unit by unit: leave `bias` as it is.",
        ),
        Misconception(
            "without taking the mean away",
            layers_with(norm=nn.RMSNorm),
            "Your normalisation only divides (root mean square normalisation). Layer normalisation "
            "takes the mean over the units away first, and has biases: `nn.LayerNorm`.",
        ),
        Misconception(
            "without taking the mean away, with biases",
            layers_with(norm=WithoutCenter),
            "Your normalisation only divides. Layer normalisation takes the mean over the units "
            "away first.",
        ),
        Misconception(
            "groups",
            layers_with(norm=lambda size: nn.GroupNorm(1, size)),
            "`nn.GroupNorm` counts its channels along axis 1, which is right for a plain batch and "
            "for nothing else. `nn.LayerNorm` works along the last axis, whatever comes before "
            "it.",
        ),
        Misconception(
            "two groups",
            layers_with(norm=lambda size: nn.GroupNorm(2, size)),
            "`nn.GroupNorm(2, size)` takes mean and variance over each half of the units by "
            "itself. Layer normalisation takes them over all units of the layer: `nn.LayerNorm`.",
        ),
        *[
            Misconception(
                f"an eps of {eps:g}",
                layers_with(norm=lambda size, eps=eps: nn.LayerNorm(size, eps=eps)),
                "You changed `eps`, which is added to the variance so that nothing is divided by "
                "0. Leave it as it is: the check compares with the usual one.",
            )
            for eps in EPS
        ],
        Misconception(
            "the size of what comes in",
            norm_of_the_inputs_size,
            "Your normalisation has the size of what goes into the linear layer. It works on what "
            "comes out: the size of this layer.",
        ),
        Misconception(
            "the first layer's size everywhere",
            norm_of_a_fixed_size(lambda sizes: sizes[0]),
            "The second layer's normalisation has the first layer's size. Each has that of its own "
            "layer.",
        ),
        Misconception(
            "the last layer's size everywhere",
            norm_of_a_fixed_size(lambda sizes: sizes[-1]),
            "The first layer's normalisation has the last layer's size (which is what an index of "
            "-1 gives, also where it is written as `i - 1`). Each has that of its own layer.",
        ),
        Misconception("one for all layers", one_norm_for_all, SHARED),
        Misconception(
            "no ReLU",
            layers_with(lambda linear, norm, relu: (linear, norm)),
            "The ReLUs are missing. Without something between them that is not linear, several "
            "linear layers can do no more than one.",
        ),
        Misconception(
            "no ReLU at the end",
            only_at(lambda i, n: i < n - 1, "relu"),
            "The last ReLU is missing. All layers here are hidden ones: the output layer, which "
            "has none, comes after them, elsewhere.",
        ),
        Misconception(
            "a single ReLU at the end",
            only_at(lambda i, n: i == n - 1, "relu"),
            "There is one ReLU only, at the very end, and the linear layers before it can do no "
            "more than one. Each has its own.",
        ),
        Misconception(
            "a single ReLU at the beginning",
            only_at(lambda i, n: i == 0, "relu"),
            "Only the first layer has a ReLU. Each has one: append it in every turn of the loop.",
        ),
        Misconception(
            "first layer bare",
            first_layer_bare,
            "After your first linear layer nothing comes, no ReLU and no normalisation. It is a "
            "hidden layer like the others: let the loop make it, too.",
        ),
        Misconception(
            "ReLU before the linear layer",
            layers_with(lambda linear, norm, relu: (relu, linear, norm)),
            "Your ReLU comes before the linear layer, and cuts off whatever is negative in the "
            "observation. It comes last in each layer.",
        ),
        Misconception(
            "tanh",
            layers_with(relu=nn.Tanh),
            f"You put a tanh where a ReLU belongs. {OTHER}.",
        ),
        Misconception(
            "leaky ReLU",
            layers_with(relu=nn.LeakyReLU),
            f"You put a leaky ReLU where a plain one belongs. {OTHER}.",
        ),
        Misconception(
            "ELU", layers_with(relu=nn.ELU), f"You put an ELU where a ReLU belongs. {OTHER}."
        ),
        Misconception(
            "GELU", layers_with(relu=nn.GELU), f"You put a GELU where a ReLU belongs. {OTHER}."
        ),
        Misconception(
            "SiLU", layers_with(relu=nn.SiLU), f"You put a SiLU where a ReLU belongs. {OTHER}."
        ),
        Misconception(
            "sigmoid",
            layers_with(relu=nn.Sigmoid),
            f"You put a sigmoid where a ReLU belongs. {OTHER}.",
        ),
        Misconception(
            "dropout",
            layers_with(lambda linear, norm, relu: (linear, norm, relu, nn.Dropout(0.1))),
            "You add dropout, which sets some outputs to 0 at random. Nobody asked for it here, "
            "and it would make the critic's targets noisy.",
        ),
        # The layers
        Misconception(
            "always the input's size",
            layers_with(advance=lambda n_inputs, size: n_inputs),
            "Every linear layer takes as many numbers as the observation has. From the second on, "
            "it takes what the layer before gives: let `n_inputs` be that layer's size.",
        ),
        Misconception(
            "from the layer's own size",
            layers_with(linear=lambda n_inputs, size: nn.Linear(size, size)),
            "Your linear layers take as many numbers as they give. Each takes what the one before "
            "gives: `n_inputs` may change only when the layer is made.",
        ),
        Misconception(
            "inputs and outputs exchanged",
            layers_with(linear=lambda n_inputs, size: nn.Linear(size, n_inputs)),
            "You gave `nn.Linear` its two numbers the other way round: what comes in is first, and "
            "then what goes out.",
        ),
        Misconception(
            "the input's size without normalisation",
            advanced_in_the_if,
            "Without normalisation every linear layer takes as many numbers as the observation "
            "has: `n_inputs` becomes this layer's size inside the `if` only. Let it do so in every "
            "turn of the loop.",
        ),
        Misconception(
            "in the opposite order",
            layers_with(sizes=lambda sizes: sizes[::-1]),
            "Your layers come in the opposite order: the first of `sizes` is the one next to the "
            "input.",
        ),
        Misconception(
            "last layer missing",
            layers_with(sizes=lambda sizes: sizes[:-1]),
            "The last of `sizes` is missing. Each entry is a hidden layer; the output layer is not "
            "among them.",
        ),
        Misconception(
            "first layer missing",
            layers_with(sizes=lambda sizes: sizes[1:]),
            "The first of `sizes` is missing. The input's size is `n_inputs`; every entry of "
            "`sizes` is a hidden layer.",
        ),
        Misconception(
            "first layer missing, from its size on",
            lambda n_inputs, sizes, layer_norm=False: hidden_layers(
                sizes[0], sizes[1:], layer_norm
            ),
            "Your first layer takes as many numbers as the first of `sizes` says, and that is what "
            "it should give: it takes `n_inputs`.",
        ),
        Misconception(
            "only the first layer",
            only_the_first,
            "There is one layer only: is the `return` inside the loop?",
        ),
        Misconception(
            "only the last layer",
            only_the_last,
            "Only the last layer is left: does your list begin anew in each turn of the loop?",
        ),
        Misconception(
            "all of the first one's size",
            layers_with(sizes=lambda sizes: [sizes[0]] * len(sizes)),
            "All your layers have the size of the first. Each has its own entry in `sizes`.",
        ),
        Misconception(
            "an output layer",
            with_output,
            "You add an output layer of size 1. Here only the hidden ones are made: actor and "
            "critic put their own output layers after them.",
        ),
        Misconception(
            "one more layer",
            with_equal_output,
            "You add one more linear layer at the end. Here only the hidden ones are made: actor "
            "and critic put their own output layers after them.",
        ),
        Misconception(
            "without biases in the linear layers",
            layers_with(linear=lambda n, size: nn.Linear(n, size, bias=False)),
            "Your linear layers have no biases (`bias=False`), and without normalisation those are "
            "needed. Leave them as they are.",
        ),
        # What is returned
        Misconception(
            "a list",
            layers_with(result=list),
            "You return a list of layers. Whoever uses it wants to call it like a function: "
            "`nn.Sequential` makes a network of them.",
        ),
        Misconception(
            "a tuple",
            layers_with(result=tuple),
            "You return a tuple of layers. Whoever uses it wants to call it like a function: "
            "`nn.Sequential` makes a network of them.",
        ),
        Misconception(
            "a ModuleList",
            layers_with(result=nn.ModuleList),
            "An `nn.ModuleList` keeps layers, but cannot be called: it does not know in which "
            "order to use them. `nn.Sequential` uses one after the other.",
        ),
        Misconception(
            "a function",
            a_plain_function,
            "You return a function. An agent asks for the weights as well, and moves or saves "
            "them: return an `nn.Module`, such as `nn.Sequential`.",
        ),
        Misconception(
            "no default",
            without_a_default,
            "`layer_norm` has lost its default, so a call that says nothing of it stops with an "
            "error. Keep the first line as it was given.",
        ),
        Misconception(
            "Sequential without the star",
            layers_with(result=list_to_sequential),
            "`nn.Sequential` takes layers one by one, and you gave it a list. A star before the "
            "list hands its entries over.",
        ),
        # What values of one network cannot show
        Misconception("a seed of its own", seeded, FIXED_START),
        Misconception("the same network again", remembered, SAME_NETWORK),
    ],
    properties=[
        Property("two calls share weights", a_new_network_each_time, SAME_NETWORK),
        Property("the same start every time", another_start_each_time, FIXED_START),
    ],
)
