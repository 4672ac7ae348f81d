"""Lesson 05's evaluation: exercise 5.1 `play_episodes`.

It is given an environment that writes down what is done to it, and so to its copies.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import gymnasium as gym
import numpy as np

from helpers.checks.exercise import Case
from helpers.evaluation import play_episodes
from helpers.exercises.lesson_05_td3_in_practice.watched_env import (
    ENV_ID,
    LOG,
    LONG_ID,
    TooFarError,
)
from helpers.exercises.observing import raises
from helpers.exercises.text import exercise

# --- What is looked at ----------------------------------------------------------------------------

BY_ID, LONG = "its id", "the id of one with long episodes"
IN_USE = "one in the middle of an episode"
WRAPPED = "one with a wrapper that adds 0.5 to every reward"
FORM, PAIR = "form of the result", "a pair, one entry for each episode"


def observe_episodes(function, env, episodes, seed):
    LOG.clear()  # it may be full, from a loop without end
    given = the_given(env)
    LOG.clear()
    policy = Policy()
    result: Any = None
    stopped = False
    try:
        asked = {BY_ID: ENV_ID, LONG: LONG_ID}.get(env, given)
        result = function(policy.act, asked, episodes, seed)
    except TooFarError:
        stopped = True
    log = list(LOG)  # closing what was given is not the student's
    mine = given.unwrapped
    if result is None and not stopped:
        return None
    played = [entry for entry in log if entry[0] is not mine] or log
    own = own_actions(policy, played)
    shapes = {more for _, what, more in played if what == "shape"}
    seen = {
        "use of the given environment": done_to(mine, log),
        "course of the episodes": course(played, stopped),
        "seeds of the episodes": ", ".join(sorted(str(seed) for seed, _ in episodes_of(played))),
        "observations that the policy is given": policy.about(),
        "actions": "the policy's" if own else "not the policy's",
        "shape of the actions": str(shapes.pop()) if shapes else "the policy's",
        FORM: "not known" if stopped else form(result, episodes),
        "returns": None,
        "lengths": None,
        "number of environments left open": len(left_open(log, mine)),
    }
    if not stopped and seen[FORM] == PAIR:
        returns, seen["lengths"] = result
        seen["returns"] = returns if own else None  # actions of chance may pay anything
    if far_off(episodes_of(played)):  # and other starts may be anything
        seen |= {"seeds of the episodes": "far-off numbers", "returns": None, "lengths": None}
    return seen


def the_given(env: str) -> gym.Env:
    """Two steps of its episode of three are done, if it is in use."""
    given = gym.make(ENV_ID)
    if env == WRAPPED:
        return gym.wrappers.TransformReward(given, lambda reward: float(reward) + 0.5)
    if env == IN_USE:
        given.reset(seed=9)
        for _ in range(2):
            given.step(np.zeros(1))
    return given


class Policy:
    """Goes by the observation, and remembers what it was asked and what it said."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.said: list[float] = []

    def act(self, obs: Any) -> np.ndarray:
        if not isinstance(obs, np.ndarray):
            self.asked.add(f"something of type {type(obs).__name__}")
            return np.zeros(1)
        numbers = obs.astype(float)
        if numbers.shape != (2,):
            self.asked.add(f"something of shape {numbers.shape}")
        elif any(abs(numbers - env.seen).max() < 1e-5 for env in in_play()):
            self.asked.add("the newest one")
        else:
            self.asked.add("an older one")
        action = numbers[..., :1] - numbers[..., 1:] / 4
        self.said.append(float(action.ravel()[0]))
        return action

    def about(self) -> str:
        return ", ".join(sorted(self.asked)) or "none"


def in_play() -> Iterator[Any]:
    """The environments that were reset or stepped, first the one that was so last."""
    known: set[int] = set()
    for env, what, _ in reversed(LOG):
        if what in ("reset", "step") and id(env) not in known:
            known.add(id(env))
            yield env


def done_to(mine: gym.Env, log: list) -> str:
    """What is done to the environment that was given, which should stay as it is."""
    words = {"reset": "reset", "step": "stepped", "close": "closed"}
    seen = {words[what] for env, what, _ in log if env is mine and what in words}
    return ", ".join(sorted(seen)) or "none"


def episodes_of(log: list) -> list[tuple]:
    """(seed of the last reset before it, its steps), for all that had a step.

    A step is what was done, and whether it was the last. Several may be played side by side.
    """
    found: list[tuple] = []
    under_way: dict[int, list] = {}
    for env, what, more in log:
        if what == "reset":
            under_way[id(env)] = []
            found.append((more, under_way[id(env)]))
        elif what == "step" and id(env) in under_way:
            under_way[id(env)].append(more)
    return [(seed, steps) for seed, steps in found if steps]


def far_off(episodes: list[tuple]) -> bool:
    """Whether the seeds are numbers that were drawn, rather than counted from the given one."""
    return bool(episodes) and all((seed or 0) > 1000 for seed, _ in episodes)


def course(log: list, stopped: bool) -> str:
    late = next((more for _, what, more in log if what == "late"), "")
    if late or stopped:
        return late or "without end"
    whole = all(steps[-1][1] for _, steps in episodes_of(log))
    return "whole episodes" if whole else "broken off"


def own_actions(policy: Policy, log: list) -> bool:
    """Whether what was done is what the policy said, in its order."""
    begun = {id(env) for env, what, _ in log if what == "reset"}
    done = [more[0] for env, what, more in log if what == "step" and id(env) in begun]
    said = iter(policy.said)  # it may have been asked more often
    return all(any(abs(action - word) < 1e-4 for word in said) for action in done)


def form(result: Any, episodes: int) -> str:
    if isinstance(result, dict):
        return "a dict"
    if not hasattr(result, "__len__"):
        return f"a single value of type {type(result).__name__}"
    if len(result) != 2:
        each = {np.ndim(part) for part in result}
        return f"{len(result)} {'numbers' if each == {0} else 'things'}, and not a pair"
    if all(np.ndim(part) == 1 and len(part) == episodes for part in result):
        return PAIR
    shapes = [np.shape(part) for part in result]
    return f"a pair with parts of shape {' and '.join(map(str, shapes))}"


def left_open(log: list, mine: gym.Env | None) -> set[int]:
    """Those in which something was done and that were not closed afterwards."""
    used = {id(env) for env, what, _ in log if what != "close" and env is not mine}
    return used - {id(env) for env, what, _ in log if what == "close"}


def episode_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((BY_ID, 1, 30), note="an episode of one step, terminated"),
        Case((BY_ID, 1, 38), note="an episode of two steps, truncated"),
        Case((IN_USE, 1, 24), note="an episode of two steps, terminated"),
        Case((BY_ID, 1, 8), note="an episode of four steps, terminated"),
        Case((BY_ID, 1, 3), note="an episode of five steps, terminated"),
        Case((BY_ID, 3, 24), note="three episodes: two terminated, one truncated"),
        Case((IN_USE, 5, 21), note="five episodes of all kinds"),
        Case((WRAPPED, 2, 24), note="two episodes in an environment with a wrapper"),
        Case((LONG, 1, 8), note="an episode of 1,200 steps"),
        Case((BY_ID, 2, 0), note="two episodes from seed 0 on"),
    ]


# --- What no result shows -------------------------------------------------------------------------


class PolicyError(Exception):
    """By a policy that fails in the middle of an episode."""


def failing_policy(asked: list) -> Callable:
    def act(obs):
        asked.append(obs)
        if len(asked) > 1:
            raise PolicyError("The policy fails.")
        return np.zeros(1)

    return act


def closes_in_any_case(function, rng):
    LOG.clear()
    with suppress(PolicyError):
        function(failing_policy([]), ENV_ID, 2, 3)
    return not left_open(LOG, None)


def lets_errors_pass(function, rng):
    LOG.clear()
    asked: list = []
    return raises(PolicyError, function, failing_policy(asked), ENV_ID, 2, 3) or len(asked) < 2


def takes_functions(function, rng):
    """Where it stops with an id as well, that says nothing of functions."""
    LOG.clear()
    by_function, by_id = (
        raises(Exception, function, Policy().act, env, 1, 8)
        for env in (lambda: gym.make(ENV_ID), ENV_ID)
    )
    return by_id or not by_function


PLAY_EPISODES = exercise(
    __file__, "5.1", play_episodes, episode_cases, observe_episodes, output=("returns", "lengths"),
    properties={
        "left open after an error": closes_in_any_case,
        "errors do not pass": lets_errors_pass,
        "stops with a function": takes_functions,
    },
)  # fmt: skip
