"""Lesson 04's checks of prioritized sampling name mistakes as students write them."""

import inspect
import math
import re
import warnings
from collections import Counter

import numpy as np
import pytest
import torch
from right_answers_per import RIGHT_ANSWERS_PER

from helpers.checks.core import judge
from helpers.checks.n_step import N_STEP_RETURN
from helpers.checks.per_sampling import (
    IMPORTANCE_WEIGHTS,
    LINEAR_SCHEDULE,
    SAMPLING_PROBABILITIES,
)
from helpers.checks.per_trees import SEGMENT_TREE, SUM_TREE, fill
from helpers.checks.running import Raised, expected
from helpers.memory import buffers
from helpers.memory.segment_tree import (
    MinTree,
    SegmentTree,
    SumTree,
    check_places,
    check_priorities,
)
from tools.sources import blank, giveaways, leak

EXERCISES = {
    exercise.id: exercise
    for exercise in (
        SAMPLING_PROBABILITIES, IMPORTANCE_WEIGHTS, LINEAR_SCHEDULE, SEGMENT_TREE, SUM_TREE,
        N_STEP_RETURN,
    )
}  # fmt: skip
each = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.id)


def function(name, arguments, lines, **scope):
    """A function from somebody's lines."""
    scope = {"np": np, "math": math, "torch": torch, **scope}
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    exec(f"def {name}({arguments}):\n{body}", scope)
    return scope[name]


# --- As students write them -----------------------------------------------------------------------


def probabilities(expression):
    """p are the priorities, a is alpha."""
    return function("sampling_probabilities", "priorities, alpha",
                    f"p, a = priorities, alpha\nreturn {expression}")  # fmt: skip


def weights(above, below=None, end="above / below"):
    """p are the probabilities, m the smallest, n the size, b is beta; by default both alike."""
    below = below or above.replace("p", "m")
    return function("importance_weights", "probabilities, smallest, size, beta",
                    f"p, m, n, b = probabilities, smallest, size, beta\n"
                    f"above, below = {above}, {below}\nreturn {end}")  # fmt: skip


def schedule(lines):
    """t is the step, n the number of steps, a the start, b the end."""
    return function("linear_schedule", "step, steps, start, end",
                    f"t, n, a, b = step, steps, start, end\n{lines}")  # fmt: skip


def one_of_the_calls():
    """Beta as an attribute that every call moves on."""
    state = {}

    def linear_schedule(step, steps, start, end):
        if step == 0:
            state["beta"] = start
        else:
            state["beta"] += (end - start) / steps
        return state["beta"]

    return linear_schedule


def tree(leaf="self.first_leaf + i", put="self.nodes[node] = value", going="node > self.first_node",
         up="node // 2", holds="self.operation(self.nodes[2 * node], self.nodes[2 * node + 1])",
         before=""):  # fmt: skip
    """Place by place: i is the place, value its priority."""
    set_ = function(
        "set", "self, indices, values",
        f"for i, value in zip(indices, values):\n    node = {leaf}\n    {before or 'pass'}\n"
        f"    {put}\n    while {going}:\n        node = {up}\n        self.nodes[node] = {holds}",
    )  # fmt: skip
    return type("SegmentTree", (SegmentTree,), {"set": set_})


def tree_at_once(nodes="self.first_leaf + indices", put="self.nodes[nodes] = values",
                 levels="self.depth", up="nodes = nodes // 2", after="pass",
                 holds="self.operation(children[:, 0], children[:, 1])"):  # fmt: skip
    """All places of a batch level by level."""
    set_ = function(
        "set", "self, indices, values",
        f"nodes = {nodes}\n{put}\nfor _ in range({levels}):\n    {up}\n"
        f"    children = self.pairs[nodes]\n    self.nodes[nodes] = {holds}\n{after}",
    )  # fmt: skip
    return type("SegmentTree", (SegmentTree,), {"set": set_})


def sums(start="self.enter(prefix_sums)", way="(rest >= left) & (right > 0)",
         less="rest = rest - left * way", down="2 * nodes + way", levels="self.depth",
         result="nodes - self.first_leaf"):  # fmt: skip
    """All draws of a batch level by level."""
    retrieve = function(
        "retrieve", "self, prefix_sums",
        f"nodes, rest = {start}\nfor _ in range({levels}):\n"
        "    left, right = self.nodes[2 * nodes], self.nodes[2 * nodes + 1]\n"
        f"    way = {way}\n    {less}\n    nodes = {down}\nreturn {result}",
    )  # fmt: skip
    return type("SumTree", (SumTree,), {"retrieve": retrieve})


def sums_draw_by_draw(start="self.enter(prefix_sums)", inside="rest < left or right == 0",
                      less="rest -= left", to_left="2 * node", to_right="2 * node + 1",
                      going="node < self.first_leaf", place="node - self.first_leaf",
                      result="np.array(places)"):  # fmt: skip
    """One draw after the other."""
    retrieve = function(
        "retrieve", "self, prefix_sums",
        f"places = []\nfor node, rest in zip(*{start}):\n    while {going}:\n"
        "        left, right = self.nodes[2 * node], self.nodes[2 * node + 1]\n"
        f"        if {inside}:\n            node = {to_left}\n        else:\n"
        f"            {less}\n            node = {to_right}\n"
        f"    places.append({place})\nreturn {result}",
    )  # fmt: skip
    return type("SumTree", (SumTree,), {"retrieve": retrieve})


def window(first="1.0", steps="range(n)", before="pass", term="discount * rewards[b, i]",
           count="k[b] += 1", stop="if ends[b, i]: break", discount="discount *= gamma",
           result="total, k"):  # fmt: skip
    """Row by row and step by step."""
    return function(
        "n_step_return", "rewards, ends, gamma",
        "B, n = rewards.shape\ntotal, k = np.zeros(B), np.zeros(B, int)\nfor b in range(B):\n"
        f"    discount = {first}\n    for i in {steps}:\n        {before}\n"
        f"        total[b] += {term}\n        {count}\n        {discount}\n        {stop}\n"
        f"return {result}",
    )  # fmt: skip


def windows(stops="np.column_stack([ends[:, :-1], np.ones(len(ends), bool)])",
            k="stops.argmax(1) + 1", mask="np.arange(n) < k[:, None]", powers="np.arange(n)",
            result="(rewards * mask * gamma ** powers).sum(1), k"):  # fmt: skip
    """All rows at once."""
    return function(
        "n_step_return", "rewards, ends, gamma",
        f"gamma = float(gamma)\nn = rewards.shape[1]\nstops = {stops}\nk = {k}\nmask = {mask}\n"
        f"powers = {powers}\nreturn {result}",
    )  # fmt: skip


FROM_THE_ROOT = "(np.ones(len(prefix_sums), int), np.array(prefix_sums))"
DIFFERENCE = "change = value - self.nodes[node]"


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("4.3", probabilities("(p / np.sum(p)) ** a"), "alpha after the shares"),
        ("4.3", probabilities("p**a / p.sum()**a"), "alpha after the shares"),
        ("4.3", probabilities("p / p.sum()"), "alpha not used"),
        ("4.3", probabilities("a * p / (a * p).sum()"), "alpha as a factor"),
        ("4.3", probabilities("np.array([a * x for x in p]) / sum(a * x for x in p)"),
         "alpha as a factor"),
        ("4.3", probabilities("p**a / sum(p)"), "divided by the sum of the priorities"),
        ("4.3", probabilities("p / np.power(p, a).sum()"), "power in the sum only"),
        ("4.3", probabilities("np.power(p, a)"), "not divided"),
        ("4.3", probabilities("p**a / max(p**a)"), "divided by the largest"),
        ("4.3", probabilities("p**a / np.mean(p**a)"), "divided by the mean"),
        ("4.3", probabilities("p**a / len(p)"), "divided by their number"),
        ("4.3", probabilities("p**a / np.sqrt(((p**a) ** 2).sum())"), "divided by the length of"),
        ("4.3", probabilities("p**(1/a) / (p**(1/a)).sum()"), "1 / alpha"),
        ("4.3", probabilities("p**(1-a) / (p**(1-a)).sum()"), "1 - alpha"),
        ("4.3", probabilities("p**-a / (p**-a).sum()"), "minus alpha"),
        ("4.3", probabilities("(1/p)**a / ((1/p)**a).sum()"), "minus alpha"),
        ("4.3", probabilities("p**0.6 / sum(p**0.6)"), "alpha always 0.6"),
        ("4.3", probabilities("torch.softmax(torch.tensor(p), 0)"), "softmax"),
        ("4.3", probabilities("torch.tensor(a * p).softmax(0).numpy()"), "softmax of alpha times"),
        ("4.3", probabilities("np.exp(p**a) / np.exp(p**a).sum()"), "softmax of the powers"),
        ("4.3", probabilities("np.array([1 / (1 + (p > x).sum()) for x in p]) ** a / "
                              "sum(np.array([1 / (1 + (p > x).sum()) for x in p]) ** a)"),
         "by rank"),
        ("4.3", probabilities("(1 - a) / len(p) + a * p / p.sum()"), "mixed with equal chances"),
        ("4.3", probabilities("np.cumsum(p**a / (p**a).sum())"), "added up along the way"),
        ("4.3", probabilities("p**a / sum(p[i]**a for i in range(len(p) - 1))"),
         "the newest left out of the sum"),
        ("4.3", probabilities("p**a / (p[:-1]**a).sum()"), "the newest left out of the sum"),
        ("4.3", probabilities("np.append(p[:-1]**a, 0) / (p[:-1]**a).sum()"), "the newest never"),
        ("4.3", probabilities("(p**a / (p**a).sum())[:, None]"), "shape"),
        ("4.3", probabilities("p ^ a"), "^ for a power"),
        ("4.3", probabilities("(p ^ a) / (p ^ a).sum()"), "^ for a power"),
        ("4.4", weights("(n * p) ^ -b"), "^ for a power"),
        ("4.4", weights("(n * p) ** -b", end="above * below"), "the minus only in the weights"),
        ("4.4", weights("(n * p) ** b", end="above / above.max()"),
         "upside down, and divided by the largest of the batch"),
        ("4.4", weights("(n * p) ** -b", end="above"), "not divided by the largest"),
        ("4.4", weights("(1 / (n * p)) ** b", end="above"), "not divided by the largest"),
        ("4.4", weights("p ** -b", end="above"), "neither N nor the largest"),
        ("4.4", weights("p ** -b", "(n * m) ** -b"), "N only in the largest"),
        ("4.4", weights("(1 / p) ** b", "(1 / (n * m)) ** b"), "N only in the largest"),
        ("4.4", weights("(n * p) ** -b", "m ** -b"), "N only in the weights"),
        ("4.4", weights("n * p ** -b", "(n * m) ** -b"), "N outside of the power"),
        ("4.4", weights("1 / n * (1 / p) ** b", "(n * m) ** -b"), "1 / N outside of the power"),
        ("4.4", weights("(len(p) * p) ** -b", "(n * m) ** -b"), "the size of the batch"),
        ("4.4", weights("(n * p) ** -b", end="above / max(above)"), "the largest of the batch"),
        ("4.4", weights("p ** -b", end="above / above.max()"), "the largest of the batch"),
        ("4.4", weights("(n * p) ** -b", end="above / above.min()"), "divided by the smallest we"),
        ("4.4", weights("(n * p) ** -b", "(n * p.max()) ** -b"), "divided by the smallest weight"),
        ("4.4", weights("(n * p) ** -b", "p.max()"), "divided by the largest probability"),
        ("4.4", weights("(n * p) ** -b", "m"), "divided by the smallest probability"),
        ("4.4", weights("(n * p) ** -b", "n * m"), "divided by N times the smallest probability"),
        ("4.4", weights("(n * p) ** -b", "1 / (n * m)"), "no beta in the largest"),
        ("4.4", weights("1 / (n * p)", "(n * m) ** -b"), "no beta in the weights"),
        ("4.4", weights("(n * p) ** b"), "upside down"),
        ("4.4", weights("-(n * p) ** b"), "upside down"),
        ("4.4", weights("(n * p) ** -b", end="below / above"), "upside down"),
        ("4.4", weights("(n * p) ** b", "(n * m) ** -b"), "the minus only in the largest"),
        ("4.4", weights("(n * p) ** -b", "(n * m) ** b"), "the minus only in the weights"),
        ("4.4", weights("1 / (n * p)"), "beta not used"),
        ("4.4", weights("1 / (n * p * b)"), "beta as a factor"),
        ("4.4", weights("(n * p) ** (b - 1)"), "1 - beta"),
        ("4.4", weights("(n * p) ** (-1 / b)"), "1 / beta"),
        ("4.4", weights("p ** -0.4"), "beta always 0.4"),
        ("4.4", weights("p ** -b", end="above / sum(above)"), "divided by the sum"),
        ("4.4", weights("p ** -b", end="above / np.mean(above)"), "divided by the mean"),
        ("4.4", weights("(n * p) ** -b", end="np.clip(above, 0, 1)"), "cut off at 1"),
        ("4.4", weights("(n * p) ** -b", end="above - below"), "the largest subtracted"),
        ("4.4", weights("(n * p) ** -b", end="1 - above / below"), "1 minus the weights"),
        ("4.4", weights("(n * p) ** -b", end="below"), "the largest weight alone"),
        ("4.4", weights("p ** b", end="above / above.sum()"), "probabilities again"),
        ("4.4", weights("(n * p) ** -b", end="np.ones(len(p))"), "no correction"),
        ("4.4", weights("(n * p) ** -b", end="(above / below).mean()"), "shape"),
        ("4.5", schedule("return a + t / n * (b - a)"), "goes on after the end"),
        ("4.5", schedule("return b - min(t / n, 1) * (b - a)"), "start and end exchanged"),
        ("4.5", schedule("return a + (1 - min(t / n, 1)) * (b - a)"), "start and end exchanged"),
        ("4.5", schedule("f = min(t / n, 1)\nreturn a * f + b * (1 - f)"), "start and end exch"),
        ("4.5", schedule("return a + min(t // n, 1) * (b - a)"), "whole numbers only"),
        ("4.5", schedule("return b if t >= n else a"), "whole numbers only"),
        ("4.5", schedule("return a + int(min(t / n, 1)) * (b - a)"), "whole numbers only"),
        ("4.5", schedule("return int(a + min(t / n, 1) * (b - a))"), "int around the value"),
        ("4.5", schedule("return round(a + min(t / n, 1) * (b - a))"), "rounded"),
        ("4.5", schedule("if t >= n: return 0\nreturn a + (b - a) * t / n"), "0 from the end on"),
        ("4.5", schedule("if t > n: return 0\nreturn a + (b - a) * t / n"), "0 after the end"),
        ("4.5", schedule("if t >= n: return 1\nreturn a + (b - a) * t / n"), "1 after the end"),
        ("4.5", schedule("if t > n: return 1.0\nreturn a + (b - a) * t / n"), "1 after the end"),
        ("4.5", schedule("if t == 0: return 0\nreturn a + min(t / n, 1) * (b - a)"),
         "0 at the beginning"),
        ("4.5", schedule("return float(np.clip(a + t / n * (b - a), a, b))"),
         "clipped between start and end"),
        ("4.5", schedule("return max(a, min(b, a + t / n * (b - a)))"),
         "clipped between start and end, from above first"),
        ("4.5", schedule("return a + max(1, t / n) * (b - a)"), "max in place of min"),
        ("4.5", schedule("return min(1.0, a + t * (b - a) / n)"), "cut off at 1"),
        ("4.5", schedule("return min(b, a + t * (b - a) / n)"), "cut off from above only"),
        ("4.5", schedule("return max(b, a + t * (b - a) / n)"), "cut off from below only"),
        ("4.5", schedule("return a + min(t / n, 1) * b"), "the whole end added"),
        ("4.5", schedule("return a - min(t / n, 1) * (b - a)"), "the difference turned over"),
        ("4.5", schedule("return a + min(t / n, 1) * abs(a - b)"), "the difference without its s"),
        ("4.5", schedule("return a + min(t / n, 1) * (1 - a)"), "always towards 1"),
        ("4.5", schedule("return min(t / n, 1) * (b - a)"), "start left out"),
        ("4.5", schedule("return min(t / n, 1) * b"), "a share of the end"),
        ("4.5", schedule("return min(1, t / n)"), "only the share of the way"),
        ("4.5", schedule("return a + min(t, 1) * (b - a)"), "steps not used"),
        ("4.5", schedule("return a + t * (b - a)"), "steps not used, nor an end"),
        ("4.5", schedule("return a + min((1 + t) / n, 1) * (b - a)"), "one step ahead"),
        ("4.5", schedule("return np.linspace(a, b, n)[min(t, n - 1)]"), "steps - 1"),
        ("4.5", schedule("return np.linspace(a, b, n + 1)[t]"), "error"),
        ("4.5", schedule("return np.linspace(a, b, n + 2)[min(t, n + 1)]"), "steps + 1"),
        ("4.5", schedule("beta = a\nfor i in range(t + 1):\n"
                         "    beta = beta + min(i / n, 1.0) * (b - beta)\nreturn beta"),
         "compounds"),
        ("4.5", schedule("beta = a\nfor _ in range(t):\n    beta += (b - beta) / n\nreturn beta"),
         "a share of what is left at every step"),
        ("4.5", schedule("return a * (b / a) ** min(t / n, 1)"), "the same factor at every step"),
        ("4.5", one_of_the_calls(), "adds to what it gave last"),
        ("4.5", schedule("return a + min(t * t / (n * n), 1) * (b - a)"), "a curve"),
        ("4.5", schedule("f = min(t / n, 1)\n"
                         "return b + (a - b) * (1 + math.cos(math.pi * f)) / 2"), "a wave"),
        ("4.5", schedule("return a + (t % n) / n * (b - a)"), "begins again"),
        ("4.5", schedule("return a + t / n * (b - a) if t <= n else a"), "back to the start after"),
        ("4.5", schedule("return a + t / n * (b - a) if t < n else None"), None),
        ("4.5", schedule("return a"), "never moves"),
        ("4.6", tree(leaf="i"), "places taken for nodes"),
        ("4.6", tree_at_once("indices"), "places taken for nodes"),
        ("4.6", tree(leaf="self.capacity + i"), "counted from the capacity"),
        ("4.6", tree_at_once("len(self) + indices"), "counted from the capacity"),
        ("4.6", tree_at_once("self.first_node + indices"), "counted from the top level"),
        ("4.6", tree_at_once("self.first_leaf + indices + 1"), "a leaf too far right"),
        ("4.6", tree_at_once("self.first_leaf - 1 + indices"), "a leaf too far left"),
        ("4.6", tree_at_once("self.first_leaf - 1 + indices", up="nodes = (nodes - 1) // 2",
                             holds="self.operation(self.nodes[2 * nodes + 1], "
                                   "self.nodes[2 * nodes + 2])"), "root at node 0"),
        ("4.6", tree_at_once(put="leaves = values", levels="0"), "nothing written"),
        ("4.6", tree_at_once(put="pass"), "nothing written"),
        ("4.6", tree_at_once(put="self.nodes[nodes] += values"), "added to the old priorities"),
        ("4.6", tree_at_once(put="self.nodes[nodes[::-1]] = values[::-1]"), "the first of several"),
        ("4.6", tree_at_once(put="self.nodes[nodes] = 0; np.add.at(self.nodes, nodes, values)"),
         "the sum of several values"),
        ("4.6", tree_at_once(levels="0"), "parents never updated"),
        ("4.6", tree(going="False"), "parents never updated"),
        ("4.6", tree_at_once(put="pass", after="self.nodes[self.first_leaf + indices] = values"),
         "parents never updated"),
        ("4.6", tree_at_once(levels="1 if self.depth else 0"), "only one level"),
        ("4.6", tree_at_once(levels="self.depth - 1"), "stops below the root"),
        ("4.6", tree_at_once(levels="0",
                             after="self.nodes[1] = self.operation.reduce(self.leaves)"),
         "only the root"),
        ("4.6", tree_at_once(put="self.nodes[nodes] = values; nodes = nodes[0:1]"),
         "only the first place's way"),
        ("4.6", tree_at_once(put="self.nodes[nodes] = values; nodes = nodes[-1:]"),
         "only the last place's way"),
        ("4.6", tree(before="if i != indices[0]: break"), "only the first place"),
        ("4.6", tree(up="(node - 1) // 2"), "parent (k - 1) // 2"),
        ("4.6", tree_at_once(up="nodes = (nodes - 1) // 2"), "parent (k - 1) // 2"),
        ("4.6", tree_at_once(up="nodes = (nodes + 1) // 2"), "parent (k + 1) // 2"),
        ("4.6", tree_at_once(up="nodes = nodes / 2"), "a fraction of a node"),
        ("4.6", tree(holds="self.operation(self.nodes[2 * node + 1], self.nodes[2 * node + 2])"),
         "children 2k + 1 and 2k + 2"),
        ("4.6", tree_at_once(holds="self.operation(self.nodes[2*nodes-1], self.nodes[2*nodes])"),
         "children 2k - 1 and 2k"),
        ("4.6", tree_at_once(holds="self.operation(self.nodes[2*nodes-1], self.nodes[2*nodes+1])"),
         "children 2k - 1 and 2k + 1"),
        ("4.6", tree_at_once(holds="children[:, 0]"), "only the left child"),
        ("4.6", tree_at_once(holds="children[:, 1]"), "only the right child"),
        ("4.6", tree_at_once(holds="values"), "the value itself"),
        ("4.6", tree(holds="value"), "the value itself"),
        ("4.6", tree_at_once(holds="children.sum(axis=1)"), "always the sum"),
        ("4.6", tree(holds="self.nodes[2 * node] + self.nodes[2 * node + 1]"), "always the sum"),
        ("4.6", tree_at_once(holds="self.operation.reduce(children)"), "the operation along the"),
        ("4.6", tree_at_once(holds="self.operation(children)"), "error"),
        ("4.6", tree_at_once(holds="self.operation(self.pairs[nodes][0], self.pairs[nodes][1])"),
         "rows of the pairs for columns"),
        ("4.6", tree_at_once(up="nodes = nodes // 2; left, right = self.pairs[nodes]",
                             holds="self.operation(left, right)"), "the operation along the batch"),
        ("4.6", tree(holds="self.nodes[node] + value"), "the new value added to the parents"),
        ("4.6", tree(holds="self.operation(self.nodes[node], value)"),
         "the new value added to the parents, by the operation"),
        ("4.6", tree_at_once(holds="self.nodes[nodes] + values"),
         "the new values added to the parents at once"),
        ("4.6", tree_at_once(holds="self.operation(self.nodes[nodes], values)"),
         "the new values added to the parents at once, by the operation"),
        ("4.6", tree(before=DIFFERENCE, holds="self.nodes[node] + change"), "differences added"),
        ("4.6", tree(before=DIFFERENCE, holds="self.operation(self.nodes[node], change)"),
         "differences added, by the operation"),
        ("4.6", tree_at_once(put="change = values - self.nodes[nodes]; self.nodes[nodes] = values",
                             holds="self.nodes[nodes] + change"),
         "differences at once, some lost"),
        ("4.6", tree_at_once(put="change = values - self.nodes[nodes]; self.nodes[nodes] = values",
                             up="nodes = nodes // 2; np.add.at(self.nodes, nodes, change)",
                             holds="self.nodes[nodes]"), "differences at once"),
        ("4.6", tree_at_once(put="change = values - self.nodes[nodes]; self.nodes[nodes] = values",
                             holds="self.operation(self.nodes[nodes], change)"),
         "differences at once, by the operation"),
        ("4.6", tree(holds="self.operation(self.nodes[2 * node], value)"), None),
        ("4.6", tree_at_once(levels="0", after="for k in range(self.first_leaf - 1, 0, -1):\n"
                             "    self.nodes[k] = self.operation(*self.pairs[k])"),
         "the whole tree anew"),
        ("4.6", tree_at_once("indices.__iadd__(self.first_leaf)", up="nodes //= 2"),
         "computed in the caller's array"),
        ("4.7", sums(way="rest > left"), "left at the border"),
        ("4.7", sums_draw_by_draw(inside="rest <= left"), "left at the border"),
        ("4.7", sums(way="rest < left"), "left and right exchanged"),
        ("4.7", sums_draw_by_draw(inside="rest >= left"), "left and right exchanged"),
        ("4.7", sums(way="(rest < left) & (right > 0)"), "left and right exchanged, never into"),
        ("4.7", sums(way="(rest >= left) & (left > 0)"), "the left child asked whether it is"),
        ("4.7", sums(way="rest >= left & right > 0"), "no brackets around the comparisons"),
        ("4.7", sums(way="rest >= left and right > 0"), "if or and for a whole batch"),
        ("4.7", sums(way="0\n    if rest >= left: way = 1"), "if or and for a whole batch"),
        ("4.7", sums(way="0\n    left, right = self.pairs[nodes]\n"
                         "    way = (rest >= left) & (right > 0)"), "rows of the pairs for left"),
        ("4.7", sums(way="rest >= left",
                     result="np.minimum(nodes - self.first_leaf, self.capacity - 1)"),
         "not safe from rounding"),
        ("4.7", sums(way="(rest >= right) & (right > 0)"), "compared with the right child"),
        ("4.7", sums(way="right > left"), "always to the larger child"),
        ("4.7", sums(way="rest >= self.nodes[nodes] / 2"), "half of the node"),
        ("4.7", sums(down="2 * nodes"), "always left"),
        ("4.7", sums(way="((rest >= left) & (right > 0))[0]"), "the first decides for all"),
        ("4.7", sums(way="bool((rest >= left).any())"), "right if any is"),
        ("4.7", sums(less="pass"), "the left sum never taken off"),
        ("4.7", sums_draw_by_draw(less="pass"), "the left sum never taken off"),
        ("4.7", sums(less="rest = rest - left"), "the left sum always taken off"),
        ("4.7", sums(less="rest = rest - left * (1 - way)"), "taken off on the way to the left"),
        ("4.7", sums(less="rest = rest - right * way"), "the right sum taken off"),
        ("4.7", sums_draw_by_draw(less="rest -= right"), "the right sum taken off"),
        ("4.7", sums_draw_by_draw(less="rest -= self.nodes[node]"), "both sums taken off"),
        ("4.7", sums(start="(self.enter(prefix_sums)[0], prefix_sums)"), "the whole prefix sum"),
        ("4.7", sums(start=FROM_THE_ROOT), "always from the root"),
        ("4.7", sums(start=FROM_THE_ROOT, way="rest >= left"),
         "always from the root, and beyond the last place"),
        ("4.7", sums_draw_by_draw(start=FROM_THE_ROOT), "always from the root"),
        ("4.7", sums_draw_by_draw(start=FROM_THE_ROOT, inside="rest < left"),
         "always from the root, and beyond the last place"),
        ("4.7", sums(start=FROM_THE_ROOT.replace("ones", "zeros")), "from node 0"),
        ("4.7", sums(levels="self.depth - 1"), "one level too few"),
        ("4.7", sums(levels="self.depth + 1"), "one level too many"),
        ("4.7", sums(down="2 * nodes + 1 + way"), "children 2k + 1 and 2k + 2"),
        ("4.7", sums(down="2 * nodes - 1 + way"), "children 2k - 1 and 2k"),
        ("4.7", sums_draw_by_draw(to_left="2 * node + 1", to_right="2 * node"),
         "children 2k + 1 and 2k"),
        ("4.7", sums(result="nodes"), "nodes in place of places"),
        ("4.7", sums_draw_by_draw(place="node"), "nodes in place of places"),
        ("4.7", sums(result="nodes - self.capacity"), "counted from the capacity"),
        ("4.7", sums(result="nodes - self.first_node"), "counted from the top level"),
        ("4.7", sums(result="nodes - self.first_leaf - 1"), "one place too few"),
        ("4.7", sums(result="nodes - self.first_leaf + 1"), "one place too many"),
        ("4.7", sums(result="self.nodes[nodes]"), "priorities in place of places"),
        ("4.7", sums(result="(nodes - self.first_leaf)[0]"), "a single place"),
        ("4.7", sums_draw_by_draw(result="places[0]"), "a single place"),
        ("4.7", sums_draw_by_draw(result="sorted(places)"), "sorted"),
        ("4.7", sums(result="np.array(sorted(set(nodes - self.first_leaf)))"), "each place once"),
        ("4.7", sums(start="self.enter(prefix_sums * self.total)"), "prefix sums taken for shares"),
        ("4.7", sums(way="rest >= left"), "not safe from rounding"),
        ("4.7", sums_draw_by_draw(inside="rest < left"), "not safe from rounding"),
        ("4.7", sums_draw_by_draw(result="places"), "no array"),
        ("4.7", sums_draw_by_draw(result="np.array(places, dtype=float)"), "no whole numbers"),
        ("4.7", sums_draw_by_draw(result="torch.tensor(places)"), "no array"),
        ("4.7", sums(result="np.searchsorted(np.cumsum(self.leaves), prefix_sums)"),
         "over all the leaves, left at the border"),
        ("4.7", sums(result="np.array([np.argmax(np.cumsum(self.leaves) > x) if x < self.total "
                            "else self.capacity for x in prefix_sums])"),
         "over all the leaves, and beyond the last place"),
        ("4.7", sums(result="np.minimum(nodes - self.first_leaf, max(0, self.capacity - 2))"),
         "the last place never found"),
        ("4.7", sums(less="child = 2 * nodes + way; "
                          "rest = rest - self.nodes[2 * child % len(self.nodes)] * way"),
         "taken off after moving"),
        ("4.9", window(stop="pass"), "over the end"),
        ("4.9", windows(stops="0 * ends", k="np.full(len(ends), n)"), "over the end"),
        ("4.9", windows(mask="1"), "sum over the end"),
        ("4.9", window(result="total, np.full(B, n)"), "always n"),
        ("4.9", window(before="if ends[b, i]: break"), "stops before the end"),
        ("4.9", windows(mask="np.cumsum(ends, 1) == 0"), "the end's own reward left out"),
        ("4.9", windows(mask="np.cumprod(1 - ends, 1)", k="np.full(len(ends), n)"),
         "the end's own reward left out, always n"),
        ("4.9", windows(k="stops.argmax(1)"), "one step too short"),
        ("4.9", window(stop="if i > 0 and ends[b, i - 1]: break"), "one step too far"),
        ("4.9", window(stop="if i + 1 < n and ends[b, i + 1]: break"), "the end's flag a step"),
        ("4.9", windows(stops="ends"), "no end taken for one at once"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(1), ends.argmax(1) + 1"),
         "number wrong where there is no end"),
        ("4.9", window(stop="pass", term="(1 - ends[b, i]) * discount * rewards[b, i]"),
         "only the ends left out, always n"),
        ("4.9", windows(mask="~ends"), "only the ends left out"),
        ("4.9", windows(result="(rewards * (1 - ends) * gamma ** powers).sum(1), "
                               "(1 - ends).sum(1)"), "only the ends left out, and not counted"),
        ("4.9", windows(mask="np.cumsum(ends, 1) <= 1",
                        result="(rewards * mask * gamma ** powers).sum(1), mask.sum(1)"),
         "up to the second end"),
        ("4.9", windows(mask="np.cumsum(ends, 1) <= 1"), "sum up to the second end"),
        ("4.9", window(term="0.99 ** i * rewards[b, i]"), "gamma always 0.99"),
        ("4.9", windows(mask="ends"), "only the ends"),
        ("4.9", windows(mask="np.arange(n) >= k[:, None]"), "only what lies beyond"),
        ("4.9", windows(stops="np.array([[*ends.any(0)[:-1], True]] * len(ends))"),
         "one end for all rows"),
        ("4.9", window(discount="pass"), "no discount"),
        ("4.9", window(first="gamma"), "discounted from the first on"),
        ("4.9", windows(powers="np.arange(1, n + 1)"), "discounted from the first on"),
        ("4.9", windows(powers="np.maximum(k[:, None] - 1 - np.arange(n), 0)"),
         "discounted backwards"),
        ("4.9", windows(powers="np.arange(n)[::-1]"), "the last of n in full"),
        ("4.9", window(discount="discount = gamma"), "one discount for all later rewards"),
        ("4.9", window(term="i * gamma * rewards[b, i]"), "gamma times the number of steps"),
        ("4.9", windows(powers="k[:, None]"), "gamma to the power k for all"),
        ("4.9", windows(powers="n"), "gamma to the power n for all"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(1) / k, k"), "the mean"),
        ("4.9", windows(result="rewards[range(len(k)), k - 1], k"), "only the last reward"),
        ("4.9", windows(result="gamma ** (k - 1) * rewards[range(len(k)), k - 1], k"),
         "only the last reward, discounted"),
        ("4.9", window(steps="range(n - 1)"), "the last column left out"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(0), k"), "summed over the"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(), k"), "one sum for all"),
        ("4.9", window(count="k[b] = i"), "the number of the last step"),
        ("4.9", window(result="total, k + 1"), "one too many"),
        ("4.9", window(count="k[b] += not ends[b, i]"), "number without the end"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(1), (1 - ends).sum(1)"),
         "steps that are no ends"),
        ("4.9", windows(result="(rewards * mask * gamma ** powers).sum(1), "
                                "np.count_nonzero(rewards * mask, axis=1)"),
         "rewards that are not 0"),
        ("4.9", window(result="total, gamma ** k"), "the discount in place of the number"),
        ("4.9", window(result="total, max(k)"), "number of the longest"),
        ("4.9", window(result="k, total"), "sum and number exchanged"),
        ("4.9", window(result="total"), "the number missing"),
        ("4.9", window(result="total[0], k[0]"), "only the first row"),
        ("4.9", window(stop="if ends[b, i]: return total[0], k[0]"), None),
        ("4.9", windows(stops="ends", k="[ends.__setitem__((slice(None), -1), True), "
                                         "ends.argmax(1) + 1][1]"),
         "computed in the caller's array"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = judge(EXERCISES[exercise_id], written)
    assert not result.passed
    if diagnosis is None:  # no name, but the case is shown
        assert result.diagnosis is None or result.diagnosis in ("no return", "shape"), str(result)
    else:
        assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_what_these_are_made_from_is_right_as_it_stands():
    """So that each mistake above is the one that it says, and no other."""
    for exercise_id, right in [
        ("4.3", probabilities("p**a / (p**a).sum()")),
        ("4.4", weights("(n * p) ** -b")),
        ("4.5", schedule("return a + min(t / n, 1) * (b - a)")),
        ("4.6", tree()),
        ("4.6", tree_at_once()),
        ("4.7", sums()),
        ("4.7", sums_draw_by_draw()),
        ("4.9", window()),
        ("4.9", windows()),
    ]:
        result = judge(EXERCISES[exercise_id], right)
        assert result.passed, str(result)


# --- What values cannot show ----------------------------------------------------------------------


LOG2 = "int(np.ceil(np.log2(self.capacity)))"


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("4.3", probabilities("[priorities.__ipow__(a), p / p.sum()][1]"), "computed in the call"),
        ("4.4", weights("p.__imul__(n) ** -b", "(n * m) ** -b"), "changes its inputs"),
        ("4.6", tree_at_once(f"2 ** {LOG2} + indices", levels=LOG2), "wrong below a wider top le"),
        ("4.6", tree_at_once(after="values *= 1.5"), "changes its inputs"),
        ("4.7", sums("[np.ones(len(prefix_sums), int), prefix_sums]", less="rest -= left * way"),
         "wrong below a wider top level"),
        ("4.7", sums("self.enter(np.abs(prefix_sums))"), "accepts what cannot be"),
        ("4.7", sums(less="rest = rest - left * way; self.nodes[nodes] -= 1"), "changes the tree"),
        ("4.7", sums(result="np.searchsorted(np.cumsum(self.leaves), np.minimum(prefix_sums, "
                            "np.nextafter(self.total, 0)), 'right')"),
         "adds up the leaves"),
    ],
)  # fmt: skip
def test_names_what_values_cannot_show(exercise_id, written, diagnosis):
    result = judge(EXERCISES[exercise_id], written)
    assert str(result.diagnosis).startswith(diagnosis), str(result)


@pytest.mark.parametrize(
    ("exercise_id", "written", "told"),
    [
        ("4.3", probabilities("p**a / p.sum()**a"), "or of the whole sum"),
        ("4.4", weights("(n * p) ** -b", end="above * below"), "You multiply by the largest"),
        ("4.7", sums(result="nodes - self.first_leaf + 1"), "one too large. Places count from 0"),
        ("4.7", sums(result="nodes - self.first_leaf - 1"), "one too small. Places count from 0"),
    ],
)  # fmt: skip
def test_messages_are_true_for_every_form_of_a_mistake(exercise_id, written, told):
    assert told in judge(EXERCISES[exercise_id], written).message


@pytest.mark.parametrize("result", ["places", "np.minimum(places, self.capacity - 1)"])
def test_the_example_of_rounding_is_true_with_places_cut_off_or_not(result):
    careless = sums(way="rest >= left", result=result.replace("places", "nodes - self.first_leaf"))
    found = fill(careless(4, 1), [0.3, 0, 0.7, 0]).retrieve(np.array([0.9999999999999999]))
    assert list(found) == [3]
    assert "priorities 0.3, 0, 0.7 and 0" in judge(SUM_TREE, careless).message


def test_a_level_too_many_is_refused_for_a_minimum_as_well():
    for kind in (SumTree, MinTree):
        too_far = type("Tree", (tree_at_once(levels="self.depth + 1"),), dict(vars(kind)))
        grown = too_far(10, 3)
        grown[np.arange(10)] = np.ones(10)
        assert (grown.nodes[: grown.first_node] != kind.neutral).any()


def test_differences_drift_and_that_is_seen():
    """Of 0.1 + 0.1 + 0.1 + 10,000,000,000,000,000 + 0.1 the small ones are lost for good."""
    wrong = next(w for w in SEGMENT_TREE.misconceptions if w.name == "differences added")
    sums_of = {"operation": np.add, "neutral": 0.0, "usual_top": 1}
    drifting = type("Tree", (wrong.function,), sums_of)(5)
    right = type("Tree", (SegmentTree,), sums_of)(5)
    for grown in (drifting, right):
        fill(grown, [0.1, 0.1, 0.1, 1e16, 0.1])
        grown.set(np.array([3]), np.array([0.1]))
    assert right.nodes[1] == pytest.approx(0.5)
    assert abs(drifting.nodes[1] - 0.5) > 0.1


# --- The right numbers in another type ------------------------------------------------------------


@pytest.mark.parametrize("exercise_id", ["4.3", "4.4", "4.9"])
def test_later_cells_get_arrays_whatever_was_written(exercise_id):
    exercise = EXERCISES[exercise_id]
    case = exercise.inputs()[-1]
    wanted = exercise.reference(*case.args)
    for answer in RIGHT_ANSWERS_PER[exercise_id]:
        got = judge(exercise, answer).version(*case.args)
        parts = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
        for part, like in parts:
            assert isinstance(part, np.ndarray)
            assert part.dtype.kind == like.dtype.kind
            np.testing.assert_allclose(part, like, rtol=1e-4)


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PER["4.6"], ids=lambda answer: answer.__name__)
def test_any_right_tree_is_kept_like_the_courses(answer):
    rng = np.random.default_rng(0)
    for kind, top in [(SumTree, 1), (SumTree, 3), (SumTree, None), (MinTree, 4)]:
        mine, ours = type("Tree", (answer,), dict(vars(kind)))(19, top), kind(19, top)
        for _ in range(20):
            indices, values = rng.integers(0, 19, 8), rng.exponential(size=8)
            mine[indices] = values
            ours[indices] = values
            np.testing.assert_array_equal(mine.leaves, ours.leaves)
            np.testing.assert_array_equal(mine.top, ours.top)


@pytest.mark.parametrize("exercise_id", ["4.4", "4.5", "4.7", "4.9"])
def test_a_buffer_draws_with_whatever_passes(exercise_id, monkeypatch):
    """The same batches as the course's own, with one piece replaced by somebody's own."""
    exercise, before = EXERCISES[exercise_id], drawn_batches()
    for answer in RIGHT_ANSWERS_PER[exercise_id]:
        with monkeypatch.context() as patch:
            patch.setattr(buffers, exercise.name, judge(exercise, answer).version)
            for batch, wanted in zip(drawn_batches(), before, strict=True):
                for name, part, like in zip(batch._fields, batch, wanted, strict=True):
                    assert part.dtype == like.dtype, f"{answer.__name__}: {name}"
                    torch.testing.assert_close(part, like, msg=f"{answer.__name__}: {name}")


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PER["4.6"])
def test_a_buffer_draws_with_any_right_tree(answer, monkeypatch):
    before = drawn_batches()
    version = judge(EXERCISES["4.6"], answer).version
    for kind in (SumTree, MinTree):
        monkeypatch.setattr(
            buffers, kind.__name__, type(kind.__name__, (version,), dict(vars(kind)))
        )
    for batch, wanted in zip(drawn_batches(), before, strict=True):
        for part, like in zip(batch, wanted, strict=True):
            torch.testing.assert_close(part, like)


def drawn_batches():
    memory = buffers.PrioritizedReplayBuffer(50, (1,), (1,), 0, n_steps=3, beta_samples=4)
    for i in range(70):
        memory.add(np.full(1, i), np.zeros(1), i % 7, np.full(1, i + 1), i % 9 == 8, False)
    batches = []
    for _ in range(5):
        batches.append(memory.sample(16))
        memory.update_priorities(batches[-1].indices, batches[-1].n_reward.abs() + 0.1)
    return batches


# --- The blanks, and the classes as a notebook has them -------------------------------------------


def as_in_a_notebook(source, **scope):
    """What a cell with this source defines."""
    names = {"np": np, "torch": torch, "math": math, "check_places": check_places,
             "check_priorities": check_priorities, **scope}  # fmt: skip
    exec(source, names)
    return names


@each
def test_a_blank_is_not_started(exercise):
    scope = as_in_a_notebook(
        blank(inspect.getsource(exercise.reference), exercise.id), SegmentTree=SegmentTree
    )
    assert judge(exercise, scope[exercise.name]).status == "not started"


@each
def test_a_blank_says_what_each_gap_is_for(exercise):
    """Every `...` follows a numbered comment, and no comment gives its line away."""
    rows = blank(inspect.getsource(exercise.reference), exercise.id).split("\n")
    gaps = [i for i, row in enumerate(rows) if row.strip() == "..."]
    assert gaps
    for i in gaps:
        assert rows[i - 1].strip().startswith("#"), rows[i - 1]
    for other in EXERCISES.values():
        assert leak(giveaways(inspect.getsource(other.reference)), "\n".join(rows)) is None


def test_the_solutions_as_cells_of_a_notebook():
    scope = as_in_a_notebook(inspect.getsource(SegmentTree))
    assert judge(SEGMENT_TREE, scope["SegmentTree"]).passed
    scope = as_in_a_notebook(inspect.getsource(SumTree), SegmentTree=scope["SegmentTree"])
    assert judge(SUM_TREE, scope["SumTree"]).passed


def test_retrieve_is_judged_whatever_set_is():
    stub = as_in_a_notebook(blank(inspect.getsource(SegmentTree), "4.6"))["SegmentTree"]
    wrong = SEGMENT_TREE.misconceptions[0].function
    for base in (stub, wrong, *RIGHT_ANSWERS_PER["4.6"]):
        scope = as_in_a_notebook(inspect.getsource(SumTree), SegmentTree=base)
        assert judge(SUM_TREE, scope["SumTree"]).passed
        careless = type(
            "SumTree", (scope["SumTree"],), {"retrieve": sums(way="rest > left").retrieve}
        )
        assert judge(SUM_TREE, careless).diagnosis == "left at the border"


@pytest.mark.parametrize("exercise", [SEGMENT_TREE, SUM_TREE], ids=lambda exercise: exercise.id)
def test_what_is_no_tree_at_all_is_told_so_without_a_crash(exercise):
    class Alone:
        pass

    for wrong in (Alone, lambda self, indices, values: None):
        result = judge(exercise, wrong)
        assert result.status == "failed"
        assert result.version is exercise.reference


# --- All of them ----------------------------------------------------------------------------------


def test_all_of_them_are_there():
    assert {id_: exercise.name for id_, exercise in EXERCISES.items()} == {
        "4.3": "sampling_probabilities", "4.4": "importance_weights", "4.5": "linear_schedule",
        "4.6": "SegmentTree", "4.7": "SumTree", "4.9": "n_step_return",
    }  # fmt: skip
    assert all(exercise.lesson == "04_ddpgfd" for exercise in EXERCISES.values())
    assert all(len(exercise.misconceptions) >= 20 for exercise in EXERCISES.values())
    assert RIGHT_ANSWERS_PER.keys() == EXERCISES.keys()
    assert all(len(answers) >= 3 for answers in RIGHT_ANSWERS_PER.values())


@each
def test_accepts_the_reference_and_right_answers(exercise):
    """And says so without a warning."""
    assert not any(isinstance(seen, Raised) for seen in expected(exercise).observations)
    for right in (exercise.reference, *RIGHT_ANSWERS_PER[exercise.id]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = judge(exercise, right)
        assert result.passed, f"{right.__name__}: {result}"


@each
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_names_every_misconception_as_itself(exercise):
    for wrong in exercise.misconceptions:
        result = judge(exercise, wrong.function)
        assert not result.passed, f"{wrong.name} passes"
        assert result.diagnosis == wrong.name
        assert result.message == wrong.message


@each
def test_names_are_told_apart_and_cards_are_full(exercise):
    entries = [*exercise.misconceptions, *exercise.properties]
    assert max(Counter(entry.name for entry in entries).values()) == 1
    assert exercise.name in exercise.card.what
    assert 1 <= exercise.card.difficulty <= 5
    assert len(exercise.hints) == 2


# --- The texts ------------------------------------------------------------------------------------


@each
def test_messages_are_short_and_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert 1 <= len(re.findall(r"[.!?](?=\s|$)", prose)) <= 3, entry.name
        assert not set("*$") & set(prose), entry.name
        assert prose[-1] in ".?!", entry.name


@each
def test_hints_and_messages_do_not_give_the_solution_away(exercise):
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.misconceptions, *exercise.properties]]
    for other in EXERCISES.values():
        secrets = giveaways(inspect.getsource(other.reference))
        for text in texts:
            assert leak(secrets, text) is None, text
