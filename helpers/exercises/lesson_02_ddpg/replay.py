"""Lesson 02's memory: exercise 2.6 `ReplayBuffer`.

Right buffers draw their numbers in different ways, so what is compared is what comes up in many
batches: which transitions, in which parts, and whether the parts of a row belong together.
"""

from collections import Counter
from math import sqrt
from typing import Any

import numpy as np
import torch

from helpers.checks.exercise import Case
from helpers.exercises.observing import kind_of
from helpers.exercises.properties import draws_from
from helpers.exercises.text import exercise
from helpers.memory.replay import Batch, ReplayBuffer

BATCHES = 60
PARTS = Batch._fields
# The reward of transition i: all different, in no order, no whole numbers. An empty place has 0.
PRIME = 1009
REWARDS = (np.arange(PRIME) * 389 % PRIME + 0.25).astype(np.float32)
REWARDS[0] = 0
STEP_OF = np.argsort(REWARDS)


# --- What is looked at ----------------------------------------------------------------------------


def steps(count: int, obs_shape: tuple[int, ...], action_shape: tuple[int, ...]) -> Batch:
    """Transitions 1, 2, ... in arrays. No two rows are alike, and the reward tells which it is."""
    number = np.arange(1, count + 1, dtype=np.float32)

    def filled(shape: tuple[int, ...], scale: float, shift: float) -> Any:
        entries = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) / 100
        return (scale * number.reshape(-1, *[1] * len(shape)) + entries + shift).astype(np.float32)

    return Batch(
        obs=filled(obs_shape, 1, 0),
        action=filled(action_shape, -1, 0),
        reward=REWARDS[1 : count + 1],  # type: ignore[arg-type]  # arrays, not tensors
        next_obs=filled(obs_shape, 1, 0.5),
        terminated=number % 3 == 2,
        truncated=number % 4 == 2,
    )


def added(buffer, given: Batch) -> list[int]:
    """Add all transitions one by one; returns the buffer's length after each."""
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
    seen: dict = {"length after each of the last transitions": lengths[-8:]}
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
    kinds = {f"form of the batch's {name}": kind_of(getattr(batches[0], name)) for name in PARTS}
    rows = {name: all_rows([getattr(batch, name) for batch in batches]) for name in PARTS}
    numbers = numbers_of(rows["reward"])
    numbers = numbers.reshape(1 if len(numbers) % BATCHES else BATCHES, -1)
    seen |= kinds
    seen["transitions that come up"] = steps_that_come_up(numbers, given)
    seen |= {f"content of the batch's {name}": content(name, rows, given) for name in PARTS}
    if len(given.reward) > 1 and min(capacity, number_of_steps) <= batch_size:
        seen["transitions that come up twice in a batch"] = twice(numbers)
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
    """The transitions that have these rewards; -1 for a reward that no transition has."""
    flat = rewards.reshape(len(rewards), -1)[:, 0].astype(float)
    step = STEP_OF[np.floor(flat).astype(int) % PRIME]
    return np.where(np.abs(REWARDS[step] - flat) < 1e-3, step, -1)


def steps_that_come_up(numbers: np.ndarray, given: Batch) -> str:
    """As "3, 4, 5", or how many of them there are."""
    often, count = Counter(numbers.ravel().tolist()), len(given.reward)
    known = sorted(number for number in often if 1 <= number <= count)
    if count > 100:
        words = [f"{'most' if len(known) > count / 2 else 'few'} of {count}"]
    else:
        words = [str(number) for number in known]
    words += ["an empty place"] * (0 in often) + ["none of these"] * bool(set(often) - {0, *known})
    # Five and a half standard deviations from the mean, and something for the smallest means.
    mean = sum(often[number] for number in known) / max(len(known), 1)
    uneven = any(often[number] > mean + 5.5 * sqrt(mean) + 5 for number in known)
    return ", ".join(words) + (", some much more often than others" if uneven else "")


def twice(numbers: np.ndarray) -> str:
    """Whether a batch may have a transition more than once: each row is drawn on its own."""
    return "some" if any(len(set(batch)) < len(batch) for batch in numbers.tolist()) else "none"


def content(name: str, rows: dict[str, np.ndarray], given: Batch) -> str:
    """What one part of the batches holds, when its rows are known by their rewards."""
    number = numbers_of(rows["reward"])
    known = (number >= 1) & (number <= len(given.reward))
    if not known.any():
        cut_off = name == "reward" and (np.abs(rows[name]) <= 1).all()
        return "numbers between -1 and 1" if cut_off else "nothing that was added"
    own = number[known] - 1
    wanted = getattr(given, name)[own].astype(np.float32)
    if rows[name].shape[0] != len(number) or rows[name][0].size != wanted[0].size:
        return "another number of entries"
    here = rows[name][known].reshape(wanted.shape).astype(np.float32)

    def same(values: np.ndarray) -> bool:
        return values.shape == here.shape and np.allclose(here, values, atol=1e-3)

    if same(wanted):
        return f"the transition's {name}"
    either = np.logical_or(given.terminated, given.truncated)[own]
    flags = {
        f"the transition's {other}": getattr(given, other)[own] for other in PARTS
    } | {
        "terminated or truncated": either,
        f"the opposite of the transition's {name}": 1 - wanted,
        "zeros": np.zeros_like(wanted),
    }  # fmt: skip
    for words, values in flags.items():
        if same(np.asarray(values)):
            return words
    everything = getattr(given, name).reshape(len(given.reward), -1).astype(np.float32)
    gaps = np.abs(here.reshape(len(here), 1, -1)[:200] - everything[None]).max(axis=-1)
    return f"another transition's {name}" if (gaps.min(axis=1) < 1e-3).all() else "something else"


def mixture(numbers: np.ndarray, count: int) -> dict[str, str | None]:
    """Whether the transitions of a batch were drawn one by one."""
    size, ordered = numbers.shape[1], np.sort(numbers, axis=1)
    different = 1 + (np.diff(ordered, axis=1) > 0).sum(axis=1).mean()
    # With the transitions 1 to `count` laid out in a circle: the widest gap that a batch leaves.
    gaps = np.diff(np.column_stack([ordered, ordered[:, 0] + count]), axis=1).max(axis=1)
    runs = (gaps > count - size).mean()
    share = "none" if runs == 0 else "some" if runs < 0.9 else "all"
    stored = numbers[numbers > 0]
    oldest = None
    if share == "none" and len(np.unique(stored)) > count / 2:  # elsewhere it is left to chance
        part = (stored <= count / 4).mean()
        oldest = "a quarter" if abs(part - 0.25) < 0.1 else "more" if part > 0.25 else "less"
    return {
        f"number of different transitions in a batch of {size}": f"{different:.0f}",
        "share of batches with consecutive transitions": share,
        "share of rows from the oldest quarter of the transitions": oldest,
    }


def buffer_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((1, (2,), (1,), 1, 1), note="one place, one transition"),
        Case((3, (2,), (1,), 7, 0), note="seven transitions in three places, only their number"),
        Case((9, (3,), (1,), 2, 2), note="two transitions in nine places"),
        Case((5, (3,), (2,), 5, 2), note="just full"),
        Case((5, (3,), (2,), 7, 3), note="seven transitions in five places"),
        Case((5, (2, 2), (), 12, 5), note="twelve transitions in five places; matrices observed"),
        Case((150, (2,), (1,), 120, 8), note="many transitions"),
    ]


# --- Properties -----------------------------------------------------------------------------------


def filled_buffer(function, seed: int, count: int = 20, capacity: int = 25):
    buffer = function(capacity, (3,), (1,), seed)
    added(buffer, steps(count, (3,), (1,)))
    return buffer


def rewards_drawn(function, seed: int) -> list:
    buffer = filled_buffer(function, seed)
    return [np.ravel(buffer.sample(8).reward).tolist() for _ in range(3)]


def another_seed_other_batches(function, rng):
    return rewards_drawn(function, 1) != rewards_drawn(function, 2)


def batches_stay(function, rng):
    """A batch is a copy: neither later transitions nor later batches change it."""
    buffer = filled_buffer(function, 3, count=5, capacity=5)
    batches = [buffer.sample(size) for size in (4, 4, 1)]
    before = [[np.asarray(part).copy() for part in batch] for batch in batches]
    added(buffer, steps(25, (3,), (1,)))
    buffer.sample(4)
    return all(
        np.array_equal(a, b)
        for old, batch in zip(before, batches, strict=True)
        for a, b in zip(old, batch, strict=True)
    )


def batches_may_be_changed(function, rng):
    """And the other way round: changing a batch does not change the memory."""
    buffer = filled_buffer(function, 3, count=5, capacity=5)
    for _ in range(10):
        for part in buffer.sample(4):
            part[...] = 0
    return all(bool((buffer.sample(4).reward > 0).all()) for _ in range(10))


def batches_may_be_larger(function, rng):
    rewards = filled_buffer(function, 6, count=3).sample(20).reward
    return len(rewards) == 20 and all(reward > 0 for reward in rewards)  # an empty place has 0


def all_have_the_same_chance(function, rng):
    """Six standard deviations; the first of three places at half the chance is eight away."""
    buffer = filled_buffer(function, 8, count=3)
    draws = 600
    often = Counter(np.concatenate([np.ravel(buffer.sample(3).reward) for _ in range(draws // 3)]))
    return all(abs(count - draws / 3) < 6 * sqrt(draws * 2 / 9) for count in often.values())


def stops_at_one_too_many(function, rng):
    """With a place more than the capacity: a position that goes round at all stays within it.

    This tells one that goes round a place too late from one that never does.
    """
    buffer = function(4, (3,), (1,), 5)
    if not hasattr(buffer, "arrays"):
        return True
    buffer.arrays = [np.concatenate([part, part[:1]]) for part in buffer.arrays]
    try:
        added(buffer, steps(12, (3,), (1,)))
    except IndexError:
        return False
    return True


def keeps_copies(function, rng):
    """Environments may write each observation into the same array.

    What is wrong with a batch in any case is no sign of this: one without a change is compared.
    """
    one, other = (parts_of_one(function, change) for change in (0, 5))
    return all(map(np.array_equal, one, other))


def parts_of_one(function, change: float) -> list[np.ndarray]:
    """Of a batch with one transition whose arrays have grown by `change` since they were added."""
    buffer = function(1, (3,), (1,), 4)
    obs, action, next_obs = np.ones(3, np.float32), np.ones(1, np.float32), np.ones(3, np.float32)
    buffer.add(obs, action, 1.0, next_obs, False, False)
    for array in (obs, action, next_obs):
        array += change
    batch = buffer.sample(1)
    return [np.asarray(part).copy() for part in (batch.obs, batch.action, batch.next_obs)]


REPLAY_BUFFER = exercise(
    __file__, "2.6", ReplayBuffer, buffer_cases, observe_buffer,
    properties={
        "does not draw from self.rng": draws_from(rewards_drawn),
        "the same batches from every seed": another_seed_other_batches,
        "goes on and on": stops_at_one_too_many,
        "no batch larger than the memory": batches_may_be_larger,
        "not the same chance for all": all_have_the_same_chance,
        "batches change later": batches_stay,
        "batches share the memory": batches_may_be_changed,
        "keeps the caller's arrays": keeps_copies,
    },
)  # fmt: skip
