"""The libraries that the course is compared with; requirements-bench.txt names them."""

import importlib
from types import ModuleType

from benchmarks.workers import Missing

PACKAGES = {
    "stable_baselines3": "stable-baselines3",
    "sbx": "sbx-rl",
    "jax": "jax",
}  # module -> package


def load(module: str) -> ModuleType:
    """A library's module. Raises `Missing` with one sentence if it is not installed."""
    package = PACKAGES[module.partition(".")[0]]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = " ".join(str(error).split())
        raise Missing(f"{package} is not installed here ({text})") from error
