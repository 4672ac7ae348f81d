"""The course's one entry point: sets everything up in `.venv`, then opens or runs what you ask for.

Standard library only. An old Python must be able to read this file (no f-strings, no annotations):
then it says in a sentence what is missing instead of ending in a SyntaxError. The rest of the work
is in tools/environment.py.
"""
# ruff: noqa: UP010, UP032, UP036

from __future__ import print_function

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "This course needs Python 3.11 or newer, you have {}.{}.{}; get it from "
        "https://www.python.org/downloads/".format(*sys.version_info[:3])
    )

import collections
import os
import re

from tools.environment import (
    BenchEnvironment,
    Environment,
    NewestEnvironment,
    Problem,
    SiteEnvironment,
    explain_os_error,
)

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_LESSON = "00_start_here"


def lessons():
    """The names that `lab` knows: 01_a2c, exercises/01_a2c, ..."""
    found = []
    for folder in ("", "exercises/"):
        names = sorted(os.listdir(os.path.join(HERE, "notebooks", folder)))
        found += [folder + name[:-6] for name in names if name.endswith(".ipynb")]
    return found


def find_lesson(wanted):
    """01, 1, a2c, 01_a2c or a notebook's path -> 01_a2c; the same after exercises/."""
    known = lessons()
    plain = re.sub(r"^(\./)?((my_)?notebooks/)?|\.ipynb$", "", wanted.replace("\\", "/"))
    folder, name = os.path.split(plain)
    for lesson in known:
        its_folder, its_name = os.path.split(lesson)
        number, _, title = its_name.partition("_")
        if folder == its_folder and name in (its_name, number, number.lstrip("0") or "0", title):
            return lesson
    raise Problem("Unknown lesson '{}'; there are: {}.".format(wanted, ", ".join(known)), 2)


def lab_arguments(arguments):
    """`[lesson] [JupyterLab's own options]`, with the lesson's whole name."""
    named = bool(arguments) and not arguments[0].startswith("-")
    chosen = [find_lesson(arguments[0] if named else FIRST_LESSON)]
    return chosen + arguments[named:]


# A command is one entry: how it is called, what it does, the Python module that does it, whether
# that needs requirements-dev.txt.
Command = collections.namedtuple("Command", "usage text module dev")
COMMANDS = {
    "lab": Command(
        "lab [lesson] [options]",
        "Open JupyterLab on lesson 00, or on the one you name: 01, a2c, exercises/01. You work in\n"
        "copies, in my_notebooks. Options go to JupyterLab: --no-browser, --port 9000. Without a\n"
        "command, this is meant.",
        "tools.lab",
        False,
    ),
    "test": Command(
        "test [--all] [options]",
        "Run the tests, the notebooks among them; --all adds what is tested on some lessons and\n"
        "agents only, and what needs another Python or npm. Options go to pytest: -k gae, -x.",
        "pytest",
        True,
    ),
    "build": Command(
        "build [--check | --no-execute | --force] [lesson...]",
        "Write notebooks/ from lessons/, running those whose code has changed; --check only\n"
        "compares, --no-execute runs none, --force runs even what has not changed.",
        "tools.build",
        True,
    ),
    "site": Command(
        "site [FOLDER] [--still]",
        "Make the web page from notebooks/, in FOLDER or in runs/site; nothing is trained again.\n"
        "--still leaves the explorers pictures, which saves some minutes.",
        "tools.site",
        False,
    ),
    "pack": Command(
        "pack FOLDER",
        "Write every notebook, in both editions, and course.zip: these two run anywhere, offline.",
        "tools.pack",
        True,
    ),
    "assignment": Command(
        "assignment FOLDER [--otter]",
        "Write the exercise editions as assignments for nbgrader or otter-grader;\n"
        "INSTRUCTORS.md says how to go on.",
        "tools.assignment",
        True,
    ),
    "study": Command(
        "study ALGORITHM ENVIRONMENT --seeds 100-119 [--jobs 2] [--out FILE.json]",
        "Train as the lesson does, once for each seed, and count those that reach its threshold.\n"
        "A study that was stopped goes on.",
        "helpers.training.study",
        False,
    ),
    "train": Command(
        "train ALGORITHM ENVIRONMENT --steps 1000000 --seed 0 --out FOLDER [--set NAME=VALUE...]",
        "Train for as long as it takes, with evaluations and checkpoints; several seeds at once\n"
        "with --seeds 0-2 --jobs 3. Whatever stops it, kill -9 included, the same command goes on.",
        "helpers.training.train",
        False,
    ),
    "bench": Command(
        "bench [name...] [--rounds 9] [--report]",
        "Time the course's code beside other libraries, which it installs: td3, ddpg, sac, a2c,\n"
        "ppo.",
        "benchmarks.bench",
        False,
    ),
    "break-it": Command(
        "break-it LESSON [--seeds 0-9] [--jobs 2]",
        'Rerun a lesson\'s "break it" lab: its training with one idea at a time switched off.',
        "helpers.labs.break_it",
        False,
    ),
}

ELSEWHERE = {"site": SiteEnvironment, "bench": BenchEnvironment}  # not in .venv


def usage(names):
    lines = ["Usage: python course.py [command]", ""]
    for name in names:
        lines.append("  " + COMMANDS[name].usage)
        lines += ["      " + line for line in COMMANDS[name].text.split("\n")]
    lines += [
        "",
        "The first run sets up everything in the folder .venv, which takes some minutes.",
        "With --newest before the command it sets up .venv-newest, where every package is today's",
        "newest and not the one that the course was made with.",
    ]
    return "\n".join(lines)


def main(argv):
    """Run one command line; returns the exit status."""
    if argv and argv[0] in ("-h", "--help", "help"):
        print(usage(COMMANDS))
        return 0
    newest = argv[:1] == ["--newest"]
    argv = argv[newest:]
    bare = not argv or argv[0].startswith("-")  # options without a command are lab's
    name, arguments = ("lab", argv) if bare else (argv[0], argv[1:])
    if name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise Problem("Unknown command '{}'; there are: {}.".format(name, known), 2)
    command = COMMANDS[name]
    if newest and name in ELSEWHERE:
        raise Problem("There is no --newest for {}: it has packages of its own.".format(name), 2)
    environment = (NewestEnvironment if newest else ELSEWHERE.get(name, Environment))(HERE)
    wants_help = "-h" in arguments or "--help" in arguments
    if wants_help and (name == "lab" or not environment.is_ready(command.dev)):
        print(usage([name]))  # asking for help installs nothing
        return 0
    if name == "lab":
        arguments = lab_arguments(arguments)
    elif not os.path.samefile(os.curdir, HERE):  # where the command runs, and its paths begin
        raise Problem("Type this in the course's folder, '{}'.".format(HERE), 2)
    environment.set_up(command.dev)
    if name == "lab":
        print("Starting JupyterLab; to stop it, press Ctrl-C twice here.")
    return environment.run(command.module, arguments)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a folder's name may not fit the console's code page
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.status)
    except OSError as error:
        print(explain_os_error(error), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\nStopped; run the same command again to go on.", file=sys.stderr)
        sys.exit(130)
