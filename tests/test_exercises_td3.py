"""Lesson 03's exercises: what chance decides, and side effects."""

import pytest
import torch
from torch import nn

from helpers.checks import exercises
from helpers.checks.core import judge

LESSON = {exercise.id: exercise for exercise in exercises("03_td3")}


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


# --- Side effects ---------------------------------------------------------------------------------


def test_a_loss_leaves_stored_gradients_alone():
    exercise = LESSON["3.6"]

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
