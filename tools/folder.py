"""The folder that a command line names, to write into."""

import argparse
import tempfile
from pathlib import Path


def writable(name: str) -> Path:
    """That folder, made if it is missing; for argparse, whose error says why it cannot be used."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = f"cannot write into '{folder}' ({error.strerror}): name another folder"
        raise argparse.ArgumentTypeError(reason) from None
    return folder
