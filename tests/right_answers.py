"""Differently written right answers: every exercise must accept all of its own.

One list per exercise. Write them as students do: another order, another library, another type.
"""

import numpy as np
import torch

# --- 0.1 discounted_returns -----------------------------------------------------------------------


def returns_by_a_list(rewards, gamma):
    returns = []
    total = 0
    for reward in rewards[::-1]:
        total = reward + gamma * total
        returns.insert(0, total)
    return returns


def returns_by_recursion(rewards, gamma):
    if len(rewards) == 0:
        return np.array([])
    rest = returns_by_recursion(rewards[1:], gamma)
    following = rest[0] if len(rest) else 0.0
    return np.concatenate([[rewards[0] + gamma * following], rest])


def returns_by_a_matrix(rewards, gamma):
    steps = np.arange(len(rewards))
    ahead = steps[None, :] - steps[:, None]
    weights = np.where(ahead >= 0, float(gamma) ** np.maximum(ahead, 0), 0.0)
    return weights @ rewards


def returns_by_the_definition(rewards, gamma):
    return [
        sum(gamma**k * reward for k, reward in enumerate(rewards[t:])) for t in range(len(rewards))
    ]


def returns_in_float32_tensors(rewards, gamma):
    rewards = torch.as_tensor(rewards, dtype=torch.float32)
    returns = torch.zeros(len(rewards))
    returns[-1] = rewards[-1]
    for t in range(len(rewards) - 2, -1, -1):
        returns[t] = rewards[t] + gamma * returns[t + 1]
    return returns


def returns_in_a_copy(rewards, gamma):
    returns = rewards.astype(float)
    for t in range(len(rewards) - 1, 0, -1):
        returns[t - 1] += gamma * returns[t]
    return returns


RIGHT_ANSWERS = {
    "0.1": [
        returns_by_a_list,
        returns_by_recursion,
        returns_by_a_matrix,
        returns_by_the_definition,
        returns_in_float32_tensors,
        returns_in_a_copy,
    ],
}
