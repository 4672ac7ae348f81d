"""Lesson 05's probe: exercise 5.6 `TwoStepProbe`, an environment of one's own."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import cycle
from typing import Any

import numpy as np

from helpers.checks.exercise import Case
from helpers.exercises.text import exercise
from helpers.training.probes import TwoStepProbe

AN_OBSERVATION = "an array (1,) of float32"
SEEN: dict[str, Any] = {
    "number of things that `reset` gives": "2",
    "number of things that `step` gives": "5",
}
SEEN |= dict.fromkeys(
    (
        "form of an observation",
        "observations",
        "form of a reward",
        "rewards",
        "flags of the steps",
        "type of the information",
    )
)


def observe_probe(function, course, actions):
    """`course` is a text of r(eset) and s(tep); a step takes the next of the actions, in turn.

    Capitals are done to a second environment.
    """
    probes, action = (function(), function()), cycle(actions)
    shown, infos, paid, ends = [], [], [], []
    for what in course:
        env, reset = probes[what.isupper()], what in "rR"
        name, size = ("reset", 2) if reset else ("step", 5)
        given = env.reset(seed=3) if reset else env.step(np.array([next(action)], np.float32))
        if given is None:
            return None
        if not isinstance(given, tuple | list) or len(given) != size:
            return SEEN | {f"number of things that `{name}` gives": parts(given)}
        shown.append(given[0])
        infos.append("a dict" if isinstance(given[-1], dict) else type(given[-1]).__name__)
        if not reset:
            paid.append(given[1])
            ends.append(end_of(*given[2:4]))
    forms = [form_of(obs) for obs in shown]
    # Read at the end only: an array that is changed afterwards is not what was observed.
    numbers = [
        float(obs[0]) if form == AN_OBSERVATION else 0.0
        for obs, form in zip(shown, forms, strict=True)
    ]
    return SEEN | {
        "form of an observation": kinds(forms),
        "observations": numbers,
        "form of a reward": kinds(
            "a number" if np.ndim(x) == 0 else type(x).__name__ for x in paid
        ),
        "rewards": [float(np.ravel(reward)[0]) for reward in paid],
        "flags of the steps": ", ".join(ends) or "none",
        "type of the information": kinds(infos),
    }


def kinds(names: Iterable[str]) -> str:
    return " or ".join(sorted(set(names)))


def parts(given: Any) -> str:
    return str(len(given)) if isinstance(given, tuple | list) else f"one {type(given).__name__}"


def form_of(obs: Any) -> str:
    if not isinstance(obs, np.ndarray):
        kind = "a single number" if isinstance(obs, float | int | np.generic) else "something"
        return f"{kind} of type {type(obs).__name__}"
    shape = f"({obs.shape[0]},)" if obs.ndim == 1 else str(obs.shape)
    return f"an array {shape} of {obs.dtype}"


def end_of(terminated: Any, truncated: Any) -> str:
    if not all(isinstance(flag, bool | np.bool_ | int) for flag in (terminated, truncated)):
        return f"of type {type(terminated).__name__} and {type(truncated).__name__}"
    names = ["terminated"] * bool(terminated) + ["truncated"] * bool(truncated)
    return " and ".join(names) or "goes on"


def probe_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case(("r", (0.0,)), note="a reset"),
        Case(("rs", (0.0,)), note="a reset and one step"),
        Case(("rss", (0.0,)), note="a whole episode"),
        Case(("rss", (4.0, -1.5)), note="a whole episode with other actions"),
        Case(("rssrss", (0.0, 2.0, 0.0, -9.0)), note="two episodes"),
        Case(("rsrss", (0.0,)), note="an episode that is broken off, and a whole one"),
        Case(("rssrssrss", (3.0, 0.5, 1.0)), note="three episodes"),
        Case(("rsRsSS", (0.0,)), note="two probes at once: R and S are of the second"),
    ]


def passes_the_seed_on(function, rng):
    """Where `reset` fails, that says nothing of the seed."""
    drawn = []
    for probe in (function(), function()):
        with suppress(Exception):
            probe.reset(seed=3)
            drawn.append(probe.np_random.random())
    return len(set(drawn)) < 2


TWO_STEP_PROBE = exercise(
    __file__, "5.6", TwoStepProbe, probe_cases, observe_probe,
    properties={"the seed is not passed on": passes_the_seed_on},
)  # fmt: skip
