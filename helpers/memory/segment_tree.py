"""A sum tree for a whole batch at once; `textbook` has the tree that is easier to read."""

import math

import numpy as np
import torch


class SumTree:
    """A binary tree of `capacity` priorities in one array, whose sum is always known.

    The children of node k are nodes 2k and 2k + 1, a parent holds their sum, and the leaves hold
    the priorities, 0 until they are set. Each level is half as long as the one below. A short level
    is added up at once faster than it is climbed: the tree ends with its first level of at most
    `top` nodes, by default what is fastest for batches of 128. With `top=1` this is the root, as in
    the textbooks. Source: Schaul et al. 2016, appendix B.2.1 ("sum-tree").
    """

    def __init__(self, capacity: int, top: int = 8192) -> None:
        if capacity < 1 or top < 1:
            raise ValueError(
                f"A tree needs a capacity and a top level of at least 1, got {capacity} and {top}."
            )
        self.capacity, self.depth = capacity, 0  # so many levels lie below the top level
        while (width := -(-capacity // 2**self.depth)) > top:
            self.depth += 1
        # Node 1 would be the root: a top level of `width` nodes begins with node `width`.
        self.first_node, self.first_leaf = width, width * 2**self.depth
        self.nodes = np.zeros(2 * self.first_leaf)

    @property
    def leaves(self) -> np.ndarray:
        """The priorities, float64 (capacity,): to look at; only `set` keeps the tree right."""
        return self.nodes[self.first_leaf : self.first_leaf + self.capacity]

    @property
    def top(self) -> np.ndarray:
        """The nodes of the uppermost level."""
        return self.nodes[self.first_node : 2 * self.first_node]

    @property
    def pairs(self) -> np.ndarray:
        """The same memory, two nodes a row: row k is nodes 2k and 2k + 1, the children of k."""
        return self.nodes.reshape(-1, 2)

    def set(self, indices: np.ndarray, values: np.ndarray) -> None:
        """Put `values` at the places `indices`, both (B,); if one comes twice, its last one counts.

        Nodes are computed from their children and never added to, so no rounding error piles up.
        """
        nodes, pairs = self.first_leaf + indices, self.pairs
        self.nodes[nodes] = values
        for _ in range(self.depth):  # up, the whole batch at once
            nodes = nodes // 2
            children = pairs.take(nodes, axis=0)
            self.nodes[nodes] = np.add(children[:, 0], children[:, 1])

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(np.add.reduce(self.top))

    def retrieve(self, prefix_sums: np.ndarray) -> np.ndarray:
        """For each prefix sum (B,) the place (B,) at which the sum of priorities from place 0 on
        comes to exceed it: place 0 with priority 2 for 0 <= prefix sum < 2, and so on.

        Never a place without priority: a prefix sum of `total` or above, as rounding may give it,
        counts as just below. Raises `ValueError` for an empty tree, or for a negative or NaN prefix
        sum.
        """
        nodes, rest = self.enter(prefix_sums)
        pairs = self.pairs
        for _ in range(self.depth):  # down, the whole batch at once
            children = pairs.take(nodes, axis=0)
            left, right = children[:, 0], children[:, 1]
            # Right if the left child does not reach as far, and never into an empty child, where
            # rounding might lead.
            to_right = (rest >= left) & (right > 0)
            rest -= left * to_right
            nodes = 2 * nodes + to_right
        return nodes - self.first_leaf

    def enter(self, prefix_sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The node of the top level in which each prefix sum lies, and what remains of it there."""
        prefix_sums, top = np.asarray(prefix_sums, dtype=np.float64).ravel(), self.top
        ends = torch.from_numpy(top).cumsum(0).numpy()  # several times as fast as numpy's
        total = ends[-1]
        if total == 0:
            raise ValueError("The tree is empty: set priorities before you retrieve places.")
        if not (prefix_sums >= 0).all():
            raise ValueError(f"Prefix sums are numbers from 0 up, got {np.min(prefix_sums)}.")
        # The first node that ends beyond the prefix sum: never an empty one, which ends where the
        # one before it does. There is such a node as long as the total is out of reach.
        prefix_sums = np.minimum(prefix_sums, math.nextafter(total, 0))
        nodes = ends.searchsorted(prefix_sums, side="right")
        return self.first_node + nodes, np.maximum(prefix_sums - ends[nodes] + top[nodes], 0)
