"""Lesson 05's callback: exercise 5.3 `Evaluate`.

An agent whose two weights say how well it does takes the place of one that learns: the check sets
them, calls the callback, and looks at what it has noted and kept.
"""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents import checkpoint, parameters
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.watched import TooFarError
from helpers.envs.make import make_training_env
from helpers.evaluation import Evaluation, evaluate
from helpers.training.callbacks import Evaluate

# --- An environment and an agent ------------------------------------------------------------------

MOST = 1000  # steps and resets: more than any check needs, less than 10,000 episodes by mistake
HOME, ABROAD = "PaysTheAction-v0", "PaysTheActionLess-v0"


class PaysTheAction(gym.Env):
    """Pays the first action, and by its start more or less of the second; all at the first step.

    The second action also says how long the episode is, which is of no use to anybody.
    """

    metadata: ClassVar = {"render_modes": []}
    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def __init__(self, less: float = 0.0) -> None:
        self.less, self.start, self.left, self.disturbed = less, 0, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        self.start, self.left = seed or 0, 0
        self.disturbed += 1
        if self.disturbed > MOST:
            raise TooFarError("This would take too long.")
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.disturbed += 1
        if self.left:
            self.left -= 1
            return np.zeros(1, np.float32), 0.0, self.left == 0, False, {}
        level, spread = (float(number) for number in action)
        self.left = int(4 * abs(spread)) % 5
        reward = level + spread * (0.0, 2.0, -1.0)[self.start % 3] + self.start % 10 / 100
        return np.zeros(1, np.float32), reward - self.less, self.left == 0, False, {}


for _name, _less in {HOME: 0.0, ABROAD: 100.0}.items():
    if _name not in gym.registry:  # the module may be imported again
        gym.register(
            _name, entry_point=PaysTheAction, disable_env_checker=True, kwargs={"less": _less}
        )


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


# --- Wrong versions -------------------------------------------------------------------------------


class Parts(Evaluate):
    """The course's class in parts, so that wrong versions can replace some."""

    def __call__(self, agent):
        if self.due(agent):
            return self.answer(self.evaluate(agent))
        return self.otherwise()

    def evaluate(self, agent):
        result = self.played(agent)
        self.note(agent, result)
        if self.first() or self.better(result):
            self.keep(agent, result)
            if self.wants_file():
                self.write(agent)
        return self.given(result)

    def due(self, agent):
        return self.milestones.reached(agent.steps)

    def answer(self, result):
        return None

    def otherwise(self):
        return None

    def played(self, agent):
        return evaluate(agent, self.env, self.episodes, self.seed)

    def note(self, agent, result):
        self.curve.append(self.point(agent, result))

    def point(self, agent, result):
        return agent.steps, result

    def first(self):
        return self.best is None

    def better(self, result):
        return result.mean > self.best[1].mean

    def keep(self, agent, result):
        self.best = self.best_point(agent, result)
        self.best_contents = self.kept(agent)

    def best_point(self, agent, result):
        return agent.steps, result

    def kept(self, agent):
        return copy.deepcopy(checkpoint.contents(agent, replay=False))

    def wants_file(self):
        return self.path is not None

    def write(self, agent):
        checkpoint.write(self.path, self.best_contents)

    def given(self, result):
        return result


def callback_of(**methods: Callable) -> type[Parts]:
    return type("Evaluate", (Parts,), methods)


def compared_by(value: Callable[[Evaluation], float], sign: int = 1) -> type[Parts]:
    """A wrong version: the highest `value(result)` is the best; the lowest for the sign -1."""
    return callback_of(
        better=lambda self, result: sign * value(result) > sign * value(self.best[1])
    )


def played_by(play: Callable) -> type[Parts]:
    return callback_of(played=play)


class WritesAlways(Parts):
    """At every evaluation what the agent is then."""

    def evaluate(self, agent):
        result = super().evaluate(agent)
        if self.path is not None:
            checkpoint.write(self.path, checkpoint.contents(agent, replay=False))
        return result


class WritesTheBestAlways(Parts):
    def evaluate(self, agent):
        result = super().evaluate(agent)
        if self.path is not None:
            checkpoint.write(self.path, self.best_contents)
        return result


class NotedOnlyIfBest(Parts):
    def evaluate(self, agent):
        result = self.played(agent)
        if self.first() or self.better(result):
            self.note(agent, result)
            self.keep(agent, result)
            if self.wants_file():
                self.write(agent)
        return result


class PlaysByHand(Parts):
    """In the environment that is trained in."""

    def played(self, agent):
        env = getattr(agent, "env", None) or agent.envs
        returns = []
        for episode in range(self.episodes):
            obs, _ = env.reset(seed=self.seed + episode)
            over, total = False, 0.0
            while not over:
                action = agent.predict(obs, deterministic=True)
                obs, reward, terminated, truncated, _ = env.step(action)
                total, over = total + reward, terminated or truncated
            returns.append(total)
        return Evaluation(np.array(returns), np.ones(self.episodes))


class PreviousOne(Parts):
    """Remembers how good the last one was, and not the best."""

    def better(self, result):
        return result.mean > self.curve[-2][1].mean


class FromZero(Parts):
    """As a best mean that starts at 0."""

    def first(self):
        return False

    def better(self, result):
        return result.mean > (0.0 if self.best is None else self.best[1].mean)


NOT_COPIED = (
    "What you keep are the agent's own weights, not a copy: `checkpoint.contents` makes none, and "
    "the next update changes them where they are. A copy of the dict alone still has the agent's "
    "tensors in it: `copy.deepcopy` copies what is inside, too."
)
MULTIPLES = (
    "An agent may make several steps at once and never stand at a multiple, or call twice without "
    "a step in between; `self.milestones.reached(agent.steps)` knows both"
)
LUCK = "The mean over the same starts is what two agents can be compared by: `result.mean`"
CURVE = "Whoever reads the curve takes each entry apart: `for step, result in curve`"
OWN_SETTINGS = "the callback was given in `__init__`"

EVALUATE = Exercise(
    id="5.3",
    lesson="05_td3_in_practice",
    reference=Evaluate,
    card=Card(
        title="Evaluations while training goes on",
        what="Fill in two methods of `Evaluate`. `__call__`, which `learn` calls after every "
        "update, evaluates whenever another multiple of `every` steps is reached. `evaluate` "
        "does it: note a point of the curve, and if it is the best so far, keep it with a copy of "
        "the agent, write that to `path` if there is one, and return the result.",
        why="The last agent is seldom the best one: many a run falls apart on its way. Who keeps "
        "no copy is left with what the last update made of the best weights.",
        difficulty=3,
        minutes=12,
    ),
    hints=(
        "Who knows when it is time, whose settings does an evaluation take, and against what is "
        "its mean compared? And what happens to a tensor that you keep when the optimiser takes "
        "its next step?",
        "`self.milestones.reached(...)` says when. `evaluate` is both a function of the lesson and "
        "the name of this method: without `self.` it is the function. `self.best` is a pair whose "
        "second part has a `.mean`, or None at first; `copy.deepcopy` goes around "
        "`checkpoint.contents`.",
    ),
    cases=callback_cases,
    observe=observe_callback,
    misconceptions=[
        # When
        Misconception(
            "at every call",
            callback_of(due=lambda self, agent: True),
            "You evaluate at every call, and `learn` calls after every update: most of the time "
            "would go into evaluations. Ask `self.milestones.reached(agent.steps)` first.",
        ),
        Misconception(
            "never",
            callback_of(due=lambda self, agent: False),
            "Nothing comes of your calls, however many steps are made: the curve stays empty. When "
            "`self.milestones.reached(agent.steps)`, call this class's own `evaluate`, with "
            "`self.`: the function of the same name notes nothing. Ask `reached` once at each "
            "call, for it remembers where it was asked last.",
        ),
        Misconception(
            "steps divisible by every",
            callback_of(due=lambda self, agent: agent.steps % self.milestones.every == 0),
            f"You evaluate where the steps are divisible by `every`. {MULTIPLES}.",
        ),
        Misconception(
            "steps divisible by every, but not at 0",
            callback_of(
                due=lambda self, agent: agent.steps and agent.steps % self.milestones.every == 0
            ),
            f"You evaluate where the steps are divisible by `every`. {MULTIPLES}.",
        ),
        Misconception(
            "from every on",
            callback_of(due=lambda self, agent: agent.steps >= self.milestones.every),
            "From the first multiple of `every` on you evaluate at each call. Ask "
            "`self.milestones.reached(agent.steps)`, which is true once for each.",
        ),
        Misconception(
            "not reached",
            callback_of(due=lambda self, agent: not self.milestones.reached(agent.steps)),
            "You evaluate at all calls but those at which a multiple of `every` is reached. It is "
            "the other way round.",
        ),
        # What a call gives
        Misconception(
            "what reached says",
            callback_of(otherwise=lambda self: False),
            "Between two evaluations your callback gives `False`, and that ends training: `learn` "
            "takes it for a wish to stop. Return nothing.",
        ),
        Misconception(
            "ends after an evaluation",
            callback_of(answer=lambda self, result: False),
            "After an evaluation your callback gives `False`, and that ends training: `learn` "
            "takes it for a wish to stop. Return nothing.",
        ),
        Misconception(
            "always False",
            callback_of(answer=lambda self, result: False, otherwise=lambda self: False),
            "Your callback gives `False`, and that ends training: `learn` takes it for a wish to "
            "stop. Return nothing.",
        ),
        Misconception(
            "ends where it is no better",
            callback_of(
                answer=lambda self, result: self.best[1] is result,
            ),
            "Where an evaluation is not the best so far your callback gives `False`, and that ends "
            "training: `learn` takes it for a wish to stop. Return nothing.",
        ),
        # How it is evaluated
        Misconception(
            "in the environment trained in",
            PlaysByHand,
            "You play in the environment that the agent trains in, and training goes on in the "
            "middle of your episodes. `evaluate(agent, self.env, ...)` makes one of its own.",
        ),
        Misconception(
            "env ignored",
            played_by(lambda self, agent: evaluate(agent, None, self.episodes, self.seed)),
            "You always evaluate in a copy of the agent's environment, and the callback may have "
            "been given another one: hand `self.env` on. `evaluate` itself knows what to do if it "
            "is None.",
        ),
        Misconception(
            "agent.env",
            played_by(lambda self, agent: evaluate(agent, agent.env, self.episodes, self.seed)),
            "You evaluate in `agent.env`, whatever the callback was given, and agents that train "
            "in several environments have none. Hand `self.env` on: `evaluate` itself knows what "
            "to do if it is None.",
        ),
        Misconception(
            "episodes ignored",
            played_by(lambda self, agent: evaluate(agent, self.env, seed=self.seed)),
            f"You play as many episodes as `evaluate` does by default. How many {OWN_SETTINGS}: "
            "`self.episodes`.",
        ),
        Misconception(
            "seed ignored",
            played_by(lambda self, agent: evaluate(agent, self.env, self.episodes)),
            f"You start from the seed that `evaluate` has by default. Which one {OWN_SETTINGS}: "
            "`self.seed`.",
        ),
        Misconception(
            "episodes and seed ignored",
            played_by(lambda self, agent: evaluate(agent, self.env)),
            "You play as many episodes, and from the same seed, as `evaluate` does by default. "
            f"What to take instead, {OWN_SETTINGS}: `self.episodes` and `self.seed`.",
        ),
        Misconception(
            "everything ignored",
            played_by(lambda self, agent: evaluate(agent)),
            "You evaluate as `evaluate` does by default. What to take instead, "
            f"{OWN_SETTINGS}: `self.env`, `self.episodes` and `self.seed`.",
        ),
        Misconception(
            "other starts each time",
            played_by(
                lambda self, agent: evaluate(
                    agent, self.env, self.episodes, self.seed + agent.steps
                )
            ),
            "You take other starts at each evaluation, so a better one may only have had easier "
            "starts. Take the same each time: `self.seed`.",
        ),
        Misconception(
            "one further each time",
            played_by(
                lambda self, agent: evaluate(
                    agent, self.env, self.episodes, self.seed + len(self.curve)
                )
            ),
            "You take other starts at each evaluation, so a better one may only have had easier "
            "starts. Take the same each time: `self.seed`.",
        ),
        Misconception(
            "episodes and seed exchanged",
            played_by(lambda self, agent: evaluate(agent, self.env, self.seed, self.episodes)),
            "`episodes` and `seed` have changed places: after the environment comes the number of "
            "episodes, then the seed. Name them, and the order does not matter.",
        ),
        Misconception(
            "exploring",
            played_by(
                lambda self, agent: evaluate(
                    agent.predict, self.env or agent.env_source, self.episodes, self.seed
                )
            ),
            "You evaluate `agent.predict`, which explores unless it is told otherwise. Give "
            "`evaluate` the agent itself: it asks for what the policy thinks best.",
        ),
        # The curve
        Misconception(
            "no curve",
            callback_of(note=lambda self, agent, result: None),
            "The curve stays empty. Append a pair at each evaluation: the step and the result.",
        ),
        Misconception(
            "results without steps",
            callback_of(point=lambda self, agent, result: result),
            f"Your curve holds results without the steps at which they were made. {CURVE}.",
        ),
        Misconception(
            "result first",
            callback_of(point=lambda self, agent, result: (result, agent.steps)),
            f"The entries of your curve are the other way round: the step comes first. {CURVE}.",
        ),
        Misconception(
            "means",
            callback_of(point=lambda self, agent, result: (agent.steps, result.mean)),
            "Your curve holds mean returns. Keep the whole result, so that its spread can be shown "
            "as well.",
        ),
        Misconception(
            "result first, and compared",
            callback_of(
                point=lambda self, agent, result: (result, agent.steps),
                best_point=lambda self, agent, result: self.curve[-1],
            ),
            "The entries of your curve are the other way round, so that `self.best[1]` is a step. "
            f"The step comes first. {CURVE}.",
        ),
        Misconception(
            "means, and compared",
            callback_of(
                point=lambda self, agent, result: (agent.steps, result.mean),
                best_point=lambda self, agent, result: self.curve[-1],
            ),
            "Your curve holds mean returns, so that `self.best[1]` is a number and has no `.mean`. "
            "Keep the whole result.",
        ),
        Misconception(
            "means without steps",
            callback_of(point=lambda self, agent, result: result.mean),
            "Your curve holds mean returns alone. Keep a pair: the step and the whole result.",
        ),
        Misconception(
            "numbered",
            callback_of(point=lambda self, agent, result: (len(self.curve), result)),
            "You number the evaluations. The curve is drawn over training: note `agent.steps`.",
        ),
        Misconception(
            "noted twice",
            callback_of(
                note=lambda self, agent, result: self.curve.extend([(agent.steps, result)] * 2)
            ),
            "Every evaluation stands in the curve twice.",
        ),
        Misconception(
            "only the newest",
            callback_of(
                note=lambda self, agent, result: setattr(self, "curve", [(agent.steps, result)])
            ),
            "Your curve holds the last evaluation alone: append to it, and do not assign.",
        ),
        Misconception(
            "noted only if best",
            NotedOnlyIfBest,
            "Only an evaluation that is the best so far gets into your curve, which then always "
            "rises. Note every one, before you compare.",
        ),
        # Which is the best
        Misconception(
            "keeps the last",
            callback_of(better=lambda self, result: True),
            "You keep each evaluation, whether it is better or not, so that in the end the last "
            "agent is the best one. Compare its mean with that of `self.best`.",
        ),
        Misconception(
            "keeps the first",
            callback_of(better=lambda self, result: False),
            "You keep the first evaluation for ever. A later one whose mean is higher takes its "
            "place (higher than that of `self.best`; in the curve the new one stands already, and "
            "nobody is better than oneself).",
        ),
        Misconception(
            "nothing is the best",
            callback_of(first=lambda self: False, better=lambda self, result: False),
            "No evaluation ever becomes the best, and `self.best` stays None. The first one is the "
            "best so far, and a later one is compared with `self.best`: in the curve it stands "
            "itself, and nobody is better than oneself.",
        ),
        Misconception(
            "keeps the worst",
            compared_by(lambda result: result.mean, -1),
            "You keep the agent with the lowest mean return. Returns are to be high: `>`.",
        ),
        Misconception(
            "better than the one before",
            PreviousOne,
            "You compare with the evaluation just before, so that after a fall the first small "
            "step up counts as the best. Compare with the best so far.",
        ),
        Misconception(
            "the best starts at 0",
            FromZero,
            "Your first best is 0, so where all returns are negative, as in Pendulum, nothing is "
            "ever kept. The first evaluation is the best so far, whatever it is.",
        ),
        Misconception(
            "by the best episode",
            compared_by(lambda result: result.returns.max()),
            f"You decide by the best single episode, which rewards luck. {LUCK}.",
        ),
        Misconception(
            "by the worst episode",
            compared_by(lambda result: result.returns.min()),
            f"You decide by the worst single episode. {LUCK}.",
        ),
        Misconception(
            "by the first episode",
            compared_by(lambda result: result.returns[0]),
            f"You decide by the first episode alone. {LUCK}.",
        ),
        Misconception(
            "by the last episode",
            compared_by(lambda result: result.returns[-1]),
            f"You decide by the last episode alone. {LUCK}.",
        ),
        Misconception(
            "by the median",
            compared_by(lambda result: np.median(result.returns)),
            "You decide by the median of the episodes, and this class promises the highest mean: "
            "`result.mean`.",
        ),
        Misconception(
            "by the largest spread",
            compared_by(lambda result: result.std),
            f"You keep the one whose episodes differ most (`std`). {LUCK}.",
        ),
        Misconception(
            "by the smallest spread",
            compared_by(lambda result: result.std, -1),
            f"You keep the one whose episodes differ least (`std`): an agent that always fails is "
            f"steady, too. {LUCK}.",
        ),
        Misconception(
            "by the length",
            compared_by(lambda result: result.lengths.mean()),
            "You decide by the length of the episodes. Long ones are good in some tasks and bad in "
            "others; what counts is `result.mean`.",
        ),
        # What is kept
        Misconception(
            "not copied",
            callback_of(kept=lambda self, agent: checkpoint.contents(agent, replay=False)),
            NOT_COPIED,
        ),
        Misconception(
            "nothing kept",
            callback_of(
                kept=lambda self, agent: None,
                write=lambda self, agent: agent.save(self.path),
            ),
            "You note which evaluation was the best, but not what the agent was then. "
            "`best_contents` holds a copy of what `checkpoint.contents` gives.",
        ),
        Misconception(
            "nothing kept, and written",
            callback_of(kept=lambda self, agent: None),
            "`best_contents` stays None. It holds a copy of what `checkpoint.contents` gives, "
            "which `restore_best` puts back and the file is made of.",
        ),
        Misconception(
            "with the replay",
            callback_of(
                kept=lambda self, agent: copy.deepcopy(checkpoint.contents(agent, replay=True))
            ),
            "You keep the replay as well, a copy of the whole memory at every new best. To act "
            "again, or to be put back, an agent needs its networks: `replay=False`.",
        ),
        Misconception(
            "the agent itself",
            callback_of(
                kept=lambda self, agent: agent,
                write=lambda self, agent: agent.save(self.path),
            ),
            "You keep the agent itself, which goes on learning, or a copy of all of it, with its "
            "environment and its memory. `restore_best` looks for a dict: a copy of what "
            "`checkpoint.contents` gives.",
        ),
        Misconception(
            "the agent itself, and written",
            callback_of(kept=lambda self, agent: agent),
            "You keep the agent itself, which goes on learning, or a copy of all of it, with its "
            "environment and its memory. `restore_best` looks for a dict: a copy of what "
            "`checkpoint.contents` gives.",
        ),
        Misconception(
            "only the state",
            callback_of(
                kept=lambda self, agent: copy.deepcopy(
                    checkpoint.contents(agent, replay=False)["state"]
                ),
                write=lambda self, agent: agent.save(self.path),
            ),
            "You keep a part of what `checkpoint.contents` gives. `restore_best` and the file need "
            "all of it.",
        ),
        Misconception(
            "only a part, and written",
            callback_of(kept=lambda self, agent: copy.deepcopy(agent.actor.state_dict())),
            "You keep a part of what `checkpoint.contents` gives. `restore_best` and the file need "
            "all of it.",
        ),
        Misconception(
            "best not noted",
            callback_of(
                keep=lambda self, agent, result: setattr(self, "best_contents", self.kept(agent))
            ),
            "`self.best` stays None, so every evaluation is the first to be compared, and the last "
            "agent is kept. Note the point of the curve that was the best.",
        ),
        Misconception(
            "best without its step",
            callback_of(
                best_point=lambda self, agent, result: result,
                better=lambda self, result: result.mean > self.best.mean,
            ),
            "`best` holds the result alone. It is a point of the curve: the step and the result.",
        ),
        Misconception(
            "best is a mean",
            callback_of(
                best_point=lambda self, agent, result: result.mean,
                better=lambda self, result: result.mean > self.best,
            ),
            "`best` holds the mean return alone. It is a point of the curve: the step and the "
            "result.",
        ),
        Misconception(
            "best holds the step and the mean",
            callback_of(
                best_point=lambda self, agent, result: (agent.steps, result.mean),
                better=lambda self, result: result.mean > self.best[1],
            ),
            "`best` holds the step and the mean return. It is a point of the curve: the step and "
            "the whole result.",
        ),
        Misconception(
            "best result without its step, asked for it",
            callback_of(best_point=lambda self, agent, result: result),
            "`best` holds the result alone, so that at the second evaluation there is no "
            "`self.best[1]`. It is a point of the curve: the step and the result.",
        ),
        # The file
        Misconception(
            "written at every evaluation",
            WritesAlways,
            "You write the file at every evaluation, so that a worse agent overwrites the best "
            "one. Write only if it is the best so far.",
        ),
        Misconception(
            "the best written at every evaluation",
            WritesTheBestAlways,
            "You write the file at every evaluation, though nothing has changed in it. Write it "
            "when there is a new best.",
        ),
        Misconception(
            "never written",
            callback_of(wants_file=lambda self: False),
            "`path` is given, and no file appears: `checkpoint.write` puts the best contents "
            "there.",
        ),
        Misconception(
            "written without a path",
            callback_of(wants_file=lambda self: True),
            "You write a file also where no `path` was given, and there is nowhere to write it. "
            "Ask whether it is None.",
        ),
        Misconception(
            "written only without a path",
            callback_of(wants_file=lambda self: self.path is None),
            "You write the file where `path` is None, and not where there is one. It is the other "
            "way round.",
        ),
        # What is returned
        Misconception(
            "no result",
            callback_of(given=lambda self, result: None),
            "`evaluate` returns nothing. Who calls it by hand wants to see the result: return it, "
            "whether it is the best or not.",
        ),
        Misconception(
            "a result only if it is the best",
            callback_of(given=lambda self, result: result if self.best[1] is result else None),
            "`evaluate` returns its result only if it is the best so far. Return it in any case: "
            "the `return` stands outside the `if`.",
        ),
        Misconception(
            "the best returned",
            callback_of(given=lambda self, result: self.best),
            "`evaluate` returns the best point so far. What it has just found is asked for: the "
            "result.",
        ),
        Misconception(
            "the mean returned",
            callback_of(given=lambda self, result: result.mean),
            "`evaluate` returns the mean return. Return the whole result.",
        ),
        Misconception(
            "the curve returned",
            callback_of(given=lambda self, result: self.curve),
            "`evaluate` returns the whole curve. What it has just found is asked for: the result.",
        ),
    ],
)
