"""Lesson 05's callback: exercise 5.3 `Evaluate`.

An agent whose two weights say how well it does takes the place of one that learns: the check sets
them, calls the callback, and looks at what it has noted and kept.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from helpers.agents import checkpoint, parameters
from helpers.checks.exercise import Case, exercise
from helpers.envs.make import make_training_env
from helpers.evaluation import Evaluation
from helpers.training.callbacks import Evaluate

HOME, ABROAD = "PaysTheAction-v0", "PaysTheActionLess-v0"


class Improving:
    """What a callback needs of an agent: it acts by two weights, whatever it observes."""

    saved: ClassVar = ("actor",)
    counted: ClassVar = ()
    memories: ClassVar = ()

    def __init__(self, steps: int, one_env: bool) -> None:
        self.env_source = HOME
        env = make_training_env(HOME)
        env.reset(seed=3)
        if one_env:
            self.env = env
        else:
            self.envs = env
        self.trained_in = env.unwrapped
        self.trained_in.disturbed = 0
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.actor = nn.Linear(1, 2, bias=False)
        self.hyperparameters: dict = {}
        self.steps = self.updates = steps
        self.history: dict = defaultdict(list)
        self.rng, self.predict_rng = np.random.default_rng(0).spawn(2)

    def become(self, level: float, spread: float) -> None:
        """Learn: the weights change where they are, as an optimiser changes them."""
        with torch.no_grad():
            self.actor.weight.copy_(torch.tensor([[level], [spread]]))

    @property
    def weights(self) -> list[float]:
        return self.actor.weight.detach().ravel().tolist()

    def predict(self, obs: Any, deterministic: bool = False) -> np.ndarray:
        level, spread = self.weights
        return np.array([level if deterministic else level + 7.0, spread])

    def get_parameters(self) -> dict:
        return parameters.get_parameters(self)

    def set_parameters(self, states: Any, exact: bool = True) -> None:
        parameters.set_parameters(self, states, exact)

    def save(self, path: Any, replay: bool = False) -> None:
        checkpoint.write(path, checkpoint.contents(self, replay))


# --- What is looked at ----------------------------------------------------------------------------

GOES_ON, ENDS = "training goes on", "`False`, so training ends"
STEPS = "steps at which it evaluates"
FORM = "form of the curve's entries"
MEANS = "mean returns of the curve"
TRAINED = "what happens to the environment that is trained in"
BEST = "form of `best`"
KEPT = "text about what is kept"
PAIR = "a pair of step and Evaluation"


def observe_callback(function, every, settings, began, one_env, course, with_path=False):
    """`course` is a list of (steps, level, spread); the callback is called after each."""
    agent = Improving(began, one_env)
    with a_path(with_path) as path:
        callback = function(every, **settings, **({"path": path} if path else {}))
        callback.start(agent, 100)
        answers, written, in_file = set(), [], []
        for steps, level, spread in course:
            agent.steps = agent.updates = steps
            agent.become(level, spread)
            answers.add(ENDS if callback(agent) is False else GOES_ON)
            if path and path.exists():
                written.append(steps)
                in_file.append(weights_in(path))
                path.unlink()
        callback.path = None
    seen = {
        "what a call gives": " or ".join(sorted(answers)),
        TRAINED: "it is played in" if agent.trained_in.disturbed else "nothing",
        **noted(callback),
        **kept(callback, agent),
        "steps at which the file is written": ", ".join(map(str, written)) or "none",
        "weights in the file": in_file[-1] if in_file else None,
    }
    before = len(callback.curve) if hasattr(callback.curve, "__len__") else 0
    result = callback.evaluate(agent)
    more = len(callback.curve) - before if hasattr(callback.curve, "__len__") else 0
    return seen | {
        "what `evaluate` gives": kind(result),
        "number of entries that `evaluate` adds": more,
    }


@contextmanager
def a_path(wanted: bool) -> Iterator[Path | None]:
    """For a file that need not survive a crash: waiting for the disk may take long."""
    if not wanted:
        yield None
        return
    sync, os.fsync = os.fsync, lambda file: None
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
    if not isinstance(callback.curve, list):
        return {
            STEPS: "not known",
            FORM: f"the curve is of type {kind(callback.curve)}",
            MEANS: None,
        }
    forms = sorted({described(entry) for entry in callback.curve}) or ["there are none"]
    seen = {STEPS: "not known", FORM: " or ".join(forms), MEANS: None}
    if seen[FORM] == PAIR:
        seen[STEPS] = ", ".join(str(step) for step, _ in callback.curve)
        seen[MEANS] = [result.mean for _, result in callback.curve]
        seen["returns at the first"] = callback.curve[0][1].returns
    return {"returns at the first": None} | seen


def kept(callback, agent: Improving) -> dict:
    """The best point, and the weights that come back after all has changed."""
    best = callback.best
    seen = {
        BEST: described(best),
        "step of the best": best[0] if described(best) == PAIR else None,
        KEPT: kind_of_contents(callback.best_contents),
        "weights that come back": None,
    }
    last = agent.weights
    agent.become(-7.0, -7.0)
    try:
        callback.restore_best(agent)
        seen["weights that come back"] = agent.weights
    except Exception as error:
        seen[KEPT] += f", and cannot be put back ({type(error).__name__})"
    agent.become(*last)
    return seen


def kind_of_contents(contents: Any) -> str:
    if contents is None:
        return "nothing"
    if not isinstance(contents, dict):
        return f"something of type {type(contents).__name__}"
    if "state" not in contents:
        return "a dict without `state`"
    return "all contents" + (", and the replay" if "under_way" in contents else "")


def weights_in(path: Path) -> Any:
    try:
        content = torch.load(path, weights_only=True)
        return content["state"]["actor"]["weight"].ravel().tolist()
    except Exception as error:
        return f"cannot be read ({type(error).__name__})"


def callback_cases(rng: np.random.Generator) -> list[Case]:
    few = {"episodes": 3, "seed": 11}
    # By mean, median, best or worst episode, ...: other evaluations are the best each time.
    levels, spreads = (0.5, -3, -1.5, 1, 2.5, 1.5, 3), (-1.5, 0.5, 5, 2, 4, -3, -0.25)
    mixed = [(n, *pair) for n, pair in enumerate(zip(levels, spreads, strict=True), 1)]
    worse = [(10, -300.0, 5.0), (20, -500.0, 0.0), (30, -400.0, 50.0), (31, 9.0, 0.0)]
    single = [(step, 1.0 + step / 8, 0.25) for step in range(1, 22)]
    several = [(7 * n, float(n % 4), 0.5) for n in range(1, 9)]
    waiting = [(0, 9.0, 0.0), (10, 1.0, 0.0), (10, 3.0, 0.0), (15, 5.0, 0.0), (20, 2.0, 0.0)]
    late = [(27, 1.0, 0.0), (29, 2.0, 0.0), (30, 3.0, 1.0), (33, 4.0, 1.0)]
    return [
        Case((1, few, 0, True, mixed), note="evaluated at every step; the fifth is the best"),
        Case((10, few, 0, True, single), note="21 calls, one step each"),
        Case((10, few, 0, False, several), note="seven steps at once, in several environments"),
        Case((10, few, 0, True, waiting), note="calls between which no step was made"),
        Case((10, few, 25, True, late), note="training that goes on at step 25"),
        Case((10, few, 0, True, worse), note="negative returns, the first is the best"),
        Case((1, few | {"env": ABROAD}, 0, True, mixed), note="another environment is given"),
        Case((1, few, 0, True, mixed, True), note="a path is given"),
        Case((1, {"episodes": 2}, 0, True, mixed), note="the default seed"),
    ]


EVALUATE = exercise(
    __file__,
    "5.3",
    reference=Evaluate,
    cases=callback_cases,
    observe=observe_callback,
)
