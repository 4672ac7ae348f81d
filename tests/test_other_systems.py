"""Windows and macOS, as far as a Linux machine can tell."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from missing import out_of_reach

from tools.environment import explain

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [*ROOT.glob("*.md"), *ROOT.glob("data/**/*.md"), *ROOT.glob("lessons/*.md")]
COMMAND = re.compile(r"python course\.py[^`\n]*")
# What means the same to cmd, PowerShell, bash and zsh: no quotes, commas, brackets, $, &, ; or ~.
PLAIN = re.compile(r"[\w ./=:-]+")
PLATFORMS = {
    "Windows": ["win_amd64"],
    "macOS": ["macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_10_9_universal2"],
}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_command_means_the_same_in_every_shell(path):
    commands = [found.partition("  #")[0] for found in COMMAND.findall(path.read_text("utf-8"))]
    assert [command for command in commands if not PLAIN.fullmatch(command)] == []


@pytest.mark.long
@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize("system", PLATFORMS)
def test_nothing_has_to_be_compiled(system, python, tmp_path):
    """Every package that the course names has a wheel there."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-deps"]
    command += ["--ignore-installed", "--target", tmp_path, "--only-binary=:all:"]
    command += [part for tag in PLATFORMS[system] for part in ("--platform", tag)]
    command += ["--python-version", python, "-r", ROOT / "requirements.txt"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "out of reach" in explain(done.stderr):
        out_of_reach("the package index")
    assert done.returncode == 0, done.stderr
