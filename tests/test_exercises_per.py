"""Exercises 4.1 to 4.7 and 4.9: what values cannot show; what passes works in the lesson."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.checks.core import judge
from helpers.checks.edits import Edit, edited
from helpers.demos.files import ARRAYS, load_demos, read_episodes
from helpers.exercises.lesson_04_ddpgfd import sampling
from helpers.exercises.lesson_04_ddpgfd.demonstrations import READ_EPISODES
from helpers.exercises.lesson_04_ddpgfd.n_step import N_STEP_RETURN
from helpers.exercises.lesson_04_ddpgfd.trees import SEGMENT_TREE, SUM_TREE
from helpers.memory import buffers, segment_tree
from helpers.memory.segment_tree import SumTree

FILES, PLACES = sorted(Path("data/demos").glob("*.npz")), "nodes - self.first_leaf"


def mistake(exercise, name):
    return next(wrong.function for wrong in exercise.mistakes if wrong.name == name)


def answers(*exercises):
    pairs = [(exercise, answer) for exercise in exercises for answer in exercise.right]
    ids = [f"{exercise.id} {answer.name}" for exercise, answer in pairs]
    return pytest.mark.parametrize(("exercise", "answer"), pairs, ids=ids)


@pytest.mark.parametrize(
    ("exercise", "old", "new", "diagnosis"),
    [
        (READ_EPISODES, "array[start:stop]", "array[start:stop].tolist()", "no arrays"),
        (READ_EPISODES, "array[start:stop]", "array[start:stop] * 1.0", "other kinds"),
        (SEGMENT_TREE, "nodes // 2", "nodes // 2; values *= 1.5", "changes its inputs"),
        (SEGMENT_TREE, "= values", "= np.maximum(values, 1e-6)", "priorities changed"),
        (SEGMENT_TREE, "= values", "= values.astype(np.float32)", "priorities changed"),
        (SUM_TREE, "self.enter(prefix_sums)", "self.enter(abs(prefix_sums))", "accepts what"),
        (SUM_TREE, "return nodes", "self.nodes[0] = 9; return nodes", "changes the tree"),
        (SUM_TREE, PLACES, f"({PLACES}).tolist()", "no array"),
        (SUM_TREE, PLACES, f"torch.tensor({PLACES})", "no array"),
        (SUM_TREE, PLACES, f"({PLACES}) / 1", "no whole numbers"),
        (SUM_TREE, PLACES, "self.leaves.cumsum().searchsorted(np.minimum(prefix_sums, "
         "np.nextafter(self.total, 0)), 'right')", "adds up the leaves"),
    ],
)  # fmt: skip
def test_names_what_values_cannot_show(exercise, old, new, diagnosis):
    result = judge(exercise, edited(exercise.reference, [Edit(old, new)], "a test"))
    assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_a_set_for_a_single_root_alone_is_refused():
    levels = "int(np.ceil(np.log2(self.capacity)))"
    leaf = Edit("self.first_leaf + indices", f"2 ** {levels} + indices")
    climb = Edit("range(self.depth)", f"range({levels})", "set")
    wrong = edited(SEGMENT_TREE.reference, [leaf, climb], "a test")
    assert judge(SEGMENT_TREE, wrong).diagnosis == "wrong below a wider top level"


def test_a_reader_that_refuses_the_file_after_running_its_code_has_run_it():
    def too_late(path):
        with np.load(path, allow_pickle=True) as file:
            assert all(file[name].dtype != object for name in file.files)
        return read_episodes(path)

    assert judge(READ_EPISODES, too_late).diagnosis == "pickles allowed"


@pytest.mark.parametrize("error", [ValueError, FileNotFoundError])
def test_a_reader_lets_errors_pass(error):
    def swallows(path):
        try:
            return read_episodes(path)
        except error:
            return {}, []

    assert judge(READ_EPISODES, swallows).diagnosis == "error swallowed"


@answers(READ_EPISODES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_reader_reads_the_courses_own_files(exercise, answer, path):
    (about, episodes), demos = answer.function(path), load_demos(path)
    assert about["env_id"] == demos.env_id
    for episode, rows in zip(episodes, demos.episodes, strict=True):
        for name in ARRAYS:
            np.testing.assert_array_equal(episode[name], getattr(demos, name)[rows])


@answers(sampling.SAMPLING_PROBABILITIES, sampling.IMPORTANCE_WEIGHTS, N_STEP_RETURN)
def test_later_cells_get_arrays_from_whatever_was_written(exercise, answer):
    args = exercise.inputs[-1].args
    wanted, got = exercise.reference(*args), judge(exercise, answer.function).version(*args)
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
    for part, like in pairs:
        assert isinstance(part, np.ndarray)
        assert part.dtype.kind == like.dtype.kind
        np.testing.assert_allclose(part, like, rtol=1e-4)


@answers(
    sampling.IMPORTANCE_WEIGHTS, sampling.LINEAR_SCHEDULE, SEGMENT_TREE, SUM_TREE, N_STEP_RETURN
)
@pytest.mark.parametrize("top", [1, 3, None])
def test_a_buffer_draws_with_whatever_passes(exercise, answer, top, monkeypatch):
    """The same batches as the course's own, with one piece replaced; a top level of any width."""
    monkeypatch.setattr(SumTree, "usual_top", top or SumTree.usual_top)
    before, version = list(drawn_batches()), judge(exercise, answer.function).version
    replaced = {exercise.name: version}
    if exercise is SEGMENT_TREE:
        replaced = {"SumTree": type("", (version,), dict(vars(SumTree)))}
    for name, own in replaced.items():
        monkeypatch.setattr(buffers, name, own)
    for batch, wanted in zip(drawn_batches(), before, strict=True):
        for part, like in zip(batch, wanted, strict=True):
            torch.testing.assert_close(part, like)  # and of the same dtype


def drawn_batches():
    memory = buffers.PrioritizedReplayBuffer(50, (1,), (1,), 0, n_steps=3, beta_samples=4)
    for i in range(70):
        memory.add(np.full(1, i), np.zeros(1), i % 7, np.full(1, i + 1), i % 9 == 8, False)
    for _ in range(5):
        yield (batch := memory.sample(16))
        memory.update_priorities(batch.indices, batch.n_reward.abs() + 0.1)


@pytest.mark.parametrize("base", ["nothing written", "the whole tree anew"])
def test_retrieve_is_judged_in_a_notebook_whatever_set_is(base):
    cell = vars(segment_tree) | {"SegmentTree": mistake(SEGMENT_TREE, base)}
    exec(inspect.getsource(SumTree), cell)
    assert judge(SUM_TREE, cell["SumTree"]).passed
    cell["SumTree"].retrieve = mistake(SUM_TREE, "left at the border").retrieve
    assert judge(SUM_TREE, cell["SumTree"]).diagnosis == "left at the border"
