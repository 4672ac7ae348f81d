"""Lesson 03, TD3: the exercises in the order in which the lesson asks them."""

from __future__ import annotations

from helpers.checks.td3_losses import ACTOR_LOSS_BY_Q1, TWIN_CRITIC_LOSS
from helpers.checks.td3_networks import TWIN_Q_NETWORK
from helpers.checks.td3_smoothing import SMOOTHED_TARGET_ACTION
from helpers.checks.td3_targets import CLIPPED_DOUBLE_Q_TARGET, DOUBLE_ESTIMATE
from helpers.checks.td3_update import TD3_UPDATE

EXERCISES = [
    DOUBLE_ESTIMATE,
    TWIN_Q_NETWORK,
    CLIPPED_DOUBLE_Q_TARGET,
    TWIN_CRITIC_LOSS,
    SMOOTHED_TARGET_ACTION,
    ACTOR_LOSS_BY_Q1,
    TD3_UPDATE,
]
