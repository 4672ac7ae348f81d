"""Lesson 04, DDPGfD: the exercises in the order in which the lesson asks them."""

from __future__ import annotations

from helpers.checks.cloning_loss import BC_LOSS
from helpers.checks.ddpgfd_losses import N_STEP_TARGET, PRIORITIES, WEIGHTED_CRITIC_LOSS
from helpers.checks.ddpgfd_update import DDPGFD_UPDATE
from helpers.checks.demos_reading import READ_EPISODES
from helpers.checks.n_step import N_STEP_RETURN
from helpers.checks.per_sampling import IMPORTANCE_WEIGHTS, LINEAR_SCHEDULE, SAMPLING_PROBABILITIES
from helpers.checks.per_trees import SEGMENT_TREE, SUM_TREE

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
