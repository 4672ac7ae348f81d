"""course.py and tools/environment.py, with a stand-in for pip: nothing is downloaded."""

import ast
import errno
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sentences import assert_one_sentence, one_sentence

import course
from tools import environment
from tools.environment import Environment, Problem, explain, explain_os_error

ROOT = Path(__file__).resolve().parent.parent

# Stands in for pip in .venv: notes what it is asked for and answers as its notes tell it.
PIP = """\
import json, pathlib, sys, time
notes = pathlib.Path(__file__).parent
with open(notes / "calls", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
says = notes / "says"
if says.exists():
    text, status, seconds = json.loads(says.read_text())
    print(text, flush=True)
    time.sleep(seconds)
    sys.exit(status)
print("Collecting numpy==1\\n  Downloading numpy-1-py3-none-any.whl (12.3 MB)", flush=True)
print("Installing collected packages: a, b, numpy", flush=True)
"""


@pytest.fixture
def env(tmp_path, monkeypatch):
    """A course folder, with a space and an accent in its name, whose .venv gets the stand-in."""
    root = tmp_path / "my cours é"
    root.mkdir()
    (root / "requirements.txt").write_text("numpy==1\n")
    (root / "requirements-dev.txt").write_text("-r requirements.txt\npytest==1\n")
    call, meanwhile = Environment.call, Environment.compile_meanwhile

    def call_without_pip(self, command, stage):
        if "venv" not in command:
            return call(self, command, stage)
        status, output = call(self, [*command, "--without-pip"], stage)
        pip_folder(self).mkdir(parents=True)
        (pip_folder(self) / "__init__.py").write_text("")
        (pip_folder(self) / "__main__.py").write_text(PIP)
        return status, output

    monkeypatch.setattr(Environment, "call", call_without_pip)
    monkeypatch.setattr(Environment, "compile_meanwhile", lambda self: meanwhile(self).wait())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 5e12))
    return Environment(root)


def pip_folder(env):
    if os.name == "nt":
        return env.folder / "Lib/site-packages/pip"
    return env.folder / "lib/python{}.{}/site-packages/pip".format(*sys.version_info)


def calls(env):
    """What pip was asked for: one line for each call."""
    file = pip_folder(env) / "calls"
    return file.read_text().splitlines() if file.exists() else []


def let_pip_say(env, text, status=1, seconds=0):
    (pip_folder(env) / "says").write_text(json.dumps([text, status, seconds]))


# Setting up


def test_a_second_run_installs_nothing_and_what_is_new_comes_into_the_same_venv(env, capsys):
    assert not env.is_ready(dev=False)
    env.set_up(dev=False)
    said = capsys.readouterr().out
    for words in ("some minutes", "downloading numpy (12.3 MB)", "unpacking 3 packages"):
        assert words in said
    assert list(pip_folder(env).glob("__pycache__/__main__.*.pyc"))
    env.set_up(dev=False)
    assert capsys.readouterr().out == ""
    assert not env.is_ready(dev=True)
    env.set_up(dev=True)
    assert env.is_ready(dev=True)
    assert env.is_ready(dev=False)
    assert "requirements-dev.txt" in calls(env)[1]
    env.set_up(dev=True)
    env.set_up(dev=False)
    assert len(calls(env)) == 2
    (env.root / "requirements.txt").write_bytes(b"numpy==1\r\n")  # another system's line ends
    assert env.is_ready(dev=True)
    (env.root / "requirements.txt").write_text("numpy==2\n")
    assert not env.is_ready(dev=True)
    env.set_up(dev=False)
    assert len(calls(env)) == 3
    assert "again" not in capsys.readouterr().out


def cut_off(env):
    env.mark.touch()  # as a power cut leaves it


def another_file(env):
    env.python.unlink()
    env.python.write_text("not a program")


def without_pip(env):
    shutil.rmtree(pip_folder(env))
    env.stamp.unlink()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut_off, "cut off"),
        (another_file, "does not start"),
        (without_pip, "or has no pip"),
    ],
)
def test_a_damaged_venv_is_made_again(env, capsys, damage, told):
    env.set_up(dev=False)
    (env.folder / "half a package").touch()
    damage(env)
    assert not env.is_ready(dev=False)
    env.set_up(dev=False)
    assert env.is_ready(dev=False)
    assert not (env.folder / "half a package").exists()
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("says", "told", "made"),
    [
        ("ERROR: No matching distribution found for pytest==1", "no build", 3),
        ("Installing collected packages: a\n[Errno 28] No space left on device", "disk is full", 1),
    ],
)
def test_after_a_failure_only_what_may_be_damaged_is_made_again(env, says, told, made):
    env.set_up(dev=False)
    let_pip_say(env, says)
    with pytest.raises(Problem, match=told):
        env.set_up(dev=True)
    assert not env.is_ready(dev=False)
    (pip_folder(env) / "says").unlink()
    env.set_up(dev=True)
    assert env.is_ready(dev=True)
    assert len(calls(env)) == made  # pip's notes are in the .venv: gone where it was made again
    moved = env.root.with_name("elsewhere")
    env.root.rename(moved)
    assert Environment(moved).is_ready(dev=True)


def test_somebodys_own_folder_is_not_deleted(env):
    (env.folder / "photos").mkdir(parents=True)
    with one_sentence(Problem, match="rename"):
        env.set_up(dev=False)
    assert (env.folder / "photos").exists()


def test_course_runs_a_module_in_the_venv(env, monkeypatch, capfd):
    env.set_up(dev=False)
    (env.root / "helpers" / "training").mkdir(parents=True)
    study = env.root / "helpers" / "training" / "study.py"
    study.write_text("import sys; print(sys.argv[1:]); sys.exit(7)")
    monkeypatch.setenv("PYTHONPATH", "nonsense")
    assert env.run("helpers.training.study", ["a b", "é"]) == 7
    assert "['a b', 'é']" in capfd.readouterr().out


# On Linux: torch for CPUs first, if it can be had


@pytest.mark.parametrize("in_reach", [True, False])
def test_linux_asks_for_torch_without_cuda_first(env, monkeypatch, capsys, in_reach):
    (env.root / "requirements.txt").write_text("torch==2.0\n")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(environment.platform, "machine", lambda: "x86_64")
    pip, asked = Environment.pip, []

    def some_pip(self, *arguments):
        asked.append(arguments)
        if environment.TORCH_CPU in arguments and not in_reach:
            return 1, "ERROR: No matching distribution found for torch==2.0"
        return pip(self, *arguments)

    monkeypatch.setattr(Environment, "pip", some_pip)
    env.set_up(dev=False)
    assert env.is_ready(dev=False)
    assert [environment.TORCH_CPU in each for each in asked] == [True, False]
    assert "torch==2.0" in asked[0]
    assert ("larger" in capsys.readouterr().out) != in_reach


# The newest versions of everything


def test_the_newest_versions_stand_beside_those_of_the_course(env, monkeypatch):
    (env.root / "requirements.txt").write_text("# why\ntorch==2.0\na[b]==1.2\n")
    lines = "-r requirements.txt\nc==11.0.0; python_version < '3.13'\n"
    (env.root / "requirements-dev.txt").write_text(lines)
    newest = environment.NewestEnvironment(env.root)
    monkeypatch.setattr(sys, "platform", "linux")
    for _ in range(2):
        newest.set_up(dev=True)
        assert newest.is_ready(dev=True)
        assert not Environment(newest.root).is_ready(dev=True)
        assert len(calls(newest)) == 2
    assert json.loads(calls(newest)[0])[-1] == "torch"
    files = [Path(part) for part in json.loads(calls(newest)[-1]) if part.endswith(".txt")]
    assert [file.read_text() for file in files] == [
        "# why\ntorch\na[b]\n",
        "-r requirements.txt\nc; python_version < '3.13'\n",
    ]


def test_newest_stands_before_any_command(shelf, monkeypatch):
    seen = []
    monkeypatch.setattr(Environment, "set_up", lambda self, dev: seen.append(self.name))
    monkeypatch.setattr(Environment, "run", lambda self, module, arguments: seen.append(module))
    for arguments in (["--newest"], ["--newest", "test", "-x"], ["test"]):
        course.main(arguments)
    newest = environment.NewestEnvironment.name
    assert seen == [newest, "tools.lab", newest, "pytest", ".venv", "pytest"]
    with pytest.raises(Problem, match="no --newest for site"):
        course.main(["--newest", "site"])


# What can be wrong with a machine


def test_full_disk_is_said_before_it_is_full(env, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 1.2e9))
    with one_sentence(Problem, match=r"Only 1\.2 GB .* 3 GB"):
        env.set_up(dev=False)
    assert not env.folder.exists()


def test_missing_venv_names_the_package(env, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", {"ensurepip": None}.get)
    with one_sentence(Problem, match=r"apt install python3\.\d+-venv"):
        env.set_up(dev=False)


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError("
            "<...>: Failed to establish a new connection: [Errno -3] Temporary failure in name "
            "resolution'): /simple/torch/\nERROR: No matching distribution found for torch==2",
            "pypi.org",
        ),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.", "pypi.org"),
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "full"),
        ("ERROR: [WinError 112] There is not enough space on the disk", "full"),
        ("ERROR: [WinError 5] Access is denied: 'C:\\\\torch.dll'", "close JupyterLab"),
        ("OSError: [Errno 2] ... HINT: enable Windows Long Path support", "short one"),
        ("ERROR: No matching distribution found for torch==2.13.0", "Python 3.11 to 3.14"),
        ("hm\nERROR: the dog {ate} it.\n", "the dog {ate} it."),
        ("", "nothing"),
    ],
)
def test_what_pip_says_is_told_in_a_sentence(output, told):
    sentence = "Installing failed: " + explain(output)
    assert told in sentence
    assert "\n" not in sentence


# Commands and lessons


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A course folder with three notebooks in it, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks" / "exercises").mkdir(parents=True)
    for name in ("00_start_here", "01_a2c", "exercises/01_a2c"):
        (tmp_path / "notebooks" / f"{name}.ipynb").touch()
    monkeypatch.setattr(course, "HERE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "name", ["01", "1", "a2c", "01_a2c", "notebooks/01_a2c.ipynb", "my_notebooks/01_a2c.ipynb"]
)
def test_a_lesson_has_many_names(shelf, name):
    assert course.find_lesson(name) == "01_a2c"
    edition = f"notebooks\\exercises\\{name}" if "/" not in name else "exercises/01"
    assert course.find_lesson(edition) == "exercises/01_a2c"


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["lab", "sac"], r"'sac'; .* 00_start_here, 01_a2c, exercises/01_a2c"),
        (["tset"], "'tset'; there are: lab, test, build, site"),
    ],
)
def test_what_is_unknown_lists_the_known(shelf, arguments, known):
    with one_sentence(Problem, match=known) as it:
        course.main(arguments)
    assert it.value.status == 2


@pytest.mark.parametrize(
    ("arguments", "module", "dev", "passed"),
    [
        ([], "tools.lab", False, "00_start_here"),
        (["lab"], "tools.lab", False, "00_start_here"),
        (["--no-browser", "--port", "9000"], "tools.lab", False, "--no-browser --port 9000"),
        (["lab", "exercises/1", "--no-browser"], "tools.lab", False, "exercises/01_a2c --no-b"),
        (["test", "-k", "gae"], "pytest", True, "-k gae"),
        (["build", "--check"], "tools.build", True, "--check"),
        (["pack", "folder"], "tools.pack", True, "folder"),
        (["assignment", "x", "--otter"], "tools.assignment", True, "x --otter"),
        (["study", "a2c", "CartPole-v1"], "helpers.training.study", False, "a2c CartPole-v1"),
        (["train", "td3", "Walker2d-v5"], "helpers.training.train", False, "td3 Walker2d-v5"),
        (["bench", "ddpg", "--rounds", "3"], "benchmarks.bench", False, "ddpg --rounds 3"),
    ],
)
def test_each_command_runs_its_module(shelf, monkeypatch, arguments, module, dev, passed):
    seen = []
    monkeypatch.setattr(Environment, "set_up", lambda self, dev: seen.append(dev))
    monkeypatch.setattr(
        Environment, "run", lambda self, module, arguments: seen.append((module, arguments)) or 5
    )
    assert course.main(arguments) == 5
    assert seen[0] == dev
    assert seen[1][0] == module
    assert passed in " ".join(seen[1][1])


def test_paths_begin_in_the_courses_folder(shelf, tmp_path, monkeypatch):
    """From elsewhere a result would be looked for in vain, or written where nobody looks."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with one_sentence(Problem, match=f"'{re.escape(str(tmp_path))}'") as it:
        course.main(["study", "td3", "Pendulum-v1", "--out", "td3.json"])
    assert it.value.status == 2


@pytest.mark.parametrize("name", [None, *course.COMMANDS])
def test_help_installs_nothing(tmp_path, monkeypatch, capsys, name):
    monkeypatch.setattr(course, "HERE", str(tmp_path))
    for kind in ("", "-dev", "-site", "-bench"):
        (tmp_path / f"requirements{kind}.txt").touch()
    assert course.main([*([name] if name else []), "--help"]) == 0
    said = capsys.readouterr().out
    shown = [command for command in course.COMMANDS if f"\n  {command} " in said]
    assert shown == ([name] if name else list(course.COMMANDS))
    assert not (tmp_path / ".venv").exists()


# As a program


@pytest.fixture
def program(env):
    """course.py itself in a folder whose .venv is there already; pip in it is the stand-in."""
    env.set_up(dev=True)
    for file in ("course.py", "tools/__init__.py", "tools/environment.py"):
        (env.root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, env.root / file)
    return env


def start(env, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, env.root / "course.py", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )


def test_a_problem_is_one_line_without_traceback(program):
    child = start(program, "nonsense", cwd=program.root.parent)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (2, "")
    assert_one_sentence(err.strip())


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_while_installing(program):
    (program.root / "requirements.txt").write_text("numpy==3\n")
    let_pip_say(program, "Installing collected packages: a, b", seconds=60)
    # Tests that were started in the background ignore the signal, and so would their children.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    child = start(program, "study", start_new_session=True, preexec_fn=listen, cwd=program.root)
    for line in child.stdout:
        if "unpacking" in line:
            break
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err.strip() == "Stopped; run the same command again to go on."
    assert not program.is_ready(dev=False)
    assert program.mark.exists()


def test_old_python_can_read_the_file():
    """Best effort for any machine: the syntax of 3.4, and the guard before all other imports."""
    tree = ast.parse((ROOT / "course.py").read_text(encoding="utf-8"), feature_version=(3, 4))
    kinds = [type(node) for node in tree.body]
    assert kinds.index(ast.If) == 3  # docstring, __future__, sys
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.JoinedStr, ast.AnnAssign))]


def test_what_the_system_refuses_is_told_in_a_sentence():
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "/course/.venv")
    assert_one_sentence(explain_os_error(error), "'/course/.venv'")
