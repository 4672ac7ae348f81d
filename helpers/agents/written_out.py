"""Updates of DDPG, TD3 and SAC written out: the same numbers up to rounding, in half the time.

In the update of a small network little of the time is arithmetic. torch is called hundreds of
times, notes every call for autograd, and makes a new tensor for every result. Here numpy multiplies
the matrices, see `by_hand.py`; Adam and the targets' move stay torch's. Measured one after the
other on one core, 64x64 units and a batch of 128: an update of any of the three takes 0.45 to 0.5
of the time that it takes with autograd, a step of TD3's training 0.55 to 0.6. With 256x256 and 256
the products take most of the time: there an update takes 0.75. A2C and PPO follow in
`written_out_policies.py`.

`fast_update` in `faster.py` comes here for exactly the course's own agents and networks, as long as
nothing in them was replaced, hooked or frozen; everything else updates by its own `update`. So do
all agents after an edit of their code, with a warning, until this file is edited too and `READ`
says so.
"""

import inspect
import math
import re
import warnings
from importlib import import_module
from operator import is_
from types import FunctionType
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as every_module

from helpers.agents import ddpg, networks, policies, sac, td3
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.by_hand import (
    ACTORS,
    CRITICS,
    GAUSSIAN_ACTORS,
    LINEAR,
    NETWORKS,
    PAIRS,
    Network,
    towers_of,
)
from helpers.agents.faster import UPDATES
from helpers.agents.threads import one_thread
from helpers.memory.buffers import Batch, ReplayBuffer

ASKED = ("forward", "q1", "evaluate")  # methods of networks that updates call
HOOKS = ("forward_hooks", "forward_pre_hooks", "backward_hooks", "backward_pre_hooks")


def functions_of(*owners: Any) -> dict[Any, list[tuple[Any, str, Any]]]:
    """A module's or a class's functions as they are now: owner -> (where, name, function)."""
    return {
        owner: [
            (vars(owner), name, function)
            for name, function in vars(owner).items()
            if isinstance(function, FunctionType) and not name.startswith("__")
        ]
        for owner in owners
    }


# What is written out, as it was when the modules were read.
ORIGINALS = functions_of(
    ddpg, td3, sac, ddpg.DDPG, td3.TD3, sac.SAC, sac.Temperature, LeanAdam, *NETWORKS, *LINEAR,
    nn.ReLU,
)  # fmt: skip

# ---- where it applies ----------------------------------------------------------------------------

# What was read when this was written, and the checksum of its code: an edit there must not be
# passed over here. Where both agree again (`tests/test_written_out.py`), the new one goes here.
SOURCES: tuple[Any, ...] = (ddpg, td3, sac, networks, gradient_step)
READ = 559357066
COMPUTES_NOTHING = re.compile(r'"""(?s:.*?)"""|(?:^|(?<=\s))#.*$', re.M)  # docstrings, comments


def checksum(sources: tuple[Any, ...] = SOURCES) -> int | None:
    """Of the code that these are now; None where their text is not at hand."""
    try:
        text = "".join(inspect.getsource(each) for each in sources)
    except OSError:
        return None
    lines = map(str.rstrip, COMPUTES_NOTHING.sub("", text).splitlines())
    return crc32("\n".join(filter(None, lines)).encode())


def still_says(read: int, sources: tuple[Any, ...] = SOURCES) -> bool:
    """Whether what was read is what stands there; a warning where it was edited."""
    now = checksum(sources)
    if now not in (read, None):
        warnings.warn(
            "An agent was edited, and helpers/agents/written_out.py or written_out_policies.py was "
            "not: its updates go by autograd, which takes about twice as long. CONTRIBUTING.md "
            "says under 'An agent' what to do.",
            stacklevel=1,
        )
    return now == read


def is_known(agent: Any, kinds: dict[str, tuple[type, ...]]) -> bool:
    """Whether the agent consists of what is written out here, all of it float32 and on the CPU."""
    parts = {name: vars(agent).get(name) for name in kinds}
    if not all(type(part) in kinds[name] for name, part in parts.items()):
        return False
    found = networks_of(parts)
    for network in found.values():
        parameters, towers = list(network.parameters()), towers_of(network)
        if towers is None or len(parameters) != 2 * sum(map(len, towers)) + beside(network):
            return False
        if not all(p.dtype == torch.float32 and p.device.type == "cpu" for p in parameters):
            return False
    for name, optimizer in parts.items():
        if name.endswith("optimizer"):
            own = name.removesuffix("optimizer").removesuffix("_")
            moves = [found[own]] if own in found else [*found.values()]
            moved = [p for group in optimizer.param_groups for p in group["params"]]
            wanted = [p for network in moves for p in network.parameters()]
            if own != "temperature" and [*map(id, moved)] != [*map(id, wanted)]:
                return False
            if len(set(map(id, moved))) < len(moved):  # a layer of two networks
                return False
    return True


def beside(network: Any) -> int:
    """How many parameters it has beside its layers: a Gaussian policy the logarithms of its std."""
    if type(network) is not policies.GaussianPolicy:
        return 0
    return int(network.log_std.shape == network.actor[-1].bias.shape)


def networks_of(parts: dict[str, Any]) -> dict[str, Any]:
    """Those that have layers; SAC's temperature is one number."""
    return {name: part for name, part in parts.items() if type(part) in NETWORKS}


class Standing:
    """What an agent's update depends on, kept to see at every update that it is still the same."""

    def __init__(self, agent: Any, kinds: dict[str, tuple[type, ...]]) -> None:
        self.parts = {name: vars(agent).get(name) for name in kinds}
        roots = {name: each for name, each in self.parts.items() if isinstance(each, nn.Module)}
        modules = [each for root in roots.values() for each in root.modules()]
        kinds_of = {type(agent), *map(type, modules)}
        owners = {LeanAdam, *kinds_of, *(import_module(kind.__module__) for kind in kinds_of)}
        places: list[tuple[Any, str, Any]] = [
            place for owner in owners for place in ORIGINALS.get(owner, ())
        ]
        places += [(vars(module), name, None) for module in modules for name in ASKED]
        self.spaces = [part for each in modules for part in (each._modules, each._parameters)]
        self.lengths = [*map(len, self.spaces)]
        for space in self.spaces:
            places += [(space, name, part) for name, part in space.items()]
        self.looks = [(space.get, name) for space, name, _ in places]
        self.found = [part for *_, part in places]
        self.hooks = [vars(module)[f"_{name}"] for module in modules for name in HOOKS]
        self.modules, self.types = modules, [*map(type, modules)]
        self.hooks += [vars(every_module)[f"_global_{name}"] for name in HOOKS]
        self.parameters = [p for root in roots.values() for p in root.parameters()]
        self.addresses = [p.data_ptr() for p in self.parameters]
        online = [root for name, root in roots.items() if not name.startswith("target")]
        self.trained = [p for root in online for p in root.parameters()]

    def holds(self, agent: Any) -> bool:
        """Whether nothing was replaced, added, moved in memory, frozen, hooked or to be traced."""
        now = vars(agent)
        return (
            all(map(is_, map(now.get, self.parts), self.parts.values()))
            and all(map(is_, [get(name) for get, name in self.looks], self.found))
            and [*map(len, self.spaces)] == self.lengths
            and [*map(type, self.modules)] == self.types
            and [p.data_ptr() for p in self.parameters] == self.addresses
            and all(p.requires_grad and not p._backward_hooks for p in self.trained)
            and not any(self.hooks)
            and torch.is_grad_enabled()
            and not torch.is_anomaly_enabled()
            and not torch.is_autocast_enabled("cpu")
        )


# ---- updates -------------------------------------------------------------------------------------


class Arrays(NamedTuple):
    """What an update needs of a Batch, as numpy sees it."""

    obs: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_obs: np.ndarray
    terminated: np.ndarray


NOT_SET = (type(None),)  # of the agent's class, not replaced in the agent itself
COMMON: dict[str, tuple[type, ...]] = {
    "actor_optimizer": (LeanAdam,),
    "critic_optimizer": (LeanAdam,),
    "buffer": (ReplayBuffer,),
    "update": NOT_SET,
}


class WrittenOut:
    """An agent's update, on the memory of its networks."""

    kinds: ClassVar[dict[str, tuple[type, ...]]]  # attribute of the agent -> what it may be
    standing: Standing
    made: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()  # no copy takes it along

    @classmethod
    def of(cls, agent: Any, batch: tuple[torch.Tensor, ...]) -> Self | None:
        """The agent's own, made when it is first needed; None where the agent has to do it."""
        update, rows = cls.made.get(agent), len(batch[0])
        if update is not None and update.takes(rows) and update.standing.holds(agent):
            return update
        cls.made.pop(agent, None)
        if is_known(agent, cls.kinds) and (standing := Standing(agent, cls.kinds)).holds(agent):
            cls.made[agent] = cls(agent, standing, rows)
        return cls.made.get(agent)

    def __init__(self, agent: Any, standing: Standing, rows: int) -> None:
        self.standing = standing

    def takes(self, rows: int) -> bool:
        """Whether batches of that many rows are what it was made for."""
        return True


class Update(WrittenOut):
    """Of DDPG and its successors, for batches of a fixed number of rows."""

    actor: Network
    critic: Network
    target_actor: Network
    target_critic: Network

    def __init__(self, agent: Any, standing: Standing, rows: int) -> None:
        super().__init__(agent, standing, rows)
        self.rows, self.obs_size = rows, agent.obs_size
        for name, network in networks_of(standing.parts).items():
            setattr(self, name, Network.of(network, rows))
        self.inputs = np.zeros((rows, agent.obs_size + agent.action_size), np.float32)

    def takes(self, rows: int) -> bool:
        return rows == self.rows

    def __call__(self, agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
        """What `agent.update(batch)` does and gives."""
        arrays = Arrays(*[part.numpy() for part in batch[: len(Arrays._fields)]])
        # As in torch, what overflows is said by nobody.
        with one_thread(), torch.no_grad(), np.errstate(all="ignore"):
            losses = self.learn(agent, arrays)
        return {name: torch.from_numpy(np.array(loss)) for name, loss in losses.items()}

    def learn(self, agent: Any, batch: Arrays) -> dict[str, Any]:
        """The same from and to numpy."""
        raise NotImplementedError

    def with_action(self, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """What critics take: both side by side, in one place that is used again and again."""
        return np.concatenate((obs, action), axis=1, out=self.inputs)

    def learn_values(self, agent: Any, batch: Arrays, next_value: np.ndarray) -> np.float32:
        """An update of the critics towards r + gamma next_value (rows,). Returns their loss."""
        target = batch.reward + float(agent.gamma) * (1 - batch.terminated) * next_value
        inputs = self.with_action(batch.obs, batch.action)
        error = self.critic.forward(inputs)
        error = np.subtract(error, target[:, None], out=self.critic.slope)
        loss = np.vdot(error, error) / np.float32(self.rows)
        error *= 2 / self.rows
        self.critic.step(inputs, agent.critic_optimizer)
        return loss

    def lowest(self, critic: Network, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """The most pessimistic critic's values, (rows,)."""
        return np.minimum.reduce(critic.forward(self.with_action(obs, action)))[:, 0]


class DDPGUpdate(Update):
    kinds = COMMON | {
        "actor": ACTORS, "target_actor": ACTORS, "critic": CRITICS, "target_critic": CRITICS,
    }  # fmt: skip

    def __init__(self, agent: Any, standing: Standing, rows: int) -> None:
        super().__init__(agent, standing, rows)
        self.judge = self.critic.first()

    def learn(self, agent: Any, batch: Arrays) -> dict[str, Any]:
        next_value = self.lowest(self.target_critic, batch.next_obs, self.next_action(agent, batch))
        losses = {"critic_loss": self.learn_values(agent, batch, next_value)}
        if agent.updates % self.delay(agent) == 0:
            losses["actor_loss"] = self.learn_actions(agent, batch.obs)
            torch._foreach_lerp_(agent.targets, agent.online, agent.tau)
        return losses

    def next_action(self, agent: Any, batch: Arrays) -> np.ndarray:
        return np.tanh(self.target_actor.forward(batch.next_obs)[0])

    def delay(self, agent: Any) -> int:
        return 1

    def learn_actions(self, agent: Any, obs: np.ndarray) -> np.float32:
        """An update of the actor, uphill on the first critic. Returns its loss."""
        action = np.tanh(self.actor.forward(obs)[0])
        value = self.judge.forward(self.with_action(obs, action))
        self.judge.slope.fill(-1 / self.rows)
        slope = self.judge.input_slope()[:, self.obs_size :]
        np.multiply(slope, 1 - action * action, out=self.actor.slope[0])
        self.actor.step(obs, agent.actor_optimizer)
        return -np.add.reduce(value, axis=None) / np.float32(self.rows)


class TD3Update(DDPGUpdate):
    kinds = DDPGUpdate.kinds | {"critic": PAIRS, "target_critic": PAIRS}

    def next_action(self, agent: Any, batch: Arrays) -> np.ndarray:
        """Smoothed, with the same random numbers as `smoothed_target_action`."""
        action = super().next_action(agent, batch)
        noise = agent.rng.standard_normal(action.shape, dtype=np.float32)
        noise *= np.float32(agent.target_noise)
        action += clipped(noise, -agent.noise_clip, agent.noise_clip)
        return clipped(action, -1, 1)

    def delay(self, agent: Any) -> int:
        return agent.policy_delay


class SACUpdate(Update):
    kinds = COMMON | {
        "actor": GAUSSIAN_ACTORS, "critic": PAIRS, "target_critic": PAIRS, "sample": NOT_SET,
        "temperature": (sac.Temperature,), "temperature_optimizer": (LeanAdam,),
    }  # fmt: skip

    def learn(self, agent: Any, batch: Arrays) -> dict[str, Any]:
        temperature = np.exp(agent.temperature.log.detach().numpy())
        next_action, next_log_prob, _ = self.sample(agent, batch.next_obs)
        next_value = self.lowest(self.target_critic, batch.next_obs, next_action)
        next_value = next_value - temperature * next_log_prob
        losses = {"critic_loss": self.learn_values(agent, batch, next_value)}
        losses["actor_loss"], log_prob = self.learn_actions(agent, batch.obs, temperature)
        entropy = -log_prob.mean()
        if agent.learn_temperature:
            # The slope of -log(alpha) (log pi + target entropy) over log(alpha).
            slope = torch.tensor(entropy - np.float32(agent.target_entropy))
            agent.temperature.log.grad = slope
            agent.temperature_optimizer.step()
        torch._foreach_lerp_(agent.targets, agent.online, agent.tau)
        return losses | {"temperature": temperature, "entropy": entropy}

    def sample(self, agent: Any, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Actions, their log-densities, and how log_std moves u, the action before its tanh."""
        mean, raw = np.split(self.actor.forward(obs)[0], 2, axis=1)
        log_std = clipped(raw.copy(), *networks.SquashedGaussianActor.log_std_range)
        noise = agent.rng.standard_normal(mean.shape, dtype=np.float32)
        stretched = np.exp(log_std) * noise
        u = mean + stretched
        log_slope = 2 * (math.log(2) - u - np.logaddexp(0, -2 * u))
        log_density = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi) - log_slope
        return np.tanh(u), np.add.reduce(log_density, axis=1), stretched

    def learn_actions(
        self, agent: Any, obs: np.ndarray, temperature: np.ndarray
    ) -> tuple[np.float32, np.ndarray]:
        """An update of the actor. Returns its loss and the log-densities of its actions."""
        action, log_prob, stretched = self.sample(agent, obs)
        values = self.critic.forward(self.with_action(obs, action))
        lower = np.minimum.reduce(values)
        is_lower = values == lower  # where both are equal, each is half of it
        np.divide(is_lower, -self.rows * np.add.reduce(is_lower), out=self.critic.slope)
        slope = self.critic.input_slope()[:, self.obs_size :] * (1 - action * action)
        certainty = temperature / self.rows  # the slope of the loss over each log-density
        slope += certainty * 2 * action
        mean_slope, log_std_slope = np.split(self.actor.slope[0], 2, axis=1)
        mean_slope[:] = slope
        _, raw = np.split(self.actor.output[0], 2, axis=1)
        low, high = networks.SquashedGaussianActor.log_std_range
        inside = (raw >= low) & (raw <= high)
        np.multiply(slope * stretched - certainty, inside, out=log_std_slope)
        self.actor.step(obs, agent.actor_optimizer)
        return (temperature * log_prob - lower[:, 0]).mean(), log_prob


def clipped(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """`x` itself, within the bounds; numpy's `clip` takes twice as long."""
    return np.minimum(np.maximum(x, np.float32(low), out=x), np.float32(high), out=x)


if still_says(READ):
    UPDATES |= {
        ("cpu", ddpg.DDPG): DDPGUpdate, ("cpu", td3.TD3): TD3Update, ("cpu", sac.SAC): SACUpdate,
    }  # fmt: skip
