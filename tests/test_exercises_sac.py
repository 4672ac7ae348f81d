"""Lesson 06's exercises: what chance decides, and what passes can be trained with."""

import inspect
import warnings

import pytest
import torch

from helpers.agents import sac
from helpers.agents.sac import SAC
from helpers.checks import exercises
from helpers.checks.core import judge
from tools.sources import giveaways, leak

EXERCISES = exercises("06_sac")
LESSON = {exercise.id: exercise for exercise in EXERCISES}
PIECES = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.name}")
    for exercise in EXERCISES
    for answer in exercise.right
]


def with_update(update):
    return type("SAC", (SAC,), {"update": update})


def test_an_update_may_draw_in_any_order():
    def drawing_first(self, batch):
        self.rng.random(7)
        return SAC.update(self, batch)

    assert judge(LESSON["6.7"], with_update(drawing_first)).passed


@pytest.mark.parametrize("draw", [torch.randn_like, lambda mean: torch.zeros_like(mean)])
def test_an_update_that_draws_elsewhere_is_refused(draw):
    def sampled(self, obs, _):
        mean, log_std = self.actor(obs)
        return sac.squashed_sample(mean, log_std, draw(mean))

    def update(self, batch):
        self.sample = lambda obs, rng: sampled(self, obs, rng)
        return SAC.update(self, batch)

    assert not judge(LESSON["6.7"], with_update(update)).passed


def test_a_sample_without_a_way_through_is_named_however_it_is_written():
    def by_sample(mean, log_std, noise):
        with torch.no_grad():
            u = mean + log_std.exp() * noise
        log_prob = torch.distributions.Normal(mean, log_std.exp()).log_prob(u)
        return torch.tanh(u), (log_prob - sac.log_tanh_slope(u)).sum(dim=-1)

    assert judge(LESSON["6.3"], by_sample).diagnosis == "not through the draw"


def test_an_agent_is_judged_by_its_update_whatever_its_functions(monkeypatch):
    """As in a notebook, where the class calls what the student wrote."""
    for part in (LESSON[exercise_id] for exercise_id in ("6.3", "6.4", "6.5", "6.6")):
        for answer in part.right:
            monkeypatch.setattr(sac, part.name, answer.function)
            result = judge(LESSON["6.7"], type("SAC", (SAC,), {}))
            assert result.passed, f"{part.id} {answer.name}: {result}"
            monkeypatch.undo()


@pytest.mark.parametrize(("exercise", "answer"), PIECES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, with one piece replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        version = judge(exercise, answer.function).version
    kind = version if exercise.name == "SAC" else SAC
    if exercise.name == "SquashedGaussianActor":
        kind = type("SAC", (SAC,), {"actor_class": version})
    elif exercise.name != "SAC":
        monkeypatch.setattr(sac, exercise.name, version)
    settings = {"learning_starts": 8, "batch_size": 8, "hidden": 8, "buffer_size": 20, "tau": 0.5}
    agent = kind("Pendulum-v1", seed=0, **settings)
    parameters = [*agent.actor.parameters(), *agent.online, *agent.targets, agent.temperature.log]
    before = [parameter.detach().clone() for parameter in parameters]
    agent.learn(60)
    assert {"critic_loss", "actor_loss", "temperature", "entropy"} <= agent.history.keys()
    for old, parameter in zip(before, parameters, strict=True):
        assert torch.isfinite(parameter).all()
        assert not torch.equal(old, parameter)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_no_text_gives_the_solution_away(exercise):
    secrets = giveaways(inspect.getsource(exercise.reference))
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.mistakes, *exercise.properties]]
    for text in texts:
        assert leak(secrets, text) is None, text
