"""Lesson 05's probe: exercise 5.4 `TwoStepProbe`, an environment of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.training.probes import ProbeEnv, TwoStepProbe, observation

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


# --- Wrong versions -------------------------------------------------------------------------------


class Parts(ProbeEnv):
    """The course's probe in parts, so that wrong versions can replace some."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.begin()
        return self.first()

    def step(self, action):
        self.count()
        if self.is_first(action):
            return self.early(action)
        return self.late(action)

    def begin(self):
        self.done = 0

    def first(self):
        return self.show(-1), {}

    def show(self, number):
        return observation(number)

    def count(self):
        self.done += 1

    def is_first(self, action):
        return self.done == 1

    def early(self, action):
        return self.show(1), self.rewards(action)[0], *self.ends()[0], {}

    def late(self, action):
        return self.show(0), self.rewards(action)[1], *self.ends()[1], {}

    def rewards(self, action):
        return 0.0, 1.0

    def ends(self):
        return (False, False), (True, False)


def probe_of(**methods: Callable) -> type[Parts]:
    return type("TwoStepProbe", (Parts,), methods)


def paying(first: float, second: float) -> type[Parts]:
    return probe_of(rewards=lambda self, action: (first, second))


def ending(first: tuple[bool, bool], second: tuple[bool, bool]) -> type[Parts]:
    return probe_of(ends=lambda self: (first, second))


def showing(reset: float, first: float, second: float) -> type[Parts]:
    return probe_of(
        first=lambda self: (self.show(reset), {}),
        early=lambda self, action: (self.show(first), 0.0, False, False, {}),
        late=lambda self, action: (self.show(second), 1.0, True, False, {}),
    )


class NeverSetBack(Parts):
    """Counts on through all episodes."""

    def __init__(self) -> None:
        super().__init__()
        self.done = 0

    def begin(self):
        pass


class SetBackAtTheEnd(NeverSetBack):
    """As long as no episode is broken off, nothing is noticed."""

    def late(self, action):
        self.done = 0
        return super().late(action)


class OneStep(Parts):
    def is_first(self, action):
        return False


class AsksFirst(Parts):
    def step(self, action):
        is_first = self.is_first(action)
        self.count()
        return self.early(action) if is_first else self.late(action)


class NotCounted(Parts):
    def count(self):
        pass

    def is_first(self, action):
        return self.done == 0


def float64(self, number):
    return np.array([float(number)])


SECOND_ONLY = (
    "Only the second step is rewarded, with 1: that the first observation is worth gamma then "
    "shows that the critic discounts once, and bootstraps"
)
END = (
    "After the second step the episode terminates, which means that nothing comes after it. A "
    "truncation would say that it is only watched no longer, and a right agent would bootstrap"
)
IN_ORDER = "The probe shows -1 at the start, 1 after the first step, and 0 in the end"
AN_ARRAY = (
    "An observation is an array of shape (1,) and type float32, as the observation space says: "
    "`observation(number)` makes one"
)

TWO_STEP_PROBE = Exercise(
    id="5.4",
    lesson="05_td3_in_practice",
    reference=TwoStepProbe,
    card=Card(
        title="A probe",
        what="Fill in `reset` and `step` of `TwoStepProbe`: an episode starts with the observation "
        "-1. The first step leads to the observation 1, without a reward. The second is rewarded "
        "with 1 and terminates the episode, in the observation 0. What is done plays no part.",
        why="An agent that fails in Walker2d does not say why. In an environment whose values are "
        "known by heart (here gamma, then 1) a wrong number names the suspect, in a second.",
        difficulty=1,
        minutes=8,
    ),
    hints=(
        "The environment has to know which of the two steps comes next. Where is that noted, when "
        "does it change, and when does it begin anew?",
        "`reset` gives the observation and a dict; `step` gives the observation, the reward, "
        "`terminated`, `truncated` and a dict. Count the steps in `self.done`, and set it back in "
        "`reset`, for an episode may be broken off.",
    ),
    cases=probe_cases,
    observe=observe_probe,
    misconceptions=[
        # Counting
        Misconception(
            "never set back",
            NeverSetBack,
            "Your count of steps goes on from one episode into the next, so that only the first "
            "episode has two steps. Set it back in `reset`.",
        ),
        Misconception(
            "set back at the end",
            SetBackAtTheEnd,
            "You set the count back where an episode ends. One that is broken off (a time limit, "
            "an evaluation) never gets there: set it back in `reset`.",
        ),
        Misconception(
            "never started",
            probe_of(begin=lambda self: None),
            "`step` asks for a count that nobody has begun: set `self.done` to 0 in `reset`.",
        ),
        Misconception(
            "not counted",
            NotCounted,
            "Your second step is taken for another first one. Count the steps, by adding 1 to "
            "`self.done` at each, and mind whether you count before or after you ask.",
        ),
        Misconception(
            "one step",
            OneStep,
            "Your episodes end after the first step: it is taken for the second. Mind whether you "
            "count before or after you ask.",
        ),
        Misconception(
            "asks before it counts",
            AsksFirst,
            "You ask before you count, so the first step must be asked for as 0.",
        ),
        # Rewards
        Misconception(
            "both rewarded",
            paying(1.0, 1.0),
            f"Both steps are rewarded. {SECOND_ONLY}.",
        ),
        Misconception(
            "the first rewarded",
            paying(1.0, 0.0),
            f"The first step is rewarded, and the second is not. {SECOND_ONLY}.",
        ),
        Misconception("no reward", paying(0.0, 0.0), f"No step is rewarded. {SECOND_ONLY}."),
        Misconception(
            "a reward of -1",
            paying(0.0, -1.0),
            f"The second step costs 1. {SECOND_ONLY}.",
        ),
        Misconception(
            "a cost for the first step",
            paying(-1.0, 1.0),
            f"The first step costs 1. {SECOND_ONLY}.",
        ),
        Misconception(
            "the second step's number",
            paying(1.0, 2.0),
            f"You reward a step with its number. {SECOND_ONLY}.",
        ),
        Misconception(
            "discounted already",
            paying(0.0, 0.99),
            "You discount the reward. Discounting is the agent's business, and what the probe is "
            "to find out: the second step is rewarded with 1.",
        ),
        Misconception(
            "pays the action",
            probe_of(rewards=lambda self, action: (0.0, float(action[0]))),
            "The reward is what was done. Here actions play no part, so that nothing but the "
            "critic is on trial.",
        ),
        Misconception(
            "pays the action at both steps",
            probe_of(rewards=lambda self, action: (float(action[0]), float(action[0]))),
            "The rewards are what was done. Here actions play no part, so that nothing but the "
            "critic is on trial.",
        ),
        Misconception(
            "a reward with an axis",
            probe_of(rewards=lambda self, action: (0.0, np.ones(1, np.float32))),
            "Your reward is an array. A reward is a number: 1.0.",
        ),
        # Ends
        Misconception(
            "truncated",
            ending((False, False), (False, True)),
            f"Your episode is truncated. {END}.",
        ),
        Misconception(
            "both flags",
            ending((False, False), (True, True)),
            f"Your episode is terminated and truncated at once. {END}.",
        ),
        Misconception(
            "no end",
            ending((False, False), (False, False)),
            f"Your episode has no end. {END}.",
        ),
        Misconception(
            "both end",
            ending((True, False), (True, False)),
            f"Your first step ends the episode already. It goes on; {END[0].lower()}{END[1:]}.",
        ),
        Misconception(
            "the first ends",
            ending((True, False), (False, False)),
            "Your first step ends the episode, and the second does not. It is the other way round.",
        ),
        Misconception(
            "the first truncated",
            ending((False, True), (True, False)),
            "Your first step truncates the episode. It goes on: nothing ends before the second.",
        ),
        # Observations
        Misconception(
            "always the same",
            showing(-1, -1, -1),
            f"All your observations are the same, so that no critic could tell the two steps "
            f"apart. {IN_ORDER}.",
        ),
        Misconception(
            "the other way round",
            showing(1, -1, 0),
            f"1 and -1 have changed places. {IN_ORDER}.",
        ),
        Misconception(
            "0 at the start",
            showing(0, 1, 0),
            f"You start from 0, the observation of the end. {IN_ORDER}.",
        ),
        Misconception(
            "0 at the start, 1 at the end",
            showing(0, 0, 1),
            f"Your start and the first step look alike. {IN_ORDER}.",
        ),
        Misconception(
            "the count",
            showing(0, 1, 2),
            f"You show the number of steps, and 2 is not even in the observation space. "
            f"{IN_ORDER}.",
        ),
        Misconception(
            "1 at the end",
            showing(-1, 1, 1),
            f"The end looks like the observation before. {IN_ORDER}: an end is no other's.",
        ),
        Misconception(
            "-1 at the end",
            showing(-1, 1, -1),
            f"The end looks like the start. {IN_ORDER}: an end is no other's.",
        ),
        Misconception(
            "one step behind",
            showing(-1, -1, 1),
            "Your steps show where they came from. `step` gives the observation that they lead "
            f"to. {IN_ORDER}.",
        ),
        Misconception(
            "0 in the middle",
            showing(-1, 0, 1),
            f"0 and 1 have changed places. {IN_ORDER}.",
        ),
        Misconception(
            "plain numbers",
            probe_of(show=lambda self, number: number),
            f"Your observations are plain whole numbers. {AN_ARRAY}.",
        ),
        Misconception(
            "plain floats",
            probe_of(show=lambda self, number: float(number)),
            f"Your observations are plain numbers. {AN_ARRAY}.",
        ),
        Misconception(
            "lists",
            probe_of(show=lambda self, number: [number]),
            f"Your observations are lists. {AN_ARRAY}.",
        ),
        Misconception(
            "float64", probe_of(show=float64), f"Your observations are float64. {AN_ARRAY}."
        ),
        Misconception(
            "int64",
            probe_of(show=lambda self, number: np.array([number], np.int64)),
            f"Your observations are whole numbers. {AN_ARRAY}.",
        ),
        Misconception(
            "float64 in step",
            probe_of(
                early=lambda self, action: (float64(self, 1), 0.0, False, False, {}),
                late=lambda self, action: (float64(self, 0), 1.0, True, False, {}),
            ),
            f"Your observations are float64 in `step`. {AN_ARRAY}.",
        ),
        Misconception(
            "int64 in step",
            probe_of(
                early=lambda self, action: (np.array([1], np.int64), 0.0, False, False, {}),
                late=lambda self, action: (np.array([0], np.int64), 1.0, True, False, {}),
            ),
            f"Your observations are whole numbers in `step`. {AN_ARRAY}.",
        ),
        Misconception(
            "no axis",
            probe_of(show=lambda self, number: np.array(number, np.float32)),
            f"Your observations have no axis. {AN_ARRAY}.",
        ),
        # What is given
        Misconception(
            "reset gives the observation alone",
            probe_of(first=lambda self: self.show(-1)),
            "`reset` gives the observation alone. Gymnasium expects a pair: the observation and a "
            "dict with whatever else there is to say, here `{}`.",
        ),
        Misconception(
            "four things",
            probe_of(
                early=lambda self, action: (self.show(1), 0.0, False, {}),
                late=lambda self, action: (self.show(0), 1.0, True, {}),
            ),
            "`step` gives four things, perhaps as in older code. There are five: the observation, "
            "the reward, `terminated`, `truncated` and a dict.",
        ),
        Misconception(
            "None for the dict",
            probe_of(
                first=lambda self: (self.show(-1), None),
                early=lambda self, action: (self.show(1), 0.0, False, False, None),
                late=lambda self, action: (self.show(0), 1.0, True, False, None),
            ),
            "You give None where gymnasium expects a dict with whatever else there is to say. "
            "There is nothing, so it is empty: `{}`.",
        ),
    ],
)
