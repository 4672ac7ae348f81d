"""The settings of an agent: found out from its constructors, changed later, written to a file."""

import difflib
import inspect
import re
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.reduction import ForkingPickler
from numbers import Real
from typing import Any

import numpy as np
import torch

from helpers.agents.limits import LIMITS, NETWORKS, of_flat
from helpers.agents.modes import settle
from helpers.agents.noise import KINDS as NOISES
from helpers.agents.noise import Noise, as_noise
from helpers.agents.normalize import watched
from helpers.agents.parameters import apart, weight_names
from helpers.agents.schedules import KINDS as SCHEDULES
from helpers.agents.schedules import as_rate
from helpers.envs.resumable import Resumable
from helpers.memory.buffers import by_value
from helpers.names import check_names, is_elsewhere, unknown

SHAPES = ("hidden", "layer_norm")  # of the weights: a file's fit no other
OWN = "own"  # in a file: the name of what it cannot hold
# Of a constructor's parameters, *args and **shared: what it hands on to the class above.
HANDED_ON = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

WRAPPED: dict[str, Callable[[Any], Any]] = {"value": of_flat, "train_step": watched}


class Remembering(ABCMeta):
    """The class of agent classes: an agent knows its settings, and when its constructor is through.

    Found out once, here, so that no constructor has to do it and `save` knows all of them. Also
    here, every `value` looks at what it is given, and every `train_step` lets the normaliser learn.
    """

    def __new__(cls, name: str, bases: tuple, namespace: dict[str, Any], **kwargs: Any) -> Any:
        for method, wrapped in WRAPPED.items():
            if inspect.isfunction(own := namespace.get(method)):
                namespace[method] = wrapped(own)
        kind = super().__new__(cls, name, bases, namespace, **kwargs)
        ForkingPickler.register(kind, by_value)
        return kind

    def __call__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        agent = cls.__new__(cls)
        vars(agent)["remembered"] = hyperparameters(cls, args, kwargs)
        with torch.inference_mode(False):  # what is made there could never learn
            agent.__init__(*args, **kwargs)
        settle(agent)
        vars(agent).pop("decided", None)
        vars(agent).update(made=True, weight_names=weight_names(agent), apart=apart(agent))
        return agent

    @property
    def __signature__(cls) -> inspect.Signature:
        """All that can be set, for `help` and editors, in place of `**shared`."""
        named: dict[str, inspect.Parameter] = {}
        for signature in _constructors(cls):
            for name, parameter in signature.parameters.items():
                named.setdefault(name, parameter)
        shown = [p for p in named.values() if p.name != "self" and p.kind not in HANDED_ON]
        return inspect.Signature(sorted(shown, key=lambda p: p.kind))


class MakesAgents(classmethod):
    """A class method that is none of its agents': what it gives would be lost without a word."""

    def __get__(self, agent: Any, kind: Any = None) -> Any:
        if agent is not None:
            name = self.__name__
            raise TypeError(
                f"{name} makes a new agent and leaves this one as it is: write agent = "
                f"{type(agent).__name__}.{name}(path)."
            )
        return super().__get__(None, kind)


def change(agent: Any, name: str, value: Any) -> None:
    """Set an attribute of an agent that is made already: a setting as its constructor would do it.

    What a file holds changes with it. Raises `ValueError` for what the setting cannot be, and
    `AttributeError` for one that cannot be changed, or that has another name here.
    """
    kind, settings = type(agent), agent.remembered
    if name not in settings:
        if name == "env":
            if not isinstance(value, Resumable | None):
                raise AttributeError("agent.set_env(env) gives it another environment to learn in.")
        elif name in NETWORKS:
            raise AttributeError(f"{name} counts when an agent is made: name it in a subclass.")
        elif not hasattr(kind, name) and (name in LIMITS or is_elsewhere(name, agent)):
            raise AttributeError(unknown(kind.__name__, name, list(settings), LIMITS))
        elif near := difflib.get_close_matches(name, {*settings} - {name}, n=1, cutoff=0.85):
            warnings.warn(
                f"agent.{name} is new, and nothing reads it: write agent.{near[0]}, if that is "
                "meant.",
                stacklevel=3,
            )
        object.__setattr__(agent, name, value)
        return
    value = as_remembered(value)
    live = vars(agent)  # numbers of its own a constructor may have set
    used = {n: live[n] if isinstance(live.get(n), Real) else old for n, old in settings.items()}
    agent.check_settings(used | {name: value})
    if name in agent.rates:
        agent.follow(name, value, *agent.rates[name][1])
    elif name not in vars(agent) or name in agent.settled:
        later = "" if name in SHAPES else f", or to {kind.__name__}.load(path, {name}=...)"
        raise AttributeError(
            f"{name} counts when an agent is made, not later: "
            f"give it to {kind.__name__}(...){later}."
        )
    else:
        is_noise = isinstance(value, Noise)
        vars(agent)[name] = as_noise(value, name, agent.action_size) if is_noise else value
    settings[name] = value


def hyperparameters(kind: type, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What `kind(*args, **kwargs)` sets by name, defaults included, beside the environment.

    A constructor with `**shared`, and perhaps `*args`, hands these on to that of the class above.
    Raises `TypeError` for what none of them takes.
    """
    known, remembered = settings_of(kind), dict[str, Any]()
    given = {name: value for name, value in kwargs.items() if name in known}
    for signature in _constructors(kind):
        try:
            bound = signature.bind_partial(None, *args, **given)  # None stands for the agent
        except TypeError as error:  # too many without a name, or one of them by name as well
            raise TypeError(
                f"{kind.__name__} takes the environment, and then settings by name: there is no "
                "policy to choose, and each setting is written name=value."
            ) from error
        bound.apply_defaults()
        args, given = (), {}
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                args = bound.arguments.pop(name)
            elif parameter.kind is parameter.VAR_KEYWORD:
                given = bound.arguments.pop(name)
        remembered = {**bound.arguments, **remembered}
    check_names(kind.__name__, kwargs, known, LIMITS)
    return {
        name: as_remembered(value)
        for name, value in remembered.items()
        if name not in ("self", "env")
    }


def note_decided(agent: Any, settings: Mapping[str, Any]) -> None:
    """Remember what a constructor was given: a class below may have decided that in its own.

    What a class below takes under the same name stays as that class was given it.
    """
    vars(agent).setdefault("decided", {}).update(settings)
    kinds = type(agent).__mro__
    below = kinds[: kinds.index(settings.get("__class__", kinds[0]))]
    own = [inspect.signature(vars(kind)["__init__"]) for kind in below if "__init__" in vars(kind)]
    taken = {name for signature in own for name in signature.parameters}
    for name in (agent.remembered.keys() & settings.keys()) - taken:
        agent.remembered[name] = as_remembered(settings[name])


def made_from(kind: Any, env: Any, settings: Mapping[str, Any]) -> Any:
    """`kind(env, **settings)`; what its constructor decides itself is set afterwards if it differs.

    `super().__init__(env, hidden=256, **shared)` takes no other hidden, which Python alone knows.
    """
    given, decided = {name: as_remembered(value) for name, value in settings.items()}, {}
    while True:
        try:
            agent = kind(env, **given)
            break
        except TypeError as error:
            twice = re.search(r"multiple values for keyword argument '(\w+)'", str(error))
            if twice is None or twice[1] not in given:
                raise
            decided[twice[1]] = given.pop(twice[1])
    for name, value in decided.items():
        if agent.hyperparameters.get(name) != value:
            try:
                setattr(agent, name, value)
            except AttributeError as error:
                words = f"{kind.__name__} decides its {name} itself: change it there"
                raise ValueError(words) from error
    return agent


def settings_of(kind: type) -> list[str]:
    """The names of all keyword arguments that `kind` takes, the environment among them."""
    every = [each for signature in _constructors(kind) for each in signature.parameters.values()]
    names = [each.name for each in every if each.kind not in HANDED_ON]
    return [name for name in dict.fromkeys(names) if name != "self"]


def _constructors(kind: type) -> Iterator[inspect.Signature]:
    """The constructor and those above that it hands keyword arguments on to, in `**shared`."""
    for owner in (k for k in kind.__mro__ if "__init__" in vars(k)):
        signature = inspect.signature(vars(owner)["__init__"])
        yield signature
        if not any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()):
            break


def as_remembered(value: Any) -> Any:
    """A copy of a noise or list; what a file's dictionary stands for; no number of numpy's."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, Noise) or (isinstance(kind, str) and kind in NOISES):
        return as_noise(value)
    if isinstance(kind, str) and kind in SCHEDULES:
        return as_rate("a learning rate", value)
    if isinstance(value, list):
        return list(value)  # its owner may change it; a file says what networks were made of
    return value.item() if isinstance(value, np.generic) else value


# ---- in a file -----------------------------------------------------------------------------------


def as_plain(value: Any) -> Any:
    """A setting as a file can hold it: the course's noises and schedules say themselves how.

    Whatever is not a plain value is an object, class or function of one's own. `load` asks for it
    again: the file notes its name, {"own": "Mine(...)"}, as it is typed.
    """
    if type(value).__name__ in NOISES.keys() | SCHEDULES.keys():
        return value.to_plain()
    try:
        return _plain(value)
    except TypeError:
        return {OWN: getattr(value, "__name__", f"{type(value).__name__}(...)")}


def check_own(path: Any, loader: str, settings: Mapping[str, Any]) -> None:
    """Raise `ValueError` for the first setting that a file only knows the name of."""
    for name, value in settings.items():
        if not (isinstance(value, dict) and value.keys() == {OWN}):
            continue
        typed = value[OWN]
        named = isinstance(typed, str) and re.fullmatch(r"[\w<>]{1,60}(\(\.\.\.\))?", typed)
        shown = typed if named else "..."
        raise ValueError(
            f"{path} was saved with your own {name} {shown.removesuffix('(...)')}, which no file "
            f"can hold: pass it, {loader}(path, {name}={shown})."
        )


def same_kind(one: Any, other: Any) -> bool:
    """Whether two settings, as a file holds them, are objects of one class."""
    both = isinstance(one, dict) and isinstance(other, dict)
    return both and all(one.get(key) == other.get(key) for key in (OWN, "kind"))


def _plain(value: Any) -> Any:
    """`value` of Python's own numbers, texts and lists. Raises `TypeError` if it is of others."""
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(_plain, value))
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in (bool, int, float, str, type(None)):
        raise TypeError(f"{type(value).__name__} is no plain value")
    return value
