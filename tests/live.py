"""What tests of live widgets share: their part of a bundle, an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"  # the live half of a bundle


def in_a_loop(coroutine: Coroutine) -> Any:
    """Run it in an event loop of its own, in a thread: a browser's may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
