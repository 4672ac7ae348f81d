"""Makes and keeps `.venv`, the course's own Python environment. Standard library only."""

import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

GB = 1e9
SPACE = 3 * GB  # .venv takes 1.5 GB, with the tests' tools 1.7; pip's downloads come on top
SPACE_WITH_CUDA = 10 * GB  # with what PyPI's torch for Linux brings along
TORCH_CPU = "https://download.pytorch.org/whl/cpu"


class Problem(Exception):
    """What went wrong and what to do, in one sentence; `status` is the exit status."""

    def __init__(self, message: str, status: int = 1):
        super().__init__(message)
        self.status = status


class Environment:
    """The `.venv` of the course in `root`.

    A stamp in it holds what was asked for (the requirement files and the Python version), so that
    the next run installs nothing; it is written only after success. A mark stands while something
    is being installed: one left behind tells that this was cut off, and .venv is made again, since
    nobody knows which packages are whole.
    """

    name = ".venv"
    size = "about 0.4 GB to download, 1.5 GB on disk"
    lists = ("requirements.txt",)

    def __init__(self, root: str | Path):
        self.root = Path(root)
        self.folder = self.root / self.name
        windows = os.name == "nt"
        self.python = self.folder / ("Scripts/python.exe" if windows else "bin/python")
        self.stamp = self.folder / "course-packages.json"
        self.mark = self.folder / "course-installing"
        self.half_installed = False

    def run(self, module: str, arguments: Sequence[str]) -> int:
        """Run a module in the environment to its end; returns the exit status.

        Ctrl-C is the module's to answer: the terminal sends it there as well.
        """
        command = [self.python, "-m", module, *arguments]
        child = subprocess.Popen(command, cwd=self.root, env=self.variables())
        before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        while child.returncode is None:
            with suppress(KeyboardInterrupt):
                child.wait()
        signal.signal(signal.SIGTERM, before)
        return child.returncode if child.returncode >= 0 else 128 - child.returncode

    def variables(self) -> dict[str, str]:
        """The environment variables of what runs in it."""
        other = {"PYTHONHOME", "PYTHONPATH", "PYTHONSAFEPATH"}  # other projects' packages stay out
        return {name: value for name, value in os.environ.items() if name not in other} | {
            "VIRTUAL_ENV": str(self.folder),
            "PATH": str(self.python.parent) + os.pathsep + os.environ.get("PATH", ""),
            "PYTHONUTF8": "1",
            "PIP_USER": "0",
            "JUPYTER_PREFER_ENV_PATH": "1",  # its kernel before a user's own of the same name
        }

    # What is there

    def version(self) -> str | None:
        """Its Python's version, if that starts; None if there is none or it is broken."""
        question = "import sys; print(*sys.version_info[:2], sep='.')"
        try:
            command = [self.python, "-I", "-S", "-c", question]
            answer = subprocess.run(command, capture_output=True, check=True, timeout=60, text=True)
            return answer.stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return None

    def requirements(self, dev: bool) -> list[Path]:
        return [self.root / name for name in (*self.lists, *["requirements-dev.txt"] * dev)]

    def files(self, dev: bool) -> list[Path]:
        """What pip reads."""
        return self.requirements(dev)

    def wanted(self, dev: bool) -> dict[str, str | None]:
        """All that decides what gets installed."""
        lists = {file.name: file.read_text("utf-8") for file in self.requirements(dev)}
        return {"python": self.version(), **lists}

    def is_ready(self, dev: bool) -> bool:
        if self.mark.exists() or not self.stamp.exists():
            return False
        try:
            installed = json.loads(self.stamp.read_text("utf-8"))
        except ValueError:  # it was cut off
            return False
        return self.wanted(dev).items() <= installed.items()

    def fault(self) -> str | None:
        """Why nothing can be installed into it; None if it is sound."""
        if self.mark.exists():
            return "Setting up was cut off last time"
        if self.version() is None:
            return f"The Python in {self.name} does not start (was it moved, or Python upgraded?)"
        question = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
        if subprocess.run([self.python, "-I", "-c", question], capture_output=True).returncode:
            return f"The Python in {self.name} is too old, or has no pip"
        return None

    # Making it

    def set_up(self, dev: bool) -> None:
        """Make it and install what is wanted, unless that is done already."""
        if self.is_ready(dev):
            return
        started = time.monotonic()
        fault = self.fault() if os.path.lexists(self.folder) else None
        if fault:
            self.remove()
            print(f"{fault}: {self.name} is made again.", flush=True)
        if self.folder.exists():
            asked = self.requirements(dev)[-1].name
            print(f"Adding to {self.name} what {asked} asks for.", flush=True)
        else:
            self.make()
        self.stamp.unlink(missing_ok=True)
        self.mark.touch()
        self.install(dev)
        self.stamp.write_text(json.dumps(self.wanted(dev)), encoding="utf-8")
        self.mark.unlink()
        print(f"Set up, in {time.monotonic() - started:.0f} s.", flush=True)
        self.compile_meanwhile()

    def remove(self) -> None:
        """Delete it, if it is a Python environment and not somebody's folder of that name."""
        folder = self.folder.is_dir() and not self.folder.is_symlink()
        ours = (self.folder / "pyvenv.cfg").exists() or self.mark.exists()
        if not folder or not (ours or not any(self.folder.iterdir())):
            raise Problem(
                f"'{self.folder}' is in the way and is no Python environment: rename it and run "
                "this again."
            )
        try:
            shutil.rmtree(self.folder)
        except OSError as error:
            raise Problem(
                f"Cannot delete '{self.folder}' ({error.strerror}): close JupyterLab and whatever "
                "else uses it, delete it yourself and run this again."
            ) from None

    def make(self) -> None:
        self.check_space(SPACE)
        if importlib.util.find_spec("ensurepip") is None:
            package = "python{}.{}-venv".format(*sys.version_info)
            raise Problem(
                "This Python lacks the module that makes environments; on Debian or Ubuntu install "
                f"it with 'sudo apt install {package}', then run this again."
            )
        print(
            f"Setting up {self.name}: {self.size}.\n"
            "This takes some minutes the first time, and none after that.",
            flush=True,
        )
        self.folder.mkdir()
        self.mark.touch()
        status, output = self.call(
            [sys.executable, "-m", "venv", self.folder], f"making {self.name}"
        )
        if status:
            raise Problem(f"Making {self.name} failed: {explain(output)}")

    def check_space(self, needed: float) -> None:
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise Problem(
                f"Only {free / GB:.1f} GB are free in '{self.root}' and setting up takes "
                f"{needed / GB:.0f} GB: make room and run this again."
            )

    def install(self, dev: bool) -> None:
        if sys.platform == "linux":
            self.install_torch_for_cpu()
        files = [part for file in self.files(dev) for part in ("-r", file)]
        status, output = self.pip("--retries", "2", *files)
        if status:
            if not self.half_installed:
                self.mark.unlink()  # what there is can stay
            raise Problem(f"Installing failed: {explain(output)}")

    def install_torch_for_cpu(self) -> None:
        """PyPI's torch for Linux brings gigabytes of CUDA that the course never uses: avoid them.

        Where PyTorch's own index is out of reach, the normal installation follows and takes PyPI's.
        """
        text = self.files(dev=False)[0].read_text()
        wanted = re.search(r"^torch(==\S+)?$", text, re.MULTILINE)
        if wanted is None:
            return
        quick = ("--retries", "0", "--timeout", "15")
        status, _ = self.pip("--no-deps", "--index-url", TORCH_CPU, *quick, wanted[0])
        if status and platform.machine() == "x86_64":
            print("PyTorch for CPUs is out of reach; the usual PyTorch is 3 GB larger.", flush=True)
            self.check_space(SPACE_WITH_CUDA)

    def compile_meanwhile(self) -> subprocess.Popen:
        """Write bytecode on one core while JupyterLab starts: half of pip's work, were it pip's."""
        command = [self.python, "-m", "compileall", "-q", self.folder]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return subprocess.Popen(command, env=self.variables(), **streams)

    # Calling pip

    def pip(self, *arguments: str | Path) -> tuple[int, str]:
        pip = [self.python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        command = [*pip, "--no-compile", "--progress-bar", "off", *arguments]
        status, output = self.call(command, "looking up packages")
        if status and "Installing collected packages" in output:
            self.half_installed = True
        return status, output

    def call(self, command: Sequence[str | Path], stage: str) -> tuple[int, str]:
        """Run a command, and say instead of its output how far it is; gives status and output."""
        child = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        output, stages = [], [stage]
        teller = threading.Thread(target=tell, args=(child, stages), daemon=True)
        teller.start()
        try:
            for line in child.stdout:
                output.append(line)
                stages += filter(None, [pip_stage(line)])
            return child.wait(), "".join(output)
        finally:
            try:
                child.wait(timeout=10)  # after Ctrl-C pip, which got it as well, cleans up
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                child.kill()
            teller.join()


class NewestEnvironment(Environment):
    """The course with the newest version of everything, beside the one that it was made with."""

    name = ".venv-newest"

    def files(self, dev: bool) -> list[Path]:
        """The requirements without their versions, written into the environment."""
        for file in self.requirements(dev):
            (self.folder / file.name).write_text(re.sub(r"==[^;\s]+", "", file.read_text()))
        return [self.folder / file.name for file in self.requirements(dev)]


class SiteEnvironment(Environment):
    """What makes the web page: apart, since publishing it takes no PyTorch."""

    name = ".venv-site"
    size = "about 50 MB to download, 0.2 GB on disk"
    lists = ("requirements-site.txt",)


class BenchEnvironment(Environment):
    """The course with the libraries that it is measured beside: apart, since these are heavy."""

    name = ".venv-bench"
    size = "about 3 GB on disk"
    lists = ("requirements.txt", "requirements-bench.txt")


def pip_stage(line: str) -> str | None:
    """What a line of pip's output says about how far it is; None if nothing."""
    line = line.strip()
    download = re.match(r"Downloading (?:\S*/)?(.+?)-\d\S* \(([\d.]+ [MG]B)", line)
    if download:
        return f"downloading {download[1]} ({download[2]})"
    if line.startswith("Installing collected packages:"):
        count = line.count(",") + 1
        return f"unpacking {count} packages" if count > 1 else "unpacking " + line.split()[-1]
    return None


def tell(child: subprocess.Popen, stages: Sequence[str]) -> None:
    """A line for each stage of a child that runs; on a terminal the last one's seconds run."""
    told, ended, terminal = 0, False, sys.stdout.isatty()
    while not ended:
        ended = child.poll() is not None
        for stage in stages[told:]:
            if terminal and told:
                print()
            print(f"         {stage} ...", end="" if terminal else "\n", flush=True)
            told, since = told + 1, time.monotonic()
        if terminal:
            print(f"\r  {time.monotonic() - since:3.0f} s", end="\n" * ended, flush=True)
        time.sleep(0 if ended else 0.25)


# What pip and the system say, and what that means. First match counts.
REASONS = {
    r"no space left|Errno 28\b|WinError 112|not enough space": (
        "the disk is full; make room for about 3 GB (here and in {temporary}) and run this again."
    ),
    r"long path|WinError 206|Errno 36\b|file ?name too long": (
        "a path grew too long for this system; move the course to a short one, such as C:\\course."
    ),
    r"permission denied|access is denied|WinError (5|32)\b": (
        "a file cannot be written; close JupyterLab and whatever else uses .venv, or copy the "
        "course to a folder of your own, and run this again."
    ),
    r"connection broken|connection aborted|new connection|ConnectTimeout|read timed out|"
    r"max retries exceeded|name resolution|getaddrinfo failed|connection (refused|reset)|"
    r"ProxyError|SSLError|network is unreachable|IncompleteRead": (
        "the package index (pypi.org) is out of reach; check the network (behind a proxy, set "
        "HTTPS_PROXY) and run this again."
    ),
    r"no matching distribution|could not find a version": (
        "a package has no build for {machine}; use a 64-bit Python 3.11 to 3.14 (on a Mac, PyTorch "
        "wants Apple silicon and macOS 14), or try today's packages: python course.py --newest."
    ),
}


def explain(output: str) -> str:
    """The end of a sentence: why this output came, and what to do."""
    for pattern, reason in REASONS.items():
        if re.search(pattern, output, re.IGNORECASE):
            python = "{}.{}".format(*sys.version_info)
            machine = f"Python {python} on {platform.system()} {platform.machine()}"
            return reason.format(temporary=tempfile.gettempdir(), machine=machine)
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["nothing"]
    errors = [line for line in lines if re.match("error", line, re.IGNORECASE)]
    return f"its last words were: {(errors or lines)[-1]}"


def explain_os_error(error: OSError) -> str:
    """One sentence for what the system refused."""
    return (
        f"The system refuses '{error.filename}' ({error.strerror}): the course needs a folder that "
        "you can write, with about 3 GB of room."
    )
