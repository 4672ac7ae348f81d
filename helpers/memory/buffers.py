"""Replay buffers: a memory of transitions to learn from again and again."""

import pickle
from collections.abc import Callable, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from helpers.memory import replay
from helpers.memory.replay import Batch
from helpers.memory.segment_tree import SumTree
from helpers.names import explained


class ReplayBuffer(replay.ReplayBuffer):
    """Lesson 02's, which refuses what does not fit, and draws by torch.

    Observations and actions may have any shape. `rng` is a generator or a seed.
    """

    @explained
    def __init__(
        self,
        capacity: int,
        obs_shape: tuple[int, ...],
        action_shape: tuple[int, ...],
        rng: np.random.Generator | int | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError(
                f"A buffer holds at least one transition, not {capacity}: raise capacity."
            )
        super().__init__(capacity, obs_shape, action_shape, rng)
        # numpy's zeros take no memory until something is written there.
        self.arrays: Any = Batch(*self.arrays)
        # The same memory, of which torch takes rows and numpy writes them.
        self.tensors = Batch(*map(torch.from_numpy, self.arrays))

    def __setstate__(self, state: dict) -> None:
        """In a copy as well, both views must see one memory."""
        self.__dict__.update(state)
        self.arrays = Batch(*(tensor.numpy() for tensor in self.tensors))

    def check(self, step: tuple) -> None:
        """Raise `ValueError` if a part has another shape than its place: numpy may stretch it."""
        for name, part, array in zip(Batch._fields, step, self.arrays, strict=True):
            if np.shape(part) != array.shape[1:]:
                raise ValueError(
                    f"This buffer stores {name} of shape {array.shape[1:]}, got {np.shape(part)}."
                )

    def add(self, obs, action, reward, next_obs, terminated, truncated) -> None:
        self.check(step := (obs, action, reward, next_obs, terminated, truncated))
        super().add(*step)

    def sample(self, batch_size: int) -> Batch:
        if self.size == 0:
            raise ValueError("The buffer is empty: add transitions before you sample from it.")
        indices = torch.from_numpy(self.rng.integers(0, self.size, batch_size))
        return Batch(*(tensor.index_select(0, indices) for tensor in self.tensors))


def sampling_probabilities(priorities: np.ndarray, alpha: float) -> np.ndarray:
    """The probability of sampling each transition: P(i) = p_i^alpha / sum_j p_j^alpha.

    `priorities` (N,), all above 0; `alpha` from 0 (all equally likely) to 1 (in proportion).
    Returns (N,), their sum is 1. Source: Schaul et al. 2016, equation 1.
    """
    # 1. An alpha below 1 brings the priorities closer together.
    scaled = priorities**alpha
    # 2. Each one's share of the sum.
    return scaled / scaled.sum()


def importance_weights(
    probabilities: np.ndarray, smallest: float, size: int, beta: float
) -> np.ndarray:
    """How much a transition counts, w_i = (N P(i))^-beta / max_j (N P(j))^-beta: the less the more
    often it is sampled.

    `probabilities` (B,) of the transitions that were sampled, `smallest` the smallest one of all
    `size` transitions in the buffer, `beta` from 0 (no correction) to 1 (full). Returns (B,), none
    above 1. Source: Schaul et al. 2016, section 3.4 and algorithm 1. The paper does not say among
    which transitions the maximum is taken; here it is the whole buffer, as in OpenAI's Baselines:
    a weight then does not depend on which others are in the batch.
    """
    # 1. With beta = 1 this undoes the prioritization: twice as often, half as much.
    weights = (size * probabilities) ** -beta
    # 2. The largest weight belongs to the transition with the smallest probability.
    largest = (size * smallest) ** -beta
    # 3. Divided by it, weights only ever make an update smaller.
    return weights / largest


def linear_schedule(step: int, steps: int, start: float, end: float) -> float:
    """From `start` at step 0 to `end` at step `steps`, on a straight line, and `end` from then on.

    It depends on `step` alone: calling it once more changes nothing.
    """
    # 1. How much of the way is done; after the end it is all of it.
    done = min(step / steps, 1.0)
    # 2. That much of the difference is added to where it began.
    return start + done * (end - start)


def n_step_return(
    rewards: np.ndarray, ends: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray]:
    """The discounted rewards of up to n steps, r_0 + gamma r_1 + ... + gamma^(k-1) r_(k-1).

    `rewards` (B, n) and `ends` (B, n) of n steps in a row, B times: an end (True) is the last step
    of its episode, whatever follows belongs to another one and does not count. Returns the sums
    (B,) and how many rewards each has, k (B,): what comes after is worth gamma^k.
    """
    # 1. How far each row counts: up to its first end, or to the last of the n steps.
    n = rewards.shape[1]
    stops = ends.copy()
    stops[:, -1] = True
    lengths = stops.argmax(axis=1) + 1
    # 2. Rewards beyond it do not count.
    counted = np.where(np.arange(n) < lengths[:, None], rewards, 0.0)
    # 3. The i-th reward is worth gamma^i.
    return counted @ gamma ** np.arange(n), lengths


class PrioritizedBatch(NamedTuple):
    """A Batch, the same rows seen n steps ahead, and what prioritization adds; all are tensors.

    `n_reward` (B,) is the discounted sum of up to n rewards, k of them: fewer than n where the
    episode ends or the memory does. `n_next_obs` and `n_terminated` come from the last of these
    transitions, and `n_discount` (B,) is gamma^k, so that the n-step target is
    n_reward + n_discount * (1 - n_terminated) * Q(n_next_obs, ...).

    `weights` (B,) are the importance weights, `is_demo` (B,) is 1.0 for demonstrations and 0.0
    otherwise, `indices` (B,) are the places (int64) that `update_priorities` asks for.
    """

    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor
    n_reward: torch.Tensor
    n_next_obs: torch.Tensor
    n_terminated: torch.Tensor
    n_discount: torch.Tensor
    weights: torch.Tensor
    is_demo: torch.Tensor
    indices: torch.Tensor


class PrioritizedReplayBuffer(ReplayBuffer):
    """Transitions drawn by priority, demonstrations that stay, and returns over `n_steps` steps.

    Transition i is drawn with probability p_i^`alpha` / sum_j p_j^`alpha`. A new one has the
    largest priority there was so far (1 at the beginning), until `update_priorities` knows better.
    Importance weights correct with `beta`, which grows to 1 in a straight line over the first
    `beta_samples` batches. Demonstrations are stored first, and never overwritten.
    Sources: Schaul et al. 2016, whose alpha and beta are the defaults; Vecerik et al. 2017, who
    use alpha = 0.3 and beta = 1.
    """

    @explained
    def __init__(
        self,
        capacity: int,
        obs_shape: tuple[int, ...],
        action_shape: tuple[int, ...],
        rng: np.random.Generator | int | None = None,
        *,
        alpha: float = 0.6,
        beta: float = 0.4,
        beta_samples: int = 100_000,
        n_steps: int = 1,
        gamma: float = 0.99,
    ) -> None:
        super().__init__(capacity, obs_shape, action_shape, rng)
        for name, value in {"alpha": alpha, "beta": beta, "gamma": gamma}.items():
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {value}.")
        for name, value in {"beta_samples": beta_samples, "n_steps": n_steps}.items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
        self.alpha, self.first_beta, self.beta_samples = alpha, beta, beta_samples
        self.n_steps, self.gamma = n_steps, gamma
        self.sums, self.smallest = SumTree(capacity), np.inf  # of p_i^alpha
        self.max_priority = 1.0
        self.samples = self.demos = 0  # batches drawn, demonstrations stored
        # Whether a transition is the last one known of its episode: no window goes beyond it.
        self.ends = np.zeros(capacity, dtype=bool)
        self.newest: int | None = None
        self.halfway = False  # within a change of priorities

    @property
    def beta(self) -> float:
        """The beta of the next batch."""
        return linear_schedule(self.samples, self.beta_samples, self.first_beta, 1.0)

    def add(self, obs, action, reward, next_obs, terminated, truncated) -> None:
        """Store one transition; if full, in the place of the agent's own oldest one."""
        if self.size == self.demos:
            self.newest = None  # the agent does not go on where the demonstrations stopped
        self.store(obs, action, reward, next_obs, terminated, truncated)

    def add_demonstration(self, obs, action, reward, next_obs, terminated, truncated) -> None:
        """Store one transition for good. Raises `ValueError` once the agent's own are there."""
        self.check_room(1)
        self.store(obs, action, reward, next_obs, terminated, truncated)
        self.demos += 1

    def add_demonstrations(
        self,
        obs: Sequence[np.ndarray],
        action: Sequence[np.ndarray],
        reward: Sequence[float],
        next_obs: Sequence[np.ndarray],
        terminated: Sequence[bool],
        truncated: Sequence[bool],
    ) -> None:
        """Store many transitions for good, in their order: arrays with one a row."""
        parts = (obs, action, reward, next_obs, terminated, truncated)
        lengths = [len(part) for part in parts]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"All parts of demonstrations are as long as each other, got {lengths}."
            )
        self.check_room(lengths[0])
        for transition in zip(*parts, strict=True):
            self.add_demonstration(*transition)

    def sample(self, batch_size: int) -> PrioritizedBatch:  # type: ignore[override]  # more parts
        """`batch_size` transitions, drawn by priority; one may come up twice."""
        if self.size == 0:
            raise ValueError("The buffer is empty: add transitions before you sample from it.")
        if batch_size < 1:
            raise ValueError(
                f"A batch has at least one transition, not {batch_size}: raise batch_size."
            )
        # A number from each of `batch_size` equal ranges of the total: every part of the memory
        # then has its share of every batch (Schaul et al. 2016, appendix B.2.1).
        total = self.sums.total
        prefix_sums = (np.arange(batch_size) + self.rng.random(batch_size)) * (total / batch_size)
        indices = self.sums.retrieve(prefix_sums)
        weights = importance_weights(
            self.sums.leaves[indices] / total, self.smallest / total, self.size, self.beta
        )
        self.samples += 1
        n_reward, last, n_discount = self.look_ahead(indices)
        # Copies of the rows, which later steps do not overwrite.
        arrays = (
            *(array.take(indices, axis=0) for array in self.arrays),
            n_reward.astype(np.float32),
            self.arrays.next_obs.take(last, axis=0),
            self.arrays.terminated.take(last),
            n_discount.astype(np.float32),
            weights.astype(np.float32),
            (indices < self.demos).astype(np.float32),
            indices,
        )
        return PrioritizedBatch(*map(torch.from_numpy, arrays))

    def update_priorities(
        self, indices: torch.Tensor | np.ndarray, priorities: torch.Tensor | np.ndarray
    ) -> None:
        """Give the transitions at `indices` (B,) new priorities (B,), above 0 and without gradient.

        Raises `IndexError` or `ValueError`, and changes nothing, if that cannot be.
        """
        indices, priorities = (
            each.cpu() if isinstance(each, torch.Tensor) else each for each in (indices, priorities)
        )
        places, new = check_places(indices, self.size), np.asarray(priorities, np.float64)
        self.check_new(places, new)
        self.set_priorities(places, new)
        self.max_priority = float(new.max(initial=self.max_priority))

    def set_priorities(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        """Let the tree and `smallest` know, without any checks."""
        leaves = self.sums.leaves
        stopped, self.halfway = self.halfway, True  # by Ctrl-C, in the middle of this
        if stopped:
            self.sums.set(np.arange(self.capacity), leaves.copy())
        before = leaves.take(indices).min(initial=np.inf)
        self.sums.set(indices, priorities**self.alpha)
        after = leaves.take(indices).min(initial=np.inf)  # a place that comes twice has its last
        # All are looked through only when the smallest has grown, and it is the one drawn least.
        grown = stopped or before == self.smallest < after
        least = leaves.min(where=leaves > 0, initial=np.inf) if grown else min(self.smallest, after)
        self.smallest, self.halfway = float(least), False

    def store(self, *transition: Any) -> None:
        """Write a transition where it belongs, connect it to the one before, make it likely.

        Ctrl-C may stop it anywhere: without a priority yet, a transition is never drawn.
        """
        self.check(transition)
        place = self.position = next_place(self)
        self.ends[place] = True  # nothing follows it yet
        super().add(*transition)
        self.connect(place)
        self.set_priorities(np.array([place]), np.array([self.max_priority]))

    def look_ahead(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For the transitions at `indices`: n-step returns, place of the last one, gamma^k; (B,).

        Computed when drawn: nothing is stored twice, and a transition can be drawn as soon as it
        is there, with as many as have followed it so far.
        """
        if self.n_steps == 1:
            return self.arrays.reward.take(indices), indices, np.full(len(indices), self.gamma)
        # The places of the n transitions from each on, (B, n): after the last place comes the
        # agent's own oldest one. Where none follows, `ends` says so.
        places = indices[:, None] + np.arange(self.n_steps)
        beyond = places >= self.capacity
        if beyond.any():
            own = self.capacity - self.demos
            places[beyond] = self.demos + (places[beyond] - self.demos) % own
        rewards, ends = self.arrays.reward.take(places), self.ends.take(places)
        returns, lengths = n_step_return(rewards, ends, self.gamma)
        return returns, places[np.arange(len(places)), lengths - 1], self.gamma**lengths

    def connect(self, place: int) -> None:
        """Note that the transition at `place` follows the one stored before it, if it does.

        It does not after an episode's end, nor where an episode was broken off: then it begins
        elsewhere than the transition before it led to.
        """
        before, arrays = self.newest, self.arrays
        if before is not None:
            over = arrays.terminated[before] or arrays.truncated[before]
            follows = np.array_equal(arrays.next_obs[before], arrays.obs[place])
            self.ends[before] = over or not follows
        self.newest = place

    def check_room(self, count: int) -> None:
        """Raise `ValueError` if so many demonstrations cannot be added."""
        if self.size > self.demos:
            raise ValueError("Demonstrations come first: add them before the agent's own steps.")
        if self.demos + count >= self.capacity:
            raise ValueError(
                f"{self.demos + count} demonstrations leave no room for others in a buffer of "
                f"{self.capacity}: make it larger."
            )

    def check_new(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        """Raise `ValueError` for priorities that the transitions at `indices` cannot have."""
        if indices.shape != priorities.shape or indices.ndim != 1:
            raise ValueError(
                f"Indices and priorities have one shape (B,), got {indices.shape} and "
                f"{priorities.shape}."
            )
        if not ((priorities > 0) & (priorities < np.inf)).all():
            raise ValueError(
                "A priority is a finite number above 0, got "
                f"{priorities[~((priorities > 0) & (priorities < np.inf))][0]}; 0 would never be "
                "drawn again: add a small positive number."
            )


def check_places(indices: ArrayLike, size: int) -> np.ndarray:
    """`indices` as an array of integers. Raises `IndexError` unless all are from 0 to size - 1."""
    indices = np.asarray(indices)
    if indices.size == 0:
        return indices.astype(np.intp)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"Places are whole numbers, got values of type {indices.dtype}.")
    places = indices.astype(np.intp, copy=False)
    if places.view(np.uintp).max() >= size:  # without a sign, a negative number is a huge one
        wrong = indices[(indices < 0) | (indices >= size)][0]
        raise IndexError(f"Only the places 0 to {size - 1} are in use, got {wrong}.")
    return places


def next_place(buffer: ReplayBuffer) -> int:
    """Where the next transition goes, also where Ctrl-C stopped the last one; demos stay."""
    full = buffer.size == buffer.capacity
    return max(buffer.position, getattr(buffer, "demos", 0)) if full else buffer.size


def by_value(thing: Any) -> tuple[Callable, tuple[bytes]]:
    """How `multiprocessing` sends it: as a copy.

    Torch would move its tensors to memory that both processes share. Training in one would change
    the other's, and what numpy sees would be the old place.
    """
    return pickle.loads, (pickle.dumps(thing),)


for _memory in (ReplayBuffer, PrioritizedReplayBuffer):
    ForkingPickler.register(_memory, by_value)


# ---- what an agent's file keeps of a buffer ------------------------------------------------------


def stored_memory(buffer: ReplayBuffer) -> dict[str, Any]:
    """All that is stored in a buffer of either kind: tensors of the filled part, plain values.

    The tensors look into the buffer: what is to outlast its next change must be copied or written.
    """
    size = len(buffer)
    # By way of numpy: the tensor of a part is then written as that part, not as the whole buffer.
    memory = {
        "steps": [torch.from_numpy(array[:size]) for array in buffer.arrays],
        "position": next_place(buffer),
    }
    if isinstance(buffer, PrioritizedReplayBuffer):
        memory |= {name: getattr(buffer, name) for name in PRIORITIZED}
        memory["ends"] = torch.from_numpy(buffer.ends[:size])
        leaves, new = buffer.sums.leaves[:size], buffer.max_priority**buffer.alpha
        memory["priorities"] = torch.from_numpy(np.where(leaves > 0, leaves, new))
    return memory


PRIORITIZED = ("max_priority", "samples", "demos", "newest")


def restore_memory(buffer: ReplayBuffer, memory: dict[str, Any]) -> None:
    """Put into an empty buffer what `stored_memory` took from one with the same settings.

    Raises `ValueError` for what such a buffer has no room for.
    """
    size = len(memory["steps"][0])
    for part, tensor in zip(memory["steps"], buffer.tensors, strict=True):
        same_rows = part.shape[1:] == tensor.shape[1:] and part.dtype == tensor.dtype
        if not same_rows or len(part) != size or size > buffer.capacity:
            raise ValueError("its replay memory does not fit")
        tensor[:size] = part
    buffer.size, buffer.position = size, memory["position"]
    if isinstance(buffer, PrioritizedReplayBuffer):
        priorities = memory["priorities"].numpy()
        vars(buffer).update({name: memory[name] for name in PRIORITIZED})
        buffer.ends[:size] = memory["ends"].numpy()
        buffer.sums.set(np.arange(size), priorities)
        buffer.smallest = float(priorities.min(initial=np.inf))
