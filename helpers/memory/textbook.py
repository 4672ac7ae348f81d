"""Prioritized replay as the textbooks have it: trees with a root, and a buffer that uses them.

To read, and to fill in (lesson 04). Agents use `buffers` and `segment_tree`, which do the same for
a whole batch at once. Source: Schaul et al. 2016, algorithm 1 and appendix B.2.1.
"""

import math

import numpy as np
import torch

from helpers.memory.buffers import Batch, ReplayBuffer, importance_weights


class SegmentTree:
    """Priorities in the leaves of a binary tree; a parent holds the `operation` of its children.

    All nodes stand in one array. The root is node 1, the children of node k are nodes 2k and
    2k + 1, and the leaf of place i is node `first_leaf` + i. Every node is `neutral` at first.
    """

    operation: np.ufunc
    neutral: float

    def __init__(self, capacity: int) -> None:
        self.first_leaf = 2 ** math.ceil(math.log2(capacity))
        self.nodes = np.full(2 * self.first_leaf, self.neutral)

    def root(self) -> float:
        """The operation over all priorities."""
        return self.nodes[1]

    def set(self, place: int, priority: float) -> None:
        """Change one priority, and the nodes above it."""
        # 1. Write the leaf.
        node = self.first_leaf + place
        self.nodes[node] = priority
        # 2. Climb to the root. Each parent is computed from both of its children.
        while node > 1:
            node = node // 2
            self.nodes[node] = self.operation(self.nodes[2 * node], self.nodes[2 * node + 1])


class SumTree(SegmentTree):
    """The root is the sum of all priorities, and a walk from there samples by priority."""

    operation, neutral = np.add, 0.0

    def retrieve(self, prefix_sum: float) -> int:
        """The place at which the sum of the priorities from place 0 on exceeds `prefix_sum`.

        Priorities 2 and 3: place 0 for 0 <= prefix_sum < 2, place 1 for 2 <= prefix_sum < 5. Never
        a place without priority, even where rounding makes `prefix_sum` as large as the root.
        """
        # 1. Start at the root, and go down until a leaf is reached.
        node = 1
        while node < self.first_leaf:
            left, right = 2 * node, 2 * node + 1
            # 2. Left, if its sum exceeds the prefix sum, or if nothing is on the right.
            if prefix_sum < self.nodes[left] or self.nodes[right] == 0:
                node = left
            # 3. Otherwise right, and the left child's sum is subtracted.
            else:
                prefix_sum, node = prefix_sum - self.nodes[left], right
        # 4. From the number of the leaf to its place.
        return node - self.first_leaf


class MinTree(SegmentTree):
    """The root is the smallest priority, or infinity as long as there is none."""

    operation, neutral = np.minimum, np.inf


class PrioritizedBuffer(ReplayBuffer):
    """Lesson 02's buffer, sampled by priority. Demonstrations come first and stay for good.

    Transition i is sampled with probability p_i^alpha / sum_j p_j^alpha.
    """

    def __init__(self, capacity, obs_shape, action_shape, rng, alpha=0.3, beta=1.0):
        super().__init__(capacity, obs_shape, action_shape, rng)
        self.alpha, self.beta = alpha, beta
        self.sums, self.minima = SumTree(capacity), MinTree(capacity)  # of p^alpha
        self.max_priority = 1.0
        self.demos = 0  # the places 0 to demos - 1 hold demonstrations

    def add_demonstration(self, obs, action, reward, next_obs, terminated, truncated):
        """Store one transition for good. All demonstrations come before the agent's own steps."""
        self.add(obs, action, reward, next_obs, terminated, truncated)
        self.demos += 1

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        """Store one transition; in a full buffer in the place of the agent's own oldest one."""
        # 1. Where it goes: a full buffer begins again behind the demonstrations.
        if self.size == self.capacity:
            self.position = max(self.position, self.demos)
        place = self.position
        # 2. Store it as lesson 02's buffer does, which also moves the position on.
        super().add(obs, action, reward, next_obs, terminated, truncated)
        # 3. Its error is not known yet: the largest priority so far, so that it is sampled soon.
        self.update_priorities([place], [self.max_priority])

    def update_priorities(self, places, priorities):
        """New priorities, above 0, for the transitions at these places."""
        for place, priority in zip(places, priorities, strict=True):
            self.sums.set(place, priority**self.alpha)
            self.minima.set(place, priority**self.alpha)
            self.max_priority = max(self.max_priority, priority)

    def sample(self, batch_size):
        """A Batch, the importance weight of each row (B,), and the places of the rows (B,)."""
        # 1. A random number from each of `batch_size` equal ranges of the total.
        total = self.sums.root()
        numbers = (np.arange(batch_size) + self.rng.random(batch_size)) * total / batch_size
        # 2. The walk down the tree finds the place of each.
        places = np.array([self.sums.retrieve(number) for number in numbers])
        # 3. What is sampled too often counts for less.
        probabilities, smallest = self.sums.nodes[self.sums.first_leaf + places], self.minima.root()
        weights = importance_weights(probabilities / total, smallest / total, self.size, self.beta)
        # 4. Copies of the rows.
        rows = torch.from_numpy(places)
        return Batch(*(tensor.index_select(0, rows) for tensor in self.tensors)), weights, places
