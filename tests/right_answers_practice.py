"""Right answers to the exercises of lesson 05, written differently."""

import copy
import itertools
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents import checkpoint
from helpers.agents.cloning import some_episodes
from helpers.demos.files import ARRAYS, Demos
from helpers.envs.make import make_env
from helpers.evaluation import evaluate
from helpers.training.callbacks import Evaluate
from helpers.training.probes import ProbeEnv, observation

# --- 5.1 play_episodes ----------------------------------------------------------------------------


def played_with_lists(policy, env, episodes, seed):
    returns, lengths = [], []
    with make_env(env) as arena:
        for start in range(seed, seed + episodes):
            observation, _ = arena.reset(seed=start)
            rewards = []
            while True:
                observation, reward, terminated, truncated, _ = arena.step(policy(observation))
                rewards += [reward]
                if terminated or truncated:
                    break
            returns.append(sum(rewards))
            lengths.append(len(rewards))
    return returns, lengths


def played_by_a_function_for_each(policy, env, episodes, seed):
    def play(start):
        arena = make_env(env)
        try:
            obs, done, total, steps = arena.reset(seed=start)[0], [False], 0, 0
            while not any(done):
                obs, reward, *done, _ = arena.step(policy(obs))
                total, steps = total + reward, steps + 1
            return total, steps
        finally:
            arena.close()

    return np.array([play(seed + i) for i in range(episodes)]).T


def played_backwards(policy, env, episodes, seed):
    """With a copy, an extra reset, and print-outs."""
    arena = make_env(env) if isinstance(env, str) else copy.deepcopy(env)
    table = torch.zeros(2, episodes, dtype=torch.float64)
    try:
        arena.reset()
        for i in reversed(range(episodes)):
            obs, _ = arena.reset(seed=seed + i)
            terminated = truncated = False
            while not terminated and not truncated:
                action = policy(obs)
                obs, reward, terminated, truncated, _ = arena.step(action)
                table[:, i] += torch.tensor([float(reward), 1.0], dtype=torch.float64)
            print(f"episode {i}: {table[0, i]:.1f}")
    finally:
        arena.close()
    return table[0].numpy(), table[1].int().numpy()


# --- 5.2 interquartile_mean -----------------------------------------------------------------------


def mean_of_a_moved_axis(values, axis=0):
    runs = np.moveaxis(np.array(values, dtype=float), axis, 0)
    if not len(runs):
        raise ValueError("Give me at least one run.")
    runs.sort(axis=0)
    quarter = len(runs) // 4
    return runs[quarter : len(runs) - quarter].mean(axis=0)


def mean_in_torch(values, axis=0):
    runs = torch.as_tensor(values, dtype=torch.float64).sort(dim=axis).values
    n = runs.shape[axis]
    if n < 1:
        raise ValueError("no runs")
    return runs.narrow(axis, int(n / 4), n - 2 * int(n / 4)).mean(dim=axis)


def mean_by_a_slice_for_each_axis(values, axis=0):
    values = np.asarray(values)
    n = values.shape[axis]
    if n == 0:
        raise ValueError(f"{n} runs")
    keep = [slice(None)] * values.ndim
    keep[axis] = slice(n // 4, -(n // 4) or None)
    kept = np.sort(values, axis)[tuple(keep)]
    return kept.sum(axis) / kept.shape[axis]


def mean_of_each_line(values, axis=0):
    def of_one(line):
        line = sorted(line)
        while_over = len(line) // 4
        for _ in range(while_over):
            line.pop(0)
            line.pop()
        return sum(line) / len(line)

    if np.shape(values)[axis] == 0:
        raise ValueError("nothing to average")
    return np.apply_along_axis(of_one, axis, values)


# --- 5.4 hidden_layers ----------------------------------------------------------------------------


def layers_by_pairs(n_inputs, sizes, layer_norm=False):
    modules = nn.Sequential()
    for before, after in zip([n_inputs, *sizes], sizes, strict=False):
        modules.append(nn.Linear(before, after))
        modules.append(nn.LayerNorm(after) if layer_norm else nn.Identity())
        modules.append(nn.ReLU(inplace=True))
    return modules


def layers_in_blocks(n_inputs, sizes, layer_norm=False):
    relu, blocks = nn.ReLU(), []
    for size in sizes:
        block = [nn.LazyLinear(size), *([nn.LayerNorm([size])] if layer_norm else []), relu]
        blocks.append(nn.Sequential(*block))
    network = nn.Sequential(*blocks)
    network(torch.zeros(1, n_inputs))
    return network


class Stack(nn.Module):
    """Functions in place of modules, norms declared before layers."""

    def __init__(self, n_inputs, sizes, layer_norm):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in sizes) if layer_norm else None
        widths = [n_inputs, *sizes]
        self.linear = nn.ModuleList(nn.Linear(*pair) for pair in itertools.pairwise(widths))

    def forward(self, x):
        for number, linear in enumerate(self.linear):
            x = linear(x)
            x = x if self.norms is None else self.norms[number](x)
            x = F.relu(x)
        return x


def layers_as_a_class(n_inputs, sizes, layer_norm=False):
    return Stack(n_inputs, sizes, layer_norm)


class Normed(nn.Module):
    """Layer normalisation by hand."""

    def __init__(self, size):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias


def layers_with_a_norm_by_hand(n_inputs, sizes, layer_norm=False):
    def some(n_inputs, sizes):
        if not sizes:
            return []
        norm = [Normed(sizes[0])] if layer_norm else []
        return [nn.Linear(n_inputs, sizes[0]), *norm, nn.ReLU(), *some(sizes[0], sizes[1:])]

    layers = nn.Sequential(*some(n_inputs, list(sizes)))
    for layer in layers:
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight)
    return layers


# --- 5.3 Evaluate ---------------------------------------------------------------------------------


class EvaluateInSteps(Evaluate):
    """Every setting by its name, the file by the agent's own `save`, `>=` in place of `>`."""

    def __call__(self, agent):
        if not self.milestones.reached(agent.steps):
            return
        self.evaluate(agent)

    def evaluate(self, agent):
        result = evaluate(policy=agent, env=self.env, episodes=self.episodes, seed=self.seed)
        point = (agent.steps, result)
        self.curve += [point]
        previous_best = float("-inf") if self.best is None else self.best[1].mean
        if result.mean >= previous_best:
            self.best = point
            self.best_contents = copy.deepcopy(checkpoint.contents(agent, False))
            if self.path:
                agent.save(self.path)
        return result


class EvaluateByTheCurve(Evaluate):
    """The best is looked for in the whole curve; a call gives the result, which ends nothing."""

    def __call__(self, agent):
        return self.evaluate(agent) if self.milestones.reached(agent.steps) else None

    def evaluate(self, agent):
        self.curve.append((agent.steps, evaluate(agent, self.env, self.episodes, self.seed)))
        best = max(self.curve, key=lambda point: sum(point[1].returns))
        if best is self.curve[-1]:
            self.best = best
            contents = checkpoint.contents(agent, replay=False)
            self.best_contents = {**contents, "state": copy.deepcopy(contents["state"])}
            if self.path is not None:
                checkpoint.write(self.path, checkpoint.contents(agent, replay=False))
        return self.curve[-1][1]


# --- 5.5 TwoStepProbe -----------------------------------------------------------------------------


class ProbeByATable(ProbeEnv):
    steps = ((1, 0, False), (0, 1, True))

    def reset(self, *, seed=None, options=None):
        self.left = list(self.steps)
        return np.full(1, -1, dtype=np.float32), {"left": 2}

    def step(self, action):
        shown, reward, over = self.left.pop(0)
        return observation(shown), reward, over, False, {"left": len(self.left)}


class ProbeByAFlag(ProbeEnv):
    def reset(self, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.second = False
        return observation(-1), {}

    def step(self, action):
        terminated, self.second = self.second, True
        obs = observation(0) if terminated else observation(1.0)
        return obs, float(terminated), terminated, False, {}


# --- 5.6 split_episodes ---------------------------------------------------------------------------


def split_by_a_shuffled_list(demos, validation, rng):
    n = len(demos.episodes)
    if validation <= 0 or validation >= 1:
        raise ValueError("a share between 0 and 1, please")
    if n == 1:
        raise ValueError("one episode is not enough")
    numbers = list(range(n))
    rng.shuffle(numbers)
    aside = int(np.clip(int(n * validation), 1, n - 1))
    return some_episodes(demos, numbers[:-aside]), some_episodes(demos, numbers[-aside:])


def split_by_a_block(demos, validation, rng):
    """Neighbours, from a place that chance decides."""
    n = len(demos.episodes)
    if n < 2 or not 0 < validation < 1:
        raise ValueError("a share between 0 and 1 of two episodes or more, please")
    aside = min(max(1, round(validation * n)), n - 1)
    start = int(rng.integers(n - aside + 1))
    block = range(start, start + aside)
    rest = [number for number in range(n) if number not in block]
    return some_episodes(demos, rest), some_episodes(demos, block)


def split_by_a_mask(demos, validation, rng):
    n = len(demos.episodes)
    if not (0 < validation < 1 and n >= 2):
        raise ValueError("nothing to split")
    aside = min(n - 1, math.ceil(n * validation))
    mask = np.zeros(n, dtype=bool)
    mask[rng.choice(n, size=aside, replace=False)] = True
    return [some_episodes(demos, np.flatnonzero(which)) for which in (~mask, mask)]


def split_of_arrays(demos, validation, rng):
    """Without `some_episodes`."""
    n = len(demos.episodes)
    if n < 2 or not 0 < validation < 1:
        raise ValueError("no")
    order, aside = rng.permutation(n), max(1, min(n - 1, round(n * validation)))

    def part(numbers):
        rows = np.concatenate([np.arange(len(demos))[demos.episodes[i]] for i in numbers])
        return Demos(demos.env_id, demos.maker, *(getattr(demos, name)[rows] for name in ARRAYS))

    return part(order[:-aside]), part(order[n - aside :])


# --- 5.7 early_stopping ---------------------------------------------------------------------------


def stop_by_index(losses, patience):
    best = losses.index(min(losses))
    return len(losses) > best + patience, best


def stop_by_a_loop(losses, patience):
    best, lowest, since = 0, math.inf, 0
    for epoch, loss in enumerate(losses):
        if loss < lowest:
            best, lowest, since = epoch, loss, 0
        else:
            since += 1
    stop = False
    if since >= patience:
        stop = True
    return stop, best


def stop_by_numpy(losses, patience):
    losses = np.array(losses)
    best = losses.argmin()
    return np.all(losses[-patience:] >= losses[best]) & (best < len(losses) - patience), best


RIGHT_ANSWERS_PRACTICE = {
    "5.1": [played_with_lists, played_by_a_function_for_each, played_backwards],
    "5.2": [
        mean_of_a_moved_axis,
        mean_in_torch,
        mean_by_a_slice_for_each_axis,
        mean_of_each_line,
    ],
    "5.3": [EvaluateInSteps, EvaluateByTheCurve],
    "5.4": [ProbeByATable, ProbeByAFlag],
    "5.6": [split_by_a_shuffled_list, split_by_a_block, split_by_a_mask, split_of_arrays],
    "5.7": [stop_by_index, stop_by_a_loop, stop_by_numpy],
    "5.5": [layers_by_pairs, layers_in_blocks, layers_as_a_class, layers_with_a_norm_by_hand],
}
