"""A study's seeds on the machines of a cluster, by Dask: `--scheduler tcp://HOST:8786`.

INSTRUCTORS.md says how a class or a lab starts one.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

Seed = TypeVar("Seed")  # a number, or a training that has one
Row = TypeVar("Row")
SECONDS = 10  # to wait for an answer of the scheduler


class ClusterError(Exception):
    """What is wrong with the cluster and what to do, in one sentence."""


def on_cluster(
    scheduler: str, run: Callable[[Seed], Row], seeds: Sequence[Seed]
) -> Generator[Row, None, None]:
    """`run(seed)` for each of these by a cluster's workers; each result as it is there.

    A seed whose worker dies begins anew on another one. Raises `ClusterError` if the package is
    missing, nobody answers at `scheduler`, the workers are not fit, or several died of one seed.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs the package distributed ({error}): install it with "
            "'.venv/bin/python -m pip install -r requirements-dev.txt'."
        ) from error
    try:
        client = Client(scheduler, timeout=SECONDS)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {scheduler} ({type(error).__name__}): start one with "
            "'python -m dask scheduler', it says its address."
        ) from error
    with client:
        check_workers(client.nthreads(), scheduler)
        futures = client.map(run, seeds, pure=False)
        try:
            for future in as_completed(futures):
                yield future.result()
        except KilledWorker as error:
            raise ClusterError(
                "Several workers ended in the midst of one seed: is there memory enough for it? "
                "The same command goes on with what is finished."
            ) from error


def check_workers(threads: dict[str, int], scheduler: str) -> None:
    """Raise `ClusterError` unless there are workers, each with one thread: address -> threads.

    Two trainings in one process would set each other's number of threads in torch.
    """
    if not threads:
        raise ClusterError(
            f"The scheduler at {scheduler} has no workers: start them with "
            f"'python -m dask worker {scheduler} --nthreads 1'."
        )
    if max(threads.values()) > 1:
        raise ClusterError(
            "Workers train one seed at a time: start them with --nthreads 1, and as many as a "
            "machine has cores with --nworkers."
        )
