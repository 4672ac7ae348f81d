"""Lesson 05's callback: exercise 5.3 `Evaluate`.

An agent whose two weights say how well it does takes the place of one that learns: the check sets
them, calls the callback, and looks at what it has noted and kept.
"""

import copy
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import nn

from helpers.agents import checkpoint
from helpers.checks.exercise import Case
from helpers.envs.make import make_training_env
from helpers.evaluation import Evaluation
from helpers.exercises.lesson_05_td3_in_practice.watched_env import ABROAD, HOME, SEEDS
from helpers.exercises.text import exercise
from helpers.training.callbacks import Evaluate


class Improving:
    """What a callback needs of an agent: it acts by two weights, whatever it observes."""

    counted: ClassVar = ()
    memories: ClassVar = ()

    def __init__(self, steps: int, one_env: bool) -> None:
        self.env_source = HOME
        env = make_training_env(HOME)
        env.reset(seed=3)
        self.env: Any = env if one_env else None
        self.envs: Any = None if one_env else env
        self.obs = None
        self.trained_in = cast(Any, env.unwrapped)
        self.trained_in.disturbed = 0
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.actor = nn.Linear(1, 2, bias=False)
        self.hyperparameters: dict = {}
        self.steps = self.updates = steps
        self.history: dict = defaultdict(list)
        self.rng, self.predict_rng = np.random.default_rng(0).spawn(2)

    def parts(self) -> dict[str, Any]:
        return {"actor": self.actor}

    def become(self, level: float, spread: float) -> None:
        """Learn: the weights change where they are, as an optimiser changes them."""
        with torch.no_grad():
            self.actor.weight.copy_(torch.tensor([[level], [spread]]))

    @property
    def weights(self) -> list[float]:
        return self.actor.weight.detach().ravel().tolist()

    def condition(self) -> tuple:
        """All that a callback must leave as it is."""
        return self.weights, self.rng.bit_generator.state, self.predict_rng.bit_generator.state

    def predict(self, obs: Any, deterministic: bool = False) -> np.ndarray:
        level, spread = self.weights
        return np.array([level if deterministic else level + 7.0, spread])

    def get_parameters(self) -> dict[str, dict]:
        return copy.deepcopy(checkpoint.states(self))

    def set_parameters(self, states: Any, exact: bool = True) -> None:
        checkpoint.set_states(self, states, exact)

    def save(self, path: Any, replay: bool = False) -> None:
        checkpoint.write(path, checkpoint.contents(self, replay))


# --- What is looked at ----------------------------------------------------------------------------

GOES_ON, ENDS = "training goes on", "`False`, so training ends"
STEPS, STARTS = "steps in the curve", "seeds of the starts"
OTHERS = "other ones at each evaluation"
FORM, PAIR = "form of the curve's entries", "a pair of step and Evaluation"
FIRST, MEANS = "returns of the first evaluation", "mean returns of the curve"
KEPT, BACK = "content of `best_contents`", "weights after `restore_best`"


def observe_callback(function, every, settings, began, one_env, course, with_path=False):
    """`course` is a list of (steps, level, spread); the callback is called after each."""
    agent = Improving(began, one_env)
    with a_path(with_path) as path:
        callback = function(every, **settings, **({"path": path} if path else {}))
        callback.start(agent, 100)
        SEEDS.clear()
        answers, written, in_file, disturbed = set(), [], None, False
        for steps, level, spread in course:
            agent.steps, agent.updates = steps, 2 * steps + 1
            agent.become(level, spread)
            before = agent.condition()
            answers.add(ENDS if callback(agent) is False else GOES_ON)
            disturbed |= agent.condition() != before
            if path and path.exists():
                written.append(steps)
                in_file = read(path)
                path.unlink()
        callback.path = None
    seen = {
        "answer to `learn`": " or ".join(sorted(answers)),
        "agent after a call": "changed" if disturbed else "as it was",
        "use of the training environment": "played in" if agent.trained_in.disturbed else "none",
        **noted(callback),
        **kept(callback, agent),
        "steps at which the file is written": ", ".join(map(str, written)) or "none",
        "content of the file": content_of(in_file, agent),
        "weights in the file": weights_in(in_file),
    }
    if seen[STARTS] == OTHERS:  # which is the best, they say
        seen |= dict.fromkeys((MEANS, FIRST, "step of the best", BACK, "weights in the file"))
        seen["steps at which the file is written"] = ""
    return seen | called_by_hand(callback, agent, with_path)


def called_by_hand(callback, agent, with_path):
    """What `evaluate` does where no training calls it, with a new best if it has a path."""
    points = len(callback.curve) if hasattr(callback.curve, "__len__") else 0
    with a_path(with_path) as path:
        if path:
            callback.path = path
            agent.become(9.0, 4.0)
        result = callback.evaluate(agent)
        found = "written" if path and path.exists() else "none"
    more = len(callback.curve) - points if hasattr(callback.curve, "__len__") else 0
    return {
        "result of `evaluate`": kind(result),
        "number of points that `evaluate` adds": more,
        "file of `evaluate` called by hand": found,
    }


def read(path: Path) -> Any:
    try:
        return torch.load(path, weights_only=True)
    except UnpicklingError:  # an object of a class
        return "an object of a class"


@contextmanager
def a_path(wanted: bool) -> Iterator[Path | None]:
    """For a file that need not survive a crash: waiting for the disk may take long."""
    if not wanted:
        yield None
        return
    sync, os.fsync = os.fsync, lambda fd: None
    try:
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield Path(folder) / "best.pt"
    finally:
        os.fsync = sync


def kind(value: Any) -> str:
    if isinstance(value, Evaluation):
        return "Evaluation"
    return "nothing" if value is None else type(value).__name__


def described(entry: Any) -> str:
    if isinstance(entry, tuple | list) and len(entry) == 2:
        words = ["step" if kind(part) == "int" else kind(part) for part in entry]
        return f"a pair of {' and '.join(words)}"
    return kind(entry)


def noted(callback) -> dict:
    """The curve, as far as its entries are what they should be."""
    seen: dict = {FORM: "", STEPS: "not known", STARTS: "", MEANS: None, FIRST: None}
    if not isinstance(callback.curve, list):
        return seen | {FORM: f"the curve is of type {kind(callback.curve)}"}
    forms = sorted({described(entry) for entry in callback.curve})
    seen[FORM] = " or ".join(forms) or "there are none"
    if seen[FORM] == PAIR:
        seen[STEPS] = ", ".join(str(step) for step, _ in callback.curve)
        seen[STARTS] = ", ".join(map(str, sorted(SEEDS)))
        if len(SEEDS) > max(len(result.returns) for _, result in callback.curve):
            seen[STARTS] = OTHERS
        seen[MEANS] = [result.mean for _, result in callback.curve]
        seen[FIRST] = callback.curve[0][1].returns
    return seen


def kept(callback, agent: Improving) -> dict:
    """The best point, and the weights that come back after all has changed."""
    best = callback.best
    seen: dict = {
        "form of `best`": described(best),
        "step of the best": best[0] if described(best) == PAIR else None,
        KEPT: content_of(callback.best_contents, agent),
        BACK: None,
    }
    last = agent.weights
    agent.become(-7.0, -7.0)
    try:
        callback.restore_best(agent)
        seen[BACK] = agent.weights
    except Exception as error:
        seen[KEPT] += f", which cannot be put back ({type(error).__name__})"
    agent.become(*last)
    return seen


def content_of(content: Any, agent: Improving) -> str:
    if content is None:
        return "nothing"
    if isinstance(content, str):
        return content
    if not isinstance(content, dict):
        return f"something of type {type(content).__name__}"
    if "state" not in content:
        return "a dict without `state`"
    if checkpoint.contents(agent, replay=False).keys() - content.keys():
        return "a part of the agent"
    return "the agent" + (" and its replay" if "under_way" in content else "")


def weights_in(content: Any) -> list[float] | None:
    try:
        return content["state"]["actor"]["weight"].ravel().tolist()
    except (KeyError, TypeError):
        return None


def callback_cases(rng: np.random.Generator) -> list[Case]:
    few = {"episodes": 3, "seed": 11}
    # By mean, median, best or worst episode, ...: other evaluations are the best each time.
    levels, spreads = (0.5, -3, -1.5, 1, 2.5, 1.5, 3), (-1.5, 0.5, 5, 2, 4, -3, -0.25)
    mixed = [(n, *pair) for n, pair in enumerate(zip(levels, spreads, strict=True), 1)]
    worse = [(10, -300.0, 5.0), (20, -500.0, 0.0), (30, -400.0, 50.0), (31, 9.0, 0.0)]
    single = [(step, 1.0 + step / 4096, 0.25) for step in range(1, 22)]
    several = [(7 * n, float(n % 4), 0.5) for n in range(1, 9)]
    waiting = [(0, 9.0, 0.0), (10, 1.0, 0.0), (10, 3.0, 0.0), (15, 5.0, 0.0), (20, 2.0, 0.0)]
    late = [(27, 1.0, 0.0), (29, 2.0, 0.0), (30, 3.0, 1.0), (33, 4.0, 1.0)]
    return [
        Case((1, few, 0, True, mixed), note="evaluated at every step; the fifth is the best"),
        Case((10, few, 0, True, single), note="21 calls, one step each, better by little"),
        Case((10, few, 0, False, several), note="seven steps at once, in several environments"),
        Case((10, few, 0, True, waiting), note="calls between which no step was made"),
        Case((10, few, 25, True, late), note="training that goes on at step 25"),
        Case((10, few, 0, True, worse), note="negative returns, the first is the best"),
        Case((1, few | {"env": ABROAD}, 0, True, mixed), note="another environment is given"),
        Case((1, few, 0, True, mixed, True), note="a path is given"),
        Case((1, {"episodes": 2}, 0, True, mixed), note="the default seed"),
    ]


EVALUATE = exercise(__file__, "5.3", Evaluate, callback_cases, observe_callback)
