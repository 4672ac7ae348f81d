"""Lesson 03's exercises: what chance decides, and what passes can be trained with."""

import inspect
import warnings

import pytest
import torch
from torch import nn

from helpers.agents import td3
from helpers.agents.td3 import TD3
from helpers.checks import exercises
from helpers.checks.core import judge
from tools.sources import giveaways, leak

EXERCISES = exercises("03_td3")
LESSON = {exercise.id: exercise for exercise in EXERCISES}
PIECES = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.name}")
    for exercise in EXERCISES[1:]
    for answer in exercise.right
]


def mistake(exercise_id, name):
    return next(wrong for wrong in LESSON[exercise_id].mistakes if wrong.name == name)


# --- Chance ---------------------------------------------------------------------------------------


def redrawn(smooth, number):
    """The same smoothing with other random numbers."""

    def later(target_actor, next_obs, target_noise, noise_clip, rng):
        rng.random(number)
        return smooth(target_actor, next_obs, target_noise, noise_clip, rng)

    return later


def test_a_right_smoothing_passes_whatever_it_draws():
    exercise = LESSON["3.5"]
    for number in range(1, 9):
        for right in (exercise.reference, *(answer.function for answer in exercise.right)):
            result = judge(exercise, redrawn(right, number))
            assert result.passed, str(result)


@pytest.mark.parametrize("wrong", LESSON["3.5"].mistakes, ids=lambda wrong: wrong.name)
def test_a_wrong_smoothing_has_its_name_whatever_it_draws(wrong):
    result = judge(LESSON["3.5"], redrawn(wrong.function, 7))
    assert result.diagnosis == wrong.name, str(result)


def test_an_update_has_its_verdict_whatever_is_drawn():
    def drawing_first(agent, number):
        def update(self, batch):
            self.rng.random(number)
            return agent.update(self, batch)

        return type("TD3", (TD3,), {"update": update})

    for number in range(1, 13):
        assert judge(LESSON["3.7"], drawing_first(TD3, number)).passed
    wrong = mistake("3.7", "target_noise and noise_clip exchanged")
    for number in range(1, 4):
        result = judge(LESSON["3.7"], drawing_first(wrong.function, number))
        assert result.diagnosis == wrong.name, str(result)


# --- Side effects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise_id", ["3.4", "3.6"])
def test_a_loss_leaves_stored_gradients_alone(exercise_id):
    exercise = LESSON[exercise_id]

    def cleared(*args):
        for network in args:
            if isinstance(network, nn.Module):
                network.zero_grad()
        return exercise.reference(*args)

    def computed(*args):
        loss = exercise.reference(*args)
        loss.backward(retain_graph=True)
        return loss

    for wrong in (cleared, computed):
        assert judge(exercise, wrong).diagnosis == "changes stored gradients"


def test_a_smoothing_leaves_shared_random_streams_alone():
    def by_torch(target_actor, next_obs, target_noise, noise_clip, rng):
        torch.manual_seed(int(rng.integers(9**9)))
        action = target_actor(next_obs).detach()
        noise = (torch.randn(action.shape) * target_noise).clamp(-noise_clip, noise_clip)
        return (action + noise).clamp(-1, 1)

    assert judge(LESSON["3.5"], by_torch).diagnosis == "uses a shared stream"


# --- Pieces together ------------------------------------------------------------------------------


def test_an_agent_is_judged_by_its_update_whatever_its_twin_and_functions(monkeypatch):
    """As in a notebook, where the class calls what the student wrote."""
    exercise, wrong = LESSON["3.7"], mistake("3.7", "targets never move")
    for twin in (answer.function for answer in LESSON["3.2"].right):
        assert judge(exercise, type("TD3", (TD3,), {"critic_class": twin})).passed
        mistaken = type("TD3", (wrong.function,), {"critic_class": twin})
        assert judge(exercise, mistaken).diagnosis == wrong.name
    for part in (LESSON[exercise_id] for exercise_id in ("3.3", "3.4", "3.5", "3.6")):
        for answer in part.right:
            monkeypatch.setattr(td3, part.name, answer.function)
            result = judge(exercise, type("TD3", (TD3,), {}))
            assert result.passed, f"{part.id} {answer.name}: {result}"
            monkeypatch.undo()


@pytest.mark.parametrize(("exercise", "answer"), PIECES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, with one piece replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        version = judge(exercise, answer.function).version
    kind = version if exercise.name == "TD3" else TD3
    if exercise.name == "TwinQNetwork":
        kind = type("TD3", (TD3,), {"critic_class": version})
    elif exercise.name != "TD3":
        monkeypatch.setattr(td3, exercise.name, version)
    settings = {"learning_starts": 8, "batch_size": 8, "hidden": 8, "buffer_size": 20, "tau": 0.5}
    agent = kind("Pendulum-v1", seed=0, **settings)
    parameters = [*agent.online, *agent.targets]
    before = [parameter.detach().clone() for parameter in parameters]
    agent.learn(60)
    assert agent.updates >= 50
    assert "critic_loss" in agent.history
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
