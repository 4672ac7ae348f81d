"""Lesson 05's checks name mistakes as students write them.

The exercises are judged themselves, not by their ids: these need no list of the lesson's exercises.
"""

import copy
import inspect
import re
import textwrap
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from right_answers_practice import RIGHT_ANSWERS_PRACTICE
from torch import nn

from helpers import evaluation
from helpers.agents import DDPG, checkpoint
from helpers.agents.cloning import some_episodes
from helpers.checks.best_kept import KEPT, callback_cases, observe_callback
from helpers.checks.core import check, judge
from helpers.checks.lesson05 import EXERCISES
from helpers.checks.watched import ENV_ID, LOG
from helpers.demos.files import load_demos
from helpers.envs.make import make_env
from helpers.evaluation import evaluate
from helpers.training import callbacks
from helpers.training.callbacks import Evaluate
from helpers.training.probes import ProbeEnv, observation
from helpers.training.statistics import bootstrap_interval
from tools.sources import blank, definition, giveaways, leak

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
SCOPE = {
    "np": np, "torch": torch, "nn": nn, "gym": gym, "copy": copy, "make_env": make_env,
    "evaluate": evaluate, "checkpoint": checkpoint, "some_episodes": some_episodes,
    "ProbeEnv": ProbeEnv, "observation": observation,
}  # fmt: skip


def written(name: str, source: str):
    scope = dict(SCOPE)
    exec(source, scope)
    return scope[name]


def indented(lines: str, depth: int) -> str:
    return textwrap.indent(lines, "    " * depth)


# --- As students write them -----------------------------------------------------------------------


def play(
    make="make_env(env)",
    reset="obs, _ = arena.reset(seed=seed + i)",
    over0="over = False",
    step="obs, reward, terminated, truncated, _ = arena.step(policy(obs))",
    add="returns[i] += reward",
    count="lengths[i] += 1",
    over="over = terminated or truncated",
    close="arena.close()",
    result="returns, lengths",
):
    body = "\n".join([step, add, count, over])
    return written(
        "play_episodes",
        "def play_episodes(policy, env, episodes, seed):\n"
        f"    arena = {make}\n"
        "    returns, lengths = np.zeros(episodes), np.zeros(episodes, dtype=int)\n"
        "    try:\n        for i in range(episodes):\n"
        f"{indented(reset, 3)}\n{indented(over0, 3)}\n            while not over:\n"
        f"{indented(body, 4)}\n    finally:\n{indented(close, 2)}\n    return {result}\n",
    )


def middle(
    order="np.sort(np.asarray(values, dtype=float), axis=axis)",
    n="ordered.shape[axis]",
    refuse="n == 0",
    cut="n // 4",
    keep="np.take(ordered, range(cut, n - cut), axis=axis)",
    result="kept.mean(axis=axis)",
):
    return written(
        "interquartile_mean",
        f"def interquartile_mean(values, axis=0):\n    ordered = {order}\n    n = {n}\n"
        f"    if {refuse}:\n        raise ValueError('no runs')\n    cut = {cut}\n"
        f"    kept = {keep}\n    return {result}\n",
    )


def callback(
    call="if self.milestones.reached(agent.steps):\n    self.evaluate(agent)",
    played="evaluate(agent, self.env, self.episodes, self.seed)",
    note="self.curve.append((agent.steps, result))",
    better="self.best is None or result.mean > self.best[1].mean",
    best="self.best = (agent.steps, result)",
    kept="copy.deepcopy(checkpoint.contents(agent, replay=False))",
    write="if self.path is not None:\n    checkpoint.write(self.path, self.best_contents)",
    end="return result",
):
    own = "\n".join([best, f"self.best_contents = {kept}", write])
    scope = SCOPE | {"Base": Evaluate}
    exec(
        f"class Evaluate(Base):\n    def __call__(self, agent):\n{indented(call, 2)}\n"
        f"    def evaluate(self, agent):\n        result = {played}\n{indented(note, 2)}\n"
        f"        if {better}:\n{indented(own, 3)}\n{indented(end, 2)}\n",
        scope,
    )
    return scope["Evaluate"]


LINEAR = "layers.append(nn.Linear(n_inputs, size))"
NORM = "if layer_norm:\n    layers.append(nn.LayerNorm(size))"
RELU, NEXT = "layers.append(nn.ReLU())", "n_inputs = size"


def layers(*lines, first="layers = []", result="nn.Sequential(*layers)"):
    return written(
        "hidden_layers",
        f"def hidden_layers(n_inputs, sizes, layer_norm=False):\n{indented(first, 1)}\n"
        f"    for size in sizes:\n{indented(chr(10).join(lines), 2)}\n    return {result}\n",
    )


def probe(
    reset="self.done = 0\nreturn observation(-1), {}",
    count="self.done += 1",
    first="self.done == 1",
    early="observation(1), 0.0, False, False, {}",
    late="observation(0), 1.0, True, False, {}",
):
    return written(
        "TwoStepProbe",
        "class TwoStepProbe(ProbeEnv):\n    def reset(self, *, seed=None, options=None):\n"
        f"        super().reset(seed=seed)\n{indented(reset, 2)}\n    def step(self, action):\n"
        f"{indented(count, 2)}\n        if {first}:\n            return {early}\n"
        f"        return {late}\n",
    )


def split(
    refuse="not 0 < validation < 1 or len(demos.episodes) < 2",
    aside="min(max(1, round(validation * n)), n - 1)",
    order="rng.permutation(n)",
    result="some_episodes(demos, order[aside:]), some_episodes(demos, order[:aside])",
):
    return written(
        "split_episodes",
        "import random\n"
        f"def split_episodes(demos, validation, rng):\n    if {refuse}:\n        raise ValueError\n"
        f"    n = len(demos.episodes)\n    aside = {aside}\n    order = {order}\n"
        f"    return {result}\n",
    )


def stop(best="losses.index(min(losses))", when="len(losses) - 1 - best >= patience", result=""):
    return written(
        "early_stopping",
        f"def early_stopping(losses, patience):\n    best = {best}\n    stop = {when}\n"
        f"    return {result or 'stop, best'}\n",
    )


@pytest.mark.parametrize(
    ("exercise_id", "function", "diagnosis"),
    [
        ("5.1", play(make="env"), "the environment itself"),
        ("5.1", play(make="make_env(env) if isinstance(env, str) else env"),
         "the environment itself, unless it is an id"),
        ("5.1", play(make="gym.make(env)"), "gym.make"),
        ("5.1", play(reset="obs, _ = arena.reset(seed=seed)"), "the same seed for every episode"),
        ("5.1", play(reset="obs, _ = arena.reset(seed=seed if i == 0 else None)"), "seeded once"),
        ("5.1", play(reset="obs, _ = arena.reset()"), "no seed"),
        ("5.1", play(reset="seed += 1\nobs, _ = arena.reset(seed=seed)"), "seed + 1 first"),
        ("5.1", play(reset="obs, _ = arena.reset(seed=seed * i)"), "seed times the number, from 0"),
        ("5.1", play(reset="obs = arena.reset(seed=seed + i)"), "the pair of reset"),
        ("5.1", play(over="over = terminated"), "only terminated"),
        ("5.1", play(over="over = truncated"), "only truncated"),
        ("5.1", play(over="over = terminated and truncated"), "terminated and truncated"),
        ("5.1", play(over="done = terminated or truncated"), "no end"),
        ("5.1", play(step="later, reward, terminated, truncated, _ = arena.step(policy(obs))"),
         "the first observation again and again"),
        ("5.1", play(step="obs, reward, terminated, _ = arena.step(policy(obs))"),
         "the old interface"),
        ("5.1", play(add="returns[i] = reward"), "the last reward alone"),
        ("5.1", play(add="returns[i] += 0.99 ** lengths[i] * reward"), "discounted by 0.99"),
        ("5.1", play(close="pass"), "not closed"),
        ("5.1", play(close="arena.close()\nreturn returns, lengths"), "error swallowed"),
        ("5.1", play(result="lengths, returns"), "lengths first"),
        ("5.1", play(result="returns.mean(), lengths.mean()"), "two means"),
        ("5.1", play(result="np.stack([returns, lengths], axis=1)"), "pairs"),
        ("5.1", play(over="over = terminated or truncated\n..."), None),
        ("5.2", middle(order="np.sort(np.asarray(values, dtype=float))"),
         "sorted along the last axis"),
        ("5.2", middle(order="np.asarray(values, dtype=float)"), "not sorted"),
        ("5.2", middle(cut="-(-n // 4)"), "rounded up, whatever is left"),
        ("5.2", middle(cut="round(n / 4)"), "rounded to the nearest"),
        ("5.2", middle(cut="n // 2"), "half at either end"),
        ("5.2", middle(keep="ordered[cut:n - cut]"), "cut along axis 0"),
        ("5.2", middle(keep="ordered[cut:-cut]"), "a slice of axis 0 to minus 0"),
        ("5.2", middle(result="kept.mean()"), "mean over all axes"),
        ("5.2", middle(result="np.median(kept, axis=axis)"), "median"),
        ("5.2", middle(refuse="False"), "no runs, no error"),
        ("5.2", middle(order="np.asarray(values, dtype=float)",
                       refuse="n == 0 or ordered.sort(axis=axis)"), "sorted in place"),
        ("5.3", callback(kept="checkpoint.contents(agent, replay=False)"), "not copied"),
        ("5.3", callback(kept="dict(checkpoint.contents(agent, replay=False))"), "not copied"),
        ("5.3", callback(kept="copy.copy(checkpoint.contents(agent, replay=False))"),
         "not copied"),
        ("5.3", callback(call="return self.milestones.reached(agent.steps) and "
                              "self.evaluate(agent)"),
         "what reached says"),
        ("5.3", callback(call="if agent.steps % self.milestones.every == 0:\n"
                              "    self.evaluate(agent)"), "steps divisible by every"),
        ("5.3", callback(call="self.evaluate(agent)"), "at every call"),
        ("5.3", callback(better="self.best is None or result.mean < self.best[1].mean"),
         "keeps the worst"),
        ("5.3", callback(better="len(self.curve) == 1 or result.mean > self.curve[-2][1].mean"),
         "better than the one before"),
        ("5.3", callback(better="True"), "keeps the last"),
        ("5.3", callback(note="pass", best="self.curve.append((agent.steps, result))\n"
                                           "self.best = self.curve[-1]"), "noted only if best"),
        ("5.3", callback(note="self.curve.append(result)"), "results without steps"),
        ("5.3", callback(played="evaluate(agent)"), "everything ignored"),
        ("5.3", callback(write="checkpoint.write(self.path, self.best_contents)"),
         "written without a path"),
        ("5.3", callback(write="pass"), "never written"),
        ("5.3", callback(end="pass"), "no result"),
        ("5.5", layers(LINEAR, RELU, NORM, NEXT), "after the ReLU"),
        ("5.5", layers(NORM.replace("size", "n_inputs"), LINEAR, RELU, NEXT),
         "before the linear layer"),
        ("5.5", layers(LINEAR, NORM.replace("LayerNorm", "BatchNorm1d"), RELU, NEXT),
         "batch normalisation"),
        ("5.5", layers(LINEAR, NORM.replace("size", "n_inputs"), RELU, NEXT),
         "the size of what comes in"),
        ("5.5", layers(LINEAR, NORM + f"\nelse:\n    {RELU}", NEXT), "in place of the ReLU"),
        ("5.5", layers(LINEAR, NORM, RELU), "always the input's size"),
        ("5.5", layers(LINEAR, RELU, NEXT), "no normalisation"),
        ("5.5", layers(LINEAR, NORM, NEXT), "no ReLU"),
        ("5.5", layers(LINEAR, NORM, RELU, NEXT, result="layers"), "a list"),
        ("5.5", layers(LINEAR, NORM, RELU, NEXT, result="nn.ModuleList(layers)"), "a ModuleList"),
        ("5.5", layers(LINEAR, NORM, RELU, NEXT, result="nn.Sequential(layers)"),
         "Sequential without the star"),
        ("5.5", layers("layers = []", LINEAR, NORM, RELU, NEXT), "only the last layer"),
        ("5.5", layers(LINEAR, NORM.replace("LayerNorm(size", "GroupNorm(2, size"), RELU, NEXT),
         "two groups"),
        ("5.5", layers(LINEAR, NORM.replace("size)", "size, eps=1e-3)"), RELU, NEXT),
         "an eps of 0.001"),
        ("5.5", layers(LINEAR, NORM.replace("size)", "size, eps=1e-8)"), RELU, NEXT),
         "an eps of 0"),
        ("5.5", layers(LINEAR, NORM.replace("size)", "size, elementwise_affine=False)"), RELU,
                       NEXT),
         "without gains and biases"),
        ("5.4", probe(reset="return observation(-1), {}"), "never started"),
        ("5.4", probe(first="self.done == 0"), "one step"),
        ("5.4", probe(count="pass", first="self.done == 0"), "not counted"),
        ("5.4", probe(count="before, self.done = self.done, self.done + 1", first="before == 1"),
         "asks before it counts"),
        ("5.4", probe(count="if self.done == 1:\n    return observation(1), 0.0, False, False, {}\n"
                            "self.done += 1", first="False"), "asks before it counts"),
        ("5.4", probe(late="observation(0), 1.0, False, True, {}"), "truncated"),
        ("5.4", probe(early="observation(1), 1.0, False, False, {}"), "both rewarded"),
        ("5.4", probe(early="np.array([1.0]), 0.0, False, False, {}",
                      late="np.array([0.0]), 1.0, True, False, {}"), "float64 in step"),
        ("5.4", probe(reset="self.done = 0\nreturn observation(-1)"),
         "reset gives the observation alone"),
        ("5.6", split(aside="round(validation * n)"), "perhaps none, perhaps all"),
        ("5.6", split(order="range(n)"), "always the first"),
        ("5.6", split(order="rng.choice(n, n)"), "drawn with repetition"),
        ("5.6", split(order="random.sample(range(n), n)"), "random numbers of everybody"),
        ("5.6", split(order="np.random.default_rng(0).permutation(n)"), "a generator of its own"),
        ("5.6", split(result="demos, some_episodes(demos, order[:aside])"), "all to learn from"),
        ("5.6", split(result="some_episodes(demos, order[:aside]), "
                             "some_episodes(demos, order[aside:])"),
         "the share the other way round"),
        ("5.6", split(result="some_episodes(demos, rng.permutation(n)[aside:]), "
                             "some_episodes(demos, rng.permutation(n)[:aside])"),
         "two permutations"),
        ("5.6", split(refuse="False"), "any share"),
        ("5.6", split(order="sorted(rng.permutation(n))"), "sorted before the cut"),
        ("5.6", split(order="sorted(rng.permutation(n))", result="some_episodes(demos, "
                      "order[:-aside]), some_episodes(demos, order[-aside:])"),
         "sorted before the cut, and the last"),
        ("5.6", split(order="rng.shuffle(demos.episodes) or range(n)"), "shuffled in place"),
        ("5.6", split(order="rng.permutation(len(demos))"), "numbers of steps"),
        ("5.6", split(order="1 + rng.permutation(n)"), "error"),  # not of steps
        ("5.6", split(order="[demos.episodes[i] for i in rng.permutation(n)]",
                      result="order[aside:], order[:aside]"), "slices"),
        ("5.6", split(order="rng.permutation(n)", result="list(order[aside:]), order[:aside]"),
         "numbers"),
        ("5.7", stop(when="len(losses) - 1 - best > patience"), "one epoch too late"),
        ("5.7", stop(when="len(losses) - best >= patience"), "one epoch too early"),
        ("5.7", stop(when="len(losses) > 1 and losses[-1] > losses[-2]"), "at the first rise"),
        ("5.7", stop(best="len(losses) - 1 - losses[::-1].index(min(losses))"),
         "the latest of several"),
        ("5.7", stop(best="losses.index(max(losses))"), "the highest loss"),
        ("5.7", stop(result="best, stop"), "best first"),
        ("5.7", stop(best="losses.index(min(losses[:-1] or losses))"), "without the last"),
        ("5.7", stop(when="any(n - losses.index(min(losses[:n + 1])) >= patience "
                          "for n in range(len(losses)))"), "stays stopped"),
        ("5.7", stop(result="stop"), "whether alone"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:.*Lazy")
def test_names_mistakes_as_students_write_them(exercise_id, function, diagnosis):
    result = judge(BY_ID[exercise_id], function)
    if diagnosis is None:  # something of no effect
        assert result.passed, str(result)
    else:
        assert not result.passed
        assert result.diagnosis == diagnosis, str(result)


@pytest.mark.parametrize(
    ("exercise_id", "function"),
    [
        ("5.1", play()), ("5.2", middle()), ("5.3", callback()),
        ("5.5", layers(LINEAR, NORM, RELU, NEXT)), ("5.4", probe()), ("5.6", split()),
        ("5.7", stop()),
    ],
)  # fmt: skip
def test_what_these_are_made_from_is_right_as_it_stands(exercise_id, function):
    """So that each mistake above is the one that it says, and no other."""
    result = judge(BY_ID[exercise_id], function)
    assert result.passed, str(result)


@pytest.mark.parametrize("function", [Evaluate, callback()], ids=["reference", "written"])
def test_the_weights_of_the_best_come_back(function):
    """What is swallowed where they cannot be put back must not befall a right version."""
    for case in callback_cases(np.random.default_rng(0)):
        seen = observe_callback(function, *case.args)
        level, spread = seen["weights that come back"]
        assert (seen["step of the best"], level, spread) in case.args[4]
        assert seen[KEPT] == "all contents"


# --- What passes can be used ----------------------------------------------------------------------


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PRACTICE["5.1"], ids=lambda f: f.__name__)
def test_an_evaluation_works_with_whatever_passes(answer, monkeypatch, capsys):
    """Lists become arrays, which have a mean."""
    expected = evaluate(lambda obs: np.ones(1), ENV_ID, episodes=4, seed=5)
    monkeypatch.setattr(evaluation, "play_episodes", check("5.1", answer))
    result = evaluation.evaluate(lambda obs: np.ones(1), ENV_ID, episodes=4, seed=5)
    np.testing.assert_allclose(result.returns, expected.returns)
    np.testing.assert_array_equal(result.lengths, expected.lengths)
    assert result.mean == pytest.approx(expected.mean)
    assert "passed" in capsys.readouterr().out
    LOG.clear()


def test_the_card_says_what_was_made_of_lists():
    lists, arrays = RIGHT_ANSWERS_PRACTICE["5.1"][0], RIGHT_ANSWERS_PRACTICE["5.1"][2]
    assert judge(BY_ID["5.1"], lists).version is not lists
    assert "made the types that they expect" in judge(BY_ID["5.1"], lists).footer
    assert judge(BY_ID["5.1"], arrays).version is arrays


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PRACTICE["5.2"], ids=lambda f: f.__name__)
def test_an_interval_can_be_made_of_whatever_passes(answer):
    values = np.random.default_rng(0).normal(size=(5, 3))
    expected = bootstrap_interval(values, resamples=20)
    got = bootstrap_interval(values, judge(BY_ID["5.2"], answer).version, resamples=20)
    np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PRACTICE["5.3"], ids=lambda f: f.__name__)
def test_an_agent_learns_with_whatever_callback_passes(answer, tmp_path):
    tiny = {"hidden": 4, "batch_size": 4, "learning_starts": 8, "buffer_size": 50}
    mine = answer(every=10, episodes=1, path=tmp_path / "best.pt")
    agent = DDPG("Pendulum-v1", seed=0, **tiny).learn(30, mine)
    reference = callbacks.Evaluate(every=10, episodes=1)
    DDPG("Pendulum-v1", seed=0, **tiny).learn(30, reference)
    assert [(step, result.mean) for step, result in mine.curve] == [
        (step, result.mean) for step, result in reference.curve
    ]
    mine.restore_best(agent)
    assert evaluate(agent, episodes=1).mean == mine.best[1].mean
    assert evaluate(DDPG.load(tmp_path / "best.pt", env="Pendulum-v1"), episodes=1).mean == (
        mine.best[1].mean
    )


@pytest.mark.parametrize("answer", RIGHT_ANSWERS_PRACTICE["5.6"], ids=lambda f: f.__name__)
def test_recorded_demonstrations_can_be_split_by_whatever_passes(answer):
    demos = load_demos("data/demos/sparse_pendulum.npz")
    train, aside = answer(demos, 0.2, np.random.default_rng(0))
    assert len(train) + len(aside) == len(demos)
    assert sorted([*train.returns, *aside.returns]) == sorted(demos.returns)


# --- The blanks and the texts ---------------------------------------------------------------------


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_the_blank_says_what_to_do_and_not_how(exercise):
    source = definition(Path("."), f"{exercise.reference.__module__}:{exercise.name}")
    stub = blank(source, exercise.id)
    assert leak(giveaways(source), stub) is None
    steps = [int(n) for n in re.findall(r"(?m)^\s*# (\d+)\. ", stub)]
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= 2


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_messages_are_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert "*" not in prose, entry.name
        assert "$" not in prose, entry.name
        assert prose[-1] in ".`?!", entry.name


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_hints_and_messages_do_not_give_the_solution_away(exercise):
    secrets = giveaways(inspect.getsource(exercise.reference))
    assert secrets
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.misconceptions, *exercise.properties]]
    for text in texts:
        assert leak(secrets, text) is None, text


def test_there_are_many_misconceptions():
    assert [exercise.id for exercise in EXERCISES] == [f"5.{i}" for i in range(1, 8)]
    assert all(len(exercise.misconceptions) >= 15 for exercise in EXERCISES)
