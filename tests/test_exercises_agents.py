"""What passes works in the rest of its lesson: agents learn with it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from helpers import evaluation
from helpers.agents import PPO, SAC, TD3, DDPGfD, ddpgfd, ppo, sac, td3
from helpers.algorithms import ddpg
from helpers.checks import exercises
from helpers.checks.core import judge
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate
from helpers.exercises.lesson_05_td3_in_practice.watched_env import ENV_ID, LOG
from helpers.training.statistics import bootstrap_interval

OFF_POLICY = {"learning_starts": 8, "buffer_size": 12, "tau": 0.5}
FROM_DEMOS = OFF_POLICY | {"buffer_size": 1100, "pretraining": 20}
ON_POLICY = {"n_envs": 2, "n_steps": 8}
# The agent, its settings, where it looks its functions up, and what it logs beside two losses.
AGENTS = {
    "03_td3": (TD3, OFF_POLICY, td3, ()),
    "04_ddpgfd": (DDPGfD, FROM_DEMOS, ddpgfd, ("demonstrations",)),
    "06_sac": (SAC, OFF_POLICY, sac, ("temperature", "entropy")),
    "07_ppo": (PPO, ON_POLICY, ppo, ("entropy", "approx_kl", "clip_fraction")),
}
CLASSES = {
    "DeterministicActor": "actor_class",
    "QNetwork": "critic_class",
    "SquashedGaussianActor": "actor_class",
    "TwinQNetwork": "critic_class",
}


def answers(lesson, used):
    """The right answers to those of its exercises that are part of what learns; on `--all` all."""
    return [
        pytest.param(
            exercise, answer, id=f"{exercise.id} {answer.name}", marks=[pytest.mark.long] * (n > 0)
        )
        for exercise in exercises(lesson)
        if used(exercise)
        for n, answer in enumerate(exercise.right)
    ]


EVERY_ANSWER = [
    each
    for lesson, (_, _, module, _) in AGENTS.items()
    for each in answers(lesson, lambda it, own=module: it.name in CLASSES or hasattr(own, it.name))
]


@pytest.mark.parametrize(("exercise", "answer"), EVERY_ANSWER)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, after which every weight has moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        version = judge(exercise, answer.function).version
    assert version is not exercise.reference
    kind, settings, module, logged = AGENTS[exercise.lesson]
    kind = type(kind.__name__, (kind,), {})  # which has no twin in numpy
    if exercise.name in CLASSES:
        monkeypatch.setattr(kind, CLASSES[exercise.name], staticmethod(version))
    else:
        monkeypatch.setattr(module, exercise.name, version)
    env_id = "SparsePendulum-v0" if settings is FROM_DEMOS else "Pendulum-v1"
    agent = kind(env_id, seed=0, batch_size=8, hidden=8, **settings)
    if settings is FROM_DEMOS:
        agent.remember(load_demos("data/demos/sparse_pendulum.npz"))
    networks = [part for part in vars(agent).values() if isinstance(part, nn.Module)]
    parameters = [parameter for network in networks for parameter in network.parameters()]
    before = [parameter.detach().clone() for parameter in parameters]
    agent.learn(60)
    assert getattr(agent, "updates", 50) >= 50
    assert {"critic_loss", "actor_loss", *logged} <= agent.history.keys()
    if settings is FROM_DEMOS:
        assert len(np.unique(agent.buffer.sums.leaves)) > 50
    assert_moved(before, parameters)


def assert_moved(before, after):
    """Every weight is another one, and a number."""
    for old, new in zip(before, after, strict=True):
        assert torch.isfinite(new).all()
        assert not torch.equal(old, new)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    answers("02_ddpg", lambda each: hasattr(ddpg, each.name) or each.name == "OUNoise"),
)
def test_lesson_02_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """As in a notebook, where the loop calls what the student wrote; every weight has moved."""
    version = judge(exercise, answer.function).version
    assert version is not exercise.reference
    settings = replace(ddpg.PENDULUM, steps=60, learning_starts=8, batch_size=8, tau=0.5)
    if exercise.name == "OUNoise":
        settings = replace(settings, noise=version(sigma=0.3), warm_up_noise=version(sigma=0.5))
    else:
        monkeypatch.setattr(ddpg, exercise.name, version)
    networks = ("actor", "critic", "target_actor", "target_critic")
    before, agent = (ddpg.train(s) for s in (replace(settings, steps=1), settings))
    for name in networks:
        assert_moved(*(getattr(each, name).parameters() for each in (before, agent)))
    assert {"critic_loss", "actor_loss"} <= agent.history.keys()


# --- What is made of answers in lesson 05 ---------------------------------------------------------

BY_ID = {exercise.id: exercise for exercise in exercises("05_td3_in_practice")}


def right_answers(exercise_id: str) -> list:
    return [pytest.param(answer, id=answer.name) for answer in BY_ID[exercise_id].right]


@pytest.mark.parametrize("answer", right_answers("5.1"))
def test_an_evaluation_works_with_whatever_passes(answer, monkeypatch):
    """Lists become arrays, which have a mean."""
    expected = evaluate(lambda obs: np.ones(1), ENV_ID, episodes=4, seed=5)
    monkeypatch.setattr(evaluation, "play_episodes", judge(BY_ID["5.1"], answer.function).version)
    result = evaluation.evaluate(lambda obs: np.ones(1), ENV_ID, episodes=4, seed=5)
    np.testing.assert_allclose(result.returns, expected.returns)
    np.testing.assert_array_equal(result.lengths, expected.lengths)
    assert result.mean == pytest.approx(expected.mean)
    LOG.clear()


def test_the_verdict_says_that_lists_were_made_arrays():
    lists = BY_ID["5.1"].right[0].function
    result = judge(BY_ID["5.1"], lists)
    assert result.version is not lists
    assert "converted to the types that they expect" in result.footer


@pytest.mark.parametrize("answer", right_answers("5.2"))
def test_an_interval_can_be_made_of_whatever_passes(answer):
    values = np.random.default_rng(0).normal(size=(5, 3))
    version = judge(BY_ID["5.2"], answer.function).version
    got = bootstrap_interval(values, version, resamples=20)
    np.testing.assert_allclose(got, bootstrap_interval(values, resamples=20))
