"""Lesson 03's exercises."""

from helpers.exercises.lesson_03_td3.losses import ACTOR_LOSS_BY_Q1, TWIN_CRITIC_LOSS
from helpers.exercises.lesson_03_td3.networks import TWIN_Q_NETWORK
from helpers.exercises.lesson_03_td3.smoothing import SMOOTHED_TARGET_ACTION
from helpers.exercises.lesson_03_td3.targets import CLIPPED_DOUBLE_Q_TARGET, DOUBLE_ESTIMATE
from helpers.exercises.lesson_03_td3.update import TD3_UPDATE

EXERCISES = [
    DOUBLE_ESTIMATE,
    TWIN_Q_NETWORK,
    CLIPPED_DOUBLE_Q_TARGET,
    TWIN_CRITIC_LOSS,
    SMOOTHED_TARGET_ACTION,
    ACTOR_LOSS_BY_Q1,
    TD3_UPDATE,
]
