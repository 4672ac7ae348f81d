"""Lesson 03's exercises: what chance decides, and side effects."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers.agents.base import gradient_step
from helpers.agents.td3 import TD3
from helpers.checks import exercises, grade
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


# --- Errors ---------------------------------------------------------------------------------------


def double_estimate(choosing, judging):
    return np.array([b[a.index(max(a))] for a, b in zip(choosing, judging, strict=True)])


def clipped_double_q_target(batch, next_action, target_critic, gamma):
    q1, q2 = target_critic(batch.next_obs, next_action)
    return batch.reward + gamma * ~batch.terminated * torch.minimum(q1, q2)


def twin_critic_loss(critic, batch, target):
    return ((critic(batch.obs, batch.action) - target) ** 2).mean()


def actor_loss_by_q1(actor, critic, obs):
    return -critic.q1(obs, actor).mean()


class UpdatesNetworks(TD3):
    def update(self, batch):
        loss = self.critic.q1(batch.obs, batch.action).mean()
        gradient_step(self.critic, loss)


@pytest.mark.parametrize(
    ("exercise_id", "wrong", "says"),
    [
        ("3.1", double_estimate, "`argmax()` gives the position of the largest entry."),
        ("3.3", clipped_double_q_target, "these are numbers: subtract 0.0 and 1.0 from 1."),
        ("3.4", twin_critic_loss, "or two critics in one, unpack them"),
        ("3.6", actor_loss_by_q1, "A `SmallActor` is no tensor: did you mean what it returns?"),
        ("3.7", UpdatesNetworks, "`gradient_step` takes the optimiser first"),
    ],
)
def test_an_error_is_explained_and_by_nothing_else(exercise_id, wrong, says):
    result = grade(exercise_id, wrong)
    assert says in result.message, result.message
    assert "np.stack" not in result.message
    assert "stand-in" not in result.message
