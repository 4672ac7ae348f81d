"""Compare what two functions gave, whatever they gave it as.

`snapshot` turns lists, arrays, tensors, numbers, and dicts and tuples of them into leaves that can
be compared; `differences` lists where two snapshots differ; `convert` turns a value into the type
that another one has. Where the expected value is an array, a list with the same numbers will do.

Two numbers agree when they differ by at most `rtol * |expected| + atol * scale`. The scale is the
largest expected value of the same array, but at least 0.1: float32 rounding of numbers near 1 that
cancel must not count as a difference.
"""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import nn

RTOL, ATOL = 1e-4, 1e-5
SMALLEST_SCALE = 0.1
ANOTHER = "a different one at each call"  # in place of an output, where two calls gave two

Snapshot = Any  # a Leaf, or a dict or list of snapshots


@dataclass(frozen=True, eq=False)
class Leaf:
    """One thing to compare.

    `kind` is "array", "tensor", "number", "list" (of numbers), "text", "none" or "object"; `value`
    is a numpy array for the first four, text otherwise.
    """

    kind: str
    value: Any
    dtype: str = ""
    grad: bool = False  # a tensor that carries a gradient

    @property
    def numeric(self) -> bool:
        return self.kind in ("array", "tensor", "number", "list")


@dataclass(frozen=True, eq=False)
class Difference:
    """One place where two snapshots differ.

    `kind` says how: "none" (nothing was given), "unexpected" (nothing should have been), "type",
    "reshaped" (the right numbers in another shape), "shape", "nan", "value", "detached" (the
    right numbers, but no gradient), "raised" or "did not raise". `where` is the way there through
    dicts and lists, "" for the whole.
    """

    where: str
    kind: str
    expected: Snapshot
    got: Snapshot


# --- Taking a snapshot ----------------------------------------------------------------------------


def snapshot(value: Any) -> Snapshot:
    """A copy of a value for comparison, which later changes to the value cannot reach."""
    if value is None:
        return Leaf("none", "None")
    if isinstance(value, str | bytes | torch.dtype | np.dtype):
        return Leaf("text", str(value))
    if isinstance(value, type):
        return Leaf("text", value.__name__)
    if isinstance(value, torch.Tensor):
        return _tensor_leaf(value)
    if isinstance(value, numbers.Number):  # numpy's numbers are registered there, too
        return _array_leaf("number", np.asarray(value), type(value).__name__)
    if isinstance(value, np.bool_):
        return _array_leaf("number", np.asarray(value), "bool")
    if isinstance(value, nn.Module) and (state := value.state_dict()):
        return {name: snapshot(entry) for name, entry in state.items()}
    if isinstance(value, Mapping):
        return {key: snapshot(entry) for key, entry in value.items()}
    if is_dataclass(value):
        return {field.name: snapshot(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Sequence):
        if all(isinstance(entry, numbers.Number | np.bool_) for entry in value):
            array = np.asarray(list(value)) if len(value) else np.zeros(0)
            return _array_leaf("list", array, array.dtype.name)
        return [snapshot(entry) for entry in value]
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype == object:
            return snapshot(array.tolist()) if array.ndim else Leaf("object", "object")
        return _array_leaf("array", array, array.dtype.name)
    return Leaf("object", type(value).__name__)


def _tensor_leaf(value: torch.Tensor) -> Leaf:
    plain = value.detach().cpu()
    if plain.dtype in (torch.bfloat16, torch.float16):
        plain = plain.float()
    dtype = str(value.dtype).removeprefix("torch.")
    return Leaf("tensor", np.array(plain.numpy()), dtype, value.requires_grad)


def _array_leaf(kind: str, array: np.ndarray, dtype: str) -> Leaf:
    if array.dtype.kind not in "biufc":  # dates, text, whole numbers beyond 64 bits
        return Leaf("object", f"{kind} of {array.dtype.name}")
    return Leaf(kind, np.array(array), dtype)


# --- Comparing two of them ------------------------------------------------------------------------


def differences(
    expected: Snapshot, got: Snapshot, rtol: float = RTOL, atol: float = ATOL, where: str = ""
) -> list[Difference]:
    """Every place where `got` is not what was expected; an empty list when they agree."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or got.keys() != expected.keys():
            return [Difference(where, _absent(got) or "type", expected, got)]
        pairs = [(f"{where}, {key}" if where else str(key), key) for key in expected]
    elif isinstance(expected, list):
        parts = _parts(got)
        if parts is None or len(parts) != len(expected):
            return [Difference(where, _absent(got) or "type", expected, got)]
        got = parts
        names = [_nth(i, len(expected)) for i in range(len(expected))]
        pairs = [(", ".join(filter(None, (where, name))), i) for i, name in enumerate(names)]
    else:
        got = _stacked(got)
        kind = _leaf_difference(expected, got, rtol, atol, top=not where)
        return [Difference(where, kind, expected, got)] if kind else []
    return [d for name, i in pairs for d in differences(expected[i], got[i], rtol, atol, name)]


def _nth(index: int, count: int) -> str:
    """ "first of the two outputs", "number 7 of 12 outputs"."""
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
    if count in words:
        nth = ("first", "second", "third", "fourth", "fifth", "sixth")[index]
        return f"{nth} of the {words[count]} outputs"
    return f"number {index + 1} of {count} outputs" if count > 1 else ""


def leaves(seen: Snapshot) -> Iterator[Leaf]:
    """All that a snapshot is made of, whatever dicts and lists it is in."""
    if isinstance(seen, dict | list):
        for part in seen.values() if isinstance(seen, dict) else seen:
            yield from leaves(part)
    elif isinstance(seen, Leaf):
        yield seen


def is_numeric(seen: object) -> TypeGuard[Leaf]:
    """Whether a snapshot is one leaf of numbers."""
    return isinstance(seen, Leaf) and seen.numeric


def close(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Entry by entry, whether two arrays that broadcast agree; infinities and NaN must match."""
    wide = np.result_type(expected, got, np.float64)
    expected, got = expected.astype(wide), got.astype(wide)
    finite = np.abs(expected[np.isfinite(expected)])
    scale = max(SMALLEST_SCALE, finite.max(initial=0.0))
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= atol * scale + rtol * np.abs(expected)
        near &= np.isfinite(expected) & np.isfinite(got)
    return near | (expected == got) | (np.isnan(expected) & np.isnan(got))


def is_broadcast(want: np.ndarray, have: np.ndarray) -> bool:
    """Whether every row met every other: then each has met itself, on the diagonal."""
    if not want.shape or have.shape != want.shape + want.shape[-1:]:
        return False
    return np.allclose(np.diagonal(have, axis1=-2, axis2=-1), want, rtol=1e-4, atol=1e-6)


def _leaf_difference(expected: Leaf, got: Any, rtol: float, atol: float, top: bool) -> str | None:
    """How two leaves differ, or None. `top`: the leaf is the whole output, not a part of it."""
    if expected.kind == "none":
        # A part that says "no gradient" agrees with a gradient of zeros.
        zeros = isinstance(got, Leaf) and got.numeric and not np.any(got.value) and not top
        return None if zeros or _absent(got) else "unexpected"
    if _absent(got):
        return "none"
    if not isinstance(got, Leaf) or expected.numeric != got.numeric:
        return "type"
    if not expected.numeric:
        return None if expected.value == got.value else "value"
    if expected.value.shape != got.value.shape:
        same_size = expected.value.size == got.value.size and expected.value.size > 0
        if same_size and close(expected.value.ravel(), got.value.ravel(), rtol, atol).all():
            return "reshaped"
        return "shape"
    if not np.array_equal(expected.value, got.value):  # most are equal, and that is soon seen
        if (_nan(got.value) & ~_nan(expected.value)).any():
            return "nan"
        if not close(expected.value, got.value, rtol, atol).all():
            return "value"
    return "detached" if expected.grad and not got.grad else None


def _nan(array: np.ndarray) -> np.ndarray:
    return np.isnan(array) if array.dtype.kind in "fc" else np.zeros(array.shape, dtype=bool)


def _absent(got: Snapshot) -> str:
    return "none" if isinstance(got, Leaf) and got.kind == "none" else ""


def _parts(got: Snapshot) -> list | None:
    """A list of snapshots from one: an array can stand for a tuple of its rows."""
    if isinstance(got, Leaf) and got.numeric and got.value.ndim:
        kind = "number" if got.value.ndim == 1 and got.kind == "list" else got.kind
        return [Leaf(kind, row, got.dtype, got.grad) for row in np.asarray(got.value)[:]]
    return got if isinstance(got, list) else None


def _stacked(got: Snapshot) -> Snapshot:
    """One leaf from a list of leaves of the same shape (`[tensor(1.), tensor(2.)]`)."""
    if not isinstance(got, list):
        return got
    rows = [_stacked(row) for row in got]
    if not all(isinstance(row, Leaf) and row.numeric for row in rows):
        return got
    if len({row.value.shape for row in rows}) != 1:
        return got
    array = np.stack([row.value for row in rows])
    return Leaf("list", array, array.dtype.name, any(row.grad for row in rows))


# --- The right numbers in another type ------------------------------------------------------------


def types(seen: Snapshot) -> Any:
    """What later cells would notice: what contains what, of which kind, and of which dtype."""
    if isinstance(seen, dict):
        return {key: types(part) for key, part in seen.items()}
    if isinstance(seen, list):
        return [types(part) for part in seen]
    if seen.kind == "tensor":
        return seen.kind, seen.dtype
    return seen.kind, seen.value.dtype.kind if seen.kind == "array" else ""


def convert(value: Any, template: Snapshot) -> Any:
    """`value` with the types (not the shapes or numbers) of `template`; gradients stay."""
    if isinstance(template, dict):
        return {key: convert(value[key], part) for key, part in template.items()}
    if isinstance(template, list):
        return tuple(convert(part, like) for part, like in zip(value, template, strict=True))
    if template.kind == "tensor":
        return _as_tensor(value).to(getattr(torch, template.dtype))
    if template.kind == "array":
        return _as_array(value).astype(template.value.dtype, copy=False)
    if template.kind == "number" and not isinstance(value, numbers.Number):
        return _as_array(value).item()
    return value


def _as_tensor(value: Any) -> torch.Tensor:
    if isinstance(value, Sequence) and any(isinstance(part, torch.Tensor) for part in value):
        return torch.stack([_as_tensor(part) for part in value])
    if isinstance(value, Sequence):
        value = np.asarray(value)
    return torch.as_tensor(value)


def _as_array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, Sequence):
        return np.asarray([_as_array(part) for part in value])
    return np.asarray(value)
