"""Exploration noise: what is added to an action in [-1, 1] while learning.

A noise has parameters and perhaps a memory, but neither size nor random stream: it is asked for an
array of a shape, with the generator that it is given.
"""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, overload

import numpy as np
import torch


@dataclass
class Noise(ABC):
    """What an agent asks of its exploration noise. Its fields are its parameters."""

    @abstractmethod
    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """The next values, an array of `shape`."""

    @property
    @abstractmethod
    def std(self) -> float:
        """The standard deviation of one value, long after a reset."""

    def reset(self) -> None:  # noqa: B027  (most noises have nothing to forget)
        """Forget the past: an episode begins."""

    def to_plain(self) -> dict[str, Any]:
        """Kind and parameters as plain values, as a file can hold them; `as_noise` reads them."""
        parameters = {f.name: float(getattr(self, f.name)) for f in fields(self) if f.init}
        return {"kind": type(self).__name__, **parameters}

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
            setattr(self, name, value.numpy() if isinstance(value, torch.Tensor) else float(value))


@dataclass
class UniformNoise(Noise):
    """Independent values, anything between -`width` and `width` equally likely."""

    width: float = 1.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-self.width, self.width, shape)

    @property
    def std(self) -> float:
        return self.width / math.sqrt(3)


@dataclass
class GaussianNoise(Noise):
    """Independent Gaussian values of mean 0 and standard deviation `sigma`."""

    sigma: float = 0.1

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self.sigma * rng.standard_normal(shape)

    @property
    def std(self) -> float:
        return self.sigma


@dataclass
class OUNoise(Noise):
    """An Ornstein-Uhlenbeck process: noise with a memory of about 1 / (theta dt) steps.

    dx = -theta x dt + sigma dW: pulled back to 0 by `theta`, pushed about by `sigma`, and looked at
    every `dt`. DDPG's exploration noise (Lillicrap et al. 2016, section 3).
    """

    sigma: float = 0.2
    theta: float = 0.15
    dt: float = 1.0
    value: Any = field(default=0.0, init=False, repr=False, compare=False)

    def reset(self) -> None:
        """Back to 0: an episode begins."""
        # 1. Where the process starts.
        self.value = 0.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """The process `dt` later, an array of `shape`; every entry is a process of its own."""
        # 2. The pull back to 0: in proportion to the distance, and to the time that passes.
        pull = -self.theta * self.value * self.dt
        # 3. A Gaussian push for every entry. Variances add up over time, hence the root of dt.
        push = self.sigma * math.sqrt(self.dt) * rng.standard_normal(shape)
        # 4. Remember where the process is now: the next step goes on from there.
        self.value = self.value + pull + push
        return self.value

    @property
    def std(self) -> float:
        """From x' = (1 - theta dt) x + push, once x' varies as much as x."""
        return self.sigma * math.sqrt(self.dt / (1 - (1 - self.theta * self.dt) ** 2))


KINDS = {kind.__name__: kind for kind in (UniformNoise, GaussianNoise, OUNoise)}


@overload
def as_noise(noise: Noise | dict[str, Any], name: str = "noise") -> Noise: ...
@overload
def as_noise(noise: Noise | dict[str, Any] | None, name: str = "noise") -> Noise | None: ...
def as_noise(noise: Noise | dict[str, Any] | None, name: str = "noise") -> Noise | None:
    """A copy of `noise`, so that two agents never share one memory; or the noise `to_plain` wrote.

    Raises `ValueError`, which calls it `name`, for anything else.
    """
    if isinstance(noise, dict):
        parameters = dict(noise)
        kind = parameters.pop("kind", None)
        if kind not in KINDS:
            raise ValueError(f"No noise is called {kind!r}; there are: {', '.join(KINDS)}.")
        if not all(
            type(number) is float and math.isfinite(number) for number in parameters.values()
        ):
            raise ValueError(f"A noise has numbers for parameters, {kind} got {parameters}.")
        return KINDS[kind](**parameters)
    if noise is not None and not isinstance(noise, Noise):
        raise ValueError(
            f"{name} must be a noise such as GaussianNoise(0.1), or None, got {noise!r}."
        )
    return copy.deepcopy(noise)
