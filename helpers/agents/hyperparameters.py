"""With which settings an agent was made, found out from its constructors."""

import inspect
from typing import Any

import numpy as np

from helpers.agents.noise import KINDS as NOISES
from helpers.agents.noise import Noise, as_noise
from helpers.agents.schedules import KINDS as SCHEDULES
from helpers.agents.schedules import as_rate


def hyperparameters(kind: type, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What `kind(*args, **kwargs)` sets by name, defaults included, beside the environment.

    A constructor with `**shared` hands these on to the one of the class above.
    """
    remembered: dict[str, Any] = {}
    for owner in (k for k in kind.__mro__ if "__init__" in vars(k)):
        signature = inspect.signature(vars(owner)["__init__"])
        # Not `bind`: copy.deepcopy calls this without arguments.
        bound = signature.bind_partial(None, *args, **kwargs)  # None stands for the agent
        bound.apply_defaults()
        shared = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
        args, kwargs = (), bound.arguments.pop(shared[0]) if shared else {}
        remembered = {**bound.arguments, **remembered}
        if not shared:
            break
    return {
        name: _as_remembered(value)
        for name, value in remembered.items()
        if name not in ("self", "env")
    }


def _as_remembered(value: Any) -> Any:
    """A copy of a noise; the object that a file's dictionary stands for; no number of numpy's."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, Noise) or (isinstance(kind, str) and kind in NOISES):
        return as_noise(value)
    if isinstance(kind, str) and kind in SCHEDULES:
        return as_rate("a learning rate", value)
    return value.item() if isinstance(value, np.generic) else value
