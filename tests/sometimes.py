"""Tests of one thing on every lesson or agent: on some always, on all with `--all`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def always_on(*beginnings: str, of: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """For `parametrize` or `fixture(params=...)`: what has another name than these is `long`."""
    return [
        pytest.param(
            value,
            id=name(value),
            marks=() if name(value).startswith(beginnings) else pytest.mark.long,
        )
        for value in of
    ]
