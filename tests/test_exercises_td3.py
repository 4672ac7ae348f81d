"""Lesson 03's exercises: what chance decides, and side effects."""

import pytest
import torch
from torch import nn

from helpers.agents.td3 import TD3
from helpers.checks import exercises
from helpers.checks.core import judge

LESSON = {exercise.id: exercise for exercise in exercises("03_td3")}


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


def test_a_wrong_update_has_its_name_whatever_its_twin():
    exercise, wrong = LESSON["3.7"], mistake("3.7", "targets never move")
    for twin in (answer.function for answer in LESSON["3.2"].right):
        mistaken = type("TD3", (wrong.function,), {"critic_class": twin})
        assert judge(exercise, mistaken).diagnosis == wrong.name
