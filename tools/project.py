"""What the whole course knows of itself, from pyproject.toml."""

import tomllib
from pathlib import Path


def project(root: Path) -> tuple[str, str]:
    """Where the course is published ("owner/name", or "" if it is not), and its version."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    return settings["tool"]["course"]["repository"], settings["project"]["version"]
