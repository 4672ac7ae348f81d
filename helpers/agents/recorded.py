"""Updates of DDPG, TD3 and SAC as CUDA graphs: on a GPU one call starts a whole update.

An update of small networks is some hundred operations that are short and have to be started one by
one. A CUDA graph is a recording of them: it starts them all at once, on the same places in memory
as when it was made. So batches, random numbers and learning rates are copied to the same places
before each start, and whenever anything else that an update depends on has changed, a new
recording is made. Source: "CUDA semantics", section "CUDA Graphs", in PyTorch's documentation.

A recording is used only if it was seen to do on this machine what the update itself does.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import nn

from helpers.agents.ddpg import DDPG
from helpers.agents.faster import UPDATES
from helpers.agents.sac import SAC
from helpers.agents.td3 import TD3
from helpers.agents.written_out import Standing
from helpers.memory.buffers import Batch

NEAR = 0.1  # how far a recording may be from the update itself, as a share of how far that moved


class Recorder:
    """An agent's updates: done by `agent.update`, until one can be recorded, then by recordings.

    TD3's updates differ, the actor moves in some of them: each kind has its recording.
    """

    made: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()  # no copy takes it along

    @classmethod
    def of(cls, agent: Any, batch: Batch) -> "Recorder":
        """The agent's own, made when it is first needed."""
        return cls.made.setdefault(agent, cls())

    def __init__(self) -> None:
        self.recordings: dict[bool, Recording] = {}
        self.before: dict[bool, Surroundings] = {}  # what the last update of each kind met
        self.fails = False

    def __call__(self, agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
        """What `agent.update(batch)` does and gives."""
        if self.fails:
            return agent.update(batch)
        kind = agent.updates % getattr(agent, "policy_delay", 1) == 0
        recording, before = self.recordings.pop(kind, None), self.before.get(kind)
        if before is None or not before.hold(agent):  # what it depends on may change every time
            losses = agent.update(batch)
            self.before[kind] = Surroundings(agent)
            return losses
        try:
            recording = recording or Recording(agent, batch)
        except Exception as error:
            self.fails = True
            warnings.warn(
                f"This GPU records no updates of {type(agent).__name__} ({error}): training goes "
                "on without recording, which takes longer and learns the same.",
                stacklevel=2,
            )
            return agent.update(batch)
        self.recordings[kind] = recording
        return recording(agent, batch)


class Surroundings(Standing):
    """All that an update depends on beside its batch, random numbers and learning rates."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent, dict.fromkeys((*agent.saved, "update", "sample", "rng"), ()))
        self.settings = [*agent.remembered.values()]
        self.moments = [optimizer._moments for optimizer in optimizers(agent)]
        self.groups = [numbers(optimizer) for optimizer in optimizers(agent)]

    def hold(self, agent: Any) -> bool:
        """Whether nothing of it has been replaced or set since."""
        return (
            all(map(is_, agent.remembered.values(), self.settings))
            and self.holds(agent)
            and all(o._moments is m for o, m in zip(optimizers(agent), self.moments, strict=True))
            and [numbers(optimizer) for optimizer in optimizers(agent)] == self.groups
        )


def optimizers(agent: Any) -> list[Any]:
    """All that the agent has."""
    parts = [getattr(agent, name) for name in agent.saved]
    return [part for part in parts if isinstance(part, torch.optim.Optimizer)]


def numbers(optimizer: Any) -> tuple[Any, ...]:
    """What a step of it depends on, beside the learning rate."""
    (group,) = optimizer.param_groups
    return group["betas"], group["eps"], group["weight_decay"]


class Recording:
    """One kind of update of one agent as a CUDA graph, for batches of a fixed number of rows."""

    def __init__(self, agent: Any, batch: Batch) -> None:
        """Raises an error if it cannot be recorded, or does another update than the agent itself.

        The agent is left as it was.
        """
        self.batch = Batch(*(torch.zeros_like(part) for part in batch))
        self.draws = Draws(agent.rng, agent.device)
        self.rates = [torch.zeros((), device=agent.device) for _ in optimizers(agent)]
        state, before = agent.rng.bit_generator.state, copies(agent)
        try:
            self.record(agent)
            put(before, agent)
            self.fill(agent, batch)
            with self.at_fixed_places(agent):
                agent.update(self.batch)
            after = copies(agent)
            put(before, agent)
            self.graph.replay()
            check_same(before, after, learned(agent))
        finally:
            agent.rng.bit_generator.state = state
            put(before, agent)

    def record(self, agent: Any) -> None:
        """Note all operations of an update, with zeros in place of a batch."""
        with torch.cuda.device(agent.device):
            now, aside = torch.cuda.current_stream(), torch.cuda.Stream()
            aside.wait_stream(now)
            # Libraries prepare themselves when a stream first uses them, which cannot be recorded.
            with torch.cuda.stream(aside), self.at_fixed_places(agent):
                agent.update(self.batch)
            now.wait_stream(aside)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=aside), self.at_fixed_places(agent):
                losses = agent.update(self.batch)  # noted, not carried out
        self.losses = {name: loss.detach() for name, loss in losses.items()}

    def __call__(self, agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
        """The update. What it returns is overwritten by the next one."""
        self.fill(agent, batch)
        self.graph.replay()
        return self.losses

    def fill(self, agent: Any, batch: Batch) -> None:
        """Put all that differs from update to update where the recording looks for it."""
        for place, part in zip(self.batch, batch, strict=True):
            place.copy_(part)
        self.draws.renew()
        for place, optimizer in zip(self.rates, optimizers(agent), strict=True):
            place.fill_(optimizer.param_groups[0]["lr"])

    @contextmanager
    def at_fixed_places(self, agent: Any) -> Iterator[None]:
        """Within this the agent finds its random numbers and learning rates where `fill` puts them.

        As plain numbers they would be recorded with the operations, and never change again.
        """
        groups = [optimizer.param_groups[0] for optimizer in optimizers(agent)]
        rates, rng = [group["lr"] for group in groups], agent.rng
        for group, place in zip(groups, self.rates, strict=True):
            group["lr"] = place
        agent.rng = self.draws.rewound()
        try:
            yield
        finally:
            agent.rng = rng
            for group, rate in zip(groups, rates, strict=True):
                group["lr"] = rate


class Draws:
    """Stands in for an agent's generator: it gives tensors on the device, the same at each update.

    `renew` puts new numbers into them, the generator's next ones.
    """

    def __init__(self, rng: np.random.Generator, device: torch.device) -> None:
        self.rng, self.device, self.next = rng, device, 0
        self.tensors: list[torch.Tensor] = []

    def standard_normal(self, shape: Any, dtype: Any) -> torch.Tensor:
        if self.next == len(self.tensors):
            draws = self.rng.standard_normal(shape, dtype=dtype)
            self.tensors.append(torch.from_numpy(draws).to(self.device))
        self.next += 1
        return self.tensors[self.next - 1]

    def rewound(self) -> "Draws":
        """Itself, for an update that begins."""
        self.next = 0
        return self

    def renew(self) -> None:
        for tensor in self.tensors:
            draws = self.rng.standard_normal(tensor.shape, dtype=np.float32)
            tensor.copy_(torch.from_numpy(draws))


def learned(agent: Any) -> list[torch.Tensor]:
    """All tensors that an update changes, as they are in memory."""
    parts = [getattr(agent, name) for name in agent.saved]
    weights = [p.data for each in parts if isinstance(each, nn.Module) for p in each.parameters()]
    states = [state for each in optimizers(agent) for state in each.state.values()]
    return weights + [value for state in states for value in state.values()]


def copies(agent: Any) -> list[torch.Tensor]:
    return [each.clone() for each in learned(agent)]


def put(numbers: list[torch.Tensor], agent: Any) -> None:
    """Make `numbers` what the agent has learned."""
    for place, each in zip(learned(agent), numbers, strict=True):
        place.copy_(each)


def check_same(
    before: list[torch.Tensor], after: list[torch.Tensor], again: list[torch.Tensor]
) -> None:
    """Raise `RuntimeError` unless a recording led from `before` to where the update itself led."""
    for old, new, recorded in zip(before, after, again, strict=True):
        if not (recorded - new).norm() <= NEAR * (new - old).norm() + 1e-6 * new.norm():
            raise RuntimeError("a recording does something else than the update")


UPDATES |= {("cuda", kind): Recorder for kind in (DDPG, TD3, SAC)}
