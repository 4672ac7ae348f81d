"""The libraries that the course is compared with; requirements-dev.txt names them."""

import importlib
from types import ModuleType


def stable_baselines3() -> ModuleType:
    """The library. Raises `ValueError` with one sentence if it is not installed."""
    return _load("stable_baselines3", "stable-baselines3")


def _load(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"The benchmarks compare with {package}, which is not installed ({error}): start them "
            "with 'python course.py bench', which installs it."
        ) from error
