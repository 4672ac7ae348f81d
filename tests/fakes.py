"""A notebook page that remembers what was shown on it, so that tests need no kernel."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import IPython
import pytest


class FakePage:
    """`outputs`: one list for each display handle, of every bundle it was given, in order."""

    def __init__(self) -> None:
        self.outputs: list[list[dict[str, Any]]] = []
        self.metadata: list[list[dict[str, Any]]] = []
        self.cell = 1

    def display(self, data: Any, raw: bool = False, metadata: Any = None, **_: Any) -> Any:
        assert raw, "helpers show raw bundles"
        bundles, metas = [data], [metadata]
        self.outputs.append(bundles)
        self.metadata.append(metas)

        def update(data: Any, raw: bool = False, metadata: Any = None) -> None:
            assert raw
            bundles.append(data)
            metas.append(metadata)

        return SimpleNamespace(update=update)

    def of(self, mime: str) -> list[list[dict[str, Any]]]:
        """The handles whose last bundle has that MIME type."""
        return [bundles for bundles in self.outputs if mime in bundles[-1]]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> FakePage:
    """Let the helpers believe that they run in a kernel, and catch what they show."""
    fake = FakePage()

    def get_ipython() -> Any:
        return SimpleNamespace(kernel=object(), execution_count=fake.cell)

    monkeypatch.setattr(IPython, "get_ipython", get_ipython)
    monkeypatch.setattr("IPython.display.display", fake.display)
    return fake


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is an error here, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
