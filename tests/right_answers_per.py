"""Differently written right answers to lesson 04's exercises about prioritized sampling.

As in `right_answers.py`: another order, another library, another type.
"""

import math

import numpy as np
import torch

from helpers.memory.segment_tree import SegmentTree, SumTree

# --- 4.3 sampling_probabilities -------------------------------------------------------------------


def probabilities_by_a_list(priorities, alpha):
    powers = [p**alpha for p in priorities]
    return [power / sum(powers) for power in powers]


def probabilities_by_a_loop(priorities, alpha):
    total = 0.0
    result = np.zeros(len(priorities))
    for i in range(len(priorities)):
        result[i] = math.pow(priorities[i], alpha)
        total += result[i]
    result /= total
    return result


def probabilities_by_logarithms(priorities, alpha):
    logits = alpha * np.log(priorities)
    logits -= logits.max()
    return np.exp(logits) / np.exp(logits).sum()


def probabilities_of_shares(priorities, alpha):
    """A common factor cancels, so taking shares first as well does no harm."""
    shares = np.power(priorities / np.sum(priorities), alpha)
    return np.divide(shares, shares.sum())


def probabilities_in_torch(priorities, alpha):
    scaled = torch.as_tensor(priorities, dtype=torch.float32) ** alpha
    return scaled / scaled.sum()


# --- 4.4 importance_weights -----------------------------------------------------------------------


def weights_without_n(probabilities, smallest, size, beta):
    """N stands above and below the fraction line."""
    return (smallest / probabilities) ** beta


def weights_as_in_the_paper(probabilities, smallest, size, beta):
    weights = (1 / size * 1 / probabilities) ** beta
    max_weight = (1 / size * 1 / smallest) ** beta
    return weights / max_weight


def weights_by_a_list(probabilities, smallest, size, beta):
    largest = (size * smallest) ** (-beta)
    return [(size * p) ** (-beta) / largest for p in probabilities]


def weights_of_one_more(probabilities, smallest, size, beta):
    weights = np.power(size * np.append(probabilities, smallest), -beta)
    weights /= weights.max()
    return weights[:-1]


def weights_by_logarithms(probabilities, smallest, size, beta):
    return np.exp(beta * (np.log(smallest) - np.log(probabilities)))


def weights_in_torch(probabilities, smallest, size, beta):
    weights = (size * torch.tensor(probabilities).float()).pow(-beta)
    return weights / (size * smallest) ** -beta


# --- 4.5 linear_schedule --------------------------------------------------------------------------


def schedule_with_an_if(step, steps, start, end):
    if step >= steps:
        return end
    fraction = step / steps
    return (1 - fraction) * start + fraction * end


def schedule_by_interpolation(step, steps, start, end):
    return np.interp(step, [0, steps], [start, end])


def schedule_by_clipping(step, steps, start, end):
    return start + (end - start) * np.clip(step / steps, 0, 1)


def schedule_from_the_end(step, steps, start, end):
    left = max(steps - step, 0) / steps
    return end - left * (end - start)


def schedule_by_counting(step, steps, start, end):
    value = start
    for _ in range(min(step, steps)):
        value += (end - start) / steps
    return value


def schedule_in_torch(step, steps, start, end):
    return torch.lerp(torch.tensor(start), torch.tensor(end), min(step, steps) / steps).item()


# --- 4.6 SegmentTree ------------------------------------------------------------------------------


class TreePlaceByPlace(SegmentTree):
    """Climbs to node 1, whatever the top level is: what lies above that is never looked at."""

    def set(self, indices, values):
        for index, value in zip(indices, values, strict=True):
            node = index + self.first_leaf
            self.nodes[node] = value
            while node > 1:
                node //= 2
                self.nodes[node] = self.operation(self.nodes[2 * node], self.nodes[2 * node + 1])


class TreeByReducing(SegmentTree):
    def set(self, indices, values):
        self.leaves[indices] = values
        parents = (self.first_leaf + indices) >> 1
        while parents.min() >= self.first_node:
            self.nodes[parents] = self.operation.reduce(self.pairs[parents], axis=1)
            parents >>= 1


class TreeOfDifferentParents(SegmentTree):
    """Each parent once."""

    def set(self, indices, values):
        changed = self.first_leaf + indices
        self.nodes[changed] = values
        for _ in range(self.depth):
            changed = np.unique(changed // 2)
            left, right = self.nodes[changed * 2], self.nodes[changed * 2 + 1]
            self.nodes[changed] = self.operation(left, right)


class TreeFromBelow(SegmentTree):
    """All parents of all leaves in one list, the lowest first: no levels."""

    def set(self, indices, values):
        above = set()
        for index, value in dict(zip(indices.tolist(), values.tolist(), strict=True)).items():
            node = self.first_leaf + index
            self.nodes[node] = value
            while (node := node // 2) >= self.first_node:
                above.add(node)
        for node in sorted(above, reverse=True):
            self.nodes[node] = self.operation(*self.nodes[2 * node : 2 * node + 2])


class TreeByRecursion(SegmentTree):
    def set(self, indices, values):
        for i in range(len(indices)):
            self.update(self.first_leaf + indices[i], values[i])

    def update(self, node, value):
        self.nodes[node] = value
        if node // 2 >= self.first_node:
            sibling = self.nodes[node ^ 1]
            self.update(node // 2, self.operation(value, sibling))


class TreeWithSiblings(SegmentTree):
    """The node itself and the one beside it, in either order."""

    def set(self, indices, values):
        nodes = np.add(indices, self.first_leaf)
        np.put(self.nodes, nodes, values)
        for _ in range(self.depth):
            new = self.operation(self.nodes[nodes], self.nodes[nodes ^ 1])
            nodes = nodes // 2
            self.nodes[nodes] = new


# --- 4.7 SumTree ----------------------------------------------------------------------------------


class SumsDrawByDraw(SumTree):
    def retrieve(self, prefix_sums):
        nodes, rest = self.enter(prefix_sums)
        places = []
        for node, left_to_find in zip(nodes, rest, strict=True):
            while node < self.first_leaf:
                left, right = 2 * node, 2 * node + 1
                if left_to_find < self.nodes[left] or self.nodes[right] == 0:
                    node = left
                else:
                    left_to_find -= self.nodes[left]
                    node = right
            places.append(node - self.first_leaf)
        return np.array(places)


class SumsByRecursion(SumTree):
    def retrieve(self, prefix_sums):
        pairs = zip(*self.enter(prefix_sums), strict=True)
        return np.array([self.down(int(node), rest) for node, rest in pairs], dtype=np.int64)

    def down(self, node, rest):
        if node >= self.first_leaf:
            return node - self.first_leaf
        left, right = self.pairs[node]
        if rest >= left and right > 0:
            return self.down(2 * node + 1, rest - left)
        return self.down(2 * node, rest)


class SumsByWhere(SumTree):
    def retrieve(self, prefix_sums):
        nodes, rest = self.enter(prefix_sums)
        for _ in range(self.depth):
            left = self.nodes[2 * nodes]
            go_left = np.logical_or(rest < left, self.nodes[2 * nodes + 1] == 0)
            nodes = np.where(go_left, 2 * nodes, 2 * nodes + 1)
            rest = np.where(go_left, rest, rest - left)
        return nodes - self.first_leaf


class SumsBelowEachSum(SumTree):
    """What is left to find is kept below the sum of the node: the same safety in another place."""

    def retrieve(self, prefix_sums):
        nodes, rest = self.enter(prefix_sums)
        while nodes[0] < self.first_leaf:
            rest = np.minimum(rest, np.nextafter(self.nodes[nodes], 0))
            left = self.pairs[nodes][:, 0]
            right = rest >= left
            rest[right] -= left[right]
            nodes = nodes * 2 + right.astype(int)
        return nodes % self.first_leaf


class SumsFromTheRight(SumTree):
    """What lies between a draw and the total, found from the other end."""

    def retrieve(self, prefix_sums):
        nodes, rest = self.enter(prefix_sums)
        for _ in range(self.depth):
            nodes = 2 * nodes + 1
            left, right = self.nodes[nodes - 1], self.nodes[nodes]
            stays = (left <= rest) & (right != 0)
            rest = rest - left * stays
            nodes = nodes - ~stays
        return np.subtract(nodes, self.first_leaf)


# --- 4.9 n_step_return ---------------------------------------------------------------------------


def n_step_row_by_row(rewards, ends, gamma):
    sums, lengths = [], []
    for row, flags in zip(rewards, ends, strict=True):
        total, discount, k = 0.0, 1.0, 0
        for reward, end in zip(row, flags, strict=True):
            total += discount * reward
            discount *= gamma
            k += 1
            if end:
                break
        sums.append(total)
        lengths.append(k)
    return sums, lengths


def n_step_from_the_back(rewards, ends, gamma):
    total, lengths = np.zeros(len(rewards)), np.zeros(len(rewards), dtype=int)
    for i in reversed(range(rewards.shape[1])):
        total = rewards[:, i] + gamma * total * (1 - ends[:, i])
        lengths = 1 + lengths * (1 - ends[:, i])
    return total, lengths


def n_step_by_counting_ends(rewards, ends, gamma):
    """A step counts as long as no end lies before it."""
    before = np.cumsum(ends, axis=1) - ends
    alive = before == 0
    discounts = np.power(gamma, np.arange(rewards.shape[1]))
    return (rewards * alive * discounts).sum(axis=1), alive.sum(axis=1)


def n_step_in_torch(rewards, ends, gamma):
    rewards, ends = torch.as_tensor(rewards), torch.as_tensor(ends)
    go_on = torch.cumprod(1 - ends.float(), dim=1)
    alive = torch.cat([torch.ones(len(rewards), 1), go_on[:, :-1]], dim=1)
    weights = torch.tensor([gamma**i for i in range(rewards.shape[1])])
    return (rewards * alive) @ weights, alive.sum(dim=1).long()


def n_step_step_by_step(rewards, ends, gamma):
    alive, total = np.ones(len(rewards), dtype=bool), np.zeros(len(rewards))
    lengths = np.zeros(len(rewards))
    for i in range(rewards.shape[1]):
        total[alive] += gamma**i * rewards[alive, i]
        lengths += alive
        alive = alive & ~ends[:, i]
    return total, lengths


RIGHT_ANSWERS_PER = {
    "4.3": [
        probabilities_by_a_list,
        probabilities_by_a_loop,
        probabilities_by_logarithms,
        probabilities_of_shares,
        probabilities_in_torch,
    ],
    "4.4": [
        weights_without_n,
        weights_as_in_the_paper,
        weights_by_a_list,
        weights_of_one_more,
        weights_by_logarithms,
        weights_in_torch,
    ],
    "4.5": [
        schedule_with_an_if,
        schedule_by_interpolation,
        schedule_by_clipping,
        schedule_from_the_end,
        schedule_by_counting,
        schedule_in_torch,
    ],
    "4.6": [
        TreePlaceByPlace,
        TreeByReducing,
        TreeOfDifferentParents,
        TreeFromBelow,
        TreeByRecursion,
        TreeWithSiblings,
    ],
    "4.7": [
        SumsDrawByDraw,
        SumsByRecursion,
        SumsByWhere,
        SumsBelowEachSum,
        SumsFromTheRight,
    ],
    "4.9": [
        n_step_row_by_row,
        n_step_from_the_back,
        n_step_by_counting_ends,
        n_step_in_torch,
        n_step_step_by_step,
    ],
}
