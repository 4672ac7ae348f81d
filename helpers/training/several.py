"""Several seeds of a long training at once: each is a `course.py train` of its own, in its folder.

`python course.py train td3 Hopper-v5 --steps 300000 --seeds 0-2 --jobs 3 --out runs/hopper`
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from joblib import Parallel, delayed

from helpers.training.runs import STOPPED


def train_apart(words: Sequence[str], seed: int) -> int:
    """Train in a process of its own, whose lines are printed with the seed; its exit status.

    That of a process which a signal ended is the signal's number, and not below 0: the worst of
    all seeds' is what the command ends with.
    """
    # Of two --seeds the last one counts.
    words = [sys.executable, "-u", "-m", "helpers.training.train", *words, "--seeds", str(seed)]
    one_thread = {"OMP_NUM_THREADS": "1", **os.environ}  # seeds run side by side
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=one_thread
    ) as child:
        for line in child.stdout or ():
            print(f"seed {seed}: {line}", end="", flush=True)
    return abs(child.returncode)


def train_several(words: Sequence[str], seeds: Sequence[int], jobs: int) -> int:
    """Train each seed as these arguments of `course.py train` say; the worst exit status.

    Ctrl-C reaches every process of a terminal: trainings under way end by themselves and keep a
    checkpoint, so this process waits for them, and begins no other.
    """
    stopped = threading.Event()

    def unless_stopped(seed: int) -> int:
        return STOPPED if stopped.is_set() else train_apart(words, seed)

    before = signal.signal(signal.SIGINT, lambda *_: stopped.set())
    try:
        return max(Parallel(n_jobs=jobs, prefer="threads")(map(delayed(unless_stopped), seeds)))
    finally:
        signal.signal(signal.SIGINT, before)
