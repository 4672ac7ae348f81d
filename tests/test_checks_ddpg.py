"""Lesson 02's checks name mistakes as students write them, not only as the catalogue has them."""

import inspect
import math
import random
import re

import numpy as np
import pytest
import torch
from right_answers import RIGHT_ANSWERS
from torch import nn
from torch.nn import functional as F

from helpers.agents import DDPG, ddpg, off_policy
from helpers.agents.networks import DeterministicActor, QNetwork, start_small
from helpers.agents.noise import OUNoise
from helpers.checks import exercises, find, grade
from helpers.checks.observing import linear_layers
from helpers.memory.buffers import Batch, ReplayBuffer
from tools.sources import giveaways, leak

LESSON = [exercise for exercise in exercises() if exercise.lesson == "02_ddpg"]


# --- Networks, as students write them -------------------------------------------------------------


def actor(forward, small=True, inside=None):
    """A class with three layers `a`, `b`, `c` and the given `forward(self, obs)`."""

    class Actor(nn.Module):
        def __init__(self, obs_size, action_dim, hidden=64):
            super().__init__()
            self.a, self.b = nn.Linear(obs_size, hidden), nn.Linear(hidden, hidden)
            self.c = nn.Linear(hidden, action_dim)
            if small:
                start_small(self.c)
            if inside:
                inside(self, obs_size, action_dim, hidden)

    Actor.forward = forward
    return Actor


def hidden_layers(self, x):
    return F.relu(self.b(F.relu(self.a(x))))


def actor_in_a_dict(self, obs_size, action_dim, hidden):
    self.layers = {"a": self.a, "b": self.b, "c": self.c}
    del self.a, self.b, self.c


def from_the_dict(self, x):
    layers = self.layers
    return torch.tanh(layers["c"](F.relu(layers["b"](F.relu(layers["a"](x))))))


class ActorWithoutSuper(nn.Module):
    def __init__(self, obs_size, action_dim, hidden=64):
        self.net = nn.Sequential(nn.Linear(obs_size, hidden), nn.ReLU())

    def forward(self, obs):
        return self.net(obs)


class ActorOfNewLayers(nn.Module):
    """Its layers are made anew at each call."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.sizes = obs_size, action_dim

    def forward(self, obs):
        return torch.tanh(nn.Linear(*self.sizes)(obs))


def critic(forward, first=lambda obs_size, action_dim: obs_size + action_dim, small=True):
    class Critic(nn.Module):
        def __init__(self, obs_size, action_dim, hidden=64):
            super().__init__()
            self.a = nn.Linear(first(obs_size, action_dim), hidden)
            self.b, self.c = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
            if small:
                start_small(self.c)

    Critic.forward = forward
    return Critic


def q_of(self, x):
    return self.c(hidden_layers(self, x))


def both(obs, action):
    return torch.cat([obs, action], 1)


def summing_critic(together):
    """A critic whose last layer has a unit for each action dimension."""

    class Critic(nn.Module):
        def __init__(self, obs_size, action_dim, hidden=64):
            super().__init__()
            self.a = nn.Linear(obs_size + action_dim, hidden)
            self.b, self.c = nn.Linear(hidden, hidden), nn.Linear(hidden, action_dim)
            start_small(self.c)

        def forward(self, obs, action):
            return together(q_of(self, both(obs, action)))

    return Critic


def row_by_row(action, low, high):
    out = []
    for a, x, y in zip(action, low, high):  # noqa: B905 (as students write it)
        out.append(x + (a + 1) / 2 * (y - x))
    return np.array(out)


# --- Losses ---------------------------------------------------------------------------------------


def action_under_no_grad(actor, critic, obs):
    with torch.no_grad():
        action = actor(obs)
    return -critic(obs, action).mean()


def value_under_no_grad(actor, critic, obs):
    action = actor(obs)
    with torch.no_grad():
        return -critic(obs, action).mean()


def freezes(actor, critic, obs):
    critic.requires_grad_(False)
    return -critic(obs, actor(obs)).mean()


def target(mask="1 - b.terminated", action="mu(b.next_obs)", obs="b.next_obs", formula=None):
    """A target from somebody's expressions; b is the batch, mu the actor, q the critic."""
    formula = formula or f"b.reward + gamma * ({mask}) * q({obs}, {action})"
    scope = {"torch": torch, "np": np}
    exec(f"def td_target(b, mu, q, gamma):\n    return ({formula}).detach()", scope)
    return scope["td_target"]


def columns(*names):
    """The target, these of its parts with an axis more: r, end, q."""
    parts = {"r": "b.reward", "end": "(1 - b.terminated)", "q": "q(b.next_obs, mu(b.next_obs))"}
    r, end, q = (text + ".unsqueeze(1)" * (name in names) for name, text in parts.items())
    return target(formula=f"{r} + gamma * {end} * {q}")


def target_as_a_list(b, mu, q, gamma):
    return (b.reward + gamma * (1 - b.terminated) * q(b.next_obs, mu(b.next_obs))).tolist()


def target_in_place(b, mu, q, gamma):
    reward = b.reward
    reward += gamma * (1 - b.terminated) * q(b.next_obs, mu(b.next_obs)).detach()
    return reward


def polyak(line, no_grad=True):
    """An update from one line about `t`, `s` and `tau`."""
    scope = {"torch": torch}
    body = f"    for t, s in zip(targets, online):\n        {line}"
    exec(f"def polyak_update(targets, online, tau):\n{body}", scope)
    return torch.no_grad()(scope["polyak_update"]) if no_grad else scope["polyak_update"]


def indexed(targets, online, tau):
    for i in range(len(targets)):
        targets[i].data.copy_(tau * online[i].data + (1 - tau) * targets[i].data)


def a_new_list(targets, online, tau):
    return [tau * s + (1 - tau) * t for t, s in zip(targets, online, strict=True)]


def shares_the_last(targets, online, tau):
    with torch.no_grad():
        for t, s in zip(targets, online, strict=True):
            if t.ndim == 1 and tau == 1:
                t.set_(s.detach())
            else:
                t.lerp_(s, tau)


# --- Buffers --------------------------------------------------------------------------------------


def adds(lines):
    """A buffer whose `add` has these lines after the step's parts were gathered."""
    scope = {}
    head = "def add(self, obs, action, reward, next_obs, terminated, truncated):\n"
    head += "    step = (obs, action, reward, next_obs, terminated, truncated)\n"
    exec(head + "\n".join(f"    {line}" for line in lines), scope)
    return type("ReplayBuffer", (ReplayBuffer,), scope)


WRITE = ["for array, part in zip(self.arrays, step):", "    array[self.position] = part"]
MOVE = ["self.position = (self.position + 1) % self.capacity"]
COUNT = ["self.size = min(self.size + 1, self.capacity)"]


def draws(indices):
    """A buffer whose `sample` takes these rows."""

    def sample(self, batch_size):
        scope = {"self": self, "n": batch_size, "np": np, "random": random, "torch": torch}
        rows = torch.as_tensor(eval(indices, scope))
        return Batch(*(tensor[rows] for tensor in self.tensors))

    return type("ReplayBuffer", (ReplayBuffer,), {"sample": sample})


def samples(method):
    return type("ReplayBuffer", (ReplayBuffer,), {"sample": method})


def kept_batch(self, batch_size):
    """Writes into tensors that were made once for each size."""
    kept = self.__dict__.setdefault("kept", {})
    rows = torch.as_tensor(self.rng.integers(0, self.size, batch_size))
    if batch_size not in kept:
        kept[batch_size] = [torch.empty(batch_size, *t.shape[1:]) for t in self.tensors]
    for out, tensor in zip(kept[batch_size], self.tensors, strict=True):
        torch.index_select(tensor, 0, rows, out=out)
    return Batch(*kept[batch_size])


class ListOfSteps(ReplayBuffer):
    """Steps in a list, kept as they came in."""

    def __init__(self, *args):
        super().__init__(*args)
        self.memory = []

    def __len__(self):
        return len(self.memory)

    def add(self, *step):
        if len(self.memory) == self.capacity:
            self.memory.pop(0)
        self.memory.append(step)

    def sample(self, n):
        rows = [self.memory[i] for i in self.rng.integers(0, len(self.memory), n)]
        return Batch(*(torch.tensor(np.array(c)).float() for c in zip(*rows, strict=True)))


# --- Noises ---------------------------------------------------------------------------------------


def noise(step, store=True, reset=None):
    """A noise from somebody's expression for the next value; x is the present one."""

    def sample(self, shape, rng):
        scope = {"self": self, "shape": shape, "rng": rng, "x": self.value, "sqrt": math.sqrt}
        value = eval(step, scope | {"np": np, "random": random})
        if store:
            self.value = value
        return value

    methods = {"sample": sample} | ({"reset": reset} if reset else {})
    return type("OUNoise", (OUNoise,), methods)


def ou(draw="rng.standard_normal(shape)", scale="self.sigma * sqrt(self.dt)", **more):
    return noise(f"x - self.theta * x * self.dt + {scale} * {draw}", **more)


def resets_a_local_name(self):
    value = 0.0  # noqa: F841


def adds_in_two_steps(self, shape, rng):
    self.value -= self.theta * self.value * self.dt
    self.value += rng.normal(0, self.sigma * self.dt**0.5, shape)
    return self.value


TWO_STEPS = type("OUNoise", (OUNoise,), {"sample": adds_in_two_steps})


# --- All of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("2.1", actor(lambda self, x: self.c(hidden_layers(self, x))), "no tanh at the end"),
        (
            "2.1",
            actor(lambda self, x: torch.sigmoid(self.c(hidden_layers(self, x))), small=False),
            "sigmoid at the end",
        ),
        (
            "2.1",
            actor(lambda self, x: 2.0 * self.c(hidden_layers(self, x)).tanh()),
            "in the environment's units",
        ),
        (
            "2.1",
            actor(lambda self, x: F.hardtanh(self.c(hidden_layers(self, x)))),
            "cut off at the bounds",
        ),
        (
            "2.1",
            actor(lambda self, x: torch.tanh(self.c(hidden_layers(self, x))), small=False),
            "last layer not small",
        ),
        (
            "2.1",
            actor(lambda self, x: torch.tanh(self.c(F.dropout(hidden_layers(self, x))))),
            "another action each time",
        ),
        (
            "2.1",
            actor(lambda self, x: torch.tanh(self.c(hidden_layers(self, x))).detach()),
            "no gradient through the network",
        ),
        ("2.1", actor(lambda self, x: None), "no return"),
        ("2.1", actor(from_the_dict, inside=actor_in_a_dict), "a plain list of layers"),
        ("2.1", ActorWithoutSuper, "super().__init__() missing"),
        ("2.1", ActorOfNewLayers, "a plain list of layers"),
        ("2.2", lambda a, low, high: a * (high - low) + low, "not shifted"),
        ("2.2", lambda a, low, high: np.clip(a * high, low, high), "times high, then clipped"),
        ("2.2", lambda a, low, high: (a + 1) * (high - low) / 2, "low not added"),
        ("2.2", lambda a, low, high: (a + 1) * high / 2 + low, "from low on by a fraction of high"),
        ("2.2", lambda a, low, high: low + (1 - a) / 2 * (high - low), "bounds exchanged"),
        ("2.2", lambda a, low, high: low[0] + (a + 1) / 2 * (high[0] - low[0]), "bounds of the"),
        ("2.2", lambda a, low, high: (low + (a + 1) / 2 * (high - low)).astype(int), "whole num"),
        ("2.2", lambda a, low, high: low + 0.5 * (a + 1) * (low + high),
         "from low on by a fraction of the sum"),
        ("2.2", row_by_row, "bounds for rows"),
        ("2.2", lambda a, low, high: np.stack(
            [x + (y - x) * (b + 1) / 2 for b, x, y in zip(a, low, high, strict=True)]
        ), "bounds for rows, of equal number"),
        ("2.3", summing_critic(lambda values: values.sum(dim=1)), "a sum over action dimensions"),
        ("2.3", summing_critic(lambda values: values.mean(dim=1)), "a mean over action dimensions"),
        ("2.3", critic(lambda self, s, a: q_of(self, both(s, a))), "a column"),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, both(s, a)).squeeze()),
            "a batch of one loses its axis",
        ),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, torch.cat([s, a])).squeeze(-1)),
            "joined along the batch",
        ),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, s).squeeze(1), lambda o, a: o, small=False),
            "observation only",
        ),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, both(s, a)).squeeze(1), lambda o, a: o),
            "no room for the action",
        ),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, both(s, a.data))[:, 0]),
            "the action detached",
        ),
        (
            "2.3",
            critic(lambda self, s, a: torch.tanh(q_of(self, both(a, s)))[:, 0]),
            "tanh at the end",
        ),
        (
            "2.3",
            critic(lambda self, s, a: q_of(self, both(a, s))[:, 0], small=False),
            "last layer not small",
        ),
        ("2.4", lambda mu, q, s: q(s, mu(s)).mean(), "minus missing"),
        ("2.4", action_under_no_grad, "action detached"),
        ("2.4", value_under_no_grad, "loss detached"),
        ("2.4", lambda mu, q, s: -q(s, mu(s).data).mean(), "action detached"),
        ("2.4", lambda mu, q, s: -q(mu(s), s).mean(), "arguments of the critic exchanged"),
        ("2.4", lambda mu, q, s: -q(s, mu(s)).mean().detach().numpy(), "a plain number"),
        ("2.4", lambda mu, q, s: F.mse_loss(q(s, mu(s)), torch.zeros(len(s))), "squared"),
        ("2.4", lambda mu, q, s: -q(s, mu(s) + torch.randn(len(s), 1)).mean(), "noise on the act"),
        ("2.4", lambda mu, q, s: (mu(s) * q(s, mu(s))).mean(),
         "action times value, broadcast, minus missing"),
        ("2.4", lambda mu, q, s: -torch.mean(mu(s) * q(s, mu(s))), "action times value, broadcast"),
        ("2.4", lambda mu, q, s: -(mu(s) * q(s, mu(s))[:, None]).mean(), "action times value"),
        ("2.4", lambda mu, q, s: (mu(s) * q(s, mu(s))[:, None]).mean(),
         "action times value, minus missing"),
        ("2.4", lambda mu, q, s: -(q(s, mu(s)).data[:, None] * mu(s)).mean(),
         "action times a fixed value"),
        ("2.4", freezes, "critic left frozen"),
        ("2.5", adds([*WRITE, "self.position += 1", "self.size += 1"]), "never wraps around"),
        ("2.5", adds([*WRITE, *MOVE, "self.size += 1"]), "the length grows beyond the capacity"),
        ("2.5", adds([*WRITE, *MOVE]), "steps are not counted"),
        ("2.5", adds([*WRITE, *COUNT]), "stays at the first place"),
        ("2.5", adds([*WRITE, "self.position += 1",
                      "if self.position > self.capacity: self.position = 0", *COUNT]),
         "wraps around too late"),
        ("2.5", adds([*WRITE, "self.position = (self.position + 1) % (self.capacity + 1)", *COUNT]),
         "wraps around too late"),
        ("2.5", adds([*WRITE, "self.position += 1", *COUNT]), "never wraps around"),
        ("2.5", adds([*WRITE, "self.position = (self.position + 1) % (self.capacity - 1)", *COUNT]),
         "wraps around too early, and"),
        ("2.5", adds([*WRITE, "self.position = (self.position + 1) % self.size", *COUNT]),
         "goes round at the size, which"),
        ("2.5", adds([*WRITE, *COUNT, "self.position = (self.position + 1) % self.size"]),
         "goes round at the size"),
        ("2.5", adds([*WRITE, "self.position = (self.position + 1) % max(1, self.size)", *COUNT]),
         "goes round at the size from"),
        ("2.5", adds([*MOVE, *WRITE, *COUNT]), "moves on before it writes"),
        ("2.5", adds([*WRITE, "    " + MOVE[0], *COUNT]), "moves on between the parts"),
        ("2.5", adds([WRITE[0], "    array = part", *MOVE, *COUNT]), "nothing written"),
        ("2.5", adds(["if self.size == self.capacity: return", *WRITE, *MOVE, *COUNT]), "full is"),
        ("2.5", adds(["step = step[:4] + (terminated or truncated,) * 2", *WRITE, *MOVE, *COUNT]),
         "one flag for both ends"),
        ("2.5", adds(["step = step[:4] + (truncated, terminated)", *WRITE, *MOVE, *COUNT]),
         "terminated and truncated exchanged"),
        ("2.5", adds(["step = (obs, action, reward, obs, terminated, truncated)", *WRITE, *MOVE,
                      *COUNT]), "next_obs lost"),
        ("2.5", draws("self.rng.choice(self.capacity, n)"), "draws from empty places"),
        ("2.5", draws("self.rng.integers(self.size - 1, size=n)"), "the last place never drawn"),
        ("2.5", draws("[random.randint(0, self.size) for _ in range(n)]"), "one place too many"),
        ("2.5", draws("[int(self.rng.integers(0, self.size))] * n"), "the same row again and"),
        ("2.5", draws("(self.rng.integers(0, self.size) + np.arange(n)) % self.size"), "a block"),
        ("2.5", draws("random.sample(range(self.size), n)"), "random numbers of its own"),
        ("2.5", draws("torch.randint(0, self.size, (n,))"), "random numbers of its own"),
        ("2.5", draws("np.random.permutation(self.size)[:n]"), "random numbers of its own"),
        ("2.5", draws("np.random.default_rng(0).choice(self.size, n)"), "a new generator"),
        ("2.5", samples(lambda self, n: Batch(*(t[:n] for t in self.tensors))), "always the first"),
        ("2.5", samples(lambda self, n: Batch(*(t[-n:].clone() for t in self.tensors))),
         "always the last rows"),
        ("2.5", samples(lambda self, n: Batch(*[t[-n:] for t in self.tensors])),
         "always the last rows"),
        ("2.5", samples(lambda self, n: Batch(
            [t[torch.as_tensor(self.rng.integers(0, self.size, n))] for t in self.tensors]
        )), "Batch without the star"),
        ("2.5", samples(lambda self, n: Batch(t[:n] for t in self.tensors)),
         "Batch without the star"),
        ("2.5", samples(lambda self, n: self.tensors["obs"]), "error"),
        ("2.5", samples(lambda self, n: Batch(*(
            torch.as_tensor(a[self.rng.integers(0, self.size, n)]) for a in self.arrays
        ))), "other rows for each part"),
        ("2.5", samples(lambda self, n: {
            name: t[torch.as_tensor(self.rng.integers(0, self.size, n))]
            for name, t in zip(Batch._fields, self.tensors, strict=True)
        }), "a dict"),
        ("2.5", samples(kept_batch), "one batch for all"),
        ("2.5", ListOfSteps, "keeps what it was given"),
        ("2.6", target("1 - torch.maximum(b.terminated, b.truncated)"), "truncation taken for"),
        ("2.6", target("1 - (b.terminated + b.truncated).clamp(max=1)"), "truncation taken for"),
        ("2.6", target("1 - b.terminated - b.truncated"), "truncation taken for termination, the"),
        ("2.6", target("not b.terminated"), "an if for the whole batch"),
        ("2.6", target("~b.terminated"), "inverts with a tilde"),
        ("2.6", target("1"), "no mask"),
        ("2.6", target(action="b.action"), "the action of the batch"),
        ("2.6", target(action="mu(b.obs)", obs="b.obs"), "the present observation"),
        ("2.6", target(action="mu(b.next_obs) + 0.2 * torch.randn(len(b.reward), 1)"), "noise on"),
        ("2.6", target(formula="b.reward.view(-1, 1) + gamma * (1 - b.terminated.view(-1, 1)) * "
                       "q(b.next_obs, mu(b.next_obs)).view(-1, 1)"), "a column"),
        ("2.6", columns("r", "end"), "broadcast to a matrix: reward and mask"),
        ("2.6", columns("end"), "broadcast to a matrix: mask"),
        ("2.6", columns("end", "q"), "broadcast to a matrix: future and mask"),
        ("2.6", columns("r", "q"), "broadcast to a matrix: reward and future"),
        ("2.6", columns("r"), "every reward with every future"),
        ("2.6", columns("q"), "every future with every reward"),
        ("2.6", columns("r", "end", "q"), "a column"),
        ("2.6", target(formula="b.reward + gamma * (1 - b.terminated) * "
                       "q(b.next_obs, mu(b.next_obs)).max()"), "the largest value of the batch"),
        ("2.6", target(formula="b.reward + gamma * (1 - b.terminated) * "
                       "q(b.next_obs, mu(b.next_obs)).max(1)[0]"), "a second axis asked for"),
        ("2.6", target(formula="b.reward + gamma * (1 - b.terminated) * "
                       "q(b.next_obs, mu(b.next_obs)).squeeze(1)"), "a second axis asked for"),
        ("2.6", target_as_a_list, "in numpy"),
        ("2.6", target_in_place, "added to the rewards in place"),
        ("2.7", lambda q, b, y: F.mse_loss(q(b.obs, b.action), y[:, None]), "every value against"),
        ("2.7", lambda q, b, y: F.mse_loss(q(b.obs, b.action), y, reduction="sum"), "sum instead"),
        ("2.7", lambda q, b, y: F.huber_loss(q(b.obs, b.action), y), "smooth absolute error"),
        ("2.7", torch.no_grad()(lambda q, b, y: F.mse_loss(q(b.obs, b.action), y)), "values det"),
        ("2.7", lambda q, b, y: F.mse_loss(q(b.next_obs, b.action), y), "the next observation"),
        ("2.7", lambda q, b, y: F.mse_loss(q(b.obs, b.action), y).item(), "a plain number"),
        ("2.7", lambda q, b, y: nn.MSELoss(q(b.obs, b.action), y),
         "a class called as the function"),
        ("2.8", polyak("t.copy_((1 - tau) * s + tau * t)"), "tau the wrong way round"),
        ("2.8", polyak("t.data.copy_(s.data)", no_grad=False), "hard copy"),
        ("2.8", polyak("t.data = s.data"), "hard copy by sharing"),
        ("2.8", polyak("t = tau * s + (1 - tau) * t"), "not in place"),
        ("2.8", polyak("t.lerp(s, tau)"), "not in place"),
        ("2.8", a_new_list, "not in place"),
        ("2.8", polyak("t.mul_(1 - tau).add_(tau * s)", no_grad=False), "no no_grad"),
        ("2.8", polyak("t.sub_(tau * (s - t))"), "away from the online network"),
        ("2.8", polyak("s.lerp_(t, tau)"), "the online network moved"),
        ("2.8", polyak("t.data = tau * s.data"), "the target's own part forgotten"),
        ("2.8", polyak("t.copy_(tau * s)"), "the target's own part forgotten"),
        ("2.8", polyak("s.copy_(tau * s + (1 - tau) * t)"), "the online parameters overwritten"),
        ("2.8", polyak("s.copy_(tau * t + (1 - tau) * s)"), "the online network moved"),
        ("2.8", polyak("s.data.copy_(t.data)"), "targets copied into the online network"),
        ("2.8", indexed, "counted through"),
        ("2.8", shares_the_last, "shares its memory when tau is 1"),
        ("2.9", ou("np.reshape([random.random() for _ in range(np.prod(shape))], shape)"),
         "pushes never negative"),
        ("2.9", ou("random.random()"), "shape ignored"),
        ("2.9", ou("np.random.randn(*shape)"), "random numbers of its own"),
        ("2.9", ou("np.random.default_rng(42).standard_normal(shape)"), "a new generator"),
        ("2.9", ou("rng.standard_normal(shape[0])"), "only the first axis"),
        ("2.9", ou("np.ones(shape) * rng.normal()"), "one number for all entries"),
        ("2.9", ou(scale="self.sigma * self.dt"), "dt without its root"),
        ("2.9", ou(scale="self.sigma"), "push without dt"),
        ("2.9", noise("x - self.theta * x * self.dt + rng.normal(self.sigma * sqrt(self.dt), "
                      "size=shape)"), "a standard deviation given as the mean"),
        ("2.9", noise("x * (1 - self.theta * self.dt) + rng.normal(loc=self.sigma * self.dt**0.5, "
                      "scale=1, size=shape)"), "a standard deviation given as the mean"),
        ("2.9", ou("rng.normal(self.sigma, size=shape)", "sqrt(self.dt)"),
         "sigma given as the mean"),
        ("2.9", ou(store=False), "no memory"),
        ("2.9", ou(reset=resets_a_local_name), "reset does nothing"),
        ("2.9", noise("x + self.sigma * sqrt(self.dt) * rng.normal(size=shape)"), "no pull"),
        ("2.9", noise("(1 + self.theta * self.dt) * x + rng.normal(0, self.sigma * sqrt(self.dt), "
                      "shape)"), "pulled away from 0"),
        ("2.9", noise("(1 - self.theta) * x + self.sigma * rng.normal(size=shape)"), "dt nowhere"),
        ("2.9", TWO_STEPS, "one array for all samples"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:Dropout", "ignore:size_average")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert not result.passed
    assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_what_these_are_made_from_is_right_as_it_stands():
    """So that each mistake above is the one that it says, and no other."""
    for exercise_id, right in [
        ("2.1", actor(lambda self, x: torch.tanh(self.c(hidden_layers(self, x))))),
        ("2.3", critic(lambda self, s, a: q_of(self, both(s, a)).squeeze(1))),
        ("2.5", adds([*WRITE, *MOVE, *COUNT])),
        ("2.5", draws("self.rng.integers(0, self.size, n)")),
        ("2.6", target()),
        ("2.8", polyak("t.lerp_(s, tau)")),
        ("2.9", ou()),
    ]:
        result = grade(exercise_id, right)
        assert result.passed, str(result)


# --- What values cannot show ----------------------------------------------------------------------


class SmallFirstLayerOnly(DeterministicActor):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__(obs_size, action_dim, hidden)
        start_small(self.hidden1)


class WideStart(QNetwork):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__(obs_size, action_dim, hidden)
        nn.init.uniform_(self.output.weight, -0.3, 0.3)


class ForgottenLayer(QNetwork):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__(obs_size, action_dim, hidden)
        self.hidden3 = nn.Linear(hidden, hidden)


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("2.1", SmallFirstLayerOnly, "all layers small"),
        ("2.3", WideStart, "weights of the last layer not small"),
        ("2.3", ForgottenLayer, "a layer that is never used"),
        ("2.6", lambda b, mu, q, gamma: target()(b, mu, q, gamma).numpy(), "in numpy"),
        ("2.8", polyak("t.lerp_(s, tau) if not t.requires_grad else t.data.lerp_(s.data, tau)",
                       no_grad=False), "keeps the graph"),
    ],
)  # fmt: skip
def test_names_what_values_cannot_show(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert result.diagnosis == diagnosis, str(result)
    assert result.report is None


def test_a_target_is_of_no_use_in_inference_mode():
    @torch.inference_mode()
    def td_target(batch, target_actor, target_critic, gamma):
        return ddpg.td_target(batch, target_actor, target_critic, gamma)

    assert grade("2.6", td_target).diagnosis == "in inference mode"


def test_a_target_that_is_wrong_has_its_name_with_or_without_gradient():
    def with_gradient(b, mu, q, gamma):
        return b.reward + gamma * q(b.next_obs, mu(b.next_obs))

    assert grade("2.6", with_gradient).diagnosis == "no mask"
    assert grade("2.6", torch.no_grad()(with_gradient)).diagnosis == "no mask"


def test_observation_and_action_may_stand_in_any_order():
    """A critic that mixes them up before its first layer is as right as one that does not."""

    class Critic(QNetwork):
        def forward(self, obs, action):
            mixed = torch.cat([obs.flip(-1), action], dim=-1)
            order = torch.randperm(mixed.shape[-1], generator=torch.Generator().manual_seed(3))
            x = torch.relu(self.hidden2(torch.relu(self.hidden1(mixed[:, order]))))
            return self.output(x).squeeze(-1)

    result = grade("2.3", Critic)
    assert result.passed, str(result)

    class Twice(Critic):
        """But no number may be left out for another."""

        def forward(self, obs, action):
            return super().forward(obs[:, :1].expand_as(obs), action)

    assert not grade("2.3", Twice).passed


def test_chance_decides_about_no_noise_and_no_buffer():
    """Right ones pass whatever numbers they happen to draw."""
    for seed in range(20):

        class Noise(OUNoise):
            def sample(self, shape, rng, seed=seed):
                for _ in range(seed):
                    rng.random()
                return super().sample(shape, rng)

        class Buffer(ReplayBuffer):
            def sample(self, batch_size, seed=seed):
                self.rng.random(seed)
                return super().sample(batch_size)

        for exercise_id, right in (("2.9", Noise), ("2.5", Buffer)):
            result = grade(exercise_id, right)
            assert result.passed, str(result)


def test_only_add_is_written_yet():
    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            raise NotImplementedError("exercise 2.5")

    result = grade("2.5", Buffer)
    assert result.diagnosis == "unfinished"
    assert "`sample` still raises" in result.message


# --- What passes can be trained with --------------------------------------------------------------


PIECES = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.__name__}")
    for exercise in LESSON
    for answer in RIGHT_ANSWERS[exercise.id]
]


@pytest.mark.parametrize(("exercise", "answer"), PIECES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, with one piece replaced by somebody's own."""
    version = grade(exercise.id, answer).version
    for module in (ddpg, off_policy):
        if hasattr(module, exercise.name):
            monkeypatch.setattr(module, exercise.name, version)
    noise = (version if exercise.name == "OUNoise" else OUNoise)(sigma=0.3)
    if exercise.name == "OUNoise":
        monkeypatch.setattr(off_policy, "as_noise", lambda given: given)
    agent = DDPG(
        "Pendulum-v1", seed=0, learning_starts=8, batch_size=8, hidden=8, buffer_size=12,
        noise=noise, tau=0.5,
    )  # fmt: skip
    before = [parameter.detach().clone() for parameter in agent.actor.parameters()]
    targets = [parameter.detach().clone() for parameter in agent.target_actor.parameters()]
    agent.learn(30)
    assert agent.updates >= 20
    for old, parameter in zip(before, agent.actor.parameters(), strict=True):
        assert torch.isfinite(parameter).all()
        assert not torch.equal(old, parameter)
    for old, parameter in zip(targets, agent.target_actor.parameters(), strict=True):
        assert not torch.equal(old, parameter)
    assert np.isfinite(agent.predict(np.zeros(3, np.float32))).all()


# --- The texts ------------------------------------------------------------------------------------


def test_all_of_the_lesson_is_there():
    names = [exercise.name for exercise in LESSON]
    assert names == [
        "DeterministicActor", "to_env_units", "QNetwork", "actor_loss", "ReplayBuffer",
        "td_target", "critic_loss", "polyak_update", "OUNoise",
    ]  # fmt: skip
    assert sum(len(exercise.misconceptions) for exercise in LESSON) >= 50


@pytest.mark.parametrize("exercise", LESSON, ids=lambda exercise: exercise.id)
def test_messages_are_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert "*" not in prose, entry.name
        assert "$" not in prose, entry.name


@pytest.mark.parametrize("exercise", LESSON, ids=lambda exercise: exercise.id)
def test_hints_and_messages_do_not_give_the_solution_away(exercise):
    secrets = giveaways(inspect.getsource(exercise.reference))
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.misconceptions, *exercise.properties]]
    for text in texts:
        assert leak(secrets, text) is None, text


# --- The tool behind it ---------------------------------------------------------------------------


def test_linear_layers_are_listed_in_the_order_in_which_they_run():
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(2, 2), nn.Sequential(nn.Linear(3, 2), nn.ReLU())
            self.unused = nn.Linear(1, 1)

        def forward(self, x, repeats):
            x = self.first(x)
            for _ in range(repeats):
                x = self.last(x)
            return x

    network = Network()
    ran = linear_layers(network, torch.zeros(4, 3), 2)
    assert ran == [network.first[0], network.last, network.last]
    with pytest.raises(RuntimeError):
        linear_layers(network, torch.zeros(4, 9), 1)
    assert not any(module._forward_pre_hooks for module in network.modules())


def test_an_exercise_is_found_by_its_id():
    assert find("2.9").reference is OUNoise
