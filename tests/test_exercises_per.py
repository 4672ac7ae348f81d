"""Lesson 04: what passes works in the rest of the lesson."""

import numpy as np
import pytest
import torch

from helpers.checks.core import judge
from helpers.exercises.lesson_04_ddpgfd import sampling
from helpers.exercises.lesson_04_ddpgfd.buffer import PRIORITIZED_BUFFER
from helpers.exercises.lesson_04_ddpgfd.n_step import N_STEP_RETURN
from helpers.exercises.lesson_04_ddpgfd.trees import SEGMENT_TREE, SUM_TREE
from helpers.memory import buffers, textbook


def answers(*exercises):
    pairs = [(exercise, answer) for exercise in exercises for answer in exercise.right]
    ids = [f"{exercise.id} {answer.name}" for exercise, answer in pairs]
    return pytest.mark.parametrize(("exercise", "answer"), pairs, ids=ids)


@answers(sampling.IMPORTANCE_WEIGHTS, N_STEP_RETURN)
def test_a_buffer_samples_with_whatever_passes(exercise, answer, monkeypatch):
    """The same batches as the course's own, with one piece replaced."""
    before, version = list(sampled()), judge(exercise, answer.function).version
    monkeypatch.setattr(buffers, exercise.name, version)
    for batch, wanted in zip(sampled(), before, strict=True):
        for part, like in zip(batch, wanted, strict=True):
            torch.testing.assert_close(part, like)  # and of the same dtype


def sampled():
    memory = buffers.PrioritizedReplayBuffer(50, (1,), (1,), 0, n_steps=3, beta_samples=4)
    for i in range(70):
        memory.add(np.full(1, i), np.zeros(1), i % 7, np.full(1, i + 1), i % 9 == 8, False)
    for _ in range(5):
        yield (batch := memory.sample(16))
        memory.update_priorities(batch.indices, batch.n_reward.abs() + 0.1)


@answers(SEGMENT_TREE, SUM_TREE)
def test_a_textbook_buffer_works_on_whatever_trees_pass(exercise, answer, monkeypatch):
    version = judge(exercise, answer.function).version
    trees = {"SumTree": version}
    if exercise is SEGMENT_TREE:
        kinds = textbook.SumTree, textbook.MinTree
        trees = {kind.__name__: type("", (version,), dict(vars(kind))) for kind in kinds}
    for name, kind in trees.items():
        monkeypatch.setattr(textbook, name, kind)
    assert judge(PRIORITIZED_BUFFER, textbook.PrioritizedBuffer).passed
