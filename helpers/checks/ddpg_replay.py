"""Lesson 02's memory: exercise 2.5 `ReplayBuffer`.

Right buffers draw their numbers in different ways, so what is compared is what comes up in many
batches: which steps, in which parts, and whether the parts of a row belong together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import torch

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.memory.buffers import Batch, ReplayBuffer

BATCHES = 40
PARTS = Batch._fields
# The reward of step i: all different, in no order. An empty place has the reward 0.
PRIME = 1009
REWARDS = (np.arange(PRIME) * 389 % PRIME).astype(np.float32)
STEP_OF = np.argsort(REWARDS)


# --- What is looked at ----------------------------------------------------------------------------


def steps(count: int, obs_shape: tuple[int, ...], action_shape: tuple[int, ...]) -> Batch:
    """Steps 1, 2, ... in arrays. No two rows are alike, and the reward tells which step it is."""
    number = np.arange(1, count + 1, dtype=np.float32)

    def filled(shape: tuple[int, ...], scale: float, shift: float) -> np.ndarray:
        entries = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) / 100
        return (scale * number.reshape(-1, *[1] * len(shape)) + entries + shift).astype(np.float32)

    return Batch(
        obs=filled(obs_shape, 1, 0),
        action=filled(action_shape, -1, 0),
        reward=REWARDS[1 : count + 1],
        next_obs=filled(obs_shape, 1, 0.5),
        terminated=number % 3 == 2,
        truncated=number % 4 == 2,
    )


def added(buffer, given: Batch) -> list[int]:
    """Add all steps one by one; returns the buffer's length after each."""
    lengths = []
    for obs, action, reward, next_obs, terminated, truncated in zip(*given, strict=True):
        buffer.add(
            obs.copy(), action.copy(), float(reward), next_obs.copy(),
            bool(terminated), bool(truncated),
        )  # fmt: skip
        lengths.append(len(buffer))
    return lengths


def observe_buffer(function, capacity, obs_shape, action_shape, number_of_steps, batch_size):
    """What a buffer says of its length, and what comes up in its batches (none for size 0)."""
    given = steps(number_of_steps, obs_shape, action_shape)
    buffer = function(capacity, obs_shape, action_shape, 7)
    lengths = added(buffer, given)
    seen = {"length after each of the last steps": lengths[-8:]}
    if not batch_size:
        return seen
    try:
        batches = [buffer.sample(batch_size) for _ in range(BATCHES)]
    except TypeError as error:
        if "missing 5 required positional arguments" not in str(error):
            raise
        return seen | {"type that `sample` returns": "none: `Batch` was given one part of six"}
    if not all(hasattr(batches[0], name) for name in PARTS) and batches[0] is not None:
        return seen | {"type that `sample` returns": type(batches[0]).__name__}
    kinds = {f"type of the batch's {name}": kind_of(getattr(batches[0], name)) for name in PARTS}
    rows = {name: all_rows([getattr(batch, name) for batch in batches]) for name in PARTS}
    numbers = numbers_of(rows["reward"])
    numbers = numbers.reshape(1 if len(numbers) % BATCHES else BATCHES, -1)
    seen |= kinds
    seen["list of steps that come up"] = steps_that_come_up(numbers, given)
    seen |= {f"content of the batch's {name}": content(name, rows, given) for name in PARTS}
    seen["length after drawing"] = len(buffer)
    if number_of_steps > 100:
        seen |= mixture(numbers, number_of_steps)
    return seen


def all_rows(parts: list) -> np.ndarray:
    """One part of all batches, row by row; one conversion for all of them where that can be."""
    if all(isinstance(part, torch.Tensor) and part.ndim for part in parts):
        return torch.cat(parts).numpy()
    return np.concatenate([np.atleast_1d(np.asarray(part)) for part in parts])


def numbers_of(rewards: np.ndarray) -> np.ndarray:
    """The steps that have these rewards; -1 for a reward that no step has."""
    flat = rewards.reshape(len(rewards), -1)[:, 0].astype(float)
    near = np.rint(flat).astype(int)
    known = (near >= 0) & (near < PRIME) & (np.abs(flat - near) < 1e-3)
    return np.where(known, STEP_OF[near % PRIME], -1)


def kind_of(part) -> str:
    kind = "tensor" if isinstance(part, torch.Tensor) else type(part).__name__
    shape = f" {tuple(part.shape)}" if hasattr(part, "shape") else ""
    return f"{kind}{shape} {str(getattr(part, 'dtype', '')).removeprefix('torch.')}".strip()


def steps_that_come_up(numbers: np.ndarray, given: Batch) -> str:
    """As "3, 4, 5", or how many of them there are."""
    often, count = Counter(numbers.ravel().tolist()), len(given.reward)
    known = sorted(number for number in often if 1 <= number <= count)
    if count > 100:
        return f"{'most' if len(known) > count / 2 else 'few'} of {count}"
    words = [str(number) for number in known]
    words += ["an empty place"] * (0 in often) + ["none of these"] * bool(set(often) - {0, *known})
    # Over few draws, chance alone makes some come up more often.
    even = numbers.size < 200 or max(often.values()) < 4 * min(often.values())
    return ", ".join(words) + ("" if even else ", some much more often than others")


def content(name: str, rows: dict[str, np.ndarray], given: Batch) -> str:
    """What one part of the batches holds, when its rows are known by their rewards."""
    number = numbers_of(rows["reward"])
    known = (number >= 1) & (number <= len(given.reward))
    if not known.any():
        return "nothing that was added"
    own = number[known] - 1
    wanted = getattr(given, name)[own].astype(np.float32)
    if rows[name].shape[0] != len(number) or rows[name][0].size != wanted[0].size:
        return "another number of entries"
    here = rows[name][known].reshape(wanted.shape).astype(np.float32)

    def same(values: np.ndarray) -> bool:
        return values.shape == here.shape and np.allclose(here, values, atol=1e-3)

    if same(wanted):
        return f"its {name}"
    either = np.logical_or(given.terminated, given.truncated)[own]
    flags = {
        f"its {other}": getattr(given, other)[own] for other in PARTS
    } | {
        "terminated or truncated": either,
        f"the opposite of its {name}": 1 - wanted,
        "zeros": np.zeros_like(wanted),
    }  # fmt: skip
    for words, values in flags.items():
        if same(np.asarray(values)):
            return words
    everything = getattr(given, name).reshape(len(given.reward), -1).astype(np.float32)
    gaps = np.abs(here.reshape(len(here), 1, -1)[:200] - everything[None]).max(axis=-1)
    return f"another step's {name}" if (gaps.min(axis=1) < 1e-3).all() else "something else"


def mixture(numbers: np.ndarray, count: int) -> dict[str, str]:
    """Whether the steps of a batch were drawn one by one."""
    size, ordered = numbers.shape[1], np.sort(numbers, axis=1)
    different = 1 + (np.diff(ordered, axis=1) > 0).sum(axis=1).mean()
    # With the steps 1 to `count` laid out in a circle: the widest gap that a batch leaves.
    gaps = np.diff(np.column_stack([ordered, ordered[:, 0] + count]), axis=1).max(axis=1)
    runs = (gaps > count - size).mean()
    share = "none" if runs == 0 else "some" if runs < 0.9 else "all"
    return {
        f"number of different steps in a batch of {size}": f"{different:.0f}",
        "share of batches with consecutive steps": share,
    }


def buffer_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((1, (2,), (1,), 1, 1), note="one place, one step"),
        Case((3, (2,), (1,), 7, 0), note="seven steps in three places, only their number"),
        Case((5, (3,), (1,), 2, 2), note="two steps in five places"),
        Case((5, (3,), (2,), 5, 2), note="just full"),
        Case((5, (3,), (2,), 7, 3), note="seven steps in five places"),
        Case((5, (2, 2), (), 12, 5), note="twelve steps in five places; matrices observed"),
        Case((150, (2,), (1,), 120, 8), note="many steps"),
    ]


# --- Properties -----------------------------------------------------------------------------------


def filled_buffer(function, seed: int, count: int = 20, capacity: int = 25):
    buffer = function(capacity, (3,), (1,), seed)
    added(buffer, steps(count, (3,), (1,)))
    return buffer


def rewards_drawn(function, seed: int) -> list:
    buffer = filled_buffer(function, seed)
    return [np.ravel(buffer.sample(8).reward).tolist() for _ in range(3)]


def follows_its_generator(function, rng):
    return rewards_drawn(function, 1) == rewards_drawn(function, 1)


def another_seed_other_batches(function, rng):
    return rewards_drawn(function, 1) != rewards_drawn(function, 2)


def batches_stay(function, rng):
    """A batch is a copy: neither later steps nor later batches change it."""
    buffer = filled_buffer(function, 3, count=5, capacity=5)
    batches = [buffer.sample(4) for _ in range(3)]
    before = [[np.asarray(part).copy() for part in batch] for batch in batches]
    added(buffer, steps(25, (3,), (1,)))
    buffer.sample(4)
    return all(
        np.array_equal(a, b)
        for old, batch in zip(before, batches, strict=True)
        for a, b in zip(old, batch, strict=True)
    )


def batches_may_be_changed(function, rng):
    """And the other way round: who changes a batch does not change the memory."""
    buffer = filled_buffer(function, 3, count=5, capacity=5)
    for _ in range(10):
        for part in buffer.sample(4):
            part[...] = 0
    return all(bool((buffer.sample(4).reward > 0).all()) for _ in range(10))


def stops_at_one_too_many(function, rng):
    """With a place more than the capacity: who goes round at all never gets beyond it.

    Tells those who go round one place too late from those who never do.
    """
    buffer = function(4, (3,), (1,), 5)
    if not hasattr(buffer, "arrays"):
        return True
    buffer.arrays = Batch(*(np.concatenate([part, part[:1]]) for part in buffer.arrays))
    buffer.tensors = Batch(*map(torch.from_numpy, buffer.arrays))
    try:
        added(buffer, steps(12, (3,), (1,)))
    except IndexError:
        return False
    return True


def keeps_copies(function, rng):
    """Environments may write each observation into the same array."""
    buffer = function(10, (3,), (1,), 4)
    obs, action, next_obs = np.ones(3, np.float32), np.ones(1, np.float32), np.ones(3, np.float32)
    buffer.add(obs, action, 1.0, next_obs, False, False)
    for array in (obs, action, next_obs):
        array += 5
    batch = buffer.sample(1)
    return all(bool((part == 1).all()) for part in (batch.obs, batch.action, batch.next_obs))


# --- Wrong versions of add ------------------------------------------------------------------------


def buffer_with(**methods) -> type[ReplayBuffer]:
    """A wrong version: one method replaced."""
    return type("ReplayBuffer", (ReplayBuffer,), methods)


def adds(
    write: Callable | None = None, move: Callable | None = None, count: Callable | None = None
) -> type[ReplayBuffer]:
    """A wrong `add`: another way to write a step, to move on, or to count."""

    def add(self, *step):
        (write or written)(self, step)
        self.position = (move or moved)(self)
        self.size = (count or counted)(self)

    return buffer_with(add=add)


def written(self, step) -> None:
    for array, part in zip(self.arrays, step, strict=True):
        array[self.position] = part


def moved(self) -> int:
    return (self.position + 1) % self.capacity


def counted(self) -> int:
    return min(self.size + 1, self.capacity)


def stores(change: Callable) -> type[ReplayBuffer]:
    """A wrong `add` that stores `change(step)`, with the parts of the step by their names."""
    return adds(write=lambda self, step: written(self, change(Batch(*step))))


def done(step: Batch) -> bool:
    return step.terminated or step.truncated


def written_everywhere(self, step):
    for array, part in zip(self.arrays, step, strict=True):
        array[...] = part


def written_step_by_step(self, step):
    for array, part in zip(self.arrays, step, strict=True):
        array[self.position] = part
        self.position = moved(self)


def add_around_the_size(self, *step):
    written(self, step)
    self.size = counted(self)
    self.position = (self.position + 1) % self.size


def add_moves_first(self, *step):
    self.position = moved(self)
    written(self, step)
    self.size = counted(self)


def add_until_full(self, *step):
    if self.size < self.capacity:
        written(self, step)
        self.position, self.size = moved(self), counted(self)


def add_starts_over(self, *step):
    if self.position == self.capacity:
        self.position = self.size = 0
    written(self, step)
    self.position += 1
    self.size += 1


def add_only_what_goes_on(self, *step):
    if not (step[4] or step[5]):
        ReplayBuffer.add(self, *step)


def add_sorted(self, *step):
    """Keeps the best rewards."""
    if self.size == self.capacity:
        self.position = int(self.arrays.reward.argmin())
        if self.arrays.reward[self.position] > step[2]:
            return
    ReplayBuffer.add(self, *step)


class KeepsTheSteps(ReplayBuffer):
    """A list of what came in, as it came in."""

    def __init__(self, capacity, obs_shape, action_shape, rng=None):
        super().__init__(capacity, obs_shape, action_shape, rng)
        self.steps = []

    def add(self, *step):
        self.steps = [*self.steps, step][-self.capacity :]
        self.size = len(self.steps)

    def sample(self, batch_size):
        chosen = [self.steps[i] for i in self.rng.integers(0, self.size, batch_size)]
        parts = zip(*chosen, strict=True)
        return Batch(*(torch.tensor(np.array(part), dtype=torch.float32) for part in parts))


# --- Wrong versions of sample ---------------------------------------------------------------------


def drawn_by(choose: Callable) -> type[ReplayBuffer]:
    """A wrong `sample`: `choose(self, batch_size)` gives the indices."""
    return buffer_with(sample=lambda self, n: rows_at(self, choose(self, n)))


def rows_at(self, indices) -> Batch:
    return Batch(*(tensor[torch.as_tensor(indices)] for tensor in self.tensors))


def gives(change: Callable) -> type[ReplayBuffer]:
    """A wrong `sample`: `change(batch)` is returned."""
    return buffer_with(sample=lambda self, n: change(ReplayBuffer.sample(self, n)))


def each_part(change: Callable) -> type[ReplayBuffer]:
    return gives(lambda batch: Batch(*map(change, batch)))


def block(self, batch_size):
    start = self.rng.integers(0, self.size - batch_size + 1)
    return np.arange(start, start + batch_size)


def block_as_view(self, batch_size):
    start = self.rng.integers(0, self.size - batch_size + 1)
    return Batch(*(tensor[start : start + batch_size] for tensor in self.tensors))


def own_indices_for_each_part(self, batch_size):
    return Batch(*(t[self.rng.integers(0, self.size, batch_size)] for t in self.tensors))


def newest(self, batch_size):
    return (self.position - 1 - np.arange(batch_size)) % self.capacity


def best(self, batch_size):
    order = np.argsort(self.arrays.reward[: self.size])
    return order[::-1][:batch_size].copy()


def mostly_new(self, batch_size):
    indices = (self.size * np.sqrt(self.rng.random(batch_size) * 0.999)).astype(int)
    return np.maximum(indices, self.rng.integers(0, self.size, batch_size))


def forgets_what_it_drew(self, batch_size):
    batch = ReplayBuffer.sample(self, batch_size)
    self.size = max(self.size - batch_size, 1)
    return batch


class OneBatch(ReplayBuffer):
    """Draws into the same tensors every time."""

    out = None

    def sample(self, batch_size):
        batch = super().sample(batch_size)
        if self.out is None or len(self.out.reward) != batch_size:
            self.out = batch
        for mine, new in zip(self.out, batch, strict=True):
            mine.copy_(new)
        return self.out


TOO_EARLY = (
    "One place is never written, the last: you go round after `capacity - 1` places (and with a "
    "capacity of 1 you divide by 0). The places are numbered from 0 to `capacity - 1`, so divide "
    "by the capacity itself."
)
AROUND_THE_SIZE = (
    "You go round after `self.size` places, the filled part, so that new steps overwrite old ones "
    "while others are still free. The circle is as long as the capacity."
)

REPLAY_BUFFER = Exercise(
    id="2.5",
    lesson="02_ddpg",
    reference=ReplayBuffer,
    card=Card(
        title="A memory written in a circle",
        what="Write the methods `add` and `sample` of `ReplayBuffer`. `add` stores one step, and "
        "when all places are taken, the newest step replaces the oldest. `sample` draws rows with "
        "equal chance and gives them as a `Batch` of float32 tensors. The rest of the class is "
        "there: `self.arrays` and `self.tensors` are the same memory, seen by numpy and by torch.",
        why="Off by one in the circle, and the newest step is never learned from, or an empty "
        "place is; and a buffer that takes `truncated` for `terminated` teaches the critic a false "
        "end of the world. An agent learns a little from nearly anything, so none of this shows.",
        difficulty=3,
        minutes=15,
    ),
    hints=(
        "Draw five places on paper and put in seven steps. Which place is written next, how many "
        "are filled, and which two numbers do you have to remember for that? And when you draw: "
        "which places may come up, and what keeps the parts of a step together?",
        "To go round in a circle, take the remainder of the division by `self.capacity`; the size "
        "stops at `self.capacity`, which `min` says. For `sample`, ask `self.rng.integers` for "
        "places from 0 up to `self.size` (not included) once, and use these same indices on every "
        "one of `self.tensors`.",
    ),
    cases=buffer_cases,
    observe=observe_buffer,
    misconceptions=[
        Misconception(
            "never wraps around",
            adds(move=lambda self: self.position + 1),
            "You write beyond the last place. After it comes the first again, where the oldest "
            "step is: the position goes on in a circle, as the remainder of a division by the "
            "capacity does. (The size is no place: it stays where it is when the buffer is full.)",
        ),
        Misconception(
            "wraps around too late",
            adds(move=lambda self: (self.position + 1) % (self.capacity + 1)),
            "You do go round, but one place too late: the places are numbered from 0 to "
            "`capacity - 1`, so there is none with the number `capacity`. When the position "
            "reaches it, it has to be 0 already.",
        ),
        Misconception(
            "the length grows beyond the capacity",
            adds(count=lambda self: self.size + 1),
            "Your buffer counts more steps than it has places: each new one has replaced an old "
            "one. The size stops at the capacity, and `sample` relies on that.",
        ),
        Misconception(
            "max in place of min",
            adds(count=lambda self: max(self.size + 1, self.capacity)),
            "Your buffer takes itself for full after the first step. The size is the smaller one "
            "of two numbers, the steps so far and the capacity: `min`.",
        ),
        Misconception(
            "steps are not counted",
            adds(count=lambda self: self.size),
            "Your buffer stays empty by its own account: after each step, `self.size` grows by 1, "
            "up to the capacity.",
        ),
        Misconception(
            "stays at the first place",
            adds(move=lambda self: self.position),
            "Every step is written into the same place: after each one, `self.position` has to "
            "move on.",
        ),
        Misconception(
            "goes round at the size",
            buffer_with(add=add_around_the_size),
            AROUND_THE_SIZE,
        ),
        Misconception(
            "goes round at the size, which is 0",
            adds(move=lambda self: (self.position + 1) % self.size),
            AROUND_THE_SIZE,
        ),
        Misconception(
            "goes round at the size from before",
            adds(move=lambda self: (self.position + 1) % max(self.size, 1)),
            AROUND_THE_SIZE,
        ),
        Misconception(
            "moves on between the parts",
            adds(write=written_step_by_step, move=lambda self: self.position),
            "Your position moves on after each part, so the observation of a step lands in one row "
            "and its reward in another. Write all parts into the same row, and move on once.",
        ),
        Misconception(
            "nothing written",
            adds(write=lambda self, step: None),
            "Nothing arrives in the memory. If you wrote `array = part` in a loop, that only gives "
            "a new meaning to the name: write into a row, `array[self.position]`.",
        ),
        Misconception(
            "stays at the last place",
            adds(move=lambda self: min(self.position + 1, self.capacity - 1)),
            "When your buffer is full, every new step lands in the last place, and all others grow "
            "old. The position goes on in a circle: after the last place comes the first.",
        ),
        Misconception(
            "full is full",
            buffer_with(add=add_until_full),
            "When your buffer is full, new steps are lost, and the agent would learn from its "
            "first attempts for ever. The newest step replaces the oldest.",
        ),
        Misconception(
            "forgets everything when full",
            buffer_with(add=add_starts_over),
            "When your buffer is full, it starts over as an empty one. Only the position goes back "
            "to 0; all the steps behind it are still there, and the size stays.",
        ),
        Misconception(
            "size taken for position",
            adds(count=lambda self: self.position),
            "You set the size to the position. That is the number of steps only until the circle "
            "is closed; from then on all places are filled: the size counts up to the capacity and "
            "stays there.",
        ),
        Misconception(
            "wraps around too early",
            adds(move=lambda self: (self.position + 1) % max(self.capacity - 1, 1)),
            TOO_EARLY,
        ),
        Misconception(
            "wraps around too early, and divides by 0",
            adds(move=lambda self: (self.position + 1) % (self.capacity - 1)),
            TOO_EARLY,
        ),
        Misconception(
            "starts again at the second place",
            adds(
                move=lambda self: (
                    (self.position % max(self.capacity - 1, 1)) + 1 if self.capacity > 1 else 0
                )
            ),
            "After the last place you go on with the second, so the very first step stays in your "
            "memory for ever. The circle begins at 0.",
        ),
        Misconception(
            "moves on before it writes",
            buffer_with(add=add_moves_first),
            "You move on before you write, so place 0 stays empty at first, and the newest step "
            "lies just beyond those that `sample` draws from. Write first.",
        ),
        Misconception(
            "written everywhere",
            adds(write=written_everywhere),
            "You write the step into all places at once, so that only the newest is left. It "
            "belongs into one row: `array[self.position]`.",
        ),
        Misconception(
            "next_obs lost",
            stores(lambda s: s._replace(next_obs=s.obs)),
            "In your memory every step leads back to where it began: `next_obs` holds the "
            "observation from before the step. The target needs the one from after it.",
        ),
        Misconception(
            "next_obs stored as obs",
            stores(lambda s: s._replace(obs=s.next_obs)),
            "Both observations in your memory are the one after the step. The action was taken in "
            "`obs`, and its value belongs there.",
        ),
        Misconception(
            "obs and next_obs exchanged",
            stores(lambda s: s._replace(obs=s.next_obs, next_obs=s.obs)),
            "`obs` and `next_obs` have changed places: your memory runs backwards in time.",
        ),
        Misconception(
            "terminated and truncated exchanged",
            stores(lambda s: s._replace(terminated=s.truncated, truncated=s.terminated)),
            "`terminated` and `truncated` have changed places. A critic would take every time "
            "limit for the end of the world, and every real end for a cut.",
        ),
        Misconception(
            "truncation stored as termination",
            stores(lambda s: s._replace(terminated=done(s))),
            "You store a truncated step as a terminated one. That is the most popular mistake of "
            "all: a time limit ends the recording, not the world. Keep the two flags apart, as "
            "they come in.",
        ),
        Misconception(
            "one flag for both ends",
            stores(lambda s: s._replace(terminated=done(s), truncated=done(s))),
            "You store the same `done` in both flags, and nobody can tell any more whether an "
            "episode ended or was cut off. Keep the two apart, as they come in.",
        ),
        Misconception(
            "one flag for both ends, the other never set",
            stores(lambda s: s._replace(terminated=done(s), truncated=False)),
            "You store `done` as `terminated`, and `truncated` never. That is the most popular "
            "mistake of all: a time limit ends the recording, not the world. Keep the two flags "
            "apart, as they come in.",
        ),
        Misconception(
            "truncation not stored",
            stores(lambda s: s._replace(truncated=False)),
            "`truncated` is not stored. The target does not ask for it, but whoever looks for the "
            "ends of episodes does: store what comes in.",
        ),
        Misconception(
            "terminated stored as a mask",
            stores(lambda s: s._replace(terminated=not s.terminated)),
            "You store 1 for steps that go on, a mask, as some code does. Here `terminated` keeps "
            "its meaning, 1 at an end: the target subtracts it from 1.",
        ),
        Misconception(
            "rewards cut off",
            stores(lambda s: s._replace(reward=max(-1.0, min(1.0, s.reward)))),
            "You cut the rewards off at -1 and 1, as agents for Atari games do. Then a small cost "
            "and a disaster look alike: store the reward as it comes.",
        ),
        Misconception(
            "ends left out",
            buffer_with(add=add_only_what_goes_on),
            "Steps that end an episode are not stored. They are the ones that show what an end is "
            "worth: store every step.",
        ),
        Misconception(
            "keeps the best",
            buffer_with(add=add_sorted),
            "When your buffer is full, the step with the lowest reward has to go. A critic has to "
            "know bad actions as well: the oldest goes, whatever it earned.",
        ),
        Misconception(
            "keeps what it was given",
            KeepsTheSteps,
            "Your buffer keeps the very arrays that it was given, and somebody may change them "
            "later: then your memory changes, too. Write their numbers into your own arrays.",
        ),
        Misconception(
            "draws from empty places",
            drawn_by(lambda self, n: self.rng.integers(0, self.capacity, n)),
            "You draw among all places, filled or not. As long as the buffer is not full, that "
            "teaches steps of zeros that nobody ever made: draw below `self.size`.",
        ),
        Misconception(
            "the last place never drawn",
            drawn_by(lambda self, n: self.rng.integers(0, self.size - 1, n)),
            "The last filled place never comes up. `rng.integers` leaves out its upper bound "
            "already, so there is no need to subtract 1.",
        ),
        Misconception(
            "the first place never drawn",
            drawn_by(lambda self, n: self.rng.integers(1, self.size, n)),
            "Place 0 never comes up: indices begin there.",
        ),
        Misconception(
            "one place too many",
            drawn_by(lambda self, n: self.rng.integers(0, self.size, n, endpoint=True)),
            "Your indices go up to `self.size`, but the last filled place has the number one less: "
            "leave the upper bound out.",
        ),
        Misconception(
            "draws below the position",
            drawn_by(lambda self, n: self.rng.integers(0, self.position, n)),
            "You draw below `self.position`. Once the circle is closed, the older steps lie behind "
            "it, and they count as well: draw below `self.size`.",
        ),
        Misconception(
            "the same row again and again",
            drawn_by(lambda self, n: np.full(n, self.rng.integers(0, self.size))),
            "All rows of a batch are the same step. Draw an index for each row: "
            "`rng.integers` takes the number of them.",
        ),
        Misconception(
            "a block of consecutive steps",
            drawn_by(block),
            "You take a block of steps that follow each other. They are nearly the same step, and "
            "mixing them up is half of what a replay buffer is for: draw each index on its own.",
        ),
        Misconception(
            "a block without a copy",
            buffer_with(sample=block_as_view),
            "You take a block of steps that follow each other, and a slice of the memory at that, "
            "which later steps overwrite. Draw each index on its own; rows taken by a list of "
            "indices are copies.",
        ),
        Misconception(
            "other rows for each part",
            buffer_with(sample=own_indices_for_each_part),
            "You draw new indices for each part, so that the observation of one step meets the "
            "reward of another. Draw once, and use the same indices everywhere.",
        ),
        Misconception(
            "always the first steps",
            drawn_by(lambda self, n: np.arange(n)),
            "You always take the first rows. Draw: each stored step has the same chance.",
        ),
        Misconception(
            "always the last places",
            drawn_by(lambda self, n: np.arange(self.size - n, self.size)),
            "You always take the last of the filled places. Draw: each stored step has the same "
            "chance.",
        ),
        Misconception(
            "always the last rows of the memory",
            buffer_with(sample=lambda self, n: Batch(*(t[-n:] for t in self.tensors))),
            "You always take the last rows of the memory, which are empty until it is full, and "
            "the same few ever after. Draw: each stored step has the same chance.",
        ),
        Misconception(
            "all steps at once",
            buffer_with(sample=lambda self, n: Batch(*(t[: self.size] for t in self.tensors))),
            "You return all that is stored, whatever `batch_size` is. Draw as many rows as are "
            "asked for.",
        ),
        Misconception(
            "a single step",
            drawn_by(lambda self, n: int(self.rng.integers(0, self.size))),
            "You draw a single index, so a single step comes back, without the axis of the batch. "
            "`rng.integers` takes the number of indices, too.",
        ),
        Misconception(
            "always the newest steps",
            drawn_by(newest),
            "You always take the newest steps, so the older ones are kept for nothing. Draw: each "
            "stored step has the same chance.",
        ),
        Misconception(
            "always the best steps",
            drawn_by(best),
            "You take the steps with the highest rewards. A critic has to know bad actions as "
            "well: each stored step has the same chance.",
        ),
        Misconception(
            "later places more often",
            drawn_by(mostly_new),
            "Some places come up much more often than others. Each stored step has the same "
            "chance: `rng.integers` sees to that.",
        ),
        Misconception(
            "forgets what it drew",
            buffer_with(sample=forgets_what_it_drew),
            "Drawing makes your buffer shorter. A memory keeps what it shows: each step is learned "
            "from many times.",
        ),
        Misconception(
            "numpy arrays",
            each_part(lambda part: part.numpy()),
            "Your batch consists of numpy arrays, and the networks want tensors. Index "
            "`self.tensors`, which is the same memory, or convert with `torch.as_tensor`.",
        ),
        Misconception(
            "float64",
            each_part(lambda part: part.double()),
            "Your batch has float64 numbers, and the networks' weights are float32: torch refuses "
            "to multiply the two. The memory is float32 already, so leave its type alone.",
        ),
        Misconception(
            "flags as booleans",
            gives(lambda b: b._replace(terminated=b.terminated > 0, truncated=b.truncated > 0)),
            "Your flags are booleans. The target computes 1 minus `terminated`, which torch allows "
            "for numbers only: leave them the float32 that they are.",
        ),
        Misconception(
            "columns",
            gives(lambda b: Batch(*(p[:, None] if p.ndim == 1 else p for p in b))),
            "Your rewards and flags have shape `(B, 1)`. The critic's values have `(B,)`, and the "
            "two would be broadcast to a matrix: leave the axis out.",
        ),
        Misconception(
            "a plain tuple",
            gives(tuple),
            "You return a plain tuple (or list), and the parts of a batch are asked for by name: "
            "`batch.obs`. Hand them to `Batch`, with a star before the list.",
        ),
        Misconception(
            "Batch without the star",
            gives(lambda batch: Batch(list(batch))),
            "You gave `Batch` one list, and it takes six parts. A star before the list (or the "
            "brackets of a generator) hands its entries over one by one.",
        ),
        Misconception(
            "a plain list",
            gives(list),
            "You return a list, and the parts of a batch are asked for by name: `batch.obs`. Hand "
            "its entries to `Batch`, with a star before the list.",
        ),
        Misconception(
            "a dict",
            gives(lambda batch: batch._asdict()),
            "You return a dict, and the parts of a batch are asked for as `batch.obs`. Hand them "
            "to `Batch`.",
        ),
        Misconception(
            "one batch for all",
            OneBatch,
            "The rows are right, but every batch is written into the same tensors, so a batch that "
            "somebody kept becomes the next one. Give new ones each time: `index_select` and "
            "indexing with a list of rows do.",
        ),
        Misconception(
            "random numbers of its own",
            drawn_by(lambda self, n: np.random.randint(0, self.size, n)),  # noqa: NPY002
            "Your indices do not come from `self.rng`, but from a random stream that the whole "
            "process shares (`np.random`, `random` or `torch`). Then no training can be repeated: "
            "draw from `self.rng`.",
        ),
        Misconception(
            "a new generator for every batch",
            drawn_by(lambda self, n: np.random.default_rng(0).integers(0, self.size, n)),
            "You make a generator anew for every batch, with a fixed seed, so every batch is the "
            "same one again. Draw from `self.rng`, which moves on by itself.",
        ),
    ],
    properties=[
        Property(
            "does not draw from self.rng",
            follows_its_generator,
            "Two buffers with the same seed and the same steps give different batches: some of "
            "your random numbers come from elsewhere. Draw them all from `self.rng`.",
        ),
        Property(
            "the same batches from every seed",
            another_seed_other_batches,
            "Two buffers with different seeds give the same batches: draw from `self.rng`.",
        ),
        Property(
            "goes on and on",
            stops_at_one_too_many,
            "You write beyond the last place. After it comes the first again: the position goes on "
            "in a circle.",
        ),
        Property(
            "batches change later",
            batches_stay,
            "The rows are right, but a batch that was given out changes later on: it shares its "
            "memory with the buffer, or with the next batch. Give copies: `index_select` and "
            "indexing with a list of rows make some.",
        ),
        Property(
            "batches share the memory",
            batches_may_be_changed,
            "The rows are right, but whoever changes a batch changes the memory. Give copies: "
            "`index_select` and indexing with a list of rows make some.",
        ),
        Property(
            "keeps the caller's arrays",
            keeps_copies,
            "Your buffer keeps the very arrays that it was given, and somebody may change them "
            "later. Write their numbers into your own arrays, or copy them.",
        ),
    ],
)
