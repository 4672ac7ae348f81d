"""Lesson 02, DDPG: the exercises in the order in which the lesson asks them."""

from __future__ import annotations

from helpers.checks.ddpg_actions import OU_NOISE, TO_ENV_UNITS
from helpers.checks.ddpg_losses import ACTOR_LOSS, CRITIC_LOSS, POLYAK_UPDATE, TD_TARGET
from helpers.checks.ddpg_networks import DETERMINISTIC_ACTOR, Q_NETWORK
from helpers.checks.ddpg_replay import REPLAY_BUFFER

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
