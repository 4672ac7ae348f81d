"""What tests of live widgets share: their part of a bundle, an event loop, a world without them."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

VIEW = "application/vnd.jupyter.widget-view+json"  # the live half of a bundle


def without_ipywidgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `import ipywidgets` fail."""
    original = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("ipywidgets"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)


def in_a_loop(coroutine: Coroutine) -> Any:
    """Run it in an event loop of its own, in a thread: a browser's may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
