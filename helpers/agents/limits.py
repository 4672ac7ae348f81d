"""What the settings of agents can be: a table, and one form of sentence for what cannot be."""

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.noise import as_noise
from helpers.agents.normalize import PARTS
from helpers.agents.schedules import as_rate
from helpers.envs.make import check_action_space, is_image, observation_box, one_line
from helpers.envs.units import check_bounded, check_widths
from helpers.names import called_here

Limit = Callable[[str, Any], object]  # of a setting's name and value; raises `ValueError`


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

    def limit(name: str, value: Any) -> None:
        if optional and value is None:
            return
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and least <= value <= most and value > above):
            raise refuse(name, words, value)
        # 1e4 is a whole number too.
        if (finite and abs(value) == math.inf) or (whole and value % 1 != 0):
            raise refuse(name, words, value)
        if integer and not isinstance(value, Integral):
            raise refuse(name, words.replace("a whole number", "an int"), value)

    return limit


def widths(name: str, value: Any) -> None:
    """The width of each hidden layer."""
    each = value if isinstance(value, Sequence) and len(value) > 0 else [value]
    whole = all(isinstance(width, Integral) and not isinstance(width, bool) for width in each)
    if not (whole and all(width >= 1 for width in each)):
        words = "the width of both hidden layers, such as 64, or one for each, such as (400, 300)"
        raise refuse(name, words, value)


def noise(name: str, value: Any) -> None:
    """A noise, or None."""
    as_noise(value, name)


def warm_up(name: str, value: Any) -> None:
    """A noise that acts alone."""
    if value is None:
        words = "a noise such as UniformNoise(1.0), since it acts alone during the warm-up"
        raise refuse(name, words, value)
    as_noise(value, name)


def switch(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(name, "True or False", value)


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


def normalized(name: str, value: Any) -> None:
    """What is normalised."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not set(value) <= set(PARTS):
        raise refuse(name, f"() or some of {PARTS}", value)


# Classes that a subclass may name, of an agent that builds such networks.
NETWORKS = ("actor_class", "critic_class", "encoder_class")
COUNT, SIZE, SHARE = number(1, whole=True), number(1, integer=True), number(0, 1)
NOT_NEGATIVE = number(0, finite=True)
# What a replay memory alone knows of, such as alpha and beta, that memory looks at itself.
LIMITS: Mapping[str, Limit] = {
    "actor_learning_rate": as_rate,
    "batch_size": SIZE,
    "buffer_size": number(1, 10**8, integer=True),  # a file may ask for what fills any memory
    "clip_range": number(above=0),
    "critic_learning_rate": as_rate,
    "critic_steps": SIZE,
    "demo_bonus": NOT_NEGATIVE,
    "device": as_device,
    "entropy_coef": number(finite=True),
    "eps": number(above=0, finite=True),
    "gamma": SHARE,
    "gradient_steps": SIZE,
    "gradient_weight": NOT_NEGATIVE,
    "hidden": widths,
    "lam": SHARE,
    "learn_temperature": switch,
    "layer_norm": switch,
    "learning_rate": as_rate,
    "learning_starts": COUNT,
    "log_every": COUNT,
    "max_grad_norm": number(above=0, optional=True),
    "n_envs": SIZE,
    "n_epochs": SIZE,
    "n_step_weight": NOT_NEGATIVE,
    "n_steps": SIZE,
    "noise": noise,
    "noise_clip": number(0),
    "policy_delay": COUNT,
    "normalize": normalized,
    "pretraining": number(0, whole=True, finite=True),
    "warm_up_noise": warm_up,
    "reward_scale": number(finite=True),
    "seed": number(0, 2**63 - 1, integer=True, optional=True),  # what torch takes
    "target_entropy": number(finite=True, optional=True),
    "target_kl": number(above=0, optional=True),
    "target_noise": number(0),
    "tau": number(above=0, most=1),
    "temperature": number(above=0, finite=True),
    "temperature_learning_rate": as_rate,
    "train_freq": COUNT,
    "value_clip_range": number(above=0, optional=True),
    "value_coef": NOT_NEGATIVE,
    "weight_decay": NOT_NEGATIVE,
}


def check_limits(settings: Mapping[str, Any]) -> None:
    """Raise `ValueError` for the first setting that cannot be, or for two that do not fit.

    What stands in no line of `LIMITS` may be anything.
    """
    for name, value in settings.items():
        if name in LIMITS:
            LIMITS[name](name, value)
    starts, size = settings.get("learning_starts", 0), settings.get("buffer_size", math.inf)
    if starts > size:
        words = f"at most buffer_size ({size}), which holds the steps that learning waits for"
        raise refuse("learning_starts", words, starts)
    if settings.get("n_envs") == settings.get("n_steps") == 1:
        raise refuse("n_envs times n_steps", "at least 2, the steps of a rollout", 1)
    if "n_epochs" in settings and settings["batch_size"] == 1:
        raise refuse("batch_size", "at least 2 here, since one advantage alone has no scale", 1)


def check_counts(**counts: int) -> None:
    """Raise `ValueError` for the first number that is not whole, or below 1."""
    for name, count in counts.items():
        COUNT(name, count)


def check_classes(kind: Any) -> None:
    """Raise `TypeError` for what a class of agents names and nothing would read.

    That is, a setting, or a class of networks that is none or that its agents do not build; also in
    a class that is mixed in. One with a constructor of its own may do with both what it likes.
    """
    above = next(each for each in kind.__mro__[1:] if hasattr(each, "seeded"))
    mixed_in = [each for each in kind.__mro__ if each not in above.__mro__]  # and the class itself
    own = {name: value for each in reversed(mixed_in) for name, value in vars(each).items()}
    of, networks = above.__name__, NETWORKS if hasattr(above, NETWORKS[-1]) else ()
    for name, value in own.items():
        if inspect.isfunction(value) and (here := called_here(name)) and not hasattr(above, name):
            warnings.warn(
                f"{kind.__name__}.{name} is a method that {of} never calls: here that is {here}.",
                stacklevel=4,
            )
        if name == "store" and hasattr(above, name):
            warnings.warn(
                f"{kind.__name__}.store is for steps of a loop of your own, learn never calls it: "
                "override collect, or change rewards in a wrapper of the environment.",
                stacklevel=4,
            )
    for name, value in own.items() if "__init__" not in own else ():
        if name in LIMITS and not isinstance(value, property):
            raise TypeError(
                f"{kind.__name__} has {name} as an attribute of the class, which {of} does not "
                f"read: give it to the agent, {kind.__name__}(env, {name}=...)."
            )
        if name.endswith("_class") and name not in networks:
            takes = f"classes {', '.join(networks)}" if networks else "setting hidden"
            raise TypeError(
                f"{kind.__name__} has {name}, which {of} does not read: its networks follow the "
                f"{takes}."
            )
        if name in networks and not isinstance(value, type):
            raise TypeError(
                f"{name} of {kind.__name__} must be a class, of which the agent makes its "
                f"networks, got {one_line(value)[:80]}."
            )


def check_callback(callback: Any) -> None:
    """Raise `TypeError` unless it is None, or can be called with the agent alone."""
    if callback is None:
        return
    words = "a function of the agent, which gives False to end the training"
    if isinstance(callback, Sequence):
        raise TypeError(
            f"callback must be {words}; of several, CallbackList(one, other) makes one."
        )
    if not callable(callback) or isinstance(callback, type):
        raise TypeError(f"callback must be {words}, got {type(callback).__name__}.")
    if not _takes(callback, "the agent"):
        raise TypeError(f"callback must be {words}, but it takes other arguments.")
    for name, given in {"start": ["agent", "total_steps"], "stop": ["agent"]}.items():
        method = getattr(callback, name, None)
        if hasattr(callback, name) and not callable(method):
            raise TypeError(
                f"{name} of a callback must be a method, which training calls, got "
                f"{type(method).__name__}: give that attribute another name."
            )
        if method is not None and not _takes(method, *given):
            raise TypeError(
                f"{name} of a callback is called with {' and '.join(given)}, and "
                f"{type(callback).__name__}.{name} takes other arguments."
            )


def _takes(function: Callable, *args: Any) -> bool:
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    except ValueError:  # of a function written in C nobody knows
        return True
    return True


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


def check_rows(agent: Any, obs: Any) -> None:
    """Raise `ValueError` unless these can be observations, one a row, for `agent.flat`."""
    shape = np.shape(obs)
    if math.prod(shape) != (*shape, 0)[0] * agent.obs_size:
        raise ValueError(
            f"flat takes a batch of observations, of {agent.obs_size} numbers each, got shape "
            f"{shape}: for one observation, write agent.flat(obs[None])."
        )


def of_flat(value: Callable[[Any, Any], torch.Tensor]) -> Callable[[Any, Any], torch.Tensor]:
    """An agent's method `value`, which says of what is no batch of flat observations what is."""

    @functools.wraps(value)
    def called(agent: Any, obs: Any) -> torch.Tensor:
        tensor = torch.is_tensor(obs) and obs.dtype != torch.float64
        if not tensor or obs.ndim < 2 or obs.shape[-1] != agent.obs_size:
            shape = f" of shape {tuple(np.shape(obs))}" if hasattr(obs, "shape") else ""
            raise ValueError(
                f"value takes what agent.flat gives, a float32 tensor (B, {agent.obs_size}), got "
                f"{type(obs).__name__}{shape}: for one observation, write "
                "agent.value(agent.flat(obs[None]))."
            )
        return value(agent, obs)

    return called


def check_environment(kind: Any, observation_space: Any, action_space: Any) -> None:
    """Raise `ValueError` unless agents of this kind can act there; the sentence says what to do.

    `kind` says it in `action_kinds`, `needs_bounds` and `takes_images`.
    """
    if (dtype := torch.get_default_dtype()) != torch.float32:
        raise ValueError(
            f"Agents learn in float32, and torch makes networks of {dtype} now: call "
            "torch.set_default_dtype(torch.float32) first."
        )
    if (device := torch.get_default_device()).type != "cpu":
        raise ValueError(
            f"Agents move to their device themselves, and torch makes all tensors on {device} now: "
            'call torch.set_default_device("cpu") first, and give the agent a device.'
        )
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
