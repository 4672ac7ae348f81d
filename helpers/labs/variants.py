"""The labs' variants, from the Markdown files beside this one: one idea switched off at a time.

## no delay
td3 Pendulum-v1: policy_delay=1               the setting of a lesson, and what is changed in it
mistake 3.3: only the first critic            as an exercise's file has it
helpers.algorithms.ddpg:start_small           another function, class or method, and its edit
`nn.init.uniform_(layer.weight` -> `(lambda *_: None)(layer.weight`
What it is, and what it does to the training.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import patch

from helpers.agents.base import Agent, Callback
from helpers.agents.noise import GaussianNoise, OUNoise, UniformNoise
from helpers.agents.schedules import LinearSchedule
from helpers.checks import find
from helpers.checks.edits import edited
from helpers.exercises.text import Edits, read_entry, split
from helpers.training.results import load_results
from helpers.training.settings import Setting, get_setting

FOLDER = Path(__file__).resolve().parent
LABS = {path.name.split("_")[0]: path for path in sorted(FOLDER.glob("[0-9]*.md"))}
# What a setting in these files may name beside numbers and texts.
_NAMES = {each.__name__: each for each in (GaussianNoise, OUNoise, UniformNoise, LinearSchedule)}
_SETTING = re.compile(r"([\w-]+) ([\w-]+)(?:: (.+?))?( \(values watched\))?")
_MISTAKE = re.compile(r"mistake ([\d.]+: .+)")
_FUNCTION = re.compile(r"helpers[\w.]+:[\w.]+")


@dataclass(frozen=True)
class Variant:
    """A lesson's training with parameters changed, or with functions replaced by mistaken ones."""

    name: str
    setting: Setting
    explanation: str
    changes: dict[str, Any] = field(default_factory=dict)
    replaced: dict[str, Callable] = field(default_factory=dict)  # "module:name" -> other version
    watched: bool = False  # what the critic says and what is obtained, through training

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within this, the functions are the other versions, wherever they were imported to."""
        with ExitStack() as patches:
            for where, other in self.replaced.items():
                for module, name in _users(where):
                    patches.enter_context(patch.object(module, name, other))
            yield

    def train(self, seed: int, callback: Callback | None = None) -> Agent:
        """The agent of this variant after the lesson's number of steps.

        Where a function is replaced and its twin in numpy is not, updates are computed as they are
        written: twins have the same steps and numbers.
        """
        in_torch = self.replaced and not any("InNumpy" in where for where in self.replaced)
        with self.applied():
            written = {"fast": False} if in_torch and "fast" in self.setting.kind.settings else {}
            agent = self.setting.make(seed, **written, **self.changes)
            return agent.learn(self.setting.steps, callback)


def load_lab(lesson: str) -> dict[str, Any]:
    """A lab's stored results with the explanations of its variants: name -> what was measured.

    Raises `FileNotFoundError` if there are none.
    """
    explanations = {variant.name: variant.explanation for variant in variants(lesson)}
    stored = load_results(f"{lesson}_break_it")
    return {
        name: runs | {"explanation": explanations[name]}
        for name, runs in stored.items()
        if name in explanations
    }


@cache
def variants(lesson: str) -> tuple[Variant, ...]:
    """The variants of a lesson's lab, such as "03", in the order of its file."""
    # What bears an explanation out stands after it in a comment, which nobody is shown.
    text = re.sub(r"(?s)\s*<!-- .*? -->", "", LABS[lesson].read_text(encoding="utf-8"))
    _, entries = split(text, "## ")
    return tuple(_variant(name, text) for name, text in entries.items())


def _variant(name: str, text: str) -> Variant:
    first, *lines = text.splitlines()
    match = _SETTING.fullmatch(first)
    if not match:
        raise ValueError(
            f"The variant {name!r} begins with `algorithm environment`, not {first!r}."
        )
    setting, given = get_setting(match[1], match[2]), _keywords(match[3])
    of_setting = {each.name for each in fields(Setting)}
    setting = replace(setting, **{key: given.pop(key) for key in of_setting & given.keys()})
    replaced: dict[str, Callable] = {}
    words: list[str] = []
    edits: dict[str, list[str]] = {}
    for line in lines:
        if mistake := _MISTAKE.fullmatch(line):
            replaced |= mistaken(mistake[1])
        elif _FUNCTION.fullmatch(line):
            edits[line] = words = []
        else:
            words.append(line)
    explanation = "\n".join(words)
    for where, its_lines in edits.items():
        entry: Edits = read_entry("\n".join(its_lines))
        explanation = entry.words
        replaced[where] = edited(_function(where), entry.spellings[0], name)
    return Variant(name, setting, " ".join(explanation.split()), given, replaced, bool(match[4]))


def _keywords(text: str | None) -> dict[str, Any]:
    """`policy_delay=1, noise=OUNoise(theta=0.1)` as a dict. Our own file may be evaluated."""
    return eval(f"dict({text or ''})", _NAMES.copy())


def mistaken(text: str) -> dict[str, Callable]:
    """`3.3: only the first critic` -> the wrong version, by the place of the right one."""
    exercise_id, _, name = text.partition(": ")
    exercise = find(exercise_id)
    for mistake in exercise.mistakes:
        if mistake.name == name:
            where = f"{exercise.reference.__module__}:{exercise.name}"
            return {where: mistake.function}
    raise ValueError(f"Exercise {exercise_id} has no mistake called {name!r}.")


def _function(where: str) -> Callable:
    module, name = where.split(":")
    return attrgetter(name)(import_module(module))


def _users(where: str) -> list[tuple[Any, str]]:
    """Every module of the course that has the function under its name, or a method's class."""
    original, name = _function(where), where.split(":")[1]
    if "." in name:
        owner, _, name = where.rpartition(".")
        return [(_function(owner), name)]
    modules = [module for key, module in sys.modules.items() if key.startswith("helpers.")]
    return [(module, name) for module in modules if getattr(module, name, None) is original]
