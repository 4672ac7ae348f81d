"""Lesson 04's file: exercise 4.1 `read_episodes`.

Each case is written to a file of its own. What a reader must refuse stands in files that would
raise a flag if they were trusted, and do nothing else.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.demos.files import ARRAYS, read_episodes

# --- Files ----------------------------------------------------------------------------------------


def in_a_file(function: Callable, write: Callable[[Path], None]):
    """What `function` makes of a file that `write` makes."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows: if it is left open
        path = Path(folder) / "demos.npz"
        write(path)
        return function(path)


@contextmanager
def loading(listen: Callable) -> Iterator[None]:
    """Calls `listen` with all that `np.load` is called with, before it is."""
    load = np.load

    def listening(*args, **kwargs):
        listen(*args, **kwargs)
        return load(*args, **kwargs)

    np.load = listening
    try:
        yield
    finally:
        np.load = load


def another(asked: list, given: list[Path]) -> bool:
    """Whether a file was asked for by its path, and it is not the one that was given."""
    return any(isinstance(file, str | Path) and Path(file) not in given for file in asked)


def saved(about, **arrays) -> Callable[[Path], None]:
    return lambda path: np.savez(path, about=np.array(json.dumps(about)), **arrays)


def observe_reader(function, about, obs, action, reward, next_obs, terminated, truncated):
    parts = (obs, action, reward, next_obs, terminated, truncated)
    write = saved(about, **dict(zip(ARRAYS, parts, strict=True)))
    given, asked = [], []

    def reader(path):
        given.append(path)
        with loading(lambda file, *args, **kwargs: asked.append(file)):
            return function(path)

    try:
        about, episodes = in_a_file(reader, write)
    except FileNotFoundError:
        if not another(asked, given):
            raise
        about = episodes = None
    if another(asked, given):
        return {"about": "what another file says", "number of episodes": "not known"}
    if not hasattr(episodes, "__len__"):
        return {"about": about, "number of episodes": "not known", "episodes": None}
    return {"about": about, "number of episodes": len(episodes), "episodes": episodes}


def steps(rng: np.random.Generator, *ends: str, obs_shape=(1,), discrete=False) -> list:
    """Six arrays: episodes as long as the words in `ends`, whose last letter says how each ended.

    "..x": three steps, the last of which (t)erminated, was (c)ut off or (b)oth.
    """
    flags = "".join(ends)
    count = len(flags)
    path = rng.normal(size=(count + 1, *obs_shape)).round(2).astype(np.float32)
    obs, next_obs = path[:-1].copy(), path[1:].copy()
    for stop in np.cumsum([len(end) for end in ends]):
        next_obs[stop - 1] = rng.normal(size=obs_shape).round(2)  # the next one begins elsewhere
    action = rng.normal(size=(count, 2)).round(2).astype(np.float32)
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
        Case((told([3, 2]), *steps(rng, "..t", ".t")), note="two episodes that terminated"),
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

RAISED: list[str] = []  # flags, by whoever ran code from a file


def raise_flag() -> dict:
    RAISED.append("code from the file was run")
    return {}


class Trap:
    """Whoever unpickles it raises a flag."""

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
    arrays = dict(zip(ARRAYS, steps(rng, ".t"), strict=True))
    trap = np.empty(2, dtype=object)
    trap[:] = Trap()
    return [
        saved({}, **arrays | {"obs": trap}),
        lambda path: np.savez(path, about=np.array(Trap(), dtype=object), **arrays),
        lambda path: path.write_bytes(pickle.dumps(Trap())),
    ]


def with_code(rng) -> Callable[[Path], None]:
    arrays = dict(zip(ARRAYS, steps(rng, ".t"), strict=True))
    text = f"__import__({__name__!r}, fromlist=['x']).raise_flag()"
    return lambda path: np.savez(path, about=text, **arrays)


def lets_errors_pass(function, rng):
    """Whoever runs what is in the file has no error to let pass: that is another mistake."""
    return all(raises(function, file) or RAISED for file in [*with_pickles(rng), with_code(rng)])


def refuses_pickles(function, rng):
    for write in with_pickles(rng):
        raises(function, write)
        if RAISED:
            return False
    return True


def believes_no_code_in_the_text(function, rng):
    raises(function, with_code(rng))
    return not RAISED


def closes_the_file(function, rng):
    opened, load = [], np.load

    def listening(*args, **kwargs):
        opened.append(load(*args, **kwargs))
        return opened[-1]

    np.load = listening
    try:
        in_a_file(function, saved({}, **dict(zip(ARRAYS, steps(rng, ".t"), strict=True))))
    finally:
        np.load = load
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
        parts = dict(zip(ARRAYS, case.args[1:], strict=True))
        _, episodes = in_a_file(function, saved(case.args[0], **parts))
        if not all(isinstance(part, np.ndarray) for e in episodes for part in e.values()):
            return False
    return True


# --- Wrong versions -------------------------------------------------------------------------------


def over(arrays) -> np.ndarray:
    return arrays["terminated"] | arrays["truncated"]


def cut(arrays, starts, stops) -> list[dict]:
    return [
        {name: array[start:stop] for name, array in arrays.items()}
        for start, stop in zip(starts, stops, strict=False)
    ]


def split(arrays, places) -> list[dict]:
    """As `numpy.split` does it: a piece more than there are places."""
    return cut(arrays, [0, *places], [*places, len(arrays["reward"])])


def stops_of(arrays) -> np.ndarray:
    return np.flatnonzero(over(arrays)) + 1


def right(arrays) -> list[dict]:
    return split(arrays, stops_of(arrays)[:-1])


def reading(
    episodes: Callable = right,
    text: Callable = lambda file: json.loads(file["about"].item()),
    names: Callable = lambda file: ARRAYS,
    load: Callable = np.load,
    result: Callable = lambda about, episodes: (about, episodes),
):
    """A wrong version: some steps replaced."""

    def read(path):
        with load(path) as file:
            about = text(file)
            arrays = {name: file[name] for name in names(file)}
        return result(about, episodes(arrays))

    return read


def ending_at(ends: Callable, keep: bool):
    """A wrong version: an episode ends elsewhere. Do steps after the last end make one more?"""

    def episodes(arrays):
        stops = np.flatnonzero(ends(arrays)) + 1
        whole = split(arrays, stops)
        return [e for e in whole if len(e["reward"])] if keep else whole[:-1]

    return reading(episodes)


def too_few_ends(name: str, ends: Callable, message: str) -> list[Misconception]:
    return [
        Misconception(name + rest, ending_at(ends, keep), message)
        for rest, keep in {"": True, ", the steps after the last one lost": False}.items()
    ]


def each_episode(change: Callable):
    """A wrong version: `change(episode, arrays)` of each right one."""
    return reading(lambda arrays: [change(episode, arrays) for episode in right(arrays)])


def chosen(choose: Callable):
    """A wrong version: `choose(episodes)` of the right ones."""
    return reading(lambda arrays: choose(right(arrays)))


def left_open(path):
    file = np.load(path)
    about = json.loads(file["about"].item())
    return about, right({name: file[name] for name in ARRAYS})


def read_when_closed(path):
    with np.load(path) as file:
        about = json.loads(file["about"].item())
    return about, right({name: file[name] for name in ARRAYS})


def one_dict_for_all(arrays):
    episode, episodes = {}, []
    for part in right(arrays):
        episode.update(part)
        episodes.append(episode)
    return episodes


def lengths_of_the_text(path):
    with np.load(path) as file:
        about = json.loads(file["about"].item())
        arrays = {name: file[name] for name in ARRAYS}
    return about, split(arrays, np.cumsum(about["lengths"])[:-1])


def rolled(arrays):
    return right(arrays | {"next_obs": np.roll(arrays["obs"], -1, axis=0)})


def equal_parts(arrays):
    number = len(stops_of(arrays))
    parts = {name: np.array_split(array, number) for name, array in arrays.items()}
    return [{name: part[i] for name, part in parts.items()} for i in range(number)]


def as_long_as_the_first(arrays):
    length, count = stops_of(arrays)[0], len(arrays["reward"])
    return cut(arrays, range(0, count, length), range(length, count + length, length))


def step_by_step(episode, arrays):
    rows = zip(*episode.values(), strict=True)
    return [dict(zip(ARRAYS, row, strict=True)) for row in rows]


END = (
    "An episode ends in one of two ways, and either flag is enough: `terminated`, when something "
    "final happened, or `truncated`, when a time limit cut it off."
)
ONE_OFF = (
    "`flatnonzero` gives the place of the last step, while a slice stops before its second number"
)
CODE = "A text from somebody else is data, not code: `json.loads` reads it and can do nothing else."
PICKLE = (
    "With `allow_pickle=True` your function unpickles whatever the file holds, and to unpickle is "
    "to run what its author put there. Plain numbers and a text need no pickle: leave it at "
    "`False`."
)
SWALLOWED = (
    "Where a file holds pickles, or a text that is no JSON, numpy and `json` stop with a "
    "`ValueError`, and your function catches it and returns as if all were well. Let it pass: "
    "whoever called has to hear that these are no episodes."
)
OPEN = (
    "The episodes are right, but the file stays open when your function is done, until Python "
    "happens to tidy up. Open it in a `with`, which closes it whatever happens."
)
NO_ARRAYS = (
    "The numbers are right, but they are no numpy arrays any more. Everything that works on "
    "episodes computes with arrays: take slices of the six."
)

READ_EPISODES = Exercise(
    id="4.1",
    lesson="04_ddpgfd",
    reference=read_episodes,
    card=Card(
        title="A file of demonstrations",
        what="Write `read_episodes(path)`: open the `.npz` at `path` without allowing pickles, "
        "close it again, and return a pair. First the text in its array `about`, which is JSON, as "
        "a dict; then a list with one dict for each episode: the six names in `ARRAYS`, each with "
        "this episode's rows.",
        why="Demonstrations come from other people, and many tutorials hand them round as pickles: "
        "to load one is to run its author's program. And in the file all episodes stand in a row. "
        "Cut one step off, and every episode ends with the wrong step; look at one flag only, and "
        "there may be no end at all.",
        difficulty=2,
        minutes=10,
    ),
    hints=(
        "numpy can refuse pickles when it opens a file. What it gives you is like a dict of "
        "arrays; the text in one of them has to be taken out and parsed. In which rows does an "
        "episode end, and what does that mean for a slice, which stops *before* its second number?",
        "`np.load` in a `with`; `.item()` takes the text out of its array, for `json.loads`. Join "
        "the two flags with `|`: `np.flatnonzero` finds the ends, 1 more is where the slice stops "
        "and where the next episode starts, and the first one starts at 0.",
    ),
    cases=reader_cases,
    observe=observe_reader,
    misconceptions=[
        # The file
        Misconception(
            "pickles allowed", reading(load=lambda path: np.load(path, allow_pickle=True)), PICKLE
        ),
        Misconception("left open", left_open, OPEN),
        Misconception(
            "read when it is closed",
            read_when_closed,
            "You read the arrays after the `with`, when the file is closed. `np.load` only opens "
            "it; an array is read when you ask for it by its name, so ask inside the `with`.",
        ),
        Misconception(
            "always the same file",
            reading(load=lambda path: np.load("demos.npz")),
            "You open a file whose path stands in your code. Which one to read, the argument says: "
            "`path`.",
        ),
        # The text
        Misconception(
            "text run as code",
            reading(text=lambda file: eval(file["about"].item(), {})),
            f"You run the text (`eval`) in order to read it. {CODE}",
        ),
        Misconception(
            "text run as code that knows JSON's words",
            reading(
                text=lambda file: eval(
                    file["about"].item(), {"true": True, "false": False, "null": None}
                )
            ),
            f"You run the text (`eval`) in order to read it. {CODE}",
        ),
        Misconception(
            "text not parsed",
            reading(text=lambda file: file["about"].item()),
            "`about` is still a text. It is written in JSON: `json.loads` makes a dict of it.",
        ),
        Misconception(
            "text still in its array",
            reading(text=lambda file: file["about"]),
            "`about` is still an array that holds one text. Take the text out with `.item()`, and "
            "let `json.loads` make a dict of it.",
        ),
        Misconception(
            "array given to JSON",
            reading(text=lambda file: json.loads(file["about"])),
            "`json.loads` wants a text, and what the file gives you is an array with one text in "
            "it: take it out with `.item()`.",
        ),
        Misconception(
            "text among the arrays",
            reading(names=lambda file: file.files),
            "You cut every array of the file into episodes, and one of them is the text, which has "
            "no rows. The six that have are named in `ARRAYS`.",
        ),
        # Where an episode ends
        *too_few_ends(
            "ends at a termination only",
            lambda arrays: arrays["terminated"],
            "For you an episode ends only where it terminated. Pendulum never terminates: its "
            f"episodes would become a single one, or none. {END}",
        ),
        *too_few_ends(
            "ends at a time limit only",
            lambda arrays: arrays["truncated"],
            f"For you an episode ends only where it was truncated. {END}",
        ),
        *too_few_ends(
            "ends where both flags are set",
            lambda arrays: arrays["terminated"] & arrays["truncated"],
            f"For you an episode ends only where both flags are set, which hardly happens. {END}",
        ),
        Misconception(
            "ends where one flag is set and the other is not",
            ending_at(lambda arrays: arrays["terminated"] ^ arrays["truncated"], keep=True),
            "Where a step both terminated and was truncated, you see no end: `^`, or `!=`, is true "
            "for one flag alone. Either of them, or both, is an end.",
        ),
        Misconception(
            "or for whole arrays",
            reading(
                lambda arrays: split(
                    arrays, np.flatnonzero(arrays["terminated"] or arrays["truncated"])[:-1] + 1
                )
            ),
            "`or` asks whether a whole array is true, which cannot be said of many flags. Row by "
            "row it is `|`.",
        ),
        Misconception(
            "last steps lost",
            reading(lambda arrays: cut(arrays, [0, *stops_of(arrays)[:-1]], stops_of(arrays) - 1)),
            f"Every episode has lost its last step. {ONE_OFF}: stop one later.",
        ),
        Misconception(
            "last step begins the next episode",
            reading(lambda arrays: split(arrays, stops_of(arrays)[:-1] - 1)),
            f"The last step of an episode begins the next one. {ONE_OFF}: cut one later.",
        ),
        Misconception(
            "last step begins the next episode, the very last one is lost",
            reading(
                lambda arrays: cut(arrays, [0, *(stops_of(arrays)[:-1] - 1)], stops_of(arrays) - 1)
            ),
            "The last step of an episode begins the next one, and the very last step is lost. "
            f"{ONE_OFF}: cut one later.",
        ),
        Misconception(
            "last step begins the next episode, the very last one is alone",
            reading(lambda arrays: split(arrays, stops_of(arrays) - 1)),
            "The last step of an episode begins the next one, and the very last step makes an "
            f"episode of its own. {ONE_OFF}: cut one later.",
        ),
        Misconception(
            "first steps lost",
            reading(
                lambda arrays: cut(arrays, [0, *(stops_of(arrays)[:-1] + 1)], stops_of(arrays))
            ),
            "From the second episode on you leave out the first step: you went one further than "
            "the place where the last slice stopped, and a slice does not hold that place itself.",
        ),
        Misconception(
            "last steps in two episodes",
            reading(
                lambda arrays: cut(arrays, [0, *(stops_of(arrays)[:-1] - 1)], stops_of(arrays))
            ),
            "The last step of each episode stands at the beginning of the next one as well. The "
            "next one starts where the slice stopped, one row later.",
        ),
        Misconception(
            "first step of the next episode taken along",
            reading(lambda arrays: cut(arrays, [0, *stops_of(arrays)[:-1]], stops_of(arrays) + 1)),
            "Your episodes take the first step of the next one along: the slice stops one too "
            "late. After an end comes somebody's new start, elsewhere.",
        ),
        # Which episodes
        Misconception(
            "not split",
            reading(lambda arrays: [arrays]),
            "You return all steps as a single episode. The flags say where one ends and the next "
            "begins.",
        ),
        Misconception(
            "not split, nor in a list",
            reading(lambda arrays: arrays),
            "You return the six arrays with all steps in them. Cut them where an episode ends, and "
            "make a list of it: a dict for each episode.",
        ),
        Misconception(
            "last episode missing",
            chosen(lambda episodes: episodes[:-1]),
            "The last episode is missing. There are as many episodes as ends, and the last end "
            "closes one, too.",
        ),
        Misconception(
            "first episode missing",
            chosen(lambda episodes: episodes[1:]),
            "The first episode is missing: no end comes before it, it starts at row 0.",
        ),
        Misconception(
            "an empty one at the end",
            reading(lambda arrays: split(arrays, stops_of(arrays))),
            "After the last episode you have one more, without a single step: `np.split` makes a "
            "piece more than you name places, and the last end is the end of the file.",
        ),
        Misconception(
            "an empty one at the beginning",
            reading(
                lambda arrays: cut(arrays, [0, 0, *stops_of(arrays)[:-1]], [0, *stops_of(arrays)])
            ),
            "Before the first episode you have one more, without a single step. The first one "
            "starts at row 0 and stops at the first end.",
        ),
        Misconception(
            "only the first episode",
            chosen(lambda episodes: episodes[:1]),
            "You return after the first episode: is the `return` inside the loop?",
        ),
        Misconception(
            "each from the beginning",
            reading(lambda arrays: cut(arrays, [0] * len(stops_of(arrays)), stops_of(arrays))),
            "Each of your episodes begins at row 0 and holds all the earlier ones. An episode "
            "starts where the one before it stopped.",
        ),
        Misconception(
            "each to the end of the file",
            reading(
                lambda arrays: cut(
                    arrays,
                    [0, *stops_of(arrays)[:-1]],
                    [len(arrays["reward"])] * len(stops_of(arrays)),
                )
            ),
            "Each of your episodes goes on to the end of the file. It stops after the first end "
            "that comes.",
        ),
        Misconception(
            "one dict for all episodes",
            reading(one_dict_for_all),
            "Your list holds the same dict again and again, so all episodes are the last one. Make "
            "a new dict for each.",
        ),
        Misconception(
            "as many steps in each",
            reading(equal_parts),
            "You cut the steps into parts of equal length. Episodes differ: where one ends, only "
            "the flags say.",
        ),
        Misconception(
            "as long as the first",
            reading(as_long_as_the_first),
            "You make every episode as long as the first one. Each has its own end, which the "
            "flags show.",
        ),
        Misconception(
            "lengths taken from the text",
            lengths_of_the_text,
            "You take the lengths from the text. It describes what somebody believed when the file "
            "was written; the flags are what was recorded, so let them decide.",
        ),
        Misconception(
            "longest first",
            chosen(lambda episodes: sorted(episodes, key=lambda e: -len(e["reward"]))),
            "You sorted the episodes by their length. Keep them in the order of the file.",
        ),
        Misconception(
            "shortest first",
            chosen(lambda episodes: sorted(episodes, key=lambda e: len(e["reward"]))),
            "You sorted the episodes by their length. Keep them in the order of the file.",
        ),
        Misconception(
            "best first",
            chosen(lambda episodes: sorted(episodes, key=lambda e: -e["reward"].sum())),
            "You sorted the episodes by their return. Keep them in the order of the file.",
        ),
        Misconception(
            "last episode first",
            chosen(lambda episodes: episodes[::-1]),
            "Your episodes come in the opposite order. Keep them in the order of the file.",
        ),
        # What an episode holds
        Misconception(
            "next_obs not cut",
            each_episode(lambda episode, arrays: episode | {"next_obs": arrays["next_obs"]}),
            "`next_obs` still holds all steps of the file in every episode. Take the same rows of "
            "all six arrays.",
        ),
        Misconception(
            "flags not cut",
            each_episode(
                lambda episode, arrays: (
                    episode | {name: arrays[name] for name in ("terminated", "truncated")}
                )
            ),
            "The two flags still hold all steps of the file in every episode. Take the same rows "
            "of all six arrays.",
        ),
        Misconception(
            "flags left out",
            each_episode(lambda episode, arrays: {n: episode[n] for n in ARRAYS[:4]}),
            "The two flags are missing in your episodes. Whoever learns from them has to know "
            "whether the last step terminated or was only cut off: all six names in `ARRAYS`.",
        ),
        Misconception(
            "next_obs made of obs",
            reading(rolled),
            "You made `next_obs` of the observations one row below. Where an episode ends, the row "
            "below is the start of another one: take `next_obs` as it was recorded.",
        ),
        Misconception(
            "a tuple for each episode",
            each_episode(lambda episode, arrays: tuple(episode.values())),
            "Your episodes are tuples of arrays. Make a dict of each, so that an array is found by "
            "its name.",
        ),
        Misconception(
            "a dict for each step",
            each_episode(step_by_step),
            "Your episodes are lists of single steps. Keep arrays: an episode is one dict, and "
            "each of its six arrays has all of the episode's steps.",
        ),
        Misconception(
            "a dict of lists",
            reading(lambda arrays: {name: [e[name] for e in right(arrays)] for name in ARRAYS}),
            "You return one dict, and under each name a list with an array for each episode. It is "
            "asked for the other way round: a list of episodes, and each is a dict.",
        ),
        # What is returned
        Misconception(
            "episodes first",
            reading(result=lambda about, episodes: (episodes, about)),
            "Your pair is the other way round: first `about`, then the episodes.",
        ),
        Misconception(
            "episodes alone",
            reading(result=lambda about, episodes: episodes),
            "You return the episodes alone. A pair is asked for: first what the text says, as a "
            "dict, then the episodes.",
        ),
        Misconception(
            "a generator of episodes",
            reading(result=lambda about, episodes: (about, (episode for episode in episodes))),
            "Your episodes come as a generator or a `zip`, which can be gone through only once and "
            "has no length. Make a list of it.",
        ),
    ],
    properties=[
        Property("error swallowed", lets_errors_pass, SWALLOWED),
        Property("unpickles what the file holds", refuses_pickles, PICKLE),
        Property(
            "runs the text in the file",
            believes_no_code_in_the_text,
            f"Your function runs code that stands in the text of the file. {CODE}",
        ),
        Property("leaves the file open", closes_the_file, OPEN),
        Property("no arrays", gives_arrays, NO_ARRAYS),
    ],
)
