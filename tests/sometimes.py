"""Tests of one thing on every lesson or agent: on some always, on all with `--all`."""

from collections.abc import Callable, Collection
from typing import Any

import pytest


def always_on(*beginnings: str, of: Collection[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """For `parametrize` or `fixture(params=...)`: what has another name than these is `long`."""
    unknown = [each for each in beginnings if not any(name(it).startswith(each) for it in of)]
    assert not unknown, f"nothing to test is called {unknown} any more"
    return [
        pytest.param(
            value,
            id=name(value),
            marks=() if name(value).startswith(beginnings) else pytest.mark.long,
        )
        for value in of
    ]
