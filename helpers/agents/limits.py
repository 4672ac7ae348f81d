"""Checks of settings, callbacks, observations and environments, and their errors."""

import inspect
import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.noise import Noise, as_noise
from helpers.agents.normalize import PARTS
from helpers.envs.make import check_action_space, is_image, observation_box, one_line
from helpers.envs.units import check_bounded, check_widths

# Of a setting's name and value: gives what is kept of it, or raises `ValueError`.
Limit = Callable[[str, Any], Any]


def refuse(name: str, words: str, value: Any) -> ValueError:
    """The one sentence: what a setting must be, and what it was."""
    shown = one_line(value if isinstance(value, Real) else repr(value))
    return ValueError(f"{name} must be {words}, got {shown[:80]}.")


def number(
    least: float = -math.inf,
    most: float = math.inf,
    *,
    above: float = -math.inf,
    whole: bool = False,
    integer: bool = False,
    finite: bool = False,
    optional: bool = False,
) -> Limit:
    """A number from `least` to `most`, and larger than `above`; NaN never is. Perhaps None.

    With `integer` it also is an int: 8.0 and 1e6 are not sizes of an array.
    """
    words = "a whole number" if whole or integer else "a finite number" if finite else "a number"
    words += f" above {above:g}" if above > -math.inf else ""
    if most < math.inf:
        words += f", at most {most:g}" if above > -math.inf else f" from {least:g} to {most:g}"
    elif least > -math.inf:
        words += f" from {least:g} up"
    words += ", or None" if optional else ""

    def limit(name: str, value: Any) -> Any:
        if optional and value is None:
            return None
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and least <= value <= most and value > above):
            raise refuse(name, words, value)
        # 1e4 is a whole number too.
        if (finite and abs(value) == math.inf) or (whole and value % 1 != 0):
            raise refuse(name, words, value)
        if integer and not isinstance(value, Integral):
            raise refuse(name, words.replace("a whole number", "an int"), value)
        return value

    return limit


def widths(name: str, value: Any) -> Any:
    """The width of each hidden layer."""
    each = value if isinstance(value, Sequence) and len(value) > 0 else [value]
    whole = all(isinstance(width, Integral) and not isinstance(width, bool) for width in each)
    if not (whole and all(width >= 1 for width in each)):
        words = "the width of both hidden layers, such as 64, or one for each, such as (400, 300)"
        raise refuse(name, words, value)
    return value


def warm_up(name: str, value: Any) -> Noise:
    """A copy of a noise that acts alone."""
    if value is None:
        words = "a noise such as UniformNoise(1.0), since it acts alone during the warm-up"
        raise refuse(name, words, value)
    return as_noise(name, value)


def switch(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(name, "True or False", value)
    return bool(value)


def as_device(name: str, value: Any) -> torch.device:
    """Where to compute: `value`, or what it is the name of, if PyTorch can compute there."""
    try:
        if value == "auto":
            value = "cuda" if torch.cuda.is_available() else "cpu"
        device = torch.device(value)
        torch.empty(0, device=device)  # for torch, a device need not be there to have a name
    except Exception as error:  # which kind, each device says in its own way
        words = '"cpu", "auto", or "cuda" if torch.cuda.is_available() is True'
        raise refuse(name, words, value) from error
    return device


def normalized(name: str, value: Any) -> Sequence[str]:
    """What is normalised."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not set(value) <= set(PARTS):
        raise refuse(name, f"() or some of {PARTS}", value)
    return value


COUNT, SIZE, SHARE = number(1, whole=True), number(1, integer=True), number(0, 1)
NOT_NEGATIVE = number(0, finite=True)


def check_callback(callback: Any) -> None:
    """Raise `TypeError` unless it is None, or can be called."""
    if callback is None or (callable(callback) and not isinstance(callback, type)):
        return
    words = "a function of the agent, which gives False to end the training"
    if isinstance(callback, Sequence):
        words += "; of several, CallbackList(one, other) makes one"
    raise TypeError(f"callback must be {words}, got {type(callback).__name__}.")


def says_stop(answer: object) -> bool:
    """Whether a callback's answer ends training: False, numpy's and torch's too.

    Any other answer, such as None or 0, lets it go on. Raises `TypeError` for a generator and
    what an `async` function gives: these have not run.
    """
    if inspect.isgenerator(answer) or inspect.iscoroutine(answer):
        raise TypeError(
            f"The callback gave a {type(answer).__name__}, so nothing in it ran: write a function "
            "without yield and async."
        )
    if getattr(answer, "ndim", None) == 0:  # one of numpy's, or a tensor
        answer = answer.item()  # type: ignore[attr-defined]
    return answer is False


def as_array(asked: str, obs: Any) -> np.ndarray:
    """`obs` as one array. Raises `ValueError` for what is none."""
    try:
        return np.asarray(obs)
    except ValueError as error:
        raise ValueError(
            f"{asked} takes an observation, which is one array, or a batch of them: env.reset() "
            "gives a pair, obs, info = env.reset()."
        ) from error


def as_numbers(asked: str, obs: Any) -> np.ndarray:
    """`obs` as one array of finite numbers. Raises `ValueError` for what is none."""
    array = as_array(asked, obs)
    if array.dtype.kind not in "biuf":
        shown = one_line(repr(obs))[:80]
        raise ValueError(
            f"{asked} takes observations of numbers, got {shown}: mend what it is from."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{asked} got an observation with NaN or infinity: mend what it is from.")
    return array


def check_environment(kind: Any, observation_space: Any, action_space: Any) -> None:
    """Raise `ValueError` unless agents of this kind can act there; the sentence says what to do.

    `kind` says it in `action_kinds`, `needs_bounds` and `takes_images`.
    """
    box = observation_box(observation_space)
    check_action_space(kind.__name__, action_space, kind.action_kinds)
    if kind.needs_bounds:
        check_bounded(kind.__name__, action_space)
    elif isinstance(action_space, spaces.Box):
        check_widths(kind.__name__, action_space)
    sees = hasattr(kind, "encoder_class") if kind.takes_images is None else kind.takes_images
    if is_image(box) and not sees:
        raise ValueError(
            f"{kind.__name__} takes no pictures, and the environment has some "
            f"({one_line(observation_space)}): flatten them with "
            "gymnasium.wrappers.FlattenObservation, or use DDPG, TD3 or SAC."
        )
