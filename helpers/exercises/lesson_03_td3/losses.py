"""Lesson 03's actor: exercise 3.4 `actor_loss_by_q1`."""

from functools import partial

import torch
from torch import nn

from helpers.algorithms.td3 import actor_loss_by_q1
from helpers.exercises.losses import actor_loss_cases, observe_actor_loss
from helpers.exercises.properties import is_a_loss, leaves_gradients_alone
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallTwin, random_twin

actor_cases = partial(
    actor_loss_cases, by_hand=SmallTwin([1.0, 2.0], [0.0, 3.0]), random_critic=random_twin
)


class Product(nn.Module):
    """Two critics to whom an action is worth something in its own state alone."""

    def q1(self, obs, action):
        return (obs * action).sum(dim=-1)

    def forward(self, obs, action):
        return self.q1(obs, action), self.q1(obs, action)


def judges_each_action_in_its_state(function, rng):
    return (
        abs(float(function(nn.Identity(), Product(), torch.eye(4, requires_grad=True)).mean()))
        > 1e-6
    )


ACTOR_LOSS_BY_Q1 = exercise(
    __file__, "3.4", actor_loss_by_q1, actor_cases, observe_actor_loss,
    properties=is_a_loss(actor_cases)
    | leaves_gradients_alone(actor_cases)
    | {"actions in other states": judges_each_action_in_its_state},
)  # fmt: skip
