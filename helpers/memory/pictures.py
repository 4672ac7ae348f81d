"""Pictures in a replay memory, each of them once.

An observation is a stack of pictures, the next one shares all but one with it, and each is stored
in two transitions: kept as they come, every picture would be there up to eight times. Here a
transition holds the places of its pictures. What is sampled is the same, to the last bit.
"""

from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import torch

from helpers.memory.buffers import ReplayBuffer

M = TypeVar("M", bound=ReplayBuffer)


def make_memory(
    kind: type[M], capacity: int, sizes: tuple[int, int, int], rng: np.random.Generator, **own: Any
) -> M:
    """A memory of this kind for observations and actions of these sizes, with settings of its own.

    The third of `sizes` is how many pictures an observation is, or 0. Pictures are kept once, and
    no room is set aside for them: for a million observations no machine has enough.
    """
    obs_size, action_size, pictures = sizes
    try:
        memory = kind(capacity, (0 if pictures else obs_size,), (action_size,), rng, **own)
    except MemoryError as error:
        raise ValueError(
            f"{capacity:,} transitions with observations of {obs_size:,} numbers need more memory "
            "than there is: set a smaller buffer_size."
        ) from error
    if pictures:
        keep_pictures_once(memory, pictures, obs_size // pictures)
    return memory


def keep_pictures_once(memory: ReplayBuffer, pictures: int, size: int) -> None:
    """Let an empty memory hold observations (`pictures` * `size`,), each of their pictures once."""
    store = Pictures(size)
    columns: dict[str, Any] = {
        name: StackColumn(store, memory.capacity, pictures) for name in ("obs", "next_obs")
    }
    memory.tensors = memory.tensors._replace(**columns)
    memory.arrays = memory.arrays._replace(**columns)


class Pictures:
    """Pictures that are looked up by what they show; what no row shows any more makes room.

    `pixels` (N, size) has room for more than are there and grows when it is full. `free` lists the
    places that are empty. Which are in use stands in the `rows` alone: a count of users would be
    wrong for ever where Ctrl-C stopped it halfway.
    """

    def __init__(self, size: int) -> None:
        self.pixels = np.zeros((0, size), np.uint8)
        self.places: dict[bytes, int] = {}
        self.free: list[int] = []
        self.rows: list[np.ndarray] = []  # of each column, -1 where nothing is

    def __len__(self) -> int:
        return int(self.used().sum())

    def used(self) -> np.ndarray:
        """Whether the picture at each place is in a row: (N,) booleans."""
        used = np.zeros(len(self.pixels), bool)
        for rows in self.rows:
            used[rows[rows >= 0]] = True
        return used

    def place_of(self, picture: np.ndarray) -> int:
        """The place of a picture (size,), for which there must be room."""
        # Two pictures with one such key will not be met.
        key = blake2b(picture.tobytes(), digest_size=16).digest()
        place = self.places.get(key)
        if place is None:
            place = self.free.pop()
            self.pixels[place] = picture
            self.places[key] = place
        return place

    def make_room(self, count: int) -> None:
        """Let so many places be free: forget what is not in use, and grow if that is not enough."""
        if len(self.free) >= count:
            return
        used = self.used()
        self.places = {key: place for key, place in self.places.items() if used[place]}
        wanted, empty = max(64, 2 * count, len(self.places) // 4), len(used) - len(self.places)
        if empty < wanted // 2:  # otherwise it would soon be full again
            more = np.zeros((wanted - empty, self.pixels.shape[1]), np.uint8)
            self.pixels = np.concatenate([self.pixels, more])
            used = np.append(used, np.zeros(len(more), bool))
        self.free = np.flatnonzero(~used)[::-1].tolist()


class StackColumn:
    """In a buffer what stands for its array of observations (capacity, size), uint8.

    It is written to, read and sampled from in the same ways, whether as numpy's or as torch's.
    """

    dtype = torch.uint8

    def __init__(self, store: Pictures, capacity: int, pictures: int) -> None:
        self.store = store
        self.places = np.full((capacity, pictures), -1)
        store.rows.append(self.places)
        self.shape = (capacity, pictures * store.pixels.shape[1])

    def numpy(self) -> "StackColumn":
        return self

    def __setitem__(self, where: int | slice, obs: Any) -> None:
        if isinstance(where, slice):
            for place, row in enumerate(np.asarray(obs), where.start or 0):
                self[place] = row
            return
        pictures = np.asarray(obs).astype(np.uint8, copy=False)
        if pictures is not obs and not np.array_equal(pictures, obs):
            raise ValueError(
                "A memory of pictures holds whole numbers from 0 to 255, and got others: mend what "
                "they are from."
            )
        self.store.make_room(self.places.shape[1])
        parts = pictures.reshape(self.places.shape[1], -1)
        self.places[where] = [self.store.place_of(each) for each in parts]

    def __getitem__(self, where: int | slice) -> np.ndarray:
        places = self.places[where]
        return self.store.pixels[places].reshape(*places.shape[:-1], self.shape[1])

    def take(self, indices: np.ndarray, axis: int = 0) -> np.ndarray:
        """Rows (B, size), copies."""
        return self.store.pixels.take(self.places.take(indices, axis), axis).reshape(
            len(indices), self.shape[1]
        )

    def index_select(self, axis: int, indices: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self.take(indices.numpy(), axis))
