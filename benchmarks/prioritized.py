"""Prioritized replay: how long it takes to draw a batch and to give its steps new priorities.

`python -m benchmarks.prioritized` measures it at several sizes and writes data/results/04_cost.json
(some minutes; it wants a quiet machine).
"""

import operator
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
import torch

from benchmarks.measure import MICROSECONDS, Benchmark, Contender, measure
from benchmarks.peers import installed, load
from benchmarks.workers import Run
from helpers.memory.buffers import PrioritizedReplayBuffer
from helpers.training.results import RESULTS
from helpers.training.study import circumstances, save

RESULT = RESULTS / "04_cost.json"
BATCH, ALPHA, BETA = 128, 0.6, 0.4
OBS_SIZE, ACTION_SIZE = 3, 1  # Pendulum's
COLUMNS = {  # of a step, as cpprb stores it
    "obs": {"shape": OBS_SIZE}, "act": {"shape": ACTION_SIZE}, "rew": {},
    "next_obs": {"shape": OBS_SIZE}, "terminated": {}, "truncated": {},
}  # fmt: skip


def of_size(items: int) -> list[Contender]:
    """Ours is shown once more as lesson 04's agent needs it, with 10-step returns as well."""
    against = partial(Contender, against="ours")
    return [
        Contender("ours", partial(prepare_ours, items)),
        against("ours, 10-step returns too", partial(prepare_ours, items, 10)),
        against("cpprb (C++)", partial(prepare_cpprb, items)),
        against("a tutorial's Python tree", partial(prepare_tutorial, items)),
        against("Python trees as in Baselines", partial(prepare_baselines, items)),
    ]


def by_size(
    sizes: Sequence[int] = (10_000, 30_000, 100_000, 300_000, 1_000_000),
    rounds: int = 15,
    steps: int = 200,
) -> list[dict[str, int | float | str]]:
    """What a batch and its new priorities cost in buffers of these sizes.

    Returns a row for each size and contender that is here: `items`, `name`, and the median over the
    rounds, `microseconds`. The largest size takes a minute to fill, and 2 GB.
    """
    return [
        {"items": items, "name": row["name"], "microseconds": row["figure"]}
        for items in sizes
        for row in measure(Benchmark("", MICROSECONDS, of_size(items), steps), rounds, steps)
        if not row["missing"]
    ]


def prepare_ours(items: int, n_steps: int = 1) -> Run:
    buffer = PrioritizedReplayBuffer(
        items, (OBS_SIZE,), (ACTION_SIZE,), rng=0, alpha=ALPHA, beta=BETA, n_steps=n_steps
    )
    for step in made_up_steps(items):
        buffer.add(*step)
    buffer.update_priorities(np.arange(items), made_up_priorities(items))
    new = next_priorities()

    def sample_and_update() -> tuple[torch.Tensor, ...]:
        batch = buffer.sample(BATCH)
        buffer.update_priorities(batch.indices, new())
        return batch

    return partial(repeat, sample_and_update)


def prepare_cpprb(items: int) -> Run:
    buffer = load("cpprb").PrioritizedReplayBuffer(items, COLUMNS, alpha=ALPHA)
    buffer.add(**columns_of(items), priorities=made_up_priorities(items))
    new = next_priorities()

    def sample_and_update() -> tuple[torch.Tensor, ...]:
        batch = buffer.sample(BATCH, beta=BETA)
        indices = batch.pop("indexes")
        buffer.update_priorities(indices, new())
        return tensors_of(batch)

    return partial(repeat, sample_and_update)


def prepare_tutorial(items: int) -> Run:
    """What most tutorials do: a sum tree of steps, walked for each step of the batch by itself."""
    tree, rng = TutorialTree(items), random.Random(0)
    priorities = made_up_priorities(items).tolist()
    for priority, step in zip(priorities, made_up_steps(items), strict=True):
        tree.add(priority**ALPHA, step)
    new = next_priorities()

    def sample_and_update() -> tuple[torch.Tensor, ...]:
        segment = tree.total() / BATCH
        drawn = [tree.get(rng.uniform(i * segment, (i + 1) * segment)) for i in range(BATCH)]
        nodes, priorities, steps = zip(*drawn, strict=True)
        weights = (items * np.array(priorities) / tree.total()) ** -BETA
        batch = stacked(steps, weights / weights.max())
        for node, priority in zip(nodes, new(), strict=True):
            tree.update(node, priority**ALPHA)
        return batch

    return partial(repeat, sample_and_update)


def prepare_baselines(items: int) -> Run:
    """What OpenAI's Baselines do, and many after them: a sum and a min tree, asked step by step.

    The sum of the range is taken anew for each draw and each weight, as it is there.
    """
    size = 1 << (items - 1).bit_length()
    sums, minima = ListTree(size, operator.add, 0.0), ListTree(size, min, float("inf"))
    rng, steps = random.Random(0), list(made_up_steps(items))
    for i, priority in enumerate(made_up_priorities(items).tolist()):
        sums[i] = minima[i] = priority**ALPHA
    new = next_priorities()

    def sample_and_update() -> tuple[torch.Tensor, ...]:
        indices = [sums.find(rng.random() * sums.reduce(0, items - 1)) for _ in range(BATCH)]
        largest = (minima.reduce() / sums.reduce() * items) ** -BETA
        weights = [(sums[i] / sums.reduce() * items) ** -BETA / largest for i in indices]
        batch = stacked([steps[i] for i in indices], weights)
        for i, priority in zip(indices, new(), strict=True):
            sums[i] = minima[i] = priority**ALPHA
        return batch

    return partial(repeat, sample_and_update)


def stacked(steps: Sequence[tuple], weights: Sequence[float]) -> tuple[torch.Tensor, ...]:
    columns = [*zip(*steps, strict=True), weights]
    return tuple(torch.from_numpy(np.array(each, dtype=np.float32)) for each in columns)


class TutorialTree:
    """A sum tree in one array, node 0 the root; a change is added to all nodes above."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.position = capacity, 0
        self.nodes = np.zeros(2 * capacity - 1)
        self.steps = np.zeros(capacity, dtype=object)

    def total(self) -> float:
        return self.nodes[0]

    def add(self, priority: float, step: tuple) -> None:
        self.steps[self.position] = step
        self.update(self.position + self.capacity - 1, priority)
        self.position = (self.position + 1) % self.capacity

    def update(self, node: int, priority: float) -> None:
        change = priority - self.nodes[node]
        self.nodes[node] = priority
        self.pass_on(node, change)

    def pass_on(self, node: int, change: float) -> None:
        parent = (node - 1) // 2
        self.nodes[parent] += change
        if parent != 0:
            self.pass_on(parent, change)

    def get(self, prefix_sum: float) -> tuple[int, float, tuple]:
        node = self.walk(0, prefix_sum)
        return node, self.nodes[node], self.steps[node - self.capacity + 1]

    def walk(self, node: int, prefix_sum: float) -> int:
        left = 2 * node + 1
        if left >= len(self.nodes):
            return node
        if prefix_sum <= self.nodes[left]:
            return self.walk(left, prefix_sum)
        return self.walk(left + 1, prefix_sum - self.nodes[left])


class ListTree:
    """A segment tree in a list, node 1 the root; a parent is computed from its two children."""

    def __init__(self, size: int, operation: Callable, neutral: float) -> None:
        self.size, self.operation = size, operation
        self.nodes = [neutral] * (2 * size)

    def __getitem__(self, i: int) -> float:
        assert 0 <= i < self.size
        return self.nodes[self.size + i]

    def __setitem__(self, i: int, value: float) -> None:
        node = self.size + i
        self.nodes[node] = value
        while node > 1:
            node //= 2
            self.nodes[node] = self.operation(self.nodes[2 * node], self.nodes[2 * node + 1])

    def reduce(self, start: int = 0, stop: int | None = None) -> float:
        return self.over(start, self.size if stop is None else stop, 1, 0, self.size)

    def over(self, start: int, stop: int, node: int, first: int, end: int) -> float:
        if (start, stop) == (first, end):
            return self.nodes[node]
        middle = (first + end) // 2
        if stop <= middle:
            return self.over(start, stop, 2 * node, first, middle)
        if start >= middle:
            return self.over(start, stop, 2 * node + 1, middle, end)
        return self.operation(
            self.over(start, middle, 2 * node, first, middle),
            self.over(middle, stop, 2 * node + 1, middle, end),
        )

    def find(self, prefix_sum: float) -> int:
        assert 0 <= prefix_sum <= self.reduce() + 1e-5
        node = 1
        while node < self.size:
            node *= 2
            if self.nodes[node] <= prefix_sum:
                prefix_sum -= self.nodes[node]
                node += 1
        return node - self.size


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


def made_up_priorities(items: int) -> np.ndarray:
    """Positive, like squared errors: many small ones, few large ones."""
    return np.random.default_rng(1).exponential(size=items) + 1e-3


def next_priorities() -> Callable[[], np.ndarray]:
    """A function that gives other priorities for a batch at each call, made beforehand."""
    return partial(next, cycle(made_up_priorities(100 * BATCH).reshape(100, BATCH)))


def main(path: Path = RESULT) -> None:
    rows = by_size()
    record = {"command": "python -m benchmarks.prioritized", **circumstances(*installed())}
    save(path, record | {"batch": BATCH, "results": rows})
    for row in rows:
        print(f"{row['items']:>9,}  {row['name']:30s}{row['microseconds']:10.1f} us")


if __name__ == "__main__":
    sys.exit(main())
