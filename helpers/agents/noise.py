"""Exploration noise: what is added to an action in [-1, 1] while learning.

A noise has parameters and perhaps a memory, but neither size nor random stream: it is asked for an
array of a shape, with the generator that it is given.
"""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import torch

from helpers.agents.schedules import LinearSchedule, rate_at

Size = Any  # one number, or an array with one for each action dimension


@dataclass
class Noise(ABC):
    """What an agent asks of its exploration noise. Its fields are its parameters.

    A noise of one's own is a `@dataclass` and a subclass that brings `sample` and the property
    `std`.

    A parameter is one number, or a list or array with one for each action dimension. `steps`: how
    many the agent has made in its environment, which `at` tells before it asks.
    """

    steps = 0

    def __post_init__(self) -> None:
        lists = {name: v for name, v in self.parameters().items() if isinstance(v, list)}
        self.__dict__.update({name: np.array(value) for name, value in lists.items()})

    def at(self, steps: int) -> Self:
        """The same noise, told that the agent has made so many steps."""
        self.steps = steps
        return self

    @abstractmethod
    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """The next values, an array of `shape`."""

    @property
    @abstractmethod
    def std(self) -> Size:
        """The standard deviation of one value, long after a reset."""

    @property
    def center(self) -> Size:
        """The mean of one value, long after a reset."""
        return 0.0

    def reset(self) -> None:  # noqa: B027  (most noises have nothing to forget)
        """Forget the past: an episode begins."""

    def parameters(self) -> dict[str, Any]:
        """What it was made with, by name: numbers, lists of them, schedules."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return {name: np.asarray(value).tolist() for name, value in given.items()}

    def __eq__(self, other: object) -> bool:
        """Whether both have one kind and one set of parameters: arrays have no `==` that says."""
        if not isinstance(other, Noise):
            return False
        return type(self) is type(other) and self.parameters() == other.parameters()

    def __repr__(self) -> str:
        """As it can be typed, at `course.py train` too."""
        words = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({words})"

    def memory(self) -> dict[str, Any]:
        """What it remembers of the past, beside its parameters: plain values and tensors."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if not f.init}
        return {
            name: torch.tensor(value) if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }

    def remember_again(self, memory: dict[str, Any]) -> None:
        """Go on with what `memory` gave."""
        for name in (f.name for f in fields(self) if not f.init):
            value = memory[name]
            kept = value.numpy() if isinstance(value, torch.Tensor) else float(value)
            self.__dict__[name] = kept


@dataclass(eq=False, repr=False)
class UniformNoise(Noise):
    """Independent values, anything between -`width` and `width` equally likely."""

    width: Size = 1.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-self.width, self.width, shape)

    @property
    def std(self) -> Size:
        return self.width / math.sqrt(3)


@dataclass(eq=False, repr=False)
class GaussianNoise(Noise):
    """Independent Gaussian values of mean 0 and standard deviation `sigma`.

    A noise that falls has a schedule for it: `GaussianNoise(LinearSchedule(0.3, 0.05, 10_000))`.
    """

    sigma: Size | LinearSchedule = 0.1

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self.std * rng.standard_normal(shape)

    @property
    def std(self) -> Size:
        return rate_at(self.sigma, self.steps)


@dataclass(eq=False, repr=False)
class OUNoise(Noise):
    """An Ornstein-Uhlenbeck process: noise with a memory of about 1 / (theta dt) steps.

    dx = -theta x dt + sigma dW: pulled back to 0 by `theta`, pushed about by `sigma`, and looked at
    every `dt`. DDPG's exploration noise (Lillicrap et al. 2016, section 3).
    """

    sigma: Size = 0.2
    theta: Size = 0.15
    dt: float = 1.0
    value: Any = field(default=0.0, init=False, repr=False, compare=False)

    def reset(self) -> None:
        """Back to 0: an episode begins."""
        self.value = 0.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """The process `dt` later, an array of `shape`; every entry is a process of its own."""
        pull = -self.theta * self.value * self.dt
        # Variances add up over time, hence the root of dt.
        push = self.sigma * math.sqrt(self.dt) * rng.standard_normal(shape)
        self.value = self.value + pull + push
        return self.value

    @property
    def std(self) -> Size:
        """From x' = (1 - theta dt) x + push, once x' varies as much as x."""
        return self.sigma * np.sqrt(self.dt / (1 - (1 - self.theta * self.dt) ** 2))


@dataclass(eq=False, repr=False)
class OUNoiseAround(OUNoise):
    """An Ornstein-Uhlenbeck process that is pulled to `mu`; it too starts at 0."""

    mu: Size = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.reset()

    def reset(self) -> None:
        self.value = -self.mu  # how far it is from `mu`

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self.mu + super().sample(shape, rng)

    @property
    def center(self) -> Size:
        return self.mu


# What a setting can be beside plain values.
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (UniformNoise, GaussianNoise, OUNoise, OUNoiseAround, LinearSchedule)
}


def as_noise(name: str, noise: Any, action_size: int | None = None) -> Any:
    """A copy of `noise`, so that two agents never share one memory.

    Raises `ValueError`, which calls it `name`, for anything else, and for one that cannot be added
    to actions of `action_size` dimensions.
    """
    if noise is not None and not isinstance(noise, Noise):
        raise ValueError(
            f"{name} must be a noise such as GaussianNoise(0.1), or None, got {noise!r}."
        )
    if noise is not None:
        _check_std(name, noise)
        if action_size is not None:
            _check_sizes(name, noise, action_size)
    return copy.deepcopy(noise)


def _check_std(name: str, noise: Noise) -> None:
    """Raise `ValueError` unless its standard deviation is a number that can be."""
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            std = np.asarray(noise.std)
    except ZeroDivisionError:  # of Python's own numbers, where numpy gives infinity
        std = np.asarray(np.inf)
    if std.dtype.kind not in "fiu" or not (np.isfinite(std) & (std >= 0)).all():
        raise ValueError(
            f"{name} has a standard deviation of {std}, from {noise!r}: sizes are finite numbers "
            "from 0 up, and an OUNoise needs a theta * dt between 0 and 2."
        )
    if std.ndim and not std.any():
        raise ValueError(
            f"{name} has a size of 0 for every action: {type(noise).__name__} begins with its "
            "size, not with a mean, and None is no noise."
        )


def _check_sizes(name: str, noise: Noise, action_size: int) -> None:
    """Raise `ValueError` unless its values are of one size, or of one for each dimension.

    A copy is asked once for values: a noise of one's own may give an array of another shape.
    """
    for shape in (np.shape(noise.std), np.shape(noise.center)):
        if shape not in ((), (action_size,)):
            raise ValueError(
                f"{name} has sizes of shape {shape}, and actions have {action_size} dimensions: "
                "give it one number, or one for each of them."
            )
    values = copy.deepcopy(noise).sample((action_size,), np.random.default_rng(0))
    if np.shape(values) != (action_size,):
        raise ValueError(
            f"{name} was asked for values of shape {(action_size,)} and gave {np.shape(values)}: "
            "let its sample(shape, rng) give an array of that shape."
        )
