"""How much memory a lesson's training takes, and a replay memory of a million steps."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MEGABYTES, Benchmark, Contender
from benchmarks.peers import load
from benchmarks.replay import COLUMNS, columns_of, made_up_steps
from benchmarks.workers import Missing, Run, Turn
from helpers.memory.buffers import PrioritizedReplayBuffer, ReplayBuffer
from helpers.memory.pictures import make_memory
from helpers.training.settings import LONG, SETTINGS, Setting

STATUS = Path("/proc/self/status")
STEPS, MILLION = 3_000, 1_000_000
FRAMES, SIZE = 3, 32  # PixelPendulum's pictures


def memory() -> Benchmark:
    """The largest a process has been: of a lesson, all; of a replay memory, what it came to add."""
    lessons = [*SETTINGS.values(), LONG["td3", "PixelPendulum-v0"]]
    contenders = [
        Contender(f"{each.algorithm} on {each.env_id}", partial(prepare_lesson, each))
        for each in sorted(lessons, key=lambda each: each.lesson)
    ]
    ours = "a million steps, ours"
    against = partial(Contender, against=ours)
    contenders += [
        Contender(ours, partial(prepare_replay, fill_ours)),
        against("with priorities, ours", partial(prepare_replay, fill_prioritized)),
        against("SB3's", partial(prepare_replay, fill_sb3)),
        against("cpprb's", partial(prepare_replay, fill_cpprb)),
        against(f"pictures {SIZE}x{SIZE}, {FRAMES} a step, ours",
                partial(prepare_replay, fill_pictures)),
    ]  # fmt: skip
    title = f"a lesson's process after {STEPS:,} steps; what a million steps add to one"
    return Benchmark(title, MEGABYTES, contenders, steps=1, rounds=1, warm_up=False)


def peak() -> float:
    """The most bytes that this process has had in memory so far."""
    if not STATUS.exists():
        raise Missing("memory is read from /proc, which this system has not")
    found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
    assert found
    return 1024.0 * int(found[1])


def prepare_lesson(setting: Setting) -> Run:
    peak()

    def run(_: int) -> Turn:
        setting.make(seed=0).learn(STEPS)
        return peak(), None

    return run


def prepare_replay(fill: Callable[[], object]) -> Run:
    if fill in (fill_sb3, fill_cpprb):
        load("stable_baselines3" if fill is fill_sb3 else "cpprb")

    def run(_: int) -> Turn:
        before = peak()
        kept = fill()
        size = peak() - before
        del kept
        return size, None

    return run


def fill_ours(kind: type[ReplayBuffer] = ReplayBuffer) -> Any:
    """One step again and again: made-up ones would take memory themselves."""
    buffer = kind(MILLION, (3,), (1,), 0)
    (step,) = made_up_steps(1)
    for _ in range(MILLION):
        buffer.add(*step)
    return buffer


fill_prioritized = partial(fill_ours, PrioritizedReplayBuffer)


def fill_sb3() -> Any:
    from gymnasium.spaces import Box

    spaces = Box(-1, 1, (3,)), Box(-1, 1, (1,))
    kind = load("stable_baselines3").common.buffers.ReplayBuffer
    buffer = kind(MILLION, *spaces, device="cpu")
    ((obs, action, reward, next_obs, _, _),) = made_up_steps(1)
    for _ in range(MILLION):
        buffer.add(obs, next_obs, action, reward, False, [{}])
    return buffer


def fill_cpprb() -> Any:
    buffer = load("cpprb").ReplayBuffer(MILLION, COLUMNS)
    step = columns_of(1)
    for _ in range(MILLION):
        buffer.add(**step)
    return buffer


def fill_pictures() -> Any:
    """Episodes of 200 steps, each picture another one; a step's two stacks share all but one."""
    sizes = FRAMES * SIZE * SIZE, 1, FRAMES
    buffer: Any = make_memory(ReplayBuffer, MILLION, sizes, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    action = np.zeros(1, np.float32)
    for _ in range(MILLION // 200):
        pictures = rng.integers(0, 256, (200 + FRAMES, SIZE * SIZE), np.uint8)
        stacks = [pictures[i : i + FRAMES].ravel() for i in range(201)]
        for i in range(200):
            buffer.add(stacks[i], action, 0.0, stacks[i + 1], False, i == 199)
    return buffer
