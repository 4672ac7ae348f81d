"""Lesson 02's exercises: what their Markdown files cannot say."""

from dataclasses import replace

import pytest
import torch

from helpers.algorithms import ddpg
from helpers.algorithms.shared import OUNoise
from helpers.checks import exercises, grade
from helpers.checks.core import judge
from helpers.memory.replay import ReplayBuffer


@pytest.mark.parametrize("seed", range(12))
def test_chance_decides_about_no_noise_and_no_buffer(seed):
    """Right ones pass whatever numbers they happen to draw."""

    class Noise(OUNoise):
        def sample(self, shape, rng):
            rng.random(seed)
            return super().sample(shape, rng)

    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            self.rng.random(seed)
            return super().sample(batch_size)

    for exercise_id, right in (("2.9", Noise), ("2.5", Buffer)):
        result = grade(exercise_id, right)
        assert result.passed, str(result)


EVERY_ANSWER = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.name}")
    for exercise in exercises("02_ddpg")
    for answer in exercise.right
    if hasattr(ddpg, exercise.name) or exercise.name == "OUNoise"
]


@pytest.mark.parametrize(("exercise", "answer"), EVERY_ANSWER)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
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
        pairs = (getattr(each, name).parameters() for each in (before, agent))
        for old, new in zip(*pairs, strict=True):
            assert torch.isfinite(new).all()
            assert not torch.equal(old, new)
    assert {"critic_loss", "actor_loss"} <= agent.history.keys()
