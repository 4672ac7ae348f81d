"""What passes exercises 4.8 to 4.12 can be used in the rest of the lesson, too."""

import numpy as np
import pytest
import torch

from helpers.agents import ddpgfd
from helpers.agents.ddpgfd import DDPGfD
from helpers.checks.core import judge
from helpers.demos.files import load_demos
from helpers.exercises.lesson_04_ddpgfd.losses import (
    N_STEP_TARGET,
    PRIORITIES,
    WEIGHTED_CRITIC_LOSS,
)
from helpers.exercises.lesson_04_ddpgfd.n_step import N_STEP_RETURN
from helpers.exercises.lesson_04_ddpgfd.update import DDPGFD_UPDATE


def answers_to(*exercises):
    return [
        pytest.param(exercise, answer, id=f"{exercise.id} {answer.name}")
        for exercise in exercises
        for answer in exercise.right
    ]


FORMULAS = answers_to(PRIORITIES, N_STEP_TARGET, WEIGHTED_CRITIC_LOSS)
UPDATES = answers_to(DDPGFD_UPDATE)
RETURNS = answers_to(N_STEP_RETURN)


@pytest.mark.parametrize(("exercise", "answer"), FORMULAS)
def test_an_update_made_of_ones_own_formulas_passes(exercise, answer, monkeypatch):
    """As in a notebook, where the class calls what the student wrote."""
    monkeypatch.setattr(ddpgfd, exercise.name, judge(exercise, answer.function).version)
    result = judge(DDPGFD_UPDATE, type("DDPGfD", (DDPGfD,), {}))
    assert result.passed, str(result)


@pytest.mark.parametrize(("exercise", "answer"), FORMULAS + UPDATES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    version = judge(exercise, answer.function).version
    kind = version if exercise is DDPGFD_UPDATE else DDPGfD
    if exercise is not DDPGFD_UPDATE:
        monkeypatch.setattr(ddpgfd, exercise.name, version)
    trained = kind(
        "SparsePendulum-v0", seed=0, pretraining=20, learning_starts=8, batch_size=8, hidden=8,
        buffer_size=1100, tau=0.5,
    ).remember(load_demos("data/demos/sparse_pendulum.npz"))  # fmt: skip
    networks = (trained.actor, trained.critic, trained.target_actor, trained.target_critic)
    before = [p.detach().clone() for network in networks for p in network.parameters()]
    trained.learn(40)
    after = [p for network in networks for p in network.parameters()]
    assert trained.updates >= 50
    assert {"critic_loss", "actor_loss", "demonstrations"} <= set(trained.history)
    assert len(np.unique(trained.buffer.sums.leaves)) > 50
    for was, parameter in zip(before, after, strict=True):
        assert torch.isfinite(parameter).all()
        assert not torch.equal(was, parameter)


@pytest.mark.parametrize(("exercise", "answer"), RETURNS)
def test_later_cells_get_arrays_from_whatever_was_written(exercise, answer):
    case = exercise.inputs[-1]
    got = judge(exercise, answer.function).version(*case.args)
    for part, wanted in zip(got, exercise.reference(*case.args), strict=True):
        assert isinstance(part, np.ndarray)
        assert part.dtype.kind == wanted.dtype.kind
        np.testing.assert_allclose(part, wanted, rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("batch.reward.mul_(0.5)", "parts of the batch that were changed"),
        ("self.steps += 1", "count in `self.steps`"),
    ],
)
def test_an_update_that_changes_something_else_is_refused(change, part):
    scope = {"DDPGfD": DDPGfD}
    exec(
        "def update(self, batch):\n    losses = DDPGfD.update(self, batch)\n"
        f"    {change}\n    return losses",
        scope,
    )
    result = judge(DDPGFD_UPDATE, type("DDPGfD", (DDPGfD,), {"update": scope["update"]}))
    assert part in result.message
