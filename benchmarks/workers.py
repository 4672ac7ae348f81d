"""A process of its own for each contender: one core for all of them, one thread for each library.

So no library's threads, memory or settings touch another's, and whoever is not at work only waits.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

Run = Callable[[int], object]  # does that many pieces of work

SPAWN = multiprocessing.get_context("spawn")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Missing(Exception):
    """A library that is not here, in one sentence."""


class Worker:
    """Prepares a contender in a process that is pinned to `core`, and has it take turns.

    Raises `Missing` if its library is not installed, `RuntimeError` if it fails.
    """

    def __init__(self, prepare: Callable[[], Run], core: int | None) -> None:
        os.environ.update(ONE_THREAD)  # the child reads them before it imports anything
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, prepare, core), daemon=True)
        self.process.start()
        theirs.close()
        self.hear()

    def turn(self, steps: int) -> float:
        """CPU seconds for one of `steps` pieces of work."""
        self.pipe.send(steps)
        return self.hear()

    def hear(self) -> Any:
        try:
            answer = self.pipe.recv()
        except EOFError:
            raise RuntimeError("A contender's process ended by itself.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.process.terminate()
        self.process.join()


def take_turn(run: Run, steps: int) -> float:
    """CPU seconds, since those of the clock hold what other programs took in between."""
    started = time.process_time()
    run(steps)
    return (time.process_time() - started) / steps


def choose_core() -> int | None:
    """The last one that this process may use; None where a system pins nothing."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _serve(pipe: Connection, prepare: Callable[[], Run], core: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    if core is not None:
        os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    try:
        run = prepare()
        pipe.send(None)
        while True:
            pipe.send(take_turn(run, pipe.recv()))
    except EOFError:
        return
    except Missing as error:
        pipe.send(error)
    except Exception as error:
        pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
