"""Files that are damaged, foreign or malicious, each by name: refused in a sentence, no code run.

Here are the agents' files; the checkpoints of `course.py train` stand in `test_train_folders.py`,
demonstrations in `test_demos_files.py`, and what a replay memory cannot be in `test_resume.py`.
"""

import os
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence
from wholes import at, everything

from helpers.agents import A2C, TD3, checkpoint
from helpers.agents.noise import OUNoise
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate

PENDULUM = "Pendulum-v1"
TINY = {"hidden": 4, "learning_starts": 5, "batch_size": 4, "buffer_size": 50, "seed": 0}


class Payload:
    """Unpickled without care, this leaves a file."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self):
        return Path.touch, (self.ran,)


class File:
    """A good agent's file for a test to change; `ran` must never appear."""

    def __init__(self, folder: Path, whole: bytes) -> None:
        self.path, self.ran, self.folder = folder / "agent.pt", folder / "ran", folder
        self.path.write_bytes(whole)

    def content(self) -> dict:
        return torch.load(self.path)

    def put(self, content: object) -> None:
        torch.save(content, self.path)

    def say(self, **changes: object) -> None:
        """Other entries; `...` takes one out."""
        content = self.content() | changes
        self.put({name: value for name, value in content.items() if value is not ...})

    def set(self, **changes: object) -> None:
        """Other hyperparameters."""
        self.say(hyperparameters=self.content()["hyperparameters"] | changes)

    def change(self, *path: Any, value: Any) -> None:
        """Something else in that place."""
        content = self.content()
        at(*path, value=value)(content)
        self.put(content)

    def weights(self, change) -> None:
        """Another first layer of the actor."""
        self.change("state", "actor", "hidden1.weight", value=change)

    def bytes(self, change) -> None:
        self.path.write_bytes(change(self.path.read_bytes()))

    def members(self, change, method: int = zipfile.ZIP_STORED) -> None:
        """A zip with other members: `change` gets and gives name -> bytes."""
        with zipfile.ZipFile(self.path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(self.path, "w", method) as archive:
            for name, data in change(members).items():
                archive.writestr(name, data)


def planted(file: File) -> None:
    """Everything is in order, except for one value."""
    file.change("history", "return", value=Payload(file.ran))


def pickle_for(name):
    """Another member of that name, in place of torch's."""

    def change(file: File) -> None:
        payload = pickle.dumps(Payload(file.ran))
        file.members(
            lambda members: {n: payload if n.endswith(name) else d for n, d in members.items()}
        )

    return change


def script(file: File) -> None:
    """A TorchScript archive, which is a program."""
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), file.path)


def module_id(file: File) -> None:
    """An id that gymnasium would import a module for."""
    (file.folder / "evil_module.py").write_text(f"open({str(file.ran)!r}, 'w')")
    file.say(env_id="evil_module:Pendulum-v1")


def laughs() -> list:
    """Ten lists of ten lists of ten ...: a few bytes that print as billions of words."""
    thing = ["ha"] * 10
    for _ in range(11):
        thing = [thing] * 10
    return thing


def ring() -> list:
    """A list that holds itself."""
    thing: list = []
    thing.append(thing)
    return thing


def promise(data: bytes) -> bytes:
    """The zip's directory says that a member is a thousand times as large."""
    entry = data.index(b"PK\x01\x02")
    size = struct.unpack_from("<I", data, entry + 24)[0] * 1000 + 10**9
    return data[: entry + 20] + struct.pack("<II", size, size) + data[entry + 28 :]


def bomb(file: File) -> None:
    """Small, and 200 MB when it is unpacked."""
    file.members(
        lambda members: members | {"agent/data/99": bytes(200 * 2**20)}, zipfile.ZIP_DEFLATED
    )


def fifo(file: File) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    file.path.unlink()
    os.mkfifo(file.path)


def folder(file: File) -> None:
    file.path.unlink()
    file.path.mkdir()


def noise(**changes):
    return lambda f: f.set(noise={"kind": "OUNoise", "sigma": 0.2} | changes)


MOMENT = ("state", "actor_optimizer", "state", 0, "exp_avg")
REWARDS = ("under_way", "memories", "buffer", "steps", 2)


def of_nan(tensor: torch.Tensor) -> torch.Tensor:
    return tensor * torch.nan


FOREIGN, IMPOSSIBLE, UNFIT = "not an agent of this course", "cannot be loaded", "cannot be"
HOSTILE = {
    # damaged
    "empty": (lambda f: f.bytes(lambda d: b""), FOREIGN),
    "half": (lambda f: f.bytes(lambda d: d[: len(d) // 2]), FOREIGN),
    "last bytes lost": (lambda f: f.bytes(lambda d: d[:-7]), FOREIGN),
    "a directory that lies": (lambda f: f.bytes(promise), FOREIGN),
    # foreign
    "text": (lambda f: f.bytes(lambda d: b"weights, honestly\n"), FOREIGN),
    "a zip of other things": (lambda f: f.members(lambda m: {"a/b": b"c"}), FOREIGN),
    "a tensor": (lambda f: f.put(torch.ones(3)), FOREIGN),
    "another format": (lambda f: f.say(format="another"), FOREIGN),
    "a folder": (folder, FOREIGN),
    "a pipe": (fifo, FOREIGN),
    # code
    "a pickle": (lambda f: f.path.write_bytes(pickle.dumps(Payload(f.ran))), FOREIGN),
    "a pickle before the file": (
        lambda f: f.bytes(lambda d: pickle.dumps(Payload(f.ran)) + d), FOREIGN),
    "an object by an old torch": (
        lambda f: torch.save(Payload(f.ran), f.path, _use_new_zipfile_serialization=False),
        FOREIGN),
    "an object planted": (planted, FOREIGN),
    "a pickle for torch's": (pickle_for("data.pkl"), FOREIGN),
    "TorchScript": (script, FOREIGN),
    # sizes
    "a bomb": (bomb, FOREIGN),
    "lists of lists of lists": (lambda f: f.say(counts={"updates": laughs()}), FOREIGN),
    "a list that holds itself": (lambda f: f.say(history={"return": ring()}), FOREIGN),
    "a layer too wide": (lambda f: f.set(hidden=10**9), IMPOSSIBLE),
    "layers beyond counting": (lambda f: f.set(hidden=[1] * 50_000), IMPOSSIBLE),
    "a memory too long": (lambda f: f.set(buffer_size=10**12), UNFIT),
    "a stretched tensor": (
        lambda f: f.weights(lambda w: torch.zeros(1).expand(10**6, 10**6)), UNFIT),
    # entries
    "a version beyond counting": (lambda f: f.say(version=10**5000), FOREIGN),
    "negative updates": (lambda f: f.say(counts={"updates": -1}), UNFIT),
    "a random state of another kind": (lambda f: f.say(rng={"bit_generator": "MT19937"}), UNFIT),
    "an array of numpy's": (lambda f: f.say(history={"return": np.zeros((2, 2))}), FOREIGN),
    # hyperparameters
    "a setting that there is not": (lambda f: f.set(evil=1), UNFIT),
    "a setting that is a tensor": (lambda f: f.set(gamma=torch.ones(2)), IMPOSSIBLE),
    "a setting out of range": (lambda f: f.set(tau=3.0), UNFIT),
    "an environment among them": (lambda f: f.set(env="x"), UNFIT),
    "a noise that is a list": (lambda f: f.set(noise=[]), UNFIT),
    "a noise of a list of kinds": (noise(kind=[]), UNFIT),
    "a noise named by a module": (noise(kind="os.system"), UNFIT),
    "a noise that is NaN": (noise(sigma=float("nan")), UNFIT),
    "a noise with more": (noise(command="ls"), UNFIT),
    # weights
    "weights of another shape": (lambda f: f.weights(lambda w: w[:, :1]), UNFIT),
    "weights that are NaN": (lambda f: f.weights(of_nan), "NaN"),
    "an optimiser that is NaN": (lambda f: f.change(*MOMENT, value=of_nan), "NaN"),
    "a memory that is NaN": (lambda f: f.change(*REWARDS, value=of_nan), "NaN"),
    # where it belongs
    "an agent with an escape code": (lambda f: f.say(agent="\x1b[31m"), "holds a"),
    "another environment": (lambda f: f.say(env_id="CartPole-v1"), UNFIT),
    "other spaces": (lambda f: f.say(described_spaces={"observation": {}}), "was trained with"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A good file, with its memory."""
    path = tmp_path_factory.mktemp("good") / "agent.pt"
    agent = TD3(PENDULUM, noise=OUNoise(), **TINY).learn(20)
    agent.save(path, replay=True)
    return path.read_bytes()


@pytest.fixture
def file(tmp_path, whole):
    return File(tmp_path, whole)


def test_the_good_file_is_good(file):
    """And the payload of these tests would run."""
    assert TD3.load(file.path).steps == 20
    file.put(file.content())
    assert TD3.load(file.path).steps == 20
    planted(file)
    torch.load(file.path, weights_only=False)
    assert file.ran.exists()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_and_runs_nothing(case, file, monkeypatch):
    damage, words = HOSTILE[case]
    damage(file)
    monkeypatch.setattr(checkpoint, "MANY", 100_000)  # values; sooner
    tracemalloc.start()
    with one_sentence(ValueError, str(file.path), match=words) as error:
        TD3.load(file.path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(error.value).isprintable()
    assert peak < 5e8
    assert not file.ran.exists()


# The spaces in words are for people; without an environment an agent acts.
UNUSED = {("spaces", "nonsense"), ("env_id", "nonsense"), ("env_id", "None")}


@pytest.mark.parametrize("value", [..., "nonsense", None, 1.5, {"a": 1}], ids=str)
@pytest.mark.parametrize("name", [*checkpoint.ENTRIES, "format"])
def test_entries_that_are_missing_or_wrong_are_one_sentence(file, name, value):
    file.say(**{name: value})
    if (name, str(value)) in UNUSED:
        assert TD3.load(file.path).steps == 20
    else:
        with one_sentence(ValueError, str(file.path)):
            TD3.load(file.path)


@pytest.mark.parametrize("name", TD3(PENDULUM, **TINY).parts())
@pytest.mark.parametrize("value", [..., {}, None, {"0.weight": 3}], ids=str)
def test_a_state_that_does_not_fit_is_one_sentence(file, name, value):
    state = file.content()["state"] | {name: value}
    file.say(state={name: value for name, value in state.items() if value is not ...})
    with one_sentence(ValueError, str(file.path)):
        TD3.load(file.path)


NOWHERE = {
    "a module for an environment": (module_id, "could run code"),
    "a path for an environment": (lambda f: f.say(env_id="../evil"), "could run code"),
    "an unknown environment": (lambda f: f.say(env_id="Gone-v3"), "Gone-v3"),
    "no environment": (lambda f: f.say(env_id=None), "names no environment"),
}


@pytest.mark.parametrize("case", NOWHERE)
def test_an_environment_that_is_not_made_is_named_when_it_is_needed(case, file, monkeypatch):
    """The agent acts, in the spaces that its file describes."""
    change, words = NOWHERE[case]
    change(file)
    monkeypatch.syspath_prepend(file.folder)
    agent = TD3.load(file.path)
    assert agent.action_space.contains(agent.predict(np.ones(3, np.float32)))
    for use in (lambda: agent.learn(1), lambda: evaluate(agent, episodes=1)):
        with one_sentence(ValueError, match=words):
            use()
    assert not file.ran.exists()
    if "run code" in words:  # it is used if it is passed
        assert TD3.load(file.path, env="gymnasium:Pendulum-v1").steps == 20


SPACES = {
    "of another size": lambda d: d["observation"].update(shape=[4], low=[0.0], high=[1.0]),
    "of too many numbers": lambda d: d["observation"].update(shape=[10**6, 10**6], low=[0.0]),
    "of objects": lambda d: d["observation"].update(dtype="O"),
    "of another kind": lambda d: d["action"].update(kind="Payload"),
    "endless": lambda d: d["action"].update(kind="Discrete", n=10**30, start=0),
    "none": lambda d: d.pop("action"),
}


@pytest.mark.parametrize("case", SPACES)
def test_spaces_that_cannot_be_are_one_sentence(case, file):
    content = file.content()
    SPACES[case](content["described_spaces"])
    file.put(content | {"env_id": None})
    with one_sentence(ValueError, "agent", str(file.path)):
        TD3.load(file.path)


@given(at=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_any_flipped_bit_is_refused_or_harmless(whole, tmp_path_factory, at, bit):
    """torch does not look at checksums: where they are not looked at, a weight is another one."""
    file = File(tmp_path_factory.mktemp("flipped"), whole)
    data = bytearray(whole)
    data[at % len(data)] ^= 1 << bit
    file.path.write_bytes(data)
    try:
        agent = TD3.load(file.path)
    except ValueError as error:
        assert_one_sentence(error, str(file.path))
    else:
        file.path.write_bytes(whole)
        assert everything(agent) == everything(TD3.load(file.path))


def test_files_of_two_sorts_are_not_mixed_up(file):
    with one_sentence(ValueError, "demonstrations of this course", str(file.path)):
        load_demos(file.path)
    with one_sentence(ValueError, "holds a TD3 agent", str(file.path)):
        A2C.load(file.path)


def test_a_file_that_the_system_refuses_is_one_sentence(file, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(zipfile, "ZipFile", refuse)
    with one_sentence(OSError, str(file.path), match=r"cannot be read \(Permission denied\)"):
        TD3.load(file.path)
