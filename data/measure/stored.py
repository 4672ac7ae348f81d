"""How the measurements of this folder are called, and where their results go."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from helpers.checks import find
from helpers.training.results import RESULTS, write_json
from helpers.training.study import circumstances


def measure(lesson: str, *measurements: Callable[[], Any]) -> None:
    """Make those that the command line names, and write data/results/LESSON_NAME.json.

    A measurement gives a dictionary, or yields what it has so far: then it is stored each time.
    One that gives nothing stores its results itself.
    """
    torch.set_num_threads(1)
    known = {each.__name__: each for each in measurements}
    for name in sys.argv[1:]:
        command = {"command": f"python -m data.measure.lesson_{lesson} {name}", **circumstances()}
        found = known[name]()
        for content in found if isinstance(found, Iterator) else [found] if found else []:
            write_json(RESULTS / f"{lesson}_{name}.json", command | content)


def bug_of(exercise_id: str) -> Any:
    """The wrong function in which an exercise has a bug to be found."""
    exercise = find(exercise_id)
    return next(each.function for each in exercise.mistakes if each.name == exercise.bug)
