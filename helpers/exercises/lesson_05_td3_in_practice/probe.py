"""Lesson 05's probe: exercise 5.4 `TwoStepProbe`, an environment of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.checks.exercise import Case, exercise
from helpers.training.probes import TwoStepProbe

# --- What is looked at ----------------------------------------------------------------------------

SEEN = "observations, one after the other"
PAYMENT, REWARDS = "form of a reward", "rewards"
ENDS = "list of ends"
INFOS = "list of what comes with the observations"
AN_OBSERVATION = "an array (1,) of float32"


def observe_probe(function, course, actions):
    """`course` is a text of r(eset) and s(tep); a step takes the next of the actions, in turn."""
    env = function()
    forms, numbers, payments, rewards, ends, infos, done = [], [], [], [], [], [], 0
    for what in course:
        if what == "r":
            given = env.reset(seed=3)
            size = 2
        else:
            given = env.step(np.array([actions[done % len(actions)]], np.float32))
            size, done = 5, done + 1
        if given is None:
            return None
        name = "reset" if what == "r" else "step"
        if not isinstance(given, tuple | list) or len(given) != size:
            return {f"number of things that `{name}` gives": parts(given)}
        obs, *rest, info = given
        forms.append(form_of(obs))
        numbers.append(float(np.ravel(obs)[0]) if forms[-1] == AN_OBSERVATION else 0.0)
        infos.append("a dict" if isinstance(info, dict) else type(info).__name__)
        if rest:
            reward, terminated, truncated = rest
            payments.append("a number" if np.ndim(reward) == 0 else type(reward).__name__)
            rewards.append(float(np.ravel(reward)[0]))
            ends.append(end_of(terminated, truncated))
    return {
        "form of an observation": " or ".join(sorted(set(forms))),
        SEEN: numbers,
        PAYMENT: " or ".join(sorted(set(payments))),
        REWARDS: rewards,
        ENDS: ", ".join(ends) or "none",
        INFOS: " or ".join(sorted(set(infos))),
    }


def parts(given: Any) -> str:
    return str(len(given)) if isinstance(given, tuple | list) else f"one {type(given).__name__}"


def form_of(obs: Any) -> str:
    if not isinstance(obs, np.ndarray):
        return f"something of type {type(obs).__name__}"
    shape = f"({obs.shape[0]},)" if obs.ndim == 1 else str(obs.shape)
    return f"an array {shape} of {obs.dtype}"


def end_of(terminated: Any, truncated: Any) -> str:
    flags = [isinstance(flag, bool | np.bool_ | int) for flag in (terminated, truncated)]
    if not all(flags):
        return "no flags"
    names = ["terminated"] * bool(terminated) + ["truncated"] * bool(truncated)
    return " and ".join(names) or "goes on"


def probe_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case(("r", (0.0,)), note="a reset"),
        Case(("rs", (0.0,)), note="a reset and one step"),
        Case(("rss", (0.0,)), note="a whole episode"),
        Case(("rss", (4.0, 1.5)), note="a whole episode with other actions"),
        Case(("rssrss", (0.0, 2.0)), note="two episodes"),
        Case(("rsrss", (0.0,)), note="an episode that is broken off, and a whole one"),
        Case(("rssrssrss", (3.0, 0.5, 1.0)), note="three episodes"),
    ]


TWO_STEP_PROBE = exercise(
    __file__,
    "5.4",
    reference=TwoStepProbe,
    cases=probe_cases,
    observe=observe_probe,
)
