"""What a test needs and this machine lacks."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skipped on a person's machine; in CI, which installs what it needs, failed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"missing here: {what}")
