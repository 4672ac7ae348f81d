"""Updates in numpy: the ways forward and back through a few linear layers, and who may use them.

In the update of a small network little of the time is arithmetic. torch is called hundreds of
times, notes every call for autograd, and makes a new tensor for every result. Here numpy multiplies
the matrices, on the memory of torch's parameters; Adam and the targets' move stay torch's. Measured
on one core, 64x64 units and a batch of 128: a step of TD3's training takes half of the time that it
takes with autograd, with 256x256 units and a batch of 256 about 0.8.

A class that has its update in numpy too has it right below: `TD3.in_numpy = TD3InNumpy`, with the
methods that are repeated there in `repeats`. It is used if `fast` is set and all of these methods
are the agent's, and its networks the course's own, on a CPU, as they were made. That is looked at
when training begins, and not at every update: after changing networks in the middle of a training,
call `agent.ready()`.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from helpers.agents.layers import DEEPER
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.agents.threads import one_thread
from helpers.algorithms.td3 import TwinQNetwork

LAYERS = (nn.Linear, nn.ReLU, nn.Sequential)
NETWORKS = (*LAYERS, *DEEPER, *DEEPER.values(), CategoricalPolicy, GaussianPolicy)
TWINS = (TwinQNetwork, DEEPER[TwinQNetwork])
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

relu_backward = torch.ops.aten.threshold_backward.grad_input  # in place; numpy takes thrice as long


class Mlp:
    """Linear layers with a ReLU after each but the last: those of a network, for any batch.

    `forward(x)` gives the outputs (B, n_out). Put their gradient into `slope`; then `backward()`
    gives every parameter its `grad`, and `input_slope()` is the gradient of what went in.
    """

    def __init__(self, network: nn.Module) -> None:
        linears: list[Any] = [each for each in network.modules() if type(each) is nn.Linear]
        self.biases = [each.bias.detach() for each in linears]
        self.turned_tensors = [each.weight.detach() for each in linears]
        self.turned = [each.numpy() for each in self.turned_tensors]
        self.weights = [each.T for each in self.turned]  # (n_in, n_out), the same memory
        self.parameters = [p for each in linears for p in (each.weight, each.bias)]
        self.grads = [torch.zeros_like(p) for p in self.parameters]
        self.weight_grads = [grad.numpy() for grad in self.grads[::2]]
        self.bias_grads = [grad.numpy() for grad in self.grads[1::2]]
        self._make_room(1)

    def _make_room(self, rows: int) -> None:
        self.outs = [np.zeros((rows, len(bias)), np.float32) for bias in self.biases]
        self.slopes = [np.zeros_like(each) for each in self.outs]
        # torch sees the same memory: all but products takes it half of numpy's time or less.
        self.out_tensors = [torch.from_numpy(each) for each in self.outs]
        self.slope_tensors = [torch.from_numpy(each) for each in self.slopes]
        self.ones, self.slope = np.ones(rows, np.float32), self.slopes[-1]

    def forward(self, x: np.ndarray) -> np.ndarray:
        if len(x) != len(self.ones):
            self._make_room(len(x))
        self.x, last = x, len(self.outs) - 1
        for i, out in enumerate(self.outs):
            np.matmul(x, self.weights[i], out=out)
            self.out_tensors[i].add_(self.biases[i])
            if i < last:
                self.out_tensors[i].relu_()
            x = out
        return x

    def backward(self) -> None:
        for i in reversed(range(len(self.outs))):
            before = self.outs[i - 1] if i else self.x
            np.matmul(self.slopes[i].T, before, out=self.weight_grads[i])
            np.matmul(self.ones, self.slopes[i], out=self.bias_grads[i])
            if i:
                self._through(i)
        for parameter, grad in zip(self.parameters, self.grads, strict=True):
            parameter.grad = grad if parameter.requires_grad else None  # frozen in a training

    def input_slope(self) -> np.ndarray:
        """No weight gets a gradient."""
        for i in reversed(range(1, len(self.outs))):
            self._through(i)
        return self.slopes[0] @ self.turned[0]

    def _through(self, i: int) -> None:
        """From the gradient of layer i's output to that of layer i - 1's, before its ReLU."""
        out = self.slope_tensors[i - 1]
        if self.slopes[i].shape[1] == 1:  # a column times a row
            torch.mul(self.slope_tensors[i], self.turned_tensors[i], out=out)
        else:
            np.matmul(self.slopes[i], self.turned[i], out=self.slopes[i - 1])
        relu_backward(out, self.out_tensors[i - 1], 0, grad_input=out)


class UpdateInNumpy:
    """What the updates of DDPG, TD3 and SAC in numpy share."""

    repeats: ClassVar[tuple[Callable, ...]]
    parts: ClassVar[dict[str, str]] = {  # network -> its optimiser
        "actor": "actor_optimizer", "critic": "critic_optimizer",
    }  # fmt: skip

    def __init__(self, agent: Any) -> None:
        self.agent, self.actor = agent, Mlp(agent.actor)
        if "actor" in agent.slow:
            self.target_actor = Mlp(agent.target_actor)
        self.critics, self.target_critics = (
            [Mlp(each) for each in (twin.children() if type(twin) in TWINS else [twin])]
            for twin in (agent.critic, agent.target_critic)
        )

    def __call__(self, batch: Any) -> dict[str, torch.Tensor]:
        """What `agent.update(batch)` does and gives."""
        parts = batch.obs, batch.action, batch.reward, batch.next_obs, batch.terminated
        # As in torch, what overflows is said by nobody.
        with one_thread(), torch.no_grad(), np.errstate(all="ignore"):
            losses = self.update(*(part.numpy() for part in parts))
        return {name: torch.from_numpy(np.array(loss)) for name, loss in losses.items()}

    def update(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any) -> dict:
        """The same from and to numpy."""
        raise NotImplementedError

    def lowest(self, critics: list[Mlp], obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """The most pessimistic critic's values (B,)."""
        inputs = np.concatenate((obs, action), axis=1)
        return np.minimum.reduce([each.forward(inputs) for each in critics])[:, 0]

    def learn_values(self, obs: np.ndarray, action: np.ndarray, target: np.ndarray) -> np.float32:
        """An update of the critics towards `target` (B,). Returns the sum of their losses."""
        inputs, loss = np.concatenate((obs, action), axis=1), np.float32(0)
        for critic in self.critics:
            error = critic.forward(inputs)
            error = np.subtract(error, target[:, None], out=critic.slope)
            loss += np.vdot(error, error) / np.float32(len(obs))
            error *= 2 / len(obs)
            critic.backward()
        self.agent.critic_optimizer.step()
        return loss

    def learn_actions(self, obs: np.ndarray) -> np.float32:
        """An update of a deterministic actor, uphill on the first critic. Returns its loss."""
        action, first = np.tanh(self.actor.forward(obs)), self.critics[0]
        value = first.forward(np.concatenate((obs, action), axis=1))
        first.slope.fill(-1 / len(obs))
        slope = first.input_slope()[:, obs.shape[1] :]
        np.multiply(slope, 1 - action * action, out=self.actor.slope)
        self.actor.backward()
        self.agent.actor_optimizer.step()
        return -np.add.reduce(value, axis=None) / np.float32(len(obs))

    def move_targets(self) -> None:
        """A small move of all target networks."""
        torch._foreach_lerp_(self.agent.targets, self.agent.online, self.agent.tau)


def fast_way(agent: Any) -> Callable | None:
    """The agent's update in numpy, if its class has one that does what the agent does."""
    kind = agent.in_numpy
    if kind is None or not agent.fast or agent.device.type != "cpu":
        return None
    for method in kind.repeats:  # a class below, or the agent itself, may do something else
        if getattr(getattr(agent, method.__name__), "__func__", None) is not method:
            return None
    for name, optimizer in kind.parts.items():
        own = [*getattr(agent, name).parameters()]
        groups = getattr(agent, optimizer).param_groups
        moved = {id(p) for group in groups for p in group["params"]}
        if not all(id(p) in moved and p.requires_grad and not p._backward_hooks for p in own):
            return None
        networks = getattr(agent, name), getattr(agent, f"target_{name}", None)
        if not all(is_plain(each) for each in networks if each is not None):
            return None
    return kind(agent)


def is_plain(network: nn.Module) -> bool:
    """Whether it is one of the course's own as it was made: nothing hooked, replaced, or wider."""
    for each in network.modules():
        written = getattr(each.forward, "__func__", None) is type(each).forward
        hooked = any(getattr(each, name) for name in HOOKS)
        if type(each) not in NETWORKS or not written or hooked:
            return False
    if not all(p.dtype == torch.float32 for p in network.parameters()):
        return False
    if type(network) in TWINS:
        return all(map(is_plain, network.children()))
    if type(network) in DEEPER:  # whose ReLUs are no modules
        layers = [type(each) for each in network.children()]
        return layers == [nn.Linear] * 3
    layers = [type(each) for each in network.modules() if type(each) in (nn.Linear, nn.ReLU)]
    return layers == [nn.Linear, nn.ReLU] * (len(layers) // 2) + [nn.Linear]


def clipped(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """`x` itself, within the bounds; numpy's `clip` takes twice as long."""
    return np.minimum(np.maximum(x, np.float32(low), out=x), np.float32(high), out=x)


def clip_gradients(largest: float | None, gradients: list[np.ndarray]) -> None:
    """Bring the common norm of all gradients to `largest` at most."""
    if largest is None:
        return
    share = largest / (math.sqrt(sum(float(np.vdot(each, each)) for each in gradients)) + 1e-6)
    if not share >= 1:  # NaN goes on, as in torch
        for gradient in gradients:
            gradient *= np.float32(share)
