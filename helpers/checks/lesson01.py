"""Lesson 01, A2C: the exercises in the order in which the lesson asks them."""

from __future__ import annotations

from helpers.checks.a2c_losses import ACTOR_LOSS, CRITIC_LOSS
from helpers.checks.a2c_networks import MAKE_ACTOR, MAKE_CRITIC
from helpers.checks.a2c_policies import ENTROPY, GAUSSIAN_LOG_PROB, LOG_PROB
from helpers.checks.a2c_rollouts import BOOTSTRAPPED_RETURNS, GAE, LEARNABLE_ROWS

EXERCISES = [
    MAKE_ACTOR,
    LOG_PROB,
    BOOTSTRAPPED_RETURNS,
    ACTOR_LOSS,
    MAKE_CRITIC,
    CRITIC_LOSS,
    LEARNABLE_ROWS,
    GAE,
    ENTROPY,
    GAUSSIAN_LOG_PROB,
]
