"""JupyterLab on the reader's own copies of the notebooks: `python course.py lab [lesson]`.

The copies stand in `my_notebooks`, which git ignores: answers survive an update of the course, and
a notebook that was only looked at changes no file of it. A copy in which nothing was changed
follows the course; any other is never written over.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
MINE = "my_notebooks"
LONGEST_SOCKET = 103  # bytes of a path, on macOS; one more on Linux


def main(argv: list[str]) -> None:
    """Bring the copies up to date, then be JupyterLab, with its own options after the lesson."""
    lesson, *options = argv
    try:
        newer = update_copies(ROOT)
    except OSError as error:
        sys.exit(f"'{error.filename}' cannot be written ({error.strerror}): make it writable.")
    if newer:
        print(
            f"There is a newer version of {', '.join(newer)}. Your own stays as it is; to get the "
            f"new one, rename yours in {MINE} and start again."
        )
    from jupyterlab.labapp import main as jupyterlab

    jupyterlab([*arguments(lesson), *options])


def arguments(lesson: str) -> list[str]:
    """JupyterLab's options for the course: it opens a lesson and asks and says nothing else."""
    ours = [
        f"--ServerApp.root_dir={ROOT}",
        f"--FileContentsManager.preferred_dir={MINE}",  # where its list of files begins
        f"--LabApp.default_url=/lab/tree/{MINE}/{quote(lesson)}.ipynb",
        # No news from outside and no search for updates, nor a question about them at the start.
        f"--LabApp.app_settings_dir={ROOT / 'tools' / 'jupyterlab'}",
        "--Application.log_level=ERROR",  # the address is said all the same
    ]
    if sockets_fit():
        ours.append("--KernelManager.transport=ipc")
    else:
        quiet_kernels()
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # a container: Jupyter refuses root otherwise
        ours.append("--allow-root")
    return ours


def sockets_fit() -> bool:
    """Whether kernels can be spoken to by files: not on Windows, nor far down in folders."""
    from jupyter_core.paths import jupyter_runtime_dir

    longest = os.path.join(jupyter_runtime_dir(), f"kernel-{'x' * 36}-ipc-5")
    return os.name == "posix" and len(os.fsencode(longest)) <= LONGEST_SOCKET


def quiet_kernels() -> None:
    """Let this environment's kernels say errors alone, not that they speak over TCP."""
    settings = Path(sys.prefix, "etc", "ipython", "ipython_kernel_config.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"IPKernelApp": {"log_level": "ERROR"}}', encoding="utf-8")


def update_copies(root: Path) -> list[str]:
    """Copy each notebook that is new; gives the names of those that are newer than a used copy.

    What was copied is written down as two hashes: of the course's notebook, and of the copy.
    """
    mine, record = root / MINE, root / MINE / ".copied.json"
    (mine / "exercises").mkdir(parents=True, exist_ok=True)
    copied = json.loads(record.read_text("utf-8")) if record.exists() else {}
    newer, course = [], root / "notebooks"
    for path in sorted([*course.glob("[0-9]*.ipynb"), *course.glob("exercises/[0-9]*.ipynb")]):
        name = path.relative_to(course).as_posix()
        copy, (known, made) = mine / name, copied.get(name, ("", ""))
        if copy.exists() and known == digest(path):
            continue
        if copy.exists() and made != digest(copy):
            newer.append(name)
            continue
        copy.write_text(as_saved_here(path), encoding="utf-8", newline="\n")
        copied[name] = (digest(path), digest(copy))
        record.write_text(json.dumps(copied, indent=1), encoding="utf-8")
    return newer


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def as_saved_here(path: Path) -> str:
    """A notebook's text with this kernel's name and version, and trusted.

    Otherwise JupyterLab writes them into it at once, and asks at the end whether to save that.
    """
    import nbformat
    from ipykernel.ipkernel import IPythonKernel
    from ipykernel.kernelspec import get_kernel_dict
    from nbformat.sign import NotebookNotary

    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.kernelspec.display_name = get_kernel_dict()["display_name"]
    notebook.metadata.language_info = IPythonKernel.language_info
    NotebookNotary().sign(notebook)
    return nbformat.writes(notebook) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
