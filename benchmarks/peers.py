"""The libraries that the course is compared with; requirements-dev.txt names them."""

import importlib
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

PACKAGES = ("stable-baselines3", "cpprb")


def stable_baselines3() -> ModuleType:
    """The library. Raises `ValueError` with one sentence if it is not installed."""
    return _load("stable_baselines3", "stable-baselines3")


def cpprb() -> ModuleType:
    """The library. Raises `ValueError` with one sentence if it is not installed."""
    return _load("cpprb", "cpprb")


def installed() -> list[str]:
    """Those of PACKAGES that this Python has."""
    found = []
    for package in PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            continue
        found.append(package)
    return found


def _load(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"The benchmarks compare with {package}, which is not installed ({error}): start them "
            "with 'python course.py bench', which installs it."
        ) from error
