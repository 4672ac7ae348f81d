"""The ways forward and back through a network's layers, by hand: numpy's products, torch's ReLUs.

Everything happens in arrays that are made once, and on the very memory of the network's parameters.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from helpers.agents import layers, networks, policies
from helpers.agents.faster import StackedLinear, StackedTwin, WideLinear

ACTORS = (networks.DeterministicActor, layers.DeepActor)
GAUSSIAN_ACTORS = (networks.SquashedGaussianActor, layers.DeepSquashedGaussianActor)
CRITICS = (networks.QNetwork, layers.DeepQNetwork)
PAIRS = (StackedTwin, networks.TwinQNetwork, layers.DeepTwinQNetwork)
POLICIES = (policies.CategoricalPolicy, policies.GaussianPolicy)
STATE_CRITICS = (nn.Sequential,)
NETWORKS = (*ACTORS, *GAUSSIAN_ACTORS, *CRITICS, *PAIRS, *POLICIES, *STATE_CRITICS)
DEEP = (layers.DeepActor, layers.DeepSquashedGaussianActor, layers.DeepQNetwork)
WRITTEN_LAYER_BY_LAYER = (
    networks.DeterministicActor, networks.SquashedGaussianActor, networks.QNetwork, StackedTwin,
)  # fmt: skip
LINEAR = (nn.Linear, WideLinear, StackedLinear)

# The gradient before a ReLU, from the one after it and what the ReLU gave.
relu_backward = torch.ops.aten.threshold_backward.grad_input


class Layer(NamedTuple):
    """Weights (..., n_in, n_out), biases (..., 1, n_out), and for each the array of its gradient.

    Two stacked layers have a first axis of length 2.
    """

    weight: np.ndarray
    bias: np.ndarray
    weight_slope: np.ndarray
    bias_slope: np.ndarray


class Tower:
    """Linear layers with a ReLU after each but the last, for batches of a fixed number of rows.

    What the last one says goes to `output` (..., rows, n_out); the gradient that comes back into
    it is expected in `slope`.
    """

    def __init__(self, made_of: list[Layer], output: np.ndarray, slope: np.ndarray) -> None:
        self.made_of, rows = made_of, output.shape[-2]
        widths = [(*layer.weight.shape[:-2], rows, layer.weight.shape[-1]) for layer in made_of]
        self.outputs = [*(np.zeros(width, np.float32) for width in widths[:-1]), output]
        self.slopes = [*(np.zeros(width, np.float32) for width in widths[:-1]), slope]
        self.turned_weights = [layer.weight.swapaxes(-1, -2) for layer in made_of]
        self.turned_outputs = [each.swapaxes(-1, -2) for each in self.outputs]
        self.ones = np.ones((1, rows), np.float32)
        # The same memory as torch sees it: all but products takes it half of numpy's time or less.
        self.tensors = [torch.from_numpy(each) for each in self.outputs]
        self.slope_tensors = [torch.from_numpy(each) for each in self.slopes]
        self.biases = [torch.from_numpy(layer.bias) for layer in made_of]
        self.turned_tensors = [torch.from_numpy(each) for each in self.turned_weights]

    def forward(self, x: np.ndarray) -> None:
        """From `x` (rows, n_in) to `output`."""
        last = len(self.made_of) - 1
        for i, out in enumerate(self.outputs):
            np.matmul(x, self.made_of[i].weight, out=out)
            self.tensors[i].add_(self.biases[i])
            if i < last:
                self.tensors[i].relu_()
            x = out

    def backward(self, x: np.ndarray) -> None:
        """From `slope` to the gradients of all weights and biases, after `forward(x)`."""
        for i in reversed(range(len(self.made_of))):
            before = self.turned_outputs[i - 1] if i else x.T
            np.matmul(before, self.slopes[i], out=self.made_of[i].weight_slope)
            # The sum over the batch.
            np.matmul(self.ones, self.slopes[i], out=self.made_of[i].bias_slope)
            if i:
                self._through(i)

    def backward_to_input(self) -> np.ndarray:
        """From `slope` to the gradient of what went in, (..., rows, n_in). No weights get one."""
        for i in reversed(range(1, len(self.made_of))):
            self._through(i)
        return np.matmul(self.slopes[0], self.turned_weights[0])

    def _through(self, i: int) -> None:
        """From the gradient of layer i's output to that of layer i - 1's, before its ReLU."""
        out = self.slope_tensors[i - 1]
        if self.slopes[i].shape[-1] == 1:  # a column times a row
            torch.mul(self.slope_tensors[i], self.turned_tensors[i], out=out)
        else:
            np.matmul(self.slopes[i], self.turned_weights[i], out=self.slopes[i - 1])
        relu_backward(out, self.tensors[i - 1], 0, grad_input=out)


class Network:
    """An actor, a critic or a pair of critics, n of them, for batches of `rows` rows."""

    def __init__(self, made_of: list[list[Layer]], rows: int) -> None:
        self.made_of, rows_and_outputs = made_of, (rows, made_of[0][-1].bias.shape[-1])
        self.stacked = made_of[0][-1].bias.ndim == 3
        n = 2 if self.stacked else len(made_of)
        self.output = np.zeros((n, *rows_and_outputs), np.float32)
        self.slope = np.zeros_like(self.output)
        outputs, slopes = self.output, self.slope
        if self.stacked:
            outputs, slopes = outputs[None], slopes[None]
        self.towers = [Tower(*each) for each in zip(made_of, outputs, slopes, strict=True)]
        self.gradients: dict[Any, torch.Tensor] = {}

    @classmethod
    def of(cls, network: nn.Module, rows: int) -> Self:
        """On the memory of the network's parameters."""
        gradients = {p: torch.zeros_like(p) for p in network.parameters()}
        towers = towers_of(network) or []
        made_of = [[_layer(each, gradients) for each in tower] for tower in towers]
        self = cls(made_of, rows)
        self.gradients = gradients
        return self

    def first(self) -> "Network":
        """The first of a pair, on the same memory, for its input's gradient."""
        layers = self.made_of[0]
        if self.stacked:
            layers = [Layer(*(each[0] for each in layer)) for layer in layers]
        return Network([layers], self.output.shape[1])

    def forward(self, x: np.ndarray) -> np.ndarray:
        """What each says about `x` (rows, n_in): (n, rows, n_out)."""
        for tower in self.towers:
            tower.forward(x)
        return self.output

    def backward(self, x: np.ndarray) -> None:
        """Give all weights and biases the gradient that follows from `slope`, after `forward(x)`.

        A parameter beside them has what `gradients` has.
        """
        for tower in self.towers:
            tower.backward(x)
        for parameter, gradient in self.gradients.items():
            parameter.grad = gradient

    def step(self, x: np.ndarray, optimizer: torch.optim.Optimizer) -> None:
        """An update down that gradient."""
        self.backward(x)
        optimizer.step()

    def input_slope(self) -> np.ndarray:
        """The gradient of what went in, summed over the n: (rows, n_in)."""
        slopes = [tower.backward_to_input() for tower in self.towers]
        return np.add.reduce(slopes[0] if self.stacked else slopes)


def towers_of(network: Any) -> list[list[Any]] | None:
    """The linear layers of each of its networks, two stacked ones counting as one.

    None if it is not one of ours, or has anything else between them than a ReLU after each but the
    last.
    """
    names, children = " ".join(network._modules), list(network.children())
    if type(network) in PAIRS and names == "first second":
        both = [towers_of(each) if type(each) in CRITICS else None for each in children]
        return [*both[0], *both[1]] if both[0] and both[1] else None
    if type(network) in POLICIES and names == "actor":
        return towers_of(children[0]) if type(children[0]) in STATE_CRITICS else None
    made_of = children
    if type(network) in DEEP and names == "hidden output" and type(children[0]) is nn.Sequential:
        made_of = [*children[0].children(), children[1]]
    if made_of is not children or type(network) in STATE_CRITICS:
        relus, children = made_of[1::2], made_of[::2]
        if len(relus) != len(children) - 1 or not all(type(each) is nn.ReLU for each in relus):
            return None
    elif type(network) not in WRITTEN_LAYER_BY_LAYER or names != "hidden1 hidden2 output":
        return None
    return [children] if all(type(each) in LINEAR for each in children) else None


def _layer(linear: Any, gradients: dict[nn.Parameter, torch.Tensor]) -> Layer:
    parameters = linear.weight, linear.bias
    tensors = *parameters, *(gradients[each] for each in parameters)
    arrays = [each.detach().numpy() for each in tensors]
    if type(linear) is not StackedLinear:  # torch keeps weights (n_out, n_in) and biases (n_out,)
        arrays = [each.T if each.ndim == 2 else each[None] for each in arrays]
    return Layer(*arrays)
