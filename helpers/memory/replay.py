"""The replay buffer as lesson 02 builds it, and what its batches are."""

from typing import NamedTuple

import numpy as np
import torch


class Batch(NamedTuple):
    """Transitions, one a row, as float32 tensors: observations (B, *obs shape), actions (B, *action
    shape), all else (B,). `terminated` and `truncated` are 1.0 or 0.0. Pictures are uint8.
    """

    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor


class ReplayBuffer:
    """The last `capacity` transitions, in arrays that are made once. `rng`: a generator or a seed.

    `obs_shape` and `action_shape` are those of one observation and of one action.
    """

    def __init__(self, capacity: int, obs_shape: tuple, action_shape: tuple, rng=None) -> None:
        self.capacity, self.rng = capacity, np.random.default_rng(rng)
        shapes = (obs_shape, action_shape, (), obs_shape, (), ())  # in the order of a Batch
        self.arrays = [np.zeros((capacity, *shape), np.float32) for shape in shapes]
        self.position = self.size = 0  # where the next transition goes; how many are stored

    def __len__(self) -> int:
        return self.size

    def add(self, obs, action, reward, next_obs, terminated, truncated) -> None:
        """Store one transition, in the place of the oldest one if the buffer is full."""
        # 1. Write each of the six parts into its array, at the present position.
        transition = (obs, action, reward, next_obs, terminated, truncated)
        for array, part in zip(self.arrays, transition, strict=True):
            array[self.position] = part
        # 2. Move on, back to 0 after the last place.
        self.position = (self.position + 1) % self.capacity
        # 3. One transition more is stored, up to the capacity.
        self.size = min(self.size + 1, self.capacity)

    def sample(self, batch_size: int) -> Batch:
        """`batch_size` stored transitions, each equally likely; one may come up twice."""
        # 1. Random indices of places that are filled.
        indices = self.rng.integers(0, self.size, batch_size)
        # 2. These rows of every array: copies, which later transitions do not overwrite.
        return Batch(*(torch.from_numpy(array[indices]) for array in self.arrays))
