"""Graders in environments of their own, and what students hand in to them."""

import os
import subprocess
import sys
import sysconfig
import venv

from filelock import FileLock
from missing import out_of_reach

from helpers.checks import find
from helpers.checks.edits import Code, apply, source_of_reference

WRONG = ["0.1", "1.6", "1.7", "2.2", "2.3", "3.1", "3.2", "4.3", "4.9", "5.2", "5.6"]
WRONG += ["6.2", "6.5", "7.2", "8.4"]
BROKEN = "4.6"  # is no Python; 4.7 inherits from its class

SHARE = os.path.join(sysconfig.get_path("data"), "share", "jupyter")  # nbconvert's templates


def commands_of(package, cache):
    """The folder with a package's commands, in an environment that sees our packages as well."""
    version = "{}.{}".format(*sys.version_info)
    place = cache.mkdir(f"{package.partition('==')[0].partition('[')[0]}-{version}")
    scripts, site = (
        sysconfig.get_path(kind, "venv", {"base": place, "platbase": place})
        for kind in ("scripts", "purelib")
    )
    with FileLock(place / "lock"):
        if not (place / package).exists():
            venv.create(place, with_pip=True)
            with open(os.path.join(site, "ours.pth"), "w", encoding="utf-8") as file:
                file.write(sysconfig.get_path("purelib"))
            command = [os.path.join(scripts, "python"), "-m", "pip", "install", "-q", package]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                out_of_reach(f"{package}, which cannot be installed: {done.stderr[-300:]}")
            (place / package).touch()
    return scripts


def run(scripts, folder, *command):
    """Run a command of such an environment in a folder; returns what it prints."""
    path = scripts + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        [os.path.join(scripts, command[0]), *command[1:]],
        cwd=folder,
        env=os.environ | {"PATH": path, "JUPYTER_PATH": SHARE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mistake(key):
    """A mistake of an exercise that can be written down without the course's version."""
    return next(
        mistake
        for mistake in find(key).mistakes
        if not any(isinstance(edit, Code) for edit in mistake.spellings[0])
    )


def graded_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def answers(cells):
    """Exercise -> the cell where its answer goes."""
    return {
        graded_id(cell)[6:-7].replace("-", "."): cell
        for cell in cells
        if graded_id(cell).endswith("-answer")
    }


def solve(cells, *_):
    for key, cell in answers(cells).items():
        cell.source = source_of_reference(find(key).reference)


def lost_by_erring(keys):
    """The exercises that `err` answers wrong, breaks, or leaves blank: some of the others."""
    untouched = [key for key in sorted(keys) if key not in (*WRONG, BROKEN)][1::2]
    return [key for key in keys if key in WRONG], untouched, [key for key in keys if key == BROKEN]


def err(cells, *_):
    """Some answers wrong, some not there, one that is no Python; the others right."""
    blanks = {key: cell.source.partition("### BEGIN")[0] for key, cell in answers(cells).items()}
    wrong, untouched, broken = lost_by_erring(blanks)
    solve(cells)
    for key, cell in answers(cells).items():
        if key in wrong:
            cell.source = apply(cell.source, mistake(key).spellings[0])
        if key in broken:
            cell.source += "("
        if key in untouched:
            cell.source = blanks[key]
