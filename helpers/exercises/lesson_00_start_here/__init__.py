"""Lesson 00's exercises."""

from helpers.exercises.lesson_00_start_here.returns import DISCOUNTED_RETURNS

EXERCISES = [
    DISCOUNTED_RETURNS,
]
