"""With which settings an agent was made, found out from its constructors."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from helpers.agents.names import check_names
from helpers.agents.noise import KINDS as NOISES
from helpers.agents.noise import Noise, as_noise
from helpers.agents.schedules import KINDS as SCHEDULES
from helpers.agents.schedules import as_rate

OWN = "own"  # in a file: the name of what it cannot hold


def hyperparameters(kind: type, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What `kind(*args, **kwargs)` sets by name, defaults included, beside the environment.

    A constructor with `**shared` hands these on to the one of the class above. Raises `TypeError`
    for what none of them takes.
    """
    first, _ = next(_constructors(kind))
    named_too = [p for p in first.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(args) > len(named_too) - 1:  # the agent itself is one of them
        raise TypeError(
            f"{kind.__name__} takes the environment, and then settings by name: there is no policy "
            "to choose, and each setting is written name=value."
        )
    check_names(kind.__name__, kwargs, settings_of(kind))
    remembered: dict[str, Any] = {}
    for signature, shared in _constructors(kind):
        # Not `bind`: copy.deepcopy calls this without arguments.
        bound = signature.bind_partial(None, *args, **kwargs)  # None stands for the agent
        bound.apply_defaults()
        args, kwargs = (), bound.arguments.pop(shared) if shared else {}
        remembered = {**bound.arguments, **remembered}
    return {
        name: _as_remembered(value)
        for name, value in remembered.items()
        if name not in ("self", "env")
    }


def settings_of(kind: type) -> list[str]:
    """The names of all keyword arguments that `kind` takes, the environment among them."""
    names = [name for signature, _ in _constructors(kind) for name in signature.parameters]
    shared = [name for _, name in _constructors(kind)]
    return [name for name in dict.fromkeys(names) if name not in ("self", *shared)]


def _constructors(kind: type) -> Iterator[tuple[inspect.Signature, str | None]]:
    """The constructor and those above that it hands keyword arguments on to, in `**shared`."""
    for owner in (k for k in kind.__mro__ if "__init__" in vars(k)):
        signature = inspect.signature(vars(owner)["__init__"])
        shared = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
        yield signature, shared[0] if shared else None
        if not shared:
            break


def _as_remembered(value: Any) -> Any:
    """A copy of a noise; the object that a file's dictionary stands for; no number of numpy's."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, Noise) or (isinstance(kind, str) and kind in NOISES):
        return as_noise(value)
    if isinstance(kind, str) and kind in SCHEDULES:
        return as_rate("a learning rate", value)
    return value.item() if isinstance(value, np.generic) else value


# ---- in a file -----------------------------------------------------------------------------------


def as_plain(value: Any) -> Any:
    """A setting as a file can hold it: the course's noises and schedules say themselves how.

    Whatever is not a plain value is an object, class or function of one's own. `load` asks for it
    again: the file notes its name, {"own": "Mine(...)"}, as it is typed.
    """
    if type(value).__name__ in NOISES.keys() | SCHEDULES.keys():
        return value.to_plain()
    if _is_plain(value):
        return value
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


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (int, float, str, dict, type(None)))
