"""Replay buffers: how long it takes to draw a batch."""

import random
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from functools import partial

import numpy as np
import torch
from gymnasium import spaces

from benchmarks.measure import MICROSECONDS, Bar, Benchmark, Contender
from benchmarks.peers import load
from benchmarks.workers import Run
from helpers.memory.buffers import ReplayBuffer

SIZES, BATCH = (10_000, 100_000, 1_000_000), 256
MANY = 300_000  # above this, tuples take gigabytes
OBS_SIZE, ACTION_SIZE = 3, 1  # Pendulum's


def replay() -> Benchmark:
    """Uniform sampling from ours, from the usual list and deque, from SB3's and from cpprb's."""
    contenders = []
    for items in SIZES:
        ours = f"ours, {items:,} steps"
        against = partial(Contender, against=ours)
        contenders += [
            Contender(ours, partial(prepare_ours, items)),
            against("SB3", partial(prepare_sb3, items)),
            against("cpprb (C++)", partial(prepare_cpprb, items), bar=Bar(">=", 1)),
        ]
        if items < MANY:
            contenders += [
                against("a list of tuples", partial(prepare_tuples, list, items)),
                against("a deque of tuples", partial(prepare_tuples, deque, items)),
            ]
    return Benchmark(f"a batch of {BATCH} steps, as tensors", MICROSECONDS, contenders, steps=1000)


def prepare_ours(items: int) -> Run:
    buffer = ReplayBuffer(items, (OBS_SIZE,), (ACTION_SIZE,), rng=0)
    for step in made_up_steps(items):
        buffer.add(*step)
    return partial(repeat, partial(buffer.sample, BATCH))


def prepare_tuples(kind: Callable[[], MutableSequence], items: int) -> Run:
    """What most tutorials do: each step is a tuple; a batch is put together when it is drawn."""
    memory = kind()
    memory.extend(made_up_steps(items))
    rng = random.Random(0)

    def sample() -> tuple[torch.Tensor, ...]:
        columns = zip(*rng.sample(memory, BATCH), strict=True)
        return tuple(torch.from_numpy(np.array(each, dtype=np.float32)) for each in columns)

    return partial(repeat, sample)


def prepare_sb3(items: int) -> Run:
    box, kind = partial(spaces.Box, -1, 1), load("stable_baselines3").common.buffers.ReplayBuffer
    buffer = kind(items, box((OBS_SIZE,)), box((ACTION_SIZE,)), device="cpu")
    for obs, action, reward, next_obs, terminated, truncated in made_up_steps(items):
        info = {"TimeLimit.truncated": truncated}  # SB3 keeps this in place of `truncated`
        buffer.add(obs, next_obs, action, reward, terminated or truncated, [info])
    return partial(repeat, partial(buffer.sample, BATCH))


def prepare_cpprb(items: int) -> Run:
    buffer = load("cpprb").ReplayBuffer(items, COLUMNS)
    buffer.add(**columns_of(items))
    return partial(repeat, lambda: tensors_of(buffer.sample(BATCH)))


# A step as libraries of columns store it.
COLUMNS = {
    "obs": {"shape": OBS_SIZE}, "act": {"shape": ACTION_SIZE}, "rew": {},
    "next_obs": {"shape": OBS_SIZE}, "terminated": {}, "truncated": {},
}  # fmt: skip


def columns_of(items: int) -> dict[str, np.ndarray]:
    """The made-up steps, a column for each part, float32 (items, width)."""
    columns = zip(*made_up_steps(items), strict=True)
    rows = (np.array(column, np.float32).reshape(items, -1) for column in columns)
    return dict(zip(COLUMNS, rows, strict=True))


def tensors_of(batch: dict[str, np.ndarray]) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.from_numpy, batch.values()))


def made_up_steps(items: int) -> Iterator[tuple]:
    """Steps as agents store them: obs, action, reward, next_obs, terminated, truncated."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((items + 1, OBS_SIZE), dtype=np.float32)
    actions = rng.uniform(-1, 1, (items, ACTION_SIZE)).astype(np.float32)
    rewards = rng.standard_normal(items).tolist()
    truncated = [(i + 1) % 200 == 0 for i in range(items)]
    terminated = [False] * items
    return zip(obs[:-1], actions, rewards, obs[1:], terminated, truncated, strict=True)


def repeat(sample: Callable[[], object], times: int) -> None:
    for _ in range(times):
        sample()
