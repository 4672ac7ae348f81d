"""Watches the loop of an algorithm's file: curves, a progress bar, the stop button, and more.

    agent = td3.train(td3.PENDULUM, watch=live(bar=-200))
    agent = td3.train(td3.PENDULUM, watch=live(bar=-200, every=4000, then=film))

Stopped, the loop ends after the step that it is at, and `train` returns what has been learned.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from helpers.show.notebook import stop_button
from helpers.show.plotting import WINDOW, LiveCurves


def live(
    bar: float | None = None,
    keys: Sequence[str] = ("return",),
    window: int = WINDOW,
    x: str = "environment steps",
    every: int = 1,
    then: Callable[[int, Any], object] | None = None,
) -> Callable[[range, Any, dict], Iterator[int]]:
    """What `train` takes as `watch`. `bar`, `keys`, `window` and `x` are those of `LiveCurves`.

    After every `every` steps `then(step, agent)` is called: a film, an evaluation, a file.
    """

    def watch(steps: range, agent: Any, history: dict) -> Iterator[int]:
        if few := os.environ.get("COURSE_TEST_STEPS"):  # set by conftest.py and by nothing else
            steps = steps[: int(few) // steps.step]
        curves = LiveCurves(bar, keys, window, x)
        run = SimpleNamespace(history=history, steps=0)  # what curves ask of an agent
        curves.advice = "the agent keeps what it has learned"
        curves.start(run, len(steps) * steps.step)
        try:
            with stop_button() as stopped:
                for step in steps:
                    yield step  # here the loop takes it
                    run.steps += steps.step
                    curves(run)
                    if then and run.steps % every < steps.step:
                        then(run.steps, agent)
                    if stopped:
                        return
        finally:  # also where the loop is left by an error
            curves.stop(run)

    return watch
