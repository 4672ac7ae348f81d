"""Replay buffers: a memory of steps to learn from again and again."""

from typing import NamedTuple

import numpy as np
import torch


class Batch(NamedTuple):
    """Steps, one a row, as float32 tensors: observations (B, *obs shape), actions (B, *action
    shape), all else (B,). `terminated` and `truncated` are 1.0 or 0.0.
    """

    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor


class ReplayBuffer:
    """The last `capacity` steps, in arrays that are made once; the oldest step is overwritten.

    Observations and actions may have any shape. `rng` is a generator or a seed.
    """

    def __init__(
        self,
        capacity: int,
        obs_shape: tuple[int, ...],
        action_shape: tuple[int, ...],
        rng: np.random.Generator | int | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"A buffer holds at least one step, capacity cannot be {capacity}.")
        self.capacity, self.rng = capacity, np.random.default_rng(rng)
        shapes = (obs_shape, action_shape, (), obs_shape, (), ())
        self.tensors = Batch(*(torch.zeros(capacity, *shape) for shape in shapes))
        # The same memory seen by numpy, which writes a single row several times faster than torch.
        self.arrays = Batch(*(tensor.numpy() for tensor in self.tensors))
        self.position = self.size = 0

    def __setstate__(self, state: dict) -> None:
        """In a copy as well, both views must see one memory."""
        self.__dict__.update(state)
        self.arrays = Batch(*(tensor.numpy() for tensor in self.tensors))

    def __len__(self) -> int:
        return self.size

    def add(
        self,
        obs: np.ndarray,
        action: np.ndarray,
        reward: float,
        next_obs: np.ndarray,
        terminated: bool,
        truncated: bool,
    ) -> None:
        """Store one step, in the place of the oldest one if the buffer is full."""
        # 1. Let `self.check` look at the six parts of the step, in the order of a Batch.
        step = (obs, action, reward, next_obs, terminated, truncated)
        self.check(step)
        # 2. Write each part into its array, at the present position.
        for array, part in zip(self.arrays, step, strict=True):
            array[self.position] = part
        # 3. Move on, back to 0 after the last place.
        self.position = (self.position + 1) % self.capacity
        # 4. One step more is stored, up to the capacity.
        self.size = min(self.size + 1, self.capacity)

    def sample(self, batch_size: int) -> Batch:
        """`batch_size` of the stored steps, drawn with equal chance; one may come up twice."""
        if self.size == 0:
            raise ValueError("The buffer is empty: add steps before you sample from it.")
        # 1. Draw indices among the places that are filled.
        indices = torch.from_numpy(self.rng.integers(0, self.size, batch_size))
        # 2. Take these rows of every array: copies, which later steps do not overwrite.
        return Batch(*(tensor.index_select(0, indices) for tensor in self.tensors))

    def check(self, step: tuple) -> None:
        """Raise `ValueError` if a part has another shape than its place: numpy may stretch it."""
        for name, part, array in zip(Batch._fields, step, self.arrays, strict=True):
            if np.shape(part) != array.shape[1:]:
                raise ValueError(
                    f"This buffer stores {name} of shape {array.shape[1:]}, got {np.shape(part)}."
                )
