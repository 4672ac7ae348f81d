"""Lesson 04's file: exercise 4.1 `read_episodes`.

Each case is written to a file of its own. What a reader must refuse is in files that raise a flag
if they are trusted, and do nothing else.
"""

import io
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from helpers.checks.exercise import Case
from helpers.demos.files import ARRAYS, read_episodes
from helpers.exercises.text import exercise

# --- Files ----------------------------------------------------------------------------------------


def in_a_file(function: Callable, write: Callable[[Path], None]):
    """What `function` makes of a file that `write` makes."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows: if it is left open
        path = Path(folder) / "demos.npz"
        write(path)
        return function(path)


@contextmanager
def loads() -> Iterator[tuple[list, list]]:
    """Two lists: what `np.load` is asked for from now on, and what it gives."""
    load, asked, opened = np.load, [], []

    def listening(file, *args, **kwargs):
        asked.append(file)
        opened.append(load(file, *args, **kwargs))
        return opened[-1]

    np.load = listening
    try:
        yield asked, opened
    finally:
        np.load = load


def saved(about, *arrays) -> Callable[[Path], None]:
    named = dict(zip(ARRAYS, arrays, strict=True))
    return lambda path: np.savez(path, about=np.array(json.dumps(about)), **named)


def observe_reader(function, about, *arrays):
    elsewhere: list = []  # other files that were asked for

    def reader(path):
        with loads() as (asked, _):
            try:
                return function(path)
            finally:
                paths = (file for file in asked if isinstance(file, str | Path))
                elsewhere.extend(file for file in paths if realpath(file) != realpath(path))

    try:
        about, episodes = in_a_file(reader, saved(about, *arrays))
    except FileNotFoundError:
        if not elsewhere:
            raise
    if elsewhere:
        return {"content of `about`": "that of another file", "number of episodes": "unknown"}
    countable = hasattr(episodes, "__len__")
    return {
        "content of `about`": about,
        "number of episodes": len(episodes) if countable else "unknown",
        "episodes": episodes if countable else None,
    }


def steps(
    rng: np.random.Generator, *ends: str, obs_shape=(1,), discrete=False, elsewhere=True
) -> list:
    """Six arrays: episodes as long as the words in `ends`, whose last letter says how each ended.

    "..x": three steps, the last of which (t)erminated, was (c)ut off or (b)oth. The next episode
    begins `elsewhere`, or where the last one stopped.
    """
    flags = "".join(ends)
    count = len(flags)
    path = rng.normal(size=(count + 1, *obs_shape)).round(2).astype(np.float32)
    obs, next_obs = path[:-1].copy(), path[1:].copy()
    for stop in np.cumsum([len(end) for end in ends]) if elsewhere else ():
        next_obs[stop - 1] = rng.normal(size=obs_shape).round(2)
    action: np.ndarray = rng.normal(size=(count, 2)).round(2).astype(np.float32)
    if discrete:
        action = rng.integers(0, 3, size=count)
    reward = rng.normal(size=count).round(2).astype(np.float32)
    terminated, truncated = (np.array([flag in kind for flag in flags]) for kind in ("tb", "cb"))
    return [obs, action, reward, next_obs, terminated, truncated]


def reader_cases(rng: np.random.Generator) -> list[Case]:
    def told(lengths: list[int], **more) -> dict:
        return {"env_id": "Walk-v0", "maker": "a test", "lengths": lengths, **more}

    return [
        Case((told([1]), *steps(rng, "t")), note="one episode of one step"),
        Case((told([2, 2]), *steps(rng, ".c", ".c")), note="two episodes, both cut off"),
        Case(
            (told([3, 2]), *steps(rng, "..t", ".t", elsewhere=False)),
            note="two episodes that terminated, the second begins where the first stopped",
        ),
        Case(
            (told([1, 3, 2, 1, 1]), *steps(rng, "t", "..c", ".b", "c", "t", obs_shape=(2, 3))),
            note="five episodes of all kinds, observations with two axes",
        ),
        Case(
            (told([4, 2], reviewed=True, note=None), *steps(rng, "...t", ".c", discrete=True)),
            note="discrete actions, and a text with `true` and `null` in it",
        ),
        Case(
            (told([3, 3]), *steps(rng, "..c", ".t", "c")),
            note="a text that names other lengths than the flags",
        ),
    ]


# --- What values cannot show ----------------------------------------------------------------------

RAISED: list[str] = []  # flags, raised by code that stood in a file


def raise_flag() -> dict:
    RAISED.append("code from the file was run")
    return {}


class Trap:
    """Raises a flag when it is unpickled."""

    def __reduce__(self) -> tuple:
        return raise_flag, ()


def raises(function: Callable, write: Callable[[Path], None]) -> bool:
    """Whether `function` stops with an error at a file. `RAISED` then says what it ran."""
    RAISED.clear()
    try:
        in_a_file(function, write)
    except Exception:
        return True
    return False


def with_pickles(rng) -> list[Callable[[Path], None]]:
    obs, *others = steps(rng, ".t")
    trap = np.full(len(obs), Trap(), dtype=object)
    arrays = dict(zip(ARRAYS, [obs, *others], strict=True))
    return [
        saved({}, trap, *others),
        lambda path: np.savez(path, about=trap[0], **arrays),
        lambda path: path.write_bytes(pickle.dumps(Trap())),
    ]


def with_code(rng) -> Callable[[Path], None]:
    arrays = dict(zip(ARRAYS, steps(rng, ".t"), strict=True))
    text = f"__import__({__name__!r}, fromlist=['x']).raise_flag()"
    return lambda path: np.savez(path, about=text, **arrays)


def lets_errors_pass(function, rng):
    """Code that was run is another mistake: then there may be no error to let pass."""
    files = [*with_pickles(rng), with_code(rng), lambda path: None]  # the last: no file at all
    return all(raises(function, file) or RAISED for file in files)


def refuses_pickles(function, rng):
    for write in with_pickles(rng):
        raises(function, write)
        if RAISED:
            return False
    return True


def runs_no_text(function, rng):
    raises(function, with_code(rng))
    return not RAISED


def closes_the_file(function, rng):
    with loads() as (_, opened):
        in_a_file(function, saved({}, *steps(rng, ".t")))
    left = [file for file in opened if is_open(file)]
    for file in left:
        file.close()
    return not left


def is_open(archive) -> bool:
    """Whether what `np.load` gave still holds a file; one that was copied to memory does not."""
    file = getattr(getattr(archive, "zip", None), "fp", None)
    return file is not None and not file.closed and not isinstance(file, io.BytesIO)


def gives_arrays(function, rng):
    for case in reader_cases(rng):
        _, episodes = in_a_file(function, saved(*case.args))
        if not all(isinstance(part, np.ndarray) for e in episodes for part in e.values()):
            return False
    return True


def keeps_kinds(function, rng):
    """Flags stay flags, and choices whole numbers. How many digits a number has does not matter."""
    for case in reader_cases(rng):
        kinds = {name: part.dtype.kind for name, part in zip(ARRAYS, case.args[1:], strict=True)}
        _, episodes = in_a_file(function, saved(*case.args))
        if any(np.asarray(e[name]).dtype.kind != kinds[name] for e in episodes for name in kinds):
            return False
    return True


READ_EPISODES = exercise(
    __file__, "4.1", read_episodes, reader_cases, observe_reader,
    properties={
        "error swallowed": lets_errors_pass,
        "unpickles what the file holds": refuses_pickles,
        "runs the text in the file": runs_no_text,
        "leaves the file open": closes_the_file,
        "no arrays": gives_arrays,
        "other kinds": keeps_kinds,
    },
)  # fmt: skip
