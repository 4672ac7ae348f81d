"""Replay buffers: how long it takes to draw a batch."""

import random
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from functools import partial

import numpy as np
import torch
from gymnasium import spaces

from benchmarks.measure import MICROSECONDS, Bar, Benchmark, Contender, Run
from benchmarks.peers import stable_baselines3
from helpers.memory.buffers import ReplayBuffer

ITEMS, BATCH = 100_000, 256
OBS_SIZE, ACTION_SIZE = 3, 1  # Pendulum's


def replay() -> Benchmark:
    """Uniform sampling from ours, from the usual list and deque, and from Stable-Baselines3's."""
    sb3 = stable_baselines3()
    ours = "ours"
    return Benchmark(
        f"a batch of {BATCH} from {ITEMS:,} steps, as tensors; "
        f"SB3 is Stable-Baselines3 {sb3.__version__}",
        MICROSECONDS,
        [
            Contender(ours, prepare_ours, bar=Bar("<=", 25)),
            Contender("a list of tuples", partial(prepare_tuples, list), against=ours),
            Contender("a deque of tuples", partial(prepare_tuples, deque), against=ours),
            Contender("SB3", partial(prepare_sb3, sb3.common.buffers.ReplayBuffer), against=ours),
        ],
        steps=1000,
    )


def prepare_ours() -> Run:
    buffer = ReplayBuffer(ITEMS, (OBS_SIZE,), (ACTION_SIZE,), rng=0)
    for step in made_up_steps(ITEMS):
        buffer.add(*step)
    return partial(repeat, partial(buffer.sample, BATCH))


def prepare_tuples(kind: Callable[[], MutableSequence]) -> Run:
    """What most tutorials do: each step is a tuple; a batch is put together when it is drawn."""
    memory = kind()
    memory.extend(made_up_steps(ITEMS))
    rng = random.Random(0)

    def sample() -> tuple[torch.Tensor, ...]:
        columns = zip(*rng.sample(memory, BATCH), strict=True)
        return tuple(torch.from_numpy(np.array(each, dtype=np.float32)) for each in columns)

    return partial(repeat, sample)


def prepare_sb3(kind: Callable) -> Run:
    box = partial(spaces.Box, -1, 1)
    buffer = kind(ITEMS, box((OBS_SIZE,)), box((ACTION_SIZE,)), device="cpu")
    for obs, action, reward, next_obs, terminated, truncated in made_up_steps(ITEMS):
        info = {"TimeLimit.truncated": truncated}  # SB3 keeps this in place of `truncated`
        buffer.add(obs, next_obs, action, reward, terminated or truncated, [info])
    return partial(repeat, partial(buffer.sample, BATCH))


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
