"""Lesson 05's exercises: what is made of right answers works, and keeps what the checks look at."""

import numpy as np
import pytest

from helpers import evaluation
from helpers.checks import exercises
from helpers.checks.core import judge
from helpers.evaluation import evaluate
from helpers.exercises.lesson_05_td3_in_practice.watched_env import ENV_ID, LOG
from helpers.training.statistics import bootstrap_interval

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
