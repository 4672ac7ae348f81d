"""Lesson 05's exercises: what is made of right answers works, and keeps what the checks look at."""

import numpy as np
import pytest

from helpers import evaluation
from helpers.agents import DDPG
from helpers.checks import exercises
from helpers.checks.core import judge
from helpers.checks.edits import compiled, source_of_reference
from helpers.checks.exercise import find
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate
from helpers.exercises.lesson_05_td3_in_practice.watched_env import ENV_ID, LOG
from helpers.training import callbacks
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


NOT_PASSED_ON = "Begin with `super().reset(seed=seed)`"
SLIPS = [
    ("2.1", "super().__init__()", "pass", "has to begin with `super().__init__()`"),
    ("2.5", "self.rng.integers(0, self.size, batch_size)", "self.rng.randint(9)", "rng.integers"),
    ("2.5", "array[self.position] = part", "array.append(part)", "An array keeps its length"),
    ("2.6", "(1 - batch.terminated)", "~batch.terminated", "subtract 0.0 and 1.0 from 1"),
    ("2.9", "standard_normal(shape)", "integers(0, size=shape)", "subtract something from the"),
    ("5.3", "self.best[1].mean", "self.best.mean", "A tuple's parts have no names"),
    ("5.4", "super().reset(seed=seed)", "super.reset(seed=seed)", "`super` has to be called"),
    ("5.4", "super().reset(seed=seed)", "super().reset()", NOT_PASSED_ON),
    ("5.4", "super().reset(seed=seed)", "pass", NOT_PASSED_ON),
    ("5.6", "rng.permutation", "np.random.default_rng(42).permutation", "You never draw from"),
    ("5.2", "range(cut, n - cut)", "slice(cut, n - cut)", "such as a `range`"),
    ("5.5", "nn.LayerNorm(size)", "nn.LayerNorm(sizes)", "use something else instead of `sizes`"),
    ("5.5", "(*layers)", "(layers)", "with a star: `*layers`"),
    ("5.5", "nn.ReLU()", "nn.ReLU", "`nn.ReLU()` with its brackets"),
]


@pytest.mark.parametrize(("exercise_id", "right", "wrong", "says"), SLIPS)
def test_a_slip_that_no_entry_has_is_named_by_a_rule(exercise_id, right, wrong, says):
    exercise = find(exercise_id)
    source = source_of_reference(exercise.reference)
    assert right in source
    answer = compiled(exercise.reference, source.replace(right, wrong), "a slip")
    assert says in judge(exercise, answer).message


@pytest.mark.parametrize("answer", right_answers("5.2"))
def test_an_interval_can_be_made_of_whatever_passes(answer):
    values = np.random.default_rng(0).normal(size=(5, 3))
    version = judge(BY_ID["5.2"], answer.function).version
    got = bootstrap_interval(values, version, resamples=20)
    np.testing.assert_allclose(got, bootstrap_interval(values, resamples=20))


@pytest.mark.parametrize("answer", right_answers("5.3"))
def test_an_agent_learns_with_whatever_callback_passes(answer, tmp_path):
    tiny = {"hidden": 4, "batch_size": 4, "learning_starts": 8, "buffer_size": 50}
    mine = answer.function(every=10, episodes=1, path=tmp_path / "best.pt")
    agent = DDPG("Pendulum-v1", seed=0, **tiny).learn(30, mine)
    reference = callbacks.Evaluate(every=10, episodes=1)
    DDPG("Pendulum-v1", seed=0, **tiny).learn(30, reference)
    assert [(step, result.mean) for step, result in mine.curve] == [
        (step, result.mean) for step, result in reference.curve
    ]
    mine.restore_best(agent)
    loaded = DDPG.load(tmp_path / "best.pt", env="Pendulum-v1")
    assert [evaluate(one, episodes=1).mean for one in (agent, loaded)] == [mine.best[1].mean] * 2


@pytest.mark.parametrize("answer", right_answers("5.6"))
def test_recorded_demonstrations_can_be_split_by_whatever_passes(answer):
    demos = load_demos("data/demos/sparse_pendulum.npz")
    train, aside = answer.function(demos, 0.2, np.random.default_rng(0))
    assert len(train) + len(aside) == len(demos)
    assert sorted([*train.returns, *aside.returns]) == sorted(demos.returns)
