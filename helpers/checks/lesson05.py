"""Lesson 05, TD3 in practice: the exercises in the order in which the lesson asks them."""

from __future__ import annotations

from helpers.checks.best_kept import EVALUATE
from helpers.checks.evaluating import PLAY_EPISODES
from helpers.checks.interquartile import INTERQUARTILE_MEAN
from helpers.checks.normed_layers import HIDDEN_LAYERS
from helpers.checks.probing import TWO_STEP_PROBE
from helpers.checks.setting_aside import SPLIT_EPISODES
from helpers.checks.stopping import EARLY_STOPPING

EXERCISES = [
    PLAY_EPISODES,
    INTERQUARTILE_MEAN,
    EVALUATE,
    TWO_STEP_PROBE,
    HIDDEN_LAYERS,
    SPLIT_EPISODES,
    EARLY_STOPPING,
]
