"""Demonstrations: recorded, saved, loaded; files that lie or would run code are refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence
from test_demos import PENDULUM, arrays_of, assert_same, some_demos
from test_hostile_files import Payload, module_id

from helpers.demos import files as module
from helpers.demos.files import Demos, load_demos, save_demos
from helpers.demos.minari import from_minari

# ---- files that are damaged, foreign or malicious ------------------------------------------------


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def npy_with(header: str, data: bytes = b"") -> bytes:
    """An array file with any header."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def described(shape, kind="'<f4'") -> str:
    return f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}"


class File:
    """The members of a good file, for a test to change; `ran` must never appear."""

    def __init__(self, folder: Path, steps: int = 5) -> None:
        self.path, self.ran, self.folder = folder / "demos.npz", folder / "ran", folder
        lengths = (steps - 2, 2)
        save_demos(self.path, some_demos(lengths=lengths))
        with zipfile.ZipFile(self.path) as archive:
            self.members = {info.filename: archive.read(info) for info in archive.infolist()}
        self.about = json.loads(np.load(io.BytesIO(self.members["about.npy"])).item())
        self.demos = some_demos(lengths=lengths)

    def write(self, method: int = zipfile.ZIP_DEFLATED) -> None:
        with zipfile.ZipFile(self.path, "w", method) as archive:
            for name, data in self.members.items():
                archive.writestr(name, data)

    def put(self, name: str, data: bytes | np.ndarray) -> None:
        """Replace one member."""
        self.members[f"{name}.npy"] = npy(data) if isinstance(data, np.ndarray) else data
        self.write()

    def say(self, **changes) -> None:
        """Change the text."""
        self.put("about", np.array(json.dumps(self.about | changes)))

    def bytes(self, change: Callable[[bytes], bytes]) -> None:
        self.path.write_bytes(change(self.path.read_bytes()))

    @property
    def payload(self) -> bytes:
        """A pickle that leaves a trace when it is loaded."""
        return pickle.dumps(Payload(self.ran))


def promise(data: bytes, name: bytes, size: int) -> bytes:
    """Let the directory of a zip promise another unpacked size of one member."""
    at = data.rindex(name) - 46  # the entry in the central directory begins 46 bytes earlier
    assert data[at : at + 4] == b"PK\x01\x02"
    return data[: at + 24] + struct.pack("<I", size) + data[at + 28 :]


def twice(file: File) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file.path, "a") as archive:
        archive.writestr("obs.npy", file.payload)


def renamed(file: File, old: str, new: str) -> None:
    file.members[new] = file.members.pop(old)
    file.write()


def changed(name: str, change: Callable) -> Callable[[File], None]:
    return lambda f: f.put(name, change(getattr(f.demos, name)))


LIES = "damaged, or no file"
DAMAGED: dict[str, tuple[Callable[[File], object], str]] = {
    # no zip, or a broken one
    "empty": (lambda f: f.bytes(lambda d: b""), LIES),
    "a pickle": (lambda f: f.bytes(lambda d: f.payload), "not a zip"),
    "last bytes lost": (lambda f: f.bytes(lambda d: d[:-5]), LIES),
    # other content
    "no arrays": (lambda f: zipfile.ZipFile(f.path, "w").close(), "other arrays"),
    "an array twice": (twice, "other arrays"),
    "a path upwards": (lambda f: renamed(f, "obs.npy", "../obs.npy"), "other arrays"),
    # code
    "objects inside a structure": (lambda f: f.put(
        "obs", npy_with(described("(5,)", "[('a', '|O')]"), f.payload)), LIES),
    "code in a header": (
        lambda f: f.put("obs", npy_with(f"open({str(f.ran)!r}, 'w')")), LIES),
    "a module for an id": (module_id, "not an environment id"),
    # sizes
    "a header that promises 4 TB": (
        lambda f: f.put("obs", npy_with(described("(1000000000000,)"))), LIES),
    "40 MB of zeros": (
        lambda f: f.put("obs", npy_with(described("(5, 3)"), bytes(40 * 2**20))),
        "larger than 32 MB"),
    "no text": (lambda f: f.put("about", np.array(1.0)), LIES),
    "a text of 20 MB": (
        lambda f: f.put("about", npy_with(described("()"), bytes(20 * 2**20))), "too long"),
    "a directory that lies: more": (
        lambda f: f.bytes(lambda d: promise(d, b"next_obs.npy", 10**9)), "larger than"),
    # headers and numbers
    "another shape": (changed("action", lambda a: a[:, 0]), r"actions \(\) of float32"),
    "an action out of bounds": (changed("action", lambda a: a + 9), "lie outside"),
    # a text that lies
    "characters that are none": (
        lambda f: f.put("about", npy_with(described("()", "'<U2'"), b"\xff" * 8)), LIES),
    "nested without end": (lambda f: f.put("about", np.array("[" * 200_000)), LIES),
    "NaN in the text": (lambda f: f.say(spaces=float("nan")), "other spaces"),
    "another format": (lambda f: f.say(format="something else"), "another format"),
    "another version": (lambda f: f.say(version=2), "version 2, .* 1: update the course"),
    "no version": (lambda f: f.say(version=None), "of version None"),
    "no maker": (lambda f: f.say(maker=None), "maker must be"),
    "an unknown environment": (lambda f: f.say(env_id="Foreign-v0"), "does not know"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_or_foreign_file_is_refused_and_runs_nothing(case, tmp_path, monkeypatch):
    damage, words = DAMAGED[case]
    file = File(tmp_path)
    damage(file)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "MAX_BYTES", 2**25)
    for name in ("load", "loads"):
        monkeypatch.setattr(pickle, name, lambda *_, **__: pytest.fail("it was unpickled"))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words) as error:
            load_demos(file.path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_one_sentence(error.value, str(file.path))
    assert str(error.value).isprintable()
    assert peak < 5e6 or "Unable to allocate" in str(error.value), "it was unpacked"
    assert not file.ran.exists()
    assert "evil_module" not in sys.modules
    assert not (tmp_path.parent / "obs.npy").exists()


def test_no_file_a_folder_and_a_pipe(tmp_path):
    for name in ("nowhere.npz", "no folder/demos.npz"):
        with one_sentence(FileNotFoundError, name, "record_demos"):
            load_demos(tmp_path / name)
    with one_sentence(ValueError, "not a file"):
        load_demos(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="not a file"):
            load_demos(tmp_path / "pipe")


@given(at=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=150, deadline=None)
def test_any_flipped_bit_is_harmless(tmp_path_factory, at, bit):
    """The file is refused with a sentence, or nothing of what it says is changed by the bit."""
    file = File(tmp_path_factory.mktemp("demos"))
    data = bytearray(file.path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    file.path.write_bytes(data)
    try:
        assert_same(load_demos(file.path), file.demos)
    except ValueError as error:
        assert_one_sentence(error, str(file.path))


# ---- the course's own ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "env_id", "worst"),
    [("pendulum", PENDULUM, -260), ("sparse_pendulum", "SparsePendulum-v0", 100)],
)
def test_the_courses_own_demonstrations(name, env_id, worst):
    folder = Path(__file__).resolve().parent.parent / "data" / "demos"
    demos = load_demos(folder / f"{name}.npz", env_id)
    assert demos.returns.min() > worst
    assert "tools.demos" in demos.maker
    readme = (folder / "README.md").read_text()
    assert ", ".join(f"{value:.0f}" for value in demos.returns) in readme
    assert (folder / f"{name}.npz").stat().st_size < 50_000


# ---- Minari --------------------------------------------------------------------------------------


def minari_dataset(demos: Demos, named: str | None = PENDULUM, **changes) -> SimpleNamespace:
    """What a `minari.MinariDataset` (0.5) shows of itself, filled with demonstrations.

    The last step ends none of its episodes, as where somebody stopped recording: a truncation.
    """
    spec = {
        "dataset_id": "pendulum/test-v0",
        "env_spec": gym.spec(named) if named else None,
        "observation_space": spaces.Box(-8, 8, (3,)),
        "action_space": spaces.Box(-2, 2, (1,)),
    }
    episodes = [
        SimpleNamespace(
            observations=np.concatenate([demos.obs[e], demos.next_obs[e][-1:]]),
            actions=demos.action[e],
            rewards=demos.reward[e],
            terminations=demos.terminated[e],
            truncations=demos.truncated[e] & False,
        )
        for e in demos.episodes
    ]
    return SimpleNamespace(
        spec=SimpleNamespace(**(spec | changes)), iterate_episodes=lambda: iter(episodes)
    )


def test_a_minari_dataset_is_read(monkeypatch, tmp_path):
    demos = some_demos()
    expected = Demos(PENDULUM, "the Minari dataset pendulum/test-v0", **arrays_of(demos))
    assert_same(from_minari(minari_dataset(demos)), expected)
    assert_same(from_minari(minari_dataset(demos), gym.make(PENDULUM)), expected)
    assert_same(from_minari(minari_dataset(demos, named=None), PENDULUM), expected)
    fake = SimpleNamespace(load_dataset={"pendulum/test-v0": minari_dataset(demos)}.__getitem__)
    monkeypatch.setitem(sys.modules, "minari", fake)
    assert_same(load_demos("minari:pendulum/test-v0", PENDULUM), expected)
    save_demos(tmp_path / "demos.npz", expected)
    assert_same(load_demos(tmp_path / "demos.npz"), expected)
    with one_sentence(ValueError, "minari download", "pendulum/other-v0"):
        load_demos("minari:pendulum/other-v0")


@pytest.mark.parametrize(
    ("dataset", "env", "words"),
    [
        (minari_dataset(some_demos(), named=None), None, "names no environment"),
        (minari_dataset(some_demos()), "SparsePendulum-v0", "not in SparsePendulum-v0"),
        (minari_dataset(some_demos(), observation_space=spaces.Dict()), None, "Box observations"),
        (minari_dataset(some_demos("Shapes1-v0")), None, "cannot be used"),
    ],
)
def test_a_minari_dataset_that_does_not_fit_is_refused(dataset, env, words):
    with one_sentence(ValueError, "pendulum/test-v0", match=words):
        from_minari(dataset, env)


def test_without_minari_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    with one_sentence(ValueError, "pip install"):
        load_demos("minari:D4RL/pendulum/expert-v0")
