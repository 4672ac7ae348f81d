"""A learning rate, or the size of a noise, that changes while an agent learns."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from helpers.memory.buffers import linear_schedule


@dataclass(frozen=True)
class LinearSchedule:
    """From `start` to `end` on a straight line over so many environment `steps`, then constant.

    `end` may be 0: nothing is learned from there on. Raises `ValueError` for rates and steps that
    cannot be.
    """

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        numbers = all(map(_is_number, (self.start, self.end, self.steps)))
        if not (numbers and self.start > 0 and self.end >= 0 and self.steps >= 1):
            raise ValueError(
                "A LinearSchedule goes from a number above 0 to one from 0 up, in 1 step or "
                f"more; got {self}."
            )
        # Plain numbers, since a file holds no others; of whole steps, also if 1e5 was written.
        plain = {"start": float(self.start), "end": float(self.end), "steps": int(self.steps)}
        self.__dict__.update(plain)

    def __call__(self, steps: int) -> float:
        """The number after so many environment steps, counted over all calls of `learn`."""
        return linear_schedule(steps, self.steps, self.start, self.end)


# What an agent takes for a learning rate. A function gets the steps so far, as a schedule does.
Rate = float | Callable[[int], float]


def as_rate(name: str, rate: Rate) -> Rate:
    """The learning rate `rate`. Raises `ValueError`, which calls it `name`, for anything else."""
    at_first: Any = rate
    if callable(rate) and not isinstance(rate, type):
        at_first = rate(0)
    if not (_is_number(at_first) and at_first > 0):
        given = f"{rate!r}, which is {at_first!r} at step 0" if callable(rate) else repr(rate)
        raise ValueError(
            f"{name} must be a number above 0, such as 3e-4, a schedule, such as "
            f"LinearSchedule(3e-4, 3e-5, 100_000), or a function of the number of steps so far, "
            f"got {given}."
        )
    return rate


def rate_now(name: str, rate: Callable[[int], float], steps: int) -> float:
    """What the learning rate `name` is after so many steps, with a warning in place of one below 0.

    A function that ends at 0 falls below it where training goes on to the end of a rollout. Raises
    `ValueError` for what is no finite number.
    """
    now = rate(steps)
    if not _is_number(now):
        raise ValueError(f"{name} is {now!r} at step {steps:,}, and no number: mend its schedule.")
    if now < 0:
        warnings.warn(
            f"{name} has fallen below 0, and 0 is taken: let it end there, as "
            "LinearSchedule(start, 0, steps) does.",
            stacklevel=2,
        )
    return float(max(now, 0.0))


def rate_at(rate: Any, steps: int) -> Any:
    """What a schedule or a function says after so many environment steps; else `rate` itself."""
    return rate(steps) if callable(rate) else rate


def _is_number(value: Any) -> bool:
    """A finite one."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
