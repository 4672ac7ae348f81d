"""Lesson 05's exercises."""

from helpers.exercises.lesson_05_td3_in_practice.evaluate import EVALUATE
from helpers.exercises.lesson_05_td3_in_practice.interquartile import INTERQUARTILE_MEAN
from helpers.exercises.lesson_05_td3_in_practice.layers import HIDDEN_LAYERS
from helpers.exercises.lesson_05_td3_in_practice.playing import PLAY_EPISODES
from helpers.exercises.lesson_05_td3_in_practice.probe import TWO_STEP_PROBE
from helpers.exercises.lesson_05_td3_in_practice.splitting import SPLIT_EPISODES
from helpers.exercises.lesson_05_td3_in_practice.stopping import EARLY_STOPPING

EXERCISES = [
    PLAY_EPISODES,
    INTERQUARTILE_MEAN,
    EVALUATE,
    TWO_STEP_PROBE,
    HIDDEN_LAYERS,
    SPLIT_EPISODES,
    EARLY_STOPPING,
]
