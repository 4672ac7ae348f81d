"""Lesson 04's exercises."""

from helpers.exercises.lesson_04_ddpgfd.cloning import BC_LOSS
from helpers.exercises.lesson_04_ddpgfd.demonstrations import READ_EPISODES
from helpers.exercises.lesson_04_ddpgfd.losses import (
    N_STEP_TARGET,
    PRIORITIES,
    WEIGHTED_CRITIC_LOSS,
)
from helpers.exercises.lesson_04_ddpgfd.n_step import N_STEP_RETURN
from helpers.exercises.lesson_04_ddpgfd.sampling import (
    IMPORTANCE_WEIGHTS,
    LINEAR_SCHEDULE,
    SAMPLING_PROBABILITIES,
)
from helpers.exercises.lesson_04_ddpgfd.trees import SEGMENT_TREE, SUM_TREE
from helpers.exercises.lesson_04_ddpgfd.update import DDPGFD_UPDATE

EXERCISES = [
    READ_EPISODES,
    BC_LOSS,
    SAMPLING_PROBABILITIES,
    IMPORTANCE_WEIGHTS,
    LINEAR_SCHEDULE,
    SEGMENT_TREE,
    SUM_TREE,
    PRIORITIES,
    N_STEP_RETURN,
    N_STEP_TARGET,
    WEIGHTED_CRITIC_LOSS,
    DDPGFD_UPDATE,
]
