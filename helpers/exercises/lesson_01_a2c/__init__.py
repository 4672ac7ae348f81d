"""Lesson 01's exercises."""

from helpers.exercises.lesson_01_a2c.losses import ACTOR_LOSS, CRITIC_LOSS
from helpers.exercises.lesson_01_a2c.networks import MAKE_ACTOR, MAKE_CRITIC
from helpers.exercises.lesson_01_a2c.policies import ENTROPY, GAUSSIAN_LOG_PROB, LOG_PROB
from helpers.exercises.lesson_01_a2c.rollouts import BOOTSTRAPPED_RETURNS, GAE, LEARNABLE_ROWS

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
