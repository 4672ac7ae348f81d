"""Values, parts and errors in words."""

import re
import reprlib
from typing import Any

import numpy as np
from torch import nn

from helpers.checks.compare import Difference, Leaf, Snapshot
from helpers.checks.running import Raised


def pretty(value: Snapshot | Raised, original: Any = None) -> tuple[str, str]:
    """A snapshot as text, at most six numbers of each axis; and its shape and type."""
    if isinstance(value, Leaf) and value.numeric and value.kind != "number":
        return _array(value), _kind(value)
    return _plain(value, original), ""


def _plain(value: Snapshot | Raised, original: Any) -> str:
    if isinstance(original, nn.Module):
        return str(original)
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value, 1)
        there = [(key, part) for key, part in parts if getattr(part, "kind", "") != "none"]
        return "\n".join(f"{key}: {'   '.join(pretty(part))}".rstrip() for key, part in there)
    if not isinstance(value, Leaf):
        return str(value)
    if not value.numeric:
        if value.kind == "object" and original is not None:
            return getattr(original, "__name__", None) or reprlib.repr(original)
        return value.value
    number = value.value.item()
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _array(value: Leaf) -> str:
    numbers = value.value
    return np.array2string(
        numbers,
        threshold=0,
        edgeitems=3 if numbers.ndim < 3 else 2,
        precision=4,
        floatmode="maxprec_equal",
        suppress_small=True,
        separator=", ",
        max_line_width=72,
    )


def short(value: Snapshot) -> str:
    """A snapshot in a few words, for the middle of a sentence."""
    if isinstance(value, dict):
        return "a dict with " + ", ".join(f"`{key}`" for key in value)
    if isinstance(value, list):
        return f"a tuple or list of {len(value)} parts"
    if value.kind in ("number", "none"):
        return f"`{_plain(value, None)}`"
    if value.numeric:
        kind = f"a{'n' * (value.kind == 'array')} {_kind(value)}"
        small = value.value.size <= 4 and value.value.ndim == 1
        return f"`{_array(value)}` ({kind})" if small else kind
    return f"{'the text' if value.kind == 'text' else 'of type'} `{value.value}`"


def _kind(value: Leaf) -> str:
    shape = f"({', '.join(map(str, value.value.shape))}{',' * (value.value.ndim == 1)})"
    return f"{value.kind} of shape {shape}, {value.dtype}"


# --- In a sentence --------------------------------------------------------------------------------


def subject(difference: Difference, verb: str, the: str = "The") -> str:
    """The start of a sentence, with its verb: "The loss is", "The actions are"."""
    return f"{the} {difference.where or 'output'} {verb_of(difference, verb)}"


def verb_of(difference: Difference, verb: str) -> str:
    return _VERBS.get(verb, verb) if plural(difference) else verb


_VERBS = {
    "is": "are", "has": "have", "holds": "hold", "contains": "contain", "differs": "differ",
}  # fmt: skip


def plural(difference: Difference) -> bool:
    """Whether a part's name is a plural: "actions", "layers of both", but not "bias" or "loss"."""
    head = re.split(
        r"[,:]| (?:of|on|to|for|from|in|at|after|where|that|about)\b", difference.where
    )[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "is", "as"))


def tell(error: Raised) -> str:
    """What an error says, without all that torch would have taken or asked for, and where."""
    place = f" at `{error.source}`" if error.source else ""
    place += f" (line {error.line})" if error.line is not None else ""
    first_clause = re.split(r", but expected one of| \(or directly|\n", str(error))[0]
    return f"`{first_clause.replace('`', chr(39)).strip()}`{place}"
