"""The course as an importable package: agents, buffers, networks, figures and exercise checks."""

import tomllib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

# The one version of notebooks, package and files; "" where this folder stands alone.
__version__: str = (
    tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["version"] if _PROJECT.exists() else ""
)
