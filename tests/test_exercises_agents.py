"""What passes works in the rest of its lesson: agents learn with it."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from helpers.agents import PPO, SAC, TD3, DDPGfD, ddpgfd, ppo, sac, td3
from helpers.checks import exercises
from helpers.checks.core import judge
from helpers.demos.files import load_demos

OFF_POLICY = {"learning_starts": 8, "buffer_size": 12, "tau": 0.5}
FROM_DEMOS = OFF_POLICY | {"buffer_size": 1100, "pretraining": 20}
ON_POLICY = {"n_envs": 2, "n_steps": 8}
# The agent, its settings, where it looks its functions up, and what it logs beside two losses.
AGENTS = {
    "03_td3": (TD3, OFF_POLICY, (td3,), ()),
    "04_ddpgfd": (DDPGfD, FROM_DEMOS, (ddpgfd,), ("demonstrations",)),
    "06_sac": (SAC, OFF_POLICY, (sac,), ("temperature", "entropy")),
    "07_ppo": (PPO, ON_POLICY, (ppo,), ("entropy", "approx_kl", "clip_fraction")),
}
UPDATES = {}
CLASSES = {
    "DeterministicActor": "actor_class",
    "QNetwork": "critic_class",
    "SquashedGaussianActor": "actor_class",
    "TwinQNetwork": "critic_class",
}


def places(exercise):
    return [place for place in AGENTS[exercise.lesson][2] if hasattr(place, exercise.name)]


EVERY_ANSWER = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.name}")
    for lesson in AGENTS
    for exercise in exercises(lesson)
    for answer in exercise.right
    if exercise.name in CLASSES or places(exercise)  # others are no part of the agent
]


def made_with(exercise, version, monkeypatch):
    """The lesson's agent, with one piece replaced by somebody's own."""
    kind = AGENTS[exercise.lesson][0]
    if exercise.name == kind.__name__:
        return version
    kind = type(kind.__name__, (kind,), {})
    if exercise.name in CLASSES:
        monkeypatch.setattr(kind, CLASSES[exercise.name], staticmethod(version))
        return kind
    for place in places(exercise):
        monkeypatch.setattr(place, exercise.name, version)
    return kind


@pytest.mark.parametrize(("exercise", "answer"), EVERY_ANSWER)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, after which every weight has moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        version = judge(exercise, answer.function).version
    assert version is not exercise.reference
    kind = made_with(exercise, version, monkeypatch)
    _, settings, _, logged = AGENTS[exercise.lesson]
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
    for old, parameter in zip(before, parameters, strict=True):
        assert torch.isfinite(parameter).all()
        assert not torch.equal(old, parameter)
