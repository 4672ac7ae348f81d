"""Several seeds of a long training at once: each is a `course.py train` of its own, in its folder.

`python course.py train td3 Hopper-v5 --steps 300000 --seeds 0-2 --jobs 3 --out runs/hopper`
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from joblib import Parallel, delayed

from helpers.training.cluster import on_cluster
from helpers.training.runs import Plan


def train_apart(plan: Plan) -> int:
    """Train in a process of its own, whose lines are printed with the seed; its exit status."""
    words = [sys.executable, "-u", "-m", "helpers.training.train", *plan.arguments]
    one_thread = {"OMP_NUM_THREADS": "1", **os.environ}  # seeds run side by side
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=one_thread
    ) as child:
        for line in child.stdout or ():
            print(f"seed {plan.seed}: {line}", end="", flush=True)
    return child.returncode


def train_several(plans: Sequence[Plan], jobs: int, scheduler: str | None = None) -> int:
    """Train them all, here or by a cluster's workers; the worst exit status.

    Ctrl-C reaches every process of the terminal: each training ends by itself and keeps a
    checkpoint, so this process only waits. Raises `ClusterError` as `on_cluster` does.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        if scheduler is not None:
            return max(on_cluster(scheduler, train_apart, plans))
        return max(Parallel(n_jobs=jobs, prefer="threads")(delayed(train_apart)(p) for p in plans))
    finally:
        signal.signal(signal.SIGINT, before)
