"""Spaces in plain values, so that a file can say which observations and actions there were."""

import math
from collections import OrderedDict
from typing import Any

import numpy as np
from gymnasium import spaces

MAX_NUMBERS = 10_000_000  # of one observation: a file may say what it likes


def describe_space(space: spaces.Space) -> dict[str, Any]:
    """`space` as numbers, words, lists and tables; {} if it is of a kind that is not known here.

    Spaces are the same, parts in the same order too, if what is said of them is equal.
    """
    if isinstance(space, spaces.Box):
        return _describe_box(space)
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        nvec, start = space.nvec.tolist(), space.start.tolist()
        return {"kind": "MultiDiscrete", "nvec": nvec, "start": start}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "shape": list(space.shape)}
    if isinstance(space, spaces.Tuple):
        return {"kind": "Tuple", "of": [describe_space(each) for each in space.spaces]}
    if isinstance(space, spaces.Dict):
        parts = [[name, describe_space(each)] for name, each in space.items()]
        return {"kind": "Dict", "of": parts}
    return {}


def space_from(plain: dict[str, Any]) -> spaces.Space:
    """The space that `describe_space` described. Raises for what describes none."""
    match plain:
        case {"shape": [*sizes]} if math.prod(sizes) > MAX_NUMBERS:
            raise ValueError("a space of too many numbers")
        case {"kind": "Box", "shape": shape, "dtype": dtype, "low": low, "high": high}:
            kind = np.dtype(str(dtype))
            if kind.kind not in "bfiu":
                raise ValueError("a Box of no numbers")
            bounds = (np.array(each, kind) for each in (low, high))
            low, high = (
                np.full(shape, b.item(), kind) if b.size == 1 else b.reshape(shape) for b in bounds
            )
            return spaces.Box(low, high, tuple(shape), kind.type)
        case {"kind": "Discrete", "n": n, "start": start}:
            return spaces.Discrete(n, start=start)
        case {"kind": "MultiDiscrete", "nvec": nvec, "start": start}:
            return spaces.MultiDiscrete(nvec, start=start)
        case {"kind": "MultiBinary", "shape": shape}:
            return spaces.MultiBinary(shape[0] if len(shape) == 1 else shape)
        case {"kind": "Tuple", "of": parts}:
            return spaces.Tuple([space_from(each) for each in parts])
        case {"kind": "Dict", "of": parts}:
            named = OrderedDict(parts).items()  # gymnasium would sort what is no OrderedDict
            return spaces.Dict(OrderedDict((name, space_from(each)) for name, each in named))
    raise ValueError("it describes no space")


def _describe_box(space: spaces.Box) -> dict[str, Any]:
    return {
        "kind": "Box",
        "shape": list(space.shape),
        "dtype": str(space.dtype),
        "low": _describe_bounds(space.low),
        "high": _describe_bounds(space.high),
    }


def _describe_bounds(bounds: np.ndarray) -> list:
    """One number where all are equal. JSON has no infinity: it becomes a word."""
    flat = [bound.item() for bound in bounds.ravel()]
    flat = flat[:1] if len(set(flat)) == 1 else flat
    return [bound if np.isfinite(bound) else str(bound) for bound in flat]
