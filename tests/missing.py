"""What a test needs and this machine lacks."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skipped on a person's machine; in CI, where .ci/run installs it, failed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"missing here: {what}")


def out_of_reach(what: str) -> NoReturn:
    """Skipped everywhere: what a long test fetches by itself, or another Python."""
    pytest.skip(f"out of reach here: {what}")
