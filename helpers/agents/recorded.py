"""Updates of DDPG, TD3 and SAC as CUDA graphs: on a GPU one call starts a whole update.

An update of small networks is some hundred operations that are short and have to be started one by
one. A CUDA graph is a recording of them: it starts them all at once, on the same places in memory
as when it was made. So batches, random numbers and learning rates are copied to the same places
before each start, and whenever anything else that an update depends on has changed, a new
recording is made. Source: "CUDA semantics", section "CUDA Graphs", in PyTorch's documentation.

Only the course's own agents and networks are recorded: what another one does in Python would be
done once, while it is recorded, and never again. And a recording is used only if it was seen to do
on this machine what the update itself does.
"""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, ClassVar, Self, cast
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from helpers.agents.ddpg import DDPG
from helpers.agents.faster import UPDATES
from helpers.agents.modes import is_steady
from helpers.agents.sac import SAC
from helpers.agents.td3 import TD3
from helpers.agents.written_out import Standing
from helpers.memory.buffers import Batch

NEAR = 0.1  # how far a recording may be from the update itself, as a share of how far that moved
WORTH = 100  # updates that pay for recording them
STREAMS = 32  # so many different ones torch has; then they come again


class Recorder:
    """An agent's updates: done by `agent.update`, until they can be recorded, then by recordings.

    TD3's updates differ, the actor moves in some of them: each kind has its recording.
    """

    made: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()  # no copy takes it along
    streams: ClassVar[WeakSet[Any]] = WeakSet()  # on which recordings were made
    broken: ClassVar[bool] = False  # once PyTorch was interrupted in recording, in this process

    @classmethod
    def of(cls, agent: Any, batch: Batch) -> Self | None:
        """The agent's own, made when it is first needed; None where nothing can be recorded."""
        return None if cls.broken else cls.made.setdefault(agent, cls())

    def __init__(self) -> None:
        self.recordings: dict[bool, Recording] = {}
        self.before: Surroundings | None = None  # what the last update met
        self.unchanged: Counter[bool] = Counter()  # since when so many of a kind were done
        self.patience = 1  # so many before one is recorded
        self.stream: Any = None
        self.fails = False

    def __call__(self, agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
        """What `agent.update(batch)` does and gives."""
        if self.fails:
            return agent.update(batch)
        kind = agent.updates % getattr(agent, "policy_delay", 1) == 0
        changed = self.before is None or not self.before.hold(agent, batch)
        if changed:
            self.forget()
        if kind in self.recordings or self.record(kind, agent, batch):
            losses = self.recordings[kind](agent, batch)
        else:
            losses = agent.update(batch)
        self.unchanged[kind] += 1
        if changed:
            self.before = Surroundings(agent, batch)
        return losses

    def forget(self) -> None:
        """All recordings: something has changed. What changes too often is not worth recording."""
        if self.recordings:
            worth = self.unchanged.total() >= WORTH * self.patience
            self.patience = 1 if worth else 2 * self.patience
        self.recordings.clear()
        self.unchanged.clear()

    def record(self, kind: bool, agent: Any, batch: Batch) -> bool:
        """Make a recording of this kind of update if it can be made now; whether there is one."""
        if self.before is None or self.unchanged[kind] < self.patience:
            return False
        self.stream = self.stream or free_stream(agent.device)
        if self.stream is None or not self.before.can_be_recorded(agent, batch):
            self.patience *= 2  # to ask takes time, too
            return False
        Recorder.streams.add(self.stream)
        try:
            self.recordings[kind] = Recording(agent, batch, self.stream)
        except Exception as error:
            self.fails = True
            self.recordings.clear()
            warnings.warn(
                f"This GPU records no updates of {type(agent).__name__} ({error}): training goes "
                "on without recording, which takes longer and learns the same.",
                stacklevel=2,
            )
        return not self.fails


def free_stream(device: torch.device) -> Any:
    """One of this GPU that no recording was made on; None where there is none.

    With a recording goes what torch's products keep for its stream, whoever else needs it there:
    https://github.com/pytorch/pytorch/issues/193402.
    """
    some = (torch.cuda.Stream(device) for _ in range(STREAMS))
    return next((stream for stream in some if stream not in Recorder.streams), None)


class Surroundings(Standing):
    """All that an update depends on beside its batch, random numbers and learning rates."""

    def __init__(self, agent: Any, batch: Batch) -> None:
        names = (*type(agent).saved, "rng")
        super().__init__(agent, dict.fromkeys(names, ()))
        self.objects, self.constants = objects(agent), constants(agent, batch)

    def hold(self, agent: Any, batch: Batch) -> bool:
        """Whether nothing of it has been replaced or set since."""
        now = objects(agent)
        return (
            len(now) == len(self.objects)
            and all(map(same, now, self.objects))
            and constants(agent, batch) == self.constants
            and self.holds(agent)
        )

    def can_be_recorded(self, agent: Any, batch: Batch) -> bool:
        """Whether Python does nothing in an update that has to be done every time."""
        own_methods = [name for name in vars(agent) if is_method(type(agent), name)]
        return (
            type(batch) is Batch
            and not own_methods
            and all(map(is_known, self.modules))
            and not any(map(is_held, self.trained))
        )


def objects(agent: Any) -> list[Any]:
    """What an update uses, and would use another one if it were replaced."""
    moments = [optimizer._moments for optimizer in optimizers(agent)]
    return [*agent.remembered.values(), *agent.targets, *agent.online, *moments]


def same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, int | float) and one == other)


def constants(agent: Any, batch: Batch) -> list[Any]:
    """What the operations of an update depend on: a recording has these as they were then."""
    groups = [optimizer.param_groups[0] for optimizer in optimizers(agent)]
    settings = [(each["betas"], each["eps"], each["weight_decay"]) for each in groups]
    bounds = getattr(agent.actor, "log_std_range", None)
    backends: Any = torch.backends
    precision = backends.cuda.matmul.fp32_precision, backends.cudnn.conv.fp32_precision
    modes = torch.is_autocast_enabled("cuda"), *precision
    return [*settings, bounds, *modes, *(part.shape for part in batch)]


def optimizers(agent: Any) -> list[Any]:
    """All that the agent has."""
    parts = [getattr(agent, name) for name in agent.saved]
    return [part for part in parts if isinstance(part, torch.optim.Optimizer)]


def is_method(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), FunctionType)


def is_known(module: nn.Module) -> bool:
    """Whether it keeps no count of anything, in Python or in a buffer."""
    return is_steady(module) and not module._buffers


def is_held(parameter: torch.Tensor) -> bool:
    """Whether somebody keeps a result with its way back to this parameter.

    That way belongs to the stream on which it was made, and no other one can record it.
    """
    notes: Any = get_gradient_edge(parameter).node.metadata  # gone with the way
    notes["was here"] = True
    del notes
    return "was here" in cast(Any, get_gradient_edge(parameter).node.metadata)


class Recording:
    """One kind of update of one agent as a CUDA graph, for batches of a fixed number of rows."""

    def __init__(self, agent: Any, batch: Batch, stream: Any) -> None:
        """Raises an error if it cannot be recorded, or does another update than the agent itself.

        The agent is left as it was.
        """
        self.batch = Batch(*map(torch.zeros_like, batch))
        self.draws = Draws(agent.rng, agent.device)
        self.rates = [torch.zeros((), device=agent.device) for _ in optimizers(agent)]
        state, before = agent.rng.bit_generator.state, copies(agent)
        try:
            self.record(agent, stream)
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

    def record(self, agent: Any, stream: Any) -> None:
        """Note all operations of an update, with zeros in place of a batch."""
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(agent.device):
            now = torch.cuda.current_stream()
            stream.wait_stream(now)
            try:
                # Also around `graph`, which leaves its stream in force where recording fails.
                with torch.cuda.stream(stream), self.at_fixed_places(agent):
                    # Libraries prepare themselves when a stream first uses them, which cannot be
                    # recorded.
                    agent.update(self.batch)
                    self.draws.rewound()
                    losses = self.noted(agent, stream)
            finally:
                now.wait_stream(stream)
        self.losses = {name: loss.detach() for name, loss in losses.items()}
        parameters = [p for each in optimizers(agent) for p in each.param_groups[0]["params"]]
        self.gradients = [(parameter, parameter.grad) for parameter in parameters]

    def noted(self, agent: Any, stream: Any) -> dict[str, torch.Tensor]:
        """An update that is noted and not carried out. Other threads may ask for memory."""
        Recorder.broken = True  # unless it comes to its end: the next one might be harmed
        with torch.cuda.graph(self.graph, stream=stream, capture_error_mode="thread_local"):
            losses = agent.update(self.batch)
        Recorder.broken = False
        return losses

    def __call__(self, agent: Any, batch: Batch) -> dict[str, torch.Tensor]:
        """The update. What it returns is overwritten by the next one."""
        self.fill(agent, batch)
        self.graph.replay()
        for parameter, gradient in self.gradients:  # for whoever looks at them
            parameter.grad = gradient
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
        try:
            for group, place in zip(groups, self.rates, strict=True):
                group["lr"] = place
            agent.rng = self.draws.rewound()
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
