"""How many threads compute: for small networks more than one only wait for each other."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController


class _Now:
    alone = False  # within a `one_thread`


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and numpy use one thread; within another `one_thread` this costs next to nothing.

    numpy's products with two threads take up to twenty times as long while another process works.
    """
    if _Now.alone:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    _Now.alone = True
    try:
        with _numpys().limit(limits=1, user_api="blas"):
            yield
    finally:
        _Now.alone = False
        torch.set_num_threads(threads)


@cache
def _numpys() -> ThreadpoolController:
    """The library that multiplies matrices for numpy. Finding it takes milliseconds: once."""
    return ThreadpoolController()
