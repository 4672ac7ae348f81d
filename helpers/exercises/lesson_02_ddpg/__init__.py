"""Lesson 02's exercises."""

from helpers.exercises.lesson_02_ddpg.actions import OU_NOISE, TO_ENV_UNITS
from helpers.exercises.lesson_02_ddpg.losses import (
    ACTOR_LOSS,
    CRITIC_LOSS,
    POLYAK_UPDATE,
    TD_TARGET,
)
from helpers.exercises.lesson_02_ddpg.networks import DETERMINISTIC_ACTOR, Q_NETWORK
from helpers.exercises.lesson_02_ddpg.replay import REPLAY_BUFFER

EXERCISES = [
    DETERMINISTIC_ACTOR,
    TO_ENV_UNITS,
    Q_NETWORK,
    ACTOR_LOSS,
    REPLAY_BUFFER,
    TD_TARGET,
    CRITIC_LOSS,
    POLYAK_UPDATE,
    OU_NOISE,
]
