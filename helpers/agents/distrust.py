"""What is asked of an agent's file before it is believed, and before it is written.

A file may hold what it likes, and ask for what it likes: what no agent of ours needs is refused.
"""

import math
import sys
import warnings
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import nn

from helpers.agents.limits import LIMITS
from helpers.agents.parameters import weight_names
from helpers.envs.resumable import DIVERGED

MAX_VALUES = 3_000_000  # lists and tables unfolded, or one for each byte of the file
MAX_DEPTH = 30
MAX_TEXT = 10_000  # characters; before version 6 spaces were written out, bound for bound
MAX_SMALL = 2**26  # bytes of weights: 64 MB
MAX_LAYERS = 100


def check_archive(path: Path) -> None:
    """Raise `ValueError` unless it is a zip of the kind that torch writes, as large as it says.

    Members are not compressed and do not overlap, so that nothing unpacks to more than the file.
    Their checksums, which torch does not look at, are right: no weight is another one.
    """
    if not path.is_file():  # reading from a pipe would wait for ever
        raise ValueError("it is not a file")
    with zipfile.ZipFile(path) as archive:
        _check_members(archive.infolist(), path.stat().st_size)
        if archive.testzip() is not None:
            raise ValueError("it is damaged")


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    names = [member.filename for member in members]
    roots = {name.partition("/")[0] for name in names}
    upwards = any(".." in name.split("/") for name in names)
    if len(roots) != 1 or roots == {""} or len(set(names)) != len(names) or upwards:
        raise ValueError("its members have other names than torch gives")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("it is compressed")
    if sum(member.file_size for member in members) > size:
        raise ValueError("it says that it is larger than it is")


def check_plain(content: Any, size: int = 0) -> None:
    """Raise `ValueError` for what is nested too deeply, too much, too long, or no plain value.

    A few kilobytes can stand for billions of values, where a list holds another many times. A value
    of its own takes a byte and more of the file, which has `size` of them.
    """
    most = max(MAX_VALUES, size)
    for seen, (thing, depth) in enumerate(everything(content)):
        if seen > most or depth > MAX_DEPTH:
            raise ValueError("it holds too much, or itself")
        if isinstance(thing, str) and len(thing) > MAX_TEXT:
            raise ValueError("it holds a text that is too long")
        if isinstance(thing, torch.Tensor):
            dense = thing.layout == torch.strided and not thing.is_quantized
            if not dense or thing.nbytes > thing.untyped_storage().nbytes():
                raise ValueError("it holds a tensor of other values than the file's")
        elif not isinstance(thing, (dict, list, tuple, str, int, float, type(None))):
            raise ValueError("it holds other things than tensors and plain values")


def everything(content: Any) -> Iterator[tuple[Any, int]]:
    """Each value within, and how deep it is."""
    waiting = [(content, 0)]
    while waiting:
        thing, depth = waiting.pop()
        yield thing, depth
        if isinstance(thing, dict):
            waiting += [(key, depth + 1) for key in thing]
            waiting += [(value, depth + 1) for value in thing.values()]
        elif isinstance(thing, (list, tuple)):
            waiting += [(value, depth + 1) for value in thing]


def check_values(content: dict) -> None:
    """Raise `ValueError` for numbers that no agent has, or that would fill the memory."""
    for name, least in (("version", 1), ("steps", 0)):
        if type(content[name]) is not int or not least <= content[name] < 2**63:
            raise ValueError(f"an impossible number of {name}")
    for name, values in content["history"].items():
        if not isinstance(name, str) or not _is_history(values):
            raise ValueError("a history that is none")
    settings = content["hyperparameters"]
    for name, value in settings.items():
        # A text only a setting of one's own can be.
        unfit = isinstance(value, torch.Tensor) or (isinstance(value, str) and name in LIMITS)
        if not isinstance(name, str) or unfit or value != value:
            raise ValueError("a setting that is not a number")
    _check_widths(settings.get("hidden", 0), content["state"])


def _is_history(values: Any) -> bool:
    """Whether it is pairs of numbers."""
    return isinstance(values, (list, tuple)) and all(
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and all(isinstance(number, (int, float)) for number in pair)
        for pair in values
    )


def _check_widths(hidden: Any, state: dict) -> None:
    """Raise `ValueError` for large networks whose weights the file does not have.

    Before they are built. (Small ones may be a subclass's own, not as wide as `hidden` says.)
    """
    tensors = (t for t, _ in everything(state) if isinstance(t, torch.Tensor))
    stored = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    widths = hidden if isinstance(hidden, (list, tuple)) else (hidden, hidden)
    if all(isinstance(width, (int, float)) for width in widths):
        needed = sum(widths) + sum(math.prod(pair) for pair in pairwise(widths))
        # Bytes; a storage that is there many times counts once.
        if len(widths) > MAX_LAYERS or 4 * needed > max(sum(stored.values()), MAX_SMALL):
            raise ValueError("layers whose weights it does not have")


def check_tensors_finite(name: str, values: Any) -> None:
    """Raise `ValueError` for NaN or infinity in a tensor: one would soon ruin every weight."""
    for thing, _ in everything(values):
        if isinstance(thing, torch.Tensor) and not thing.isfinite().all():
            raise ValueError(f"{name} holds NaN or infinity")


# ---- before a file is written ------------------------------------------------------------------


def check_loadable(content: dict) -> None:
    """Raise `ValueError` for what `load` would refuse: a file that is there stays as it was."""
    try:
        for name, state in content["state"].items():
            check_tensors_finite(name, state)
    except ValueError as error:
        raise ValueError(f"Nothing was saved, since {error}: {DIVERGED}") from error
    try:
        check_plain(content, size=sys.maxsize)
        check_values(content)
    except ValueError as error:
        raise ValueError(
            f"Nothing was saved, since load would refuse it ({error}): history holds pairs of "
            "numbers, as agent.log(name=value) writes them, and all else tensors and plain values."
        ) from error


def check_names_of_weights(agent: Any) -> None:
    """Raise `ValueError` if a network was changed or wrapped so that `load` would not know it."""
    made, now = vars(agent).get("weight_names", {}), weight_names(agent)
    for name in (each for each in made if made[each] != now.get(each)):
        raise ValueError(
            f"Nothing was saved, since load would refuse it: agent.{name} was changed or wrapped "
            "since it was made, and its weights have other names now, so put back what it was."
        )


def warn_of_unsaved(agent: Any) -> None:
    """Warn of networks and optimisers of a class of one's own that its file does not hold."""
    kinds = nn.Module, torch.optim.Optimizer
    parts = {name: part for name, part in vars(agent).items() if isinstance(part, kinds)}
    if left := [name for name in parts if name not in agent.saved]:
        kind, above = (each.__name__ for each in type(agent).__mro__[:2])
        warnings.warn(
            f"{left[0]} of this agent is in no file: write saved = (*{above}.saved, {left[0]!r}) "
            f"in the class {kind}.",
            stacklevel=5,
        )
